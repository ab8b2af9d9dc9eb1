"""The suite on a machine that has a GPU and none of the site's tools."""

import subprocess
import sys
import warnings

from tests.building import REPOSITORY

# Behaves as if the site's tools were not installed.
WITHOUT_TOOLS = """
import importlib.util, sys
import pytest
missing = (
    *("mkdocs", "pymdownx", "playwright", "html5lib", "jsonschema", "plotly", "latex2mathml"),
    *("onnx", "onnxscript", "onnxruntime", "jupyter_server", "websocket"),
)
for name in missing:
    sys.modules[name] = None
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name in missing else found(name, *more)
sys.exit(pytest.main(["--collect-only", "-q", "-q", "-p", "no:cacheprovider", *sys.argv[1:]]))
"""


def collect(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Collect tests in a process that has none of the tools."""
    command = [sys.executable, "-c", WITHOUT_TOOLS, *arguments]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)


def test_gpu_tests_are_found_without_the_sites_tools() -> None:
    """With ``-m gpu`` nothing of the site is needed."""
    found = collect("-m", "gpu")

    assert found.returncode == 0, found.stdout[-2000:]
    assert "tests/benchmarks/cases/test_matmul.py" in found.stdout


def test_the_whole_suite_is_not_passed_off_as_complete() -> None:
    """Without ``-m gpu`` a missing tool is an error."""
    assert collect("tests/site/test_pages.py").returncode != 0


def test_what_a_gpu_says_in_backwards_thread_is_no_failure() -> None:
    """PyTorch warns once a process that it makes the context that was missing, and goes on."""
    warnings.warn(
        "Attempting to run cuBLAS, but there was no current CUDA context! Attempting to set the "
        "primary context... (Triggered internally at CublasHandlePool.cpp:330.)",
        UserWarning,
        stacklevel=1,
    )
