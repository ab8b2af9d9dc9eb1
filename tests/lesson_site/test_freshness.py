"""What newer versions change is told once, with the pages that show it."""

import subprocess
import sys
from pathlib import Path

import pytest

from lesson_site.freshness import ENDED, TEXT_AT_MOST, Failure, Pages, issue, main
from tests.building import REPOSITORY

MODULE = """\
# --8<-- [start:one]
ONE = 1
# --8<-- [end:one]


# --8<-- [start:two]
TWO = 2


# --8<-- [end:two]
"""
SHOWS_ONE = """\
# A page

```lesson-code show="track/thing.py:one"
```
"""
SHOWS_BOTH = """\
# Another page

```lesson-code show="track/thing.py:one"
```
```lesson-code show="track/thing.py:two"
```
```lesson-output of="track/thing:print_it"
```
A step takes [[forecast.mnist_64.float32.h100.time]].
"""


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pages:
    """Two pages that show sections of one module, and one of an exercise."""
    monkeypatch.chdir(tmp_path)
    texts = {
        "docs/a.md": SHOWS_ONE,
        "docs/b/index.md": SHOWS_BOTH,
        "docs/lab/exercise-1.md": "# An exercise\n",
        "lesson_code/track/thing.py": MODULE,
    }
    for name, text in texts.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")
    return Pages()


def tried(version: str, *cases: str) -> None:
    """Keep a report of pytest whose test cases these are."""
    folder = Path("fresh") / version.replace(" ", "-")
    folder.mkdir(parents=True)
    (folder / "version.txt").write_text(f"{version}\n", encoding="utf-8")
    report = (
        f'<testsuites><testsuite tests="{len(cases)}">{"".join(cases)}</testsuite></testsuites>'
    )
    (folder / "report.xml").write_text(report, encoding="utf-8")


def case(name: str, said: str = "", trace: str = "", module: str = "tests.some.test_more") -> str:
    """A test case of a report, which failed if it said something."""
    problem = f'<failure message="{said}">{trace}</failure>' if said else ""
    return f'<testcase classname="{module}" name="{name}">{problem}</testcase>'


def test_nothing_new_is_no_text(pages: Pages) -> None:
    """Tests that pass and tests that were left out say nothing."""
    tried("PyTorch 9", case("test_a"), '<testcase name="b"><skipped message="no GPU"/></testcase>')

    assert "" == issue(Path("fresh"), pages)


def test_a_changed_printout_names_the_page_and_what_changed(pages: Pages) -> None:
    """The fence that shows the recording has a line."""
    tried("PyTorch 9", case("test_fresh[track/thing:print_it]", "assert [] == ['1 became 2']"))

    text = issue(Path("fresh"), pages)

    assert "## `PyTorch 9`" in text
    assert "test_fresh[track/thing:print_it]`: `assert [] == ['1 became 2']`\n" in text
    assert text.endswith("  - docs/b/index.md:7\n")


def test_every_page_of_a_section_is_named(pages: Pages) -> None:
    """By the line of the section that was run when it broke; other sections are left alone."""
    trace = "tests/some/test_more.py:9:\nlesson_code/track/thing.py:2: in thing\nRuntimeError"
    tried("PyTorch 9", case("test_one", "RuntimeError: no", trace))

    text = issue(Path("fresh"), pages)

    assert ["  - docs/a.md:3", "  - docs/b/index.md:3"] == text.splitlines()[-2:]


@pytest.mark.parametrize(
    ("name", "module", "places"),
    [
        (
            "test_x",
            "tests.lesson_code.track.test_thing",
            ["docs/a.md:3", "docs/b/index.md:3", "docs/b/index.md:5"],
        ),
        ("test_the_same_again[mnist_64]", "tests.a.test_b", ["docs/b/index.md:9"]),
        ("test_axe[b]", "tests.browser.test_every_page", ["docs/b/index.md:1"]),
        (
            "test_kept[lab.exercise_1-a_wrong_one]",
            "tests.graders.test_answers",
            ["docs/lab/exercise-1.md:1"],
        ),
        ("test_x[track/thing:print_other]", "tests.a.test_b", ["no page shows it"]),
    ],
    ids=["mirrored", "counted", "page", "exercise", "nowhere"],
)
def test_a_test_leads_to_its_pages(name: str, module: str, places: list[str], pages: Pages) -> None:
    """By the module that it mirrors, the step that it counts, its page or its exercise."""
    tried("PyTorch 9", case(name, "wrong", module=module))

    text = issue(Path("fresh"), pages)

    assert [f"  - {place}" for place in places] == text.splitlines()[5:]


@pytest.mark.parametrize("report", [None, "<testsuites><testsui"], ids=["none", "half"])
def test_a_crash_is_told_as_one(report: str | None, pages: Pages) -> None:
    """A process that ended leaves no report, or half of one; the other versions are told too."""
    tried("PyTorch 8", case("test_one", "wrong"))
    tried("PyTorch 9")
    path = Path("fresh/PyTorch-9/report.xml")
    path.unlink()
    if report is not None:
        path.write_text(report, encoding="utf-8")

    text = issue(Path("fresh"), pages)

    assert "## `PyTorch 8`" in text
    assert f"## `PyTorch 9`\n\n{ENDED}\n" in text


def test_what_a_test_says_calls_nobody(pages: Pages) -> None:
    """Text of strangers stays text: no name is called, nothing is linked, and it ends in time."""
    said = "`@somebody` see &lt;img&gt; " + "x" * 900
    tried("PyTorch 9", *(case(f"test_{n}", said) for n in range(900)))

    text = issue(Path("fresh"), pages)

    assert "`'@somebody' see <img> x" in text
    assert 200 < max(map(len, text.splitlines())) < 300
    assert TEXT_AT_MOST == len(text)


def test_two_runs_give_one_text(pages: Pages) -> None:
    """So that an open issue changes only when something does."""
    tried("b", case("test_one", "wrong"))
    tried("a", case("test_one", "wrong"))

    assert issue(Path("fresh"), pages) == issue(Path("fresh"), pages)
    assert ["## `a`", "## `b`"] == [
        line for line in issue(Path("fresh"), pages).splitlines() if line.startswith("##")
    ]


def test_a_folder_without_a_try_is_refused(
    pages: Pages, capsys: pytest.CaptureFixture[str]
) -> None:
    """Else a download that went wrong would look like good news."""
    code = main(["fresh"])

    said = capsys.readouterr()
    assert 2 == code
    assert "" == said.out
    assert said.err.startswith("error: fresh has no folder with a version.txt; download")


def test_the_command_prints_the_text(pages: Pages, capsys: pytest.CaptureFixture[str]) -> None:
    """The workflow puts it into a file."""
    tried("PyTorch 9", case("test_one", "wrong"))

    assert 0 == main(["fresh"])
    assert issue(Path("fresh"), pages) == capsys.readouterr().out


def test_the_report_that_pytest_writes_is_read(pages: Pages) -> None:
    """A test that breaks in a shown function leads to the pages that show it."""
    Path("lesson_code/track/thing.py").write_text(
        "# --8<-- [start:one]\ndef one():\n    return 1 / 0\n\n\n# --8<-- [end:one]\n"
        "# --8<-- [start:two]\nTWO = 2\n# --8<-- [end:two]\n",
        encoding="utf-8",
    )
    tests = Path("tests/lesson_code/track/test_thing.py")
    tests.parent.mkdir(parents=True)
    tests.write_text(
        "from lesson_code.track.thing import one\n\n\ndef test_one():\n    one()\n",
        encoding="utf-8",
    )
    tried("PyTorch 9")
    options = ["--quiet", "--import-mode=importlib", "-p", "no:cacheprovider", "-c", "none.ini"]
    report = "--junitxml=fresh/PyTorch-9/report.xml"
    Path("none.ini").write_text("[pytest]\npythonpath = .\n", encoding="utf-8")
    subprocess.run([sys.executable, "-m", "pytest", *options, report, "tests"], check=False)

    text = issue(Path("fresh"), pages)

    assert "`tests.lesson_code.track.test_thing::test_one`: `ZeroDivisionError" in text
    assert ["  - docs/a.md:3", "  - docs/b/index.md:3"] == text.splitlines()[5:]


def test_a_recording_of_ours_leads_to_its_fence(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the real pages."""
    monkeypatch.chdir(REPOSITORY)
    target = "gpu_training/float16_numbers:print_small_numbers"

    [place] = Pages().of(Failure("tests.a", f"test_fresh[{target}]", "", ""))

    page, line = place.split(":")
    assert f'of="{target}"' in Path(page).read_text("utf-8").splitlines()[int(line) - 1]
