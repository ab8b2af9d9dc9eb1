"""Sentences for each kind of evidence: which of them a page says."""

import re
from dataclasses import replace

import pytest
from markdown import Markdown

from lesson_site import evidence, figures
from lesson_site.errors import PageError
from results.store import Figure, FigureError, Kind, Store

GPU = '```lesson-output of="gpu_training/float16_numbers:print_small_numbers" device="cuda"\n```'


class MadeUp(Store):
    """Figures named after their kind; some have no value."""

    def __init__(self, *missing: str) -> None:
        super().__init__([])
        self.missing = missing

    def figure(self, name: str) -> Figure:
        """`measured.time` and so on; nothing else exists."""
        kinds: tuple[Kind, ...] = ("measured", "published", "forecast", "exact")
        for kind in kinds:
            if name.startswith(kind):
                known = Figure(name, "a time", 2.0, f"2 {kind}", "a source", kind)
                return replace(known, value=None) if name in self.missing else known
        raise FigureError(f"there is no figure {name!r}")


def page(text: str, monkeypatch: pytest.MonkeyPatch, *missing: str) -> str:
    """``text`` as HTML without its list of sources."""
    for module in (evidence, figures):
        monkeypatch.setattr(module, "open_store", lambda: MadeUp(*missing))
    ours = ("evidence", "figures", "lesson_pages")
    extensions = [*(f"lesson_site.{name}" for name in ours), "tables"]
    return Markdown(extensions=extensions).convert(text).partition("<details")[0]


ALL = """Before.

/// measured
Ours: [[measured.time]].
///
/// published
Theirs: [[published.time]].
///

/// forecast
Then: [[forecast.time]].
///
/// otherwise
In words.
///

After.
"""


@pytest.mark.parametrize(
    ("missing", "said", "unsaid"),
    [
        ([], ["Ours"], ["Theirs", "Then", "In words"]),
        (["measured.time"], ["Theirs", "Then"], ["Ours", "In words"]),
        (["measured.time", "published.time"], ["Then"], ["Ours", "Theirs", "In words"]),
        (["measured.time", "forecast.time"], ["Theirs"], ["Ours", "Then", "In words"]),
        (
            ["measured.time", "published.time", "forecast.time"],
            ["In words"],
            ["Ours", "Theirs", "Then"],
        ),
    ],
)
def test_a_page_says_the_best_that_exists(
    missing: list[str], said: list[str], unsaid: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Measured alone; else published and forecast; else words."""
    html = page(ALL, monkeypatch, *missing)

    assert [] == [words for words in ["Before", *said, "After"] if words not in html]
    assert [] == [words for words in ["///", *unsaid] if words in html]


def test_a_measured_sentence_may_name_others_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """What others published and what is exact are beside a measurement."""
    text = "/// measured\n[[measured.time]], [[published.time]], [[exact.count]].\n///"

    assert "2 published" in page(text, monkeypatch)


def test_a_measured_sentence_may_lead_to_a_section(monkeypatch: pytest.MonkeyPatch) -> None:
    """The link has the brackets of a figure, and is none."""
    text = "/// measured\nOurs is [[measured.time]], see [[section:device-mismatch]].\n///"

    assert re.search(r'<a href="[^"]+/device-mismatch.md">section \d+</a>', page(text, monkeypatch))


def test_a_list_and_a_table_can_be_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """A block holds whatever Markdown can say."""
    text = "/// forecast\n- [[forecast.time]]\n\n| a |\n| --- |\n| [[exact.count]] |\n///"

    html = page(text, monkeypatch)

    assert "<li>" in html
    assert "<td>" in html


def test_a_block_lies_inside_of_another_element(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its lines keep their indentation, so an admonition holds it."""
    text = "!!! note\n\n    /// measured\n    [[measured.time]]\n    ///\n"
    monkeypatch.setattr(evidence, "open_store", MadeUp)
    monkeypatch.setattr(figures, "open_store", MadeUp)
    extensions = ["lesson_site.evidence", "lesson_site.figures", "admonition"]

    html = Markdown(extensions=extensions).convert(text)

    assert "2 measured" in html.partition("</div>")[0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("/// measured\nIt takes [[measured.time]].\n", "nothing closes it"),
        ("/// measured\nIt takes a while.\n///", "it names no measured figure"),
        ("/// measured\n[[measured.time]] [[forecast.time]]\n///", "which this block can't say"),
        ("/// published\n[[published.time]] [[forecast.time]]\n///", "which this block can't say"),
        ("/// otherwise\n[[forecast.time]]\n///", "which this block can't say"),
        ("/// measured\n[[nothing.time]]\n///", "there is no figure 'nothing.time'"),
        ("/// measured\n[[measured.gone]]\n///", "add `/// otherwise`"),
        (
            "/// measured\n[[measured.a]]\n///\n/// measured\n[[measured.b]]\n///",
            "a block of this kind already",
        ),
    ],
)
def test_a_wrong_block_stops_the_build(
    text: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error says what is wrong with it."""
    with pytest.raises(PageError, match=said):
        page(text, monkeypatch, "measured.gone")


def test_the_output_of_a_gpu_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until it is recorded, the other sentences are said."""
    text = f"/// measured\nIt prints:\n\n{GPU}\n///\n/// otherwise\nIn words.\n///"
    monkeypatch.setattr(evidence.recorded, "read", lambda *_: None)

    html = page(text, monkeypatch)

    assert "In words" in html
    assert "It prints" not in html
