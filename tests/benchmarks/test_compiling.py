"""Compiling in a benchmark: a missing compiler is a reason in words, and nothing is left over."""

import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from benchmarks.cases import SkipPartError
from benchmarks.compiling import compiler, nothing_compiled_yet

REPOSITORY = Path(__file__).parents[2]
# In a process of its own: PyTorch looks for a compiler once and remembers what it found.
WITHOUT_A_COMPILER = """
import torch
from benchmarks.cases import SkipPartError
from benchmarks.compiling import compiler, nothing_compiled_yet
try:
    with compiler(), nothing_compiled_yet():
        torch.compile(lambda x: torch.relu(x + 1))(torch.ones(8))
except SkipPartError as reason:
    print(reason)
"""


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
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT_A_COMPILER],
        cwd=REPOSITORY,
        env={**os.environ, "CXX": "no-such-compiler"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert "torch.compile needs a C++ compiler" in ran.stdout, ran.stderr


def test_nothing_compiled_before_is_found() -> None:
    """Within, compiled code goes to a new and empty folder; afterwards the old one is back."""
    before = os.environ.get("TORCHINDUCTOR_CACHE_DIR")

    with nothing_compiled_yet():
        within = os.environ["TORCHINDUCTOR_CACHE_DIR"]

    assert within != before
    assert within != os.environ.get("TORCHINDUCTOR_CACHE_DIR")
    assert not Path(within).exists()
