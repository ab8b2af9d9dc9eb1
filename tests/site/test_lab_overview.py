"""The lab's overview: the way through it, and facts that are quoted wrongly elsewhere."""

import re
from pathlib import Path

import pytest

LAB = Path("docs/lab")
OVERVIEW = (LAB / "index.md").read_text(encoding="utf-8")
PAGES = sorted(page.name for page in LAB.glob("*.md") if page.name != "index.md")


@pytest.mark.parametrize("page", PAGES)
def test_every_page_of_the_lab_is_linked(page: str) -> None:
    """Whoever reads the overview knows what there is."""
    assert f"]({page})" in OVERVIEW or f"]({page}#" in OVERVIEW


def test_before_and_after_are_named() -> None:
    """Lab 4 returns here, and Lab 6 is not part of the site yet."""
    assert "Lab 4, the MNIST classifier" in OVERVIEW
    assert "Lab 6" in OVERVIEW
    assert "not part of this site yet" in OVERVIEW


def test_seven_takeaways() -> None:
    """What to take away is a list of seven."""
    takeaways = OVERVIEW.partition("{ #takeaways }")[2].partition("\n## ")[0]

    assert 7 == len(re.findall(r"^\d\. ", takeaways, re.M))


# What older tutorials say, and no page here may.
FALSE = [
    r"355 GPU-years of compute were",
    r"1M GPU-hours",
    r"numbers below 6 ?[×x] ?10⁻⁸ become zero",
    r"torch\.cuda\.amp\.",
    r"always use `?pin_memory",
    r"DataLoader on (the )?GPU",
    r"#1 beginner bug",
    r"impossible without GPUs",
    r"below 80 ?% (GPU )?utili[sz]ation",
]


@pytest.mark.parametrize("statement", FALSE)
def test_no_page_of_the_lab_repeats_it(statement: str) -> None:
    """The most dangerous wrong sentences of older material are on none of its pages."""
    found = [
        page.name
        for page in LAB.glob("*.md")
        if re.search(statement, page.read_text(encoding="utf-8"), re.I)
    ]

    assert [] == found
