"""The pages do not depend on MkDocs alone: Material's successor builds them too."""

import shutil
from pathlib import Path

from lesson_site.postbuild.redirects import MOVED
from tests.building import REPOSITORY, run

NOTEBOOK = "notebooks/as-it-ran/index.html"  # by mkdocs-jupyter; Zensical copies the file


def pages(site: Path) -> set[str]:
    """The addresses of a site's pages, without those that `finish` adds for moved ones."""
    found = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    return found - {f"gpu-training/{old}/index.html" for old in MOVED}


def test_zensical_builds_the_same_pages(built_site: Path, tmp_path: Path) -> None:
    """With the same settings, Zensical makes exactly the pages that MkDocs makes of Markdown."""
    for room in ("docs", "lesson_code", "graders", "lesson_site", "benchmarks", "results"):
        skipped = shutil.ignore_patterns("__pycache__")
        shutil.copytree(REPOSITORY / room, tmp_path / room, symlinks=True, ignore=skipped)
    shutil.copy(REPOSITORY / "mkdocs.yml", tmp_path)

    built = run("zensical", "build", "--strict", at=tmp_path)

    assert not built.returncode, built.stdout + built.stderr
    assert pages(built_site) - {NOTEBOOK} == pages(tmp_path / "site")
    assert (tmp_path / "site/notebooks/as-it-ran.ipynb").is_file()
