"""One copy of the site with all that is to follow by itself, since to build one takes long.

It has CONTRIBUTING's own example of a new section, and everything measured on a GPU that does not
exist.
"""

import json
import re
from pathlib import Path

from tests.benchmarks.made_up import complete
from tests.building import REPOSITORY, build, copy_all, finish

GUIDE = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
EXAMPLE = GUIDE.split("## Add a section")[1].split("\n## ")[0]
# A file named in backticks, at the end of a sentence, and the block below it
BLOCK = re.compile(
    r"`(?P<file>[\w./-]+\.(?:md|py))`[^`\n]*:\n\n(?P<ticks>`{3,})\w+\n(?P<text>.*?)\n(?P=ticks)",
    re.DOTALL,
)
BEFORE = "when-a-gpu-helps"


def make(root: Path) -> None:
    """Copy what the site is built from, change it, build it and finish it."""
    copy_all(root)
    add_section(root)
    add_results(root)
    for done in (build(root / "site", at=root), finish(root / "site", at=root)):
        assert not done.returncode, done.stdout + done.stderr


def add_section(root: Path) -> None:
    """Do what the example says."""
    settings = (root / "mkdocs.yml").read_text(encoding="utf-8")
    [line] = re.findall(r"```yaml\n(.*?)\n```", EXAMPLE, re.DOTALL)
    neighbour = f"          - gpu-training/{BEFORE}.md\n"
    assert neighbour in settings
    (root / "mkdocs.yml").write_text(settings.replace(neighbour, f"{neighbour}{line}\n"))
    for block in BLOCK.finditer(EXAMPLE):
        path = root / block["file"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block["text"] + "\n", encoding="utf-8")


def add_results(root: Path) -> None:
    """Put the file of the machine beside those that are there."""
    file = root / "benchmarks" / "results" / "made-up-gpu" / "2026-11-21-abcdef0.json"
    file.parent.mkdir()
    file.write_text(json.dumps(complete()), encoding="utf-8")
