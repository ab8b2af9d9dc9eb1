"""Snippets that readers run in the page: which they are, what a page says, and what they print."""

import ast
import base64
import hashlib
import html
import json
import runpy
from collections.abc import Callable
from pathlib import Path
from unittest import TestCase

import pytest

from lesson_site import runnable as site
from lesson_site import vendor
from lesson_site.errors import PageError
from lesson_site.runnable import attributes, files_of, is_plain, prints_html, run_lines
from lesson_site.sections import read_section
from tests.building import REPOSITORY
from tests.runnable_snippets import Shown, printed, runnable, shown_code

CODE = REPOSITORY / "lesson_code"
SNIPPETS = runnable()
Write = Callable[[str, str], None]


def module(assigned: str, *lines: str) -> str:
    """A file with a section `s` that sets y, and a section `t` of lines to run after it."""
    tried = "".join(f"    {line}\n" for line in lines)
    return (
        f"# --8<-- [start:s]\ny = {assigned}\n# --8<-- [end:s]\n\n\n"
        f"def t():\n    # --8<-- [start:t]\n{tried}    # --8<-- [end:t]\n"
    )


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes a file of lesson code in an empty repository, where Pyodide weighs 6,343 kB."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(vendor, "compressed_kb", lambda _: 6343)

    def write_file(file: str, text: str) -> None:
        path = tmp_path / "lesson_code" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    return write_file


def test_a_module_brings_all_that_it_imports(write: Write) -> None:
    """Modules and packages, directly or not, once each, and nothing that it does not need."""
    write("__init__.py", "")
    write("tiny/__init__.py", "")
    write("tiny/a.py", "import math\nfrom lesson_code.tiny.b import f\nimport lesson_code.c\n")
    write("tiny/b.py", "def f():\n    from lesson_code.tiny import a\n")
    write("c.py", "")
    write("d.py", "")

    assert ["__init__.py", "c.py", "tiny/__init__.py", "tiny/a.py", "tiny/b.py"] == files_of(
        "tiny/a.py"
    )


def test_a_module_that_needs_pytorch_does_not_run(write: Write) -> None:
    """Be it somewhere behind an import; the sentence names the file and what to do."""
    write("a.py", "from lesson_code.b import f\n" + module("1", "print(y)"))
    write("b.py", "def f():\n    import torch.nn\n")

    assert not is_plain("a.py")
    with pytest.raises(PageError, match=r"^a\.py can't run .* b\.py imports torch; leave out run"):
        attributes(read_section("a.py:s"), "t")


def test_a_run_that_is_no_section_is_refused(write: Write) -> None:
    """A button that runs nothing would be a riddle."""
    write("a.py", "# --8<-- [start:s]\ny = 2\n# --8<-- [end:s]\n")

    with pytest.raises(PageError, match=r"a\.py has no section 'print\(y\)'; its sections are: s"):
        run_lines(read_section("a.py:s"), "print(y)")


def test_a_figure_carries_what_the_page_needs(write: Write) -> None:
    """Lines to run, place, checksums and size, escaped for an attribute."""
    write("a.py", module("2", 'print("y")', "print(3)"))

    found = attributes(read_section("a.py:s"), "t")

    digest = hashlib.sha256(Path("lesson_code/a.py").read_bytes()).digest()
    files = {"a.py": f"sha256-{base64.b64encode(digest).decode()}"}
    assert ' data-run="print(&quot;y&quot;)\nprint(3)" data-run-of="a.py:s"' in found
    assert ' data-run-lines="2-2"' in found
    assert json.dumps(files, separators=(",", ":")) in html.unescape(found)
    assert found.endswith(' data-run-kb="6343"')


def test_what_it_prints_stands_behind_a_summary(write: Write) -> None:
    """Lines and output, as text; after a change of the module what the new one prints."""
    write("__init__.py", "")
    write("a.py", module("'<b>'", "print(y)"))
    first = prints_html(read_section("a.py:s"), "t")
    write("a.py", module("'other'", "print(y)"))
    second = prints_html(read_section("a.py:s"), "t")

    assert "<summary>What it prints</summary>" in first
    assert (
        '<code>print(y)</code></pre><pre class="run-output" tabindex="0">&lt;b&gt;</pre>' in first
    )
    assert ">other</pre>" in second


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("print(1 / 0)", "run stops with an error: ZeroDivisionError"),
        ("x = y", "run prints nothing; end it with what it shows"),
    ],
)
def test_lines_that_fail_or_print_nothing_stop_the_build(
    write: Write, line: str, problem: str
) -> None:
    """An author learns it, and no reader."""
    write("__init__.py", "")
    write("a.py", module("2", line))

    with pytest.raises(PageError, match=problem):
        prints_html(read_section("a.py:s"), "t")


def test_without_pyodide_there_is_no_button(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """The figure is like any other, and the build says once what fetches it."""
    write("a.py", module("1", "print(y)"))
    monkeypatch.setattr(vendor, "compressed_kb", lambda _: None)
    site._say_once.cache_clear()

    with TestCase().assertLogs(level="INFO") as log:
        found = [attributes(read_section("a.py:s"), "t") for _ in range(2)]

    said = "`python -m lesson_site.vendor` fetches Python"
    assert ["", ""] == found
    assert [True] == [said in line for line in log.output]


def test_every_shown_section_that_can_run_has_a_button() -> None:
    """What needs neither PyTorch nor NumPy is not only to be read."""
    shown = [each for each in shown_code() if each.section.path.parts[0] == CODE.name]
    plain = [each for each in shown if is_plain(each.section.file, CODE)]

    assert [] != plain
    assert [] == [f"{each.page}: {each.target}" for each in plain if not each.run], (
        'it needs no PyTorch, so give its fence run="try_…"'
    )


@pytest.fixture(scope="module")
def outputs() -> list[tuple[bool, str]]:
    """What every runnable snippet prints, run twice."""
    return printed(SNIPPETS + SNIPPETS)


@pytest.mark.parametrize("index", range(len(SNIPPETS)), ids=[each.target for each in SNIPPETS])
def test_a_snippet_prints_something_short_and_always_the_same(
    outputs: list[tuple[bool, str]], index: int
) -> None:
    """So that a reader sees at once what their change did."""
    fine, text = outputs[index]

    assert fine, text
    assert 1 <= len(text.splitlines()) <= 8
    assert outputs[index + len(SNIPPETS)] == (fine, text)


@pytest.mark.parametrize("snippet", SNIPPETS, ids=[each.target for each in SNIPPETS])
def test_an_unchanged_snippet_leaves_its_module_as_it_is(snippet: Shown) -> None:
    """The text of the page, put back at its place, gives the very same program."""
    harness = runpy.run_path(str(site.RUN))
    section = snippet.section
    source = (CODE / section.file).read_text(encoding="utf-8")
    place = harness["Place"](section.file, section.numbers[0], section.numbers[-1])

    again = harness["spliced"](source, place, section.text)

    assert ast.dump(ast.parse(source)) == ast.dump(ast.parse(again))


def test_texts_fit_into_the_learners_record() -> None:
    """It keeps a changed snippet of at most 5,000 characters; an unchanged one leaves room."""
    assert 4000 > max(len(each.section.text) for each in SNIPPETS)


def test_what_runs_is_what_the_site_serves() -> None:
    """Every file of every snippet lies in the folder that becomes ``code/``."""
    files = {file for each in SNIPPETS for file in files_of(each.section.file, CODE)}

    assert [] == [
        file for file in sorted(files) if not (REPOSITORY / "docs" / "code" / file).is_file()
    ]
