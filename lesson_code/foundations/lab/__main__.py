"""`python -m lesson_code.foundations.lab start DIR` makes a folder to work in."""

import argparse
import sys
from pathlib import Path

from lesson_code.foundations.lab.layout import FOLDER, files


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line asks for.

    Returns:
        0 if all is well, 2 for a call that can't be carried out.
    """
    parser = argparse.ArgumentParser(prog="python -m lesson_code.foundations.lab")
    commands = parser.add_subparsers(dest="command", required=True)
    start = commands.add_parser("start", help="make a folder to work in")
    start.add_argument("folder", type=Path, help=f"such as {FOLDER}; no file in it changes")
    return make_folder(parser.parse_args(arguments).folder)


def make_folder(folder: Path) -> int:
    """Write what is missing into a folder; a file that is there stays as it is."""
    try:
        for name, content in files().items():
            target = folder / name
            if target.exists():
                print(f"kept    {target}")
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    except OSError as problem:
        print(
            f"error: can't make the lab's folder {folder}: {problem.strerror}; name another",
            file=sys.stderr,
        )
        return 2
    print(f"Go on in {folder} with Step 1 of the lab's page")
    return 0


if __name__ == "__main__":
    sys.exit(main())
