"""What the mission answers to a learner's predictions and moves."""

from dataclasses import dataclass
from typing import Literal

from lesson_code.mission.choices import Optimizer, Recompute, Regime, require_choice
from lesson_code.mission.constants import (
    CLOSE_PERCENTAGE_POINTS,
    COMPUTE_UNITS,
    PREDICTED_EXTRA_GB,
    ROUNDED_PARAMETERS,
    USUAL_GUESS_PERCENT,
)
from lesson_code.mission.fit import device_budget_bytes, verdict
from lesson_code.mission.memory import (
    ledger_total_bytes,
    optimizer_tax_bytes,
    step_peak_bytes,
    to_gb,
)

Option = Literal["A", "B", "C", "D"]
GuessId = Literal["close", "too_high", "usual_guess", "too_low"]
LaptopOutcome = Literal[
    "searching", "limit_reached", "limit_hint", "fits_unsafe", "borderline_unsafe"
]
RIGHT_PERCENT = COMPUTE_UNITS  # of an iteration that has a hundred units


@dataclass(frozen=True)
class ExtraMemoryFeedback:
    """What to say about a prediction of Adam's extra memory.

    Attributes:
        extra_gb: What the option claims, in GB.
        correct: Whether Adam takes that.
        ratio: What Adam takes, divided by the claim; None if nothing was claimed.
        text_id: Which text says it.
    """

    extra_gb: float
    correct: bool
    ratio: float | None
    text_id: str


@dataclass(frozen=True)
class ComputeShareFeedback:
    """What to say about a prediction of the baseline's compute share.

    Attributes:
        text_id: Which text says it.
        difference: The prediction less the share, in percentage points.
    """

    text_id: GuessId
    difference: int


def prediction1_feedback(option: Option) -> ExtraMemoryFeedback:
    """Judge a prediction of what Adam takes more than SGD, for 1.5 billion float32 parameters.

    Raises:
        ValueError: If there is no such option.
    """
    require_choice("option", option, tuple(PREDICTED_EXTRA_GB))
    claimed_gb = PREDICTED_EXTRA_GB[option]
    real_gb = to_gb(optimizer_tax_bytes("fp32", ROUNDED_PARAMETERS))
    return ExtraMemoryFeedback(
        extra_gb=claimed_gb,
        correct=claimed_gb == real_gb,
        ratio=real_gb / claimed_gb if claimed_gb else None,
        text_id=f"reveal1.{option}",
    )


def prediction2_feedback(percent: int) -> ComputeShareFeedback:
    """Judge a prediction of how much of the baseline's iteration is tensor arithmetic.

    Args:
        percent: A whole number from 0 to 100.

    Raises:
        ValueError: If it is none.
    """
    if isinstance(percent, bool) or not isinstance(percent, int) or not 0 <= percent <= 100:
        raise ValueError(f"percent must be a whole number from 0 to 100, got {percent!r}")
    difference = percent - RIGHT_PERCENT
    lowest, highest = USUAL_GUESS_PERCENT
    text_id: GuessId
    if abs(difference) <= CLOSE_PERCENTAGE_POINTS:
        text_id = "close"
    elif difference < 0:
        text_id = "too_low"
    else:
        text_id = "usual_guess" if lowest <= percent <= highest else "too_high"
    return ComputeShareFeedback(text_id, difference)


def laptop_outcome(
    regime: Regime, optimizer: Optimizer, recompute: Recompute, batch: int
) -> LaptopOutcome:
    """What a configuration of GPT-2 XL means on the laptop.

    Args:
        regime: How numbers are held.
        optimizer: What updates the parameters.
        recompute: What backward computes again.
        batch: Texts in a batch.

    Returns:
        ``"limit_reached"`` where no move is left that keeps float32 weights, ``"limit_hint"`` one
        move before; what fits has 16-bit weights alone and is unsafe.

    Raises:
        ValueError: If a name is unknown, or ``batch`` no positive whole number.
    """
    total_bytes = ledger_total_bytes(regime, optimizer, recompute, batch)
    peak_bytes = step_peak_bytes(regime, optimizer, recompute, batch)
    found = verdict(total_bytes, peak_bytes, device_budget_bytes("laptop"))
    if found == "fits":
        return "fits_unsafe"
    if found == "fits_if_grads_freed":
        return "borderline_unsafe"
    if (optimizer, recompute, batch) == ("sgd", "full", 1):
        return "limit_hint" if regime == "fp32" else "limit_reached"
    return "searching"
