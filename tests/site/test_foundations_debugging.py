"""The page about debugging: each probe and each mistake is whole, and leads to where it fails."""

import re
from pathlib import Path

TEXT = Path("docs/foundations/debugging.md").read_text(encoding="utf-8")


def rows(anchor: str) -> list[list[str]]:
    """The cells of the first table below a heading, without its head."""
    section = re.split(r"^## ", TEXT.split(f"{{ #{anchor} }}")[1], flags=re.MULTILINE)[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_each_of_six_probes_says_what_it_tests_and_where_to_look() -> None:
    """Four filled cells in each row."""
    probes = rows("probes")

    assert 6 == len(probes)
    assert all(len(row) == 4 and all(row) for row in probes)


def test_each_of_eight_mistakes_leads_to_where_it_fails() -> None:
    """A row begins with a link to a heading, and has symptom, cause and cure."""
    mistakes = rows("common-mistakes")
    demonstrated = [re.match(r"\[.+\]\(([\w-]+\.md)#([\w-]+)\)$", row[0]) for row in mistakes]

    assert 8 == len(mistakes)
    assert all(len(row) == 4 and all(row) for row in mistakes)
    for link in demonstrated:
        assert link is not None
        page = Path("docs/foundations", link[1]).read_text(encoding="utf-8")
        assert f"{{ #{link[2]} }}" in page
