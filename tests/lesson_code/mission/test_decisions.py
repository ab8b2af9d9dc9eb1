"""What the mission answers to moves on the laptop."""

import pytest

from lesson_code.mission.choices import Optimizer, Recompute, Regime
from lesson_code.mission.decisions import laptop_outcome


@pytest.mark.parametrize(
    ("regime", "optimizer", "recompute", "batch", "expected"),
    [
        ("fp32", "adam", "none", 4, "searching"),
        ("fp32", "sgd", "full", 2, "searching"),
        ("fp32", "sgd", "full", 1, "limit_hint"),
        ("autocast", "sgd", "full", 1, "limit_reached"),
        ("zero_mixed", "sgd", "full", 1, "limit_reached"),
        ("autocast", "momentum", "full", 1, "searching"),
        ("pure16", "sgd", "full", 1, "fits_unsafe"),
        ("pure16", "sgd", "full", 2, "fits_unsafe"),
        ("pure16", "sgd", "full", 4, "borderline_unsafe"),
        ("pure16", "sgd", "selective", 1, "borderline_unsafe"),
        ("pure16", "sgd", "none", 1, "searching"),
        ("pure16", "momentum", "full", 1, "searching"),
    ],
)
def test_outcomes_on_the_laptop(
    regime: Regime, optimizer: Optimizer, recompute: Recompute, batch: int, expected: str
) -> None:
    """With float32 weights there is a limit; without them it fits, and updates may vanish."""
    assert expected == laptop_outcome(regime, optimizer, recompute, batch)
