"""Each pitfall fails where the page says, and each cure works."""

from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch import nn
from torch.amp import GradScaler
from torch.nn.utils.rnn import pack_padded_sequence

from lesson_code.data import synthetic_digits
from lesson_code.lab.pitfalls import (
    Move,
    both_moved,
    gradient_after,
    line_that_fails,
    loss_of,
    not_moved,
    print_amp_steps,
    print_channels_last,
    print_levers,
    print_mismatches,
    result_dropped,
    saved_bytes,
    targets_forgotten,
    through_the_scaler,
    without_scaling,
)
from lesson_code.models import MNISTClassifier


@pytest.mark.parametrize("move", [not_moved, result_dropped])
def test_a_batch_that_was_not_moved_fails_in_the_model(move: Move) -> None:
    """The first line that meets both devices raises."""
    assert "scores = model(x)" == line_that_fails(move)


def test_forgotten_targets_fail_in_the_loss() -> None:
    """The model gets through, and the next line raises."""
    assert "return cross_entropy(scores, y)" == line_that_fails(targets_forgotten)


def test_moving_both_is_the_cure(capsys: pytest.CaptureFixture[str]) -> None:
    """Of the four only the last one works."""
    found = print_mismatches()

    assert line_that_fails(both_moved) is None
    assert ["both_moved"] == [name for name, line in found.items() if line is None]
    assert 3 == capsys.readouterr().out.count("fails")


@pytest.mark.parametrize(
    ("batch", "dtype", "expected"),
    [
        (128, torch.float32, 10_057_732),
        (64, torch.float32, 5_028_868),
        (32, torch.float32, 2_514_436),
        (128, torch.bfloat16, 5_042_084),
    ],
)
def test_levers_leave_what_the_lab_says(batch: int, dtype: torch.dtype, expected: int) -> None:
    """Saved bytes of the small convolutional network, within two percent."""
    assert pytest.approx(expected, rel=0.02) == saved_bytes(batch, dtype)


@pytest.mark.parametrize(
    ("make_optimizer", "learns"),
    [(partial(torch.optim.SGD, lr=0.1), False), (partial(torch.optim.Adam, lr=1e-3), True)],
    ids=["SGD", "Adam"],
)
def test_adam_hides_a_loss_that_nobody_scaled(
    make_optimizer: Callable[..., torch.optim.Optimizer], learns: bool
) -> None:
    """SGD stays where it is; Adam divides the factor away and learns as after a right step."""
    x, y, _, _ = synthetic_digits(64, 1)
    losses = {}
    for step in (without_scaling, through_the_scaler):
        torch.manual_seed(0)
        model = MNISTClassifier()
        optimizer, scaler = make_optimizer(model.parameters()), GradScaler("cpu")
        scaler.scale(torch.zeros(()))  # it has scaled a loss before
        found = []
        for _ in range(25):
            optimizer.zero_grad()
            with torch.autocast("cpu", dtype=torch.float16):
                loss = loss_of(model, x, y)
            step(loss, optimizer, scaler)
            found.append(loss.item())
        losses[step] = found

    wrong, right = losses[without_scaling], losses[through_the_scaler]
    assert right[-1] < 0.7 * right[0]
    assert (wrong[-1] < 0.7 * wrong[0]) is learns
    assert learns or pytest.approx(wrong[0], rel=0.01) == wrong[-1]


def test_the_levers_are_printed_in_their_order(capsys: pytest.CaptureFixture[str]) -> None:
    """The plain batch comes first and is the largest."""
    found = print_levers()

    assert max(found.values()) == next(iter(found.values()))
    assert 1 + len(found) == len(capsys.readouterr().out.splitlines())


def test_a_half_used_scaler_ruins_the_gradient(capsys: pytest.CaptureFixture[str]) -> None:
    """Without scaling it is 65,536 times too short, past the scaler as much too long."""
    found = print_amp_steps()

    assert pytest.approx(1 / 65_536, rel=0.05) == found["without_scaling"]
    assert pytest.approx(65_536, rel=0.01) == found["past_the_scaler"]
    assert pytest.approx(1, rel=0.01) == found["through_the_scaler"]
    assert "AssertionError" in capsys.readouterr().out


def test_a_scaler_that_never_scaled_notices() -> None:
    """In the very first step the scaler has no factor to divide by."""
    with pytest.raises(AssertionError, match="_scale is None"):
        gradient_after(without_scaling, scaled_before=False)


def test_channels_last_changes_no_score(capsys: pytest.CaptureFixture[str]) -> None:
    """The layout of model and images leaves the scores as they were."""
    print_channels_last()

    assert "same scores: True\n" == capsys.readouterr().out


def test_a_modules_move_is_in_place_and_a_tensors_is_not() -> None:
    """Why the result of a tensor's ``to`` must be taken, and a model's need not."""
    model, x = nn.Linear(2, 2), torch.zeros(2)
    model.to("meta")
    moved = x.to("meta")

    assert "meta" == model.weight.device.type
    assert ("cpu", "meta") == (x.device.type, moved.device.type)


def test_lengths_have_to_stay_on_the_cpu() -> None:
    """Who moves every tensor of a batch of texts reads so; the meta device is the GPU here."""
    texts, lengths = torch.zeros(2, 3, 4, device="meta"), torch.tensor([3, 2])

    with pytest.raises(RuntimeError, match="'lengths' argument should be a 1D CPU int64 tensor"):
        pack_padded_sequence(texts, lengths.to("meta"), batch_first=True)
