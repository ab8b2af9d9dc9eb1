"""Running ``torch.compile`` in a benchmark: as if for the first time, or saying why it can't."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from benchmarks.cases import SkipPartError

# How the compiler's errors say that something is not installed (PyTorch 2.11 to 2.15, Triton).
MISSING = {
    "C++ compiler": "torch.compile needs a C++ compiler, and this machine has none that works",
    "C compiler": "Triton needs a C compiler, and this machine has none",
    "working triton installation": "torch.compile needs Triton on a GPU, and it is not installed",
}


@contextmanager
def compiler() -> Iterator[None]:
    """Let something be compiled within.

    Raises:
        SkipPartError: If the compiler that does it is missing.
    """
    with warnings.catch_warnings():
        # We leave TF32 off on purpose; PyTorch 2.11 advises against that.
        warnings.filterwarnings("ignore", message="TensorFloat32 tensor cores")
        try:
            yield
        except Exception as problem:  # each back end wraps the error in a class of its own
            for sign, reason in MISSING.items():
                if sign in str(problem):
                    raise SkipPartError(reason) from problem
            raise


@contextmanager
def nothing_compiled_yet() -> Iterator[None]:
    """Forget everything that was compiled, in memory and on disk, and again at the end."""
    torch.compiler.reset()
    with empty_cache():
        yield
    torch.compiler.reset()


@contextmanager
def empty_cache() -> Iterator[None]:
    """Find nothing in the caches of the compiler; what is compiled already need not be again.

    Within a second one, the first one's files stay until it ends.
    """
    from torch._inductor.utils import fresh_inductor_cache  # importing it takes seconds

    with fresh_inductor_cache():
        yield


def compile_something_small(device: torch.device) -> None:
    """Import the compiler and start it, so that the next one to use it does not pay for that."""
    torch.compile(torch.nn.functional.gelu)(torch.ones(64, device=device))
