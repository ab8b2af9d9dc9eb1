"""What the ledger draws of the first prediction: each choice's claim, and the gap that is there."""

from typing import Any

from lesson_code.mission.architecture import GPT2_XL, gpt_param_count
from lesson_code.mission.constants import GB, PREDICTED_EXTRA_GB, ROUNDED_PARAMETERS
from lesson_code.mission.memory import optimizer_tax_bytes
from lesson_site.mission.numbers import exact_gb, whole_gb


def predictions() -> dict[str, Any]:
    """The bytes that each choice claims, and in words what Adam adds."""
    rounded = optimizer_tax_bytes("fp32", ROUNDED_PARAMETERS)
    exact = optimizer_tax_bytes("fp32", gpt_param_count(GPT2_XL))
    return {
        "claims": {option: claimed * GB for option, claimed in PREDICTED_EXTRA_GB.items()},
        "gap": f"{whole_gb(rounded)} GB gap ({exact_gb(exact)} GB exact)",
    }
