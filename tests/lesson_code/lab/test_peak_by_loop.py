"""Where a loop clears the gradients, and how Adam updates, decide how much is there at once."""

import pytest

from lesson_code.lab import peak_by_loop
from lesson_code.lab.peak_by_loop import (
    CLEARED,
    UPDATES,
    peak_of_loop,
    peak_of_update,
    sum_of_parts,
)
from lesson_code.lab.training_memory import WORKED_BATCH, step_memory
from results import recorded

BEFORE, BETWEEN, KEPT = CLEARED
MB = 10**6
pytestmark = pytest.mark.uncounted


def test_only_a_loop_that_clears_before_forward_stays_below_the_sum() -> None:
    """Cleared later, all parts are there at once; kept, some more than them."""
    recording = recorded.read("lab/peak_by_loop:print_loops")
    assert recording is not None
    peaks = recording.data
    together = peaks["sum of the parts"]

    assert together > peaks[BEFORE] + 50 * MB
    assert 0 <= peaks[BETWEEN] - together < MB
    assert peaks[KEPT] > together + 20 * MB


def test_the_page_s_own_step_is_the_first_of_the_loops() -> None:
    """Clearing after the update is clearing before the next forward pass."""
    assert step_memory(WORKED_BATCH, optimizer="Adam").peak.total == peak_of_loop(BEFORE).total


@pytest.mark.parametrize("cleared", CLEARED)
def test_where_the_gradients_are_at_the_fullest_moment(
    cleared: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of them are there, unless they were cleared before forward."""
    monkeypatch.setattr(peak_by_loop, "WORKED_BATCH", 16)
    peak = peak_of_loop(cleared)

    assert (cleared != BEFORE) == (peak.gradients == peak.parameters)


def test_a_large_model_with_a_small_batch_is_fullest_in_the_update() -> None:
    """Adam for all parameters at once keeps four bytes for each besides the sixteen."""
    at_once, one_by_one, fused = (peak_of_update(**how) for how in UPDATES.values())

    assert pytest.approx(16 + 4, abs=0.05) == at_once
    assert pytest.approx(16, abs=0.05) == fused
    assert fused < one_by_one < at_once


def test_the_sum_has_each_part_once() -> None:
    """Weights and gradients are as large as each other, and what is saved is the largest part."""
    step = step_memory(WORKED_BATCH, optimizer="Adam")

    assert step.saved + 2 * step.peak.parameters < sum_of_parts()
    assert step.saved > 0.8 * sum_of_parts()
