"""Mixed precision by hand does what autocast and GradScaler do."""

import copy

import pytest
import torch
from torch import nn

from lesson_code.data import synthetic_digits
from lesson_code.gpu_training import manual_mixed_precision as manual
from lesson_code.gpu_training.manual_mixed_precision import manual_step
from lesson_code.models import MNISTClassifier


@pytest.fixture
def batch(device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """The first 64 made-up digits."""
    images, labels = (part[:64].to(device) for part in synthetic_digits()[:2])
    return images, labels


@pytest.fixture
def master(device: torch.device) -> MNISTClassifier:
    """A fresh classifier in float32."""
    torch.manual_seed(42)
    return MNISTClassifier().to(device)


def step(
    master: nn.Module, working: nn.Module, batch: tuple[torch.Tensor, torch.Tensor], scale: float
) -> tuple[float, bool]:
    """One step of plain SGD."""
    optimizer = torch.optim.SGD(master.parameters(), lr=0.1)
    return manual_step(master, working, optimizer, nn.CrossEntropyLoss(), *batch, scale)


def test_every_epoch_agrees_with_autocast_and_gradscaler(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """On the tiny gradients of the demonstration, within a thousandth; both are printed."""
    data = manual.print_by_hand_and_automatic()

    assert data["by_hand"] == pytest.approx(data["automatic"], abs=1e-3)
    assert data["by_hand"] == pytest.approx([1.9922, 0.1545, 0.0012, 0.0007, 0.0006], abs=2e-3)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 6
    assert max(len(line) for line in lines) <= 72


def test_the_master_stays_float32_and_the_working_copy_follows(
    master: MNISTClassifier, batch: tuple[torch.Tensor, torch.Tensor]
) -> None:
    """After a step the working copy is the master, rounded to float16."""
    working = copy.deepcopy(master).half()
    before = master.fc1.weight.detach().clone()

    _, stepped = step(master, working, batch, 2.0**16)

    assert stepped
    assert not torch.equal(master.fc1.weight, before)
    for weight, half in zip(master.parameters(), working.parameters(), strict=True):
        assert (weight.dtype, half.dtype) == (torch.float32, torch.float16)
        assert torch.equal(weight.half(), half)


def test_gradients_arrive_at_their_true_size(
    master: MNISTClassifier, batch: tuple[torch.Tensor, torch.Tensor]
) -> None:
    """What the optimizer sees agrees with a float32 step without any scale."""
    images, labels = batch
    plain = nn.functional.cross_entropy(master(images), labels)
    expected = torch.autograd.grad(plain, list(master.parameters()))

    loss, _ = step(master, copy.deepcopy(master).half(), batch, 2.0**12)

    assert loss == pytest.approx(plain.item(), rel=1e-2)
    for weight, gradient in zip(master.parameters(), expected, strict=True):
        assert weight.grad is not None
        assert weight.grad.dtype == torch.float32
        torch.testing.assert_close(weight.grad, gradient, rtol=0.05, atol=2e-4)


def test_an_infinite_gradient_skips_the_step(
    master: MNISTClassifier, batch: tuple[torch.Tensor, torch.Tensor]
) -> None:
    """A scale that is far too large changes neither the master nor the working copy."""
    working = copy.deepcopy(master).half()
    before = [p.detach().clone() for p in (*master.parameters(), *working.parameters())]

    _, stepped = step(master, working, batch, 2.0**30)

    assert not stepped
    after = [*master.parameters(), *working.parameters()]
    assert all(torch.equal(old, new) for old, new in zip(before, after, strict=True))


def test_the_scale_does_not_fit_into_float16_itself() -> None:
    """65536 lies above 65504: a float16 loss times the scale is infinite, a float32 one is not."""
    loss = torch.tensor(2.3)

    assert (loss.half() * 2.0**16).isinf()
    assert (loss * 2.0**16).isfinite()
