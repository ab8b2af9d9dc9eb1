"""Give your result files to the site: ``python -m benchmarks.contribute FILE … --as NAME``.

Each file is checked, loses what may tell of your machine more than its model, and is written below
``benchmarks/contributed``, from where a pull request brings it to the site. Nothing is sent.
PyTorch is not needed.
"""

import platform
import sys
from collections.abc import Iterable
from pathlib import Path

from benchmarks.arguments import Parser
from results import contributor, result_file
from results.catalogue import CatalogueError
from results.contributed import FOLDER
from results.result_file import BadResultError, Content

TELLING = ("skipped", "incomplete")  # whose words a library or the system may have written


def contribute(files: Iterable[Path], name: str, folder: Path = FOLDER) -> list[Path]:
    """Write what these files measured into the folder of this name: all of them, or none.

    Args:
        files: Result files, as the job, the notebook or the race wrote them.
        name: Under which they are shown.
        folder: What has a folder for each name.

    Returns:
        The files that were written.

    Raises:
        BadResultError: If the name or a file can't be used, or a file is there already.
    """
    if problem := contributor.problem_of_name(name):
        raise BadResultError(f"the name {name!a} can't be used: {problem}; choose another one")
    if platform.node() and name.casefold() in _names_of_this_machine():
        raise BadResultError(f"{name} is the name of this machine; choose one for yourself")
    new: dict[Path, Content] = {}
    for file in files:
        content = given(result_file.read(file), name)
        path = folder / contributor.folder_of(name) / _file_name(content)
        if problem := next(contributor.problems(content), ""):
            raise BadResultError(f"{file} {problem}")
        if path in new or path.exists():
            raise BadResultError(
                f"{file} has been given already, it is {path}; give another measurement"
            )
        new[path] = content
    for path, content in new.items():
        result_file.write(content, path)
    return list(new)


def given(content: Content, name: str) -> Content:
    """The content without what is not needed to show it, and with the contributor's name."""
    measured = {
        case: {
            part: {key: value for key, value in of.items() if key not in TELLING}
            for part, of in parts.items()
            if "entries" in of
        }
        for case, parts in content["cases"].items()
    }
    machine = contributor.machine_of(content["provenance"])
    return {
        "version": content["version"],
        "contributor": name,
        "provenance": {**content["provenance"], "machine": machine},
        "cases": {case: parts for case, parts in measured.items() if parts},
        "figures": content["figures"],
    }


def _names_of_this_machine() -> set[str]:
    name = platform.node().casefold()
    return {name, name.partition(".")[0]}


def _file_name(content: Content) -> str:
    """After the machine and the minute at which the last part was measured."""
    minute = result_file.newest(content).replace("T", "-").replace(":", "").removesuffix("Z")
    return f"{content['provenance']['machine']}-{minute}.json"


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line asks; 0 if all went well, 2 for bad input."""
    parser = Parser(prog="python -m benchmarks.contribute", description=__doc__)
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="a result file")
    parser.add_argument(
        "--as", dest="name", required=True, help="the name under which the site shows them"
    )
    options = parser.parse_args(arguments)
    try:
        written = contribute(options.files, options.name)
    except (BadResultError, CatalogueError) as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    except OSError as problem:
        print(f"error: can't write {problem.filename}: {problem.strerror}", file=sys.stderr)
        return 2
    for path in written:
        print(path)
    print(f"Commit this and open a pull request; the site then says “measured by {options.name}”.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
