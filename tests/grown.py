"""Whether the site's build stays in proportion when the site grows: ``python -m tests.grown``.

A copy of the repository is built and finished as it is, with half of what is to be added, and with
all of it. What grows faster than in proportion needs more for the second half than for the first.
"""

import argparse
import json
import resource
import sys
import tempfile
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from tests.building import build, copy_all, finish
from tests.changed import second

# Pages that may be there twice: nothing else leads to a heading of theirs by its name alone.
COPIED = ("tensors", "autograd", "modules", "losses", "optimizers-and-checkpoints", "debugging")
IN_A_SECTION = 20
GPUS = 10
# Two runs of the same build differ by a few percent on a machine that does nothing else.
MARGIN = 0.15


def main(arguments: list[str]) -> int:
    """Build the growing site, and say what each step took.

    Returns:
        0 if each step stays in proportion, 1 if one does not, 2 if a build fails.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.grown", description=__doc__)
    parser.add_argument("--pages", type=int, default=1000, help="how many are added; 0 for none")
    parser.add_argument("--files", type=int, default=1000, help="result files, likewise")
    options = parser.parse_args(arguments)
    steep = []
    for what, most, add in (
        ("pages", options.pages, add_pages),
        ("result files", options.files, add_files),
    ):
        sizes = (0, most // 2, most) if most else ()
        try:
            took = [seconds(number, add) for number in sizes]
        except RuntimeError as problem:
            print(f"error: with more {what}, {problem}", file=sys.stderr)
            return 2
        for step, values in zip(("build", "finish"), zip(*took, strict=True), strict=bool(took)):
            told = ", ".join(f"{n} {value:.1f} s" for n, value in zip(sizes, values, strict=True))
            over = beyond_proportion(*values)
            print(f"{step}, added {what}: {told}; {over:+.0%} beyond proportion")
            if over > MARGIN:
                steep.append(f"{step} with more {what}")
    if steep:
        print(f"out of proportion: {', '.join(steep)}", file=sys.stderr)
    return bool(steep)


def beyond_proportion(none: float, half: float, whole: float) -> float:
    """How much of the whole's time lies above the straight line through the two others."""
    return (whole - (none + 2 * (half - none))) / whole


def seconds(number: int, add: Callable[[Path, int], None]) -> tuple[float, float]:
    """The processor seconds of build and finish, once ``add`` has added so many.

    Raises:
        RuntimeError: If one of them fails; its message is the last line of what that said.
    """
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        copy_all(root)
        add(root, number)
        of_build = _processor_seconds(lambda: build(root / "site", at=root))
        return of_build, _processor_seconds(lambda: finish(root / "site", at=root))


def _processor_seconds(call: Callable[[], Any]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = call()
    if done.returncode:
        raise RuntimeError((done.stdout + done.stderr).strip().splitlines()[-1])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def add_pages(root: Path, number: int) -> None:
    """Put copies of pages beside them, and name them in the navigation."""
    folder, settings = root / "docs" / "foundations", root / "mkdocs.yml"
    lines = ["  - More:"] if number else []
    for index, name in enumerate(islice(cycle(COPIED), number)):
        copy = folder / f"{name}-{index:04}.md"
        copy.write_text((folder / f"{name}.md").read_text(encoding="utf-8"), encoding="utf-8")
        if not index % IN_A_SECTION:
            lines.append(f"      - From {index}:")
        lines.append(f'          - "Page {index}": foundations/{copy.name}')
    text = settings.read_text(encoding="utf-8")
    named = text.replace("\nnot_in_nav:", "\n".join(["", *lines, "", "not_in_nav:"]))
    settings.write_text(named, encoding="utf-8")


def add_files(root: Path, number: int) -> None:
    """Put files of made-up GPU machines beside the measured ones, a commit each."""
    for index in range(number):
        content = second()
        provenance = content["provenance"]
        provenance["machine"] = f"made-up-{index % GPUS}"
        provenance["gpu"] = f"Made-up GPU {index % GPUS}"
        provenance["commit"] = f"{index:010x}"
        folder = root / "benchmarks" / "results" / provenance["machine"]
        file = folder / f"{provenance['date']}-{provenance['commit']}.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(content), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
