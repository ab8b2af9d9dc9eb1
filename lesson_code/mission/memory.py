"""The training memory ledger: what lies in GPU memory, part by part, in bytes.

Not in it: the CUDA context, libraries' workspaces, rounding and fragmentation of the allocator, the
layer that full recomputation has open late in backward, the token embedding's gradient while its
two halves are added, logits that a name in the loop holds, and temporaries of multi-tensor
optimizers. The gradients of the logits count for the peak of a step and for no part of the ledger.
"""

from typing import Literal

from lesson_code.mission.activations import activation_bytes, kept_activation_bytes
from lesson_code.mission.architecture import (
    GPT2_XL,
    Arch,
    castable_param_count,
    gpt_param_count,
)
from lesson_code.mission.choices import (
    Bookkeeping,
    Component,
    Optimizer,
    Precision,
    Recompute,
    Regime,
    require_choice,
    require_count,
)
from lesson_code.mission.constants import (
    BYTES_PER_PARAMETER,
    GB,
    GIB,
    LOGIT_GRADIENT_BYTES,
    OPTIMIZERS,
    RECOMPUTATIONS,
    REGIMES,
    STATE_VECTORS,
)

Phase = Literal["model", "idle", "forward", "backward"]
STATES: tuple[Component, ...] = ("state1", "state2")


def to_gb(size_bytes: float) -> float:
    """Bytes in decimal gigabytes, 10⁹ bytes."""
    return size_bytes / GB


def to_gib(size_bytes: float) -> float:
    """Bytes in gibibytes, 2³⁰ bytes."""
    return size_bytes / GIB


def regime_for(precision: Precision, bookkeeping: Bookkeeping) -> Regime:
    """The regime that the page's controls name.

    Args:
        precision: What numbers are computed in.
        bookkeeping: With ``"mixed"``, who keeps the float32 weights: PyTorch's autocast, or the
            16-bit weights' master copy of the ZeRO paper.

    Raises:
        ValueError: If a name is unknown.
    """
    require_choice("precision", precision, ("fp32", "mixed", "fp16"))
    require_choice("bookkeeping", bookkeeping, ("autocast", "zero"))
    if precision == "mixed":
        return "autocast" if bookkeeping == "autocast" else "zero_mixed"
    return "fp32" if precision == "fp32" else "pure16"


def bytes_per_param(regime: Regime) -> dict[Component, int]:
    """Bytes per parameter of each part but the activations, for an optimizer with both states.

    ``copies`` are made of castable parameters only, and are gone after backward.
    Sources: as ``BYTES_PER_PARAMETER``.

    Raises:
        ValueError: If the regime is unknown.
    """
    require_choice("regime", regime, REGIMES)
    return dict(BYTES_PER_PARAMETER[regime])


def optimizer_vectors(optimizer: Optimizer) -> int:
    """How many values the optimizer keeps for each parameter: 0, 1 or 2.

    Source of Adam's two moments: Kingma and Ba, Adam (2014), arXiv 1412.6980.

    Raises:
        ValueError: If the optimizer is unknown.
    """
    require_choice("optimizer", optimizer, OPTIMIZERS)
    return STATE_VECTORS[optimizer]


def state_bytes(regime: Regime, optimizer: Optimizer, n_params: int) -> int:
    """Bytes of the optimizer's state alone.

    Args:
        regime: How numbers are held.
        optimizer: What updates the parameters.
        n_params: How many parameters there are.

    Raises:
        ValueError: If a name is unknown, or ``n_params`` no positive whole number.
    """
    require_count("n_params", n_params)
    each = bytes_per_param(regime)
    return sum(each[state] for state in STATES[: optimizer_vectors(optimizer)]) * n_params


def static_bytes(regime: Regime, optimizer: Optimizer, n_params: int) -> int:
    """Bytes that do not depend on the batch: parameters, gradients, master copy, state.

    Args:
        regime: How numbers are held.
        optimizer: What updates the parameters.
        n_params: How many parameters there are.

    Raises:
        ValueError: If a name is unknown, or ``n_params`` no positive whole number.
    """
    # --8<-- [start:static]
    state = state_bytes(regime, optimizer, n_params)
    each = bytes_per_param(regime)
    return (each["params"] + each["grads"] + each["master"]) * n_params + state
    # --8<-- [end:static]


def try_static() -> None:
    """What does not grow with the batch, in each regime."""
    # --8<-- [start:try_static]
    parameters = gpt_param_count(GPT2_XL)
    for regime in REGIMES:
        size = static_bytes(regime, "adam", parameters)
        print(f"{regime:<12}{to_gb(size):6.2f} GB")
    # --8<-- [end:try_static]


def optimizer_tax_bytes(regime: Regime, n_params: int) -> int:
    """Bytes that Adam takes more than plain SGD.

    Args:
        regime: How numbers are held.
        n_params: How many parameters there are.

    Raises:
        ValueError: As ``static_bytes``.
    """
    return static_bytes(regime, "adam", n_params) - static_bytes(regime, "sgd", n_params)


def weight_copy_bytes(regime: Regime, arch: Arch) -> int:
    """Bytes of the 16-bit weights that autocast makes, and that live until backward.

    Args:
        regime: How numbers are held; none but autocast makes copies.
        arch: The sizes of the model.

    Raises:
        ValueError: If the regime is unknown.
    """
    return bytes_per_param(regime)["copies"] * castable_param_count(arch)


def kept_copy_bytes(regime: Regime, recompute: Recompute, arch: Arch) -> int:
    """Bytes of those copies that wait for backward when forward and autocast's region have ended.

    A linear layer keeps the copy that it computed with. Under a checkpoint nothing is kept, and
    backward casts the layer's weights again: then the head's copy alone is left. Until the region
    ends autocast holds all of them, for use again.

    Args:
        regime: How numbers are held; none but autocast makes copies.
        recompute: What backward computes again.
        arch: The sizes of the model.

    Raises:
        ValueError: If a name is unknown.
    """
    require_choice("recompute", recompute, RECOMPUTATIONS)
    if recompute == "full":
        return bytes_per_param(regime)["copies"] * arch.vocab * arch.d_model
    return weight_copy_bytes(regime, arch)


def ledger(
    regime: Regime, optimizer: Optimizer, recompute: Recompute, batch: int, arch: Arch = GPT2_XL
) -> dict[Component, int]:
    """Bytes of each part, in the order of the bar, from the bottom up.

    Args:
        regime: How numbers are held.
        optimizer: What updates the parameters.
        recompute: What backward computes again.
        batch: Texts in a batch; only ``activations`` depend on it.
        arch: The sizes of the model.

    Raises:
        ValueError: If a name is unknown, or ``batch`` no positive whole number.
    """
    n_params, each = gpt_param_count(arch), bytes_per_param(regime)
    vectors = optimizer_vectors(optimizer)
    return {
        "params": each["params"] * n_params,
        "grads": each["grads"] * n_params,
        "master": each["master"] * n_params,
        "state1": each["state1"] * n_params if vectors >= 1 else 0,
        "state2": each["state2"] * n_params if vectors >= 2 else 0,
        "copies": weight_copy_bytes(regime, arch),
        "activations": activation_bytes(regime, recompute, batch, arch),
    }


def ledger_total_bytes(
    regime: Regime, optimizer: Optimizer, recompute: Recompute, batch: int, arch: Arch = GPT2_XL
) -> int:
    """Bytes of all parts at once, as when gradients stay while the next forward pass runs.

    Where they stay in backward as well, ``logits_gradient_bytes`` come on top.

    Args and errors: as ``ledger``.
    """
    return sum(ledger(regime, optimizer, recompute, batch, arch).values())


def phase_bytes(
    regime: Regime, optimizer: Optimizer, recompute: Recompute, batch: int, arch: Arch = GPT2_XL
) -> dict[Phase, int]:
    """Bytes at the moments of the second training step at which a measurement reads the allocator.

    Args and errors: as ``ledger``.

    Returns:
        ``model``, only the model is there; ``idle``, between two steps, gradients freed;
        ``forward`` and ``backward``, at their ends. When a forward pass has ended that will be
        recomputed in full, there is less than at the step's peak: the layer that is recomputed,
        and autocast's copies of the layers' weights, come back in backward one by one.
    """
    # --8<-- [start:moments]
    part = ledger(regime, optimizer, recompute, batch, arch)
    idle = part["params"] + part["master"] + part["state1"] + part["state2"]
    kept = kept_activation_bytes(regime, recompute, batch, arch)
    return {
        "model": part["params"],
        "idle": idle,
        "forward": idle + kept_copy_bytes(regime, recompute, arch) + kept,
        "backward": idle + part["grads"],
    }
    # --8<-- [end:moments]


def try_moments() -> None:
    """What is held in each phase of a step."""
    # --8<-- [start:try_moments]
    for phase, size in phase_bytes("fp32", "adam", "none", 1).items():
        print(f"{phase:<10}{to_gb(size):6.2f} GB")
    # --8<-- [end:try_moments]


def logits_gradient_bytes(regime: Regime, batch: int, arch: Arch) -> int:
    """Bytes that the gradients of the logits add early in backward, at most at once.

    Args:
        regime: How numbers are held.
        batch: Texts in a batch.
        arch: The sizes of the model.

    Raises:
        ValueError: If the regime is unknown, or ``batch`` no positive whole number.
    """
    require_choice("regime", regime, REGIMES)
    require_count("batch", batch)
    return LOGIT_GRADIENT_BYTES[regime] * batch * arch.context * arch.vocab


def step_peak_bytes(
    regime: Regime, optimizer: Optimizer, recompute: Recompute, batch: int, arch: Arch = GPT2_XL
) -> int:
    """Bytes at the fullest moment of a step whose gradients are freed before forward.

    That is early in backward, when the gradients of the logits are there and nearly all that
    forward kept, or at its end, when all other gradients are there. It can be more than all parts
    of the ledger.

    Args and errors: as ``ledger``.
    """
    # --8<-- [start:peak]
    moment = phase_bytes(regime, optimizer, recompute, batch, arch)
    early = moment["forward"] + logits_gradient_bytes(regime, batch, arch)
    return max(early, moment["backward"])
    # --8<-- [end:peak]


def try_peak() -> None:
    """The peak of a step beside the sum of the ledger."""
    # --8<-- [start:try_peak]
    peak = step_peak_bytes("fp32", "adam", "none", batch=1)
    total = ledger_total_bytes("fp32", "adam", "none", batch=1)
    print(f"step peak     {to_gb(peak):.2f} GB")
    print(f"ledger total  {to_gb(total):.2f} GB")
    # --8<-- [end:try_peak]
