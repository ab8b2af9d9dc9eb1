"""The tables of the first act: what optimizers and number formats take, beside the textbook's."""

from dataclasses import dataclass
from typing import Literal, get_args

from lesson_code.accounting import FLOAT32_BYTES
from lesson_code.mission.activations import activation_bytes
from lesson_code.mission.architecture import GPT2_XL
from lesson_code.mission.choices import Optimizer, Regime, require_choice
from lesson_code.mission.constants import (
    CHAPTER_ACTIVATIONS_GB,
    CHAPTER_CHECKPOINTING_SAVING,
    CHAPTER_STEPS,
    OPTIMIZERS,
    ROUNDED_PARAMETERS,
)
from lesson_code.mission.memory import (
    bytes_per_param,
    ledger_total_bytes,
    optimizer_vectors,
    static_bytes,
    to_gb,
)

Quantity = Literal["element", "params_grads", "state", "static", "activations", "ledger"]


@dataclass(frozen=True)
class OptimizerRow:
    """One optimizer in float32.

    Attributes:
        optimizer: Which.
        weights_and_state: Parameters and state relative to the parameters: the textbook's
            multiplier, which leaves the gradients out.
        static_to_sgd: Static bytes relative to plain SGD's.
        static_to_weights: Static bytes relative to the float32 weights.
        static_bytes: Parameters, gradients and state.
        steps: To converge on GPT-2, as the textbook reports; momentum's is a lower bound, and SGD's
            is not reported.
    """

    optimizer: Optimizer
    weights_and_state: float
    static_to_sgd: float
    static_to_weights: float
    static_bytes: int
    steps: int | None


def optimizer_table(n_params: int) -> list[OptimizerRow]:
    """What each optimizer takes in float32.

    Args:
        n_params: How many parameters there are.

    Raises:
        ValueError: If ``n_params`` is no positive whole number.
    """
    sgd_bytes = static_bytes("fp32", "sgd", n_params)
    rows = []
    for optimizer in OPTIMIZERS:
        size = static_bytes("fp32", optimizer, n_params)
        rows.append(
            OptimizerRow(
                optimizer=optimizer,
                weights_and_state=1 + optimizer_vectors(optimizer),
                static_to_sgd=size / sgd_bytes,
                static_to_weights=size / (FLOAT32_BYTES * n_params),
                static_bytes=size,
                steps=CHAPTER_STEPS[optimizer],
            )
        )
    return rows


def quantity_bytes(quantity: Quantity, regime: Regime, batch: int = 1) -> int:
    """What mixed precision may or may not make smaller, for GPT-2 XL with Adam.

    Args:
        quantity: In bytes per element, ``"element"`` of a tensor that mixed precision keeps in 16
            bits; in bytes per parameter, ``"params_grads"`` with the master copy, ``"state"``, and
            ``"static"``, which is both; in bytes, ``"activations"`` and the whole ``"ledger"``,
            nothing recomputed.
        regime: How numbers are held.
        batch: Texts in a batch; only the last two depend on it.

    Raises:
        ValueError: If a name is unknown, or ``batch`` no positive whole number.
    """
    require_choice("quantity", quantity, get_args(Quantity))
    each = bytes_per_param(regime)
    params_grads = each["params"] + each["grads"] + each["master"]
    state = each["state1"] + each["state2"]
    found: dict[Quantity, int] = {
        "element": FLOAT32_BYTES if regime == "fp32" else 2,
        "params_grads": params_grads,
        "state": state,
        "static": params_grads + state,
        "activations": activation_bytes(regime, "none", batch, GPT2_XL),
        "ledger": ledger_total_bytes(regime, "adam", "none", batch),
    }
    return found[quantity]


def mixed_saving(quantity: Quantity, regime: Regime, batch: int = 1) -> float:
    """How many times smaller a quantity is than in float32; 1.0 is not smaller.

    Args and errors: as ``quantity_bytes``.
    """
    return quantity_bytes(quantity, "fp32", batch) / quantity_bytes(quantity, regime, batch)


def chapter_walkthrough_gb() -> list[float]:
    """The textbook's own ledger of GPT-2 XL with Adam, in GB, from its rounded inputs.

    Returns:
        In float32; with mixed precision, which halves its activations; with checkpoints besides,
        which quarter what is left.
    """
    mixed_gb = CHAPTER_ACTIVATIONS_GB / 2
    return [
        to_gb(static_bytes("fp32", "adam", ROUNDED_PARAMETERS)) + CHAPTER_ACTIVATIONS_GB,
        to_gb(static_bytes("zero_mixed", "adam", ROUNDED_PARAMETERS)) + mixed_gb,
        to_gb(static_bytes("zero_mixed", "adam", ROUNDED_PARAMETERS))
        + mixed_gb / CHAPTER_CHECKPOINTING_SAVING,
    ]
