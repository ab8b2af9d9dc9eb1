"""What is wrong on a page stops the build, and the message says where."""

import pytest

from tests.site.conftest import COMPARISON, LOOP_CPU, PAGE, Copy, sound_copy

FIRST = "docs/tiny/01-first.md"
SHOWN = '```lesson-code show="tiny/loop_cpu.py:loop"\n```\n'
# Each is found in the built page, and by its id what is said of it.
IN_HTML = {
    "a dead link": ('<a href="../03-third/">away</a>', "../03-third/ leads nowhere"),
    "a dead anchor": ('<a href="#third">away</a>', "#third names no heading"),
    "an image of another host": (
        "![drawn](https://example.org/a.png)",
        "<img> asks another host",
    ),
    "a script of another host": (
        '<script src="https://example.org/a.js"></script>',
        "<script> asks another host",
    ),
    "a footnote that is not defined": ("A note.[^1]", "a footnote that is defined nowhere"),
}


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
    ],
)
def test_a_mistake_on_a_page_stops_the_build(copy: Copy, added: str, said: list[str]) -> None:
    """`make build` fails, and names the page, the line where it knows it, and what is wrong."""
    copy.write(FIRST, PAGE.removesuffix(SHOWN) + "Here it is.\n\n" + added)

    code, error = copy.build_and_finish()

    assert 0 != code
    assert [part for part in said if part not in error] == [], error


def test_a_comparison_needs_a_reason_for_each_line(copy: Copy) -> None:
    """A reason that fits no added line stops the build."""
    copy.write("docs/tiny/02-second.md", COMPARISON.replace("batch = batch.to(0)", "batch = nope"))

    code, error = copy.build_and_finish()

    assert 0 != code
    assert "docs/tiny/02-second.md:3: lesson-compare: 0 reasons fit the added line" in error


def test_a_dead_link_and_a_dead_anchor_stop_the_build(copy: Copy) -> None:
    """Both are named, with the page that has them."""
    copy.write(FIRST, f"{PAGE}\n[away](03-third.md), [on](02-second.md#third)\n")

    code, error = copy.build_and_finish()

    warnings = [line for line in error.splitlines() if line.startswith("WARNING")]
    assert 0 != code
    assert 2 == len(warnings) == sum("'tiny/01-first.md'" in line for line in warnings)
    assert [1, 1] == [sum(at in line for line in warnings) for at in ("03-third.md'", "#third'")]


@pytest.fixture(scope="module")
def said_of_html(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What is said of a page that has every one of ``IN_HTML``, line by line."""
    copy = sound_copy(tmp_path_factory.mktemp("html"))
    copy.write(FIRST, "\n\n".join([PAGE, *(added for added, _ in IN_HTML.values())]))

    code, error = copy.build_and_finish()

    assert 0 != code
    return error.splitlines()


@pytest.mark.parametrize("said", [said for _, said in IN_HTML.values()], ids=IN_HTML)
def test_a_mistake_that_only_html_shows_stops_the_build(said_of_html: list[str], said: str) -> None:
    """`make build` fails, and a line names the page and what is wrong."""
    assert 1 == sum("tiny/01-first/index.html: " in line and said in line for line in said_of_html)


def test_an_unclosed_section_stops_the_build(copy: Copy) -> None:
    """The message names the file of the section."""
    copy.write("lesson_code/tiny/loop_cpu.py", LOOP_CPU.replace("# --8<-- [end:loop]\n", ""))

    code, error = copy.build_and_finish()

    assert 0 != code
    assert "tiny/loop_cpu.py: section 'loop' has no end marker" in error
    assert f"{FIRST}:5: lesson-code: " in error
