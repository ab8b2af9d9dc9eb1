"""Two sections are compared line by line, with lines that only moved kept as they are."""

from hypothesis import given
from hypothesis import strategies as st

from lesson_site.differences import added, compare

LINES = st.lists(st.sampled_from(["a", "b", "    a", "c = 1", ""]), max_size=12)


def test_added_removed_and_moved_lines_are_told_apart() -> None:
    """A line that slid under a ``with`` moved; it was neither removed nor added."""
    before = ["x = 1", "y = f(x)", "z = 2"]
    after = ["x = 1", "with fast():", "    y = f(x)", "z = 3"]

    kinds = [(line.kind, line.text) for line in compare(before, after)]

    assert [
        ("same", "x = 1"),
        ("added", "with fast():"),
        ("moved", "    y = f(x)"),
        ("removed", "z = 2"),
        ("added", "z = 3"),
    ] == kinds


def test_added_lines_are_counted_from_zero_in_the_new_section() -> None:
    """The places are those that a highlighter marks."""
    assert [1] == added(["a", "c"], ["a", "b", "c"])


@given(LINES)
def test_nothing_differs_from_itself(lines: list[str]) -> None:
    """Every line of a section is the same in the section itself."""
    assert {"same"} >= {line.kind for line in compare(lines, lines)}


@given(LINES, LINES)
def test_every_line_of_both_sections_appears_once(before: list[str], after: list[str]) -> None:
    """The new section can be read off the comparison, and as many old lines are accounted for."""
    lines = compare(before, after)

    assert after == [line.text for line in lines if line.kind != "removed"]
    assert len(before) == sum(line.kind != "added" for line in lines)
