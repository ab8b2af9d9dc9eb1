"""The learner's notebook in the program in which most people open it."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from lesson_site.notebooks import LEARNER
from tests.building import REPOSITORY

PATIENCE_S = 240


@pytest.fixture
def jupyterlab(tmp_path: Path) -> Iterator[str]:
    """Its address, serving a folder with the notebook and the lesson's digits."""
    folder = tmp_path / "notebook"
    folder.mkdir()
    shutil.copy(REPOSITORY / LEARNER, folder)
    (folder / "mnist_subset").symlink_to(REPOSITORY / "lesson_code" / "mnist_subset")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = {
        "--ServerApp.root_dir": folder,
        "--ServerApp.port": port,
        "--ServerApp.port_retries": 0,
        "--IdentityProvider.token": "",
        "--LabApp.check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
    }
    names = ("CONFIG", "DATA", "RUNTIME")
    own = {f"JUPYTER_{name}_DIR": str(tmp_path / name.lower()) for name in names}
    log = (tmp_path / "log").open("w")
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
            *(f"{name}={value}" for name, value in options.items()),
        ],
        env={**os.environ, **own, "OMP_NUM_THREADS": "1"},
        stdout=log,
        stderr=subprocess.STDOUT,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_for(f"{address}/api", process)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=30)
        log.close()


def _wait_for(address: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end and process.poll() is None:
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return
        except OSError:
            time.sleep(0.2)
    pytest.fail("JupyterLab did not start")


@pytest.mark.timeout(3 * PATIENCE_S)
def test_it_opens_and_runs_to_the_first_blank(jupyterlab: str, browser: Browser) -> None:
    """All cells run in order, the machinery is folded, and the first blank names itself."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    foreign: list[str] = []
    page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith((jupyterlab, "data:", "blob:", "ws:"))
            else foreign.append(request.url)
        ),
    )
    page.goto(f"{jupyterlab}/lab/tree/{LEARNER.name}")
    notebook = page.locator(".jp-Notebook")
    expect(notebook.locator("h1")).to_have_text("GPU Training¶", timeout=PATIENCE_S * 1000)
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()

    said = notebook.locator(".jp-OutputArea-output", has_text="Blank 1a is still empty.")
    said.wait_for(state="attached", timeout=PATIENCE_S * 1000)

    assert (said.text_content() or "").strip().startswith("✗ Blank 1a is still empty. Your task:")
    assert [] == foreign
    page.close()
