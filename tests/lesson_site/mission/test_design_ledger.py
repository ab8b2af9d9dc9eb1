"""The design ledger's files: what is one, and what is said about those that are not."""

import json
from typing import Any

import pytest

from lesson_code.mission.constants import MODEL_VERSION
from lesson_site.mission.design_ledger import (
    bounds,
    field_or,
    issue_texts,
    ledger_schema,
    read_ledger,
    schema,
    validate_ledger,
)
from tests.lesson_site.mission.ledger_files import CASES, FILES, file_of

FULL, EIGHT = FILES["full"], FILES["eight"]


@pytest.mark.parametrize("name", CASES)
def test_every_file_has_its_issues(name: str) -> None:
    """A file has exactly the issues that its case names, in their order."""
    case = CASES[name]

    _, issues = read_ledger(file_of(case), case.get("others"))

    assert case["expect"] == [[issue.code, issue.path] for issue in issues]


def test_a_ledger_of_an_earlier_model_is_still_read() -> None:
    """What somebody exported before the model changed is read as before."""
    current = file_of({"of": "full", "change": {"details": {"model_version": MODEL_VERSION}}})

    assert MODEL_VERSION != FULL["details"]["model_version"]
    assert [] == validate_ledger(FULL) == read_ledger(current)[1]


def test_every_code_has_a_file() -> None:
    """No code of the list is without a file that triggers it."""
    triggered = {code for case in CASES.values() for code, _ in case["expect"]}

    assert set(issue_texts()) == triggered


@pytest.mark.parametrize(
    ("name", "found", "allowed"),
    [
        ("another chapter", "7", "the number 8. This file has the number 7."),
        ("a chapter with a named lab", "10", "the number 10."),
        ("a capital letter", '"Adam"', '"adam", "sgd" or "momentum"'),
        ("an unknown key", "1", "baseline_mfu_estimate_pct, chapter, details"),
        ("a file of more than 64 KB", "65537", "65,536 bytes"),
        ("names without quotation marks", '"{chapter:8}"', "no JSON"),
        ("a long unknown key", '"' + "v" * 39 + "…", "No such key"),
        ("a utilisation for the MFU", "82", "59.1 %"),
        ("below the smallest total", "6.68", "6.69 GB"),
        ("a field is missing", "", "at most 2000"),
    ],
)
def test_an_issue_says_what_stands_there_and_what_may(name: str, found: str, allowed: str) -> None:
    """An issue names what was found, and a sentence says what is allowed."""
    [issue] = read_ledger(file_of(CASES[name]))[1]

    assert found == issue.found
    assert allowed in issue.message


def test_the_schema_goes_as_far_as_the_model() -> None:
    """The schema's limit of a fit is the laptop's budget, and the bounds are the model's."""
    [rule] = schema()["allOf"]
    names = ("mfu", "laptop_smallest_gb", "static_floor_gb")

    limit = rule["then"]["properties"]["laptop_minimum_memory_gb"]["maximum"]

    assert bounds()["laptop_budget_gb"] == limit
    assert [59.1, 6.69, 12.46] == [bounds()[name] for name in names]


def test_the_floor_is_named_with_the_fit_it_goes_with() -> None:
    """A total that exists may still contradict the other field."""
    says = issue_texts()["W_FLOOR"]

    assert "6.69 GB" in says
    assert "up to 8.0 GB goes with laptop_fit_achieved: true" in says


def test_the_browser_gets_every_rule() -> None:
    """What goes to the browser is JSON, and has the severity of every code."""
    given = json.loads(json.dumps(ledger_schema()))

    assert {"error", "warning"} == {severity for _, severity, _ in given["issues"]}
    assert schema() == given["schema"]


@pytest.mark.parametrize(
    ("ledgers", "expected"),
    [
        ({}, 24.5),
        ({"7": EIGHT}, 24.5),
        ({"8": EIGHT}, 39.3),
        ({"8": FULL}, 39.3),
        ({"8": {**EIGHT, "final_mfu_pct": "39.3"}}, 24.5),
        ({"8": None}, 24.5),
    ],
)
def test_a_later_lab_survives_what_is_missing(ledgers: dict[str, Any], expected: float) -> None:
    """A reader gets the field of a good ledger, with details or without, or else its fallback."""
    assert expected == field_or(ledgers, "final_mfu_pct", 24.5)


def test_a_later_lab_survives_a_missing_field() -> None:
    """What stands in no required field may be missing."""
    assert "none" == field_or({"8": EIGHT}, "details", "none")


def test_a_number_from_python_is_a_whole_one_as_in_json() -> None:
    """A float without a fraction is a whole number; true is none."""
    assert [] == validate_ledger({**EIGHT, "baseline_mfu_estimate_pct": 75.0})
    assert ["E_TYPE"] == [
        issue.code for issue in validate_ledger({**EIGHT, "baseline_mfu_estimate_pct": True})
    ]
