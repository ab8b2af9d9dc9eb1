"""The fences show code, comparisons and outputs, and every mistake names page and line."""

import json
from pathlib import Path
from typing import Any

import pytest
from markdown import Markdown
from pygments import highlight
from pymdownx.superfences import SuperFencesException

from lesson_site import fences
from lesson_site.fences import keep_options

BEFORE = """\
# --8<-- [start:loop]
for x in batches:
    y = f(x)
# --8<-- [end:loop]
"""
AFTER = """\
# --8<-- [start:loop]
for x in batches:
    x = x.to(0)
    with fast():
        y = g(x)
# --8<-- [end:loop]
"""
PRINTS = "def print_it():\n    print(1)\n"
RECORDING = {
    "text": "loss <1>\n",
    "data": None,
    "provenance": {
        "device": "cpu",
        "device_name": "CPU",
        "processor": "A processor",
        "torch": "2.15",
        "date": "2026-01-02",
    },
}
REASONS = """
reasons:
  - {line: x.to, why: The data follow.}
  - {line: with fast, why: The block is fast.}
  - {line: g(x), replaces: y = f(x), why: Another function.}
"""


@pytest.fixture
def markdown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Markdown:
    """A converter with our fences, in a repository with two small modules."""
    folder = tmp_path / "lesson_code" / "tiny"
    (folder / "recorded").mkdir(parents=True)
    for name, source in {"before": BEFORE, "after": AFTER, "prints": PRINTS}.items():
        (folder / f"{name}.py").write_text(source)
    (folder / "recorded" / "prints.print_it.cpu.json").write_text(json.dumps(RECORDING))
    monkeypatch.chdir(tmp_path)
    formats = {
        "lesson-code": fences.code,
        "lesson-output": fences.output,
        "lesson-compare": fences.compare_sections,
        "lesson-diff": fences.difference,
    }
    custom: list[dict[str, Any]] = [
        {"name": name, "class": name, "format": draw, "validator": keep_options}
        for name, draw in formats.items()
    ]
    return Markdown(
        extensions=["pymdownx.superfences", "lesson_site.extension"],
        extension_configs={"pymdownx.superfences": {"custom_fences": custom}},
    )


def compare(reasons: str = REASONS) -> str:
    """A comparison of the two modules with the given reasons."""
    return (
        "```lesson-compare\nbefore: tiny/before.py:loop\nafter: tiny/after.py:loop\n"
        f"labels: [Before, After]{reasons}```\n"
    )


def test_a_section_is_shown_with_its_file_and_lines(markdown: Markdown) -> None:
    """The code is highlighted, and links to the file that it comes from."""
    html = markdown.convert('```lesson-code show="tiny/after.py:loop"\n```')

    assert '<figure class="code">' in html
    assert 'href="./code/tiny/after.py"' in html
    assert "lesson_code/tiny/after.py" in html
    assert ", lines 2 to 5" in html
    assert "hll" not in html


def test_lines_that_are_new_since_another_section_are_marked(markdown: Markdown) -> None:
    """Three of the four lines are not in the other section."""
    html = markdown.convert(
        '```lesson-code show="tiny/after.py:loop" new_since="tiny/before.py:loop"\n```'
    )

    assert 3 == html.count('class="hll"')


def test_a_recorded_output_is_shown_with_where_it_comes_from(markdown: Markdown) -> None:
    """The text is escaped, and the caption names machine, version and date."""
    html = markdown.convert('```lesson-output of="tiny/prints:print_it"\n```')

    assert "loss &lt;1&gt;" in html
    assert "Recorded on A processor, PyTorch 2.15, 2026-01-02." in html


@pytest.mark.parametrize(
    ("between", "expected"),
    [("", "output of-code"), ("\n", "output of-code"), ("Some text.\n\n", "output")],
)
def test_an_output_is_closer_to_its_code_than_to_other_things(
    markdown: Markdown, between: str, expected: str
) -> None:
    """Right after code it has a class of its own."""
    code = '```lesson-code show="tiny/after.py:loop"\n```\n'
    html = markdown.convert(f'{code}{between}```lesson-output of="tiny/prints:print_it"\n```')

    assert f'<figure class="{expected}"' in html


def test_an_output_that_no_gpu_has_made_says_so(markdown: Markdown) -> None:
    """The page tells the reader, and how it can be recorded."""
    html = markdown.convert('```lesson-output of="tiny/prints:print_it" device="cuda"\n```')

    assert "On a GPU, <code>" in html
    assert "record tiny/prints:print_it --device cuda" in html


def test_a_comparison_counts_and_gives_reasons(markdown: Markdown) -> None:
    """New, edited and moved lines are told apart, and each change has its reason beside it."""
    html = markdown.convert(compare())

    assert "three lines: two new, one edited." in html.lower()
    assert "<del><code>y = f(x)</code></del>" in html
    assert 3 == html.count("<ins>")
    assert "The data follow." in html
    assert 3 == html.count('type="radio"')


def test_lines_that_are_only_added_are_counted_in_words(markdown: Markdown) -> None:
    """Where nothing was edited or moved, the count says that the rest is identical."""
    Path("lesson_code/tiny/after.py").write_text(BEFORE.replace("    y", "    x = x.to(0)\n    y"))

    html = markdown.convert(compare("\nreasons:\n  - {line: x.to, why: It follows.}\n"))

    assert "one line added, none removed." in html.lower()


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ('```lesson-code show="tiny/nope.py"\n```', r"page.md:1: lesson-code: there is no file"),
        (
            'Text.\n\n```lesson-code show="tiny/after.py:x"\n```',
            r"lesson-code: lesson_code/tiny/after.py has no section 'x'",
        ),
        ('```lesson-code of="x"\n```', "lesson-code: takes no option 'of'; it takes show"),
        ("```lesson-code\n```", "lesson-code: needs the option 'show'"),
        ('```lesson-output of="tiny/prints:x"\n```', r"lesson-output: .*has no function x\(\)"),
        ('```lesson-output of="tiny/prints:print_it" device="tpu"\n```', "must be cpu or cuda"),
        ('```lesson-output of="tiny/prints:print_it" tolerance="1"\n```', "no option 'tolerance'"),
        (compare(REASONS.replace("x.to", "z.to")), "0 reasons fit the added line 'x = x.to"),
        (compare(REASONS.replace("with fast", "x")), "reasons fit the added line"),
        (compare(REASONS.replace("y = f(x)", "y = h(x)")), "is not among the removed lines"),
        (compare(REASONS.replace("replaces: y = f(x), ", "")), "what replaces the removed line"),
        (compare(REASONS + "  - {line: q, why: Left.}\n"), "4 reasons are given for 3 added"),
        (compare("\nreasons: [\n"), "page.md:1: lesson-compare: its body is no YAML: [^\n]+$"),
        (compare("\n"), "lesson-compare: its body has before, after, labels and reasons"),
        ("```lesson-compare\ntext\n```", "its body has before, after, labels and reasons"),
        (compare().replace("tiny/after.py:loop", "7"), "lesson-compare: after names a section"),
        (compare().replace("[Before, After]", "[Before, 1]"), "labels are two texts"),
        (compare("\nreasons: [x]\n"), "reasons are a list, and each has a line and why"),
        (compare(REASONS.replace("x.to", "[x]")), "the reason for the line .* is no text"),
    ],
)
def test_a_mistake_in_a_fence_stops_the_page(markdown: Markdown, page: str, said: str) -> None:
    """The error is the one that superfences lets through, and says what is wrong."""
    with pytest.raises(SuperFencesException, match=said):
        markdown.convert(page)


def test_an_output_that_was_never_recorded_stops_the_page(markdown: Markdown) -> None:
    """The message is the command that records it."""
    Path("lesson_code/tiny/recorded/prints.print_it.cpu.json").unlink()

    with pytest.raises(SuperFencesException, match="record tiny/prints:print_it"):
        markdown.convert('```lesson-output of="tiny/prints:print_it"\n```')


def test_a_difference_shows_changed_lines_with_their_sign(markdown: Markdown) -> None:
    """Removed and added lines are told apart without colour; the rest is context."""
    html = markdown.convert(
        '```lesson-diff before="tiny/before.py:loop" after="tiny/after.py:loop" context="1"\n```\n'
    )

    assert "<ins>+     x = x.to(0)</ins>" in html
    assert "<del>-     y = f(x)</del>" in html
    assert "  for x in batches:" in html
    assert "tiny/after.py</a>, lines 2 to 5" in html


def test_a_difference_between_equal_sections_is_refused(markdown: Markdown) -> None:
    """Nothing to show is a mistake of the page."""
    with pytest.raises(SuperFencesException, match="are the same"):
        markdown.convert(
            '```lesson-diff before="tiny/before.py:loop" after="tiny/before.py:loop"\n```\n'
        )


def test_code_is_coloured_once(markdown: Markdown, monkeypatch: pytest.MonkeyPatch) -> None:
    """From one build to the next; another text, another mark and another Pygments count."""
    coloured = []

    def colour(code: str, *rest: Any) -> str:
        coloured.append(code)
        return highlight(code, *rest)

    monkeypatch.setattr(fences, "highlight", colour)
    plain = '```lesson-code show="tiny/before.py:loop"\n```'
    marked = '```lesson-code show="tiny/after.py:loop" new_since="tiny/before.py:loop"\n```'

    pages = [markdown.convert(page) for page in (plain, plain, marked)]

    assert 2 == len(coloured)
    assert pages[0] == pages[1]
    assert "hll" in pages[2]

    monkeypatch.setattr("pygments.__version__", "0")
    assert pages[0] == markdown.convert(plain)
    assert 3 == len(coloured)

    Path("lesson_code/tiny/before.py").write_text(BEFORE.replace("batches", "steps"))
    assert "steps" in markdown.convert(plain)
    assert 4 == len(coloured)
