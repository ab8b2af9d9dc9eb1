"""What PyTorch's counter says of grouped convolutions, and why ours does not take its word."""

import pytest

from lesson_code.forecast.grouped_convolutions import counted


@pytest.mark.parametrize("groups", [1, 2, 64])
def test_the_forward_pass_is_counted_right(groups: int) -> None:
    """Two operations for each weight and each pixel."""
    forward, _ = counted(groups)

    assert 2 * 64 * (64 // groups) * 9 * 8 * 16 * 16 == forward


@pytest.mark.parametrize("groups", [1, 2, 64])
def test_the_groups_are_forgotten_in_backward(groups: int) -> None:
    """The input's gradient is one forward pass, the weight's as many as there are groups."""
    forward, backward = counted(groups)

    assert (1 + groups) * forward == backward
