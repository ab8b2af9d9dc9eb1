"""Mutants of a module of ours, of which its tests are asked: ``… modules results.summary``.

Each test file that names the module is run on each mutant until one test fails; other files can be
named. What is only written for a reader or for mypy is left as it is: what stands
above a definition, strings of several words, annotations, and the order of factors.
"""

import argparse
import ast
import importlib
import os
import re
import sys
import time
from collections.abc import Iterator
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from unittest.mock import patch

import pytest

from tests.imports import REPOSITORY, ROOMS
from tests.mutation.mutants import Mutant, mutants
from tests.mutation.processes import forked, progress
from tests.mutation.table import Fate, Told

KEPT = re.compile(r"\s*(@|if TYPE_CHECKING)|\w+ = Literal\[")
PROSE = re.compile(r"""(["'])(?:(?!\1).)* (?:(?!\1).)*\1""")
SHOWN = ("try_", "print_")  # functions whose output a page shows, and a test of its own compares
SITE = ("browser", "site", "assets")
WARM = ("hypothesis", "jsonschema", "torchvision")  # what many tests import, and nothing of ours
OPTIONS = (
    *("-x", "-p", "no:cacheprovider", "-p", "no:xdist"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),  # of libraries that are there already
)
FATES: dict[int, Fate] = {pytest.ExitCode.OK: "survived"}


def mutants_of(source: str) -> list[Mutant]:
    """Those of a module that could make it do something else."""
    lines = enumerate(source.splitlines(), start=1)
    tried = {number for number, line in lines if not KEPT.match(line)} - _docstrings(source)
    return [
        mutant
        for mutant in mutants(source, tried)
        if PROSE.sub("", mutant.old) != PROSE.sub("", mutant.new)
        and not mutant.function.startswith(SHOWN)
        and _done(mutant.source) not in ("", _done(source))
    ]


def _docstrings(source: str) -> set[int]:
    """The lines of strings that are statements."""
    return {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


class _Sorted(ast.NodeTransformer):
    """Puts the factors of each product in one order, since their own changes nothing."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.BinOp:
        self.generic_visit(node)
        if isinstance(node.op, ast.Mult):
            node.left, node.right = sorted((node.left, node.right), key=ast.dump)
        return node


@cache
def _done(source: str) -> str:
    """What names all that a source does; empty if Python can't read it."""
    try:
        return ast.dump(_Sorted().visit(ast.parse(source)))
    except SyntaxError:
        return ""


def file_of(module: str) -> Path:
    """Where the source of a module is."""
    return REPOSITORY / f"{module.replace('.', '/')}.py"


def tests_of(module: str) -> list[Path]:
    """The test files that name it: its own, others of its room, and those of other rooms.

    Tests of the whole site say more of pages than of a module.
    """
    *room, name = module.split(".")
    named = re.compile(
        rf"\bfrom {re.escape(module)} import|\bfrom {re.escape('.'.join(room))} import .*\b{name}\b"
    )
    tests = REPOSITORY / "tests"
    own = tests.joinpath(*room, f"test_{name}.py")
    found = [
        path
        for path in tests.rglob("test_*.py")
        if path.relative_to(tests).parts[0] not in SITE
        and named.search(path.read_text(encoding="utf-8"))
    ]
    return sorted(found, key=lambda path: (path != own, path.parent != own.parent, path))


def fates(
    module: str, tried: list[Mutant], tests: list[Path], jobs: int = 1
) -> Iterator[tuple[Mutant, Fate]]:
    """What becomes of each mutant of a module, in the order in which that is known.

    Raises:
        ValueError: If the module itself fails one of the tests, or there is none.
    """
    command = [*map(str, tests), *OPTIONS]

    def tested(mutant: Mutant) -> int:
        """How pytest ends where the module's source is a mutant's."""
        original = SourceFileLoader.get_code

        def code(loader: SourceFileLoader, name: str) -> CodeType | None:
            if name == module:
                return compile(mutant.source, loader.path, "exec", dont_inherit=True)
            return original(loader, name)

        for name in [name for name in sys.modules if name.partition(".")[0] in ROOMS]:
            del sys.modules[name]  # they may hold the module as it is
        with patch.object(SourceFileLoader, "get_code", code):
            return int(pytest.main(command))

    whole = Mutant("", "", "", 0, file_of(module).read_text(encoding="utf-8"))
    for _, code in forked([whole], tested, 1):
        if code not in FATES:
            raise ValueError(f"{module} does not pass its own tests, or has none: {command}")
    for mutant, code in forked(tried, tested, jobs):
        yield mutant, FATES.get(code, "killed")


def main() -> int:
    """Try the mutants of a module, and say which of them no test notices.

    Returns:
        0 if every survivor is listed with a reason, 1 if not.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.mutation.modules", description=__doc__)
    parser.add_argument("module", help='such as "results.summary"')
    parser.add_argument("tests", nargs="*", type=Path, help="files in the place of those")
    parser.add_argument("--function", help="the mutants of this function only")
    parser.add_argument("--every", type=int, default=1, help="try one mutant of so many")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    tried = [
        mutant
        for mutant in mutants_of(file_of(options.module).read_text(encoding="utf-8"))
        if options.function in (None, mutant.function)
    ][:: options.every]
    for library in WARM:
        importlib.import_module(library)
    start, told = time.monotonic(), Told(options.module)
    tests = options.tests or tests_of(options.module)
    for mutant, fate in fates(options.module, tried, tests, options.jobs):
        told.add(mutant, fate)
        progress(len(told.fates), len(tried))
    sample = f", one of {options.every}" if options.every > 1 else ""
    minutes = (time.monotonic() - start) / 60
    return told.end(minutes, of_all=not options.function, sample=sample)


if __name__ == "__main__":
    sys.exit(main())
