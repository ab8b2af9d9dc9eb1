"""Is an operation fit to stand for relu(x · y + x) in training?

TRITON_INTERPRET=1 python -m lesson_code.lab.fused_check            # those of the lesson
TRITON_INTERPRET=1 python -m lesson_code.lab.fused_check my_own.py  # the operation `fused` in it
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import torch

from graders.answers import AnswerError, load
from graders.checks import WrongAnswerError, require
from lesson_code.devices import choose_device
from lesson_code.lab.fused_extension import cpp_operation, cuda_kernel
from lesson_code.lab.fused_kernel import (
    Operation,
    UnavailableError,
    fused_pytorch,
    in_pytorch,
    operation,
    triton_operation,
)

CPU = torch.device("cpu")


def examine(fused: Operation, device: torch.device) -> float:
    """Go through what can be wrong with an operation that shall stand for ``in_pytorch``.

    Returns:
        The largest difference of a value.

    Raises:
        WrongAnswerError: At the first thing that is wrong.
    """
    generator = torch.Generator(device).manual_seed(0)
    x, y = torch.randn(2, 5, 1000, device=device, generator=generator)  # no multiple of a block
    difference = (fused(x, y) - in_pytorch(x, y)).abs().max().item()
    require(difference < 1e-5, "the values of PyTorch", difference, "is each element written once")
    turned = (fused(x.t(), y.t()) - in_pytorch(x.t(), y.t())).abs().max().item()
    require(turned < 1e-5, "a transposed input to be right", turned, "its elements lie otherwise")
    not_a_number = fused(torch.full_like(x, torch.nan), y)[0, 0].item()
    require(not_a_number != not_a_number, "NaN to stay NaN", not_a_number, "a lost NaN hides a bug")

    inputs = x.requires_grad_(), y.requires_grad_()
    expected = torch.autograd.grad(in_pytorch(x, y).sum(), inputs)
    result = fused(x, y)
    require(result.requires_grad, "a result with a gradient", "none", "register the derivative")
    made = torch.autograd.grad(result.sum(), inputs)
    wrong = max((a - b).abs().max().item() for a, b in zip(expected, made, strict=True))
    require(
        wrong < 1e-5, "PyTorch's gradients", f"gradients that are {wrong:.3g} off", "derive again"
    )

    compiled = torch.compile(fused, backend="aot_eager", fullgraph=True)
    require(torch.equal(result, compiled(x, y)), "the same when compiled", "another", "look again")
    kind = type(fused).__name__
    registered = isinstance(fused, (torch.library.CustomOpDef, torch._ops.OpOverload))
    require(registered, "a registered operation", f"a {kind}", "give the kernel to operation()")
    return difference


def main(arguments: list[str] | None = None) -> int:
    """Examine the operation of a file, or all that the lesson has.

    Returns:
        0 if all is well, 1 if an operation is wrong, 2 if there is none to examine.
    """
    parser = argparse.ArgumentParser(prog="python -m lesson_code.lab.fused_check")
    parser.add_argument("file", type=Path, nargs="?", help="yours, with an operation fused(x, y)")
    file = parser.parse_args(arguments).file
    device = choose_device()
    if file is None:
        found = [
            told("PyTorch", lambda: fused_pytorch, device),
            told("Triton", lambda: triton_operation(device), device),
            told("C++", cpp_operation, CPU),
            told("CUDA C++", lambda: cuda_operation(device), device),
        ]
        return 0 if all(found) else 1
    try:
        fused = load(file).fused
    except AnswerError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    except AttributeError:
        print(f"error: {file.name} defines no operation fused", file=sys.stderr)
        return 2
    return 0 if told(file.name, lambda: fused, device) else 1


def told(name: str, make: Callable[[], Operation], device: torch.device) -> bool:
    """Print what an operation comes to; whether it is well or not to be had."""
    try:
        difference = examine(make(), device)
    except UnavailableError as reason:
        print(f"{name}: SKIPPED: {reason}")
    except WrongAnswerError as reason:
        print(f"{name}: FAIL: {reason}")
        return False
    except Exception as problem:
        print(f"{name}: FAIL: {type(problem).__name__}: {' '.join(str(problem).split())}")
        return False
    else:
        print(f"{name}: PASS, largest difference to PyTorch {difference:.3g}")
    return True


def cuda_operation(device: torch.device) -> Operation:
    """The CUDA C++ kernel as an operation; built only where there is a GPU and a compiler.

    Raises:
        UnavailableError: If either is missing.
    """
    if device.type != "cuda":
        raise UnavailableError("needs a CUDA GPU")
    return operation("fused_cuda", cuda_kernel(device))


if __name__ == "__main__":
    sys.exit(main())
