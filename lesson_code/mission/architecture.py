"""The sizes of a GPT-2 and what follows from them alone: parameters and arithmetic."""

from dataclasses import asdict, dataclass

from lesson_code.mission.choices import require_count


@dataclass(frozen=True)
class Arch:
    """The sizes of a GPT-2: biases everywhere, learned positions, feed-forward width 4 d_model.

    Attributes:
        n_layer: Blocks, one after the other.
        d_model: Width; the values that stand for one token between the blocks.
        n_head: Attention heads of a block.
        vocab: Different tokens.
        context: Tokens of a text.

    Raises:
        ValueError: If a size is no positive whole number.
    """

    n_layer: int
    d_model: int
    n_head: int
    vocab: int
    context: int

    def __post_init__(self) -> None:
        for name, size in asdict(self).items():
            require_count(name, size)


# Source: Radford et al., Language Models are Unsupervised Multitask Learners (2019), table 2, and
# the configurations published with the models, which give the heads and the vocabulary.
GPT2_XL = Arch(48, 1600, 25, 50257, 1024)
GPT2_SMALL = Arch(12, 768, 12, 50257, 1024)


def gpt_param_count(arch: Arch, tied: bool = True) -> int:
    """Trainable values.

    A block has two norms (4 h), the joint query, key and value (3 h² + 3 h), the output of
    attention (h² + h), and two linear layers (4 h² + 4 h and 4 h² + h).

    Args:
        arch: The sizes.
        tied: Whether the head is the token embedding, as in GPT-2, and counts once.
    """
    width = arch.d_model
    # --8<-- [start:count]
    embeddings = (arch.vocab + arch.context) * width
    blocks = arch.n_layer * (12 * width**2 + 13 * width)
    head = 0 if tied else arch.vocab * width
    return embeddings + blocks + 2 * width + head
    # --8<-- [end:count]


def try_count() -> None:
    """How many parameters GPT-2 XL has."""
    # --8<-- [start:try_count]
    print(f"{gpt_param_count(GPT2_XL):,} parameters")
    # --8<-- [end:try_count]


def castable_param_count(arch: Arch) -> int:
    """Parameters that autocast casts to 16 bit: of all linear layers, and the tied head.

    The look-up in the embeddings and the norms stay in float32.
    """
    width = arch.d_model
    return arch.n_layer * (12 * width**2 + 9 * width) + arch.vocab * width


def forward_layer_flops_per_token(arch: Arch) -> int:
    """FLOP of one token's way forward through the layers, matrix products only.

    An addition and a multiplication are two. Source: as ``model_flops_per_token``.
    """
    width = arch.d_model
    return arch.n_layer * (24 * width**2 + 4 * arch.context * width)


def model_flops_per_token(arch: Arch) -> int:
    """FLOP that one token's forward and backward pass need, recomputation left out.

    72 L h² (1 + s/6h + v/12hL). Source: Korthikanti et al. (2022), arXiv 2205.05198, appendix A.

    Returns:
        FLOP, matrix products only; an addition and a multiplication are two.
    """
    head = 2 * arch.vocab * arch.d_model
    return 3 * (forward_layer_flops_per_token(arch) + head)
