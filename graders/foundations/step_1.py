"""Step 1: a folder and an environment of its own."""

import sys
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from graders.checks import require, todo
from graders.folder import Folder

FOLDER = "pytorch-training-lab"
PACKAGES = ("torch", "torchvision", "numpy")
OLDEST_TORCH = (2, 6)
REREAD = "reread Lab, Step 1"

opened = Folder


@todo("1.1", "`pytorch-training-lab` exists and is the current folder")
def works_in_the_folder(answer: Folder) -> None:
    """The learner works in the folder of the lab."""
    here = Path.cwd()
    require(
        here.name == FOLDER and here == answer.path,
        f"the current folder to be {FOLDER}",
        str(here),
        f"change into it first; {REREAD}",
    )


@todo("1.2", "`.venv` lies inside it, and its interpreter is the one that runs")
def runs_its_own_interpreter(answer: Folder) -> None:
    """The interpreter belongs to the environment in this folder."""
    wanted, running = answer.path / ".venv", Path(sys.prefix)
    require(wanted.is_dir(), "an environment", f"no folder {wanted}", REREAD)
    require(
        wanted.resolve() == running.resolve(),
        "the interpreter of that environment",
        f"another interpreter, which belongs to {running}",
        REREAD,
    )


@todo("1.3", "`torch`, `torchvision` and `numpy` can be imported from it")
def has_the_packages(_: Folder) -> None:
    """What the lab needs is installed."""
    for name in PACKAGES:
        try:
            import_module(name)
        except Exception as problem:  # builds that do not fit raise more than ImportError
            require(
                False,
                f"{name} to be imported",
                f"{problem}; {', '.join(map(installed, PACKAGES))}",
                f"all of them come from one place; {REREAD}",
            )


def installed(name: str) -> str:
    """A package and the version that the environment has of it."""
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return f"no {name}"


@todo("1.4", "importing torch prints a version, 2.6 or later")
def is_young_enough(_: Folder) -> None:
    """PyTorch is young enough to load checkpoints safely by default."""
    running = str(import_module("torch").__version__)
    found = tuple(int(number) for number in running.split("+")[0].split(".")[:2])
    require(found >= OLDEST_TORCH, "PyTorch 2.6 or later", f"torch {running}", REREAD)
