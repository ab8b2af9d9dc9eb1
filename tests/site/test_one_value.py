"""A quantity has one value of one machine on all pages, and what is derived fits its parts."""

import math
import re
from collections import defaultdict
from html.parser import HTMLParser
from pathlib import Path

from results.cases import together
from results.catalogue import PAIRS, Definition
from results.quantities import SPACE, read
from results.store import Store, one_a_machine, open_store

NO_MACHINE = "the first machine"


class Shown(HTMLParser):
    """What a page shows of each figure: its name, the machine of its column or row, and its text.

    Attributes:
        found: Name, machine and text of each.
    """

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str, str]] = []
        self.columns: list[str] = []
        self.rows_of = ""
        self.column = 0
        self.open: list[str] | None = None  # name, machine, tag, text

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the machine of a column or of a group of rows, and where a figure begins."""
        at = {name: value or "" for name, value in attrs}
        if tag == "table":
            self.columns, self.rows_of = [], ""
        elif tag == "tbody":
            self.rows_of = at.get("data-machine", "")
        elif tag == "tr":
            self.column = 0
        elif tag == "th" and "data-machine" in at:
            self.columns.append(at["data-machine"])
        if "data-figure" in at and tag in ("td", "span"):
            column = self.columns[self.column] if self.column < len(self.columns) else NO_MACHINE
            machine = NO_MACHINE if tag == "span" else self.rows_of or column
            self.open = [at["data-figure"], machine, tag, ""]
        self.column += tag == "td"

    def handle_data(self, data: str) -> None:
        """Collect its text."""
        if self.open:
            self.open[3] += data

    def handle_endtag(self, tag: str) -> None:
        """Keep the figure, or leave the table."""
        if self.open and tag == self.open[2]:
            name, machine, _, text = self.open
            said = text.removesuffix(" (noisy)").removesuffix(", published")
            said = said.removesuffix(f"{SPACE}per second")  # a race's table says it in its caption
            self.found.append((name, machine, said))
            self.open = None
        if tag == "table":
            self.columns, self.rows_of = [], ""


def shown_on(page: Path) -> list[tuple[str, str, str]]:
    """Every figure that a built page shows."""
    reader = Shown()
    reader.feed(page.read_text(encoding="utf-8"))
    return [(name, machine, text) for name, machine, text in reader.found if re.match(r"\d", text)]


def test_no_figure_has_two_values_of_one_machine(built_site: Path) -> None:
    """In sentences, charts and tables of all pages; a sentence shows what a table's column does."""
    store, values = open_store(), defaultdict[tuple[str, str], dict[str, str]](dict)
    for page in sorted(built_site.rglob("*.html")):
        for name, machine, text in shown_on(page):
            defined = store.definitions.get(name)  # what others published needs no entry there
            files = one_a_machine(store.results, defined.case if defined else None)
            first = files[0].provenance["machine"] if files else ""
            of = first if machine == NO_MACHINE else machine
            values[name, of].setdefault(text, str(page.relative_to(built_site)))

    assert len(values) > 100
    assert {} == {name: texts for name, texts in values.items() if len(texts) > 1}


def test_cases_that_are_compared_are_one_group() -> None:
    """No figure takes its parts from two files."""
    apart = [
        definition.name
        for definition in open_store().definitions.values()
        if len({together(target.partition(":")[0]) for target in definition.targets}) > 1
    ]

    assert [] == apart


def test_what_is_derived_is_what_its_shown_parts_give() -> None:
    """Computed from the rounded texts, as a reader with a calculator would."""
    store = open_store()
    checked = 0
    for definition in store.definitions.values():
        figure = store.figure(definition.name)
        parts = parts_of(definition, store)
        if not figure.known or len(parts) != 2:
            continue
        first, second = map(ends, parts)
        given = [combine(definition.kind, a, b) for a in first for b in second]
        low, high = ends(figure.text)
        checked += 1
        assert min(given) <= high, (definition.name, figure.text, parts)
        assert low <= max(given), (definition.name, figure.text, parts)

    assert checked > 20


def parts_of(definition: Definition, store: Store) -> list[str]:
    """The two texts from which a reader could compute a figure; none where pages show none."""
    if definition.kind == "derived" and definition.fields["derived"] == "ladder_distance":
        rung = definition.fields["arguments"]["rung"]
        names = [f"ladder.{rung}", f"ladder.{rung.partition('_')[0]}_limit"]
    elif definition.kind in PAIRS:
        medians = {
            of.fields["measured"]: of.name
            for of in store.definitions.values()
            if of.kind == "measured" and "statistic" not in of.fields
        }
        names = [medians[target] for target in definition.targets if target in medians]
    else:
        return []
    figures = [store.figure(name) for name in names]
    return [figure.text for figure in figures if figure.known]


def ends(text: str) -> tuple[float, float]:
    """The smallest and the largest number that are rounded to this text."""
    digits = text.split(SPACE)[0].replace(",", "").replace("−", "-")
    whole, _, decimals = digits.partition(".")
    zeros = 0 if decimals else len(whole) - len(whole.rstrip("0"))  # 4,700 is in hundreds
    half = 0.5 * 10.0 ** (zeros - len(decimals))
    factor = read(text) / float(digits) if float(digits) else 1.0
    return factor * (float(digits) - half), factor * (float(digits) + half)


def combine(kind: str, first: float, second: float) -> float:
    """What two parts give."""
    if kind == "difference":
        return first - second
    quotient = first / second if second else math.inf
    return {"share": 100 * quotient, "saving": 100 - 100 * quotient}.get(kind, quotient)
