"""What the browser checks a design ledger with; tests/assets/decision.test.mjs tries it."""

import json

from lesson_site.mission.decision import bounds, issue_texts, rules, schema
from tests.lesson_site.mission.decision_files import CASES


def test_every_code_has_a_file() -> None:
    """No code of the list is without a file that triggers it."""
    triggered = {code for case in CASES.values() for code, _ in case["expect"]}

    assert set(issue_texts()) == triggered


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
    given = json.loads(json.dumps(rules()))

    assert {"error", "warning"} == {severity for _, severity, _ in given["issues"]}
    assert schema() == given["schema"]
