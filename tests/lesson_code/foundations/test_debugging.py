"""Checks stop what they must, and every probe passes a healthy model and catches planted faults."""

import math
import statistics
import subprocess
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from lesson_code.foundations import debugging
from lesson_code.foundations.debugging import (
    STEPS,
    assert_loss_is_healthy,
    assert_training_batch,
    counts,
    forward_with,
    norms_with,
    outcome_of,
    overfit_digits,
    overfit_twelve_examples,
    passes_with,
    print_differences,
    print_gradients_and_counts,
    print_overfit,
    print_spoiled_batches,
    reload_with,
    runs_with,
    seeded,
    spoiled_batches,
)
from lesson_code.foundations.losses import softmax_first_floor

pytestmark = pytest.mark.usefixtures("one_thread")

EXPECTED = {
    "label 10 of 10 classes": ("IndexError", ValueError, "labels 1 to 10, not 0 to 9"),
    "label -1": ("IndexError", ValueError, "labels -1 to 5"),
    "every label -100": ("loss nan", ValueError, "labels -100 to -100"),
    "int32 labels": ("RuntimeError", TypeError, "must be int64, not torch.int32"),
    "one infinite feature": ("loss nan", ValueError, "features hold inf or NaN"),
    "no example at all": ("loss nan", ValueError, "the batch is empty"),
}


@pytest.mark.parametrize(("name", "expected"), EXPECTED.items())
def test_each_spoiled_batch_is_stopped(
    name: str, expected: tuple[str, type[Exception], str]
) -> None:
    """PyTorch raises or computes NaN; the check says what is wrong, before the model is called."""
    alone, error, message = expected
    features, labels = spoiled_batches()[name]
    model = nn.Linear(4, 10)

    with pytest.raises(error, match=message):
        assert_training_batch(features, labels, 10)

    assert alone == outcome_of(lambda: F.cross_entropy(model(features), labels).item())


def test_every_spoiled_batch_is_expected() -> None:
    """No planted fault is left out of the test above."""
    assert set(EXPECTED) == set(spoiled_batches())


def test_a_healthy_batch_passes(device: torch.device) -> None:
    """Finite features and int64 labels from the first to the last class go through."""
    labels = torch.tensor([0, 9], device=device)

    assert "passes" == outcome_of(
        lambda: assert_training_batch(torch.zeros(2, 4, device=device), labels, 10)
    )


def test_pytorch_says_which_label_is_out_of_bounds() -> None:
    """On the CPU a label too large raises with the label in the message."""
    features, labels = spoiled_batches()["label 10 of 10 classes"]

    with pytest.raises(IndexError, match="Target 10 is out of bounds"):
        F.cross_entropy(features.new_zeros(6, 10), labels)


def test_on_the_cpu_a_bad_label_spoils_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """The line of the loss raises, and the process goes on."""
    debugging.try_a_bad_label("cpu")

    said = [line.strip() for line in capsys.readouterr().out.splitlines()[1::2]]
    assert ["IndexError: Target 10 is out of bounds.", "no error", "no error"] == said


def test_a_bad_label_has_processes_of_its_own(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both print what they saw, and what a kernel said on stderr, without the place in its file."""

    def run(_: list[str], **more: Any) -> SimpleNamespace:
        return SimpleNamespace(
            stdout=f"waits: {more['env']['CUDA_LAUNCH_BLOCKING']}\n",
            stderr="Loss.cu:245: block: [0,0,0] Assertion `t >= 0 && t < n_classes` failed.\n",
        )

    monkeypatch.setattr(subprocess, "run", run)

    debugging.print_bad_label()

    kernel = ["on stderr", "Assertion `t >= 0 && t < n_classes` failed"]
    lines = [line.strip() for line in capsys.readouterr().out.splitlines() if line]
    assert [
        *["# as usual", "waits: 0", *kernel],
        *["# CUDA_LAUNCH_BLOCKING=1", "waits: 1", *kernel],
    ] == lines


@pytest.mark.gpu
def test_on_a_gpu_a_bad_label_spoils_the_process(capsys: pytest.CaptureFixture[str]) -> None:
    """The error comes at innocent lines, up to the last; waiting moves it to the guilty one."""
    debugging.print_bad_label()

    usual, waiting = capsys.readouterr().out.split("# CUDA_LAUNCH_BLOCKING=1")
    loss, total, fresh = (line for line in usual.splitlines() if line.endswith(("error", "ered")))
    assert "no error" in loss
    assert "CUDA error: device-side assert triggered" in total
    assert "CUDA error: device-side assert triggered" in fresh
    assert "CUDA error: device-side assert triggered" in waiting.split("logits.sum")[0]
    assert "Assertion `" in usual


def test_an_empty_batch_would_break_the_check_of_its_labels() -> None:
    """Without the first line the check itself would stop with a message about reductions."""
    with pytest.raises(RuntimeError, match="min"):
        torch.tensor([], dtype=torch.int64).min()


def test_a_padded_batch_passes_by_the_labels_that_are_left() -> None:
    """And one of nothing but padding is stopped, as empty."""
    labels = torch.tensor([3, -100])

    assert_training_batch(torch.zeros(2, 4), labels[labels != -100], 10)
    with pytest.raises(ValueError, match="empty"):
        assert_training_batch(torch.zeros(2, 4), labels[:0], 10)


def test_one_label_of_minus_100_is_left_out_in_silence() -> None:
    """The default ignore_index drops the example from the mean."""
    logits = torch.randn(2, 10)

    loss = F.cross_entropy(logits, torch.tensor([3, -100]))

    assert torch.equal(F.cross_entropy(logits[:1], torch.tensor([3])), loss)


def test_one_infinite_feature_ruins_the_gradients_too() -> None:
    """With one layer, the loss and every gradient become NaN together."""
    features, labels = spoiled_batches()["one infinite feature"]
    model = nn.Linear(4, 10)
    loss = F.cross_entropy(model(features), labels)
    loss.backward()

    assert math.isnan(loss.item())
    assert all(
        tensor.grad is not None and tensor.grad.isnan().all() for tensor in model.parameters()
    )


def test_behind_a_relu_an_infinite_feature_ruins_only_some_gradients() -> None:
    """Units that are off keep finite gradients, so the page says "all" of one layer only."""
    features, labels = spoiled_batches()["one infinite feature"]
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 10))
    F.cross_entropy(model(features), labels).backward()

    assert model[0].weight.grad is not None
    assert 0 < int(model[0].weight.grad.isnan().sum()) < model[0].weight.numel()


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_loss_that_is_no_number_stops_the_run(value: float) -> None:
    """The error has the value; a finite loss passes."""
    with pytest.raises(RuntimeError, match=f"the loss is {value}"):
        assert_loss_is_healthy(torch.tensor(value))

    assert "passes" == outcome_of(lambda: assert_loss_is_healthy(torch.tensor(1e30)))


def test_a_healthy_step_memorises_twelve_examples() -> None:
    """From about 1.1 the loss falls below 0.05 for every one of ten seeds."""
    runs = [overfit_twelve_examples(STEPS["healthy"], seed) for seed in range(10)]

    assert max(last for _, last in runs) < 0.05
    assert 0.9 < statistics.mean(first for first, _ in runs) < 1.4


@pytest.mark.parametrize("name", [name for name in STEPS if name != "healthy"])
def test_a_faulty_step_does_not(name: str) -> None:
    """Every planted fault keeps the loss above 0.04; without resets only the median is bound."""
    losses = [overfit_twelve_examples(STEPS[name], seed)[1] for seed in range(10)]

    if name == "gradients never reset":
        assert statistics.median(losses) > 0.5
    else:
        assert min(losses) > 0.04


@pytest.mark.parametrize("rate", [1e-4, debugging.LOW_RATE])
def test_a_healthy_step_at_a_low_rate_does_not_either(rate: float) -> None:
    """After 200 steps it is where a fault would be, so the rate comes first."""
    losses = [overfit_twelve_examples(STEPS["healthy"], seed, rate)[1] for seed in range(3)]

    assert min(losses) > 0.3


def test_more_steps_help_a_low_rate() -> None:
    """At the page's low rate the healthy step arrives later."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
    examples = torch.randn(12, 4), torch.randint(3, (12,))

    _, last = debugging.overfit_one_batch(
        model, STEPS["healthy"], *examples, learning_rate=debugging.LOW_RATE, steps=4000
    )

    assert last < 0.05


@pytest.mark.parametrize("rate", [0.005, 0.05, 0.5])
def test_dropout_keeps_a_healthy_step_from_memorising(rate: float) -> None:
    """With half of the units dropped no rate ends where it does without."""
    torch.manual_seed(0)
    examples = torch.randn(12, 4), torch.randint(3, (12,))
    layers = nn.Linear(4, 16), nn.ReLU(), nn.Dropout(0.5), nn.Linear(16, 3)

    _, last = debugging.overfit_one_batch(
        nn.Sequential(*layers), STEPS["healthy"], *examples, learning_rate=rate, steps=1000
    )

    assert last > 0.01


def test_equal_examples_with_different_labels_are_never_memorised() -> None:
    """Of two labels for one example the best answer is half of each, which costs ln 2."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
    features, labels = torch.randn(6, 4).repeat(2, 1), torch.arange(12) % 3
    labels[6:] = (labels[6:] + 1) % 3

    _, last = debugging.overfit_one_batch(model, STEPS["healthy"], features, labels)

    assert math.log(2) == pytest.approx(last, abs=0.01)


@pytest.mark.parametrize("seed", range(3))
def test_softmax_first_ends_at_its_floor_and_a_twelfth_for_each_mistake(seed: int) -> None:
    """A mistake of which it is sure costs 1 more than a right answer, and learns nothing."""
    _, last = overfit_twelve_examples(STEPS["softmax before the loss"], seed)
    mistakes = 12 * (last - softmax_first_floor(3))

    assert mistakes > -0.01
    assert round(mistakes) == pytest.approx(mistakes, abs=0.1)


@pytest.mark.parametrize("name", ["logits detached", "step never called"])
def test_where_nothing_is_learned_the_loss_does_not_move(name: str) -> None:
    """Both faults leave the first loss as it was, to the last bit, as the page says."""
    first, last = overfit_twelve_examples(STEPS[name], seed=0)

    assert first == last


def test_logits_that_are_only_detached_raise() -> None:
    """The fault is quiet only where gradients are asked for again behind the cut."""
    logits = nn.Linear(4, 3)(torch.randn(5, 4)).detach()

    with pytest.raises(RuntimeError, match="does not require grad"):
        F.cross_entropy(logits, torch.arange(5) % 3).backward()


def test_real_digits_are_memorised() -> None:
    """32 MNIST digits go from about 2.3 to below 0.05, with dropout switched on."""
    first, last = overfit_digits(seed=0)

    assert 2.0 < first < 2.7
    assert last < 0.05


def test_gradients_reach_every_layer_of_a_healthy_network() -> None:
    """All four norms are finite and above zero."""
    norms = norms_with("")

    assert {"hidden.weight", "hidden.bias", "output.weight", "output.bias"} == set(norms)
    assert all(norm is not None and 0 < norm < math.inf for norm in norms.values())


def test_gradient_norms_show_the_fault() -> None:
    """Dead units give zero, a cut graph gives none, and a hidden layer is not on the list."""
    dead, detached, hidden = (norms_with(fault) for fault in ("dead", "detached", "list"))

    assert (0.0, 0.0, 0.0) == (dead["hidden.weight"], dead["hidden.bias"], dead["output.weight"])
    assert (None, None) == (detached["hidden.weight"], detached["hidden.bias"])
    assert detached["output.weight"] is not None
    assert {"output.weight", "output.bias"} == set(hidden)


def test_a_layer_that_took_no_part_has_no_gradient_either() -> None:
    """The graph is whole; this pass only went another way."""
    model = nn.ModuleDict({"used": nn.Linear(4, 3), "idle": nn.Linear(4, 3)})

    norms = debugging.gradient_norms(model, model["used"](torch.ones(2, 4)).sum())

    assert norms["idle.weight"] is None
    assert norms["used.weight"] is not None


def test_counts_tell_three_faults_apart() -> None:
    """Healthy: four of each. A list hides two, freezing leaves two over, a new layer is unknown."""
    found = {name: tuple(count.values()) for name, count in counts().items()}

    assert found == {
        "healthy": (4, 4, 4),
        "plain list": (2, 2, 2),
        "frozen afterwards": (2, 4, 2),
        "optimizer built too early": (4, 4, 2),
    }


def test_two_passes_are_equal_only_in_evaluation_mode_without_noise() -> None:
    """Equal to the last bit when healthy; dropout and noise in forward are seen."""
    assert 0.0 == passes_with("")
    assert passes_with("", training=True) > 0.1
    assert passes_with("noise") > 0.1


def test_a_reloaded_model_answers_the_same_only_with_all_of_its_state() -> None:
    """Equal when healthy; weights outside the state dict come back as other ones."""
    assert 0.0 == reload_with("")
    assert reload_with("list") > 0.1
    with pytest.raises(RuntimeError, match="size mismatch"):
        reload_with("", classes=4)


def test_two_runs_are_equal_unless_precision_or_device_differ() -> None:
    """Equal on the CPU, and bfloat16 shows in the losses."""
    assert 0.0 == runs_with()
    assert 1e-4 < runs_with(mixed=True) < 0.5


def test_two_runs_of_a_model_in_training_mode_are_equal_too() -> None:
    """The probe switches dropout off itself, as a fresh model has it on; all weights still move."""
    runs = []
    for seed in range(2):
        model = seeded().train()
        torch.manual_seed(seed)  # which would draw other masks
        before = [parameter.detach().clone() for parameter in model.parameters()]
        runs.append(debugging.tiny_run(model, debugging.CPU))
        pairs = zip(before, model.parameters(), strict=True)
        assert not any(torch.equal(old, new) for old, new in pairs)

    assert 0.0 == debugging.runs_differ_by(*runs)


def test_with_dropout_two_healthy_runs_differ_on_one_cpu() -> None:
    """Which is why the probe leaves it out."""
    losses = []
    features, labels = debugging.twelve_examples()
    for seed in range(2):
        model = seeded().train()
        optimizer = torch.optim.Adam(model.parameters())
        torch.manual_seed(seed)
        losses.append(debugging.training_step(model, optimizer, features, labels).item())

    assert abs(losses[0] - losses[1]) > 0.01


@pytest.mark.gpu
def test_a_recurrent_layer_on_a_gpu_refuses_backward_in_evaluation_mode() -> None:
    """What the backward pass of cuDNN needs is kept in training mode only."""
    layer = nn.LSTM(4, 8).to("cuda").eval()

    with pytest.raises(RuntimeError, match="training mode"):
        layer(torch.ones(3, 2, 4, device="cuda"))[0].sum().backward()


def test_a_forward_pass_on_another_device_needs_everything_there() -> None:
    """Healthy, the network answers on the meta device; a mask made on the CPU stops it there."""
    assert (12, 3) == tuple(forward_with("", torch.device("meta")).shape)
    with pytest.raises(RuntimeError, match="device") as error:
        forward_with("mask", torch.device("meta"))
    assert any("x * torch.ones(16)" in str(frame.statement) for frame in error.traceback)


def test_on_meta_everything_runs_but_no_loss_can_be_read() -> None:
    """Backward and step go through; what has no value is the number to compare."""
    meta = torch.device("meta")
    model = seeded().to(meta)
    optimizer = torch.optim.Adam(model.parameters())

    loss = debugging.training_step(
        model, optimizer, torch.ones(5, 4, device=meta), torch.zeros(5, dtype=torch.int64).to(meta)
    )

    assert "meta" == loss.device.type
    with pytest.raises(RuntimeError, match="item"):
        loss.item()


@pytest.mark.gpu
def test_a_tiny_run_agrees_on_a_gpu() -> None:
    """The losses of CPU and GPU lie closer together than the page's faults."""
    assert runs_with(device=torch.device("cuda")) < 1e-4
    with pytest.raises(RuntimeError, match="device"):
        runs_with("mask", torch.device("cuda"))


def test_the_page_shows_errors_where_there_were_none(capsys: pytest.CaptureFixture[str]) -> None:
    """Three of the spoiled batches give NaN in PyTorch, and no line of the check is empty."""
    print_spoiled_batches()

    lines = capsys.readouterr().out.splitlines()[1:]
    assert 3 == sum("loss nan" in line for line in lines)
    assert all(line.endswith(("ValueError", "TypeError", "RuntimeError")) for line in lines)


def test_the_page_shows_every_step(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line for each step, for a low rate and for real digits; only the healthy ones are small."""
    monkeypatch.setattr(debugging, "SEEDS", range(1))

    print_overfit()

    lines = capsys.readouterr().out.splitlines()[1:]
    others = ["healthy, rate 0.001", "healthy, 32 MNIST digits"]
    assert [*STEPS, *others] == [line[:26].strip() for line in lines]
    assert ["0.00", "above"] == [lines[0].split()[-1][:4], lines[1].split()[-2]]


def test_the_page_shows_missing_gradients_and_counts(capsys: pytest.CaptureFixture[str]) -> None:
    """A gradient that never arrived reads so, and a healthy network counts four of everything."""
    print_gradients_and_counts()

    printed = capsys.readouterr().out
    assert 2 == printed.count("no gradient")
    assert ["healthy", "4", "4", "4"] in [line.split() for line in printed.splitlines()]


def test_the_page_shows_equal_and_different(capsys: pytest.CaptureFixture[str]) -> None:
    """Every healthy line ends in 0 or passes; every fault is a difference or an error."""
    print_differences()

    probes = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  ")]
    healthy = [line for line in probes if "healthy" in line]
    assert ["0", "0", "0", "passes"] == [line.split()[-1] for line in healthy]
    faulty = [line for line in probes if line not in healthy]
    assert all(line.endswith(("more than 0.0001", "RuntimeError")) for line in faulty)


def test_a_difference_below_the_bound_reads_as_noise(capsys: pytest.CaptureFixture[str]) -> None:
    """A probe that finds less than 0.0001 is not shown as a fault."""
    debugging._print_differences({"tiny": partial(float, 1e-6)})

    assert ["tiny", "noise"] == capsys.readouterr().out.split()
