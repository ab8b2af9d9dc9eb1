"""State by formula and by weighing; what layers keep for backward."""

from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn.functional import cross_entropy
from torchvision.models import resnet50

from lesson_code.lab import activation_bytes
from lesson_code.lab.activation_bytes import (
    block_bytes,
    measured_state,
    print_block,
    print_convolution_group,
    print_small_models,
    print_state,
    published_block_bytes,
    small_model_bytes,
)
from lesson_code.lab.autocast_table import autocast_anyway
from lesson_code.lab.models import TinyCNN
from lesson_code.lab.state_bytes import Optimizer, Precision, StateBytes, state_bytes
from lesson_code.mission.activations import layer_activation_bytes
from lesson_code.mission.architecture import Arch
from lesson_code.mission.choices import TorchRegime
from lesson_code.models import MNISTClassifier
from lesson_code.saved_tensors import SavedBytes


@pytest.mark.parametrize(
    ("precision", "expected"),
    [
        ("float32", StateBytes(4, 0, 4, 8)),
        ("autocast", StateBytes(4, 2, 4, 8)),
        ("all 16 bit", StateBytes(2, 0, 2, 4)),
    ],
)
def test_bytes_per_parameter(precision: Precision, expected: StateBytes) -> None:
    """Autocast leaves the state as it is and adds 16-bit copies."""
    assert expected == state_bytes(1, precision, "Adam")


@pytest.mark.parametrize(("optimizer", "copies"), [("SGD", 0), ("SGD with momentum", 1)])
def test_state_of_the_other_optimizers(optimizer: Optimizer, copies: int) -> None:
    """Momentum is one value for each parameter; plain SGD keeps none."""
    assert copies * 4 * 10 == state_bytes(10, "float32", optimizer).optimizer


@pytest.mark.parametrize("precision", ["float32", "autocast", "all 16 bit"])
def test_the_formulas_are_what_a_step_leaves(precision: Precision) -> None:
    """Weights, gradients and Adam's averages weigh what the formulas say."""
    formula = state_bytes(64 * 64, precision, "Adam")

    assert {
        "weights": formula.weights,
        "gradients": formula.gradients,
        "optimizer": formula.optimizer,
    } == measured_state(precision)


def test_a_convolution_group_keeps_two_maps(capsys: pytest.CaptureFixture[str]) -> None:
    """Eight bytes for each value of one float32 map."""
    print_convolution_group()

    assert ["100352", "802816", "8.0"] == [
        line.split()[-1] for line in capsys.readouterr().out.splitlines()
    ]


@pytest.mark.parametrize(
    ("fused", "autocast", "expected"),
    [
        (True, False, (64.1, 64.1, 64.1)),
        (False, False, (72.1, 96.1, 128.1)),
        (True, True, (36.1, 36.1, 36.1)),
        (False, True, (48.1, 84.1, 132.1)),
    ],
)
def test_bytes_of_a_transformer_block(
    fused: bool, autocast: bool, expected: tuple[float, ...]
) -> None:
    """Only attention written by hand grows with the length, to one percent."""
    measured = [block_bytes(length, fused, autocast) for length in activation_bytes.LENGTHS]

    assert pytest.approx(expected, rel=0.01) == measured


@pytest.mark.parametrize("regime", ["fp32", "autocast"])
@pytest.mark.parametrize("length", activation_bytes.LENGTHS)
def test_the_mission_counts_the_same_block(regime: TorchRegime, length: int) -> None:
    """Its layer has dropout too: two masks of a byte a value, a mask and a copy for each score."""
    measured = block_bytes(length, fused=False, autocast=regime == "autocast")
    values, scores = length * activation_bytes.WIDTH, activation_bytes.HEADS * length**2
    of_the_mission = layer_activation_bytes(
        regime, 1, Arch(1, activation_bytes.WIDTH, activation_bytes.HEADS, 1, length)
    )
    # The dropped scores take the place of those that the product would read without dropout: in
    # float32 these are the softmax's own result, in 16 bits a copy of it that is there already.
    dropped = 4 if regime == "fp32" else 0
    norm_statistics = 2 * 2 * 4 * length  # of two norms a mean and a deviation for each token

    assert measured * values == of_the_mission - 2 * values - (1 + dropped) * scores + (
        norm_statistics
    )


def test_by_hand_a_gpu_keeps_more_under_autocast_than_the_formula() -> None:
    """Softmax keeps its float32 result and the 16-bit copy that the product reads."""
    by_hand = [block_bytes(n, fused=False, autocast=True) for n in activation_bytes.LENGTHS]

    assert all(
        published_block_bytes(n) < kept
        for n, kept in zip(activation_bytes.LENGTHS, by_hand, strict=True)
    )
    float32 = [block_bytes(n, fused=False, autocast=False) for n in activation_bytes.LENGTHS]
    ratios = [plain / cast for plain, cast in zip(float32, by_hand, strict=True)]
    assert ratios == sorted(ratios, reverse=True)
    assert ratios[0] > 1.4
    assert ratios[-1] < 1


def test_on_a_cpu_autocast_keeps_half_of_it() -> None:
    """Its list leaves softmax in 16 bits, so that a CPU says nothing of a GPU here."""
    length = 1024

    def saved(block: nn.Module, sequences: int) -> int:
        x = torch.randn(sequences, length, activation_bytes.WIDTH, requires_grad=True)
        meter = SavedBytes(block)
        with meter, autocast_anyway("cpu", torch.bfloat16):
            out = block(x)
        total = meter.total()
        del out
        return total

    with FakeTensorMode():
        block = activation_bytes.Block(activation_bytes.WIDTH, activation_bytes.HEADS, fused=False)
        a_sequence = saved(block, 2) - saved(block, 1)

    assert 0.52 > a_sequence / (length * activation_bytes.WIDTH) / block_bytes(length, False, True)


@pytest.mark.parametrize(
    ("make", "shape", "classes"),
    [
        (MNISTClassifier, (32, 1, 28, 28), 10),
        (TinyCNN, (32, 1, 28, 28), 10),
        (partial(TinyCNN, "batch"), (32, 1, 28, 28), 10),
        (resnet50, (8, 3, 224, 224), 1000),
    ],
)
def test_without_attention_both_lists_of_autocast_keep_as_much(
    make: Callable[[], nn.Module], shape: tuple[int, ...], classes: int
) -> None:
    """So that what the other tables count on a CPU holds on a GPU, to half a percent."""
    kept = []
    for device in ("cpu", "cuda"):
        with FakeTensorMode(), torch.device(device):
            model, images = make(), torch.randn(shape)
            labels = torch.randint(classes, shape[:1])
            meter = SavedBytes(model, images)
            with meter, autocast_anyway(device, torch.bfloat16):
                loss = cross_entropy(model(images), labels)
            kept.append(meter.total())
            del loss

    assert pytest.approx(kept[0], rel=0.005) == kept[1]


def test_the_published_formula() -> None:
    """34 bytes, and 5 · a · L / H."""
    assert [44, 74, 114] == [published_block_bytes(n) for n in activation_bytes.LENGTHS]


def test_bytes_of_small_models() -> None:
    """The classifier gains little at batch 32, the CNN nearly half; to two percent."""
    found = print_small_models()

    assert {
        "784-256-128-10": {
            "32": pytest.approx([151_044, 144_388], rel=0.02),
            "64": pytest.approx([302_084, 220_676], rel=0.02),
            "128": pytest.approx([604_164, 373_252], rel=0.02),
        },
        "two convolutions": {
            "32": pytest.approx([2_514_436, 1_268_132], rel=0.02),
            "64": pytest.approx([5_028_868, 2_526_116], rel=0.02),
            "128": pytest.approx([10_057_732, 5_042_084], rel=0.02),
        },
    } == found


def test_bytes_of_a_small_cnn_with_batch_norm() -> None:
    """Batch norm keeps its input as well, so that twice as much is saved."""
    saved = [small_model_bytes(TinyCNN("batch"), 32, autocast) for autocast in (False, True)]

    assert pytest.approx([4_923_268, 2_472_740], rel=0.02) == saved


def test_what_is_printed_is_what_is_returned(capsys: pytest.CaptureFixture[str]) -> None:
    """State and block print a row for each thing that they measured."""
    state, block = print_state(), print_block()
    printed = capsys.readouterr().out

    assert 8.0 == state["autocast"]["optimizer"]
    assert 64.125 == block["float32, fused"]["128"]
    assert "64.1" in printed
    assert "all 16 bit             2           2         4         8" in printed
