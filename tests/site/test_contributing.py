"""CONTRIBUTING's own examples work as they are written, and what it names is there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from lesson_site.numbering import sections
from tests.building import REPOSITORY
from tests.changed import BEFORE, BLOCK, EXAMPLE, GUIDE
from tests.lesson_site.test_drawings import flaws
from tests.pages import read, text_of, value_of

SLUG = "pinned-memory"
BLOCKS = {
    kind: re.findall(rf"^```{kind}\n(.*?)^```$", GUIDE, re.DOTALL | re.MULTILINE)
    for kind in ("toml", "xml")
}


def test_the_example_names_its_files() -> None:
    """A page, a module and a test, each in the room that its slug opens."""
    assert [
        f"docs/gpu-training/{SLUG}.md",
        "lesson_code/gpu_training/pinned_memory.py",
        "tests/lesson_code/gpu_training/test_pinned_memory.py",
    ] == [block["file"] for block in BLOCK.finditer(EXAMPLE)]


def test_the_new_section_has_its_number_and_moves_those_after_it(changed_site: Path) -> None:
    """Titles, references and the links at the foot of a page follow the navigation."""
    lesson = changed_site / "site" / "gpu-training"
    before = next(section for section in sections() if section.slug == BEFORE)
    after = sections()[before.number]
    page, next_page = (read(lesson / slug / "index.html") for slug in (SLUG, after.slug))

    assert f"{before.number + 1}. Pinned memory" in text_of(page.css_first("h1"))
    assert f"{after.number + 1}. " in text_of(next_page.css_first("h1"))[:4]
    assert f"section {before.number}" in [
        text_of(link) for link in page.css(f'a[href="../{BEFORE}/"]')
    ]
    assert f"../{after.slug}/" == value_of(page.css_first(".md-footer__link--next"), "href")
    assert f"{before.number + 1}. Pinned memory" in text_of(read(lesson / "index.html"))
    assert f"{before.number + 1}. Pinned memory" in text_of(
        read(lesson / "whole-lesson" / "index.html")
    )


def test_the_example_s_test_passes(changed_site: Path) -> None:
    """What the page shows is run, as CONTRIBUTING asks."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"],
        cwd=changed_site,
        capture_output=True,
        text=True,
        check=False,
    )

    assert not done.returncode, done.stdout + done.stderr
    assert "1 passed" in done.stdout


@pytest.mark.parametrize("path", sorted(set(re.findall(r"(?<![\w/])tests/[\w/.]+\w", GUIDE))))
def test_each_test_that_it_names_is_there(path: str) -> None:
    """A newcomer can run it as it is written; the example's own test comes with the example."""
    assert (REPOSITORY / path).exists() or f"`{path}`" in EXAMPLE


@pytest.mark.parametrize(
    ("number", "file"),
    [
        (0, "results/catalogue/lesson.toml"),
        (1, "results/published/topics/compiling.toml"),
        (2, "tests/graders/answers/lab.exercise_1.toml"),
    ],
)
def test_a_table_that_it_shows_is_one_that_is_read(number: int, file: str) -> None:
    """Word for word, so that it is checked with all others of its file."""
    assert 3 == len(BLOCKS["toml"])
    assert BLOCKS["toml"][number] in (REPOSITORY / file).read_text(encoding="utf-8")


def test_the_drawing_that_it_shows_is_one() -> None:
    """With a title, a description, and known shapes and classes."""
    [svg] = BLOCKS["xml"]

    assert [] == flaws(svg)


def test_its_first_table_leads_to_every_task() -> None:
    """Each link names a heading, and each heading that begins with a task has its line."""
    tasks = GUIDE.split("## Find your task")[1].split("\n## ")[0]
    linked = set(re.findall(r"\]\(#([\w-]+)\)", tasks))
    headings = re.findall(r"^## (.+)$", GUIDE, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}

    assert linked <= anchors
    assert {a for a in anchors if re.match(r"(add|give|change|show|compare)-", a)} <= linked
