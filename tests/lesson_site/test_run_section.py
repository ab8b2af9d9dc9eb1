"""What runs a snippet in the page, run here: at its place, with tracebacks for learners."""

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from lesson_site.runnable import RUN

MODULE = '''\
"""A module."""

from made_up_lesson.helper import divide

RATE = 0.5


def cost(size):
    # --8<-- [start:cost]
    total = size * RATE
    return total
    # --8<-- [end:cost]


def twice(size):
    return 2 * cost(size)
'''
HELPER = '"""A helper."""\n\n\ndef divide(a, b):\n    return a / b\n'
SNIPPET = "total = size * RATE\nreturn total"
Run = Callable[[str, str], tuple[str, str]]


@pytest.fixture
def harness(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The file that the page's worker imports, for a package of another name."""
    spec = importlib.util.spec_from_file_location("section_harness", RUN)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "PACKAGE", "made_up_lesson")
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield module
    for name in [name for name in sys.modules if name.startswith("made_up_lesson")]:
        del sys.modules[name]


@pytest.fixture
def run(harness: ModuleType, tmp_path: Path) -> Run:
    """Runs a snippet in place of the function's body, and then some lines."""
    folder = tmp_path / "made_up_lesson"
    folder.mkdir()
    for name, text in {"__init__": "", "costs": MODULE, "helper": HELPER}.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    place = harness.Place("costs.py", 10, 11)

    def run_it(snippet: str, lines: str) -> tuple[str, str]:
        said: list[str] = []
        end = harness.run(str(tmp_path), place, snippet, lines, said.append)
        return end, "".join(said)

    return run_it


def test_what_is_printed_is_handed_on(run: Run) -> None:
    """And the value of a final expression is shown, as in a notebook."""
    assert ("finished", "1.0\n3.0\n") == run(SNIPPET, "print(cost(2))\ntwice(3)")
    assert ("finished", "") == run(SNIPPET, "value = cost(2)\nNone")


def test_a_change_reaches_the_rest_of_the_module(run: Run) -> None:
    """The snippet runs at its place, so that what calls it calls the changed one."""
    assert ("finished", "20\n") == run("return 10", "twice(3)")


def test_no_run_leaves_anything_behind(run: Run) -> None:
    """Neither in the module nor in one that it imports."""
    run(SNIPPET, "global_name = 1\nimport made_up_lesson.helper as h\nh.divide = None\nRATE = 9")

    assert ("finished", "3.0\n0.5\n") == run(SNIPPET, "print(divide(6, 2))\nprint(cost(1))")
    assert "NameError" in run(SNIPPET, "global_name")[1]


def test_a_traceback_shows_the_readers_lines_alone(run: Run) -> None:
    """Numbered as the reader sees them; other modules keep their names."""
    end, text = run("size += 1\nreturn divide(size, 0)", "\nprint(twice(3))")

    assert "failed" == end
    assert text == (
        "Traceback (most recent call last):\n"
        '  File "<run>", line 2, in <module>\n'
        "    print(twice(3))\n"
        '  File "made_up_lesson/costs.py", line 16, in twice\n'
        "    return 2 * cost(size)\n"
        '  File "<snippet>", line 2, in cost\n'
        "    return divide(size, 0)\n"
        '  File "made_up_lesson/helper.py", line 5, in divide\n'
        "    return a / b\n"
        "ZeroDivisionError: division by zero\n"
    )


@pytest.mark.parametrize(
    ("snippet", "lines", "where"),
    [
        ("total = 1\nreturn ) total", "1", '  File "<snippet>", line 2\n'),
        (SNIPPET, "a = 1\nb = )", '  File "<run>", line 2\n'),
    ],
)
def test_a_syntax_error_names_the_readers_line(
    run: Run, snippet: str, lines: str, where: str
) -> None:
    """In either text, and without a frame of what compiled it."""
    end, text = run(snippet, lines)

    assert "failed" == end
    assert text.startswith(where)
    assert "unmatched ')'" in text


def test_a_cause_is_told_too(run: Run) -> None:
    """Both errors have frames of the reader's own, and nobody else's."""
    lines = "try:\n    cost(None)\nexcept TypeError as other:\n    raise ValueError from other"

    _, text = run(SNIPPET, lines)

    assert "direct cause" in text
    assert 'File "<snippet>", line 1, in cost' in text
    assert RUN.name not in text


def test_an_interrupting_exit_is_an_end_like_any_other(run: Run) -> None:
    """``exit()`` is no error."""
    assert ("finished", "a\n") == run(SNIPPET, "import sys\nprint('a')\nsys.exit(1)\nprint('b')")


@pytest.mark.parametrize(
    ("snippet", "lines"),
    [(SNIPPET, "print('a')\nimport tortch.nn"), ("import tortch\n" + SNIPPET, "cost(print('a'))")],
)
def test_a_package_that_python_lacks_is_named(run: Run, snippet: str, lines: str) -> None:
    """In place of a traceback; what was printed before it stays."""
    assert ("missing tortch", "a\n") == run(snippet, lines)


def test_a_module_of_ours_that_is_not_there_is_an_error(run: Run) -> None:
    """A name that was mistyped has its traceback, as any other mistake has."""
    end, text = run(SNIPPET, "import made_up_lesson.other")

    assert "failed" == end
    assert "No module named 'made_up_lesson.other'" in text


def test_errors_are_written_where_output_is(run: Run) -> None:
    """What goes to the standard error stream is seen as well."""
    assert ("finished", "oh\n") == run(SNIPPET, "import sys\nprint('oh', file=sys.stderr)")


def test_endless_output_is_cut(run: Run) -> None:
    """A page shows 100 kB, says so once, and is given nothing more."""
    _, text = run(SNIPPET, "for n in range(3000):\n    print('x' * 99)")

    shown, _, note = text.partition("\n…")
    assert 100_000 == len(shown + "\n") - 1
    assert note == " the rest is left out; 100 kB are shown at most.\n"
