"""The training that the page shows is one that trains, and that the command forecasts."""

import pytest
import torch

from lesson_code.forecast import own_model
from lesson_code.forecast.training import builder, count


def test_a_step_learns() -> None:
    """Three steps on a part of its batch lower the loss."""
    model, optimizer, loss_function, batch = own_model.training()
    images, labels = (part[:16] for part in batch)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = loss_function(model(images), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())

    assert losses[0] > losses[-1]


def test_its_batch_is_noise_with_labels_of_ten_classes() -> None:
    """Each of them is there; images have numbers around 0, mostly between -1 and 1."""
    torch.manual_seed(0)

    images, labels = own_model.training()[-1]

    assert set(range(10)) == set(labels.tolist())
    assert (0.0, 1.0) == pytest.approx((images.mean().item(), images.std().item()), abs=0.02)


def test_its_products_by_hand() -> None:
    """Two convolutions at each of 32 x 32 pixels, and a linear layer for ten classes."""
    first, second, last = 9 * 3 * 64 * 32 * 32, 9 * 64 * 128 * 32 * 32, 128 * 10
    build = builder("lesson_code.forecast.own_model:training")

    step = count(build, build().batch_size)

    assert {"float32": 2 * 128 * (2 * first + 3 * (second + last))} == step.flop


def test_each_convolution_is_normalised_and_cut_off_at_zero() -> None:
    """Its outputs have an average of 0 and a spread of 1 in each channel, until they are cut."""
    model, optimizer, _, (images, _) = own_model.training()
    outputs = images[:8]
    for convolution, norm, cut in (model[:3], model[3:6]):
        normalised = norm(convolution(outputs))
        assert torch.allclose(torch.zeros(1), normalised.mean((0, 2, 3)), atol=1e-3)
        assert torch.allclose(torch.ones(1), normalised.std((0, 2, 3)), atol=1e-2)
        outputs = cut(normalised)
        assert torch.equal(normalised.clamp(min=0), outputs)

    assert isinstance(optimizer, torch.optim.AdamW)
    assert 1e-3 == optimizer.defaults["lr"]


def test_the_command_forecasts_it(capsys: pytest.CaptureFixture[str]) -> None:
    """A row for each card that it forecasts where none is asked for."""
    own_model.print_forecast()

    said = capsys.readouterr().out
    assert all(card in said for card in ("T4", "RTX 4090", "H100"))
