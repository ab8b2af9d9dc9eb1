"""Three trainings to guess: their outcomes, and the mark of each figure."""

import html
import json
import re
from typing import Any

import pytest

from lesson_code.forecast.cards import read_cards
from lesson_site.fences import keep_options
from lesson_site.who_first import TRAININGS, who_first, winner


def converted() -> str:
    """The HTML of a page with the fence."""
    import markdown

    custom = {
        "name": "lesson-who-first",
        "class": "lesson-who-first",
        "format": who_first,
        "validator": keep_options,
    }
    return markdown.markdown(
        "```lesson-who-first\n```\n",
        extensions=["pymdownx.superfences"],
        extension_configs={"pymdownx.superfences": {"custom_fences": [custom]}},
    )


@pytest.fixture(scope="module")
def page() -> str:
    """Read once."""
    return converted()


@pytest.fixture(scope="module")
def data(page: str) -> dict[str, Any]:
    """What the browser gets."""
    found = re.search(r'data-trainings="([^"]*)"', page)
    assert found
    content: dict[str, Any] = json.loads(html.unescape(found[1]))
    return content


@pytest.mark.parametrize(
    ("window", "expected"),
    [((1.0, 1.9), "GPU"), ((2.1, 3.0), "CPU"), ((1.9, 2.1), "close"), ((2.0, 2.0), "close")],
)
def test_the_winner_wins_over_the_whole_window(window: tuple[float, float], expected: str) -> None:
    """The CPU takes two seconds."""
    assert expected == winner(2.0, *window)


def test_a_training_has_a_sentence_for_each_outcome_of_each_card(data: dict[str, Any]) -> None:
    """Whichever card a reader has chosen, the reason fits who wins there."""
    assert len(TRAININGS) == len(data["trainings"])
    for training in data["trainings"]:
        cpu = training["cpu"][0]
        outcomes = {winner(cpu, low, high) for low, high, _ in training["gpu"].values()}
        assert outcomes == set(training["why"])


def test_forecasts_are_there_for_every_card_and_say_so(data: dict[str, Any]) -> None:
    """A published time is one, and each says its kind."""
    published, *forecast = data["trainings"]

    assert [""] == list(published["gpu"])
    assert all(list(read_cards()) == list(training["gpu"]) for training in forecast)
    told = [text for training in forecast for *_, text in training["gpu"].values()]
    assert all(re.search(r"\(forecast, .+ to .+\)$", text) for text in told)
    assert published["gpu"][""][2].endswith("(published)")


def test_the_results_can_be_read_without_javascript(page: str) -> None:
    """The table is closed, so that a guess comes first, and has every training."""
    assert "<details><summary>" in page
    assert all(html.escape(training.name) in page for training in TRAININGS)
    assert {"measured", "published", "forecast"} == set(re.findall(r'data-kind="(\w+)"', page))


def test_a_forecast_in_the_table_names_its_card(page: str) -> None:
    """Who has not guessed reads times of a card that the lesson chose."""
    forecasts = re.findall(r'data-kind="forecast">[^<]+</span>([^<]+)</td>', page)

    assert forecasts
    assert all(mark.startswith(" on a T4 (forecast, ") for mark in forecasts)
