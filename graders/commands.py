"""What `python -m graders` does."""

import argparse
import io
import sys
from pathlib import Path

from graders import door
from graders.collect import collect
from graders.units import UNITS, Unit


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line asks for.

    Returns:
        0 if all is well, 1 if an answer does not pass, 2 for a call that can't be carried out.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        # What learners write may contain what the terminal has no character for.
        sys.stdout.reconfigure(errors="backslashreplace")
    parser = argparse.ArgumentParser(prog="python -m graders")
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check", help="grade one answer")
    check.add_argument("unit", help=f"one of {', '.join(UNITS)}")
    check.add_argument("file", type=Path, help="the learner's file, or the folder of several")
    check.add_argument("--json", action="store_true", help="a line a TODO, and the hand-in")
    check.add_argument("--seed", type=int, help="ask the same cases again; it is in every report")
    regrade = commands.add_parser("collect", help="grade what learners handed in")
    regrade.add_argument("folder", type=Path, help="a folder for each learner in it")
    regrade.add_argument("--csv", type=Path, help="also write a row for each learner and TODO")
    regrade.add_argument("--seed", type=int, help="ask everybody the same cases again")
    options = parser.parse_args(arguments)
    if options.command == "collect":
        return collect(options.folder, options.csv, options.seed)
    return grade(options.unit, options.file, options.json, options.seed)


def grade(name: str, path: Path, as_json: bool, seed: int | None) -> int:
    """Hand an answer to its unit's checks, if there are such."""
    unit = UNITS.get(name)
    if unit is None:
        return refuse(f"there is no unit {name}; take one of {', '.join(UNITS)}")
    if problem := misplaced(unit, path):
        return refuse(problem)
    return door.grade(unit.name, f"{unit.title}: {path}", path, as_json, seed)


def misplaced(unit: Unit, path: Path) -> str:
    """Why that path can't be an answer to a unit; empty if it can."""
    if unit.folder and not path.is_dir():
        return f"{path} is not a folder; name the one with {unit.file} in it"
    if not unit.folder and path.is_dir():
        return f"{path} is a folder; name the file in it, such as {path / unit.file}"
    if not unit.folder and not path.is_file():
        return f"there is no file {path}; name the learner's {unit.file}"
    return ""


def refuse(sentence: str) -> int:
    """Say why a call can't be carried out; the status for that."""
    print(f"error: {sentence}", file=sys.stderr)
    return 2
