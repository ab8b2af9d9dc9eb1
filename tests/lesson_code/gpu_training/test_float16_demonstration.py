"""Gradients below float16's range stop float16 training, and nothing else in it does.

The bounds hold on a CPU; a GPU sums in another order and gets looser ones.
"""

import json
import math
import time
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import nn

from lesson_code.data import as_tensors, load_mnist, synthetic_digits
from lesson_code.gpu_training import float16_demonstration as demonstration
from lesson_code.gpu_training.float_formats import FLOAT16
from lesson_code.models import MNISTClassifier
from results.recorded import Recording
from tests.printed import printed

Arms = dict[str, dict[str, Any]]
LEARNS = ["float32", "mixed_precision"]
STANDS_STILL = ["all_float16", "autocast_without_scaler"]
CPU = torch.device("cpu")
pytestmark = pytest.mark.uncounted


@pytest.fixture(scope="module")
def one_thread_here() -> Iterator[None]:
    """One thread for everything in this module."""
    with demonstration.one_thread():
        yield


def demonstrated(function: str) -> Recording:
    """What a function of the module prints and returns, as tests compare it with a fresh run."""
    return printed(f"gpu_training/float16_demonstration:{function}")


@pytest.fixture(scope="module")
def shrunk() -> Arms:
    """The four arms with gradients made 2**20 times smaller."""
    return demonstrated("print_demonstration").data["shrunk"]


@pytest.fixture(scope="module")
def control() -> Arms:
    """The four arms with ordinary gradients."""
    return demonstrated("print_demonstration").data["control"]


def test_there_are_four_arms(shrunk: Arms, control: Arms) -> None:
    """float32, all float16, autocast alone, and mixed precision; five epochs each."""
    names = ["float32", "all_float16", "autocast_without_scaler", "mixed_precision"]

    assert list(shrunk) == list(control) == names
    assert {len(arm["loss"]) for arm in (*shrunk.values(), *control.values())} == {5}


@pytest.mark.parametrize("name", LEARNS)
def test_float32_and_mixed_precision_learn_from_tiny_gradients(shrunk: Arms, name: str) -> None:
    """Their loss falls below 0.01, and nearly all validation answers are right."""
    arm = shrunk[name]

    assert arm["loss"][-1] < 0.01
    assert arm["accuracy"] > 0.95
    assert arm["changed_share"] > 0.99


@pytest.mark.parametrize("name", STANDS_STILL)
def test_float16_without_a_scaler_stands_still(shrunk: Arms, name: str) -> None:
    """Every gradient is exactly zero, no weight moves, and the answers are guesses."""
    arm = shrunk[name]

    assert arm["loss"][-1] > 2.2
    assert arm["accuracy"] < 0.2
    assert arm["zero_share_first_epoch"] > 0.99
    assert arm["zero_share"] > 0.99
    assert arm["changed_share"] < 0.01


def test_all_float16_learns_once_its_loss_is_scaled(one_thread_here: None, shrunk: Arms) -> None:
    """A factor on the loss, taken out through the rate, is all that its tiny gradients lack.

    Of the half minute that four arms may take on one CPU thread, this slowest one needs less than a
    half; other processes do not count.
    """
    factor = demonstration.SHRUNK * demonstration.LOSS_SCALE
    start = time.process_time()

    scaled = demonstration.train_arm(demonstration.ARMS["all_float16"], factor, CPU)

    assert time.process_time() - start < 15
    assert scaled.loss == pytest.approx(shrunk["float32"]["loss"], abs=2e-3)
    assert scaled.accuracy > 0.95
    assert scaled.zero_share < 0.05


def test_losses_and_zeros_are_those_that_were_measured(shrunk: Arms) -> None:
    """The losses of the float32 and the mixed run, and their shares of zero gradients."""
    float32, mixed = shrunk["float32"], shrunk["mixed_precision"]

    assert float32["loss"] == pytest.approx([1.9920, 0.1544, 0.0012, 0.0007, 0.0006], abs=2e-3)
    assert mixed["loss"] == pytest.approx([1.9922, 0.1545, 0.0012, 0.0007, 0.0006], abs=2e-3)
    assert float32["zero_share_first_epoch"] == pytest.approx(0.002, abs=2e-3)
    assert mixed["zero_share_first_epoch"] == pytest.approx(0.002, abs=2e-3)
    assert mixed["zero_share"] == pytest.approx(0.027, abs=1e-2)


def test_the_factor_changes_nothing_in_float32(shrunk: Arms, control: Arms) -> None:
    """A power of two in the loss and its inverse in the rate: the losses are equal, bit for bit."""
    assert shrunk["float32"]["loss"] == control["float32"]["loss"]
    assert shrunk["float32"]["accuracy"] == control["float32"]["accuracy"]


@pytest.mark.parametrize("name", demonstration.ARMS)
def test_with_ordinary_gradients_every_arm_learns(control: Arms, name: str) -> None:
    """Float16 is not the culprit by itself: its range is."""
    arm = control[name]

    assert arm["loss"][-1] < 0.01
    assert arm["accuracy"] > 0.95


def test_the_table_shows_both_factors_and_all_zero_shares() -> None:
    """Four rows twice, in 72 columns: zeros of float16 and of float32 are in one column."""
    lines = demonstrated("print_demonstration").text.splitlines()

    rows = [line.split() for line in lines if line.startswith(("float32", "all float16"))]

    assert max(len(line) for line in lines) <= 72
    assert [row[-5:] for row in rows[:2]] == [
        ["1.9920", "0.0006", "100.0%", "0.2%", "100.0%"],
        ["2.2978", "2.2977", "10.4%", "100.0%", "0.0%"],
    ]
    assert len(rows) == 4


def test_the_threads_come_back(one_thread_here: None) -> None:
    """The demonstration leaves PyTorch's number of threads as it was, after an error too."""
    torch.set_num_threads(2)

    def fail_on_one_thread() -> None:
        with demonstration.one_thread():
            raise KeyError(torch.get_num_threads())

    with pytest.raises(KeyError) as inside:
        fail_on_one_thread()

    after = torch.get_num_threads()
    torch.set_num_threads(1)
    assert (inside.value.args, after) == ((1,), 2)


def test_every_first_gradient_lies_below_the_threshold(one_thread_here: None) -> None:
    """First batch, first layer: median 7.5e-10, largest 7.1e-9, all of it zero in float16."""
    torch.manual_seed(42)
    model = MNISTClassifier()
    images, labels = (part[:64] for part in synthetic_digits()[:2])
    loss = nn.functional.cross_entropy(model(images), labels) * demonstration.SHRUNK

    sizes = torch.autograd.grad(loss, model.fc1.weight)[0].abs()

    assert sizes.median().item() == pytest.approx(7.5e-10, rel=0.05)
    assert sizes.max().item() == pytest.approx(7.1e-9, rel=0.05)
    assert sizes.max().item() < FLOAT16.lost
    assert sizes.half().count_nonzero() == 0


def test_plain_sgd_gets_through_in_pure_float16(one_thread_here: None) -> None:
    """On real digits, at the ordinary loss, it learns what it learns in float32."""
    images, labels = as_tensors(load_mnist(source="subset"))
    held_out = slice(2000, 3000)
    accuracies = []
    for dtype in (torch.float32, torch.float16):
        torch.manual_seed(42)
        model = MNISTClassifier().to(dtype)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        order = torch.Generator().manual_seed(1)
        for _ in range(3):
            for batch in torch.randperm(2000, generator=order).split(64):
                optimizer.zero_grad()
                nn.functional.cross_entropy(
                    model(images[batch].to(dtype)), labels[batch]
                ).backward()
                optimizer.step()
        right = model(images[held_out].to(dtype)).argmax(dim=1) == labels[held_out]
        accuracies.append(right.float().mean().item())

    assert min(accuracies) > 0.7
    assert accuracies[0] == pytest.approx(accuracies[1], abs=0.02)


def test_default_adam_breaks_float16_weights_at_the_first_step(one_thread_here: None) -> None:
    """Epsilon 1e-8 is zero in float16, and so are the squares of small gradients."""
    loss, broken = demonstration.adam_in_float16(eps=1e-8, steps=2, device=CPU)

    assert broken[0] > 0.95
    assert math.isnan(loss)


def test_a_larger_epsilon_breaks_later_or_not_at_all(one_thread_here: None) -> None:
    """1e-7 survives one step; 1e-4 trains."""
    _, broken = demonstration.adam_in_float16(eps=1e-7, steps=2, device=CPU)
    loss, sound = demonstration.adam_in_float16(eps=1e-4, steps=32, device=CPU)

    assert broken[0] == 0
    assert broken[1] > 0.9
    assert max(sound) == 0
    assert loss < 1.0


def test_printed_adam_has_no_nan_in_its_data() -> None:
    """A loss that is NaN is printed as such and is null in the data."""
    printed_adam = demonstrated("print_adam_in_float16")

    assert json.dumps(printed_adam.data, allow_nan=False)
    assert printed_adam.data["1e-8"]["loss"] is None
    lines = printed_adam.text.splitlines()
    assert max(len(line) for line in lines) <= 72
    assert [line.split()[0] for line in lines[-3:]] == ["1e-8", "1e-7", "1e-4"]


def test_scaled_gradients_must_be_divided_in_float32() -> None:
    """Divided in float16 they are zero again; in float32 nothing is lost that was saved."""
    unscaled = demonstrated("print_unscaling_dtype")
    data = unscaled.data

    assert data["zero_share"] == {
        "float32, not scaled": pytest.approx(0, abs=1e-3),
        "float16, not scaled": 1.0,
        "float16, scaled": pytest.approx(0.0003, abs=5e-4),
        "divided in float16": 1.0,
        "divided in float32": data["zero_share"]["float16, scaled"],
    }
    assert max(len(line) for line in unscaled.text.splitlines()) <= 72


def test_a_whole_run_divided_in_float16_learns_too_little(one_thread_here: None) -> None:
    """Losses and accuracy are far from what the division in float32 gives."""
    losses, accuracy = demonstration.train_with_float16_division(CPU)

    assert losses == pytest.approx([2.297, 2.278, 2.244, 2.109, 1.555], abs=0.02)
    assert accuracy == pytest.approx(0.674, abs=0.03)


@pytest.mark.gpu
def test_the_four_arms_on_a_gpu() -> None:
    """The picture is the same on CUDA, with looser bounds."""
    device = torch.device("cuda")

    shrunk = demonstration.run_demonstration(demonstration.SHRUNK, device)
    control = demonstration.run_demonstration(1.0, device)

    for name in LEARNS:
        assert shrunk[name]["loss"][-1] < 0.05
        assert shrunk[name]["accuracy"] > 0.9
    for name in STANDS_STILL:
        assert shrunk[name]["loss"][-1] > 2.2
        assert shrunk[name]["accuracy"] < 0.25
        assert shrunk[name]["zero_share"] > 0.9
        assert shrunk[name]["changed_share"] < 0.1
    for arm in control.values():
        assert arm["loss"][-1] < 0.05


@pytest.mark.gpu
def test_default_adam_breaks_float16_weights_on_a_gpu() -> None:
    """Most weights are no number after a few steps there too."""
    _, broken = demonstration.adam_in_float16(eps=1e-8, steps=4, device=torch.device("cuda"))

    assert broken[-1] > 0.5


def test_the_study_tells_how_many_seeds_learnt(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the worst and the best of each arm; every arm gets the same five pairs of seeds."""
    taken: dict[tuple[demonstration.Arm, float], list[tuple[int, int]]] = {}

    def train(
        arm: demonstration.Arm, factor: float, _: torch.device, weights: int, order: int
    ) -> demonstration.ArmResult:
        taken.setdefault((arm, factor), []).append((weights, order))
        last = 0.5 if weights < 2 or factor == 1.0 else 2.0 + weights / 10
        return demonstration.ArmResult([2.5, last], 0.25 * weights, 0.0, 0.0, 1.0)

    monkeypatch.setattr(demonstration, "train_arm", train)
    found = demonstration.study_arms()

    assert 8 == len(taken)
    assert 1 == len({tuple(seeds) for seeds in taken.values()})
    assert 5 == len(set(taken[demonstration.Arm(), 1.0]))
    lines = [line.split("  ") for line in capsys.readouterr().out.splitlines()]
    row = [cell.strip() for cell in lines[1] if cell.strip()]
    assert ["float32", "0.50 to 2.40", "0.0% to 100.0%", "2"] == row
    assert {"loss": 2.4, "accuracy": 1.0} == found["tiny gradients"]["float32"][4]
