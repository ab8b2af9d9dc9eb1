"""Eight pages as a screen reader is given them: names, levels, places, order, and what is said."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import LOOKS, new_context, settled

PAGES = (
    "",
    "gpu-training/device-aware-loop/",
    "gpu-training/when-a-gpu-helps/",
    "gpu-training/why-mixed-precision/",
    "gpu-training/when-mixed-precision-helps/",
    "lab/exercise-1/",
    "mission/",
    "benchmarks/forecast/",
)
CONTROLS = {
    *("button", "link", "textbox", "searchbox", "combobox", "checkbox", "radio", "switch"),
    *("slider", "spinbutton", "tab", "DisclosureTriangle"),
}
GROUPS = {"group", "radiogroup", "Details"}
DRAWN = {"image", "graphics-document"}


@dataclass(frozen=True)
class Node:
    """Something that is read.

    Attributes:
        inside: What it lies in, from the page inwards, by their places in the list of nodes.
    """

    role: str
    name: str
    level: int
    inside: tuple[int, ...]


def read(page: Page) -> list[Node]:
    """What Chromium hands to a screen reader, in the order in which it is read."""
    session = page.context.new_cdp_session(page)
    nodes = {n["nodeId"]: n for n in session.send("Accessibility.getFullAXTree")["nodes"]}
    found: list[Node] = []

    def walk(node: dict[str, Any], inside: tuple[int, ...]) -> None:
        if not node["ignored"]:
            level = [p["value"]["value"] for p in node["properties"] if p["name"] == "level"]
            name = node.get("name", {}).get("value", "")
            found.append(Node(node["role"]["value"], name, next(iter(level), 0), inside))
            inside = (*inside, len(found) - 1)
        for child in node.get("childIds", []):
            if child in nodes:
                walk(nodes[child], inside)

    walk(next(n for n in nodes.values() if "parentId" not in n), ())
    session.detach()
    return found


Reader = Callable[[str], list[Node]]


@pytest.fixture(scope="module")
def window(browser: Browser) -> Iterator[Page]:
    """One for all pages."""
    context = new_context(browser, LOOKS[0])
    yield context.new_page()
    context.close()


@pytest.fixture(scope="module")
def reader(window: Page, site: str) -> Reader:
    """What is read of a page as it comes, once its scripts have run."""

    @cache
    def read_page(address: str) -> list[Node]:
        window.goto(site + address)
        settled(window)
        return read(window)

    return read_page


@pytest.mark.parametrize("address", PAGES)
def test_each_landmark_is_there_once(reader: Reader, address: str) -> None:
    """One head, one main part and one foot, and every way to go on has a name of its own."""
    nodes = reader(address)
    roles = Counter(node.role for node in nodes)
    names = Counter(node.name for node in nodes if node.role == "navigation")

    assert (1, 1, 1) == (roles["banner"], roles["main"], roles["contentinfo"])
    assert [] == [name for name, times in names.items() if times > 1 or not name]


@pytest.mark.parametrize("address", PAGES)
def test_headings_go_down_one_level_at_a_time(reader: Reader, address: str) -> None:
    """The first one is the page's title, and no other has its level."""
    levels = [node.level for node in reader(address) if node.role == "heading"]

    assert 1 == levels.count(1) == levels[0]
    assert [] == [(a, b) for a, b in pairwise(levels) if b > a + 1]


@pytest.mark.parametrize("address", PAGES)
def test_no_sign_is_read_with_the_words(reader: Reader, address: str) -> None:
    """A heading's name is its text, and what copies a listing is in no landmark of its own."""
    nodes = reader(address)
    around = [nodes[i] for node in nodes if "Copy" in node.name for i in node.inside]

    assert [] == [node for node in nodes if "¶" in node.name]
    assert [] == [node for node in around if node.role in ("navigation", "region")]


@pytest.mark.parametrize("address", PAGES)
def test_each_control_says_what_it_does(reader: Reader, address: str) -> None:
    """None is read as its kind alone, and in a group no two of a kind sound the same."""
    nodes = reader(address)
    controls = [node for node in nodes if node.role in CONTROLS]
    groups = [
        (next(i for i in reversed(node.inside) if nodes[i].role in GROUPS), node.role, node.name)
        for node in controls
        if node.role != "link" and any(nodes[i].role in GROUPS for i in node.inside)
    ]

    assert controls
    assert [] == [node for node in controls if not node.name.strip()]
    assert [] == [group for group, times in Counter(groups).items() if times > 1]


@pytest.mark.parametrize("address", PAGES)
def test_a_drawing_has_a_name_and_the_finding_beside_it(reader: Reader, address: str) -> None:
    """Each is named by what it shows, and its figure has a caption that is read."""
    nodes = reader(address)
    drawn = [
        (node, next((i for i in reversed(node.inside) if nodes[i].role == "figure"), None))
        for node in nodes
        if node.role in DRAWN and not any(nodes[i].role in DRAWN for i in node.inside)
    ]
    captioned = {
        i
        for n in nodes
        if n.role == "StaticText" and n.name and _in(nodes, n, "Figcaption")
        for i in n.inside
    }

    in_figures = [(node, figure) for node, figure in drawn if figure is not None]
    assert [] == [node for node, _ in in_figures if not node.name]
    assert [] == [node for node, figure in in_figures if figure not in captioned]


@pytest.mark.parametrize("address", PAGES)
def test_a_closed_part_is_not_read(window: Page, reader: Reader, site: str, address: str) -> None:
    """What would give an answer away waits until somebody opens it."""
    heard = " ".join(node.name for node in reader(address))
    window.goto(site + address)
    closed = window.evaluate(
        """() => [...document.querySelectorAll("article details:not([open])")]
           .filter((part) => part.checkVisibility())
           .map((part) => part.querySelector(":scope > :not(summary)"))
           .flatMap((part) => part ? [...part.querySelectorAll("p")] : [])
           .map((text) => text.innerText.trim()).filter((text) => text.length > 40)"""
    )

    assert [] == [text for text in closed if text in heard]


def _in(nodes: list[Node], node: Node, role: str) -> bool:
    return any(nodes[i].role == role for i in node.inside)


def test_a_check_is_read_from_its_question_to_its_answer(window: Page, site: str) -> None:
    """Question, choices, the button, what came of it, the answer: in this order."""
    window.goto(f"{site}gpu-training/device-aware-loop/")
    check = window.locator("lesson-check").first
    check.scroll_into_view_if_needed()
    expect(check).to_have_attribute("data-state", "asking")
    title = check.locator(".admonition-title").inner_text()
    question = check.locator(".check-question p").first.inner_text().split(".")[0]

    nodes = read(window)
    start = next(i for i, n in enumerate(nodes) if (n.role, n.name) == ("group", title))
    inside = [node for node in nodes if start in node.inside]

    def first(*roles: str, says: str = "") -> int:
        return next(i for i, n in enumerate(inside) if n.role in roles and says in n.name)

    order = [
        first("StaticText", says=question),
        first("radio"),
        first("button", says="Commit"),
        first("status"),
        first("DisclosureTriangle"),
    ]
    assert sorted(order) == order


def test_what_is_missing_and_what_came_out_is_said(page: Page, site: str) -> None:
    """A live region, there from the start, says what is missing; verdict and reason are heard."""
    page.goto(f"{site}gpu-training/when-mixed-precision-helps/")
    check = page.locator("lesson-check[kind=choice]").first
    check.scroll_into_view_if_needed()
    expect(check).to_have_attribute("data-state", "asking")
    said = check.get_by_role("status")
    expect(said).to_have_text("")

    check.get_by_role("button", name="Commit").click()
    expect(said).not_to_have_text("")
    right = int(check.get_attribute("right") or "")
    choices = check.locator(".check-choices label")
    choices.nth(right % choices.count()).click()
    check.get_by_role("button", name="Commit").click()

    expect(check).to_have_attribute("data-state", "committed")
    expect(said).to_have_text("")
    heard = check.locator("[data-verdict] > :focus")
    expect(heard).to_have_text("Not this one.")
    expect(heard).to_have_accessible_description(check.locator(".check-reply").inner_text())
    check.get_by_role("button", name="Predict again").click()
    choices.nth(right - 1).click()
    check.get_by_role("button", name="Commit").click()
    expect(heard).to_have_text("Right.")
    answer = check.locator(".check-answer-text").first.inner_text().split(".")[0]
    expect(heard).to_have_accessible_description(re.compile(f"^{re.escape(answer)}"))


def test_the_timeline_says_what_a_change_has_brought(page: Page, site: str) -> None:
    """The sentences below it are a live region, and are others after the change."""
    page.goto(f"{site}gpu-training/when-a-gpu-helps/")
    timeline = page.locator("training-timeline").first
    timeline.scroll_into_view_if_needed()
    said = timeline.get_by_role("status").first
    before = said.inner_text()

    timeline.get_by_role("button").first.click()

    expect(said).not_to_have_text(before)
    assert said.inner_text().strip()
