"""Snippets that run in the page: as in CPython, stopped when asked, changed, kept and reset."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, Request, Route, expect

from lesson_site import vendor
from tests.browser.conftest import LOOKS, REPOSITORY, new_context, settled
from tests.browser.states import expect_accessible
from tests.runnable_snippets import printed, runnable

PAGE = "mission/the-model/"
COUNT = "mission/architecture.py:count"
FIGURE = f'figure[data-run-of="{COUNT}"]'
KEY = "gpu-training.edits.v1"
PATIENCE_MS = 60_000  # loading Python takes two seconds on a quiet machine
# Runs everything that has a Run button, by the modules that the buttons use, in one worker.
RUN_ALL = """async ([root, addresses]) => {
  const { Runner } = await import(root + "assets/elements/run/runner.js");
  const { jobOf, originalOf } = await import(root + "assets/elements/run-cell.js");
  const runner = new Runner();
  const found = [];
  for (const address of addresses) {
    const html = await (await fetch(root + address)).text();
    const page = new DOMParser().parseFromString(html, "text/html");
    for (const figure of page.querySelectorAll("figure[data-run]")) {
      let text = "";
      const onOutput = (more) => { text += more; };
      const job = jobOf(figure, originalOf(figure));
      const { end, sentence } = await runner.run(job, { onLoading() {}, onStart() {}, onOutput });
      found.push([figure.dataset.runOf, end === "finished" || sentence, text]);
    }
  }
  return found;
}"""
# An endless loop with half a second to run, and then something that ends.
RUN_ENDLESSLY = """async (root) => {
  const { Runner } = await import(root + "assets/elements/run/runner.js");
  const { jobOf, originalOf } = await import(root + "assets/elements/run-cell.js");
  const runner = new Runner(undefined, { load: 60_000, run: 500 });
  const figure = document.querySelector("figure[data-run]");
  const [snippet, lines] = originalOf(figure);
  const said = [];
  const listener = { onLoading() {}, onStart() {}, onOutput: (text) => said.push(text) };
  const first = await runner.run(jobOf(figure, [snippet, "while True: pass"]), listener);
  const second = await runner.run(jobOf(figure, [snippet, "print(2)"]), listener);
  return [first.end, first.sentence, second.end, said.join("")];
}"""


@pytest.fixture(scope="module")
def open_page(browser: Browser, site: str) -> Iterator[Page]:
    """A window for several tests, so that Python is loaded once."""
    missing = "run `python -m lesson_site.vendor`"
    assert vendor.compressed_kb(vendor.PYODIDE, REPOSITORY), missing
    context = new_context(browser, LOOKS[0])
    page = context.new_page()
    page.goto(site + PAGE)
    yield page
    context.close()


def cell(page: Page, section: str) -> Locator:
    """The cell under a snippet of the page."""
    return page.locator(f'figure[data-run-of="{section}"] run-cell')


def run(cell: Locator, snippet: str | None = None, lines: str | None = None) -> None:
    """Press the button of a cell, with other texts in it if they are given."""
    if snippet is not None:
        cell.get_by_label("The snippet, in its module").fill(snippet)
    if lines is not None:
        cell.get_by_label("What runs after it").fill(lines)
    cell.get_by_role("button", name="Run").click()


def status(cell: Locator) -> Locator:
    """Where the cell says what happens."""
    return cell.get_by_role("status")


def output(cell: Locator) -> Locator:
    """What was printed."""
    return cell.get_by_role("log", name="Output")


def finished(cell: Locator) -> None:
    """Wait for a run to end well."""
    expect(status(cell)).to_have_text("Finished.", timeout=PATIENCE_MS)


def test_every_snippet_prints_in_the_page_what_cpython_prints(open_page: Page, site: str) -> None:
    """The same text, character by character, from the files and the lines that the page names."""
    snippets = runnable()
    addresses = sorted({each.address for each in snippets})

    found = open_page.evaluate(RUN_ALL, [site, addresses])

    texts = {
        (each.target, text) for each, (_, text) in zip(snippets, printed(snippets), strict=True)
    }
    assert [] == [(name, fine, text) for name, fine, text in found if fine is not True]
    assert texts == {(name, text) for name, _, text in found}
    assert len(snippets) == len(found)
    assert [] == open_page.evaluate("window.__violations")


def test_without_javascript_what_it_prints_stands_on_the_page(browser: Browser, site: str) -> None:
    """Behind a summary, with the lines that print it; the text is what CPython prints."""
    [snippet] = [each for each in runnable() if each.target == COUNT]
    [(_, text)] = printed([snippet])
    with new_context(browser, LOOKS[0], javascript=False) as context:
        page = context.new_page()
        page.goto(site + PAGE)
        figure = page.locator("figure", has_text="gpt_param_count").first
        said = figure.locator(".run-prints .run-output")
        expect(said).to_be_hidden()
        figure.get_by_text("What it prints").click()

        expect(said).to_have_text(text.rstrip())
        expect(figure.locator(".run-prints code")).to_have_text(snippet.lines)


def test_a_run_that_takes_too_long_is_ended_and_the_next_one_works(
    open_page: Page, site: str
) -> None:
    """The limit is told, and nothing of the first run is left."""
    late, sentence, second, said = open_page.evaluate(RUN_ENDLESSLY, site)

    assert ("late", "finished", "2\n") == (late, second, said)
    assert sentence.startswith("Stopped after 30 seconds")


def test_a_snippet_is_run_changed_stopped_and_reset(page: Page, site: str) -> None:
    """What is shown and said at each step; axe finds no barrier in any of these states."""
    asked: list[Request] = []
    page.on("request", lambda request: asked.append(request))
    page.goto(site + PAGE)
    one = cell(page, COUNT)
    settled(page)
    early = [request.url for request in asked if "run" in request.url or "pyodide" in request.url]
    expect(one.get_by_role("button")).to_have_text("Run (loads 6 MB once)")
    expect_accessible(page, "run-cell", "idle", FIGURE)

    one.get_by_role("button").click()
    finished(one)
    expect(output(one)).to_have_text("1,557,611,200 parameters\n")
    expect_accessible(page, "run-cell", "finished", FIGURE)
    run(one, lines="print('on')\nwhile True:\n    pass")
    expect(output(one)).to_have_text("on\n")
    expect_accessible(page, "run-cell", "running", FIGURE)
    one.get_by_role("button", name="Stop").click()
    expect(status(one)).to_contain_text("Stopped.")
    expect(one.get_by_role("button", name="Run")).to_be_focused()
    expect_accessible(page, "run-cell", "stopped", FIGURE)
    run(one, "return arch.depth", "gpt_param_count(GPT2_XL)")
    expect(output(one)).to_contain_text('File "<snippet>", line 1', timeout=PATIENCE_MS)
    expect(output(one)).to_contain_text("AttributeError: 'Arch' object has no attribute 'depth'")
    expect(status(one)).to_contain_text("An error ended the run")
    expect_accessible(page, "run-cell", "failed", FIGURE)
    one.get_by_role("button", name="Reset").click()
    expect(output(one)).to_be_empty()
    expect(status(one)).to_have_text("The snippet is as the lesson has it.")
    run(one)
    finished(one)

    expect(output(one)).to_have_text("1,557,611,200 parameters\n")
    assert [] == early
    assert all(request.url.startswith((site, "blob:", "data:")) for request in asked)
    assert [] == page.evaluate("window.__violations")
    policy = page.locator('meta[http-equiv="Content-Security-Policy"]').get_attribute("content")
    assert "'unsafe-eval'" not in (policy or "'unsafe-eval'")
    assert "{}" == page.evaluate(f"localStorage.getItem('{KEY}')")


def test_a_change_is_kept_and_run_from_the_keyboard(page: Page, site: str) -> None:
    """After a reload it is there again, and waits."""
    page.goto(site + PAGE)
    one = cell(page, COUNT)
    one.get_by_role("button").click()
    one.get_by_label("What runs after it").fill("print(GPT2_SMALL.n_layer)")

    page.reload()
    one.get_by_role("button").focus()
    page.keyboard.press("Enter")
    lines = one.get_by_label("What runs after it")
    expect(lines).to_have_value("print(GPT2_SMALL.n_layer)")
    expect(one).to_have_attribute("data-state", "kept")
    expect_accessible(page, "run-cell", "kept", FIGURE)
    page.keyboard.press("Enter")
    finished(one)
    expect(output(one)).to_have_text("12\n")
    lines.fill("print('again')")
    lines.press("Control+Enter")

    expect(output(one)).to_have_text("again\n")


def test_what_is_changed_keeps_its_colours(page: Page, site: str) -> None:
    """And is a text area still: a new line is indented, undo takes it back, and Tab leaves."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(site + PAGE)
    one = cell(page, COUNT)
    settled(page)
    early = [address for address in asked if "prism" in address or "code-box" in address]
    one.get_by_role("button").click()
    lines = one.get_by_label("What runs after it")
    keyword = one.locator(".token.keyword", has_text="return").first
    shown = page.locator("figure .highlight .k", has_text="return").first
    expect(keyword).to_be_visible()
    color = "element => getComputedStyle(element).color"

    lines.fill("for n in range(2):")
    lines.press("End")
    lines.press("Enter")
    lines.press_sequentially("print(n)")

    expect(lines).to_have_value("for n in range(2):\n    print(n)")
    expect(one.locator(".token.keyword", has_text="for")).to_be_visible()
    assert shown.evaluate(color) == keyword.evaluate(color)
    lines.press("Control+z")
    expect(lines).not_to_have_value("for n in range(2):\n    print(n)")
    lines.press("Tab")
    expect(lines).not_to_be_focused()
    assert [] == early
    assert [] == page.evaluate("window.__violations")


def test_without_the_editor_the_texts_can_be_changed(page: Page, site: str) -> None:
    """A text area of the browser's own does what is needed."""
    page.route("**/prism-code-editor/**", lambda route: route.abort())
    page.goto(site + PAGE)
    one = cell(page, COUNT)
    one.get_by_role("button").click()

    expect(one).to_have_attribute("data-plain", "")
    finished(one)
    run(one, lines="print('plain')")

    finished(one)
    expect(output(one)).to_have_text("plain\n")
    expect_accessible(page, "run-cell", "without the editor", FIGURE)


def test_a_package_that_is_not_here_is_answered_with_what_to_do(page: Page, site: str) -> None:
    """PyTorch first of all: the sentence leads to the notebook, and no traceback is shown."""
    page.goto(site + PAGE)
    one = cell(page, COUNT)
    one.get_by_role("button").click()
    run(one, lines="print('before')\nimport torch.nn.functional as F")

    expect(status(one)).to_contain_text("There is no torch in this page", timeout=PATIENCE_MS)

    expect(output(one)).to_have_text("before\n")
    expect_accessible(page, "run-cell", "a package is missing", FIGURE)
    status(one).get_by_role("link", name="the notebook").click()
    page.wait_for_url(f"{site}notebooks/#open")
    expect(page.locator("h2#open")).to_be_visible()


def test_a_bar_shows_how_much_of_python_has_come(page: Page, site: str) -> None:
    """It has a name, grows with the bytes, and goes away; the words beside it change once."""
    held: list[Route] = []
    page.route("**/pyodide/python_stdlib.zip", lambda route: held.append(route), times=1)
    page.goto(site + PAGE)
    one = cell(page, COUNT)
    bar = one.get_by_role("progressbar", name="Loading Python")
    one.get_by_role("button").click()

    page.wait_for_function("() => document.querySelector('run-cell progress')?.value > 0.8")
    expect(status(one)).to_have_text("Loading Python (6 MB, once) …")
    expect_accessible(page, "run-cell", "loading", FIGURE)
    held[0].continue_()

    finished(one)
    expect(bar).to_be_hidden()


def test_a_file_that_is_not_the_expected_one_is_not_run(page: Page, site: str) -> None:
    """A module that was changed on its way is named in a sentence, and so is a part of Python."""
    changed = {"body": "raise SystemExit", "content_type": "text/plain"}
    page.route("**/code/mission/choices.py", lambda route: route.fulfill(**changed))
    page.goto(site + PAGE)
    one = cell(page, COUNT)

    one.get_by_role("button").click()
    said = "mission/choices.py did not come, or is not the file"
    expect(status(one)).to_contain_text(said, timeout=PATIENCE_MS)
    page.route("**/pyodide/python_stdlib.zip", lambda route: route.abort())
    run(one)

    expect(status(one)).to_contain_text("python_stdlib.zip did not come", timeout=PATIENCE_MS)
    expect(output(one)).to_be_empty()


def test_a_program_with_one_damaged_bit_is_not_run(page: Page, site: str, built_site: Path) -> None:
    """Python itself is compared with its checksum before any of it starts."""
    name = "assets/vendor/pyodide/pyodide.asm.wasm"
    content = bytearray((built_site / name).read_bytes())
    content[len(content) // 2] ^= 1
    answer = {"body": bytes(content), "content_type": "application/wasm"}
    page.route(f"**/{name}", lambda route: route.fulfill(**answer))
    page.goto(site + PAGE)
    one = cell(page, COUNT)

    one.get_by_role("button").click()

    said = "pyodide.asm.wasm did not come, or is not the file"
    expect(status(one)).to_contain_text(said, timeout=PATIENCE_MS)
    expect(output(one)).to_be_empty()


def test_a_second_snippet_waits_for_the_first(page: Page, site: str) -> None:
    """One worker serves the page; anyone who asks twice is told. Instant navigation led there."""
    page.goto(site + "mission/what-fits/")
    page.evaluate("window.__same_document = true")
    page.locator('.md-nav a[href$="the-model/"]').locator("visible=true").first.click()
    one, other = (cell(page, f"mission/{name}") for name in ("memory.py:static", "memory.py:peak"))
    one.get_by_role("button").click()
    expect(status(one)).not_to_be_empty()

    other.get_by_role("button").click()

    expect(status(other)).to_have_text("Another snippet on this page is running; stop it first.")
    one.get_by_role("button", name="Stop").click()
    expect(status(one)).to_contain_text("Stopped.")
    assert page.evaluate("window.__same_document")
