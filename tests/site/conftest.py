"""A small copy of the repository to break things in."""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.building import REPOSITORY, build, finish

LOOP_CPU = '''\
"""A loop."""


# --8<-- [start:loop]
def loop(batches):
    for batch in batches:
        print(batch)
# --8<-- [end:loop]
'''
LOOP_GPU = LOOP_CPU.replace("print(batch)", "batch = batch.to(0)\n        print(batch)")
PAGE = """\
# 1. First { #first }

See [the second](02-second.md#second).

```lesson-code show="tiny/loop_cpu.py:loop"
```
"""
COMPARISON = """\
# 2. Second { #second }

```lesson-compare
before: tiny/loop_cpu.py:loop
after: tiny/loop_gpu.py:loop
labels: [CPU, GPU]
reasons:
  - {line: "batch = batch.to(0)", why: The model lives there.}
```
"""
NAVIGATION = """\
nav:
  - Start: index.md
  - Lesson:
      - 1. First: tiny/01-first.md
      - 2. Second: tiny/02-second.md
"""


@dataclass(frozen=True)
class Copy:
    """A repository with the real settings and two small pages."""

    root: Path

    def write(self, path: str, text: str) -> None:
        """Put a file into it."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def build_and_finish(self) -> tuple[int, str]:
        """What `make build` does: the return code, and what was said on standard error."""
        built = build(self.root / "site", at=self.root)
        if built.returncode:
            return built.returncode, built.stderr
        finished = finish(self.root / "site", at=self.root)
        return finished.returncode, built.stderr + finished.stderr


def sound_copy(root: Path) -> Copy:
    """A copy of the repository in a folder, with nothing wrong in it."""
    shutil.copytree(REPOSITORY / "docs" / "assets", root / "docs" / "assets")
    shutil.copytree(REPOSITORY / "docs" / "overrides", root / "docs" / "overrides")
    for room in ("benchmarks", "graders", "lesson_site", "results"):
        skipped = shutil.ignore_patterns("__pycache__")
        shutil.copytree(REPOSITORY / room, root / room, ignore=skipped)
    settings = (REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8")
    small = re.sub(r"^nav:\n(?:[ \n].*\n?)*", NAVIGATION, settings, flags=re.MULTILINE)
    # The copy has no notebook to render, and what renders one takes longer to import than the copy
    # to build.
    small = re.sub(r"^  - mkdocs-jupyter:\n(?:    .*\n)*", "", small, flags=re.MULTILINE)
    copy = Copy(root)
    copy.write("mkdocs.yml", small)
    copy.write("lesson_code/tiny/loop_cpu.py", LOOP_CPU)
    copy.write("lesson_code/tiny/loop_gpu.py", LOOP_GPU)
    (root / "docs" / "code").symlink_to("../lesson_code")
    copy.write("docs/index.md", "# Start\n\nBegin.\n")
    copy.write("docs/tiny/01-first.md", PAGE)
    copy.write("docs/tiny/02-second.md", COMPARISON)
    return copy


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    """A sound copy: every test breaks one thing in it."""
    return sound_copy(tmp_path)
