"""`make serve` shows what was changed, without being asked, and builds no more than it must."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator

import pytest

from tests.site.conftest import LOOP_CPU, PAGE, Copy

PATIENCE_S = 120.0


class Author:
    """Somebody who edits a copy of the repository, with its preview open."""

    def __init__(self, copy: Copy) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.copy = copy
        self.log = copy.root / "serve.log"
        self.made = copy.root / "made"
        self.made.mkdir()
        with self.log.open("w") as log:
            self.server = subprocess.Popen(
                [sys.executable, "-m", "lesson_site", "serve", "--port", str(self.port)],
                cwd=copy.root,
                env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "TMPDIR": str(self.made)},
                stdout=log,
                stderr=log,
            )

    def read(self, page: str) -> str:
        """The page, or nothing while the server is not there."""
        try:
            with urllib.request.urlopen(
                f"http://127.0.0.1:{self.port}/{page}", timeout=5
            ) as answer:
                return str(answer.read().decode())
        except OSError:
            return ""

    def sees(self, text: str, page: str) -> None:
        """Wait until the page has ``text``."""
        self.waits_for(lambda: text in self.read(page), f"{text!r} on {page}")

    def said(self, text: str) -> None:
        """Wait until the server has said it."""
        self.waits_for(lambda: text in self.log.read_text(), f"{text!r} from the server")

    def waits_for(self, happened: Callable[[], bool], what: str) -> None:
        """Ask again and again."""
        end = time.monotonic() + PATIENCE_S
        while not happened():
            if time.monotonic() > end or self.server.poll() is not None:
                pytest.fail(f"no {what}: {self.log.read_text()}")
            time.sleep(0.05)


@pytest.fixture
def author(copy: Copy) -> Iterator[Author]:
    """The preview of a small copy, once it is there."""
    copy.write("lesson_code/tiny/alone.py", LOOP_CPU)
    copy.write("docs/tiny/01-first.md", PAGE.replace("loop_cpu", "alone"))
    settings = (copy.root / "mkdocs.yml").read_text(encoding="utf-8")
    copy.write("mkdocs.yml", settings.replace("1. First: tiny", "tiny"))  # as its title says
    author = Author(copy)
    try:
        author.sees("First", "tiny/01-first/")
        yield author
    finally:
        author.server.terminate()
        author.server.wait(PATIENCE_S)


def test_a_changed_page_is_built_alone(author: Author) -> None:
    """The others are not written again, and yet the navigation has their titles."""
    [other] = author.made.glob("*/tiny/01-first/index.html")
    before = other.stat().st_mtime_ns

    author.copy.write("docs/tiny/02-second.md", "# 2. Second { #second }\n\nRewritten.\n")
    author.sees("Rewritten.", "tiny/02-second/")

    assert "1. First" in author.read("tiny/02-second/")
    assert before == other.stat().st_mtime_ns


def test_changed_code_is_shown(author: Author) -> None:
    """Any page may show it, so all are built."""
    author.copy.write("lesson_code/tiny/alone.py", LOOP_CPU.replace("batches", "another_name"))

    author.sees("another_name", "tiny/01-first/")


def test_a_mistake_is_said_and_the_old_page_stays(author: Author) -> None:
    """Once it is mended, the page is there again."""
    author.copy.write("docs/tiny/01-first.md", "# 1. First { #first }\n\nIt takes [[nope]].\n")
    author.said("docs/tiny/01-first.md:3: there is no figure 'nope'")

    assert "First" in author.read("tiny/01-first/")

    author.copy.write("docs/tiny/01-first.md", "# 1. First { #first }\n\nMended.\n")
    author.sees("Mended.", "tiny/01-first/")
