"""The reflections: what is asked, what is right, and what every answer gets."""

from typing import Any

import pytest

from lesson_site.mission.drawn import predictions
from lesson_site.mission.reflections import reflections

LONGEST_ID = 20
REFLECTIONS = reflections()
BLANKS = [(number, i, REFLECTIONS[number]["blanks"][i]) for number in ("1", "2") for i in range(3)]


def test_the_ledger_draws_what_each_choice_claims() -> None:
    """The choices claim 0, 3, 12 and 24 GB, and the gap that is drawn says both counts."""
    found = predictions()

    assert {"A": 0, "B": 3e9, "C": 12e9, "D": 24e9} == found["claims"]
    assert "12 GB gap (12.46 GB exact)" == found["gap"]


def test_right_answers_of_the_blanks() -> None:
    """The right ids are those that the mission's record keeps."""
    right: dict[str, list[str]] = {"1": [], "2": []}
    for number, _, blank in BLANKS:
        right[number].append(blank["right"])

    assert right == {"1": ["2", "copies", "1.0"], "2": ["4", "33", "recompute"]}


@pytest.mark.parametrize(("number", "i", "blank"), BLANKS)
def test_blank(number: str, i: int, blank: dict[str, Any]) -> None:
    """A blank has four options with short ids, and something to say to each of them."""
    values = [value for value, _ in blank["options"]]

    assert blank["label"] == f"Blank {i + 1}"
    assert len(values) == len(set(values)) == 4
    assert max(map(len, values)) <= LONGEST_ID
    assert {blank["right"], *blank["wrong_says"]} == set(values)
    assert blank["right"] not in blank["wrong_says"]
    assert all([blank["right_says"], *blank["wrong_says"].values()])


@pytest.mark.parametrize("number", ["1", "2"])
def test_sentence_has_room_for_three_blanks(number: str) -> None:
    """Text is before, between and after the blanks, and a table follows."""
    sentence = REFLECTIONS[number]["sentence"]

    assert len(sentence) == 4
    assert all(sentence)
    assert set(REFLECTIONS[number]["table"]) == {"caption", "head", "rows", "notes"}


def test_second_sentence_is_the_chapters() -> None:
    """The 4× and the 33 % are said to be the textbook's; the formula's figures follow."""
    said = REFLECTIONS["2"]
    after = " ".join(said["after"])

    assert said["sentence"][0].startswith("In the textbook’s walkthrough, gradient checkpointing")
    assert all(figure in after for figure in ("9.2×", "13.8×", "19.0×", "33.3 %", "31.8 %"))
    assert "4× is the textbook’s figure" in after


@pytest.mark.parametrize(
    ("option", "figures"),
    [
        ("A", ["100 to 82.5 units", "×1.21"]),
        ("B", ["12.46 GB", "40 %"]),
        ("C", ["×1.58", "from 40 to 5 %"]),
        ("D", ["0.60", "×0.94"]),
    ],
)
def test_choice_of_a_fix(option: str, figures: list[str]) -> None:
    """Each fix is answered with what it does to the iteration; prefetching is right."""
    choice = REFLECTIONS["choice"]

    assert choice["right"] == "C"
    assert ["A", "B", "C", "D"] == [name for name, _ in choice["options"]]
    said = choice["right_says"] if option == "C" else choice["wrong_says"][option]
    assert [figure for figure in figures if figure in said] == figures


def test_floor_of_the_laptop() -> None:
    """12.0 to 12.5 GB are accepted, for the reason that parameters and gradients take 8 bytes."""
    quantify = REFLECTIONS["quantify"]
    why = quantify["why"]
    labels = dict(why["options"])

    assert (12.0, 12.5) == (quantify["least"], quantify["most"])
    assert "8 bytes × 1,557,611,200 = 12.46 GB, 4.46 GB more" in quantify["right_says"]
    assert "6.23 GB is pure 16-bit" in quantify["low_says"]
    assert "18.69 GB is momentum, 24.92 GB Adam" in quantify["high_says"]
    assert 18.0 == quantify["total_below"]  # where momentum begins
    assert "A total on the bar has activations" in quantify["total_says"]
    assert [11.18, 11.64] == quantify["gib"]
    assert quantify["gib"][0] < 11.605 < quantify["gib"][1] < quantify["least"]
    assert "the question asks for GB" in quantify["gib_says"]
    assert labels[why["right"]] == "parameters and gradients alone take 8 bytes × 1.56 billion"
    assert {why["right"], *why["wrong_says"]} == set(labels)
    assert max(map(len, labels)) <= LONGEST_ID
