"""The suite on a machine that has a GPU and none of the site's tools."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import warnings
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.building import REPOSITORY
from tests.imports import packages_of
from tests.warm import Parent

# What a GPU machine may have all the same: other libraries bring these along.
BROUGHT = {"pygments", "click"}


def imported_by(extra: str) -> tuple[str, ...]:
    """The names under which Python finds what an extra of this project installs."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = {
        re.split(r"[=>]", asked)[0] for asked in project["project"]["optional-dependencies"][extra]
    }
    return tuple(
        name
        for name, distributions in packages_distributions().items()
        if wanted & {each.lower().replace("_", "-") for each in distributions}
        and name not in BROUGHT
    )


@cache
def site_tools() -> tuple[str, ...]:
    """All that only the site and its tests need."""
    return (
        *imported_by("site"),
        *("playwright", "jsonschema", "onnx", "onnxscript", "onnxruntime"),
        *("jupyter_server", "websocket"),
    )


TORCH = ("torch", "torchvision")
# Behaves as if some tools were not installed.
WITHOUT = """
import importlib.util, sys
import pytest
missing = sys.argv.pop(1).split()
for name in missing:
    sys.modules[name] = None
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name in missing else found(name, *more)
sys.exit(pytest.main(["--collect-only", "-q", "-q", "-p", "no:cacheprovider", *sys.argv[1:]]))
"""


ALONE = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def collecting(*arguments: str, without: tuple[str, ...] = ()) -> list[str]:
    """The command that collects tests in a process without some tools, or all of the site."""
    return [sys.executable, "-c", WITHOUT, " ".join(without or site_tools()), *arguments]


def collect(
    *arguments: str, at: Path = REPOSITORY, without: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """Collect tests in such a process, without pytest's plugins."""
    command = collecting(*arguments, without=without)
    return subprocess.run(command, cwd=at, env=ALONE, capture_output=True, text=True, check=False)


def test_every_gpu_test_is_found_without_the_sites_tools(warm: Parent) -> None:
    """With ``-m gpu`` nothing of the site is needed, and what is left out needs no GPU."""
    found = warm.run(collecting("-m", "gpu", "--require-gpu"), cwd=REPOSITORY, env=ALONE)

    assert found.returncode == 0, found.stdout[-2000:] + found.stderr
    assert "tests/benchmarks/cases/test_matmul.py" in found.stdout
    assert "tests/recorded/test_recorded_outputs.py" in found.stdout


def test_outputs_are_recorded_without_the_sites_tools() -> None:
    """A GPU machine need not be able to build pages in order to record what their code prints."""
    code = "import runpy, sys; sys.modules |= dict.fromkeys(sys.argv.pop(1).split()); "
    code += "runpy.run_module('lesson_site', run_name='__main__', alter_sys=True)"
    command = [
        sys.executable,
        "-c",
        code,
        " ".join(site_tools()),
        "record",
        "lab/none:print_nothing",
    ]

    refused = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)

    assert 2 == refused.returncode
    assert refused.stderr.startswith("error: lab/none:print_nothing failed: ")


@pytest.mark.parametrize(
    "test",
    [
        "@pytest.mark.gpu\ndef test_it():\n    pass\n",
        "def test_it(\n    tmp_path, device: torch.device\n):\n    pass\n",
    ],
)
def test_a_gpu_test_in_a_room_that_is_left_out_stops_a_promised_run(
    test: str, tmp_path: Path
) -> None:
    """``--require-gpu`` never passes with fewer tests than there are."""
    for name in ("conftest.py", "building.py", "imports.py", "warm.py"):
        (tmp_path / "tests").mkdir(exist_ok=True)
        shutil.copy(REPOSITORY / "tests" / name, tmp_path / "tests" / name)
    shutil.copy(REPOSITORY / "pyproject.toml", tmp_path)
    room = tmp_path / "tests" / "site"
    room.mkdir()
    (room / "test_left_out.py").write_text(f"import pytest, torch\n\n\n{test}", encoding="utf-8")

    refused = collect("-m", "gpu", "--require-gpu", at=tmp_path)

    assert refused.returncode == pytest.ExitCode.USAGE_ERROR
    assert "site/test_left_out.py" in refused.stderr


def test_the_tests_of_pages_are_found_without_pytorch() -> None:
    """Only what compares a page with PyTorch is left out, and the last line names it."""
    found = collect("tests/assets", "tests/site", "tests/lesson_site", without=TORCH)

    assert found.returncode == 0, found.stdout[-2000:] + found.stderr
    assert "tests/site/test_pages.py" in found.stdout
    left_out = re.findall(r"[\w/]+\.py", found.stdout.strip().splitlines()[-1])
    assert all("torch" in packages_of(REPOSITORY / "tests" / name) for name in left_out)
    found_ones = re.findall(r"^tests/\S+\.py", found.stdout, re.MULTILINE)
    assert 3 * len(left_out) < len(found_ones)  # most of them need none


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


def test_no_line_of_this_test_is_counted() -> None:
    """Where lines are counted at all: of what runs here, no page shows a line."""
    assert not type(sys.gettrace()).__module__.startswith("coverage")
