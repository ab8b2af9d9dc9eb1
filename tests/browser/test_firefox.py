"""A second browser engine: pages without complaints, Python in the page, and the race."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.conftest import QuietServer
from tests.firefox import Window, firefox
from tests.runnable_snippets import printed, runnable

pytestmark = pytest.mark.firefox
PAGES = ("", "gpu-training/a-timing-challenge/", "mission/", "lab/memory-mathematics/")
SECTION = "mission/architecture.py:count"
# Elements that a reader can see wake when they come near; these wait until they are used. A check
# loads more once it is awake, and leaving a page before that has come is an error on its console.
SEEN = """(() => {
  const resting = "run-cell, reader-card, forecast-gpu";
  const waking = `:not(:defined, ${resting}), lesson-check:not([data-state])`;
  const asleep = [...document.querySelectorAll(`article :is(${waking})`)];
  const next = asleep.find((element) => element.checkVisibility());
  next?.scrollIntoView();
  return !next;
})()"""
CELL = f"document.querySelector('figure[data-run-of=\"{SECTION}\"] run-cell')"
RACE = "document.querySelector('race-gpu')"


@pytest.fixture(scope="module")
def window(
    server: QuietServer, built_site: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Window]:
    """One Firefox for all tests."""
    with firefox(tmp_path_factory.mktemp("firefox")) as window:
        yield window


@pytest.fixture(scope="module")
def root(server: QuietServer) -> str:
    """The site's address, which is a secure context as it is on this machine."""
    return f"http://127.0.0.1:{server.server_port}/"


@pytest.mark.parametrize("address", PAGES)
def test_pages_open_without_a_complaint(window: Window, root: str, address: str) -> None:
    """Every element is defined once the reader comes near, and the policy stops nothing."""
    window.errors.clear()

    window.open(root + address)
    window.wait_for("document.querySelector('article h1') !== null")
    window.wait_for(SEEN)

    assert [] == window.errors


def test_a_snippet_prints_what_cpython_prints(window: Window, root: str) -> None:
    """Python loads, runs and ends under the page's policy."""
    [snippet] = [each for each in runnable() if each.target == SECTION]
    [(fine, text)] = printed([snippet])
    window.errors.clear()
    window.open(root + snippet.address)

    window.wait_for(f"{CELL}?.querySelector('button') != null")
    window.evaluate(f"{CELL}.querySelector('button').click()")
    window.wait_for(f"{CELL}.querySelector('[role=status]')?.textContent === 'Finished.'")

    assert fine
    assert text == window.evaluate(f"{CELL}.querySelector('[role=log]').textContent")
    assert [] == window.errors


def test_the_processor_races_alone(window: Window, root: str) -> None:
    """Without WebGPU, as Firefox on Linux is, the page says so and the CPU's points are drawn."""
    window.errors.clear()
    window.open(f"{root}benchmarks/race/")
    window.wait_for(f"{RACE}?.querySelector('button') != null")

    window.evaluate(f"void ({RACE}.dataset.mostBatch = '16')")
    window.evaluate(f"{RACE}.querySelector('button').click()")
    window.wait_for(f"!['idle', 'loading', 'running'].includes({RACE}.dataset.state)")

    said = window.evaluate(f"{RACE}.textContent")
    assert "finished" == window.evaluate(f"{RACE}.dataset.state"), said
    assert "CPU in the browser (WebAssembly, 1 thread)" in said
    assert "WebGPU" in said
    assert window.evaluate(f"{RACE}.querySelector('svg') !== null")
    assert [] == window.errors
