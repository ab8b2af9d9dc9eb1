"""What the mission answers to predictions and moves."""

from collections import Counter

import pytest

from lesson_code.mission.choices import Optimizer, Recompute, Regime
from lesson_code.mission.decisions import (
    Option,
    laptop_outcome,
    prediction1_feedback,
    prediction2_feedback,
)


@pytest.mark.parametrize(
    ("option", "extra_gb", "correct", "ratio"),
    [("A", 0, False, None), ("B", 3, False, 4), ("C", 12, True, 1), ("D", 24, False, 0.5)],
)
def test_a_prediction_of_adams_extra_memory(
    option: Option, extra_gb: float, correct: bool, ratio: float | None
) -> None:
    """12 GB are right; nothing has no ratio."""
    found = prediction1_feedback(option)

    assert (extra_gb, correct, ratio) == (found.extra_gb, found.correct, found.ratio)
    assert found.text_id == f"reveal1.{option}"


@pytest.mark.parametrize(
    ("percent", "text_id", "difference"),
    [
        (0, "too_low", -35),
        (29, "too_low", -6),
        (30, "close", -5),
        (35, "close", 0),
        (40, "close", 5),
        (41, "too_high", 6),
        (69, "too_high", 34),
        (70, "usual_guess", 35),
        (95, "usual_guess", 60),
        (96, "too_high", 61),
        (100, "too_high", 65),
    ],
)
def test_a_prediction_of_the_compute_share(percent: int, text_id: str, difference: int) -> None:
    """35 % is right, and five points are close."""
    found = prediction2_feedback(percent)

    assert (text_id, difference) == (found.text_id, found.difference)


def test_each_of_the_101_answers_has_a_text() -> None:
    """Eleven are close, and 26 are what most people guess."""
    found = Counter(prediction2_feedback(percent).text_id for percent in range(101))

    assert {"too_low": 30, "close": 11, "too_high": 34, "usual_guess": 26} == found


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
