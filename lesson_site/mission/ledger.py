"""What the Training Memory Ledger's chart and its worked numbers need beside the rows."""

from typing import Any

from lesson_code.mission.activations import (
    io_activation_bytes,
    layer_activation_bytes,
    layer_input_bytes,
)
from lesson_code.mission.architecture import GPT2_XL, castable_param_count, gpt_param_count
from lesson_code.mission.choices import Component, Recompute, Regime
from lesson_code.mission.constants import (
    ACTIVATION_BYTES,
    BYTES_PER_PARAMETER,
    GB,
    RECOMPUTATIONS,
    REGIMES,
)
from lesson_code.mission.memory import weight_copy_bytes

PARAMETERS = gpt_param_count(GPT2_XL)
CASTABLE = castable_param_count(GPT2_XL)
# Between two ticks of each axis; the shortest are the laptop's.
TICKS_GB = {20: 5, 50: 10, 100: 20, 200: 50, 400: 100, 800: 200, 1200: 300}


def ticks() -> dict[str, list[tuple[int, str]]]:
    """Where each axis has its ticks, in bytes, and what stands there; the last ends the axis."""
    return {
        str(end): [(GB * tick, f"{tick:,}") for tick in range(0, end + 1, step)]
        for end, step in TICKS_GB.items()
    }


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
