"""The lab's small models."""

import pytest
import torch
from torch import nn

from lesson_code.lab.models import Norm, TinyCNN
from lesson_code.models import parameter_count
from lesson_code.saved_tensors import SavedBytes


@pytest.mark.parametrize(("norm", "count"), [("none", 5_130), ("batch", 5_226), ("group", 5_226)])
def test_the_small_cnn_has_its_parameters(norm: Norm, count: int) -> None:
    """Normalisation adds two values a channel, and the scores keep their shape."""
    model = TinyCNN(norm)

    assert count == parameter_count(model)
    assert (2, 10) == model(torch.zeros(2, 1, 28, 28)).shape


@pytest.mark.parametrize(
    ("norm", "batch_size", "dtype", "expected"),
    [
        ("none", 32, torch.float32, 2_514_436),
        ("none", 32, torch.bfloat16, 1_268_132),
        ("none", 128, torch.float32, 10_057_732),
        ("none", 128, torch.bfloat16, 5_042_084),
        ("batch", 32, torch.float32, 4_923_268),
        ("batch", 32, torch.bfloat16, 2_472_740),
    ],
)
def test_the_small_cnn_saves_half_in_16_bits(
    norm: Norm, batch_size: int, dtype: torch.dtype, expected: int
) -> None:
    """What backward needs shrinks to almost half under autocast, input and labels included."""
    model = TinyCNN(norm)
    meter = SavedBytes(model)
    images, labels = torch.rand(batch_size, 1, 28, 28), torch.zeros(batch_size, dtype=torch.int64)
    with meter, torch.autocast("cpu", torch.bfloat16, enabled=dtype != torch.float32):
        loss = nn.functional.cross_entropy(model(images), labels)

    assert expected == pytest.approx(meter.total(), rel=0.02)
    assert loss.requires_grad
