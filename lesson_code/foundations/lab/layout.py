"""What a learner's folder has at the beginning, by name."""

import gzip
from pathlib import Path

from graders.blanks import emptied
from lesson_code.lab.todos import stub

FOLDER = "pytorch-training-lab"
LAB = Path(__file__).parent
ROOT = LAB.parents[2]
WRITTEN = ("explore_gradients.py", "train_mnist.py", "debug_model.py", "benchmark_devices.py")
NOTES = ("debugging-note.md", "training-readiness.md")
GIVEN = ("check.py", "expressions.py", "faults.py")
# What `check.py` imports of the graders, directly or not; none of it imports lesson code.
ENGINE = (
    *("__init__", "answers", "checks", "child", "door", "folder", "hand_in", "judging"),
    *("keeper", "limits", "outcome", "process", "report", "units"),
)
UNMARKED = ("debug_model.py", "2.1", "2.3")  # no line says that something is to do there
DIGITS = "digits/MNIST/raw"  # where torchvision looks under `--data digits`


def starter(name: str) -> str:
    """What a learner finds in a script: the solution, emptied."""

    def line(number: str, task: str) -> str:
        return "" if {name, number} & {*UNMARKED} else stub(number, task)

    return emptied((LAB / name).read_text(encoding="utf-8"), line)


def digits() -> dict[str, bytes]:
    """The tenth part of MNIST that comes with the lab, unpacked."""
    subset = ROOT / "lesson_code" / "mnist_subset"
    found = {
        f"{DIGITS}/{path.stem}": gzip.decompress(path.read_bytes()) for path in subset.glob("*.gz")
    }
    return found | {"digits/README.md": (subset / "README.md").read_bytes()}


def graders() -> dict[str, bytes]:
    """The engine that `check.py` starts, and the checks of this lab."""
    engine = [ROOT / "graders" / f"{name}.py" for name in ENGINE]
    paths = [*engine, *(ROOT / "graders" / "foundations").glob("*.py")]
    return {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in paths}


def given() -> dict[str, bytes]:
    """The scripts and notes that are handed out as they are."""
    return {name: (LAB / name).read_bytes() for name in (*NOTES, *GIVEN)}


def files() -> dict[str, bytes]:
    """Everything that the folder has."""
    scripts = {name: starter(name).encode() for name in WRITTEN}
    return {**scripts, **given(), **graders(), **digits()}
