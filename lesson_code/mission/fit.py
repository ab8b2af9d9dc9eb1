"""Whether training fits a device, why not, and how tall the chart has to be."""

import math
from bisect import bisect_right
from typing import Literal, get_args

from lesson_code.mission.activations import kept_activation_bytes
from lesson_code.mission.architecture import GPT2_XL, Arch, gpt_param_count
from lesson_code.mission.choices import (
    Device,
    Optimizer,
    Recompute,
    Regime,
    require_choice,
    require_positive,
)
from lesson_code.mission.constants import AXIS_MARGIN, DEVICES
from lesson_code.mission.memory import (
    ledger_total_bytes,
    state_bytes,
    static_bytes,
    step_peak_bytes,
)

Verdict = Literal["fits", "fits_if_grads_freed", "over"]
Cause = Literal["none", "optimizer_state", "static", "grads_overlap", "activations"]
BatchRule = Literal["peak", "ledger"]


def device_budget_bytes(device: Device) -> int:
    """Bytes that we plan with on a device, less than it has.

    Raises:
        ValueError: If the device is unknown.
    """
    require_choice("device", device, tuple(DEVICES))
    return DEVICES[device].budget_bytes


def verdict(total_bytes: int, peak_bytes: int, budget_bytes: float) -> Verdict:
    """Whether a configuration fits, always or only when gradients are freed in each step.

    Args:
        total_bytes: All parts at once, as when gradients stay while the next forward pass runs.
        peak_bytes: The fullest moment of a step that frees its gradients.
        budget_bytes: What the device gives; the larger of the two has to be within it.

    Raises:
        ValueError: If the budget is not above zero.
    """
    require_positive("budget_bytes", budget_bytes)
    if peak_bytes > budget_bytes:
        return "over"
    return "fits" if total_bytes <= budget_bytes else "fits_if_grads_freed"


def oom_cause(
    regime: Regime,
    optimizer: Optimizer,
    recompute: Recompute,
    batch: int,
    budget_bytes: float,
    arch: Arch = GPT2_XL,
) -> Cause:
    """What makes a configuration too large; the first part that alone would suffice.

    Args:
        regime: How numbers are held.
        optimizer: What updates the parameters.
        recompute: What backward computes again.
        batch: Texts in a batch.
        budget_bytes: What the device gives.
        arch: The sizes of the model.

    Returns:
        ``"grads_overlap"`` if it fits once gradients are freed in each step.

    Raises:
        ValueError: If a name is unknown, a count no positive whole number, or the budget not
            above zero.
    """
    total_bytes = ledger_total_bytes(regime, optimizer, recompute, batch, arch)
    peak_bytes = step_peak_bytes(regime, optimizer, recompute, batch, arch)
    found = verdict(total_bytes, peak_bytes, budget_bytes)
    if found == "fits":
        return "none"
    n_params = gpt_param_count(arch)
    if state_bytes(regime, optimizer, n_params) > budget_bytes:
        return "optimizer_state"
    if static_bytes(regime, optimizer, n_params) > budget_bytes:
        return "static"
    return "grads_overlap" if found == "fits_if_grads_freed" else "activations"


def max_batch(
    regime: Regime,
    optimizer: Optimizer,
    recompute: Recompute,
    budget_bytes: float,
    rule: BatchRule = "peak",
    arch: Arch = GPT2_XL,
) -> int:
    """The largest batch that fits.

    Args:
        regime: How numbers are held.
        optimizer: What updates the parameters.
        recompute: What backward computes again.
        budget_bytes: What the device gives.
        rule: What has to fit: ``"peak"`` the fullest moment of a step that frees its gradients,
            ``"ledger"`` all parts at once as well.
        arch: The sizes of the model.

    Returns:
        Texts in a batch; 0 if not even one fits.

    Raises:
        ValueError: If a name is unknown, or the budget not above zero.
    """
    require_choice("rule", rule, get_args(BatchRule))
    require_positive("budget_bytes", budget_bytes)

    def needed(batch: int) -> int:
        peak = step_peak_bytes(regime, optimizer, recompute, batch, arch)
        if rule == "peak":
            return peak
        return max(peak, ledger_total_bytes(regime, optimizer, recompute, batch, arch))

    # What forward keeps is linear in the batch, so that no larger batch can fit.
    limit = int(budget_bytes // kept_activation_bytes(regime, recompute, 1, arch))
    return bisect_right(range(1, limit + 1), budget_bytes, key=needed)


def axis_max_gb(total_gb: float, steps: tuple[int, ...]) -> int:
    """Where a chart's axis ends, in GB.

    Args:
        total_gb: The height of the bar.
        steps: Where it may end, in GB, ascending.

    Returns:
        The smallest step that leaves a little room above the bar; beyond the last step, its next
        multiple that does.

    Raises:
        ValueError: If the total is not above zero, or the steps are none or not ascending.
    """
    require_positive("total_gb", total_gb)
    if not steps or steps[0] < 1 or list(steps) != sorted(set(steps)):
        raise ValueError(f"steps must be ascending whole numbers of at least 1, got {steps}")
    needed_gb = AXIS_MARGIN * total_gb
    for step in steps:
        if step >= needed_gb:
            return step
    return math.ceil(needed_gb / steps[-1]) * steps[-1]
