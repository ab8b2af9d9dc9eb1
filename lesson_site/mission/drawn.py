"""What the instruments draw beside their rows: axes and marks, worked numbers, a prediction."""

import math
from typing import Any

from lesson_code.mission.activations import (
    io_activation_bytes,
    layer_activation_bytes,
    layer_input_bytes,
)
from lesson_code.mission.architecture import GPT2_XL, castable_param_count
from lesson_code.mission.choices import Component, Recompute, Regime
from lesson_code.mission.constants import (
    ACTIVATION_BYTES,
    BYTES_PER_PARAMETER,
    CHAPTER_BASELINE_UTILISATION,
    CHAPTER_OPTIMISED_UTILISATION,
    COMPUTE_UNITS,
    CURRENT_MFU,
    GB,
    GPT3_MFU,
    PREDICTED_EXTRA_GB,
    RECOMPUTATIONS,
    REGIMES,
    ROUNDED_PARAMETERS,
    TARGET_UTILISATION,
)
from lesson_code.mission.memory import optimizer_tax_bytes, weight_copy_bytes
from lesson_code.mission.pipeline import BASELINE_ITERATION_UNITS
from lesson_site.mission.numbers import exact_gb, whole_gb
from lesson_site.mission.rows import PARAMETERS, pipeline_rows

CASTABLE = castable_param_count(GPT2_XL)
# Between two ticks of each axis; the shortest are the laptop's.
TICKS_GB = {20: 5, 50: 10, 100: 20, 200: 50, 400: 100, 800: 200, 1200: 300}
FRAME_STEP_UNITS = 10


def ticks() -> dict[str, list[tuple[int, str]]]:
    """Where each axis has its ticks, in bytes, and what is there; the last ends the axis."""
    return {
        str(end): [(GB * tick, f"{tick:,}") for tick in range(0, end + 1, step)]
        for end, step in TICKS_GB.items()
    }


def predictions() -> dict[str, Any]:
    """What the ledger draws of the first prediction: the bytes of each choice, and the real gap."""
    rounded = optimizer_tax_bytes("fp32", ROUNDED_PARAMETERS)
    exact = optimizer_tax_bytes("fp32", PARAMETERS)
    return {
        "claims": {option: claimed * GB for option, claimed in PREDICTED_EXTRA_GB.items()},
        "gap": f"{whole_gb(rounded)} GB gap ({exact_gb(exact)} GB exact)",
    }


def analyzer() -> dict[str, Any]:
    """The end of the bar of time, and where the gauge has ticks: place in percent, and name."""
    longest = max(row["unit_ends"][-1] for row in pipeline_rows().values())
    return {
        "frame": math.ceil(longest / FRAME_STEP_UNITS) * FRAME_STEP_UNITS,
        "baseline": BASELINE_ITERATION_UNITS,
        # Of the baseline's time: what the learner's prediction is compared with.
        "answer": COMPUTE_UNITS,
        "utilisation_ticks": [
            _tick(CHAPTER_BASELINE_UTILISATION, "textbook baseline"),
            _tick(TARGET_UTILISATION, "target"),
            _tick(CHAPTER_OPTIMISED_UTILISATION, "textbook optimised"),
        ],
        "mfu_ticks": [_tick(GPT3_MFU, "GPT-3 class"), _tick(CURRENT_MFU, "current systems")],
    }


def _tick(share: float, name: str) -> list[Any]:
    return [round(100 * share), name]


def terms() -> dict[str, dict[str, Any]]:
    """For each regime how each part is counted; the activations for each way to recompute.

    ``{batch}`` is filled from the configuration.
    """
    return {regime: _terms(regime) for regime in REGIMES}


def _terms(regime: Regime) -> dict[str, Any]:
    parts: dict[Component, int] = BYTES_PER_PARAMETER[regime]
    found: dict[str, Any] = {
        part: f"{size} B × {PARAMETERS:,} parameters" for part, size in parts.items() if size
    }
    copies = weight_copy_bytes(regime, GPT2_XL)
    if copies:
        found["copies"] = f"{copies // CASTABLE} B × {CASTABLE:,} parameters that are cast"
    found["activations"] = {
        recompute: f"batch {{batch}} × ({_activations(regime, recompute)})"
        for recompute in RECOMPUTATIONS
    }
    return found


def _activations(regime: Regime, recompute: Recompute) -> str:
    """One text's activations, as the sum they are; all of them are linear in the batch."""
    layers = GPT2_XL.n_layer
    layer = layer_activation_bytes(regime, 1, GPT2_XL)
    outside = f"{io_activation_bytes(regime, 1, GPT2_XL):,} B outside the layers"
    if recompute == "none":
        return f"{layers} layers × {layer:,} B + {outside}"
    if recompute == "selective":
        kept = GPT2_XL.context * GPT2_XL.d_model * ACTIVATION_BYTES[regime].value
        return f"{layers} layers × {kept:,} B + {outside}"
    kept = layer_input_bytes(regime, 1, GPT2_XL)
    return f"{layers} layers × {kept:,} B + one whole layer, {layer:,} B + {outside}"
