"""A section that a page shows and that no test runs is named, and stops `make test`."""

import json
from pathlib import Path

import pytest

from lesson_site.__main__ import main
from lesson_site.snippets import orphans, shown_sections
from tests.building import run

MODULE = """\
# --8<-- [start:tested]
def tested():
    return 1
# --8<-- [end:tested]


# --8<-- [start:untested]
def untested():
    return 2
# --8<-- [end:untested]
"""
TEST = """\
from lesson_code.tiny import tested


def test_it():
    assert 1 == tested()
"""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one module, one test and one page, as the current folder."""
    for path, text in {
        "lesson_code/__init__.py": "",
        "lesson_code/tiny.py": MODULE,
        "docs/page.md": '# Page\n\n```lesson-code show="tiny.py:tested"\n```\n',
        "test_tiny.py": TEST,
    }.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def measure(repository: Path) -> None:
    """What `make test` does: run the tests, and write which lines they ran."""
    tested = run(
        *("pytest", "-q", "-p", "no:cacheprovider", "--cov=lesson_code", "--cov-report="),
        at=repository,
        PYTHONPATH=str(repository),
    )
    assert not tested.returncode, tested.stdout
    run("coverage", "json", "--quiet", "-o", "coverage.json", at=repository)


def test_a_shown_section_that_no_test_runs_is_named(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the tested section alone all is well; showing the other one fails."""
    measure(repository)
    before = main(["check-snippets", "coverage.json"])
    with (repository / "docs" / "page.md").open("a") as page:
        page.write('\n```lesson-code show="tiny.py:untested"\n```\n')

    after = main(["check-snippets", "coverage.json"])

    assert (0, 2) == (before, after)
    assert (
        "error: lesson_code/tiny.py:9: docs/page.md:6 shows tiny.py:untested, "
        "but no test runs line 9; add a test\n"
    ) == capsys.readouterr().err


def test_a_file_that_no_test_imports_is_named(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is not in the report at all, and still does not slip through."""
    (repository / "coverage.json").write_text(json.dumps({"files": {}}))

    assert 2 == main(["check-snippets", "coverage.json"])
    assert "no test runs" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "there is no report coverage.json"),
        ("", "is not a coverage report"),
        ("[]", "is not a coverage report"),
    ],
)
def test_a_report_that_cannot_be_read_is_refused(
    repository: Path, capsys: pytest.CaptureFixture[str], content: str | None, said: str
) -> None:
    """One sentence says how to get one."""
    if content is not None:
        (repository / "coverage.json").write_text(content)

    assert 2 == main(["check-snippets", "coverage.json"])
    assert said in capsys.readouterr().err


def test_every_way_of_showing_a_section_counts(tmp_path: Path) -> None:
    """Fences, comparisons and checks name sections; charts and outputs do not."""
    (tmp_path / "page.md").write_text(
        '```lesson-code show="a/b.py:one" new_since="a/b.py:two"\n```\n'
        "```lesson-compare\nbefore: a/b.py:three\nafter: a/c.py\n```\n"
        "//// check | Which line?\n    code: a/b.py:four\n////\n"
        '```lesson-chart show="hook"\n```\n```lesson-output of="a/b:print_it"\n```\n'
    )

    shown = {section.target: section.where for section in shown_sections(tmp_path)}

    expected = {"a/b.py:one", "a/b.py:two", "a/b.py:three", "a/c.py", "a/b.py:four"}
    assert expected == set(shown)
    assert f"{tmp_path / 'page.md'}:1" == shown["a/b.py:one"]


def test_a_section_that_no_page_shows_is_an_orphan(repository: Path) -> None:
    """It is named by file and section."""
    assert ["tiny.py:untested"] == orphans()
