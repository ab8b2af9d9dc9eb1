"""Running what a page shows on the reader's own machine, from the page."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from lesson_site import recordings
from tests.browser.conftest import LOOKS, new_context, serving, settled, small_site
from tests.browser.states import expect_accessible
from tests.building import REPOSITORY
from tests.live import Live, live
from tests.processes import gone

STEP = "mission/worked:print_step"
NUMBERS = "gpu_training/float16_numbers:print_small_numbers"
MOVE = "gpu_training/device_fundamentals:print_move_a_tensor"
REPORT = "lab/solution/02_amp_training:print_report"
HOME = f"""# Home

```lesson-output of="{STEP}"
```

```lesson-output of="{NUMBERS}"
```

[To the other page](other.md)

[To the learner's page](learner.md)
"""
FILE = "01_gpu_basics.py"
CHECK, OWN = f"check 1 {FILE}", f"report {FILE}"
CELLS = [f"notebooks/made-up.ipynb#{name}" for name in ("first", "second", "third")]
# The smallest drawing: one pixel.
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"
    "AAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
SOURCES = {
    "first": "x = 20",
    "second": "x += 1\nprint(x)",
    "third": f'print(x)\ndisplay({{"image/png": "{PIXEL}"}}, raw=True)',
}
LEARNER = f"""# Learner

<div data-runs="{CHECK}"></div>

<own-report id="made-up" data-runs="{OWN}" markdown>

```lesson-output of="lab/solution/01_gpu_basics:print_report"
```

</own-report>

<figure class="output" data-runs="{CELLS[1]}"><pre><code>21</code></pre></figure>

<figure class="output" data-runs="{CELLS[2]}"><pre><code>21</code></pre></figure>
"""
OTHER = f"""# Other

```lesson-output of="{MOVE}"
```

```lesson-output of="{REPORT}" device="cuda"
```

[To the learner's page](learner.md)
"""
# Puts another function in the place of a page's own, in the kernel behind the page.
INSTEAD = """async (code) => {
  const { kernel } = await import("/lesson/assets/elements/live/kernel.js");
  await kernel.run(code, { text: () => undefined });
}"""
# What a page of another origin tries, with the cookies that the browser sends along.
ATTACK = """async (host) => {
  const post = { method: "POST", credentials: "include", body: "{}" };
  const forged = { ...post, headers: { "X-XSRFToken": "guessed" } };
  const tried = (request) => fetch(`http://${host}/api/kernels`, request).then(
    ({ type, status }) => `${type} ${status}`, () => "refused");
  const socket = (path) => new Promise((resolve) => {
    const opened = new WebSocket(`ws://${host}${path}`);
    opened.onopen = () => resolve("opened");
    opened.onerror = () => resolve("refused");
  });
  const unread = { ...post, mode: "no-cors" };
  const read = await tried({ credentials: "include" });
  return [read, await tried(forged), await tried(unread), await socket("/api/kernels/x/channels")];
}"""
FRAME = """(address) => new Promise((resolve) => {
  const frame = document.body.appendChild(document.createElement("iframe"));
  frame.onload = resolve;
  frame.src = address;
})"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A small site with recorded outputs: its folder, and where it is served as a public one."""
    root = tmp_path_factory.mktemp("live")
    cells = [{"id": i, "cell_type": "code", "source": text} for i, text in SOURCES.items()]
    notebook = {"notebooks/made-up.ipynb": json.dumps({"cells": cells})}
    pages = {"index.md": HOME, "other.md": OTHER, "learner.md": LEARNER}
    with small_site(root, pages | notebook, "below") as address:
        yield root / "served" / "below", address


@pytest.fixture(scope="module")
def machine(built: tuple[Path, str]) -> Iterator[Live]:
    """The live server of that site."""
    with live(built[0]) as running:
        yield running


@pytest.fixture(scope="module")
def met() -> dict[str, list[str]]:
    """What the reader's browser met, over all of these tests."""
    return {"requests": [], "sockets": [], "console": []}


@pytest.fixture(scope="module")
def reader(browser: Browser, machine: Live, met: dict[str, list[str]]) -> Iterator[Page]:
    """A window of a reader who opened the printed address; one, as a kernel takes seconds."""
    context = new_context(browser, LOOKS[0])
    page = context.new_page()
    page.on("request", lambda request: met["requests"].append(request.url))
    page.on("websocket", lambda socket: met["sockets"].append(socket.url))
    page.on("console", lambda m: met["console"].append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda problem: met["console"].append(str(problem)))
    page.goto(machine.opened)
    element(page, STEP).wait_for()
    yield page
    context.close()


def element(page: Page, target: str) -> Locator:
    """What runs one output."""
    return page.locator(f'run-on-machine[target="{target}"]')


def press(page: Page, target: str, name: str = "Run on this machine") -> None:
    """Press a button of a place, and agree if the page asks."""
    element(page, target).get_by_role("button", name=name).click()
    if element(page, target).locator(".run-question").is_visible():
        element(page, target).get_by_role("button", name="Run it").click()


def status(page: Page, target: str) -> Locator:
    """Where the page says how a run goes."""
    return element(page, target).locator(".run-status")


def printed(page: Page, target: str) -> Locator:
    """What a run printed."""
    return element(page, target).locator(":scope > pre > code")


def instead(page: Page, body: str) -> None:
    """Let another function take the place of ``print_step``."""
    code = f"import lesson_code.mission.worked as worked\ndef made_up():\n    {body}\n"
    page.evaluate(INSTEAD, f"{code}worked.print_step = made_up")


def test_it_asks_and_then_prints_what_was_recorded(reader: Page, machine: Live) -> None:
    """The exact code is in the question, nothing runs before the answer, and it runs then."""
    recorded = recordings.read(STEP)
    assert recorded
    element(reader, STEP).get_by_role("button", name="Run on this machine").click()
    question = element(reader, STEP).locator(".run-question")

    expect(question.locator("pre")).to_have_text(
        "from lesson_code.mission.worked import print_step\nprint_step()"
    )
    expect(question.get_by_role("button", name="Run it")).to_be_focused()
    expect_accessible(reader, "run-on-machine", "asks first")
    assert [] == machine.kernels()
    question.get_by_role("button", name="Run it").click()
    expect(status(reader, STEP)).to_contain_text("Printed on")
    expect(status(reader, STEP)).to_contain_text("PyTorch 2.")
    assert recorded.text == printed(reader, STEP).text_content()
    expect_accessible(reader, "run-on-machine", "printed")


def test_who_declines_runs_nothing(reader: Page) -> None:
    """The question closes, and the focus is where it was."""
    button = element(reader, NUMBERS).get_by_role("button", name="Run on this machine")
    button.click()
    element(reader, NUMBERS).get_by_role("button", name="Not now").click()

    expect(button).to_be_focused()
    expect(element(reader, NUMBERS).locator(".run-question")).to_be_hidden()
    expect(printed(reader, NUMBERS)).to_be_hidden()


def test_an_endless_loop_streams_and_is_interrupted(reader: Page) -> None:
    """Its first line is on the page while it runs; others wait, and it ends on demand."""
    instead(reader, "print('first')\n    while True: pass")
    press(reader, STEP)

    expect(printed(reader, STEP)).to_have_text("first\n")
    expect(status(reader, STEP)).to_have_text("Running …")
    press(reader, NUMBERS)
    expect(status(reader, NUMBERS)).to_contain_text("Something else is running.")
    expect_accessible(reader, "run-on-machine", "running, and another waits")
    element(reader, STEP).get_by_role("button", name="Interrupt").click()
    expect(status(reader, STEP)).to_contain_text("Interrupted on")
    expect(element(reader, STEP).get_by_role("button", name="Interrupt")).to_be_hidden()


def test_it_works_in_an_empty_folder_of_the_server(reader: Page, built: tuple[Path, str]) -> None:
    """What a snippet writes goes with the server, and no file there stands in for a module."""
    instead(reader, "import os; print(os.getcwd(), os.listdir())")
    press(reader, STEP)

    expect(status(reader, STEP)).to_contain_text("Printed on")
    folder, _, content = str(printed(reader, STEP).text_content()).partition(" ")
    assert Path(folder).is_relative_to(built[0].parent.resolve())
    assert "[]\n" == content


def test_an_error_shows_its_text(reader: Page) -> None:
    """The traceback is there as text, without a terminal's codes, and markup is text too."""
    instead(reader, "raise ValueError('made up \\x1b[31m<b>red</b>')")
    press(reader, STEP)

    expect(status(reader, STEP)).to_contain_text("Failed on")
    expect(printed(reader, STEP)).to_contain_text("ValueError: made up <b>red</b>")
    assert "\x1b" not in str(printed(reader, STEP).text_content())
    assert 0 == printed(reader, STEP).locator("b").count()
    expect_accessible(reader, "run-on-machine", "failed")


def test_endless_output_is_cut(reader: Page) -> None:
    """The page shows a hundred thousand characters, and says that there are more."""
    instead(reader, "print('x' * 150_000)")
    press(reader, STEP)

    expect(status(reader, STEP)).to_contain_text("Printed on")
    text = str(printed(reader, STEP).text_content())
    assert text.startswith("x" * 100_000 + "\n… and more")
    assert len(text) < 100_100


def test_a_restart_gives_a_fresh_process(reader: Page) -> None:
    """It ends a loop too, and what was put in the function's place is gone."""
    recorded = recordings.read(STEP)
    assert recorded
    instead(reader, "while True: pass")
    press(reader, STEP)
    expect(status(reader, STEP)).to_have_text("Running …")

    element(reader, STEP).get_by_role("button", name="Restart kernel").click()

    expect(status(reader, STEP)).to_contain_text("Python was restarted")
    press(reader, STEP)
    expect(printed(reader, STEP)).to_have_text(recorded.text)


def test_it_works_on_pages_that_are_reached_from_there(reader: Page, machine: Live) -> None:
    """Instant navigation keeps the process; a question names the device, and digits may lead."""
    press(reader, STEP)
    expect(status(reader, STEP)).to_contain_text("Printed on")
    before = [kernel.pid for kernel in machine.kernels()]
    reader.evaluate("window.__same_document = true")
    reader.get_by_role("link", name="To the other page").click()
    element(reader, REPORT).get_by_role("button", name="Run on this machine").click()
    question = element(reader, REPORT).locator(".run-question")

    expect(question).to_contain_text('import_module("lesson_code.lab.solution.02_amp_training")')
    expect(question).to_contain_text("PyTorch 2.")
    press(reader, MOVE)
    expect(status(reader, MOVE)).to_contain_text("Printed on")
    assert before == [kernel.pid for kernel in machine.kernels()]
    assert reader.evaluate("window.__same_document")


@pytest.fixture
def learner(reader: Page, machine: Live) -> Page:
    """The page with the learner's own file and the notebook's cells; the process is kept."""
    if not reader.url.endswith("/learner/"):
        reader.get_by_role("link", name="To the learner's page").click()
    element(reader, CHECK).wait_for()
    return reader


def test_a_learners_file_is_copied_checked_and_interrupted(
    learner: Page, machine: Live, built: tuple[Path, str]
) -> None:
    """It lies beside the site at first; the very call is shown, and no process of it is left."""
    lab = built[0].parent / "runs" / "lab"
    path = element(learner, CHECK).get_by_label("Your file")
    question = element(learner, CHECK).locator(".run-question")
    expect(path).to_have_value(f"{lab / FILE}")

    element(learner, CHECK).get_by_role("button", name="Copy the exercises").click()
    expect(question).to_contain_text(f'main(["start", "{lab}"])')
    assert not lab.exists()
    question.get_by_role("button", name="Run it").click()
    expect(printed(learner, CHECK)).to_contain_text(f"copied  {lab / FILE}")
    mine = lab.parent / "mine.py"
    mine.write_text("while True: pass\n")
    path.fill(str(mine))
    element(learner, CHECK).get_by_role("button", name="Check my file").click()
    expect(question).to_contain_text(f'main(["check", "1", "{mine}"])')
    expect_accessible(learner, "run-on-machine", "asks about a file")
    before = machine.kernels()
    question.get_by_role("button", name="Run it").click()
    expect(printed(learner, CHECK)).to_have_text(f"Exercise 1: {mine}\n")
    checker = machine.started_since(before)
    element(learner, CHECK).get_by_role("button", name="Interrupt").click()

    expect(status(learner, CHECK)).to_contain_text("Interrupted on")
    expect_accessible(learner, "run-on-machine", "interrupted")
    assert checker
    assert gone(*checker)


def test_a_learners_report_goes_into_its_place(learner: Page, built: tuple[Path, str]) -> None:
    """The file of the field runs as a script; the checker's words are on the page as well."""
    solution = REPOSITORY / "lesson_code" / "lab" / "solution" / FILE
    (built[0].parent / "runs" / "mine.py").write_bytes(solution.read_bytes())
    learner.locator("own-report").scroll_into_view_if_needed()
    learner.locator("own-report textarea").wait_for()

    press(learner, OWN, "Run my file")

    expect(learner.locator(".report-verdict")).to_contain_text("All 5 lines of the report")
    expect(learner.locator("own-report textarea")).to_have_value(re.compile("CUDA available: "))
    press(learner, CHECK, "Check my file")
    words = re.compile("6 of 7 passed, 1 cannot be judged here|7 of 7 passed")
    expect(printed(learner, CHECK)).to_have_text(words)


def test_cells_run_in_order_in_one_process(learner: Page, built: tuple[Path, str]) -> None:
    """Those above come first, once each, hidden ones too; then a cell runs alone again."""
    second, third = (element(learner, cell) for cell in CELLS[1:])
    third.get_by_role("button", name="Run on this machine").click()
    question = third.locator(".run-question")

    expect(question).to_contain_text("that have not run yet run first")
    folder = built[0].parent / "runs" / "notebook"
    for code in (f'work_in("{folder}")', *SOURCES.values()):
        expect(question).to_contain_text(code)
    question.get_by_role("button", name="Run it").click()
    expect(printed(learner, CELLS[2])).to_have_text("21\n")
    expect(third.get_by_role("img", name="What this cell drew")).to_be_visible()
    assert (folder / "data").is_dir()
    second.get_by_role("button", name="Run on this machine").click()
    expect(second.locator(".run-question")).to_be_hidden()  # the code has been agreed to
    expect(printed(learner, CELLS[1])).to_have_text("22\n")
    press(learner, CELLS[2])
    expect(printed(learner, CELLS[2])).to_have_text("22\n")
    expect_accessible(learner, "run-on-machine", "drawn")

    third.get_by_role("button", name="Restart kernel").click()
    expect(status(learner, CELLS[2])).to_contain_text("Python was restarted")
    press(learner, CELLS[2])
    expect(printed(learner, CELLS[2])).to_have_text("21\n")


def test_a_page_of_another_origin_gets_nothing(reader: Page, machine: Live, tmp_path: Path) -> None:
    """With the same cookies it can neither read nor start a kernel, nor open socket or frame."""
    (tmp_path / "index.html").write_text("<!doctype html><title>Attack</title>")
    before = len(machine.kernels())
    with serving(tmp_path) as attacker:
        page = reader.context.new_page()
        page.goto(f"http://127.0.0.1:{attacker.server_port}/")
        assert "_xsrf" in page.evaluate("document.cookie")  # cookies ignore ports
        answers = page.evaluate(ATTACK, f"127.0.0.1:{machine.port}")
        page.evaluate(FRAME, f"{machine.origin}/lesson/")
        framed = page.frames[1].url
        page.close()

    assert ["refused"] * 4 == answers
    assert framed.startswith("chrome-error:")
    assert before == len(machine.kernels())


def test_the_page_speaks_with_its_own_origin_alone(
    reader: Page, machine: Live, met: dict[str, list[str]]
) -> None:
    """Every request and socket goes where the page came from, and the policy stops none."""
    foreign = [url for url in met["requests"] if not url.startswith(machine.origin + "/")]

    assert [] == [url for url in foreign if not url.startswith(("data:", "blob:"))]
    assert met["sockets"]
    assert all(url.startswith(f"ws://127.0.0.1:{machine.port}/") for url in met["sockets"])
    assert [] == reader.evaluate("window.__violations")
    assert [] == met["console"]
    assert reader.evaluate("crossOriginIsolated")


def test_the_process_ends_with_the_page(reader: Page, machine: Live) -> None:
    """Who leaves leaves nothing behind; and a server that is gone is said on the next press."""
    kernels = machine.kernels()
    assert kernels
    reader.goto(f"{machine.origin}/lesson/")
    assert gone(*kernels)

    reader.route("**/api/kernels", lambda route: route.abort())
    press(reader, STEP)

    expect(status(reader, STEP)).to_contain_text("Start `make live` again")


def test_the_public_site_offers_nothing_of_it(page: Page, built: tuple[Path, str]) -> None:
    """The same files, served by any other server, ask for no part of it."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(built[1])
    settled(page)

    assert 2 == page.locator("figure[data-runs]").count()
    assert 0 == page.locator("run-on-machine").count()
    assert [] == [url for url in asked if "live" in url or "run-on-machine" in url or "api" in url]
