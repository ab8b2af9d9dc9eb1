"""One copy of the site with all that is to follow by itself, since to build one takes long.

It has CONTRIBUTING's own example of a new section, and everything measured on two GPUs that do not
exist, and raced in a browser.
"""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from results.catalogue import read
from results.entry import entry
from results.predictions import keep_predictions
from results.result_file import known_entries
from tests.benchmarks.made_up import GPU_MACHINE, RACED_IN_A_BROWSER, complete, result
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
    """Put the files of the machines beside those that are there."""
    results = root / "benchmarks" / "results"
    for content in (complete(), second()):
        file = results / content["provenance"]["machine"] / "2026-11-21-abcdef0.json"
        file.parent.mkdir()
        file.write_text(json.dumps(content), encoding="utf-8")
    in_browser = results / "browser" / "2026-11-22-abcdef0.json"
    in_browser.parent.mkdir(exist_ok=True)
    shutil.copy(RACED_IN_A_BROWSER, in_browser)


def second() -> dict[str, Any]:
    """A complete file of another GPU, whose numbers have three digits each."""
    parts: dict[str, Any] = {}
    for case, of in known_entries({one.name: one for one in read()}).items():
        made = {
            name: replace(
                entry([1.231, 1.234, 1.239], known.units[0], device=known.device), amount=2e9
            )
            for name, known in of.items()
            if not known.in_browser
        }
        kept = keep_predictions(case, made)
        parts[case] = {
            "all": {
                "finished": "2026-11-21T14:00Z",
                "took_s": 9.0,
                "load_average": 0.1,
                "entries": {name: one.to_json() for name, one in kept.items()},
            }
        }
    return result(parts, {**GPU_MACHINE, "machine": "made-up-second", "gpu": "Second made-up GPU"})
