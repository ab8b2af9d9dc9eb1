"""What the Pipeline Breakdown Analyzer draws besides its rows: the frame of time, and marks."""

import math
from itertools import product
from typing import Any

from lesson_code.mission.constants import (
    CHAPTER_BASELINE_UTILISATION,
    CHAPTER_OPTIMISED_UTILISATION,
    COMPUTE_UNITS,
    CURRENT_MFU,
    GPT3_MFU,
    TARGET_UTILISATION,
)
from lesson_code.mission.pipeline import BASELINE_ITERATION_UNITS, pipeline
from lesson_site.mission.rows import PIPELINE_BATCHES, SWITCH, TENSOR_EFFECTS

FRAME_STEP_UNITS = 10


def analyzer() -> dict[str, Any]:
    """The end of the bar of time, and where the gauge has ticks: place in percent, and name."""
    longest = max(
        pipeline(bool(prefetch), bool(mixed), bool(checkpoint), batch, tensor).total_units
        for prefetch, mixed, checkpoint, batch, tensor in product(
            SWITCH, SWITCH, SWITCH, PIPELINE_BATCHES, TENSOR_EFFECTS
        )
    )
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
