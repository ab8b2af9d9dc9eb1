"""A GradScaler multiplies, divides, skips, halves and doubles as the lesson says."""

import itertools
import json

import pytest
import torch
from torch import nn

from lesson_code.gpu_training import loss_scaling


@pytest.fixture
def parameter(device: torch.device) -> nn.Parameter:
    """One float32 weight of 1."""
    return nn.Parameter(torch.ones((), device=device))


def test_defaults_are_those_that_the_page_states(device: torch.device) -> None:
    """Factor 65536; doubled after 2000 clean steps, halved after an infinity."""
    scaler = torch.amp.GradScaler(device.type)

    assert scaler.get_scale() == 65536.0
    assert scaler.get_growth_interval() == 2000
    assert (scaler.get_growth_factor(), scaler.get_backoff_factor()) == (2.0, 0.5)


def test_scaling_changes_gradients_on_the_way_and_nothing_after(device: torch.device) -> None:
    """Exactly 65536 times as large before the step; gradients and weights equal after it."""
    inside = loss_scaling.look_inside_one_step(device)

    assert inside == {
        "factor": 65536.0,
        "exactly": True,
        "unscaled": True,
        "same_weights": True,
    }


def test_a_factor_that_is_too_large_is_halved_until_it_fits(device: torch.device) -> None:
    """Infinite gradients leave the weights alone and halve the factor; finite ones step."""
    rows = loss_scaling.adapt_the_factor(device, first_factor=2.0**24, growth_interval=3, steps=9)

    assert not rows[0]["finite"]
    assert any(row["finite"] for row in rows)
    assert [row["moved"] for row in rows] == [row["finite"] for row in rows]
    for row in rows:
        if not row["finite"]:
            assert row["next_factor"] == row["factor"] / 2
    for row, following in itertools.pairwise(rows):
        assert following["factor"] == row["next_factor"]


def test_enough_clean_steps_double_the_factor(device: torch.device) -> None:
    """With a growth interval of three, every third clean step does."""
    rows = loss_scaling.adapt_the_factor(device, first_factor=2.0**10, growth_interval=3, steps=6)

    assert all(row["finite"] for row in rows)
    assert [row["next_factor"] / 2**10 for row in rows] == [1, 1, 2, 2, 2, 4]


def test_the_printed_story_has_a_skip_and_a_doubling(capsys: pytest.CaptureFixture[str]) -> None:
    """The recorded output shows what the check's answers speak of, in 72 columns."""
    data = loss_scaling.print_scaler_at_work()

    text = capsys.readouterr().out
    steps = data["steps"]
    assert json.dumps(data, allow_nan=False)
    assert max(len(line) for line in text.splitlines()) <= 72
    assert "65,536 times as large, exactly" in text
    assert text.count("the same, bit for bit") == 2
    assert isinstance(steps, list)
    assert any(row["next_factor"] == row["factor"] / 2 for row in steps)
    assert any(row["next_factor"] == row["factor"] * 2 for row in steps)


def test_a_step_needs_a_scaled_backward_pass(parameter: nn.Parameter) -> None:
    """`step` without having scaled anything is an AssertionError."""
    optimizer = torch.optim.SGD([parameter], lr=0.1)
    scaler = torch.amp.GradScaler(parameter.device.type)
    parameter.square().backward()

    with pytest.raises(AssertionError):
        scaler.step(optimizer)


def test_two_steps_need_an_update_between_them(parameter: nn.Parameter) -> None:
    """Calling `step` twice without `update` is a RuntimeError."""
    optimizer = torch.optim.SGD([parameter], lr=0.1)
    scaler = torch.amp.GradScaler(parameter.device.type)
    scaler.scale(parameter.square()).backward()
    scaler.step(optimizer)

    with pytest.raises(RuntimeError, match="already been called"):
        scaler.step(optimizer)


def test_float16_weights_are_refused(device: torch.device) -> None:
    """Gradients in float16 would be lost again by dividing them: the scaler raises a ValueError."""
    weight = nn.Parameter(torch.ones((), device=device, dtype=torch.float16))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    scaler = torch.amp.GradScaler(device.type, init_scale=8.0)
    scaler.scale(weight.square()).backward()

    with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients"):
        scaler.step(optimizer)


def test_a_disabled_scaler_does_nothing(parameter: nn.Parameter) -> None:
    """The loss passes through unchanged, the step is the optimizer's, the state is empty."""
    optimizer = torch.optim.SGD([parameter], lr=0.5)
    scaler = torch.amp.GradScaler(parameter.device.type, enabled=False)
    loss = parameter.square()

    scaled = scaler.scale(loss)
    scaled.backward()
    scaler.step(optimizer)
    scaler.update()

    assert scaled is loss
    assert parameter.item() == 0.0
    assert scaler.state_dict() == {}
