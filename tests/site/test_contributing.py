"""CONTRIBUTING's own example of a new section works as it is written."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lesson_site.numbering import sections
from tests.building import REPOSITORY, build, finish, once, shared_folder
from tests.site.test_pages import parse, text_of, with_class

GUIDE = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
EXAMPLE = GUIDE.split("## Add a section")[1].split("\n## ")[0]
# A file named in backticks, at the end of a sentence, and the block below it
BLOCK = re.compile(
    r"`(?P<file>[\w./-]+\.(?:md|py))`[^`\n]*:\n\n(?P<ticks>`{3,})\w+\n(?P<text>.*?)\n(?P=ticks)",
    re.DOTALL,
)
BEFORE = "when-a-gpu-helps"
SLUG = "pinned-memory"


def follow(root: Path) -> None:
    """Copy what a site is built from, and do in the copy what the example says."""
    for room in ("docs", "lesson_code", "graders", "lesson_site", "benchmarks", "results"):
        skipped = shutil.ignore_patterns("__pycache__")
        shutil.copytree(REPOSITORY / room, root / room, symlinks=True, ignore=skipped)
    settings = (REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8")
    [line] = re.findall(r"```yaml\n(.*?)\n```", EXAMPLE, re.DOTALL)
    neighbour = f"          - gpu-training/{BEFORE}.md\n"
    assert neighbour in settings
    (root / "mkdocs.yml").write_text(settings.replace(neighbour, f"{neighbour}{line}\n"))
    for block in BLOCK.finditer(EXAMPLE):
        path = root / block["file"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block["text"] + "\n", encoding="utf-8")


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository with the section in the middle of the lesson, built and finished."""

    def make(root: Path) -> None:
        follow(root)
        for done in (build(root / "site", at=root), finish(root / "site", at=root)):
            assert not done.returncode, done.stdout + done.stderr

    return once(shared_folder(tmp_path_factory) / "contributing", make)


def test_the_example_names_its_files() -> None:
    """A page, a module and a test, each in the room that its slug opens."""
    assert [
        f"docs/gpu-training/{SLUG}.md",
        "lesson_code/gpu_training/pinned_memory.py",
        "tests/lesson_code/gpu_training/test_pinned_memory.py",
    ] == [block["file"] for block in BLOCK.finditer(EXAMPLE)]


def test_the_new_section_has_its_number_and_moves_those_after_it(followed: Path) -> None:
    """Titles, references and the links at the foot of a page follow the navigation."""
    lesson = followed / "site" / "gpu-training"
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


def test_the_example_s_test_passes(followed: Path) -> None:
    """What the page shows is run, as CONTRIBUTING asks."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"],
        cwd=followed,
        capture_output=True,
        text=True,
        check=False,
    )

    assert not done.returncode, done.stdout + done.stderr
    assert "1 passed" in done.stdout
