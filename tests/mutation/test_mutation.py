"""The tool that looks for what checks overlook: it finds a planted gap, and its lists are true."""

import ast
import signal
import threading
import time
from pathlib import Path

import pytest

from graders.checks import Check, require
from tests.building import REPOSITORY
from tests.graders.kept import SOURCES
from tests.mutation import modules, processes, table
from tests.mutation.accepted import EQUIVALENT, accepted, as_listed
from tests.mutation.mutants import difference, mutants
from tests.mutation.nursery import Nursery, changed_function
from tests.mutation.trying import Trial, fates
from tests.mutation.units import Unit, read, todos_of

EXERCISE = '''"""Two functions to write."""


def area(width, height):
    """The area of a rectangle."""
    # BLANK 1.1: multiply
    return width * height
    # END


def larger(a, b):
    """The larger of two."""
    # BLANK 1.2: compare
    return a if a > b else b
    # END
'''

SMALLEST = '''"""A test of one number of a summary."""

from results.summary import summarise


def test_smallest() -> None:
    """Of three."""
    assert 1.0 == summarise([2.0, 1.0, 3.0]).smallest
'''

EARLY = '''"""A test that compares a summary with an earlier one."""

from results.summary import NOISY_SHARE, summarise

BEFORE = summarise([1.0, 2.0])


def test_the_same_again() -> None:
    """Whatever it is."""
    assert BEFORE == summarise([1.0, 2.0])


def test_a_constant() -> None:
    """As it was chosen."""
    assert 0.15 == NOISY_SHARE
'''


def _unit() -> Unit:
    return Unit("exercise", EXERCISE, todos_of(EXERCISE))


def _area(answer: object) -> None:
    found = answer.area(2, 3)  # type: ignore[attr-defined]
    require(found == 6, "6", found, "multiply")


def _larger(answer: object) -> None:
    found = answer.larger(2, 1)  # type: ignore[attr-defined]
    require(found == 2, "2", found, "compare")


def test_a_planted_gap_is_found() -> None:
    """Two sides multiplied are judged well; of two numbers nobody asks for the second."""
    unit = _unit()
    trials = [Trial(m, unit.todos[m.line]) for m in mutants(EXERCISE, unit.todos)]
    checks = [Check("1.1", "multiply", _area), Check("1.2", "compare", _larger)]
    found = {(t.mutant.old, t.mutant.new): fate for t, fate in fates(unit, checks, trials, 2)}
    old = "return a if a > b else b"

    assert "killed" == found["return width * height", "return (width / height)"]
    assert "killed" == found[old, "return a if (a < b) else b"]
    assert "survived" == found[old, "return a if True else b"]
    assert "survived" == found[old, "return a"]
    # The same with its sides exchanged is as good; no check could tell.
    assert "survived" == found["return width * height", "return (height * width)"]


def test_a_solution_that_fails_is_no_measure() -> None:
    """Every mutant of it would look as if it were noticed."""
    check = Check("1.1", "multiply", lambda _: require(False, "6", 5, "no"))

    with pytest.raises(ValueError, match="exercise does not pass"):
        list(fates(_unit(), [check], [], 1))


def test_what_is_given_has_no_mutants() -> None:
    """Lines outside of the marks are not the learner's."""
    source = "def given(a):\n    return a + 1\n\n\n" + EXERCISE

    assert {"area", "larger"} == {m.function for m in mutants(source, todos_of(source))}


def test_a_mutant_is_named_by_its_lines() -> None:
    """Wherever it is, and without comments."""
    assert ("b", "c\nd") == difference("a\nb\n# why\ne", "a\nc\nd\n# why\ne")
    assert ("", "b") == difference("a\nb", "a\nb\nb")


def test_what_a_modules_tests_overlook_is_found(tmp_path: Path) -> None:
    """The smallest sample has a test of its own, and none here says what is noisy."""
    tests = tmp_path / "test_of_the_smallest.py"
    tests.write_text(SMALLEST, encoding="utf-8")
    module = "results.summary"
    source = modules.file_of(module).read_text(encoding="utf-8")
    samples = "median, {}, max(samples), spread, noisy={} > NOISY_SHARE * abs(median)"
    wanted = [samples.format("samples", "spread"), samples.format("min(samples)", "first")]
    tried = [mutant for mutant in modules.mutants_of(source) if mutant.new in wanted]
    fates = {mutant.new: fate for mutant, fate in modules.fates(module, tried, [tests])}

    assert dict(zip(wanted, ["killed", "survived"], strict=True)) == fates


def test_what_runs_before_the_tests_is_imported(tmp_path: Path) -> None:
    """A number that was made while tests were collected is a mutant's own, and so is a constant."""
    tests = tmp_path / "test_of_what_was_made_before.py"
    tests.write_text(EARLY, encoding="utf-8")
    module = "results.summary"
    tried = [
        mutant
        for mutant in modules.mutants_of(modules.file_of(module).read_text(encoding="utf-8"))
        if mutant.new in ("median = statistics.median_low(samples)", "NOISY_SHARE = 0.3")
    ]
    fates = {mutant.new[:11]: fate for mutant, fate in modules.fates(module, tried, [tests])}

    assert {"NOISY_SHARE": "killed", "median = st": "survived"} == fates


WHOLE = """
@cache
def f(a=1):
    return a

class A:
    b = 2
    def g(self):
        return 3
"""


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("return a", "return 1", "f"),
        ("return 3", "return 4", "A.g"),
        ("a=1", "a=2", None),
        ("@cache\n", "", None),
        ("b = 2", "b = 3", None),
        ("class A", "class A(B)", None),
        ("def g(self):", "@property\n    def g(self):", None),
    ],
)
def test_only_what_is_within_one_function_is_put_in_place(
    old: str, new: str, name: str | None
) -> None:
    """Defaults, decorators, bases and what a class holds are made when a module is imported."""
    assert name == changed_function(WHOLE, WHOLE.replace(old, new))


def test_a_plugin_can_be_in_a_set() -> None:
    """Where pytest keeps plugins that not every folder has."""
    assert {Nursery("", "", [], {}, 1, lambda *_: None)}


def test_a_process_ends_when_it_waits_and_not_when_it_works(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However long the clock says that its work takes."""
    monkeypatch.setattr(processes, "LOOK_CLOSELY_S", 0.05)
    monkeypatch.setattr(processes, "IDLE_S", 0.5)

    def work(waits: bool) -> int:
        while not waits and time.process_time() < 1.0:
            pass
        if waits:
            threading.Event().wait()
        return 7

    assert {True: -signal.SIGKILL, False: 7} == dict(processes.forked([True, False], work, 2))


def test_a_module_that_fails_its_tests_is_no_measure(tmp_path: Path) -> None:
    """Nor is one without a test."""
    with pytest.raises(ValueError, match=r"results\.summary does not pass"):
        list(modules.fates("results.summary", [], [tmp_path]))


def test_what_changes_nothing_is_left_alone() -> None:
    """Words for readers, decorators and the order of factors."""
    source = "from dataclasses import dataclass\n\n@dataclass(frozen=True)\nclass A:\n    a = 1\n"
    said = 'def f(a):\n    raise ValueError("not a number")\n'

    assert {"a = 1"} == {mutant.old for mutant in modules.mutants_of(source)}
    assert all("numberx" not in mutant.new for mutant in modules.mutants_of(said))
    assert "(b * a)" not in {mutant.new for mutant in modules.mutants_of("c = a * b\n")}


def test_a_modules_own_tests_come_first() -> None:
    """Then those of its room, and then others that import it."""
    found = modules.tests_of("results.summary")
    results = REPOSITORY / "tests/results"

    assert results / "test_summary.py" == found[0]
    assert [path.parent for path in found[:3]] == [results] * 3
    assert REPOSITORY / "tests/lesson_site/test_charts.py" in found


@pytest.mark.parametrize("path", sorted(EQUIVALENT.glob("*.toml")), ids=lambda path: path.stem)
def test_what_is_listed_is_in_its_function_still(path: Path) -> None:
    """A reason for lines that are gone is taken out; a run of all mutants names the others."""
    of_ours = path.stem not in SOURCES
    source = modules.file_of(path.stem).read_text("utf-8") if of_ours else read(path.stem).source
    lines = source.splitlines()
    code = {"": source} | {
        part.name: "\n".join(
            line
            for line in lines[part.lineno - 1 : part.end_lineno]
            if not line.lstrip().startswith("#")
        )
        for part in ast.parse(source).body
        if isinstance(part, ast.FunctionDef | ast.ClassDef)
    }

    assert [] == [key for key in accepted(path.stem) if key[1] not in code.get(key[0], "")]
    assert all(accepted(path.stem).values())


@pytest.mark.parametrize("sample", ["", ", one of 2"])
def test_a_run_of_all_names_what_is_listed_and_no_mutant(
    sample: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run of some can't know."""
    monkeypatch.setattr(table, "write", str)
    told = table.Told("foundations.step_2")
    key = next(iter(accepted(told.name)))

    assert 0 == told.end(1.0, of_all=True, sample=sample)
    named = f"listed, and no mutant any more: {as_listed(key)}" in capsys.readouterr().out
    assert (not sample) == named
