"""Attention in 16 bits: where it overflows, what keeps it finite, and whether it still learns.

Shapes: B is the batch size, L the sequence length, D the width, H the heads.
"""

import math
from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional as F


# --8<-- [start:softmax]
def softmax_by_hand(scores: torch.Tensor) -> torch.Tensor:
    """The formula as it is in books."""
    powers = scores.exp()
    return powers / powers.sum(-1, keepdim=True)


def softmax_shifted(scores: torch.Tensor) -> torch.Tensor:
    """The same value: subtracting the largest score takes the same factor off both sides."""
    return softmax_by_hand(scores - scores.amax(-1, keepdim=True))


# --8<-- [end:softmax]


def print_softmax() -> dict[str, float]:
    """Both on float16 scores of which one is 12, and the largest score that survives."""
    scores = torch.tensor([12.0, 10.0, 1.0], dtype=torch.float16)
    largest = math.log(torch.finfo(torch.float16).max)
    for name, softmax in (("by hand", softmax_by_hand), ("shifted", softmax_shifted)):
        print(f"{name}  {[round(p, 3) for p in softmax(scores).tolist()]}")
    print(f"exp overflows above {largest:.2f}")
    return {"largest_score": largest}


# --8<-- [start:attention]
def attention_naive(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Scale after the product, as in the paper: by then the product may have overflowed."""
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    return scores.softmax(-1) @ v


def attention_scaled_first(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Scale the queries before the product: the same numbers, never as large."""
    scores = (q / math.sqrt(q.shape[-1])) @ k.transpose(-2, -1)
    return scores.softmax(-1) @ v


# --8<-- [end:attention]

WAYS: dict[str, Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "scaled after the product": attention_naive,
    "scaled before the product": attention_scaled_first,
    "scaled_dot_product_attention": F.scaled_dot_product_attention,
}


def large_inputs(size: float = 40.0, width: int = 64) -> list[torch.Tensor]:
    """Queries, keys and values, (1, 4, 16, width), float16, of which two are large."""
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(1, 4, 16, width, generator=generator) for _ in range(3))
    q = size * q.abs()  # all of one sign, so that the products add up
    return [q.half(), (size * k.abs()).half(), v.half()]


def print_attention() -> dict[str, int]:
    """How many of the outputs are finite, for each way to compute attention in float16."""
    found = {}
    for name, attention in WAYS.items():
        output = attention(*large_inputs())
        found[name] = int(output.isfinite().sum())
        print(f"{name:30}{found[name]:>6,} of {output.numel():,} finite")
    return found


# --8<-- [start:masks]
def mask_scores() -> dict[str, str]:
    """Four ways to mask float16 scores, and what becomes of the probabilities."""
    scores = torch.zeros(3, dtype=torch.float16)
    two, every = torch.tensor([False, True, True]), torch.tensor([True, True, True])
    smallest = torch.finfo(torch.float16).min
    ways: dict[str, Callable[[], torch.Tensor]] = {
        "-1e9": lambda: scores.masked_fill(two, -1e9),
        "-inf": lambda: scores.masked_fill(two, -math.inf),
        "finfo.min": lambda: scores.masked_fill(two, smallest),
        "-inf, whole row": lambda: scores.masked_fill(every, -math.inf),
        "finfo.min, whole row": lambda: scores.masked_fill(every, smallest),
    }
    found = {}
    for name, mask in ways.items():
        try:
            found[name] = str([round(p, 2) for p in mask().softmax(-1).tolist()])
        except RuntimeError as problem:
            found[name] = type(problem).__name__
    return found


# --8<-- [end:masks]


def print_masks() -> None:
    """What each mask leaves."""
    for name, outcome in mask_scores().items():
        print(f"{name:22}{outcome}")


# --8<-- [start:encoder]
class Reverser(nn.Module):
    """A small encoder that shall write a sequence of digits backwards.

    Maps (B, L), int64, to (B, L, 10), scores of the digit at each place.
    """

    def __init__(self, length: int = 6, width: int = 32, heads: int = 4) -> None:
        super().__init__()
        self.digit = nn.Embedding(10, width)
        self.place = nn.Parameter(0.3 * torch.randn(length, width))
        self.encoder = nn.TransformerEncoderLayer(
            width, heads, 2 * width, dropout=0.0, batch_first=True
        )
        self.head = nn.Linear(width, 10)

    def forward(self, digits: torch.Tensor) -> torch.Tensor:
        return self.head(self.encoder(self.digit(digits) + self.place))


def train_reverser(
    dtype: torch.dtype, steps: int = 150, batch: int = 16, seed: int = 0
) -> list[float]:
    """The loss of each step: float32, or autocast in a 16-bit type, with a scaler for float16."""
    torch.manual_seed(seed)
    model = Reverser()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    scaler = torch.amp.GradScaler("cpu", enabled=dtype == torch.float16)
    losses = []
    for _ in range(steps):
        digits = torch.randint(10, (batch, 6))
        with torch.autocast("cpu", dtype, enabled=dtype != torch.float32):
            scores = model(digits)
            loss = F.cross_entropy(scores.flatten(0, 1), digits.flip(1).flatten())
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    return losses


# --8<-- [end:encoder]


FORMATS = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
SHOWN = (1, 50, 75, 150)


def print_learning() -> dict[str, dict[str, float]]:
    """The loss of the reversal task on its way, in each format."""
    found = {}
    print(f"{'step':10}" + "".join(f"{step:>8}" for step in SHOWN))
    for name, dtype in FORMATS.items():
        losses = train_reverser(dtype)
        print(f"{name:10}" + "".join(f"{losses[step - 1]:>8.2f}" for step in SHOWN))
        found[name] = {"last": losses[-1]}
    return found


def study_learning() -> dict[str, list[float]]:
    """The last loss of the reversal task in each format, with five seeds."""
    found = {}
    print(f"{'five seeds':12}{'loss of step 150':>18}")
    for name, dtype in FORMATS.items():
        last = [train_reverser(dtype, seed=seed)[-1] for seed in range(5)]
        print(f"{name:12}{f'{min(last):.2f} to {max(last):.2f}':>18}")
        found[name] = last
    return found


# --8<-- [start:backends]
def difference_to_float32(dtype: torch.dtype) -> float:
    """Largest difference of fused attention in 16 bits to the same attention in float32."""
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(2, 4, 128, 32, generator=generator) for _ in range(3))
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        exact = F.scaled_dot_product_attention(q, k, v)
    rounded = F.scaled_dot_product_attention(q.to(dtype), k.to(dtype), v.to(dtype))
    return float((rounded - exact).abs().max())


# --8<-- [end:backends]


def print_differences() -> dict[str, float]:
    """How far 16-bit attention is from float32, for random inputs of size 1."""
    found = {name: difference_to_float32(FORMATS[name]) for name in ("bfloat16", "float16")}
    for name, difference in found.items():
        print(f"{name:10}{difference:.4f}")
    return found
