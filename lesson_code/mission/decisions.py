"""What the mission answers to a learner's moves on the laptop."""

from typing import Literal

from lesson_code.mission.choices import Optimizer, Recompute, Regime
from lesson_code.mission.fit import device_budget_bytes, verdict
from lesson_code.mission.memory import ledger_total_bytes, step_peak_bytes

LaptopOutcome = Literal[
    "searching", "limit_reached", "limit_hint", "fits_unsafe", "borderline_unsafe"
]


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
