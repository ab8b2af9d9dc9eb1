"""What recomputing activations costs in arithmetic, and what a simple argument says it saves.

What it saves of a GPT-2 is in ``activations``.
"""

from typing import Literal, get_args

from lesson_code.mission.architecture import (
    GPT2_XL,
    Arch,
    forward_layer_flops_per_token,
    model_flops_per_token,
)
from lesson_code.mission.choices import require_choice, require_count

WholeRecompute = Literal["none", "full"]


def recompute_flop_factor(recompute: WholeRecompute, arch: Arch = GPT2_XL) -> float:
    """A step's arithmetic relative to that of a step without recomputation.

    The layers go forward once more, the head does not. Source: Korthikanti et al. (2022), arXiv
    2205.05198, appendix A.

    Args:
        recompute: ``"full"`` for a checkpoint around each layer.
        arch: The sizes of the model.

    Raises:
        ValueError: If ``recompute`` is unknown; selective recomputation is not counted.
    """
    require_choice("recompute", recompute, get_args(WholeRecompute))
    again = forward_layer_flops_per_token(arch) if recompute == "full" else 0
    return 1 + again / model_flops_per_token(arch)


def even_cost_saving(layers: int, every: int) -> float:
    """How many times less is kept if a layer's input costs as much as all inside the layer.

    The argument behind the square root of the layers: Chen et al. (2016), arXiv 1604.06174. Layers
    of a transformer keep far more inside than their input takes, so that theirs save more.

    Args:
        layers: How many there are.
        every: Layers under one checkpoint; they need not divide up evenly.

    Raises:
        ValueError: If a count is no positive whole number, or ``every`` exceeds the layers.
    """
    require_count("layers", layers)
    require_count("every", every)
    if every > layers:
        raise ValueError(f"every must be at most the {layers} layers, got {every}")
    return layers / (layers / every + every)
