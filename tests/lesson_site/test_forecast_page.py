"""The fence of the page that forecasts: what it writes before anybody chooses."""

import json
import re
from html import unescape

import pytest
from markdown import Markdown

from lesson_code.forecast import formula
from lesson_code.forecast.cards import read_cards
from lesson_site.errors import PageError
from lesson_site.forecast import data, instrument
from lesson_site.forecast.models import MODELS
from lesson_site.forecast.told import Choice, tell
from lesson_site.forecast.words import WORDS
from results import accuracy


def fence(show: str) -> str:
    """A part of the page."""
    return instrument.forecast("", "", "", {"show": show}, Markdown())


def test_the_page_carries_what_its_script_needs() -> None:
    """Every card, and at least one counted step of every model."""
    found = re.search(r'data-apart="(.*?)"', fence("instrument"))

    assert found
    payload = json.loads(unescape(found[1]))
    assert list(read_cards()) == list(payload["cards"])
    assert list(MODELS) == [name for name, model in payload["models"].items() if model["steps"]]
    assert {point[0] for point in payload["points"]} < set(MODELS)


def test_a_step_that_fits_nowhere_has_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table says so in its place."""
    monkeypatch.setattr(instrument, "THREE_MODELS", [("resnet50", 256)])

    cells = re.findall(r"<td>(.*?)</td>", fence("table"))

    assert "does not fit" == cells[instrument.SIX_CARDS.index("t4")]
    assert "does not fit" != cells[instrument.SIX_CARDS.index("h100")]


def test_without_a_measured_cpu_there_is_no_crossing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sentence says what would measure it."""
    for module in (data, instrument):
        monkeypatch.setattr(module, "sweep", list)

    assert "python -m benchmarks run --case step_sweep" in fence("crossing")


def test_an_h100_does_the_lesson_s_step_in_less_than_one_request() -> None:
    """Its arithmetic and its traffic, at whatever computer."""
    step = data.step_of("mnist", 64, "float32", channels_last=False)
    assert step

    found = formula.forecast(step, read_cards()["h100"])

    assert formula.HOST.low > found.arithmetic + found.traffic


@pytest.mark.parametrize("card", read_cards())
def test_the_corners_of_the_crossing_are_as_the_page_says(card: str) -> None:
    """Above and to the left launches decide and neither wins; below and to the right work does."""
    cells = data.sweep()
    first, last = cells[0], cells[-1]
    launches, work = (formula.forecast(cell.step, read_cards()[card]) for cell in (first, last))

    assert "launches" == launches.binds != work.binds
    assert launches.low < first.seconds < launches.high
    assert work.high < last.seconds


@pytest.mark.parametrize("card", read_cards())
def test_a_forecast_says_where_nothing_tests_it(card: str) -> None:
    """Last, on a card without compared training speeds, and on no other one."""
    compared = {one.point.card for one in accuracy.training()}
    says = WORDS["untested"].format(card=read_cards()[card].name)

    sentences = tell(Choice(card, "resnet50", 64, "float32")).sentences

    assert (card not in compared) == (says == sentences[-1])
    assert 3 == len([sentence for sentence in sentences if sentence != says])


def test_an_unknown_part_stops_the_build() -> None:
    """The message names those that there are."""
    with pytest.raises(PageError, match="instrument, table, crossing"):
        fence("everything")
