"""Counts the steps that others measured, so that the forecast can be held against their figures.

``python -m benchmarks.published_steps`` writes ``results/points/counts.json``: what a step of every
network, batch and format of ``results/points`` is made of. The networks are built here, as close to
the published ones as torchvision and a page of code come; a count is of these, and where the
published code differs, the difference is part of the forecast's error.
"""

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from unittest.mock import patch

import torch
import torchvision
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from lesson_code.forecast import formula
from lesson_code.forecast.counter import AUTOCAST, StepCounter, count_step, sums_of
from lesson_code.forecast.shells import META, Shell, exchange, like_a_gpu
from results.points import COUNTS, Step, steps

PIXELS = {
    "inception_v3": 299,
    "efficientnet_b2": 256,
    "efficientnet_b3": 288,
    "efficientnet_b4": 320,
    "efficientnet_b5": 456,
    "efficientnet_b6": 528,
    "efficientnet_b7": 600,
    "resnet18_cifar": 32,
}
LENGTHS = {  # tokens of a text
    "bert_base": 384,
    "bert_base_128": 128,
    "bert_base_512": 512,
    "bert_large": 384,
    "bert_large_512": 512,
    "bert_large_512_checkpointed": 512,
    "gpt2_nanogpt": 1024,
}
BERT_WORDS, CASED_BERT_WORDS, GPT_WORDS = 30_522, 28_996, 50_304
KEPT = ("flop", "bytes", "convolution_bytes", "launches", "peak_bytes")


@dataclass(frozen=True)
class Sizes:
    """The sizes of a text network.

    Attributes:
        width: Values of a token.
        heads: Of each attention.
        layers: How many.
        words: Of the vocabulary.
        positions: The longest text.
    """

    width: int
    heads: int
    layers: int
    words: int = BERT_WORDS
    positions: int = 512


BERT_BASE, BERT_LARGE = Sizes(768, 12, 12), Sizes(1024, 16, 24)
CASED_BERT = Sizes(768, 12, 12, CASED_BERT_WORDS)
GPT_SMALL = Sizes(768, 12, 12, GPT_WORDS, LENGTHS["gpt2_nanogpt"])


class Layer(nn.Module):
    """A layer of a transformer, its attention in separate operations, as the published code had it.

    Args:
        sizes: Of the network.
        dropout: Share of values that become zero.
        causal: Whether a token sees only those before it, and normalisation comes first (GPT-2).
    """

    def __init__(self, sizes: Sizes, dropout: float, causal: bool) -> None:
        super().__init__()
        width = sizes.width
        self.heads, self.causal = sizes.heads, causal
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.norm_1, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.dropout = nn.Dropout(dropout)

    def attend(self, x: Tensor, mask: Tensor) -> Tensor:
        """Of x (batch, tokens, width); mask says where not to look, or what to add there."""
        batch, tokens, width = x.shape
        split = self.qkv(x).view(batch, tokens, 3, self.heads, width // self.heads)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        scores = query @ key.transpose(-2, -1) * (width // self.heads) ** -0.5
        scores = scores.masked_fill(mask, float("-inf")) if self.causal else scores + mask
        mixed = self.dropout(scores.softmax(-1)) @ value
        return self.out(mixed.transpose(1, 2).reshape(batch, tokens, width))

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """From (batch, tokens, width) to the same shape."""
        if self.causal:
            x = x + self.dropout(self.attend(self.norm_1(x), mask))
            return x + self.dropout(self.down(F.gelu(self.up(self.norm_2(x)))))
        x = self.norm_1(x + self.dropout(self.attend(x, mask)))
        return self.norm_2(x + self.dropout(self.down(F.gelu(self.up(x)))))


class Text(nn.Module):
    """BERT with a head of two outputs a token, or GPT-2, whose output is its embedding.

    Args:
        sizes: Of the network.
        dropout: Share of values that become zero.
        causal: GPT-2, or else BERT.
        pooled: Whether the head sees the first token only (a text is classified).
        checkpointed: Whether each layer is computed once more in backward.
    """

    def __init__(
        self,
        sizes: Sizes,
        dropout: float = 0.1,
        causal: bool = False,
        pooled: bool = False,
        checkpointed: bool = False,
    ) -> None:
        super().__init__()
        self.causal, self.pooled, self.checkpointed = causal, pooled, checkpointed
        self.words = nn.Embedding(sizes.words, sizes.width)
        self.places = nn.Embedding(sizes.positions, sizes.width)
        self.norm = nn.LayerNorm(sizes.width)
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.ModuleList(Layer(sizes, dropout, causal) for _ in range(sizes.layers))
        self.head = None if causal else nn.Linear(sizes.width, 2)

    def forward(self, tokens: Tensor) -> Tensor:
        """From (batch, tokens) to the head's outputs."""
        length = tokens.shape[1]
        x = self.words(tokens) + self.places(torch.arange(length, device=tokens.device))
        x = self.dropout(x if self.causal else self.norm(x))
        shape = (1, 1, length if self.causal else 1, length)
        mask = torch.empty(shape, device=tokens.device, dtype=torch.bool)
        mask = mask if self.causal else mask.to(x.dtype)
        for layer in self.layers:
            if self.checkpointed:
                x = checkpoint(layer, x, mask, use_reentrant=False, preserve_rng_state=False)
            else:
                x = layer(x, mask)
        if self.head is None:
            return F.linear(self.norm(x), self.words.weight)
        return self.head(x[:, 0] if self.pooled else x)


class CifarBlock(nn.Module):
    """Two convolutions of 3 × 3 and what goes around them."""

    def __init__(self, before: int, width: int, stride: int) -> None:
        super().__init__()
        self.convolution_1 = nn.Conv2d(before, width, 3, stride, 1, bias=False)
        self.norm_1 = nn.BatchNorm2d(width)
        self.convolution_2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.norm_2 = nn.BatchNorm2d(width)
        self.around = nn.Sequential()
        if stride != 1 or before != width:
            self.around = nn.Sequential(
                nn.Conv2d(before, width, 1, stride, bias=False), nn.BatchNorm2d(width)
            )

    def forward(self, x: Tensor) -> Tensor:
        """From (batch, before, height, width) to the block's channels."""
        y = F.relu(self.norm_1(self.convolution_1(x)))
        y = self.norm_2(self.convolution_2(y))
        y += self.around(x)
        return F.relu(y)


def cifar_resnet18() -> nn.Module:
    """The ResNet-18 for images of 32 × 32 pixels, with no stride in its first stage."""
    blocks: list[nn.Module] = []
    before = 64
    for width, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        blocks += [CifarBlock(before, width, stride), CifarBlock(width, width, 1)]
        before = width
    first = [nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU()]
    return nn.Sequential(*first, *blocks, nn.AvgPool2d(4), nn.Flatten(), nn.Linear(512, 10))


def vision_transformer(width: int, heads: int) -> nn.Module:
    """A ViT of 12 layers with patches of 16 × 16 pixels."""
    return torchvision.models.VisionTransformer(224, 16, 12, heads, width, 4 * width)


NETWORKS: Mapping[str, Callable[[], nn.Module]] = {
    "bert_base": lambda: Text(BERT_BASE),
    "bert_base_128": lambda: Text(CASED_BERT, pooled=True),
    "bert_base_512": lambda: Text(CASED_BERT, pooled=True),
    "bert_large": lambda: Text(BERT_LARGE),
    "bert_large_512": lambda: Text(BERT_LARGE, pooled=True),
    "bert_large_512_checkpointed": lambda: Text(BERT_LARGE, pooled=True, checkpointed=True),
    "gpt2_nanogpt": lambda: Text(GPT_SMALL, dropout=0.0, causal=True),
    "resnet18_cifar": cifar_resnet18,
    "resnet50_inference": lambda: torchvision.models.resnet50().eval(),
    "vit_small": lambda: vision_transformer(384, 6),
    "deit_tiny": lambda: vision_transformer(192, 3),
    "inception_v3": lambda: torchvision.models.inception_v3(aux_logits=False, init_weights=False),
}


def answer_loss(outputs: Tensor, places: Tensor) -> Tensor:
    """Where an answer begins and ends, from outputs (batch, tokens, 2)."""
    return F.cross_entropy(outputs[..., 0], places) + F.cross_entropy(outputs[..., 1], places)


def next_word_loss(outputs: Tensor, tokens: Tensor) -> Tensor:
    """Of outputs (batch, tokens, words)."""
    return F.cross_entropy(outputs.flatten(0, 1), tokens.flatten())


def batch_of(step: Step) -> tuple[Tensor, Tensor]:
    """Inputs and targets without values."""
    name, size = step.network, step.batch
    if name in LENGTHS:
        tokens = torch.zeros(size, LENGTHS[name], dtype=torch.int64)
        return tokens, tokens if name.startswith("gpt2") else torch.zeros(size, dtype=torch.int64)
    pixels = PIXELS.get(name, 224)
    return torch.empty(size, 3, pixels, pixels), torch.zeros(size, dtype=torch.int64)


def count(step: Step) -> formula.Step:
    """Count one step; of inference, the forward pass alone."""
    with torch.device("meta"):
        build = NETWORKS.get(step.network) or getattr(torchvision.models, step.network)
        model, batch = build(), batch_of(step)
    with patch("torch.nn.functional.scaled_dot_product_attention", separate_attention):
        if step.network.endswith("inference"):
            return count_forward(model, batch[0], step.format)
        return count_step(model, _optimizer(step, model), _loss(step), batch, step.format)


def separate_attention(query: Tensor, key: Tensor, value: Tensor, *_: object) -> Tensor:
    """What timm did before PyTorch had a fused attention; of (batch, heads, tokens, width).

    Its vision transformers have neither mask nor dropout.
    """
    scores = query @ key.transpose(-2, -1) * query.size(-1) ** -0.5
    return scores.softmax(-1) @ value


def count_forward(model: nn.Module, inputs: Tensor, format: str) -> formula.Step:
    """Count a forward pass without gradients."""
    counter = StepCounter()
    for tensor in (*model.parameters(), *model.buffers()):
        exchange(tensor)
        counter.hold(tensor)  # type: ignore[arg-type]
    weight_bytes = counter.held_bytes
    shell = counter.hold(Shell(torch.empty_like(inputs, device=META)))
    counter.counting = True
    dtype = AUTOCAST.get(format)
    autocast = partial(torch.autocast, "cuda", dtype=dtype, enabled=dtype is not None)
    with like_a_gpu(), counter, torch.no_grad(), autocast():
        model(shell)
    return sums_of(counter, format, weight_bytes, channels_last=False)


def _optimizer(step: Step, model: nn.Module) -> torch.optim.Optimizer:
    if step.network not in LENGTHS:
        return torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    if step.network in ("bert_base_128", "bert_base_512"):
        return torch.optim.Adam(model.parameters(), lr=1e-4)
    fused = step.network in ("bert_base", "bert_large")  # NVIDIA's code has an optimizer of its own
    return torch.optim.AdamW(model.parameters(), lr=1e-4, foreach=not fused, fused=fused)


def _loss(step: Step) -> Callable[[Tensor, Tensor], Tensor]:
    if step.network in ("bert_base", "bert_large"):
        return answer_loss
    return next_word_loss if step.network.startswith("gpt2") else F.cross_entropy


def main(arguments: Sequence[str] | None = None) -> int:
    """Count every step of the points and write the file; ``--only`` counts some, to compare."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.published_steps")
    parser.add_argument("--only", metavar="NETWORK", help="print the counts of one network instead")
    chosen = parser.parse_args(arguments).only
    wanted = [step for step in steps() if chosen in (None, step.network)]
    if not wanted:
        print(
            f"error: no point in results/points has a network {chosen!r}; take one of "
            f"{', '.join(sorted({step.network for step in steps()}))}",
            file=sys.stderr,
        )
        return 2
    counts = {}
    for step in wanted:
        counted = count(step)
        counts[step.name] = {name: getattr(counted, name) for name in KEPT}
        print(step.name, counts[step.name], flush=True)
    if chosen is None:
        write(COUNTS, counts)
    return 0


def write(path: Path, counts: Mapping[str, Mapping[str, object]]) -> None:
    """Put them there in one piece, a step a line."""
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(counts[name])}" for name in counts)
    draft = path.with_suffix(".new")
    draft.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    draft.replace(path)


if __name__ == "__main__":
    sys.exit(main())
