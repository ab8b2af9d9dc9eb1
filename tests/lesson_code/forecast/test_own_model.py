"""The training that the page shows is one that trains, and that the command forecasts."""

import pytest

from lesson_code.forecast import own_model


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


def test_the_command_forecasts_it(capsys: pytest.CaptureFixture[str]) -> None:
    """A row for each card that was asked for."""
    own_model.print_forecast()

    said = capsys.readouterr().out
    assert all(card in said for card in ("T4", "RTX 4090", "H100"))
