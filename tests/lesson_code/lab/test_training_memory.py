"""What training ResNet-50 keeps: the recorded numbers, and the code that found them."""

from functools import partial
from typing import Any

import pytest
import torch
from torch import nn
from torchvision.models import resnet50

from lesson_code.lab.state_bytes import Optimizer
from lesson_code.lab.training_memory import (
    checkpointed_resnet50,
    saved_by_kind,
    saved_bytes,
    step_flop,
    step_memory,
)
from lesson_code.saved_tensors import SavedBytes
from tests.printed import recorded

MB = 10**6


def returned(function: str) -> Any:
    """What a printing function of the module returned when it was recorded."""
    return recorded(f"lab/training_memory:{function}").data


@pytest.mark.parametrize(
    ("precision", "batch", "megabytes"),
    [
        ("float32", 1, 86.1),
        ("float32", 8, 687.5),
        ("float32", 32, 2749.4),
        ("float32", "per_image", 85.9),
        ("autocast", 8, 401.3),
        ("autocast", 32, 1451.6),
    ],
)
def test_saved_bytes_grow_with_the_batch(
    precision: str, batch: int | str, megabytes: float
) -> None:
    """What was recorded agrees with what was measured on real tensors, to one percent."""
    assert pytest.approx(megabytes, rel=0.01) == (
        returned("print_saved_by_batch")[precision][str(batch)] / MB
    )


@pytest.mark.parametrize(
    ("precision", "batch", "megabytes"),
    [
        ("float32", 32, 3090.0),
        ("autocast", 32, 1794.4),
        ("float32", 64, 5864.6),
        ("autocast", 64, 3226.7),
    ],
)
def test_recorded_peaks(precision: str, batch: int, megabytes: float) -> None:
    """The peak of a step with Adam, to one percent."""
    peak = returned(f"print_{precision}_steps")[str(batch)]["peak"]

    assert pytest.approx(megabytes, rel=0.01) == peak["total"] / MB


def test_the_peak_comes_before_the_gradients() -> None:
    """At batch 32 only the last layer's gradients exist; at batch 8 most of them do."""
    steps = returned("print_float32_steps")

    assert pytest.approx(8.2, rel=0.01) == steps["32"]["peak"]["gradients"] / MB
    assert steps["32"]["peak"]["gradients"] < steps["8"]["peak"]["gradients"]


@pytest.mark.uncounted
@pytest.mark.parametrize(
    ("optimizer", "batch", "autocast", "state"),
    [("SGD", 8, True, 0), ("SGD with momentum", 32, False, 1)],
)
def test_another_optimizer_differs_by_its_state(
    optimizer: Optimizer, batch: int, autocast: bool, state: int
) -> None:
    """The peak is Adam's, less Adam's state, plus the optimizer's own."""
    adam = returned("print_autocast_steps" if autocast else "print_float32_steps")
    peak = adam[str(batch)]["peak"]

    step = step_memory(batch, autocast, optimizer)

    assert peak["total"] - peak["optimizer"] + state * 4 * 25_557_032 == step.peak.total
    assert adam[str(batch)]["saved"] == step.saved


def test_sgd_with_momentum_at_batch_32() -> None:
    """Adam's second average is what the two differ by."""
    peak = returned("print_float32_steps")["32"]["peak"]

    assert pytest.approx(2987.7, rel=0.01) == (peak["total"] - 4 * 25_557_032) / MB


def test_what_is_saved_by_kind() -> None:
    """103 float maps, indices that autocast leaves alone, and no byte unaccounted for."""
    full, mixed = saved_by_kind(32, autocast=False), saved_by_kind(32, autocast=True)
    maps = [full.bytes[kind] for kind in full.maps]
    pooled, log_probabilities = 32 * 2048, 32 * 1000
    statistics = 2 * 26_560

    assert [53, 49, 1] == [
        full.maps[k] for k in ("convolution outputs", "ReLU outputs", "max-pool output")
    ]
    assert pytest.approx(2678.2, rel=0.01) == sum(maps) / MB
    assert pytest.approx(51.4, rel=0.01) == full.bytes["max-pool indices, int64"] / MB
    assert full.bytes["max-pool indices, int64"] == mixed.bytes["max-pool indices, int64"]
    assert 4 * (pooled + log_probabilities + statistics + 1) == full.bytes["all else"]
    assert {kind: mixed.bytes[kind] * 2 for kind in full.maps} == {
        kind: full.bytes[kind] for kind in full.maps
    }
    assert returned("print_saved_by_kind") == {"float32": full.bytes, "autocast": mixed.bytes}


def test_saved_bytes_of_one_image() -> None:
    """The counts of the recording are those of today's code."""
    assert returned("print_saved_by_batch")["float32"]["1"] == saved_bytes(1, autocast=False)


def test_real_batch_norm_keeps_its_statistics_in_32_bits() -> None:
    """Under autocast the maps take two bytes a value, and mean and deviation four."""
    norm, maps = nn.BatchNorm2d(16), torch.randn(4, 16, 8, 8).bfloat16()
    meter = SavedBytes(norm)
    with meter, torch.autocast("cpu", torch.bfloat16):
        out = norm(maps.requires_grad_())

    assert {torch.bfloat16: out.nbytes, torch.float32: 2 * 16 * 4} == dict(meter.by_dtype())


@pytest.mark.parametrize(
    ("name", "megabytes"), [("none", 2885.4), ("each_block", 1243.1), ("each_stage", 1738.8)]
)
def test_recorded_checkpointing(name: str, megabytes: float) -> None:
    """Peaks to one percent, work to the last operation."""
    found = returned("print_checkpointing")[name]

    assert pytest.approx(megabytes, rel=0.01) == found["peak"] / MB
    assert (24_299_077_632 if name == "none" else 32_237_322_240) == found["flop"]


def test_checkpointing_today() -> None:
    """The recorded peak of a checkpoint around each block is that of today's code."""
    step = step_memory(32, make_model=partial(checkpointed_resnet50, "block"))

    assert returned("print_checkpointing")["each_block"]["peak"] == step.peak.total


def test_work_without_checkpoints() -> None:
    """Forward and backward of one image."""
    assert step_flop(resnet50) == 24_299_077_632


def test_parameters() -> None:
    """The recording knows how many parameters ResNet-50 has."""
    assert returned("print_float32_steps")["parameters"] == 25_557_032
