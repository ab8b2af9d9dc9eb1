"""What a GPT-2's forward pass keeps for its backward pass, in bytes.

S is the length of a text, B the batch size, H the width, A the heads, L the layers, V the
vocabulary. Source of the formulas: Korthikanti et al., Reducing Activation Recomputation in Large
Transformer Models (2022), arXiv 2205.05198, section 4; of recomputation: Chen et al., Training Deep
Nets with Sublinear Memory Cost (2016), arXiv 1604.06174.
"""

from lesson_code.mission.architecture import Arch
from lesson_code.mission.choices import Recompute, Regime, require_choice, require_count
from lesson_code.mission.constants import (
    ACTIVATION_BYTES,
    RECOMPUTATIONS,
    REGIMES,
    ActivationBytes,
)


def layer_activation_bytes(regime: Regime, batch: int, arch: Arch, seq: int | None = None) -> int:
    """Bytes that one layer keeps when nothing is recomputed.

    Args:
        regime: How numbers are held.
        batch: Texts in a batch.
        arch: The sizes of the model.
        seq: Tokens of a text; the context if left out.

    Raises:
        ValueError: If the regime is unknown, or a count no positive whole number.
    """
    # --8<-- [start:stored]
    each, values = _sizes(regime, batch, arch, seq)
    scores = arch.n_head * _length(arch, seq) ** 2 * batch
    return values * each.value + scores * each.score
    # --8<-- [end:stored]


def try_stored() -> None:
    """Activations of one layer, by batch."""
    # --8<-- [start:try_stored]
    from lesson_code.mission.architecture import GPT2_XL

    for batch in (1, 2, 4):
        print(batch, f"{layer_activation_bytes(REGIMES[0], batch, GPT2_XL) / 1e9:.3f} GB")
    # --8<-- [end:try_stored]


def layer_input_bytes(regime: Regime, batch: int, arch: Arch, seq: int | None = None) -> int:
    """Bytes of a layer's input, all that stays of a layer that is recomputed.

    Args:
        regime: How numbers are held.
        batch: Texts in a batch.
        arch: The sizes of the model.
        seq: Tokens of a text; the context if left out.

    Raises:
        ValueError: As ``layer_activation_bytes``.
    """
    each, values = _sizes(regime, batch, arch, seq)
    return values * each.layer_input


def io_activation_bytes(regime: Regime, batch: int, arch: Arch, seq: int | None = None) -> int:
    """Bytes kept outside the layers: dropout mask of the embedding, last norm, head and loss.

    Args:
        regime: How numbers are held.
        batch: Texts in a batch.
        arch: The sizes of the model.
        seq: Tokens of a text; the context if left out.

    Raises:
        ValueError: As ``layer_activation_bytes``.
    """
    each, values = _sizes(regime, batch, arch, seq)
    logits = _length(arch, seq) * batch * arch.vocab
    return values * each.outside_value + logits * each.logit


def activation_bytes(
    regime: Regime, recompute: Recompute, batch: int, arch: Arch, seq: int | None = None
) -> int:
    """Bytes of all that waits for backward.

    Args:
        regime: How numbers are held.
        recompute: ``"none"`` keeps everything; ``"selective"`` all but the attention scores, like
            a fused attention kernel; ``"full"`` each layer's input, and at some moment all of the
            one layer that is being recomputed.
        batch: Texts in a batch.
        arch: The sizes of the model.
        seq: Tokens of a text; the context if left out.

    Raises:
        ValueError: If a name is unknown, or a count no positive whole number.
    """
    require_choice("recompute", recompute, RECOMPUTATIONS)
    each, values = _sizes(regime, batch, arch, seq)
    outside = io_activation_bytes(regime, batch, arch, seq)
    layer = layer_activation_bytes(regime, batch, arch, seq)
    # --8<-- [start:recompute]
    if recompute == "none":
        return arch.n_layer * layer + outside
    if recompute == "selective":
        return arch.n_layer * values * each.value + outside
    return arch.n_layer * layer_input_bytes(regime, batch, arch, seq) + layer + outside
    # --8<-- [end:recompute]


def try_recompute() -> None:
    """Activations of all layers, by what is computed again."""
    # --8<-- [start:try_recompute]
    from lesson_code.mission.architecture import GPT2_XL

    for recompute in RECOMPUTATIONS:
        size = activation_bytes("fp32", recompute, 1, GPT2_XL)
        print(f"{recompute:<10}{size / 1e9:6.2f} GB")
    # --8<-- [end:try_recompute]


def kept_activation_bytes(regime: Regime, recompute: Recompute, batch: int, arch: Arch) -> int:
    """Bytes that wait for backward when forward has just ended.

    With full recomputation that is less than ``activation_bytes``: no layer is open before
    backward recomputes the first.

    Args and errors: as ``activation_bytes``, of texts as long as the context.
    """
    most = activation_bytes(regime, recompute, batch, arch)
    return most - (layer_activation_bytes(regime, batch, arch) if recompute == "full" else 0)


def segmented_activation_bytes(regime: Regime, every: int, batch: int, arch: Arch) -> int:
    """Bytes that wait for backward when several layers lie under one checkpoint.

    Each segment's input is kept, and at some moment everything inside one segment.

    Args:
        regime: How numbers are held.
        every: Layers in a segment; 1 is full recomputation.
        batch: Texts in a batch.
        arch: The sizes of the model.

    Raises:
        ValueError: If a count is no positive whole number, or ``every`` does not divide the layers.
    """
    require_count("every", every)
    if arch.n_layer % every:
        raise ValueError(f"every must divide the {arch.n_layer} layers, got {every}")
    inputs = arch.n_layer // every * layer_input_bytes(regime, batch, arch)
    inside = every * layer_activation_bytes(regime, batch, arch)
    return inputs + inside + io_activation_bytes(regime, batch, arch)


def _sizes(regime: Regime, batch: int, arch: Arch, seq: int | None) -> tuple[ActivationBytes, int]:
    """What the regime takes for each value, and the S·B·H values between two layers."""
    require_choice("regime", regime, REGIMES)
    require_count("batch", batch)
    return ACTIVATION_BYTES[regime], _length(arch, seq) * batch * arch.d_model


def _length(arch: Arch, seq: int | None) -> int:
    if seq is None:
        return arch.context
    require_count("seq", seq)
    return seq
