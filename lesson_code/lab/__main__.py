"""`python -m lesson_code.lab start DIR` copies the exercises; `check N FILE` grades an answer."""

import argparse
import io
import sys
from pathlib import Path

from lesson_code.lab.todos import stub

SOLUTIONS = Path(__file__).parent / "solution"
BESIDE = Path(__file__).resolve().parents[2]  # where the archive has the exercises
OLDEST = (3, 11)  # the first Python that has all that the graders import
FILES = {
    1: "01_gpu_basics.py",
    2: "02_amp_training.py",
    3: "03_memory_optimization.py",
    4: "04_accelerated_training.py",
}


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line asks for.

    Returns:
        0 if all is well, 1 if an answer does not pass, 2 for a call that can't be carried out.
    """
    parser = argparse.ArgumentParser(prog="python -m lesson_code.lab", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    start = commands.add_parser("start", help="copy the exercises into a folder of yours")
    start.add_argument("folder", type=Path, help="made if it is missing; no file in it changes")
    check = commands.add_parser("check", help="grade an exercise")
    check.add_argument("exercise", type=int, choices=tuple(FILES))
    check.add_argument("file", type=Path, nargs="?", help="by default the one of this folder")
    check.add_argument("--json", action="store_true", help="one line of JSON for each TODO")
    check.add_argument("--seed", type=int, help="ask the same cases again; it is in every report")
    options = parser.parse_args(arguments)
    if options.command == "start":
        return copy_exercises(options.folder)
    return grade(options.exercise, options.file, options.json, options.seed)


def copy_exercises(folder: Path) -> int:
    """Write the exercises into a folder; a file that is there stays as it is."""
    from graders.blanks import emptied

    if (BESIDE / FILES[1]).exists() and folder.resolve() != BESIDE:
        return _refuse(
            f"the exercises are in {BESIDE} already; run them there, where they find lesson_code, "
            f"and begin with: python -m lesson_code.lab check 1 {FILES[1]}"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in FILES.values():
            target = folder / name
            if target.exists():
                print(f"kept    {target}")
            else:
                source = (SOLUTIONS / name).read_text(encoding="utf-8")
                target.write_text(emptied(source, stub), encoding="utf-8", newline="\n")
                print(f"copied  {target}")
    except OSError as problem:
        return _refuse(f"can't copy the exercises into {folder}: {problem.strerror}; name another")
    print(f"Begin with: python -m lesson_code.lab check 1 {folder / FILES[1]}")
    return 0


def grade(exercise: int, file: Path | None, as_json: bool, seed: int | None) -> int:
    """Hand a file to the graders, if it is one and this Python can import them."""
    running = sys.version_info[:2]
    if running < OLDEST:
        needed, found = (".".join(map(str, version)) for version in (OLDEST, running))
        return _refuse(
            f"the checker needs Python {needed} or newer, and {sys.executable} is {found}; "
            "make an environment with a newer one"
        )
    from graders import door

    path = file or Path(FILES[exercise])
    if path.is_dir():
        return _refuse(f"{path} is a folder; name the file in it, such as {path / FILES[exercise]}")
    if not path.is_file():
        return _refuse(
            f"there is no file {path}; name yours, or let "
            "`python -m lesson_code.lab start DIR` copy the exercises"
        )
    title = f"Exercise {exercise}: {path}"
    return door.grade(f"lab.exercise_{exercise}", title, path, as_json, seed)


def _refuse(sentence: str) -> int:
    print(f"error: {sentence}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    if isinstance(sys.stdout, io.TextIOWrapper):
        # An error of an answer may contain what the terminal has no character for.
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(main())
