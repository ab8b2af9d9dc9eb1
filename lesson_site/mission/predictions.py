"""The two questions that are asked before an instrument opens, and the answers to every guess."""

from typing import Any, get_args

from lesson_code.accounting import FLOAT32_BYTES
from lesson_code.mission.architecture import GPT2_XL, gpt_param_count
from lesson_code.mission.constants import GB, PREDICTED_EXTRA_GB, ROUNDED_PARAMETERS
from lesson_code.mission.decisions import (
    RIGHT_PERCENT,
    GuessId,
    Option,
    prediction1_feedback,
    prediction2_feedback,
)
from lesson_code.mission.memory import optimizer_tax_bytes, state_bytes, static_bytes
from lesson_site.mission.numbers import exact_gb, factor, whole_gb

OPTIONS: tuple[Option, ...] = get_args(Option)
LEAST_PERCENT, MOST_PERCENT = 0, 100
WEIGHTS_BYTES = FLOAT32_BYTES * ROUNDED_PARAMETERS
VECTOR_BYTES = state_bytes("fp32", "momentum", ROUNDED_PARAMETERS)
TAX_BYTES = optimizer_tax_bytes("fp32", ROUNDED_PARAMETERS)
SGD_BYTES = static_bytes("fp32", "sgd", ROUNDED_PARAMETERS)
ADAM_BYTES = static_bytes("fp32", "adam", ROUNDED_PARAMETERS)
PARAMETERS = gpt_param_count(GPT2_XL)


def predictions() -> dict[str, Any]:
    """The first question with its options, what its reveal shows, and the second question."""
    return {
        "question": f"You train GPT-2 XL, {ROUNDED_PARAMETERS / GB:.1f} billion parameters, in "
        "FP32, and change the optimizer from SGD to Adam. How much more GPU memory does Adam need "
        "than SGD?",
        "options": {option: _option(option) for option in OPTIONS},
        "gap": f"{whole_gb(TAX_BYTES)} GB gap "
        f"({exact_gb(optimizer_tax_bytes('fp32', PARAMETERS))} GB exact)",
        "arithmetic": _arithmetic(),
        "percent": {
            "question": "The textbook profiles a GPT-2 XL training loop on one data-centre GPU, "
            "with a sensible batch size, no bugs and no augmentation. In one iteration of that "
            "profile, for what share of the wall-clock time does the GPU perform tensor "
            "operations, rather than wait for data or transfers?",
            "least": LEAST_PERCENT,
            "most": MOST_PERCENT,
            "right": RIGHT_PERCENT,
            "feedback": [_guessed(guess) for guess in range(LEAST_PERCENT, MOST_PERCENT + 1)],
            "errors": {
                "empty": f"Enter a percentage, from {LEAST_PERCENT} to {MOST_PERCENT}.",
                "whole": "Enter a whole number, without decimals or letters.",
                "range": f"The number must lie between {LEAST_PERCENT} and {MOST_PERCENT}.",
            },
        },
    }


def _option(option: Option) -> dict[str, Any]:
    feedback = prediction1_feedback(option)
    claimed_bytes = PREDICTED_EXTRA_GB[option] * GB
    says = {
        "A": "Nothing to speak of: an optimizer keeps no data for each parameter.",
        "B": f"About {whole_gb(claimed_bytes)} GB: one extra vector.",
        "C": f"About {whole_gb(claimed_bytes)} GB: two extra vectors, the first and the second "
        "moment of the gradients.",
        "D": f"About {whole_gb(claimed_bytes)} GB: a full safety copy of the model.",
    }
    return {
        "claim": says[option],
        "extra_bytes": claimed_bytes,
        "correct": feedback.correct,
        "feedback": _judged(option, claimed_bytes, feedback.ratio),
    }


def _judged(option: Option, claimed_bytes: int, ratio: float | None) -> str:
    """What the reveal says about an option; no ratio where nothing was claimed."""
    real, claimed = whole_gb(TAX_BYTES), whole_gb(claimed_bytes)
    if ratio is None:
        return (
            f"You predicted nothing extra; Adam adds {real} GB, a vector of "
            f"{whole_gb(VECTOR_BYTES)} GB for each of its two moments."
        )
    if option == "B":
        one_vector = state_bytes("pure16", "momentum", ROUNDED_PARAMETERS)
        return (
            f"You predicted {claimed} GB; Adam adds {real} GB, {ratio:.0f} times that. "
            f"{whole_gb(one_vector)} GB is what one 16-bit vector would take."
        )
    if option == "C":
        return (
            f"You predicted {claimed} GB, and Adam adds {real} GB: two vectors of "
            f"{whole_gb(VECTOR_BYTES)} GB each."
        )
    return (
        f"You predicted {claimed} GB, {1 / ratio:.0f} times the real {real} GB. "
        f"{whole_gb(ADAM_BYTES)} GB is Adam’s whole static total, not what it adds."
    )


def _arithmetic() -> list[str]:
    weights, tax = whole_gb(WEIGHTS_BYTES), whole_gb(TAX_BYTES)
    sgd, adam = whole_gb(SGD_BYTES), whole_gb(ADAM_BYTES)
    with_state = WEIGHTS_BYTES + TAX_BYTES
    return [
        f"Parameters {weights} GB + gradients {whole_gb(SGD_BYTES - WEIGHTS_BYTES)} GB + Adam "
        f"state {tax} GB = {adam} GB static, before any activation "
        f"({exact_gb(static_bytes('fp32', 'adam', PARAMETERS))} GB for the exact count). SGD "
        f"takes {sgd} GB.",
        f"Without gradients that is {weights} → {whole_gb(with_state)} GB, the textbook’s "
        f"{factor(with_state / WEIGHTS_BYTES)}.",
        f"With gradients it is {sgd} → {adam} GB, {factor(ADAM_BYTES / SGD_BYTES)}.",
    ]


def _guessed(percent: int) -> str:
    """What is said to a guess of the baseline's compute share."""
    says: dict[GuessId, str] = {
        "close": "Close.",
        "usual_guess": "Too high, and the usual guess: “no bugs” sounds like “busy”.",
        "too_high": "Too high.",
        "too_low": "Too low.",
    }
    return (
        f"You said {percent} %; in the textbook’s profile the GPU computes {RIGHT_PERCENT} % of "
        "the time. "
        f"{says[prediction2_feedback(percent).text_id]}"
    )
