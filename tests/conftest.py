"""What all tests share: the GPU marker, the devices on which a test runs, and the built site.

PyTorch is imported where a test needs it, and nowhere else: those of pages run without it.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import re
import sys
import tempfile
from collections.abc import Generator, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.building import once, real_site, shared_folder
from tests.imports import packages_of
from tests.warm import Parent

if TYPE_CHECKING:
    import torch
    from coverage import Coverage

# A GPU machine may lack what builds the site, so a test that needs a GPU lives in no such room:
# the recorded outputs are compared in tests/recorded.
SITE_ROOMS = ("assets", "browser", "lesson_site", "results", "site")
SITE_TOOLS = ("mkdocs", "pymdownx", "playwright", "selectolax")
# Authors of pages may lack PyTorch: what these rooms have that needs it is then left out, and told.
PAGE_ROOMS = SITE_ROOMS
# The tests that run every line that a page or the notebook shows.
COUNTED = (
    "tests/lesson_code/",
    "tests/graders/lab/",
    "tests/graders/notebook/",
    "tests/graders/test_judging.py",
    "tests/graders/test_answers.py::test_a_kept_answer_is_judged_as_it_should_be[notebook-",
)
WITHOUT_TORCH: list[str] = []
# A grammar that jsonschema, which notebooks need, compiles for two seconds; no schema here uses it.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
# The marker, or the fixture below whose second value carries it.
NEEDS_GPU = re.compile(r"\bmark\.gpu\b|\bdevice: torch\.device\b")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the switches with which CI and a GPU runner forbid skipping."""
    parser.addoption(
        "--require-gpu", action="store_true", help="fail GPU tests where no GPU is found"
    )
    parser.addoption(
        "--require-browser",
        action="store_true",
        help="fail browser tests where no browser is found",
    )
    parser.addoption(
        "--require-firefox", action="store_true", help="fail Firefox's tests where it is not found"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuse to leave out what a GPU was promised for, and share the cores among workers.

    PyTorch would take all of them in each worker.

    Raises:
        UsageError: If a room that is left out has a test that needs a GPU.
    """
    missing = config.getoption("--require-gpu") and _without_site(config)
    if missing and (left_out := gpu_tests_of_the_site()):
        raise pytest.UsageError(
            f"--require-gpu was given, and {', '.join(left_out)} would be left out, as "
            f"{', '.join(missing)} can't be imported; move the GPU tests to another room"
        )
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if workers > 1:
        # PyTorch reads it when it is imported, here and in the processes that tests start.
        os.environ["OMP_NUM_THREADS"] = str(max(1, (os.cpu_count() or 1) // workers))
    # Threads that wait for each other sleep: awake they would take the processor from other tests.
    os.environ["OMP_WAIT_POLICY"] = "passive"
    # Without it a compiler with an empty cache first builds a library for each kind of instructions
    # that the processor has, four times what a small network takes; newer kinds are tried as ever.
    os.environ.setdefault("TORCHINDUCTOR_VEC_ISA_OK", "1")
    if capability := os.environ.get("ATEN_CPU_CAPABILITY"):
        # PyTorch keeps compiled code without regard to it, and would take that of another.
        kept = f"{tempfile.gettempdir()}/torchinductor-{capability}"
        os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", kept)


def _without_site(config: pytest.Config) -> list[str]:
    """The site's tools that are missing, where only GPU tests are asked for."""
    if config.getoption("markexpr") != "gpu":
        return []
    return [name for name in SITE_TOOLS if find_spec(name) is None]


def gpu_tests_of_the_site(tests: Path = Path(__file__).parent) -> list[str]:
    """Files in the rooms that may be left out which have tests that need a GPU."""
    return [
        file.relative_to(tests).as_posix()
        for room in SITE_ROOMS
        for file in sorted((tests / room).rglob("test_*.py"))
        if _asks_for_gpu(file)
    ]


def _asks_for_gpu(file: Path) -> bool:
    return NEEDS_GPU.search(file.read_text(encoding="utf-8")) is not None


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With ``-m gpu`` and without the site's tools, leave out files that have no such test.

    And where PyTorch is not, those of pages that need it.
    """
    tests = Path(__file__).parent
    if _without_site(config):
        if collection_path.parent == tests and collection_path.name in SITE_ROOMS:
            return True
        if collection_path.match("test_*.py") and not _asks_for_gpu(collection_path):
            return True
    if not collection_path.match("test_*.py") or find_spec("torch"):
        return None
    name = collection_path.relative_to(tests)
    if name.parts[0] in PAGE_ROOMS and "torch" in packages_of(collection_path):
        WITHOUT_TORCH.append(name.as_posix())
        return True
    return None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Count lines only in the tests of code that pages show, and in what they ask for.

    Counting takes two thirds more of a processor's time where Python is older than 3.12.
    """
    counts = item.nodeid.startswith(COUNTED) and not item.get_closest_marker("uncounted")
    stopped = [] if counts else list(_stop_counting())
    try:
        return (yield)
    finally:
        for each in reversed(stopped):
            each.start()


def _stop_counting() -> Iterator[Coverage]:
    """Stop whatever counts lines here: in a process of pytest-xdist, pytest-cov starts two."""
    if "coverage" not in sys.modules:
        return
    while counting := sys.modules["coverage"].Coverage.current():
        counting.stop()
        yield counting


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name what was left out for want of PyTorch."""
    if WITHOUT_TORCH:
        named = ", ".join(sorted(WITHOUT_TORCH))
        terminalreporter.write_line(f"left out, since PyTorch is not installed: {named}")


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say so when something is left out."""
    missing = _without_site(config)
    rooms = ", ".join(f"tests/{room}" for room in SITE_ROOMS)
    return f"{rooms}: left out, {', '.join(missing)} not installed" if missing else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage while tests are found: of what they import, hardly anything can go."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Spare the garbage collector what stays until the end: PyTorch and thousands of tests.

    Benchmarks collect garbage before they measure, and would go through all of it each time.
    """
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Let what was spared go, as libraries count at the end what is left over."""
    gc.unfreeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Begin with the same random numbers, whatever ran before; skip a GPU test without a GPU.

    Where a GPU was promised, that test fails instead.
    """
    if torch := sys.modules.get("torch"):
        # Where there is no GPU, PyTorch would write down each time who asked for a seed of one.
        there_is_one = torch.accelerator.is_available() or _has_gpu()
        (torch if there_is_one else torch.default_generator).manual_seed(0)
        _go_backward_once()
    if item.get_closest_marker("gpu") and not _has_gpu():
        reason = "no CUDA GPU here; run `pytest -m gpu --require-gpu` on a machine that has one"
        if item.config.getoption("--require-gpu"):
            pytest.fail(f"--require-gpu was given, but there is {reason}")
        pytest.skip(reason)


@functools.cache
def _go_backward_once() -> None:
    """Let forks train, whatever a test compiles before.

    Backward's first call starts a thread for each device other than the CPU that PyTorch knows;
    once anything was compiled it knows one, and a fork of a process with such threads cannot train.
    """
    sys.modules["torch"].ones((), requires_grad=True).backward()


@functools.cache
def _has_gpu() -> bool:
    import torch

    return torch.cuda.is_available()


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> torch.device:
    """Each device on which the behaviour has to hold: the CPU everywhere, and CUDA where it is."""
    import torch

    return torch.device(request.param)


@pytest.fixture(scope="session")
def built_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real site, built strictly and finished."""
    return once(shared_folder(tmp_path_factory) / "built_site", real_site)


@pytest.fixture(scope="session")
def changed_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository with a new section and new machines, built and finished."""
    from tests.changed import make

    return once(shared_folder(tmp_path_factory) / "changed_site", make)


@pytest.fixture(scope="session")
def warm() -> Iterator[Parent]:
    """Starts programs in processes that have PyTorch already."""
    with contextlib.closing(Parent()) as parent:
        yield parent


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Run PyTorch on one thread: small operations are faster so, and sums keep their order."""
    from lesson_code import devices

    with devices.one_thread():
        yield


@pytest.fixture
def any_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw no weights where only their shapes count: of a large model that takes seconds."""
    import torch

    for draw in ("normal_", "uniform_"):
        monkeypatch.setattr(torch.Tensor, draw, lambda tensor, *_, **__: tensor)
