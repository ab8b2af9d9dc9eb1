"""Compiling in a benchmark: a missing compiler is a reason in words, and nothing is left over."""

import os
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from benchmarks.cases import SkipPartError
from benchmarks.compiling import compiler, empty_cache, nothing_compiled_yet


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ("No working C++ compiler found in torch._inductor.config.cpp.cxx", r"needs a C\+\+"),
        ("Failed to find C compiler. Please specify via CC environment variable", "Triton needs"),
        ("Cannot find a working triton installation. Either the package", "it is not installed"),
    ],
)
def test_a_missing_compiler_is_a_reason_in_words(error: str, reason: str) -> None:
    """PyTorch's and Triton's errors become one sentence each."""
    with pytest.raises(SkipPartError, match=reason), compiler():
        raise RuntimeError(error)


def test_other_errors_pass() -> None:
    """What is wrong with our code is not taken for a missing compiler."""
    with pytest.raises(ValueError, match="ours"), compiler():
        raise ValueError("ours")


def test_the_advice_to_allow_tf32_is_not_heard() -> None:
    """TF32 is off on purpose; any other warning is an error in a test as before."""
    with compiler():
        warnings.warn("TensorFloat32 tensor cores for float32 ... not enabled", stacklevel=1)

    with pytest.raises(UserWarning, match="other"), compiler():
        warnings.warn("other", stacklevel=1)


def test_pytorch_says_so_where_no_compiler_is_installed() -> None:
    """The error that PyTorch raises without a C++ compiler is one that we know."""
    from torch._inductor import config  # importing it takes seconds

    with (
        config.patch({"cpp.cxx": ("no-such-compiler",)}),
        pytest.raises(SkipPartError, match=r"torch.compile needs a C\+\+ compiler"),
        compiler(),
        nothing_compiled_yet(),
    ):
        torch.compile(lambda x: torch.relu(x + 1))(torch.ones(8))
    torch.compiler.reset()


def test_nothing_compiled_before_is_found() -> None:
    """Within, compiled code goes to a new and empty folder; afterwards the old one is back."""
    before = os.environ.get("TORCHINDUCTOR_CACHE_DIR")

    with nothing_compiled_yet():
        within = os.environ["TORCHINDUCTOR_CACHE_DIR"]

    assert within != before
    assert within != os.environ.get("TORCHINDUCTOR_CACHE_DIR")
    assert not Path(within).exists()


def test_an_empty_cache_within_another_leaves_the_first_ones_files() -> None:
    """What was compiled first is still in use, and its files go when its own cache ends."""
    with empty_cache():
        first = Path(os.environ["TORCHINDUCTOR_CACHE_DIR"])
        with empty_cache():
            second = Path(os.environ["TORCHINDUCTOR_CACHE_DIR"])

            assert first != second
            assert not list(second.iterdir())
            assert first.exists()
        assert first == Path(os.environ["TORCHINDUCTOR_CACHE_DIR"])

    assert not first.exists()


def test_what_is_compiled_stays_so_when_an_empty_cache_comes() -> None:
    """Only new functions are compiled; a back end that counts stands in for the real one."""
    compiled: list[str] = []

    def counting(name: str) -> Callable[[torch.fx.GraphModule, object], Callable[..., object]]:
        def backend(graph: torch.fx.GraphModule, _: object) -> Callable[..., object]:
            compiled.append(name)
            return graph.forward

        return backend

    first = torch.compile(lambda x: x + 1, backend=counting("first"))
    second = torch.compile(lambda x: x + 2, backend=counting("second"))

    with nothing_compiled_yet():
        first(torch.ones(2))
        with empty_cache():
            second(torch.ones(2))
            first(torch.ones(2))

    assert ["first", "second"] == compiled
