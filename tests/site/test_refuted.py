"""What the site once said, and what running it showed to be false, is said nowhere any more.

A track's file in ``refuted/`` lists its statements: the sentence that was false (``was``), a
pattern that finds it in other words too (``pattern``), what is true (``true``), and what shows it
(``evidence``): a test of ours, or ``source:`` and an address.
"""

import re
import tomllib
from pathlib import Path

import pytest

from tests.building import REPOSITORY
from tests.pages import read, text_of

Statement = dict[str, str]
STATEMENTS = {
    f"{file.stem}: {name}": statement
    for file in sorted((Path(__file__).parent / "refuted").glob("*.toml"))
    for name, statement in tomllib.loads(file.read_text(encoding="utf-8")).items()
}
CODE = [
    path
    for room in ("lesson_code", "graders", "lesson_site", "benchmarks", "results")
    for path in sorted((REPOSITORY / room).rglob("*.py"))
]


def said(statement: Statement, text: str) -> re.Match[str] | None:
    """Where ``text``, in one line, makes the statement."""
    return re.search(statement["pattern"], text, re.IGNORECASE)


@pytest.fixture(scope="module")
def texts(built_site: Path) -> dict[str, str]:
    """Every built page and every module of ours, each as one line of text."""
    pages = {
        str(path.relative_to(built_site)): text_of(read(path))
        for path in sorted(built_site.rglob("*.html"))
    }
    code = {
        str(path.relative_to(REPOSITORY)): " ".join(
            line.strip().removeprefix("# ")
            for line in path.read_text(encoding="utf-8").splitlines()
        )
        for path in CODE
    }
    return pages | code


@pytest.mark.parametrize("statement", STATEMENTS.values(), ids=STATEMENTS)
def test_the_pattern_finds_what_was_said(statement: Statement) -> None:
    """A pattern that misses the sentence it is for would prove nothing."""
    assert said(statement, statement["was"])
    assert not said(statement, statement["true"])


@pytest.mark.parametrize("statement", STATEMENTS.values(), ids=STATEMENTS)
def test_it_is_said_nowhere(texts: dict[str, str], statement: Statement) -> None:
    """No page of the site and no module makes the statement."""
    assert len(texts) > 300

    assert [] == [
        f"{where}: {found[0]}" for where, text in texts.items() if (found := said(statement, text))
    ]


@pytest.mark.parametrize("statement", STATEMENTS.values(), ids=STATEMENTS)
def test_its_evidence_is_there(statement: Statement) -> None:
    """The evidence is a test function that exists, or names its source."""
    kind, _, rest = statement["evidence"].partition(":")
    if kind == "source":
        assert rest.strip()
        return
    file, _, test = statement["evidence"].partition("::")

    assert f"def {test}(" in (REPOSITORY / file).read_text(encoding="utf-8")
