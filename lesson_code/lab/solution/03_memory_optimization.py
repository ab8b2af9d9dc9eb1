"""Exercise 3: measure memory, choose a batch size, and train with less memory than you thought.

What the report says on the CPU:

    Saved for backward, TinyCNN
      batch      bytes   a sample
          8    628,612   78,576.5
         16  1,257,220   78,576.2
         32  2,514,436   78,576.1
         64  5,028,868   78,576.1
      float32: 4 bytes and 78,576 for each sample
      bfloat16 autocast: 10,148 bytes and 39,312 for each sample
    Simulated GPU
      largest batch 230: 341 samples/s
      best batch 64: 1,524 samples/s
    Accumulation
      4 x 32 equals 128: max difference below 0.000001
    Checkpointing, 8 blocks
      saved bytes 851,968 -> 65,536 (13.0 x)
      forward runs 1 -> 2, gradients identical
    Losses
      training: 20 floats, 0 bytes held
      evaluation: 20 floats, 0 bytes held

Shapes: B is the batch size.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from statistics import linear_regression
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.checkpoint import checkpoint

from lesson_code.devices import choose_device
from lesson_code.lab.accumulation import UnderAutocast
from lesson_code.lab.models import BlockStack, TinyCNN
from lesson_code.lab.simulated_gpu import SimulatedGPU
from lesson_code.lab.todos import report_open_todos
from lesson_code.models import MNISTClassifier
from lesson_code.saved_tensors import SavedBytes

Batch = tuple[torch.Tensor, torch.Tensor]  # inputs and targets
Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]  # the mean over a batch


class MemoryLine(NamedTuple):
    """What backward needs, by batch size: close to fixed_bytes + per_sample_bytes * batch."""

    rows: list[tuple[int, int]]  # batch size and bytes
    fixed_bytes: float
    per_sample_bytes: float


class Cost(NamedTuple):
    """What a way to run blocks costs."""

    saved_bytes: int  # kept for backward when the forward pass has ended
    forward_runs: int  # how often each block computes its output, backward pass included


def random_digits(batch_size: int, device: torch.device) -> Batch:
    """Noise in the shape of digits, (B, 1, 28, 28), and labels, (B,), on the device."""
    images = torch.randn(batch_size, 1, 28, 28, device=device)
    return images, torch.randint(10, (batch_size,), device=device)


def train_plainly(
    model: nn.Module, batches: Iterable[Batch], optimizer: torch.optim.Optimizer, loss_fn: Loss
) -> int:
    """Train without accumulation: a step for each batch. Returns the number of steps."""
    steps = 0
    for inputs, targets in batches:
        optimizer.zero_grad()
        loss_fn(model(inputs), targets).backward()
        optimizer.step()
        steps += 1
    return steps


def plain_forward(blocks: nn.Sequential, x: torch.Tensor) -> torch.Tensor:
    """Run one block after the other."""
    for block in blocks:
        x = block(x)
    return x


# --8<-- [start:memory_per_batch]
def memory_per_batch(
    make_model: Callable[[], nn.Module], batch_sizes: Sequence[int], device: torch.device
) -> MemoryLine:
    """What a forward pass and its cross entropy save for backward, for several batch sizes.

    The inputs count, the parameters don't. Model and batch are on the device.
    """
    # BLANK 3.1: measure memory for each batch size
    #: Run a forward pass and its loss for each size under a meter, and read it while the loss is
    #: still there. Then lay a straight line through the points: part of the bytes has nothing to do
    #: with the batch. Look up: SavedBytes in lesson_code/saved_tensors.py, linear_regression.
    rows = []
    for batch_size in batch_sizes:
        model = make_model().to(device)
        images, labels = random_digits(batch_size, device)
        meter = SavedBytes(model)
        with meter:
            loss = cross_entropy(model(images), labels)
        rows.append((batch_size, meter.total()))
        del loss  # until here it kept the graph, and the graph what was saved
    per_sample, fixed = linear_regression(*zip(*rows, strict=True))
    return MemoryLine(rows, fixed, per_sample)
    # END


# --8<-- [end:memory_per_batch]


# --8<-- [start:largest_batch]
def largest_batch(
    step: Callable[[int], object],
    start: int = 1,
    limit: int = 65536,
    cleanup: Callable[[], None] | None = None,
) -> int:
    """The largest batch size with which ``step`` works, 0 if none does.

    Args:
        step: Gets a batch size; raises ``torch.OutOfMemoryError`` if the batch does not fit.
            Every other error is a bug, and comes out.
        start: The first size to try; it may be too large.
        limit: No larger size is tried.
        cleanup: Gives back what a failed step left behind; called after every failure.
    """
    # BLANK 3.2: find the largest batch
    #: Two phases. Grow: try larger and larger sizes until one fails or the limit is reached.
    #: Then narrow: the answer lies between the last size that worked and the first that failed.
    #: Look up: torch.OutOfMemoryError, and what an exception keeps alive while it is handled.
    works, fails = 0, limit + 1
    size = min(start, limit)
    while works + 1 < fails:
        if _fits(step, size):
            works = size
        else:
            fails = size
            if cleanup:
                cleanup()
        still_growing = fails > limit
        size = min(2 * works, limit) if still_growing else (works + fails) // 2
    return works
    # END


# OURS
def _fits(step: Callable[[int], object], size: int) -> bool:
    try:
        step(size)
    except torch.OutOfMemoryError:
        return False  # and on leaving, the exception lets go of the failed step's tensors
    return True


# END


# --8<-- [end:largest_batch]


# --8<-- [start:best_batch]
def best_batch(seconds: Callable[[int], float], candidates: Sequence[int]) -> int:
    """The candidate with the most samples per second.

    Args:
        seconds: How long a step takes with a batch size.
        candidates: Batch sizes that fit, in any order.
    """
    # BLANK 3.2: find the best batch
    #: Neither the largest batch nor the shortest step need be the best: compare how many samples a
    #: second brings. Look up: the key of max.
    return max(candidates, key=lambda size: size / seconds(size))
    # END


# --8<-- [end:best_batch]


# --8<-- [start:accumulate]
def accumulate(
    model: nn.Module,
    batches: Iterable[Batch],
    optimizer: torch.optim.Optimizer,
    loss_fn: Loss,
    k: int,
) -> int:
    """Train with a step for every ``k`` batches, as if each group of them were one large batch.

    Batches may differ in size, and the last group may have fewer than ``k``. Memory is that of
    one batch, and of the gradients. ``loss_fn`` is a mean over the samples. The model may come with
    gradients of earlier work, which are no part of the first step.

    Returns:
        The number of optimizer steps.
    """
    # BLANK 3.3: accumulate gradients
    #: train_plainly above takes a step for each batch. What has to happen once a group, and what
    #: once a batch? A large batch's loss is the mean over its samples: how much of it is each small
    #: one's? Look up: Optimizer.zero_grad, and what backward does with gradients that exist.
    steps = 0
    for group in _groups(batches, k):
        samples = sum(len(targets) for _, targets in group)
        optimizer.zero_grad()
        for inputs, targets in group:
            share = len(targets) / samples
            (share * loss_fn(model(inputs), targets)).backward()
        optimizer.step()
        steps += 1
    return steps
    # END


# OURS
def _groups(batches: Iterable[Batch], k: int) -> Iterator[list[Batch]]:
    rest = iter(batches)
    while group := list(islice(rest, k)):
        yield group


# END


# --8<-- [end:accumulate]


# --8<-- [start:checkpointed_forward]
def checkpointed_forward(blocks: nn.Sequential, x: torch.Tensor) -> torch.Tensor:
    """Run one block after the other, and keep only the input of each for backward.

    Output and gradients are those of ``plain_forward``, bit for bit wherever two runs of that are.
    ``x`` need not require grad.
    """
    # BLANK 3.4: keep the inputs of blocks only
    #: plain_forward above keeps every activation. A checkpoint keeps the input of what it wraps,
    #: and runs it again in the backward pass. Wrap how much? And which of its two forms works when
    #: x requires no grad? Look up: torch.utils.checkpoint.checkpoint.
    for block in blocks:
        x = checkpoint(block, x, use_reentrant=False)
    return x
    # END


# --8<-- [end:checkpointed_forward]


# --8<-- [start:compare_checkpointing]
def compare_checkpointing(
    make_blocks: Callable[[], nn.Sequential], x: torch.Tensor
) -> tuple[Cost, Cost]:
    """What ``plain_forward`` costs, and then what ``checkpointed_forward`` costs.

    Bytes are read when the forward pass has ended, runs of a block when the backward pass has.
    """
    # BLANK 3.5: compare with and without
    #: Read the meter after the forward pass, then run a backward pass: the price is paid there.
    #: A recomputed block stops as soon as it has what it needs, so mind where you count.
    #: Look up: SavedBytes, register_forward_pre_hook, register_forward_hook.
    plain, checkpointed = (
        _cost(forward, make_blocks(), x) for forward in (plain_forward, checkpointed_forward)
    )
    return plain, checkpointed
    # END


# OURS
def _cost(
    forward: Callable[[nn.Sequential, torch.Tensor], torch.Tensor],
    blocks: nn.Sequential,
    x: torch.Tensor,
) -> Cost:
    runs: list[nn.Module] = []
    for block in blocks:
        # Before the block, not after it: a recomputation stops as soon as it has what it needs.
        block.register_forward_pre_hook(lambda block, _: runs.append(block))
    meter = SavedBytes(blocks)
    with meter:
        output = forward(blocks, x)
    saved_bytes = meter.total()
    output.sum().backward()
    return Cost(saved_bytes, len(runs) // len(blocks))


# END


# --8<-- [end:compare_checkpointing]


# --8<-- [start:collect_losses]
def collect_losses(
    model: nn.Module, batches: Iterable[Batch], loss_fn: Loss, train: bool
) -> list[float]:
    """The loss of each batch, as plain numbers.

    With ``train``, each loss is sent backward and the gradients add up in the parameters. Without,
    nothing is recorded for backward.
    """
    # BLANK 3.6: keep no graph alive
    #: A loss in a list holds everything that its backward pass would need. Keep the number instead,
    #: and record nothing where nobody calls backward.
    #: Look up: Tensor.item, torch.no_grad, torch.set_grad_enabled.
    losses = []
    with torch.set_grad_enabled(train):
        for inputs, targets in batches:
            loss = loss_fn(model(inputs), targets)
            if train:
                loss.backward()
            losses.append(loss.item())
    return losses
    # END


# --8<-- [end:collect_losses]


def print_report() -> dict[str, Any]:
    """Print what your functions find, and return the same numbers."""
    torch.manual_seed(0)
    device = choose_device()
    return {
        "memory": _report_memory(device),
        "batch": _report_batch_size(),
        "accumulation": _report_accumulation(device),
        "checkpointing": _report_checkpointing(device),
        "losses": _report_losses(device),
    }


def _report_memory(device: torch.device) -> dict[str, Any]:
    print("Saved for backward, TinyCNN")
    plain = memory_per_batch(TinyCNN, [8, 16, 32, 64], device)
    print(f"  {'batch':>5}{'bytes':>11}{'a sample':>11}")
    for batch_size, bytes_ in plain.rows:
        print(f"  {batch_size:>5}{bytes_:>11,}{bytes_ / batch_size:>11,.1f}")

    def half() -> nn.Module:
        return UnderAutocast(TinyCNN(), torch.bfloat16)

    found = {}
    lines = {"float32": plain, "bfloat16 autocast": memory_per_batch(half, [8, 64], device)}
    for name, line in lines.items():
        fixed, per_sample = round(line.fixed_bytes), round(line.per_sample_bytes)
        print(f"  {name}: {fixed:,} bytes and {per_sample:,} for each sample")
        found[name.split()[0]] = {"fixed": fixed, "per_sample": per_sample}
    return found


def _report_batch_size() -> dict[str, Any]:
    print("Simulated GPU")
    gpu = SimulatedGPU(230)
    largest = largest_batch(gpu)
    powers_of_two = [2**n for n in range(largest.bit_length())]
    best = best_batch(gpu, [*powers_of_two, largest])
    found: dict[str, float] = {}
    for name, size in (("largest", largest), ("best", best)):
        found[name], found[f"{name}_rate"] = size, size / gpu(size)
        print(f"  {name} batch {size}: {found[f'{name}_rate']:,.0f} samples/s")
    return found


def _report_accumulation(device: torch.device) -> dict[str, Any]:
    print("Accumulation")
    images, labels = random_digits(128, device)
    small_batches = list(zip(images.split(32), labels.split(32), strict=True))
    weights = []
    for batches, k in (([(images, labels)], 1), (small_batches, 4)):
        torch.manual_seed(0)
        model = MNISTClassifier().to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
        accumulate(model, batches, optimizer, cross_entropy, k)
        weights.append(nn.utils.parameters_to_vector(model.parameters()))
    difference = (weights[0] - weights[1]).abs().max().item()
    if difference < 1e-6:
        print("  4 x 32 equals 128: max difference below 0.000001")
    else:
        print(f"  4 x 32 differs from 128: max difference {difference:.6f}")
    return {"max_difference": difference}


def _report_checkpointing(device: torch.device) -> dict[str, Any]:
    print("Checkpointing, 8 blocks")
    x = torch.randn(32, 64, device=device)

    def make_blocks() -> nn.Sequential:
        torch.manual_seed(0)
        return BlockStack(8, 64, dropout=0.1).to(device).blocks

    plain, checkpointed = compare_checkpointing(make_blocks, x)
    gradients = []
    for forward in (plain_forward, checkpointed_forward):
        blocks = make_blocks()
        forward(blocks, x).sum().backward()
        gradients.append([parameter.grad for parameter in blocks.parameters()])
    identical = all(map(torch.equal, *gradients))
    print(
        f"  saved bytes {plain.saved_bytes:,} -> {checkpointed.saved_bytes:,}"
        f" ({plain.saved_bytes / checkpointed.saved_bytes:.1f} x)\n"
        f"  forward runs {plain.forward_runs} -> {checkpointed.forward_runs},"
        f" gradients {'identical' if identical else 'different'}"
    )
    return {
        "plain_bytes": plain.saved_bytes,
        "checkpointed_bytes": checkpointed.saved_bytes,
        "ratio": plain.saved_bytes / checkpointed.saved_bytes,
        "identical": identical,
    }


def _report_losses(device: torch.device) -> dict[str, Any]:
    print("Losses")
    model = MNISTClassifier().to(device)
    batches = [random_digits(32, device) for _ in range(20)]
    held = {}
    for name, train in (("training", True), ("evaluation", False)):
        meter = SavedBytes(model)
        with meter:
            losses = collect_losses(model, batches, cross_entropy, train)
        held[name] = meter.total()
        print(f"  {name}: {len(losses)} {type(losses[0]).__name__}s, {held[name]:,} bytes held")
    return held


def main() -> None:
    """Print the report, or what is left to do."""
    if not report_open_todos(__file__):
        print_report()


if __name__ == "__main__":
    main()
