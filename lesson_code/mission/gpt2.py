"""GPT-2, small enough to read: the transformer whose memory and speed the mission measures.

What a training step keeps in GPU memory depends on how attention is written, on the number format
and on what is recomputed. So all three are spelled out here, and nothing is fused behind our back.

Shapes: B is the batch size, S the length of a text, W the width, H the heads, V the vocabulary.
"""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import get_args

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint
from torch.utils.flop_counter import FlopCounterMode

from lesson_code.mission import architecture
from lesson_code.mission.architecture import Arch, gpt_param_count
from lesson_code.mission.choices import Recompute, TorchRegime, require_choice
from lesson_code.mission.constants import RECOMPUTATIONS

Regime = TorchRegime


@dataclass(frozen=True)
class GPT2Config:
    """The sizes of a GPT-2 that is trained here.

    Attributes:
        layers: Blocks, one after the other.
        width: Values that stand for one token between the blocks.
        heads: Attention heads of a block; they share the width out among them.
        vocabulary: Different tokens.
        context: Tokens of the longest text.
        dropout: Share of values that training drops after embedding, attention and each branch.
    """

    layers: int
    width: int
    heads: int
    vocabulary: int = 50_257
    context: int = 1_024
    dropout: float = 0.1

    @classmethod
    def of(cls, arch: Arch) -> "GPT2Config":
        """A model of these sizes, with the usual dropout."""
        return cls(arch.n_layer, arch.d_model, arch.n_head, arch.vocab, arch.context)

    @property
    def arch(self) -> Arch:
        """The sizes as the mission's formulas take them."""
        return Arch(self.layers, self.width, self.heads, self.vocabulary, self.context)

    @property
    def parameters(self) -> int:
        """Trainable values; the head is the token embedding and counts once."""
        return gpt_param_count(self.arch)


GPT2_SMALL = GPT2Config.of(architecture.GPT2_SMALL)
GPT2_XL = GPT2Config.of(architecture.GPT2_XL)


class Attention(nn.Module):
    """Each token looks at itself and at the tokens before it."""

    def __init__(self, config: GPT2Config, recompute: Recompute) -> None:
        super().__init__()
        self.heads = config.heads
        self.dropout = config.dropout
        self.fused = recompute == "selective"
        self.query_key_value = nn.Linear(config.width, 3 * config.width)
        self.output = nn.Linear(config.width, config.width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Mix the tokens of each text.

        Args:
            x: (B, S, W).

        Returns:
            (B, S, W).
        """
        batch, length, width = x.shape
        heads = self.query_key_value(x).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = heads.permute(2, 0, 3, 1, 4).unbind()  # each (B, H, S, W/H)
        mix = self._fused if self.fused else self._naive
        return self.output(mix(query, key, value).transpose(1, 2).reshape(batch, length, width))

    def _naive(self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        """Attention by the book: S * S probabilities for each head are kept for backward."""
        length, head_width = query.shape[-2:]
        scores = query @ key.transpose(-2, -1) / head_width**0.5  # (B, H, S, S)
        later = torch.ones(length, length, dtype=torch.bool, device=query.device).triu(1)
        probabilities = scores.masked_fill(later, float("-inf")).softmax(dim=-1)
        return F.dropout(probabilities, self.dropout, self.training) @ value

    def _fused(self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        """The same in one kernel, which computes the probabilities again in backward."""
        dropout = self.dropout if self.training else 0.0
        return F.scaled_dot_product_attention(query, key, value, dropout_p=dropout, is_causal=True)


class Block(nn.Module):
    """Attention and a two-layer network, each added to what came in."""

    def __init__(self, config: GPT2Config, recompute: Recompute) -> None:
        super().__init__()
        self.attention = nn.Sequential(
            nn.LayerNorm(config.width), Attention(config, recompute), nn.Dropout(config.dropout)
        )
        self.feed_forward = nn.Sequential(
            nn.LayerNorm(config.width),
            nn.Linear(config.width, 4 * config.width),
            nn.GELU(approximate="tanh"),
            nn.Linear(4 * config.width, config.width),
            nn.Dropout(config.dropout),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """One block.

        Args:
            x: (B, S, W).

        Returns:
            (B, S, W).
        """
        x = x + self.attention(x)
        return x + self.feed_forward(x)


class GPT2(nn.Module):
    """A text in, for each position the scores of the token that comes next.

    Args:
        config: The sizes.
        recompute: What backward computes again instead of keeping it: ``"none"``; with
            ``"selective"`` the attention probabilities; with ``"full"`` every block.

    Raises:
        ValueError: If the heads don't share out the width, or ``recompute`` is unknown.
    """

    def __init__(self, config: GPT2Config, recompute: Recompute = "none") -> None:
        super().__init__()
        if config.width % config.heads:
            raise ValueError(f"width {config.width} is no multiple of {config.heads} heads")
        require_choice("recompute", recompute, RECOMPUTATIONS)
        self.recompute = recompute
        self.tokens = nn.Embedding(config.vocabulary, config.width)
        self.positions = nn.Embedding(config.context, config.width)
        self.dropout = nn.Dropout(config.dropout)
        self.blocks = nn.ModuleList(Block(config, recompute) for _ in range(config.layers))
        self.norm = nn.LayerNorm(config.width)
        self.apply(_initialise)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Scores of the next token.

        Args:
            tokens: (B, S), int64, S at most ``config.context``.

        Returns:
            (B, S, V), raw scores.
        """
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.dropout(self.tokens(tokens) + self.positions(places))  # (B, S, W)
        for block in self.blocks:
            if self.recompute == "full" and torch.is_grad_enabled():
                x = checkpoint(block, x, use_reentrant=False)
            else:
                x = block(x)
        return F.linear(self.norm(x), self.tokens.weight)  # the head is the embedding, once more


def next_token_loss(model: nn.Module, tokens: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Cross-entropy between the scores and the tokens that do come next.

    Args:
        model: Turns (B, S) tokens into (B, S, V) scores.
        tokens: (B, S), int64.
        targets: (B, S), int64: the same texts, one token later.

    Returns:
        The average over all tokens, a scalar.
    """
    return F.cross_entropy(model(tokens).flatten(0, 1), targets.flatten())


def build(
    config: GPT2Config, regime: Regime, device: torch.device, recompute: Recompute = "none"
) -> GPT2:
    """A GPT-2 made on its device, so that the CPU's memory need not hold it.

    Args:
        config: The sizes.
        regime: ``"fp32"`` and ``"autocast"`` keep float32 weights, ``"pure16"`` bfloat16 ones.
        device: Where it is made.
        recompute: As for ``GPT2``.

    Raises:
        ValueError: If an argument is none of the allowed ones.
    """
    require_choice("regime", regime, get_args(Regime))
    usual = torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16 if regime == "pure16" else torch.float32)
    try:
        with device:
            return GPT2(config, recompute)
    finally:
        torch.set_default_dtype(usual)


def precision(regime: Regime, device: torch.device) -> AbstractContextManager[object]:
    """Around a forward pass: bfloat16 autocast in the regime of that name, nothing in others."""
    return torch.autocast(device.type, torch.bfloat16) if regime == "autocast" else nullcontext()


def step_flops(config: GPT2Config, batch: int, recompute: Recompute = "none") -> int:
    """Floating-point operations of forward and backward, matrix products only.

    They are counted on a model without memory (PyTorch's ``meta`` device), so any size will do.

    Args:
        config: The sizes; the texts are as long as the context.
        batch: Texts in a batch.
        recompute: With ``"full"`` what is computed a second time counts a second time.

    Returns:
        FLOP of one step; an addition and a multiplication are two.
    """
    meta = torch.device("meta")
    model = build(config, "fp32", meta, recompute)
    tokens = torch.zeros(batch, config.context, dtype=torch.int64, device=meta)
    with FlopCounterMode(display=False) as counter:
        next_token_loss(model, tokens, tokens).backward()
    return counter.get_total_flops()


def _initialise(module: nn.Module) -> None:
    """Small random weights and zero biases, as GPT-2 starts."""
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, nn.Linear):
        nn.init.zeros_(module.bias)
