"""Exercise 2: what its checks rest on, and what its page claims."""

import math
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy, mse_loss

from graders.lab import exercise_2 as checks
from lesson_code.benchmarks.how_we_measure import Clockwork
from lesson_code.lab.models import TinyCNN
from lesson_code.models import MNISTClassifier
from tests.graders.kept import kept_answer, outcomes, starter

SOLUTION = checks.SOLUTION
STARTER = starter("lab.exercise_2")
CPU = torch.device("cpu")
FLOAT32, BFLOAT16, FLOAT16 = torch.float32, torch.bfloat16, torch.float16

Optimizer = Callable[..., torch.optim.Optimizer]


@pytest.fixture
def wrong(tmp_path: Path) -> Callable[[str], ModuleType]:
    """Loads a wrong answer by its name."""
    return lambda name: kept_answer("lab.exercise_2", name).load(tmp_path)


@pytest.mark.parametrize(
    ("method", "reading_ms"),
    [
        ("", 50.020),
        ("never_waits", 0.020),
        ("waits_before_only", 0.020),
        ("waits_after_only", 114.996),
        ("no_warm_up", 100.002),
        ("never_divides", 500.020),
    ],
)
def test_the_clockwork_shows_what_each_method_reads(
    method: str, reading_ms: float, wrong: Callable[[str], ModuleType]
) -> None:
    """A kernel of 50 ms, a launch of 0.02 ms, 500 ms more for the first: each reading is exact."""
    device = Clockwork(launch_s=0.00002, first_s=0.5, work_s=0.05)
    compare_speed = (wrong(method) if method else SOLUTION).compare_speed
    speed = compare_speed(device.launch, device.launch, device.wait, device.clock, 3, 10)

    assert reading_ms == pytest.approx(1e3 * speed.a_s, abs=1e-9)


def test_a_machine_that_slows_down_slows_both_steps() -> None:
    """Equal steps, two percent slower with every run: the ratio keeps what one run adds."""
    device, runs = Clockwork(launch_s=0.0, first_s=0.0), count()
    step = lambda: device.launch(0.05 * 1.02 ** next(runs))  # noqa: E731
    speed = SOLUTION.compare_speed(step, step, device.wait, device.clock, warmup=1, iters=10)

    assert 1 / 1.02 == pytest.approx(speed.ratio)


def update(train_step: Any, make_optimizer: Optimizer) -> torch.Tensor:
    """What one float16 step on a probe adds to its weights, all in one row."""
    trial = checks.Trial(SOLUTION)
    trial.answer = ModuleType("answer")
    trial.answer.train_step = train_step
    trial.optimizer = make_optimizer(trial.probe.parameters())
    return trial.step()


@pytest.mark.parametrize("dtype", [FLOAT16, BFLOAT16])
def test_autocast_with_float32_weights_is_what_the_exercise_builds(dtype: torch.dtype) -> None:
    """Products in 16 bits; the weights, their gradients and Adam's state in float32."""
    trial: Any = checks.Trial(SOLUTION, dtype)
    trial.optimizer = torch.optim.Adam(trial.probe.parameters())
    trial.step()

    assert trial.error is None
    assert dtype == trial.probe.seen.computed_in
    parameters = list(trial.probe.parameters())
    state = [trial.optimizer.state[p][key] for p in parameters for key in ("exp_avg", "exp_avg_sq")]
    gradients = [p.grad for p in parameters if p.grad is not None]
    assert {FLOAT32} == {tensor.dtype for tensor in (*parameters, *gradients, *state)}


def test_sgd_shows_what_adam_hides(wrong: Callable[[str], ModuleType]) -> None:
    """A step on scaled gradients is off by a thousand times, and Adam would pass it."""

    def adam(weights: Any) -> torch.optim.Optimizer:
        return torch.optim.Adam(weights, lr=0.1)

    def sgd(weights: Any) -> torch.optim.Optimizer:
        return torch.optim.SGD(weights, lr=0.1)

    step = wrong("steps_without_the_scaler").train_step
    off = {}
    for optimizer in (adam, sgd):
        right = update(SOLUTION.train_step, optimizer)
        off[optimizer] = ((update(step, optimizer) - right).norm() / right.norm()).item()

    assert off[adam] < 0.01
    assert 1000 < off[sgd]


def _off_with_adam(gradient: float, weight_decay: float = 0.0) -> float:
    """The share by which a gradient a thousand times as large changes Adam's first update."""
    updates = []
    for factor in (1, 1000):
        weight = torch.nn.Parameter(torch.ones(1, dtype=torch.float64))
        weight.grad = torch.full_like(weight, factor * gradient)
        torch.optim.Adam([weight], weight_decay=weight_decay).step()
        updates.append(weight.item() - 1)
    return abs(updates[1] / updates[0] - 1)


def test_tiny_gradients_and_weight_decay_show_a_scale_to_adam() -> None:
    """The factor cancels where gradients are far above eps, and are all that Adam divides."""
    assert _off_with_adam(1e-5) < 0.01
    assert 0.05 < _off_with_adam(1e-7)
    assert 1 < _off_with_adam(-0.01, weight_decay=0.1)  # the update even turns round


def test_a_scaler_that_is_off_hands_the_loss_through_and_steps() -> None:
    """Its other methods do nothing, and its state is empty."""
    weight = torch.nn.Parameter(torch.ones(1))
    optimizer, scaler = (
        torch.optim.SGD([weight], lr=0.5),
        torch.amp.GradScaler("cpu", enabled=False),
    )
    loss = weight.sum()

    assert loss is scaler.scale(loss)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    assert 1 == weight.grad
    scaler.step(optimizer)
    scaler.update()
    assert 0.5 == weight.item()
    assert {} == scaler.state_dict()


@pytest.mark.parametrize(
    "mistake", ["scaled_loss_is_thrown_away", "clips_before_unscaling", "no_autocast"]
)
def test_the_loss_falls_in_spite_of_a_mistake(
    mistake: str, wrong: Callable[[str], ModuleType]
) -> None:
    """With Adam, thirty wrong steps look like right ones."""
    step = partial(wrong(mistake).train_step, max_norm=1.0)
    with patch.object(SOLUTION, "train_step", step):
        records = SOLUTION.train(FLOAT16, SOLUTION.digits(CPU), CPU)

    assert records[-1].loss < 0.5 * records[0].loss


def test_the_right_step_is_exactly_that_without_a_scaler() -> None:
    """The scale is a power of two: nothing is lost by multiplying and dividing."""
    scaled, plain = checks.Trial(SOLUTION), checks.Trial(SOLUTION)
    plain.scaler = torch.amp.GradScaler("cpu", enabled=False)

    assert torch.equal(plain.step(), scaled.step())


def test_an_infinity_leaves_the_weights_and_halves_the_scale() -> None:
    """The step is skipped, and the next one is made with half the factor."""
    trial = checks.Trial(SOLUTION)
    moved = trial.step(checks._with_infinity(trial.x))

    assert not moved.any()
    assert checks.SCALE / 2 == trial.scaler.get_scale()


def test_enough_good_steps_double_the_scale() -> None:
    """Not one step earlier; 2,000 by default, four here."""
    assert 2000 == torch.amp.GradScaler("cpu").get_growth_interval()
    trial = checks.Trial(SOLUTION, growth_interval=4)
    scales = [(trial.step(), trial.scaler.get_scale())[1] for _ in range(5)]

    assert [1024, 1024, 1024, 2048, 2048] == scales


def test_the_first_step_may_be_skipped() -> None:
    """At the usual first scale a linear layer overflows: nothing moves, and nothing is wrong."""
    torch.manual_seed(0)
    model = nn.Linear(4, 1)
    batches = [(torch.randn(8, 4), 3 * torch.randn(8, 1))]
    [record] = monitored(model, batches, mse_loss, SOLUTION.make_scaler("cpu", FLOAT16))

    assert (65_536, 32_768, True) == (record.scale_before, record.scale_after, record.skipped)


def monitored(
    model: nn.Module, batches: list[Any], loss_fn: Any, scaler: torch.amp.GradScaler
) -> list[Any]:
    """The solution's records of a float16 run with SGD."""
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    records: list[Any] = SOLUTION.train_monitored(
        model, batches, optimizer, scaler, loss_fn, "cpu", FLOAT16
    )
    return records


def test_a_finite_loss_does_not_mean_finite_gradients() -> None:
    """The batches that the check of 2.8 uses: skipped, with nothing to see in the loss."""
    torch.manual_seed(0)
    batches = [(30 * torch.randn(8, 4), torch.randn(8, 1)) for _ in range(3)]
    records = monitored(nn.Linear(4, 1), batches, mse_loss, torch.amp.GradScaler("cpu"))

    assert all(math.isfinite(record.loss) and record.skipped for record in records)


def test_the_scale_follows_the_bad_batches() -> None:
    """An infinity at step 2 and a NaN at step 6; three good steps double the scale."""
    torch.manual_seed(1)
    batches = [(torch.randn(16, 8), torch.randint(4, (16,))) for _ in range(10)]
    batches[2][0][0, 0], batches[6][0][0, 0] = math.inf, math.nan
    scaler = torch.amp.GradScaler("cpu", init_scale=1024, growth_interval=3)
    records = monitored(nn.Linear(8, 4), batches, cross_entropy, scaler)

    assert [1024, 1024, 512, 512, 512, 1024, 512, 512, 512, 1024] == [
        record.scale_after for record in records
    ]
    assert [2, 6] == [record.step for record in records if record.skipped]


@pytest.mark.parametrize(
    ("make_model", "size", "expected"),
    [
        (TinyCNN, 32, (2_514_436, 1_268_132)),
        (TinyCNN, 128, (10_057_732, 5_042_084)),
        (MNISTClassifier, 32, (151_044, 144_388)),
        (MNISTClassifier, 128, (604_164, 373_252)),
    ],
)
def test_the_bytes_kept_for_backward(
    make_model: type[nn.Module], size: int, expected: tuple[int, int]
) -> None:
    """Close to half in a CNN; in a small MLP the 16-bit copies of the weights eat the gain."""
    batch = torch.rand(size, 1, 28, 28), torch.randint(10, (size,))
    found = SOLUTION.compare_memory(make_model, batch, (FLOAT32, BFLOAT16), CPU)

    assert expected == pytest.approx((found[FLOAT32], found[BFLOAT16]), rel=0.02)


class _Placed:
    """A tensor that stays on the CPU, wherever it is sent."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor

    def to(self, *_: Any) -> torch.Tensor:
        return self.tensor


class _Allocator:
    """What a GPU's allocator counts, with 32 MiB that the first pass of a process takes for good.

    Every tensor that a float32 pass needs lets it rise by 1,000 bytes, in 16 bits by 500.
    """

    def __init__(self) -> None:
        self.events: list[str] = []
        self.allocated = self.peak = 10_000_000  # other batches

    def forward(self, module: nn.Module, _inputs: Any, output: torch.Tensor) -> None:
        """Count a linear layer; a gradient of the pass before would be there already."""
        assert isinstance(module, nn.Linear)
        if "pass" not in self.events:
            self.allocated += 2**25
        self.events.append("pass")
        assert module.weight.grad is None
        self.peak = max(self.peak, self.allocated + 250 * output.element_size())

    def set_back(self, _: torch.device) -> None:
        """The peak, to what is allocated now."""
        self.events.append("set back")
        self.peak = self.allocated


@pytest.mark.filterwarnings("ignore:.*CUDA is not available:UserWarning")
def test_on_cuda_the_peak_of_a_second_pass_counts_from_what_was_there() -> None:
    """Neither what others hold nor the workspaces of libraries hide the difference of formats."""
    allocator = _Allocator()

    class Counted(nn.Linear):
        def __init__(self) -> None:
            super().__init__(784, 10)
            self.register_forward_hook(allocator.forward)

        def to(self, *_: Any, **__: Any) -> Any:
            return self  # there is no such device

    batch: Any = _Placed(torch.rand(2, 784)), _Placed(torch.zeros(2).long())
    with (
        patch(
            "torch.autocast", lambda _, dtype, enabled: torch.amp.autocast("cpu", dtype, enabled)
        ),
        patch("torch.cuda.reset_peak_memory_stats", allocator.set_back),
        patch("torch.cuda.memory_allocated", lambda _: allocator.allocated),
        patch("torch.cuda.max_memory_allocated", lambda _: allocator.peak),
    ):
        found = SOLUTION.compare_memory(Counted, batch, (FLOAT32, FLOAT16), torch.device("cuda", 0))

    assert {FLOAT32: 1000, FLOAT16: 500} == found
    assert ["pass", "set back", "pass"] * 2 == allocator.events


def test_the_solution_prints_its_report(capsys: pytest.CaptureFixture[str]) -> None:
    """Loss, bytes and what the scaler did, then times with a warning about their worth."""
    with patch.object(SOLUTION, "choose_device", lambda: CPU):
        SOLUTION.main()
    lines = capsys.readouterr().out.splitlines()

    assert ["float32", "bfloat16", "float16"] == [line.split()[0] for line in lines[3:6]]
    assert "Speed on this CPU says nothing about a GPU." == lines[-1]


def test_the_report_shows_a_scaler_at_work() -> None:
    """Digits that somebody forgot to normalise are skipped at first, with finite losses."""
    with patch.object(SOLUTION, "choose_device", lambda: CPU):
        report = SOLUTION.print_report()

    assert 0 == report["normalised"]["skipped"]
    assert report["raw"]["skipped"] > 0
    assert SOLUTION.STEPS == report["raw"]["finite"]
    assert 65_536 / 2 ** report["raw"]["skipped"] == report["raw"]["scale"]


def test_each_gap_is_judged_when_it_is_filled(tmp_path: Path) -> None:
    """Anyone who fills the gaps from top to bottom sees one TODO after the other pass."""
    filled = {
        "2.1": (
            "    loss = loss_fn(model(x), y)\n\n    # 2.3",
            "    with torch.autocast(device_type, dtype=dtype, enabled=dtype != torch.float32):\n"
            "        loss = loss_fn(model(x), y)\n\n    # 2.3",
        ),
        "2.3": (
            "    loss.backward()\n\n    # 2.4",
            "    scaler.scale(loss).backward()\n\n    # 2.4",
        ),
        "2.4": (
            "    optimizer.step()\n\n    # 2.5",
            "    if max_norm:\n        scaler.unscale_(optimizer)\n"
            "        nn.utils.clip_grad_norm_(model.parameters(), max_norm)\n"
            "    scaler.step(optimizer)\n\n    # 2.5",
        ),
    }
    code, passed = STARTER, []
    for todo, (gap, answer) in filled.items():
        assert 1 == code.count(gap)
        [line] = [line for line in code.splitlines() if f'"TODO {todo} ' in line]
        code = code.replace(line + "\n", "").replace(gap, answer)
        path = tmp_path / f"after_{todo[-1]}.py"
        path.write_text(code, encoding="utf-8")
        passed.append([o.todo for o in outcomes("lab.exercise_2", path) if o.state == "passed"])

    assert [["2.1"], ["2.1", "2.3"], ["2.1", "2.3", "2.4"]] == passed


def skipping_run(steps: int) -> tuple[torch.amp.GradScaler, list[float]]:
    """A scaler, and its scales, after some steps on pixels that nobody normalised."""
    torch.manual_seed(0)
    model = MNISTClassifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    scaler = SOLUTION.make_scaler("cpu", FLOAT16)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1)
    x, y = 255 * torch.rand(32, 784), torch.randint(10, (32,))
    scales = []
    for _ in range(steps):
        SOLUTION.train_step(model, x, y, optimizer, scaler, cross_entropy, "cpu", FLOAT16)
        scales.append(scaler.get_scale())
        schedule.step()
    return scaler, scales


def test_a_schedule_after_a_skipped_step_is_warned_of() -> None:
    """PyTorch says that the schedule went first, since the optimizer never did."""
    with pytest.warns(UserWarning, match="lr_scheduler.step"):
        _, scales = skipping_run(steps=1)

    assert [32_768] == scales


@pytest.mark.filterwarnings("ignore:.*lr_scheduler.step:UserWarning")
def test_a_checkpoint_without_the_scaler_begins_again() -> None:
    """Its state is five numbers; a new one does not know the scale that was found."""
    scaler, scales = skipping_run(steps=3)
    keys = ["scale", "growth_factor", "backoff_factor", "growth_interval", "_growth_tracker"]

    assert keys == list(scaler.state_dict())
    assert scales[-1] == scaler.state_dict()["scale"] < 65_536
    assert 65_536 == SOLUTION.make_scaler("cpu", FLOAT16).get_scale()
