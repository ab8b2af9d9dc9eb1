"""Exercise 3: memory, counted by the saved-bytes meter, and a simulated GPU that runs out of it."""

import math
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any
from unittest.mock import patch

import torch
from torch import nn
from torch.nn.functional import cross_entropy, mse_loss
from torch.nn.utils import parameters_to_vector
from torch.utils.checkpoint import checkpoint

from graders.checks import advise, require, todo
from lesson_code.lab.accumulation import Batch, UnderAutocast, batches_of, classifier
from lesson_code.lab.models import BlockStack, TinyCNN
from lesson_code.lab.simulated_gpu import CALLS, SimulatedGPU, modelled_seconds
from lesson_code.saved_tensors import SavedBytes

Forward = Callable[[nn.Sequential, torch.Tensor], torch.Tensor]

CPU, META, GPU = torch.device("cpu"), torch.device("meta"), torch.device("cuda", 0)

# 3.1. What TinyCNN saves: the fixed bytes, and those of a sample.
FLOAT32 = (4, 78_576)
BFLOAT16 = (10_148, 39_312)  # the copies of the weights in 16 bits are fixed, too
WITH_LOSS = (4, 7_144)  # of a layer with 1,000 classes, of which the loss keeps 4,008
SIZES = [8, 16, 32]
TOLERANCE = 0.02

# 3.2
LIMITS = (37, 64, 100, 1000, 1, 0)
MOST_CALLS = 40
CANDIDATES = [1, 2, 4, 8, 16, 32, 64, 100, 128, 256]

# 3.3. Batches, and the steps that groups of four make of them.
LAYOUTS = {
    "8 batches of 32": ([32] * 8, 2),
    "10 batches of 32": ([32] * 10, 3),
    "7 batches of 32 and one of 8": ([32] * 7 + [8], 2),
}
ROUNDING = 1e-5
KINK = 1e-2  # share of an update: rounding decides where the input of a ReLU is almost zero

# 3.4 and 3.5. Eight blocks of width 64, a batch of 32.
PLAIN_BYTES, INPUT_BYTES = 851_968, 8_192
DEPTH = PLAIN_BYTES // (13 * INPUT_BYTES)
CHECKPOINTED_BYTES = DEPTH * INPUT_BYTES

# On a GPU
CAP_BYTES, SAMPLE_BYTES = 2**30, 2**24
LESS = 0.6


@todo("3.1", "measure memory for each batch size")
def measures_what_backward_needs(answer: Any) -> None:
    """The bytes of TinyCNN in float32, and under autocast, where a part does not grow.

    Of one layer with many classes, the loss keeps most.
    """
    _require_line(answer, TinyCNN, FLOAT32, "TinyCNN")
    _require_line(
        answer,
        lambda: UnderAutocast(TinyCNN(), torch.bfloat16),
        BFLOAT16,
        "TinyCNN under bfloat16 autocast",
    )
    _require_line(
        answer,
        lambda: nn.Sequential(nn.Flatten(), nn.Linear(784, 1000)),
        WITH_LOSS,
        "a single layer with 1,000 classes",
    )


def _require_line(
    answer: Any, make_model: Callable[[], nn.Module], expected: tuple[int, int], what: str
) -> None:
    found = answer.memory_per_batch(make_model, SIZES, CPU)
    require(
        isinstance(found, answer.MemoryLine),
        "a MemoryLine",
        repr(found),
        "return the rows, the fixed bytes and the bytes of a sample",
    )
    rows, fixed, per_sample = found
    expected_fixed, expected_per_sample = expected
    require(
        isinstance(rows, list)
        and all(isinstance(row, tuple) and len(row) == 2 for row in rows)
        and [batch_size for batch_size, _ in rows] == SIZES,
        f"rows for the batch sizes {SIZES}",
        f"{rows}",
        "a row is a batch size and its bytes",
    )
    for batch_size, bytes_ in rows:
        wanted = expected_fixed + expected_per_sample * batch_size
        require(
            math.isclose(bytes_, wanted, rel_tol=TOLERANCE),
            f"about {wanted:,} bytes for {batch_size} samples of {what}",
            f"{bytes_:,}",
            "read the meter before backward, while the loss is still there"
            if bytes_ == 0
            else "make a batch of the size that the row names, and leave out nothing but "
            "parameters: inputs, activations and what the loss keeps all count"
            if bytes_ < wanted
            else "parameters are there whatever the batch; tell the meter to leave them out",
        )
    require(
        abs(fixed - expected_fixed) < TOLERANCE * expected_per_sample
        and math.isclose(per_sample, expected_per_sample, rel_tol=TOLERANCE),
        f"{expected_fixed:,} fixed bytes and {expected_per_sample:,} for a sample of {what}",
        f"{fixed:,.0f} and {per_sample:,.0f}",
        "lay a straight line through the rows; bytes divided by the batch hide the fixed part",
    )


@todo("3.1", "measure memory for each batch size")
def measures_on_the_device(answer: Any) -> None:
    """Model and batch go where they should."""
    models: list[nn.Module] = []

    def make_model() -> nn.Module:
        models.append(TinyCNN())
        return models[-1]

    answer.memory_per_batch(make_model, SIZES, META)
    require(
        len(models) > 0 and all(p.device == META for m in models for p in m.parameters()),
        "the models on the device that was asked for",
        "models that stay on the CPU" if models else "no model at all",
        "move what make_model gives you",
    )


@todo("3.2", "find the largest batch")
def finds_the_largest_batch(answer: Any) -> None:
    """Exactly what fits, with few calls, and never while an exception is being handled."""
    for fits in (*LIMITS, random.randint(5, 60_000)):
        gpu = SimulatedGPU(fits)
        found = _search(answer, gpu)
        require(
            isinstance(found, int),
            "a batch size, which is an int, or 0 if none fits",
            repr(found),
            "return a number in every case, and divide with //",
        )
        require(
            found == fits,
            f"{fits}, the largest batch that the simulated GPU fits",
            found,
            "the last size that was tried is not always the last that worked"
            if found > fits
            else "search between the last success and the first failure",
        )
        require(
            len(gpu.tried) <= MOST_CALLS,
            f"at most {MOST_CALLS} calls of step to find {fits}",
            len(gpu.tried),
            "halve the gap between success and failure each time",
        )
        require(
            not gpu.called_while_handling,
            "no call of step while an exception is being handled",
            "one",
            "the exception keeps the failed step's tensors alive; leave the except block first",
        )


@todo("3.2", "find the largest batch")
def keeps_to_start_and_limit(answer: Any) -> None:
    """What fits without end ends at the limit, and a start that is too large is only a start."""
    for limit in (1000, random.randint(70, 900)):
        gpu = SimulatedGPU(sys.maxsize)
        found = _search(answer, gpu, limit=limit)
        require(
            found == limit and max(gpu.tried) <= limit,
            f"{limit} as the answer and as the largest size tried, with limit={limit} and memory "
            "without end",
            f"{found}, and {max(gpu.tried, default=0)} tried",
            "stop growing at the limit, and try the limit itself",
        )
    for start in (10, 64, random.randint(38, 500)):
        gpu = SimulatedGPU(37)
        found = _search(answer, gpu, start=start)
        require(
            found == 37,
            f"37 with start={start} on a GPU that fits 37",
            found,
            "if the first size fails, the answer lies below it",
        )
        require(
            gpu.tried[0] == start,
            f"{start} as the first size that is tried with start={start}",
            gpu.tried[0],
            "anyone who calls may know a size that nearly fits, and the search begins there",
        )
    gpu = SimulatedGPU(sys.maxsize)
    found = _search(answer, gpu, start=100, limit=50)
    require(
        found == 50 and max(gpu.tried, default=0) <= 50,
        "50 as the answer and as the largest size tried, with start=100 and limit=50",
        f"{found}, and {max(gpu.tried, default=0)} tried",
        "the limit holds for the first size, too",
    )


@todo("3.2", "find the largest batch")
def lets_bugs_out(answer: Any) -> None:
    """Only being out of memory says that a batch is too large."""
    for bug in (TypeError("a bug in the model"), RuntimeError("a bug in the model")):

        def step(_: int, bug: Exception = bug) -> float:
            raise bug

        try:
            found = answer.largest_batch(step)
        except type(bug):
            continue
        require(
            False,
            f"the {type(bug).__name__} of a step with a bug to come out",
            f"the answer {found}",
            "catch torch.OutOfMemoryError and nothing else",
        )


@todo("3.2", "find the largest batch")
def cleans_up_after_each_failure(answer: Any) -> None:
    """Between a failure and the next call there is a cleanup."""
    gpu = SimulatedGPU(37)
    events: list[str] = []
    too_early = False

    def step(batch_size: int) -> float:
        events.append("failure" if batch_size > 37 else "success")
        return gpu(batch_size)

    def cleanup() -> None:
        nonlocal too_early
        too_early |= sys.exception() is not None
        events.append("cleanup")

    _search(answer, step, cleanup=cleanup)
    failures = [i for i, event in enumerate(events) if event == "failure"]
    cleaned = sum(events[i + 1 : i + 2] == ["cleanup"] for i in failures)
    require(
        cleaned == len(failures),
        f"cleanup after each of {len(failures)} failures",
        f"after {cleaned}",
        "what a failed step left behind makes the next one fail as well",
    )
    if too_early:
        advise(
            "cleanup ran inside the except block, where the exception still holds the failed "
            "step's tensors; call it afterwards"
        )


def _search(answer: Any, step: Callable[[int], object], **options: Any) -> Any:
    try:
        return answer.largest_batch(step, **options)
    except SystemExit:
        require(
            False,
            f"at most {MOST_CALLS} calls of step",
            f"more than {CALLS}",
            "look for a search that begins anew after a failure, or has no end",
        )


@todo("3.2", "find the best batch")
def finds_the_best_batch(answer: Any) -> None:
    """The most samples per second, in whatever order the candidates come."""
    peak = random.choice([8, 16, 32, 128])

    def other_seconds(batch_size: int) -> float:
        return 0.02 + 0.001 * batch_size * max(1.0, batch_size / peak)

    gpus = (modelled_seconds, other_seconds, lambda batch_size: 1.0 + 0.001 * batch_size)
    orders = [CANDIDATES, sorted(CANDIDATES, key=str), random.sample(CANDIDATES, len(CANDIDATES))]
    for seconds, candidates in product(gpus, orders):
        found = answer.best_batch(SimulatedGPU(max(CANDIDATES), seconds), candidates)
        speeds = {size: size / seconds(size) for size in candidates}
        right = max(speeds, key=speeds.__getitem__)
        require(
            found == right,
            f"{right} of {candidates}, with {speeds[right]:,.0f} samples per second",
            found,
            "divide the samples of a step by its seconds, and compare all candidates",
        )


@contextmanager
def _memory_cap() -> Iterator[None]:
    """Leave PyTorch 1 GiB of the GPU, and put the limit back afterwards."""
    before = torch.cuda.get_per_process_memory_fraction(GPU)
    total = torch.cuda.get_device_properties(GPU).total_memory
    torch.cuda.empty_cache()
    torch.cuda.set_per_process_memory_fraction(CAP_BYTES / total, GPU)
    try:
        yield
    finally:
        torch.cuda.set_per_process_memory_fraction(before, GPU)


@todo("3.2", "on a GPU", gpu=True)
def finds_the_limit_of_a_gpu(answer: Any) -> None:
    """The real exception, under a cap that makes the search short."""

    def step(batch_size: int) -> None:
        torch.empty(batch_size * SAMPLE_BYTES, dtype=torch.uint8, device=GPU)

    def fits(batch_size: int) -> bool:
        try:
            step(batch_size)
        except torch.OutOfMemoryError:
            return False
        return True

    with _memory_cap():
        found = answer.largest_batch(step, cleanup=torch.cuda.empty_cache)
        torch.cuda.empty_cache()
        holds = found > 0 and fits(found) and not fits(found + 1)
    require(
        holds,
        "a size that fits 1 GiB of the GPU while the next one does not",
        found,
        "search between the last success and the first failure",
    )


def accumulation_error(
    accumulate: Callable[..., int], sizes: Sequence[int], k: int = 4
) -> tuple[float, int, int]:
    """Compare an answer with one batch for each group.

    Returns:
        How far the weights end from the right ones, as a share of how far those moved; the steps
        that the optimizer took; and the steps that the answer says it took.
    """
    model, reference = classifier(), classifier()
    start = parameters_to_vector(reference.parameters())
    batches = batches_of(sizes)
    steps = []
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    optimizer.register_step_post_hook(lambda *_: steps.append(1))
    returned = accumulate(model, batches, optimizer, cross_entropy, k)

    groups = [batches[i : i + k] for i in range(0, len(batches), k)]
    optimizer = torch.optim.SGD(reference.parameters(), lr=0.5)
    for images, labels in (map(torch.cat, zip(*group, strict=True)) for group in groups):
        optimizer.zero_grad()
        cross_entropy(reference(images), labels).backward()
        optimizer.step()
    found, right = (parameters_to_vector(m.parameters()) for m in (model, reference))
    return ((found - right).norm() / (right - start).norm()).item(), len(steps), returned


@todo("3.3", "accumulate gradients")
def equals_one_large_batch(answer: Any) -> None:
    """The weights of large batches, also where the last group or the last batch is smaller."""
    layouts = [(name, *layout, 4) for name, layout in LAYOUTS.items()]
    sizes, k = random.choices(range(4, 40), k=7), random.choice([2, 3, 5])
    layouts += [("7 batches of 32", [32] * 7, 7, 1)]
    layouts += [(f"batches of {sizes}", sizes, math.ceil(len(sizes) / k), k)]
    for name, sizes, wanted, k in layouts:
        error, steps, returned = accumulation_error(answer.accumulate, sizes, k)
        require(
            steps == wanted,
            f"{wanted} optimizer steps for {name} with k={k}",
            steps,
            "one step for each group, and what is left over is a group as well",
        )
        require(
            error < KINK,
            f"the weights that large batches give, for {name} with k={k}",
            f"weights that are off by {error:.2f} of the update",
            "the gradient of a group is the mean over its samples, no more and no less",
        )
        require(
            returned == steps,
            f"{steps}, the number of steps, as the result for {name}",
            returned,
            "count the steps",
        )


@todo("3.3", "accumulate gradients")
def clears_what_was_there(answer: Any) -> None:
    """Gradients of earlier work are not part of the first step."""
    weights = []
    for earlier in (0.0, 1.0):
        model = classifier()
        for parameter in model.parameters():
            parameter.grad = torch.full_like(parameter, earlier)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
        answer.accumulate(model, batches_of([32] * 4), optimizer, cross_entropy, 4)
        weights.append(parameters_to_vector(model.parameters()))
    clean, found = weights
    require(
        torch.equal(clean, found),
        "the same weights, whatever gradients the model had before",
        f"weights that differ by up to {(found - clean).abs().max().item():.2g}",
        "clear the gradients at the start of each group, the first one too",
    )


@todo("3.3", "accumulate gradients")
def needs_memory_for_one_batch(answer: Any) -> None:
    """No large batch is put together, and no graph waits for a later backward pass."""
    model = classifier()
    meter = SavedBytes(model)
    sizes: list[int] = []
    held: list[int] = []

    def look(_: nn.Module, inputs: tuple[torch.Tensor, ...]) -> None:
        sizes.append(len(inputs[0]))
        held.append(meter.total())

    model.register_forward_pre_hook(look)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    batches = batches_of([32] * 8)
    with meter:
        answer.accumulate(model, batches, optimizer, cross_entropy, 4)
    require(
        max(sizes, default=0) <= 32,
        "batches of 32 in each forward pass, as they come",
        f"one of {max(sizes, default=0)}",
        "a large batch that is put together needs the memory of a large batch",
    )
    require(
        max(held, default=0) < _saved_by(model, *batches[0]) / 10,
        "nothing saved by earlier batches when a batch begins",
        f"{max(held, default=0):,} bytes",
        "send each loss backward before the next batch; a sum of losses keeps all their graphs",
    )


def _saved_by(model: nn.Module, inputs: torch.Tensor, targets: torch.Tensor) -> int:
    """The bytes that one batch saves."""
    meter = SavedBytes(model)
    with meter:
        loss = cross_entropy(model(inputs), targets)
    saved = meter.total()
    del loss
    return saved


@todo("3.3", "on a GPU", gpu=True)
def accumulates_within_less_memory_on_a_gpu(answer: Any) -> None:
    """The peak of four small batches lies below that of a large one."""
    x = torch.randn(4096, 256, device=GPU)
    peaks = []
    for batches in ([(x, x)], list(zip(x.split(1024), x.split(1024), strict=True))):
        model = BlockStack(8, 256).to(GPU)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        train = partial(answer.accumulate, model, batches, optimizer, mse_loss, 4)
        peaks.append(_peak_bytes(train))
    _require_less(peaks, "four batches of 1,024 in place of one of 4,096")


@dataclass(frozen=True)
class Run:
    """What came of a forward and a backward pass through blocks.

    Attributes:
        saved: Bytes kept when the forward pass had ended.
        output: What the last block gave.
        gradients: Those of the parameters; empty if the output carried no graph.
        events: ``f3`` when block 3 began to compute, ``b3`` when the backward pass reached it.
    """

    saved: int
    output: torch.Tensor
    gradients: list[torch.Tensor | None]
    events: list[str]


class _Mark(torch.autograd.Function):
    """Passes a tensor on, and notes when its gradient comes back."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, events: list[str], event: str) -> torch.Tensor:
        ctx.note = lambda: events.append(event)
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        ctx.note()
        return gradients[0], None, None


class _Noted(nn.Module):
    """A block that notes when it begins, and when the backward pass reaches its end."""

    def __init__(self, block: nn.Module, number: int, events: list[str]) -> None:
        super().__init__()
        self.block, self.number, self.events = block, number, events

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.events.append(f"f{self.number}")
        output: torch.Tensor = _Mark.apply(self.block(x), self.events, f"b{self.number}")
        return output


def run_blocks(forward: Forward, depth: int = DEPTH) -> Run:
    """Send 32 rows, which require no grad, through blocks of width 64 with dropout 0.1."""
    torch.manual_seed(0)
    events: list[str] = []
    stack = BlockStack(depth, 64, dropout=0.1)
    blocks = nn.Sequential(*(_Noted(block, i, events) for i, block in enumerate(stack.blocks)))
    x = torch.randn(32, 64)
    meter = SavedBytes(blocks)
    with meter:
        output = forward(blocks, x)
    saved = meter.total()
    if not isinstance(output, torch.Tensor) or not output.requires_grad:
        return Run(saved, output, [], events)
    output.sum().backward()
    return Run(saved, output.detach(), [p.grad for p in blocks.parameters()], events)


def in_turn(events: list[str], depth: int) -> bool:
    """Whether each block was computed again right where its own backward pass was due."""
    again = events[depth:]
    pairs = [set(pair) for pair in zip(again[::2], again[1::2], strict=False)]
    return pairs == [{f"f{i}", f"b{i}"} for i in reversed(range(depth))]


@todo("3.4", "keep the inputs of blocks only")
def checkpoints_each_block(answer: Any) -> None:
    """The gradients of a plain run, from the inputs of the blocks alone."""
    short = run_blocks(answer.checkpointed_forward, 3)
    require(
        torch.equal(short.output, run_blocks(_plain_forward, 3).output),
        "the output of plain_forward for 3 blocks",
        "another one",
        "run all blocks that there are, one after the other",
    )
    plain, found = run_blocks(_plain_forward), run_blocks(answer.checkpointed_forward)
    require(
        bool(found.gradients),
        "an output that carries a graph, although x requires no grad",
        "one without, so that no block gets a gradient",
        "one of the two forms of checkpoint needs an input that requires grad; choose the other",
    )
    require(
        found.saved <= 2 * CHECKPOINTED_BYTES,
        f"about {CHECKPOINTED_BYTES:,} bytes saved for {DEPTH} blocks, the input of each",
        f"{found.saved:,}",
        "each block has to run inside a checkpoint of its own, the last one too",
    )
    require(
        torch.equal(found.output, plain.output),
        "the output of plain_forward",
        "another one",
        "pass the output of each block to the next",
    )
    missing = sum(gradient is None for gradient in found.gradients)
    require(
        missing == 0,
        "a gradient for each parameter",
        f"none for {missing} of {len(found.gradients)}",
        "the output of each block has to reach the next with its graph",
    )
    pairs = zip(plain.gradients, found.gradients, strict=True)
    furthest = max((a - b).abs().max().item() for a, b in pairs if a is not None and b is not None)
    require(
        furthest == 0,
        "the gradients of plain_forward, bit for bit",
        f"a difference of {furthest:.2g}",
        "the second run needs the same block and the same dropout as the first",
    )
    runs = [found.events.count(f"f{i}") for i in range(DEPTH)]
    require(
        runs == [2] * DEPTH,
        "two runs of each block, one in the forward pass and one in the backward pass",
        f"{runs}",
        "checkpoint has to run the block itself, not to look at its result",
    )
    require(
        in_turn(found.events, DEPTH),
        "each block to be computed again right before its own backward pass",
        " ".join(found.events),
        "a checkpoint around several blocks brings all their activations back at once",
    )


@todo("3.4", "keep the inputs of blocks only")
def sends_gradients_on(answer: Any) -> None:
    """Layers before the blocks get their gradients, too."""
    gradients = []
    for forward in (_plain_forward, answer.checkpointed_forward):
        torch.manual_seed(0)
        before, blocks = nn.Linear(8, 64), BlockStack(2, 64).blocks
        forward(blocks, before(torch.ones(4, 8))).sum().backward()
        gradients.append(before.weight.grad)
    plain, found = gradients
    require(
        _same(plain, found),
        "the gradient of plain_forward in a layer before the blocks",
        "none" if found is None else "another one",
        "pass x on with the graph that it came with",
    )


def _same(plain: torch.Tensor | None, found: torch.Tensor | None) -> bool:
    return plain is not None and found is not None and torch.equal(plain, found)


def _plain_forward(blocks: nn.Sequential, x: torch.Tensor) -> torch.Tensor:
    output: torch.Tensor = blocks(x)
    return output


def _forward_and_backward(forward: Forward, blocks: nn.Sequential, x: torch.Tensor) -> None:
    forward(blocks, x).sum().backward()


def _checkpointed_forward(blocks: nn.Sequential, x: torch.Tensor) -> torch.Tensor:
    for block in blocks:
        x = checkpoint(block, x, use_reentrant=False)
    return x


@todo("3.4", "on a GPU", gpu=True)
def checkpoints_within_less_memory_on_a_gpu(answer: Any) -> None:
    """The peak lies below that of a plain run."""
    stack = BlockStack(8, 256).to(GPU)
    x = torch.randn(4096, 256, device=GPU)
    peaks = [
        _peak_bytes(partial(_forward_and_backward, forward, stack.blocks, x))
        for forward in (_plain_forward, answer.checkpointed_forward)
    ]
    _require_less(peaks, "eight blocks with checkpointing in place of without")


@todo("3.5", "compare with and without")
def compares_both_ways(answer: Any) -> None:
    """Bytes and runs of both, whatever became of 3.4."""
    x = torch.randn(32, 64)

    def make_blocks() -> nn.Sequential:
        return BlockStack(DEPTH, 64, dropout=0.1).blocks

    with patch.object(answer, "checkpointed_forward", _checkpointed_forward, create=True):
        found = answer.compare_checkpointing(make_blocks, x)
    require(
        isinstance(found, tuple)
        and len(found) == 2
        and all(isinstance(cost, answer.Cost) for cost in found),
        "two Costs",
        repr(found),
        "return what the plain pass costs, and then what the checkpointed one costs",
    )
    expected = (("plain_forward", PLAIN_BYTES, 1), ("checkpointed_forward", CHECKPOINTED_BYTES, 2))
    for (name, wanted, runs), (saved_bytes, forward_runs) in zip(expected, found, strict=True):
        require(
            wanted <= saved_bytes <= wanted + 2 * INPUT_BYTES,  # a loss may save something, too
            f"about {wanted:,} bytes saved by {name}",
            f"{saved_bytes:,}",
            "read the meter between forward and backward, and leave out nothing but parameters",
        )
        require(
            forward_runs == runs,
            f"{runs} {'runs' if runs > 1 else 'run'} of each block with {name}",
            forward_runs,
            "count the runs of one block, and take new blocks for each way"
            if forward_runs > runs
            else "run backward too, and count where a block begins; a second run stops early",
        )


@todo("3.6", "keep no graph alive")
def keeps_numbers_only(answer: Any) -> None:
    """Floats, and nothing that graphs need, in training and in evaluation."""
    for train in (True, False):
        where = "training" if train else "evaluation"
        model, batches = small_model(), small_batches()
        expected, gradients = _losses_and_gradients(model, batches)
        meter = SavedBytes(model)
        before, after = _watch(model, meter)
        with meter:
            losses = answer.collect_losses(model, batches, cross_entropy, train)
        _require_nothing_held(meter.total(), where)
        require(
            isinstance(losses, list) and all(isinstance(loss, float) for loss in losses),
            f"a list of floats after {where}",
            f"list of {type(losses[0]).__name__}"
            if isinstance(losses, list) and losses
            else repr(losses),
            "a number is enough for the log; a tensor brings its device along",
        )
        require(
            len(losses) == len(expected) and all(map(_close, losses, expected)),
            f"the loss of each of {len(expected)} batches",
            f"{losses[:3]}, {len(losses)} in all",
            "one loss a batch, in order, and no step of an optimizer between",
        )
        with_gradient = [p.grad is not None for p in model.parameters()]
        require(
            with_gradient == [train] * len(with_gradient),
            f"{'gradients' if train else 'no gradients'} in the parameters after {where}",
            f"{sum(with_gradient)} of {len(with_gradient)} parameters with one",
            "send each loss backward if train is true, and only then",
        )
        require(
            not train or all(map(_same_gradient, (p.grad for p in model.parameters()), gradients)),
            "the sum of all batches' gradients in the parameters after training",
            "other gradients",
            "backward adds to what is there; neither clear nor divide it",
        )
        _require_no_graphs_beside(before if train else after, where)
        require(
            torch.is_grad_enabled() and all(p.requires_grad for p in model.parameters()),
            f"gradients to be recorded again after {where}",
            "gradients that stay switched off",
            "a with block puts back what it found",
        )


def _losses_and_gradients(
    model: nn.Module, batches: list[Batch]
) -> tuple[list[float], list[torch.Tensor]]:
    """The loss of each batch, and the gradient of their sum."""
    losses = [cross_entropy(model(x), y) for x, y in batches]
    gradients = torch.autograd.grad(sum(losses, torch.zeros(())), list(model.parameters()))
    return [loss.item() for loss in losses], list(gradients)


def _same_gradient(found: torch.Tensor | None, expected: torch.Tensor) -> bool:
    return found is not None and bool((found - expected).norm() <= 1e-4 * expected.norm())


def _close(found: float, expected: float) -> bool:
    return math.isclose(found, expected, rel_tol=ROUNDING)


def small_model() -> nn.Module:
    """64-256-10, with the same weights on every call."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10))


def small_batches() -> list[Batch]:
    """Twenty batches of 32."""
    return [(torch.randn(32, 64), torch.randint(10, (32,))) for _ in range(20)]


def _watch(model: nn.Module, meter: SavedBytes) -> tuple[list[int], list[int]]:
    """Lists that fill with what the meter says before and after each forward pass."""
    before: list[int] = []
    after: list[int] = []
    model.register_forward_pre_hook(lambda *_: before.append(meter.total()))
    model.register_forward_hook(lambda *_: after.append(meter.total()))
    return before, after


def _require_nothing_held(held: int, where: str) -> None:
    require(
        held == 0,
        f"0 bytes held by graphs when {where} is over",
        f"{held:,}",
        "something that you keep points at the end of a graph; keep its number",
    )


def _require_no_graphs_beside(held: list[int], where: str) -> None:
    require(
        max(held, default=0) == 0,
        "0 bytes held by earlier batches when a batch begins in training"
        if where == "training"
        else "nothing to be saved for backward in evaluation",
        f"{max(held, default=0):,} bytes",
        "send each loss backward before the next batch"
        if where == "training"
        else "nobody calls backward there, so say that no gradients are wanted",
    )


def _peak_bytes(work: Callable[[], object]) -> int:
    """The most GPU memory that a repeated piece of work takes beyond what is there before."""
    work()  # the first time, libraries take memory for themselves
    torch.cuda.synchronize(GPU)
    torch.cuda.reset_peak_memory_stats(GPU)
    before = torch.cuda.memory_allocated(GPU)
    work()
    torch.cuda.synchronize(GPU)
    return torch.cuda.max_memory_allocated(GPU) - before


def _require_less(peaks: list[int], what: str) -> None:
    much, little = peaks
    require(
        little < LESS * much,
        f"a peak below {LESS:.0%} of {much:,} bytes for {what}",
        f"{little:,}",
        "what is still held when the next part begins adds to the peak",
    )
