"""Activation checkpointing by hand, and where the short form goes wrong.

    python -m lesson_code.lab.checkpoint_by_hand my_checkpoint.py

checks ``checkpoint(run, *inputs)`` of that file against plain training.
Shapes: B is the batch size.
"""

import argparse
import sys
import warnings
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.utils import checkpoint as of_torch

from graders import report
from graders.answers import AnswerError, load
from graders.checks import require, todo
from graders.judging import judge
from lesson_code.lab.models import BlockStack
from lesson_code.saved_tensors import SavedBytes

Run = Callable[..., torch.Tensor]
Forward = Callable[[nn.Sequential, torch.Tensor], torch.Tensor]
WAY = 34  # letters of the first column


# --8<-- [start:by_hand]
class Recomputed(torch.autograd.Function):
    """Keeps what goes in, forgets what happens inside, and computes it again in backward."""

    @staticmethod
    def forward(ctx: Any, run: Run, *inputs: torch.Tensor) -> torch.Tensor:
        """Run without a graph, as every forward of a Function does."""
        ctx.run = run
        ctx.random_state = torch.get_rng_state()
        ctx.save_for_backward(*inputs)
        return run(*inputs)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Run again, this time with a graph, and go back through that."""
        inputs = [x.detach().requires_grad_(x.requires_grad) for x in ctx.saved_tensors]
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            torch.set_rng_state(ctx.random_state)
            output = ctx.run(*inputs)
        torch.autograd.backward(output, gradients)
        return None, *(x.grad for x in inputs)


def checkpoint(run: Run, *inputs: torch.Tensor) -> torch.Tensor:
    """Call ``run``, and keep only its inputs for backward."""
    output: torch.Tensor = Recomputed.apply(run, *inputs)
    return output


# --8<-- [end:by_hand]


def by_hand(blocks: nn.Sequential, x: torch.Tensor) -> torch.Tensor:
    """Every block under our checkpoint."""
    for block in blocks:
        x = checkpoint(block, x)
    return x


def by_torch(use_reentrant: bool, preserve_rng_state: bool = True) -> Forward:
    """Every block under PyTorch's checkpoint."""

    def forward(blocks: nn.Sequential, x: torch.Tensor) -> torch.Tensor:
        for block in blocks:
            x = of_torch.checkpoint(
                block, x, use_reentrant=use_reentrant, preserve_rng_state=preserve_rng_state
            )
        return x

    return forward


WAYS: dict[str, Forward] = {
    "plain": lambda blocks, x: blocks(x),
    "by hand": by_hand,
    "torch, use_reentrant=False": by_torch(use_reentrant=False),
    "torch, preserve_rng_state=False": by_torch(use_reentrant=False, preserve_rng_state=False),
}


# --8<-- [start:compare]
def outcome(forward: Forward) -> tuple[int, torch.Tensor, list[torch.Tensor]]:
    """The bytes saved for backward, the output, and all gradients of a stack with dropout."""
    torch.manual_seed(0)
    blocks = BlockStack(depth=8, width=64, dropout=0.1).blocks
    x = torch.randn(32, 64, requires_grad=True)
    meter = SavedBytes(blocks)
    with meter:
        output = forward(blocks, x)
    saved = meter.total()
    output.square().mean().backward()
    gradients = [tensor.grad for tensor in (x, *blocks.parameters()) if tensor.grad is not None]
    return saved, output, gradients


# --8<-- [end:compare]


def print_by_hand() -> dict[str, dict[str, float]]:
    """Print what each way saves, and how far its gradients lie from plain ones.

    Returns:
        Of each way the bytes ``saved`` and the largest ``difference``.
    """
    _, expected, exact = outcome(WAYS["plain"])
    found = {}
    print(f"{'8 blocks, width 64, batch 32':{WAY}}{'saved bytes':>12}  output  largest difference")
    for way, forward in WAYS.items():
        saved, output, gradients = outcome(forward)
        pairs = zip(gradients, exact, strict=True)
        difference = max((a - b).abs().max().item() for a, b in pairs)
        same = "equal" if torch.equal(output, expected) else "other"
        print(f"{way:{WAY}}{saved:>12,}  {same}   {difference:.1g}")
        found[way] = {"saved": saved, "difference": difference}
    return found


# --8<-- [start:trap]
def with_gradient(forward: Forward, input_needs_one: bool) -> tuple[int, int]:
    """How many parameters of the blocks, and of a head behind them, get a gradient."""
    torch.manual_seed(0)
    blocks, head = BlockStack(depth=2, width=8).blocks, nn.Linear(8, 1)
    x = torch.randn(4, 8, requires_grad=input_needs_one)
    head(forward(blocks, x)).mean().backward()
    counts = [sum(p.grad is not None for p in part.parameters()) for part in (blocks, head)]
    return counts[0], counts[1]


# --8<-- [end:trap]


def print_trap() -> dict[str, list[int]]:
    """Print which parameters are trained when the input requires a gradient, and when not.

    Returns:
        Of each way the parameters of the blocks that get a gradient: first without one for the
        input, then with one.
    """
    ways = {
        "by hand": by_hand,
        "torch, use_reentrant=True": by_torch(use_reentrant=True),
        "torch, use_reentrant=False": by_torch(use_reentrant=False),
    }
    found: dict[str, list[int]] = {}
    print(f"{'parameters with a gradient':{WAY}}{'blocks':>8}{'head':>6}")
    for way, forward in ways.items():
        found[way] = []
        for needs in (False, True):
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                blocks, head = with_gradient(forward, needs)
            print(f"{way:{WAY}}{blocks:>8}{head:>6}  input {'with' if needs else 'without'} grad")
            for warning in warned:
                print(f"  {warning.category.__name__}: {warning.message}")
            found[way].append(blocks)
    return found


# --8<-- [start:batch_norm]
def batch_norm_after(forward: Forward) -> tuple[int, float]:
    """Updates of batch norm in one step, and how far its mean has come to the batch's."""
    torch.manual_seed(0)
    norm = nn.BatchNorm1d(4)
    x = torch.full((8, 4), 3.0) + torch.randn(8, 4)
    x.requires_grad_()
    forward(nn.Sequential(norm), x).square().sum().backward()
    assert norm.num_batches_tracked is not None
    assert norm.running_mean is not None
    share = norm.running_mean / x.detach().mean(0)
    return int(norm.num_batches_tracked), share.mean().item()


# --8<-- [end:batch_norm]


def print_batch_norm() -> dict[str, int]:
    """Print what one step does to the running statistics.

    Returns:
        Of each way the number of updates.
    """
    found = {}
    print(f"{'one training step':{WAY}}updates  share of the way to the batch's mean")
    for way in ("plain", "by hand", "torch, use_reentrant=False"):
        found[way], share = batch_norm_after(WAYS[way])
        print(f"{way:{WAY}}{found[way]:>7}  {share:.2f}")
    return found


# The check of a reader's own function


def _against_plain(answer: Any, dropout: float) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """Output, gradients and the next random number, from the answer and from plain training."""
    torch.manual_seed(0)
    template = BlockStack(depth=3, width=8, dropout=dropout).blocks
    x = torch.randn(4, 8)
    results = []
    for forward in (
        lambda blocks, x: _chain(answer.checkpoint, blocks, x),
        WAYS["plain"],
    ):
        torch.manual_seed(1)
        blocks, own_x = deepcopy(template), x.clone().requires_grad_()
        output = forward(blocks, own_x)
        output.square().sum().backward()
        tensors = [output, *(t.grad for t in (own_x, *blocks.parameters())), torch.rand(1)]
        results.append([torch.tensor(float("nan")) if t is None else t for t in tensors])
    return results[0], results[1]


def _chain(
    checkpointed: Callable[..., torch.Tensor], blocks: nn.Sequential, x: torch.Tensor
) -> torch.Tensor:
    for block in blocks:
        x = checkpointed(block, x)
    return x


@todo("1", "the same gradients")
def gives_the_same_gradients(answer: Any) -> None:
    """Without dropout, everything is as in plain training."""
    found, expected = _against_plain(answer, dropout=0.0)
    wrong = sum(not torch.equal(a, b) for a, b in zip(found, expected, strict=True))
    require(
        wrong == 0,
        "the output and every gradient of plain training",
        f"{wrong} of {len(found)} that differ or are missing",
        "compute again under enable_grad, from inputs that are cut off with detach",
    )


@todo("2", "saves its inputs only")
def saves_only_inputs(answer: Any) -> None:
    """What happens inside is not kept."""
    blocks, x = BlockStack(depth=3, width=8).blocks, torch.randn(4, 8, requires_grad=True)
    meter = SavedBytes(blocks)
    with meter:
        output = _chain(answer.checkpoint, blocks, x)
    bytes_of_inputs, saved = 3 * x.nbytes, meter.by_dtype()
    del saved[torch.uint8]  # the random state, which may be kept in the same way
    require(
        saved.total() == bytes_of_inputs and output.grad_fn is not None,
        f"{bytes_of_inputs} bytes saved for three blocks, one input each",
        f"{saved.total()} bytes",
        "save_for_backward takes the inputs, and the block runs where no graph is recorded",
    )


@todo("3", "the same dropout")
def draws_the_same_dropout(answer: Any) -> None:
    """The second run drops what the first one dropped."""
    found, expected = _against_plain(answer, dropout=0.5)
    differences = zip(found[:-1], expected[:-1], strict=True)
    require(
        all(torch.equal(a, b) for a, b in differences),
        "the gradients of plain training, with dropout too",
        "others",
        "the second run needs the random state that the first one began with",
    )


@todo("4", "leaves the random numbers alone")
def leaves_random_numbers_alone(answer: Any) -> None:
    """After backward, the generator goes on where it was."""
    found, expected = _against_plain(answer, dropout=0.5)
    require(
        torch.equal(found[-1], expected[-1]),
        "the random number that plain training draws next",
        "another one",
        "what backward does to the generator should be undone: look up torch.random.fork_rng",
    )


@todo("5", "several inputs")
def takes_several_inputs(answer: Any) -> None:
    """Each input gets its own gradient, and one that needs none gets none."""
    a, b, c = (torch.tensor([float(n)], requires_grad=n < 3) for n in (1, 2, 3))
    answer.checkpoint(lambda a, b, c: a * b * b * c, a, b, c).sum().backward()
    found = [None if t.grad is None else t.grad.item() for t in (a, b, c)]
    require(
        found == [12.0, 12.0, None],
        "gradients 12, 12 and none of a * b * b * c at 1, 2 and 3, where c requires none",
        f"{found}",
        "backward returns something for every argument of forward, in their order",
    )


CHECKS = [made.check for made in list(globals().values()) if hasattr(made, "check")]


def main(arguments: list[str] | None = None) -> int:
    """Check a reader's own function; 0 if everything holds, 1 if not, 2 without a file to read."""
    parser = argparse.ArgumentParser(prog="python -m lesson_code.lab.checkpoint_by_hand")
    parser.add_argument("file", type=Path, help="has checkpoint(run, *inputs)")
    options = parser.parse_args(arguments)
    try:
        answer = load(options.file)
    except (AnswerError, OSError) as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    outcomes = [judge(check, answer, options.file) for check in CHECKS]
    for result in outcomes:
        print(report.line_of(result))
    print(report.total(outcomes))
    return 0 if report.passed(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
