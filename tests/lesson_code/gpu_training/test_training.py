"""The epoch helpers have their signatures, weigh every sample alike, and set the model's mode."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from lesson_code.gpu_training.training import evaluate, train_one_epoch, train_one_epoch_amp
from lesson_code.models import MNISTClassifier
from tests.by_hand import descend

Batch = tuple[torch.Tensor, torch.Tensor]


@pytest.fixture
def batches() -> list[Batch]:
    """Three batches, the last one of another size: 8, 8 and 3 samples."""
    generator = torch.Generator().manual_seed(0)
    return [
        (
            torch.randn(size, 1, 28, 28, generator=generator),
            torch.randint(10, (size,), generator=generator),
        )
        for size in (8, 8, 3)
    ]


def a_model(device: torch.device) -> MNISTClassifier:
    """The same classifier at every call."""
    torch.manual_seed(42)
    return MNISTClassifier().to(device)


class Recorder(nn.Module):
    """Wrong answers whose loss depends on the sample; writes down mode and gradients."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(()))
        self.modes: list[tuple[bool, bool]] = []

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Scores (B, 10)."""
        self.modes.append((self.training, torch.is_grad_enabled()))
        return images.flatten(1)[:, :10] + self.weight


@pytest.mark.parametrize(
    ("function", "parameters"),
    [
        (train_one_epoch, ["model", "train_loader", "optimizer", "criterion", "device"]),
        (evaluate, ["model", "test_loader", "device"]),
    ],
)
def test_signatures_are_those_of_the_notebook(
    function: Callable[..., Any], parameters: list[str]
) -> None:
    """Names and order are fixed: learners call these functions by position and by name."""
    names = list(inspect.signature(function).parameters)

    assert names == parameters


def test_training_loss_is_the_mean_over_samples_not_over_batches(
    batches: list[Batch], device: torch.device
) -> None:
    """With a learning rate of zero, the epoch's loss is the loss of all samples at once."""
    model = a_model(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)

    loss = train_one_epoch(model, batches, optimizer, nn.CrossEntropyLoss(), device)

    images, labels = (torch.cat(parts).to(device) for parts in zip(*batches, strict=True))
    over_samples = nn.functional.cross_entropy(model(images), labels).item()
    over_batches = sum(
        nn.functional.cross_entropy(model(x.to(device)), y.to(device)).item() for x, y in batches
    ) / len(batches)
    assert loss == pytest.approx(over_samples, rel=1e-5)
    assert loss != pytest.approx(over_batches, rel=1e-5)


def test_evaluation_weighs_every_sample_alike(batches: list[Batch], device: torch.device) -> None:
    """Loss and accuracy are those of all samples at once, the accuracy in percent."""
    model = a_model(device)

    loss, accuracy = evaluate(model, batches, device)

    images, labels = (torch.cat(parts).to(device) for parts in zip(*batches, strict=True))
    outputs = model(images)
    assert loss == pytest.approx(nn.functional.cross_entropy(outputs, labels).item(), rel=1e-5)
    assert accuracy == pytest.approx(100 * (outputs.argmax(1) == labels).float().mean().item())


def test_accuracy_is_100_percent_for_right_answers() -> None:
    """Predicted is the class with the largest score."""
    labels = torch.tensor([3, 1, 4, 1, 5])
    images = nn.functional.one_hot(labels, 784).float().reshape(5, 1, 28, 28)

    _, accuracy = evaluate(Recorder(), [(images[:4], labels[:4]), (images[4:], labels[4:])], CPU)

    assert accuracy == 100.0


CPU = torch.device("cpu")


def test_training_switches_to_training_mode(batches: list[Batch]) -> None:
    """A model that comes from an evaluation is trained in training mode, with gradients."""
    model = Recorder().eval()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    train_one_epoch(model, batches, optimizer, nn.CrossEntropyLoss(), CPU)

    assert model.modes == [(True, True)] * 3


def test_evaluation_switches_to_evaluation_mode_without_gradients(batches: list[Batch]) -> None:
    """Dropout and the like are off, and no graph is built."""
    model = Recorder().train()

    evaluate(model, batches, CPU)

    assert model.modes == [(False, False)] * 3
    assert torch.is_grad_enabled()


def test_gradients_do_not_pile_up(batches: list[Batch], device: torch.device) -> None:
    """The epoch equals one that is written out with fresh gradients for every batch."""
    model, reference = a_model(device), a_model(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    train_one_epoch(model, batches, optimizer, nn.CrossEntropyLoss(), device)

    there = ((images.to(device), labels.to(device)) for images, labels in batches)
    descend(reference, there, rate=0.1)
    for expected, trained in zip(reference.parameters(), model.parameters(), strict=True):
        torch.testing.assert_close(trained, expected)


def test_a_disabled_scaler_trains_bit_for_bit_like_the_plain_loop(
    batches: list[Batch], device: torch.device
) -> None:
    """`enabled=False` changes nothing and warns of nothing: warnings are errors in these tests."""
    plain, switched_off = a_model(device), a_model(device)
    criterion = nn.CrossEntropyLoss()
    plain_optimizer = torch.optim.Adam(plain.parameters(), lr=1e-3)
    optimizer = torch.optim.Adam(switched_off.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler(device.type, enabled=False)

    expected = train_one_epoch(plain, batches, plain_optimizer, criterion, device)
    loss = train_one_epoch_amp(switched_off, batches, optimizer, criterion, device, None, scaler)

    assert loss == expected
    for one, other in zip(plain.parameters(), switched_off.parameters(), strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("amp_dtype", [torch.float16, torch.bfloat16])
def test_an_epoch_in_sixteen_bits_has_nearly_the_same_loss(
    batches: list[Batch], device: torch.device, amp_dtype: torch.dtype
) -> None:
    """Layers compute in 16 bits, weights stay float32, and the loss agrees to a hundredth."""
    plain, mixed = a_model(device), a_model(device)
    seen: list[torch.dtype] = []
    mixed.fc3.register_forward_hook(lambda _layer, _inputs, output: seen.append(output.dtype))
    criterion = nn.CrossEntropyLoss()
    plain_optimizer = torch.optim.SGD(plain.parameters(), lr=0.01)
    optimizer = torch.optim.SGD(mixed.parameters(), lr=0.01)
    scaler = torch.amp.GradScaler(device.type, enabled=amp_dtype == torch.float16)

    expected = train_one_epoch(plain, batches, plain_optimizer, criterion, device)
    loss = train_one_epoch_amp(mixed, batches, optimizer, criterion, device, amp_dtype, scaler)

    assert seen == [amp_dtype] * 3
    assert mixed.fc3.weight.dtype == torch.float32
    assert loss == pytest.approx(expected, rel=1e-2)
