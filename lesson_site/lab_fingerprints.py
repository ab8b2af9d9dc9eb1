"""The fingerprints of the module's pages, by which the lab sees whether a note was copied.

They are committed, because the lab is used without a build: run this after the pages changed.
"""

import re
import runpy
from collections.abc import Callable
from pathlib import Path

PAGES = Path("docs/foundations")
CHECKS = Path("lesson_code/foundations/lab/starter/checks")
FINGERPRINTS = CHECKS / "page-fingerprints.bin"
NOT_PROSE = re.compile(
    r"\A---\n.*?\n---\n"  # front matter
    r"|^(?P<indent> *)(?P<fence>`{3,}|~{3,}).*?^(?P=indent)(?P=fence)\s*$"  # code and figures
    r"|\{ ?[#.][^}]*\}"  # attributes
    r"|\]\([^)]*\)",  # addresses of links
    re.DOTALL | re.MULTILINE,
)


def prose(page: str) -> str:
    """The words of a page, without what a reader does not see as prose."""
    return NOT_PROSE.sub(" ", page)


def packed(pages: Path = PAGES) -> bytes:
    """The fingerprints of every page of the module."""
    pack: Callable[[list[str]], bytes] = runpy.run_path(str(CHECKS / "fingerprints.py"))["pack"]
    return pack([prose(path.read_text(encoding="utf-8")) for path in sorted(pages.glob("*.md"))])


def write_fingerprints(pages: Path = PAGES, file: Path = FINGERPRINTS) -> Path:
    """Write the fingerprints where the lab's checks find them."""
    file.write_bytes(packed(pages))
    return file
