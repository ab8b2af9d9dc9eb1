"""Counts of parameters, batches and bytes."""

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from lesson_code.accounting import (
    batches_per_epoch,
    cpu_peak_flop_per_s,
    dataset_bytes,
    device_days,
    device_years,
    last_batch_size,
    linear_layers_bytes,
    linear_layers_parameters,
    linear_layers_training_flop,
    residual_network_parameters,
    sustained_flop_per_s,
    sustained_share,
    transformer_training_flop,
)
from lesson_code.models import MNISTClassifier, SmallResNet, TinyClassifier, parameter_count


@pytest.mark.parametrize(
    ("model", "widths"), [(MNISTClassifier(), [784, 256, 128, 10]), (TinyClassifier(), [26, 16, 4])]
)
def test_parameters_equal_the_models_own_count(model: nn.Module, widths: list[int]) -> None:
    """The formula gives what PyTorch counts."""
    assert parameter_count(model) == linear_layers_parameters(widths)


def test_parameters_of_the_residual_network_equal_its_own_count() -> None:
    """Convolutions, norms and the linear layer."""
    assert parameter_count(SmallResNet()) == residual_network_parameters([1, 32, 64, 128], 10)


def test_bytes_equal_the_storage_of_the_weights() -> None:
    """The formula gives what the tensors take."""
    model = MNISTClassifier()
    storage = sum(p.numel() * p.element_size() for p in model.parameters())

    assert storage == linear_layers_bytes([784, 256, 128, 10]) == 940_584


def test_all_of_mnist_takes_188_megabytes() -> None:
    """60,000 images of 784 float32 values."""
    assert dataset_bytes(60_000, 784) == 188_160_000


@pytest.mark.parametrize(
    ("samples", "batch_size", "batches", "last"),
    [
        (60_000, 64, 938, 32),
        (55_000, 64, 860, 24),
        (200, 32, 7, 8),
        (128, 64, 2, 64),
        (0, 64, 0, 0),
    ],
)
def test_batches_of_an_epoch(samples: int, batch_size: int, batches: int, last: int) -> None:
    """A smaller last batch counts; a full one is not followed by an empty one."""
    assert batches == batches_per_epoch(samples, batch_size)
    assert last == last_batch_size(samples, batch_size)


def test_impossible_sizes_are_refused() -> None:
    """Negative sizes and layers without units raise, and the message holds the value."""
    with pytest.raises(ValueError, match="0"):
        batches_per_epoch(10, 0)
    with pytest.raises(ValueError, match="negative"):
        dataset_bytes(-1, 784)
    with pytest.raises(ValueError, match="784"):
        linear_layers_parameters([784])
    with pytest.raises(ValueError, match="-3"):
        linear_layers_parameters([784, -3])


def test_training_operations_equal_what_pytorch_counts() -> None:
    """Forward and backward through the classifier, counted by PyTorch's own counter."""
    model = MNISTClassifier()
    images = torch.zeros(5, 1, 28, 28)
    with FlopCounterMode(display=False) as counter:
        model(images).sum().backward()

    assert counter.get_total_flops() == linear_layers_training_flop([784, 256, 128, 10], samples=5)


def test_a_large_training_in_operations_hours_and_years() -> None:
    """The divisions behind numbers that are quoted more often than computed."""
    flop = transformer_training_flop(70e9, 2e12)

    assert 8.4e23 == flop
    assert 136e12 == pytest.approx(sustained_flop_per_s(flop, 1_720_320 * 3600), rel=0.01)
    assert 0.87 == pytest.approx(sustained_share(flop, 1_720_320 * 3600, 156e12), rel=0.01)
    assert 355 == pytest.approx(device_years(3.14e23, 28e12), rel=0.005)


def test_what_a_cpu_can_do_at_most() -> None:
    """Eight cores at 3 GHz, and a ResNet-50 that would keep them busy for six weeks."""
    peak = cpu_peak_flop_per_s(cores=8, clock_hz=3e9, units=2, lanes=8)

    assert 768e9 == peak
    assert 42.2 == pytest.approx(device_days(2.8e18, peak), rel=0.01)
