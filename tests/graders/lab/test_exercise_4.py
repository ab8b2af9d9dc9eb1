"""Exercise 4: the script as a whole, and answers that are right although nobody expects them."""

import copy
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

from graders.checks import WrongAnswerError
from graders.lab import exercise_4 as checks
from lesson_code.benchmarks.how_we_measure import Clockwork
from lesson_code.data import synthetic_digits
from lesson_code.lab import tf32
from lesson_code.models import MNISTClassifier
from tests.graders.kept import SOURCES
from tests.warm import Parent

SOLUTION = checks.SOLUTION
SCRIPT = SOURCES["lab.exercise_4"]
CPU, CUDA = torch.device("cpu"), torch.device("cuda")
QUICK = ("--device", "cpu", "--limit-batches", "3")


def test_a_machine_that_slows_down_slows_all_configurations() -> None:
    """Equal steps, two percent slower with every run: no row is far from the first."""
    device, runs = Clockwork(launch_s=0.0, first_s=0.0), count()
    step = lambda: device.launch(0.05 * 1.02 ** next(runs))  # noqa: E731
    configs = [SOLUTION.Config(name, step, samples=64, peak_bytes=None) for name in "abc"]

    rows = SOLUTION.run_benchmark(configs, device.wait, device.clock)

    assert [1, 1 / 1.02, 1 / 1.02**2] == pytest.approx([row.speedup for row in rows])


def test_what_touches_a_batch_before_it_is_moved_is_named() -> None:
    """The first use ends the check, and not some error further down."""

    def leaves_it(model: nn.Module, loader: Any, *_: Any) -> None:
        for inputs, _targets in loader:
            model(inputs)

    answer = SimpleNamespace(__file__=__file__, train_one_epoch=leaves_it)

    with pytest.raises(WrongAnswerError, match=r"go to the device first, got: .*model\(inputs\)\)"):
        checks.moves_each_batch_once(answer)


@pytest.mark.parametrize("precision", ["fp32", "bf16", "fp16"])
def test_a_resumed_run_ends_with_the_same_bits(
    precision: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two epochs and two more from the file are four epochs: losses, and the saved state itself."""

    def run(file: str, epochs: int) -> list[dict[str, float]]:
        command = [*QUICK, "--precision", precision, "--epochs", str(epochs), "--json"]
        assert 0 == SOLUTION.main([*command, "--resume", str(tmp_path / file)])
        history: list[dict[str, float]] = json.loads(capsys.readouterr().out)["history"]
        return [{**epoch, "seconds": 0.0} for epoch in history]

    whole = run("whole.pt", 4)
    resumed = [*run("pause.pt", 2), *run("pause.pt", 4)]
    states = [torch.load(tmp_path / name, weights_only=True) for name in ("whole.pt", "pause.pt")]

    assert whole == resumed
    assert checks._same(*states)
    assert [] == run("pause.pt", 4)


def test_the_script_runs_in_a_process_of_its_own(tmp_path: Path, warm: Parent) -> None:
    """Five batches on the CPU: exit code 0, and one line of JSON with its conditions."""
    command = [sys.executable, SCRIPT, "--device", "cpu", "--limit-batches", "5", "--json"]
    done = warm.run([*command, "--seed", "3"], cwd=tmp_path)
    report = json.loads(done.stdout)

    assert ("cpu", "fp32", 3) == (report["device"], report["precision"], report["seed"])
    assert {"matmul", "conv", "rnn"} == report["float32"].keys()
    assert 0 <= report["accuracy"] <= 1
    assert [1, 2] == [epoch["epoch"] for epoch in report["history"]]
    assert torch.__version__ == report["torch"]


def test_a_gpu_that_is_not_there_is_refused_in_one_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 2, one line on standard error, nothing on standard output."""
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    status = SOLUTION.main(["--device", "cuda"])
    printed = capsys.readouterr()

    assert 2 == status
    assert "" == printed.out
    assert (
        "error: --device cuda: PyTorch finds no GPU here; leave it out, or say cpu\n" == printed.err
    )


@pytest.mark.parametrize("saved", [True, False])
def test_ctrl_c_says_where_the_run_is(
    saved: bool,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Stopped by hand, it leaves with 130 and names the file, unless nothing was saved yet."""
    path = tmp_path / "run.pt"

    def stop(*_: object) -> None:
        if saved:
            path.touch()
        raise KeyboardInterrupt

    monkeypatch.setattr(SOLUTION, "train_run", stop)
    status = SOLUTION.main([*QUICK, "--resume", str(path)])
    kept = path if saved else "no file"

    assert 130 == status
    assert capsys.readouterr().err.endswith(f"stopped: {kept} has the run so far\n")


def test_a_comparison_has_a_row_for_each_configuration(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The plain one first; each with time, rate, speed-up, memory and accuracy; then the limit."""
    SOLUTION.main([*QUICK, "--precision", "bf16", "--benchmark", "--json"])
    report = json.loads(capsys.readouterr().out)
    rows = report["rows"]

    assert ["cpu fp32", "cpu bf16"] == [row["name"] for row in rows]
    assert 1.0 == rows[0]["speedup"]
    assert all(row["seconds"] > 0 and row["samples_per_s"] > 0 for row in rows)
    assert all(row["peak_bytes"] is None and 0 <= row["accuracy"] <= 1 for row in rows)
    assert report["limited_by"] in ("data", "launches", "computation")


def test_the_report_for_a_person(capsys: pytest.CaptureFixture[str]) -> None:
    """A run that was complete already says so, and bytes are printed as megabytes."""
    row = {
        "name": "cuda fp16",
        "seconds": 0.5,
        "samples_per_s": 12000.0,
        "speedup": 2.0,
        "peak_bytes": 12_500_000,
        "accuracy": 0.9,
    }
    report = {"history": [], "accuracy": 0.9, "rows": [row], "limited_by": "data"}
    SOLUTION.print_lines(report)
    lines = capsys.readouterr().out.splitlines()

    assert "nothing left to train: accuracy 0.900" == lines[0]
    assert ["cuda", "fp16", "0.500", "12,000", "2.00", "12.5", "MB", "0.900"] == lines[3].split()
    assert "limited by: data" == lines[4]


@pytest.mark.parametrize("precision", ["fp32", "bf16", "fp16"])
def test_made_up_digits_are_learned_in_every_type(precision: str) -> None:
    """One pass over 6,400 of them: all of 2,000 right, and no step skipped on the way."""
    images, labels, test_images, test_labels = synthetic_digits(6_400, 2_000)
    dtype = SOLUTION.DTYPES[precision]
    torch.manual_seed(0)
    model = MNISTClassifier()
    scaler = torch.amp.GradScaler("cpu", enabled=precision == "fp16")
    SOLUTION.train_one_epoch(
        model,
        list(zip(images.split(128), labels.split(128), strict=True)),
        torch.optim.Adam(model.parameters(), lr=1e-3),
        scaler,
        cross_entropy,
        CPU,
        dtype,
    )

    assert 1.0 == SOLUTION.evaluate(model, [(test_images, test_labels)], CPU, dtype)
    assert (65_536 if precision == "fp16" else 1) == scaler.get_scale()


@pytest.fixture
def switches() -> Iterator[list[Any]]:
    """The places where float32 products may be rounded; put back afterwards."""
    with tf32.keeping_switches():
        yield list(tf32.switches().values())


@pytest.mark.parametrize(("precision", "value"), [("tf32", "tf32"), ("fp32", "ieee")])
def test_the_switches_follow_the_precision_on_a_gpu(
    precision: str, value: str, switches: list[Any]
) -> None:
    """Products and convolutions alike; a run on the CPU touches none of them."""
    before = [place.fp32_precision for place in switches]
    untouched = SOLUTION.float32_switches(precision, CPU)
    found = SOLUTION.float32_switches(precision, CUDA)

    assert before == list(untouched.values())
    assert {"matmul": value, "conv": value, "rnn": value} == found


def test_the_peak_is_reset_before_the_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a GPU: forget the old peak, run, wait, read."""
    events: list[str] = []

    def note(name: str, result: int | None = None) -> None:
        monkeypatch.setattr(f"torch.cuda.{name}", lambda _: events.append(name) or result)

    note("reset_peak_memory_stats")
    note("synchronize")
    for number, name in enumerate(("memory_allocated", "max_memory_allocated", "memory_reserved")):
        note(name, number)
    found = SOLUTION.profile_memory(lambda: events.append("step"), CUDA)

    assert ["reset_peak_memory_stats", "step", "synchronize"] == events[:3]
    assert {"allocated_bytes": 0, "peak_bytes": 1, "reserved_bytes": 2} == found


def test_a_run_of_a_gpu_brings_its_random_state_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dropout on a GPU draws from the GPU's own generator, whose state is kept on the CPU."""
    given: list[torch.Tensor] = []
    order, state = torch.Generator(), torch.arange(8, dtype=torch.uint8)
    saved = {
        "model": {},
        "optimizer": {},
        "scaler_state_dict": {},
        "epoch": 3,
        "order": order.get_state(),
        "random": torch.get_rng_state(),
        "random_cuda": state,
    }
    part: Any = SimpleNamespace(
        parameters=lambda: iter([SimpleNamespace(is_cuda=True)]), load_state_dict=lambda _: None
    )
    monkeypatch.setattr(SOLUTION, "load_untrusted", lambda *_: saved)
    monkeypatch.setattr("torch.cuda.set_rng_state", given.append)
    scaler = torch.amp.GradScaler("cpu", enabled=False)
    epoch = SOLUTION.load_state(Path("run.pt"), part, part, scaler, order)

    assert 3 == epoch
    assert [state.tolist()] == [found.tolist() for found in given]


@pytest.mark.filterwarnings("ignore:for .*copying from a non-meta parameter:UserWarning")
def test_a_resumed_run_leaves_the_step_counter_on_the_cpu(tmp_path: Path) -> None:
    """On a GPU, in whose place the meta device is here, no step waits for it; the moments move."""
    saved, file = checks._Training(seed=0), tmp_path / "run.pt"
    saved.epochs(1)
    saved.save(SOLUTION, file, 1)
    model = copy.deepcopy(saved.model).to("meta")
    optimizer = torch.optim.Adam(model.parameters())

    SOLUTION.load_state(file, model, optimizer, saved.scaler, saved.order)

    states = optimizer.state.values()
    assert {("cpu", "meta")} == {(s["step"].device.type, s["exp_avg"].device.type) for s in states}


def test_the_plain_loop_learns_as_the_solution_does() -> None:
    """What the starter begins with gives the same weights, to the last bit."""
    batches = checks._batches([16, 16, 3])
    models = [checks._probe() for _ in range(2)]
    SOLUTION.plain_epoch(models[0], batches, checks._sgd(models[0]), cross_entropy)
    SOLUTION.train_one_epoch(
        models[1],
        batches,
        checks._sgd(models[1]),
        torch.amp.GradScaler("cpu", enabled=False),
        cross_entropy,
        CPU,
        torch.float32,
    )
    accuracies = [
        SOLUTION.plain_accuracy(models[0], batches),
        SOLUTION.evaluate(models[1], batches, CPU, torch.float32),
    ]

    assert torch.equal(*map(checks._row, models))
    assert accuracies[0] == pytest.approx(accuracies[1])


def test_options_that_mean_nothing_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """No step from zero batches, and no precision that is not there."""
    for wrong in (["--accum-steps", "0"], ["--precision", "fp8"], ["--epochs", "-1"]):
        with pytest.raises(SystemExit) as stopped:
            SOLUTION.main(wrong)

        assert 2 == stopped.value.code
        assert 1 == capsys.readouterr().err.count("\n")


def test_the_options_do_not_leak_into_the_data() -> None:
    """A limited run sees the first samples of both sets, and the next run sees them all."""
    options = SOLUTION.read_options([*QUICK, "--batch-size", "10"])
    limited = SOLUTION.start_run(options)
    free = SOLUTION.start_run(replace(options, limit_batches=None))

    assert (30, 30) == (len(limited.train_loader.dataset), len(limited.test_loader.dataset))
    assert (6000, 1000) == (len(free.train_loader.dataset), len(free.test_loader.dataset))
    assert isinstance(free.model, nn.Module)


@pytest.mark.parametrize(
    "content", [b"garbage", b"", {"model": {}}, [1]], ids=["garbage", "empty", "wrong", "a list"]
)
def test_a_damaged_file_is_refused_and_stays(
    content: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One sentence before anything is trained, and nothing is lost."""
    path = tmp_path / "run.pt"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        torch.save(content, path)
    before = path.read_bytes()

    assert 2 == SOLUTION.main(["--device", "cpu", "--limit-batches", "2", "--resume", str(path)])
    assert capsys.readouterr().err.endswith("move it away, or choose another --resume\n")
    assert before == path.read_bytes()


def test_who_evaluates_more_often_trains_the_same() -> None:
    """Dropout drops the same units, though each pass through a loader draws from PyTorch."""

    def losses(evaluations: int) -> list[float]:
        training = checks._Training(seed=0)
        passing = DataLoader(training.loader.dataset, 8)
        history = []
        for _ in range(3):
            training.epochs(1)
            history.append(checks._row(training.model).sum().item())
            for _ in range(evaluations):
                SOLUTION.evaluate(training.model, passing, CPU, torch.float32)
        return history

    assert losses(evaluations=0) == losses(evaluations=2)


@pytest.mark.parametrize("generator", [None, torch.Generator()], ids=["none", "its own"])
def test_a_loader_without_a_generator_draws_from_pytorch(generator: torch.Generator | None) -> None:
    """In each pass, though it does not shuffle."""
    loader = DataLoader(TensorDataset(torch.arange(8)), 4, generator=generator)
    before = torch.get_rng_state()

    assert 2 == len(list(loader))

    assert (generator is not None) == torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize(("speedup", "advised"), [(0.8, 1), (2.5, 1), (3.0, 0), (40.0, 0)])
def test_a_slow_gpu_is_no_mistake(
    speedup: float, advised: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step that is on the GPU passes, however fast that is; one that is elsewhere does not."""
    given: list[str] = []
    monkeypatch.setattr("graders.checks.advice_given", given)

    checks._require_on_the_gpu(taken=200, weights=100, speedup=speedup)
    with pytest.raises(WrongAnswerError, match="is the step on the GPU really"):
        checks._require_on_the_gpu(taken=0, weights=100, speedup=speedup)

    assert advised == len(given)
