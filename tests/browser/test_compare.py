"""The page on which a learner puts their own machine beside the recorded ones."""

import copy
import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.benchmarks.made_up import (
    CPU_MACHINE,
    GPU_MACHINE,
    RACED_IN_A_BROWSER,
    part,
    raced,
    result,
)
from tests.browser.states import expect_accessible

PAGE = "benchmarks/compare/"
KEY = "gpu-training.machine.v1"
RECORD = "gpu-training/summary/"
Content = dict[str, Any]


def good() -> Content:
    """A made-up result of a machine without a GPU."""
    cases = {
        "mnist_epoch": {"epoch": part(cpu=4.0, loader_only=3.0)},
        "step_sweep": {"small": part(width_64__batch_64__cpu=0.001)},
    }
    return result(cases, {**CPU_MACHINE, "processor": "Made-up processor", "cores": 77})


def text_of(content: Content) -> bytes:
    """A result as the job writes it."""
    return json.dumps(content, indent=1).encode()


def changed(change: Callable[[Content], object]) -> bytes:
    """The good file with one thing wrong."""
    content = copy.deepcopy(good())
    change(content)
    return text_of(content)


def an_entry(content: Content) -> Content:
    """An entry of the good file."""
    return content["cases"]["mnist_epoch"]["epoch"]["entries"]["cpu"]


def rename_figures(content: Content) -> None:
    """Give every figure a name that no catalogue has."""
    content["figures"] = {f"made_up.{name}": of for name, of in content["figures"].items()}


WHOLE = text_of(good())
BAD = {
    "empty": (b"", "The file is empty"),
    "blank": (b" \n\n ", "The file is blank"),
    "too large": (b" " * 5_000_001, "more than 5 MB"),
    "compressed": (gzip.compress(WHOLE), "is compressed; unpack it"),
    "utf-16": (WHOLE.decode().encode("utf-16"), "is UTF-16 text"),
    "latin-1": (WHOLE.replace(b"Made-up", b"M\xe4de-up"), "is not UTF-8 text"),
    "cut off": (WHOLE[: len(WHOLE) // 2], "is cut off at its end"),
    "no json": (b"epoch 1: loss 0.3", "choose the .json file"),
    "not a number": (WHOLE.replace(b'"took_s": ', b'"took_s": NaN, "x": '), r"Line \d+ says NaN"),
    "a comma too many": (WHOLE.replace(b'"version": 2,', b'"version": 2,,'), "from line 2 on"),
    "a list": (b"[1, 2]", "holds no JSON object"),
    "another json": (b'{"name": "site"}', "names no version or no cases"),
    "a record": (b'{"format": "gpu-training.record", "kept": {}}', "learner’s record"),
    "an old version": (changed(lambda c: c.update(version=1)), "version 1, and this page reads"),
    "a new version": (changed(lambda c: c.update(version=3)), "version 3, and .* reload the page"),
    "no version": (changed(lambda c: c.update(version="two")), 'At version: .*"two"|At version'),
    "quick": (changed(lambda c: c["provenance"].update(quick=True)), "with --quick"),
    "negative": (changed(lambda c: an_entry(c).update(median=-1)), "median: -1 is too small"),
    "huge": (changed(lambda c: an_entry(c).update(median=1e19)), "median: .* is too large"),
    "a string": (changed(lambda c: an_entry(c).update(spread="0")), 'spread: "0" is of the wrong'),
    "markup": (
        changed(lambda c: c["provenance"].update(processor="<img src=x onerror=alert(1)>")),
        "provenance.processor: .*angle brackets",
    ),
    "a stranger": (changed(lambda c: c.update(owner="me")), "At owner: no result file has"),
    "incomplete": (changed(lambda c: c["provenance"].pop("torch")), "At provenance: .*torch"),
    "a bad day": (changed(lambda c: c["provenance"].update(date="today")), "date: .*2026-11-21"),
    "no figures": (changed(lambda c: c.update(figures={})), "nothing was measured"),
    "only strangers": (changed(rename_figures), "is known to this site"),
}


@pytest.fixture
def compare(page: Page, site: str) -> Page:
    """The page, ready to take a file."""
    page.goto(site + PAGE)
    page.locator("compare-machine .drop").wait_for()
    return page


def give(page: Page, content: bytes, name: str = "result.json") -> None:
    """Choose a file."""
    file = {"name": name, "mimeType": "application/json", "buffer": content}
    page.locator("compare-machine input[type=file]").set_input_files([file])


def message(page: Page) -> Locator:
    """Where the element says what happened."""
    return page.locator("compare-machine [role=status]")


def give_good(page: Page) -> None:
    """Import the made-up machine."""
    give(page, WHOLE)
    expect(message(page)).to_contain_text("is taken in")


def test_every_bad_file_is_refused_in_a_sentence_of_its_own(compare: Page) -> None:
    """It is beside the button, in a live region, and nothing is kept."""
    said = {}
    for kind, (content, sentence) in BAD.items():
        give(compare, content, name=f"{kind}.json")
        refusal = re.compile(rf"^{kind}\.json: .*{sentence}.* Nothing was changed\.$")
        expect(message(compare), kind).to_have_text(refusal)
        said[kind] = message(compare).inner_text().removeprefix(f"{kind}.json")

    expect_accessible(compare, "compare-machine", "a file refused")
    assert len(BAD) == len(set(said.values()))
    assert compare.evaluate(f"localStorage.getItem('{KEY}')") is None


def test_a_race_is_called_a_browser_and_stands_in_the_table_and_the_chart(compare: Page) -> None:
    """What computed is named in PyTorch's place, and each value is in a column of its own."""
    figures = raced()["figures"]
    give(compare, RACED_IN_A_BROWSER.read_bytes())
    expect(message(compare)).to_contain_text(f"is taken in: {len(figures)} figures.")

    name = compare.locator(".own-machine-name")
    expect(name).to_contain_text("Your browser (made-up graphics): made-up graphics, WebAssembly")
    expect(name).to_contain_text("onnxruntime-web 1.30.0 in Made-up browser 1, Linux, 2026-11-22")
    gpu = "race.width_256.batch_64.browser_gpu"
    own = compare.locator(f'.results-main .results:not(.readers) td.own[data-figure="{gpu}"]')
    expect(own).to_have_text(figures[gpu]["text"])
    expect(compare.locator('td.own[data-figure="mnist_epoch.cpu"]')).to_have_count(0)
    compare.locator(".chart-race").scroll_into_view_if_needed()
    beside = compare.locator(f'.chart-race td[data-figure="{gpu}"] + td.own')
    expect(beside).to_have_text(figures[gpu]["text"])
    expect_accessible(compare, "compare-machine", "a race")


def test_a_bad_file_leaves_the_machine_that_was_there(compare: Page) -> None:
    """What was imported before stays on the page and in the browser."""
    give_good(compare)
    before = compare.evaluate(f"localStorage.getItem('{KEY}')")

    give(compare, b"")

    expect(message(compare)).to_contain_text("The file is empty")
    expect(compare.locator(".results-table th.own").first).to_be_attached()
    assert before == compare.evaluate(f"localStorage.getItem('{KEY}')")
    expect_accessible(compare, "compare-machine", "a machine, and a file refused", "article")


def test_the_machine_stands_beside_the_recorded_ones(compare: Page) -> None:
    """A first column shows what the file says, and says where it is silent."""
    figures = good()["figures"]
    give_good(compare)

    table = compare.locator(".results:not(.readers) table", has_text="An epoch of MNIST")
    heading = table.locator("thead th").nth(1)
    expect(heading).to_have_text("Your machine (Made-up processor, 77 cores)")
    own = table.locator('td.own[data-figure="mnist_epoch.cpu"]')
    expect(own).to_have_text(figures["mnist_epoch.cpu"]["text"])
    lacking = compare.locator('.results:not(.readers) td.own[data-figure="mnist_epoch.cuda"]')
    expect(lacking).to_have_text("not in your file")
    expect(compare.locator(".own-machine")).to_contain_text("PyTorch 2.15.0, 2026-11-21")


def test_a_value_that_nobody_else_has_is_not_folded(compare: Page) -> None:
    """The table opens in which no recorded machine has a value."""
    folded = compare.locator("details.unmeasured").first
    expect(folded).not_to_have_attribute("open", "")

    give(compare, text_of(result({"mnist_epoch": {"epoch": part(cuda=1.0)}}, GPU_MACHINE)))

    expect(folded.locator('td.own[data-figure="mnist_epoch.cuda"]')).to_be_visible()


def test_the_machine_is_kept_and_shown_on_other_pages(compare: Page, site: str) -> None:
    """After a reload it is there, and the results pages show it in both kinds of tables."""
    give_good(compare)

    compare.reload()
    expect(compare.locator(".results-main th.own").first).to_be_visible()
    compare.goto(site + "benchmarks/results/training/")

    sweep = compare.locator('tbody.own td[data-figure="step_sweep.width_64.batch_64.cpu"]')
    expect(sweep).to_have_text(good()["figures"]["step_sweep.width_64.batch_64.cpu"]["text"])
    expect(compare.locator('td.own[data-figure="mnist_epoch.cpu"]')).to_have_count(1)


def test_removing_the_machine_takes_it_from_page_and_browser(compare: Page) -> None:
    """The button says what it deletes; afterwards the focus stands where one can go on."""
    give_good(compare)
    expect(compare.locator(".own-machine-note")).to_contain_text("Your file stays where it is")

    compare.get_by_role("button", name="Remove my machine").click()

    expect(message(compare)).to_have_text("Your machine is removed from this browser.")
    expect(compare.locator(".results-table .own")).to_have_count(0)
    expect(compare.get_by_role("button", name="Choose a result file")).to_be_focused()
    assert "{}" == compare.evaluate(f"localStorage.getItem('{KEY}')")


def test_unknown_figures_are_left_out_with_a_note(compare: Page) -> None:
    """A file of another version of the code is taken as far as it is understood."""
    content = good()
    content["figures"]["made_up.figure"] = content["figures"]["mnist_epoch.cpu"]

    give(compare, text_of(content))

    expect(message(compare)).to_contain_text("1 figure is unknown to this site and left out.")
    assert "made_up" not in compare.evaluate(f"localStorage.getItem('{KEY}')")


def test_nothing_leaves_the_browser(compare: Page, site: str) -> None:
    """Reading a file asks for the checker alone, by plain requests without a body."""
    asked: list[tuple[str, str, bytes | None]] = []
    compare.on("request", lambda r: asked.append((r.method, r.url, r.post_data_buffer)))

    give_good(compare)

    assert [] != asked
    assert {"GET"} == {method for method, _, _ in asked}
    assert {None} == {body for _, _, body in asked}
    assert all(url.startswith(site) and "?" not in url for _, url, _ in asked)
    assert [] == compare.evaluate("window.__violations")


def test_a_checker_that_cannot_be_loaded_is_said(compare: Page) -> None:
    """Without it no file is taken; the sentence says what to do."""
    compare.route("**/vendor/json-schema/*", lambda route: route.abort())

    give(compare, WHOLE)

    expect(message(compare)).to_contain_text("The checker could not be loaded")
    expect(compare.locator(".results-table th.own")).to_have_count(0)


def test_a_file_that_is_dropped_is_read(compare: Page) -> None:
    """Drag and drop does what the button does, and takes one file at a time."""
    drop = """([text, count]) => {
        const transfer = new DataTransfer();
        for (let n = 0; n < count; n += 1) transfer.items.add(new File([text], `${n}.json`));
        const what = { dataTransfer: transfer, bubbles: true, cancelable: true };
        const event = new DragEvent("drop", what);
        document.querySelector("compare-machine .drop").dispatchEvent(event);
    }"""
    compare.evaluate(drop, [WHOLE.decode(), 2])
    expect(message(compare)).to_contain_text("several files")
    expect_accessible(compare, "compare-machine", "two files")

    compare.evaluate(drop, [WHOLE.decode(), 1])

    expect(message(compare)).to_contain_text("0.json is taken in")
    expect(compare.locator(".results-main th.own").first).to_be_visible()


def test_markup_in_a_file_name_is_shown_as_text(compare: Page) -> None:
    """No name makes an element."""
    give(compare, b"", name="<img src=x onerror=alert(1)>.json")

    expect(message(compare)).to_contain_text("<img src=x onerror=alert(1)>.json: The file is empty")
    assert 0 == compare.locator("compare-machine img").count()


def test_a_browser_that_keeps_nothing_says_so(compare: Page) -> None:
    """The machine is shown all the same, until the page is left."""
    compare.evaluate("void (Storage.prototype.setItem = () => { throw new Error('full') })")

    give_good(compare)

    expect(message(compare)).to_contain_text("Your browser keeps nothing for this site")
    expect_accessible(compare, "compare-machine", "not kept")
    expect(compare.locator(".results-main th.own").first).to_be_visible()


def test_the_comparison_can_be_saved(compare: Page, tmp_path: Path) -> None:
    """The file holds the table with both columns, and where each was measured."""
    give_good(compare)
    with compare.expect_download() as waiting:
        compare.get_by_role("button", name="Save the comparison").click()
    saved = tmp_path / "comparison.md"
    waiting.value.save_as(saved)

    text = saved.read_text(encoding="utf-8")
    assert waiting.value.suggested_filename.endswith(".md")
    assert "Your machine (Made-up processor, 77 cores)" in text
    assert good()["figures"]["mnist_epoch.cpu"]["text"].replace("\N{NO-BREAK SPACE}", " ") in text
    assert text.count("\n| ") == (
        compare.locator(".results-main table").first.locator("tr").count() + 1
    )


def test_the_machine_travels_in_the_learners_record(
    compare: Page, site: str, tmp_path: Path
) -> None:
    """Exported with the record, forgotten with it, and imported with it again."""
    give_good(compare)
    compare.goto(site + RECORD)
    expect(compare.locator("learner-record")).to_contain_text("your machine’s figures")
    with compare.expect_download() as waiting:
        compare.get_by_role("button", name="Export").click()
    saved = tmp_path / "record.json"
    waiting.value.save_as(saved)
    compare.on("dialog", lambda dialog: dialog.accept())
    compare.get_by_role("button", name="Forget all").click()
    expect(compare.locator("learner-record")).to_contain_text("forgotten")
    assert compare.evaluate(f"localStorage.getItem('{KEY}')") is None

    compare.locator("learner-record input[type=file]").set_input_files(saved)

    expect(compare.locator("learner-record")).to_contain_text("Imported.")
    compare.goto(site + PAGE)
    expect(compare.locator(".results-main th.own").first).to_be_visible()


def test_a_record_with_a_damaged_machine_is_refused(compare: Page, site: str) -> None:
    """Markup in a figure's text, the one place where a chart could take it for more, is refused."""
    figure = {"value": 1, "spread": 0, "noisy": False, "text": "<b>1</b>"}
    entry = {
        "at": "2026-11-21T10:00:00.000Z",
        "label": "Mine",
        "file": "a.json",
        "provenance": {},
        "figures": {"mnist_epoch.cpu": figure},
    }
    record = {"format": "gpu-training.record", "version": 1, "kept": {KEY: {"mine": entry}}}
    compare.goto(site + RECORD)
    compare.locator("learner-record button").first.wait_for()

    file = {"name": "r.json", "mimeType": "application/json", "buffer": text_of(record)}
    compare.locator("learner-record input[type=file]").set_input_files([file])

    expect(compare.locator("learner-record")).to_contain_text("has figures that are not valid")


def test_the_print_leaves_out_what_nobody_can_press(compare: Page) -> None:
    """On paper stand the machine, the table and the charts."""
    give_good(compare)
    compare.emulate_media(media="print")

    expect(compare.locator("compare-machine .drop")).to_be_hidden()
    expect(compare.get_by_role("button", name="Remove my machine")).to_be_hidden()
    expect(compare.locator(".own-machine-name")).to_be_visible()
    expect(compare.locator(".results-main th.own").first).to_be_visible()


def test_the_page_works_when_it_is_reached_from_another(compare: Page, site: str) -> None:
    """Instant navigation wakes the element."""
    compare.goto(site + "benchmarks/results/")
    compare.evaluate("window.__same_document = true")
    compare.locator(f'article a[href$="{PAGE.removeprefix("benchmarks/")}"]').first.click()
    compare.locator("compare-machine .drop").wait_for()

    give_good(compare)

    expect(compare.locator(".results-main th.own").first).to_be_visible()
    assert compare.evaluate("window.__same_document")
