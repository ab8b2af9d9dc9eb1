"""CONTRIBUTING's own example of a new section works as it is written."""

import subprocess
import sys
from pathlib import Path

from lesson_site.numbering import sections
from tests.changed import BEFORE, BLOCK, EXAMPLE
from tests.site.test_pages import parse, text_of, with_class

SLUG = "pinned-memory"


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
    page, next_page = (parse(lesson / slug / "index.html") for slug in (SLUG, after.slug))

    assert f"{before.number + 1}. Pinned memory" in text_of(next(page.iter("h1")))
    assert f"{after.number + 1}. " in text_of(next(next_page.iter("h1")))[:4]
    assert f"section {before.number}" in [
        link.text for link in page.iter("a") if link.get("href") == f"../{BEFORE}/"
    ]
    assert f"../{after.slug}/" == next(with_class(page, "md-footer__link--next")).get("href")
    assert f"{before.number + 1}. Pinned memory" in text_of(parse(lesson / "index.html"))
    assert f"{before.number + 1}. Pinned memory" in text_of(
        parse(lesson / "whole-lesson" / "index.html")
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
