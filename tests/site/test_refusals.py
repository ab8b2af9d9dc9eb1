"""What is wrong on a page stops the build, and the message says where."""

import pytest

from tests.site.conftest import COMPARISON, LOOP_CPU, PAGE, Copy

FIRST = "docs/tiny/01-first.md"
SHOWN = '```lesson-code show="tiny/loop_cpu.py:loop"\n```\n'


def test_the_copy_is_sound(copy: Copy) -> None:
    """Without a mistake, the copy builds and nothing is said."""
    code, said = copy.build_and_finish()

    assert 0 == code, said
    assert not [line for line in said.splitlines() if not line.startswith("INFO")]


@pytest.mark.parametrize(
    ("added", "said"),
    [
        pytest.param(
            SHOWN.replace(":loop", ":nope"),
            [f"{FIRST}:7: lesson-code: ", "loop_cpu.py has no section 'nope'"],
            id="a section that does not exist",
        ),
        pytest.param(
            SHOWN.replace("loop_cpu", "nope"),
            [f"{FIRST}:7: lesson-code: ", "there is no file lesson_code/tiny/nope.py"],
            id="a file that does not exist",
        ),
        pytest.param(
            SHOWN.replace("tiny/loop_cpu.py:loop", "../secret.py"),
            [f"{FIRST}:7: lesson-code: ", "outside"],
            id="a file outside of lesson_code",
        ),
        pytest.param(
            SHOWN.replace("show", "shwo"),
            [f"{FIRST}:7: lesson-code: ", "takes no option 'shwo'"],
            id="an option that does not exist",
        ),
        pytest.param(
            '```lesson-output of="tiny/loop_cpu:nope"\n```\n',
            [f"{FIRST}:7: lesson-output: ", "has no function nope()"],
            id="a function that does not exist",
        ),
        pytest.param("It takes [[nope]].\n", [FIRST, "nope"], id="a figure that does not exist"),
        pytest.param(
            '```python\nprint("typed")\n```\n',
            [f"{FIRST}:7: Python typed into a page"],
            id="Python typed by hand",
        ),
        pytest.param(
            "Look: $\\left( 1$\n", [FIRST, "can't set the formula"], id="a formula that is broken"
        ),
        pytest.param(
            "[away](03-third.md)\n", ["tiny/01-first.md", "03-third.md"], id="a dead link"
        ),
        pytest.param(
            "[away](02-second.md#third)\n", ["tiny/01-first.md", "#third"], id="a dead anchor"
        ),
        pytest.param(
            '<a href="../03-third/">away</a>\n',
            ["tiny/01-first/index.html: ../03-third/ leads nowhere"],
            id="a dead link in raw HTML",
        ),
        pytest.param(
            '<a href="#third">away</a>\n',
            ["tiny/01-first/index.html: #third names no heading"],
            id="a dead anchor in raw HTML",
        ),
        pytest.param(
            "![drawn](https://example.org/a.png)\n",
            ["tiny/01-first/index.html: ", "<img> asks another host"],
            id="an image of another host",
        ),
        pytest.param(
            '<script src="https://example.org/a.js"></script>\n',
            ["tiny/01-first/index.html: ", "<script> asks another host"],
            id="a script of another host",
        ),
        pytest.param(
            "A note.[^1]\n",
            ["tiny/01-first/index.html: ", "a footnote that is defined nowhere"],
            id="a footnote that is not defined",
        ),
    ],
)
def test_a_mistake_on_a_page_stops_the_build(copy: Copy, added: str, said: list[str]) -> None:
    """`make build` fails, and names the page, the line where it knows it, and what is wrong."""
    copy.write(FIRST, PAGE.removesuffix(SHOWN) + "Here it is.\n\n" + added)

    code, error = copy.build_and_finish()

    assert 0 != code
    assert [part for part in said if part not in error] == [], error


@pytest.mark.parametrize(
    ("why", "said"),
    [
        pytest.param("batch = nope", "0 reasons fit the added line", id="fits no line"),
        pytest.param("batch", "", id="fits"),
    ],
)
def test_a_comparison_needs_a_reason_for_each_line(copy: Copy, why: str, said: str) -> None:
    """A reason that fits no added line stops the build; one that fits is shown."""
    copy.write("docs/tiny/02-second.md", COMPARISON.replace('"batch = batch.to(0)"', f'"{why}"'))

    code, error = copy.build_and_finish()

    assert bool(said) == bool(code)
    assert said in error
    assert not said or "docs/tiny/02-second.md:3: lesson-compare: " in error


def test_an_unclosed_section_stops_the_build(copy: Copy) -> None:
    """The message names the file of the section."""
    copy.write("lesson_code/tiny/loop_cpu.py", LOOP_CPU.replace("# --8<-- [end:loop]\n", ""))

    code, error = copy.build_and_finish()

    assert 0 != code
    assert "tiny/loop_cpu.py: section 'loop' has no end marker" in error
    assert f"{FIRST}:5: lesson-code: " in error
