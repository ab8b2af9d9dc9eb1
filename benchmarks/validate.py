"""Check result files where PyTorch is not installed: ``python -m benchmarks.validate FILE …``."""

import sys
from collections.abc import Iterable
from pathlib import Path

from results import result_file
from results.catalogue import CatalogueError
from results.result_file import BadResultError, entries_of


def validate(files: Iterable[Path]) -> int:
    """Check every file, and name each bad one on standard error.

    Args:
        files: The files, in the order in which they are told.

    Returns:
        0 if all are good, 2 if any is not.

    Raises:
        CatalogueError: If the catalogue can't be read.
    """
    bad = 0
    for path in files:
        try:
            of_cases = entries_of(result_file.read(path))
        except BadResultError as problem:
            bad += 1
            print(f"error: {problem}", file=sys.stderr)
        else:
            cases_text = "1 case" if len(of_cases) == 1 else f"{len(of_cases)} cases"
            print(f"{path}: good, {cases_text}, {sum(map(len, of_cases.values()))} entries")
    return 2 if bad else 0


def main(arguments: list[str]) -> int:
    """Check the files that the command line names."""
    if not arguments or any(argument.startswith("-") for argument in arguments):
        print("error: name the result files to check, and nothing else", file=sys.stderr)
        return 2
    try:
        return validate(map(Path, arguments))
    except CatalogueError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
