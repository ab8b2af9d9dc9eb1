"""Step 1: a folder and an environment of its own."""

import sys
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from .points import Finding, OpenPointError, point, require

FOLDER = "pytorch-training-lab"
PACKAGES = ("torch", "torchvision", "numpy")
OLDEST_TORCH = (2, 6)
PART = "Lab, Step 1"


@point("`pytorch-training-lab` exists and is the current folder", PART)
def test_folder() -> None:
    """The learner works in the folder of the lab."""
    here = Path.cwd()
    require(here.name == FOLDER, f"the current folder is not {FOLDER}", f"it is {here}")


@point("`.venv` lies inside it, and its interpreter is the one that runs", PART)
def test_environment() -> None:
    """The interpreter belongs to the environment in this folder."""
    wanted, running = Path.cwd() / ".venv", Path(sys.prefix)
    require(wanted.is_dir(), "there is no .venv here", f"looked for {wanted}")
    require(
        wanted.resolve() == running.resolve(),
        "another interpreter runs",
        f"the running one belongs to {running}",
    )


@point("`torch`, `torchvision` and `numpy` can be imported from it", PART)
def test_packages() -> None:
    """What the lab needs is installed."""
    missing = []
    for name in PACKAGES:
        try:
            import_module(name)
        except Exception as problem:  # builds that do not fit raise more than ImportError
            shown = f"{problem}; {', '.join(map(installed, PACKAGES))}"
            missing.append(Finding(f"{name} cannot be imported", shown))
    if missing:
        raise OpenPointError(*missing)


def installed(name: str) -> str:
    """A package and the version that the environment has of it."""
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return f"no {name}"


@point("importing torch prints a version, 2.6 or later", PART)
def test_version() -> None:
    """PyTorch is young enough to load checkpoints safely by default."""
    running = str(import_module("torch").__version__)
    found = tuple(int(number) for number in running.split("+")[0].split(".")[:2])
    require(found >= OLDEST_TORCH, "this PyTorch is older than 2.6", f"torch {running}")
