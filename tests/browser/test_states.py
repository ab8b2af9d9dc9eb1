"""Each state of each instrument is asked by axe in the test that brings it about."""

import ast
import re
from collections import Counter
from pathlib import Path

from tests.browser.states import STATES
from tests.building import REPOSITORY

ELEMENTS = REPOSITORY / "docs" / "assets"
ASKS = {"expect_accessible", "look"}


def asked() -> Counter[tuple[str, str]]:
    """Which states the tests of this folder ask, read off their calls."""
    found: Counter[tuple[str, str]] = Counter()
    for path in Path(__file__).parent.glob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                said = [each.value for each in node.args if isinstance(each, ast.Constant)]
                if node.func.id in ASKS and len(said) > 1:
                    found[said[0], said[1]] += 1
    return found


def test_the_table_has_every_element() -> None:
    """Those that pages wake, what a live server's pages bring along, and the theme's search."""
    source = (ELEMENTS / "lesson.js").read_text(encoding="utf-8")
    woken = re.findall(r'^  "([a-z-]+)": \(\) => import', source, re.MULTILINE)

    assert {*woken, "run-on-machine", "md-search"} == set(STATES)


def test_each_state_is_asked_once() -> None:
    """Every element has a state, and no state is asked in two tests."""
    table = {(element, state) for element, states in STATES.items() for state in states}

    assert all(STATES.values())
    assert dict.fromkeys(table, 1) == asked()
