"""How many blocks to put under one checkpoint: what is saved, what the peak is, what it costs.

The model is 16 residual blocks, layer norm first, GELU, no dropout.
Shapes: B is the batch size, 512, and W the width, 128.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch
from torch import nn
from torch.utils.checkpoint import (
    checkpoint,
    create_selective_checkpoint_contexts,
    set_checkpoint_early_stop,
)

from lesson_code.lab.memory_dashboard import MemoryCurve
from lesson_code.lab.models import BlockStack
from lesson_code.saved_tensors import SavedBytes

DEPTH, WIDTH, BATCH = 16, 128, 512
SIZES = (1, 2, 4, 8, 16)
MEBIBYTE = 2**20

Forward = Callable[[nn.Sequential, torch.Tensor], torch.Tensor]


# --8<-- [start:segments]
def in_segments(blocks: nn.Sequential, x: torch.Tensor, size: int) -> torch.Tensor:
    """Run the blocks with a checkpoint around every ``size`` of them; 0 for none at all."""
    if size == 0:
        return blocks(x)
    for start in range(0, len(blocks), size):
        x = checkpoint(blocks[start : start + size], x, use_reentrant=False)
    return x


# --8<-- [end:segments]


def stack_and_batch() -> tuple[nn.Sequential, torch.Tensor]:
    """The blocks, and a batch (B, W)."""
    torch.manual_seed(0)
    return BlockStack(DEPTH, WIDTH, norm=True, activation=nn.GELU).blocks, torch.randn(BATCH, WIDTH)


# --8<-- [start:measure]
class Step(NamedTuple):
    """Bytes alive after the forward pass and at most, and the matrix products of the step."""

    after_forward: int
    peak: int
    products: int


def run_step(forward: Forward) -> Step:
    """Watch a training step of the blocks."""
    blocks, x = stack_and_batch()
    with MemoryCurve() as memory:
        loss = forward(blocks, x).square().mean()
        memory.mark()
        loss.backward()
    present = x.nbytes + sum(parameter.nbytes for parameter in blocks.parameters())
    peak = present + max(alive for _, alive in memory.curve)
    products = sum(name in ("addmm", "mm") for name, _ in memory.curve)
    return Step(present + memory.marks[0].total(), peak, products)


# --8<-- [end:measure]


def saved_by_forward(size: int) -> int:
    """Bytes that wait for backward when the loss is known."""
    blocks, x = stack_and_batch()
    meter = SavedBytes(blocks)
    with meter:
        loss = in_segments(blocks, x, size).square().mean()
    total = meter.total()
    del loss  # until here it holds the graph
    return total


def print_segments() -> dict[str, dict[str, float]]:
    """Print for each size of a segment what is saved, the peak, and the work.

    Returns:
        Of each size ``saved`` and ``peak`` in MiB, and ``compute`` relative to no checkpoint.
    """
    found = {}
    plain = run_step(partial(in_segments, size=0))
    print(f"{'blocks per':10}{'saved by':>14}{'peak of the':>14}{'matrix':>10}")
    print(f"{'checkpoint':10}{'forward, MiB':>14}{'step, MiB':>14}{'products':>10}{'compute':>10}")
    for size in (0, *SIZES):
        saved, step = saved_by_forward(size), run_step(partial(in_segments, size=size))
        compute = step.products / plain.products
        row = {"saved": saved / MEBIBYTE, "peak": step.peak / MEBIBYTE, "compute": compute}
        sizes = f"{row['saved']:>14.2f}{row['peak']:>14.2f}"
        print(f"{size or 'none':<10}{sizes}{step.products:>10}{compute:>10.2f}")
        found[str(size or "none")] = row
    return found


# --8<-- [start:rule]
def alive_in_backward(blocks: int, size: int, kept: float, inside: float) -> float:
    """The input of each segment, and everything inside the one segment that is open.

    Args:
        blocks: How many there are.
        size: Blocks in a segment.
        kept: Memory of a segment's input.
        inside: Memory of all that one block saves.
    """
    return blocks / size * kept + size * inside


def best_size(blocks: int, kept: float, inside: float) -> float:
    """Where both terms are equal, which is where their sum is smallest."""
    return math.sqrt(blocks * kept / inside)


# --8<-- [end:rule]


def block_costs() -> tuple[int, int]:
    """Bytes of one block's input, and of all that the block saves."""
    blocks, x = stack_and_batch()
    x.requires_grad_()
    meter = SavedBytes(blocks)
    with meter:
        output = blocks[0](x)
    total = meter.total()
    del output
    return x.nbytes, total


def print_rule() -> dict[str, float]:
    """Print what the square-root rule says for equal costs, and for this block's.

    Returns:
        The best sizes, ``equal`` and ``block``, and the block's ``kept`` and ``inside`` in MiB.
    """
    kept, inside = (size / MEBIBYTE for size in block_costs())
    costs = {"equal": (1.0, 1.0), "block": (kept, inside)}
    print(f"{'blocks per checkpoint':24}{'1 and 1':>10}{f'{kept:.2f} and {inside:.2f} MiB':>22}")
    for size in SIZES:
        equal, own = (alive_in_backward(DEPTH, size, *cost) for cost in costs.values())
        print(f"{size:<24}{equal:>10.1f}{own:>22.1f}")
    best = {name: best_size(DEPTH, *cost) for name, cost in costs.items()}
    print(f"{'best size':24}{best['equal']:>10.1f}{best['block']:>22.1f}")
    return best | {"kept": kept, "inside": inside}


def print_early_stop() -> None:
    """Print the matrix products of a step with the early stop, and without it."""
    print(f"{'blocks per checkpoint':24}{'early stop':>12}{'to the end':>12}")
    for size in (1, 16):
        forward = partial(in_segments, size=size)
        stopped = run_step(forward).products
        with set_checkpoint_early_stop(False):
            whole = run_step(forward).products
        print(f"{size:<24}{stopped:>12}{whole:>12}")


# --8<-- [start:selective]
def keeping_products(blocks: nn.Sequential, x: torch.Tensor) -> torch.Tensor:
    """A checkpoint around each block that keeps the results of its matrix products."""
    keep = [torch.ops.aten.addmm.default]
    contexts = partial(create_selective_checkpoint_contexts, keep)
    for block in blocks:
        x = checkpoint(block, x, use_reentrant=False, context_fn=contexts)
    return x


# --8<-- [end:selective]


def print_selective() -> dict[str, dict[str, int]]:
    """Print what a checkpoint costs that keeps what is dear to compute.

    Returns:
        Of each way the bytes alive ``after_forward`` and at the ``peak``, and the ``products``.
    """
    ways: dict[str, Forward] = {
        "no checkpoint": partial(in_segments, size=0),
        "keep the input": partial(in_segments, size=1),
        "keep the products too": keeping_products,
    }
    found = {}
    print(f"{'around each block':24}{'after forward':>14}{'peak, MiB':>12}{'products':>10}")
    for way, forward in ways.items():
        step = run_step(forward)
        sizes = f"{step.after_forward / MEBIBYTE:>14.2f}{step.peak / MEBIBYTE:>12.2f}"
        print(f"{way:24}{sizes}{step.products:>10}")
        found[way] = step._asdict()
    return found
