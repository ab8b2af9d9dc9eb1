"""The last links of the pages, followed: to what is needed next, and to no list of old errors."""

import itertools
import re
from posixpath import dirname, join, normpath

import pytest

from tests.building import REPOSITORY

DOCS = REPOSITORY / "docs"
LINK = re.compile(r"\]\(([\w./-]+\.md)(?:#[\w-]+)?\)\{ \.next-step \}")
STEPS = {
    page.relative_to(DOCS).as_posix(): [
        normpath(join(dirname(page.relative_to(DOCS).as_posix()), link))
        for link in LINK.findall(page.read_text(encoding="utf-8"))
    ]
    for page in sorted(DOCS.rglob("*.md"))
}
CORRECTIONS = [page for page in STEPS if page.startswith("corrections")]
# From the notebook to the forecast. Background, bonuses and resources are one link away.
WAY = [
    *("notebooks/exercise-4.md", "lab/index.md"),
    *(f"lab/exercise-{number}.md" for number in range(1, 5)),
    *("lab/pitfalls-and-tips.md", "mission/index.md", "mission/the-model.md"),
    *("mission/what-fits.md", "benchmarks/forecast.md"),
]
ASIDE = [
    *("lab/architecture.md", "lab/cuda-and-devices.md", "lab/mixed-precision.md"),
    *("lab/memory-mathematics.md", "lab/key-concepts.md"),
    *("lab/bonus-multi-gpu.md", "lab/bonus-custom-kernel.md", "lab/bonus-memory-dashboard.md"),
    *("lab/bonus-checkpointing.md", "lab/bonus-transformers.md", "lab/bonus-tf32.md"),
    "lab/resources.md",
]


def walked(page: str) -> list[str]:
    """The pages that follow by their next steps, to the end or to one that was there before."""
    way = [page]
    while STEPS[way[-1]] and way[-1] not in way[:-1]:
        way.append(STEPS[way[-1]][-1])
    return way


@pytest.mark.parametrize(("page", "following"), list(itertools.pairwise(WAY)))
def test_the_way_goes_on_to_what_is_needed_next(page: str, following: str) -> None:
    """Exercises follow each other, and what is for another evening is not in between."""
    assert [following] == STEPS[page]


@pytest.mark.parametrize("page", ASIDE)
def test_what_is_aside_leads_back_to_the_way(page: str) -> None:
    """Background comes before the exercises, bonuses after them; none of it goes in a circle."""
    way = walked(page)[1:]

    assert set(way) & set(WAY)
    assert page not in way


@pytest.mark.parametrize("page", CORRECTIONS)
def test_corrections_are_no_step_of_the_way(page: str) -> None:
    """They lead to each other, and in the end to the mission; only they lead to them."""
    assert {each for each, steps in STEPS.items() if page in steps} <= set(CORRECTIONS)
    assert "mission/index.md" in walked(page)
