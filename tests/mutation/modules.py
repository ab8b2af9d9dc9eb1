"""Mutants of a module of ours, of which its tests are asked: ``… modules results.summary``.

Each test file that names the module is run on each mutant until one test fails; other files can be
named. What is only written for a reader or for mypy is left as it is: what stands
above a definition, strings of several words, annotations, and the order of factors.
"""

import argparse
import ast
import importlib
import json
import os
import re
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import Phase, settings

from tests.imports import REPOSITORY, ROOMS, packages_of
from tests.mutation.mutants import Mutant, mutants
from tests.mutation.nursery import (
    KILLED,
    LONGEST_S,
    SURVIVED,
    UNKNOWN,
    Nursery,
    digest,
    imported_as,
    telling,
)
from tests.mutation.processes import forked, progress
from tests.mutation.table import Fate, Told

KEPT = re.compile(r"\s*(@|if TYPE_CHECKING)|\w+ = Literal\[")
PROSE = re.compile(r"""(["'])(?:(?!\1).)* (?:(?!\1).)*\1""")
SHOWN = ("try_", "print_")  # functions whose output a page shows, and a test of its own compares
SITE = ("browser", "site", "assets")
WARM = {"hypothesis", "jsonschema", "torch", "torchvision"}  # large, and nothing of ours
OPTIONS = (  # no test may end by the clock
    *("-x", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:timeout"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),  # of libraries that are there already
)
KILLERS = REPOSITORY / "build/mutants"


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
    killers = killers_of(module)
    left = []
    for at, code, killer in _quickly(module, tried, tests, killers, jobs):
        if at < 0:
            named = killer or ", ".join(map(str, tests))
            raise ValueError(f"{module} does not pass its own tests, or has none: {named}")
        if code == UNKNOWN:
            left.append(tried[at])
            continue
        if code == KILLED:
            killers[digest(tried[at])] = killer
            _keep(module, killers)
        yield tried[at], "killed" if code == KILLED else "survived"
    for mutant, code in _imported(module, left, tests, jobs):
        if code != SURVIVED:
            killers[digest(mutant)] = ""
            _keep(module, killers)
        yield mutant, "killed" if code != SURVIVED else "survived"


def _quickly(
    module: str, tried: list[Mutant], tests: list[Path], killers: dict[str, str], jobs: int
) -> Iterator[tuple[int, int, str]]:
    """What a nursery says of the mutants, as it says it."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        try:
            _serve(module, tried, tests, killers, jobs, writing)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as lines:
        for line in lines:
            at, code, killer = json.loads(line)
            yield at, code, killer
    os.waitpid(child, 0)


def _serve(
    module: str,
    tried: list[Mutant],
    tests: list[Path],
    killers: dict[str, str],
    jobs: int,
    writing: int,
) -> None:
    """Be the nursery: collect the tests, try the mutants, and write what becomes of each."""

    def say(at: int, code: int, killer: str) -> None:
        os.write(writing, f"{json.dumps([at, code, killer])}\n".encode())

    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    _forget()
    source = file_of(module).read_text(encoding="utf-8")
    nursery = Nursery(str(file_of(module)), source, tried, killers, jobs, say)
    with imported_as(module, lambda file: telling(source, file)):
        code = pytest.main([*map(str, tests), *OPTIONS], [nursery])
    if code:
        say(-1, int(code), "")


def _forget() -> None:
    """Import all of ours anew, since it may hold the module as it is; but for this package."""
    for name in [name for name in sys.modules if name.partition(".")[0] in ROOMS]:
        if not name.startswith(__package__):
            del sys.modules[name]


def _imported(
    module: str, tried: list[Mutant], tests: list[Path], jobs: int
) -> Iterator[tuple[Mutant, int]]:
    """What becomes of mutants that are imported; the first test file is asked before the others."""

    def tested(mutant: Mutant) -> int:
        _forget()
        with imported_as(
            module, lambda file: compile(mutant.source, file, "exec", dont_inherit=True)
        ):
            for files in filter(None, (tests[:1], tests[1:])):
                if pytest.main([*map(str, files), *OPTIONS]):
                    return KILLED
        return SURVIVED

    return forked(tried, tested, jobs, LONGEST_S)


def killers_of(module: str) -> dict[str, str]:
    """The mutants that died the last time, by their digests, each with the test that killed it."""
    path = KILLERS / f"{module}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def _keep(module: str, killers: dict[str, str]) -> None:
    KILLERS.mkdir(parents=True, exist_ok=True)
    (KILLERS / f"{module}.json").write_text(json.dumps(killers), encoding="utf-8")


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
    parser.add_argument("--again", action="store_true", help="what died in this folder stays dead")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_intermixed_args()
    tried = [
        mutant
        for mutant in mutants_of(file_of(options.module).read_text(encoding="utf-8"))
        if options.function in (None, mutant.function)
    ][:: options.every]
    tests = [path.resolve() for path in options.tests] or tests_of(options.module)
    for library in WARM & {name for path in tests for name in packages_of(path)}:
        importlib.import_module(library)
    if "torch" in sys.modules:
        importlib.import_module("torch._dynamo")  # as an optimizer's first step does, in seconds
    phases = (Phase.explicit, Phase.generate)  # one example that fails is enough
    settings.register_profile("mutants", database=None, deadline=None, phases=phases)
    settings.load_profile("mutants")
    start, told = time.monotonic(), Told(options.module)
    dead = killers_of(options.module).keys() if options.again else ()
    for mutant in tried:
        if digest(mutant) in dead:
            told.add(mutant, "killed")
    left = [mutant for mutant in tried if digest(mutant) not in dead]
    for mutant, fate in fates(options.module, left, tests, options.jobs):
        told.add(mutant, fate)
        progress(len(told.fates), len(tried))
    sample = f", one of {options.every}" if options.every > 1 else ""
    minutes = (time.monotonic() - start) / 60
    return told.end(minutes, of_all=not options.function, sample=sample)


if __name__ == "__main__":
    sys.exit(main())
