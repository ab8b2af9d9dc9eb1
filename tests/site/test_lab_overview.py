"""The lab's overview: the way through it."""

import re
from pathlib import Path

import pytest

LAB = Path("docs/lab")
OVERVIEW = (LAB / "index.md").read_text(encoding="utf-8")
PAGES = sorted(page.name for page in LAB.glob("*.md") if page.name != "index.md")


@pytest.mark.parametrize("page", PAGES)
def test_every_page_of_the_lab_is_linked(page: str) -> None:
    """Anyone who reads the overview knows what there is."""
    assert f"]({page})" in OVERVIEW or f"]({page}#" in OVERVIEW


def test_seven_takeaways() -> None:
    """What to take away is a list of seven."""
    takeaways = OVERVIEW.partition("{ #takeaways }")[2].partition("\n## ")[0]

    assert 7 == len(re.findall(r"^\d\. ", takeaways, re.M))
