"""A process that has collected a module's tests once, and tries them on many mutants.

A mutant whose change is within one function needs no import of its own: in a forked process that
function gets the mutant's code. This is the same as importing the mutant wherever the function has
not run before the tests do. Those tests are run that reach the function, each found by running it
alone, in a process of its own: first those that killed others of its mutants, then the quick ones.
"""

import ast
import gc
import hashlib
import json
import resource
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.machinery import SourceFileLoader
from math import ceil
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any
from unittest.mock import patch

import pytest

from tests.mutation.mutants import Mutant
from tests.mutation.processes import forked

SURVIVED, KILLED, UNKNOWN = 40, 41, 42
LEAST_S, TIMES = 5, 5  # of a processor's time, after which tests have noticed a mutant
LONGEST_S = 600
Say = Callable[[int, int, str], None]  # which mutant, what became of it, and which test killed it


def digest(mutant: Mutant) -> str:
    """What names a mutant as long as its module is not changed."""
    return hashlib.sha256(mutant.source.encode()).hexdigest()


def changed_function(whole: str, mutant: str) -> str | None:
    """The qualified name of the only function whose body differs, if nothing else does."""
    return _changed(_parsed(whole), ast.parse(mutant), "")


_parsed = cache(ast.parse)


def _changed(whole: Any, mutant: Any, above: str) -> str | None:
    pairs = [
        (a, b) for a, b in zip(whole.body, mutant.body, strict=False) if _dumped(a) != ast.dump(b)
    ]
    if len(pairs) != 1 or len(whole.body) != len(mutant.body):
        return None
    [(a, b)] = pairs
    if not isinstance(a, ast.FunctionDef | ast.ClassDef) or _head(a) != _head(b):
        return None
    name = f"{above}{a.name}"
    return name if isinstance(a, ast.FunctionDef) else _changed(a, b, f"{name}.")


_dumped = cache(ast.dump)  # of what is compared with each mutant


def _head(node: ast.AST) -> list[str]:
    """All of a definition but its body."""
    return [
        type(node).__name__,
        *(f"{name}={value!r}" for name, value in ast.iter_fields(node) if isinstance(value, str)),
        *(
            ast.dump(part)
            for name, value in ast.iter_fields(node)
            if name != "body"
            for part in (value if isinstance(value, list) else [value])
            if isinstance(part, ast.AST)
        ),
    ]


def codes_of(code: CodeType) -> Iterator[CodeType]:
    """The code of the functions and classes that are defined in some code, and in theirs."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from codes_of(constant)


SEEN: set[str] = set()  # qualified names of functions that have run, of those that tell


class _Telling(ast.NodeTransformer):
    """Makes each function tell that it runs."""

    above = ""

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        before, self.above = self.above, f"{self.above}{node.name}."
        self.generic_visit(node)
        self.above = before
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        told = f"__import__({__name__!r}, fromlist=['SEEN']).SEEN.add({self.above + node.name!r})"
        text = 0 if ast.get_docstring(node) is None else 1
        node.body[text:text] = ast.parse(told).body
        return node


def telling(source: str, file: str) -> CodeType:
    """The code of a module whose functions tell that they run."""
    tree = _Telling().visit(ast.parse(source))
    return compile(ast.fix_missing_locations(tree), file, "exec", dont_inherit=True)


@contextmanager
def imported_as(module: str, code_of: Callable[[str], CodeType]) -> Iterator[None]:
    """Within, a module has other code, by the path of its file."""
    original = SourceFileLoader.get_code

    def code(loader: SourceFileLoader, name: str) -> CodeType | None:
        return code_of(loader.path) if name == module else original(loader, name)

    with patch.object(SourceFileLoader, "get_code", code):
        yield


@dataclass(eq=False)  # pytest keeps its plugins in sets
class Nursery:
    """A plugin of pytest that tries mutants in the place of running the tests.

    Attributes:
        file: The module's.
        source: The module as it is.
        tried: Its mutants.
        killers: The test that killed a mutant the last time, by its digest.
        jobs: How many are tried at a time.
        say: Is told what becomes of each.
    """

    file: str
    source: str
    tried: list[Mutant]
    killers: dict[str, str]
    jobs: int
    say: Say
    failed: str = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep which test has failed first."""
        if report.failed and not self.failed:
            self.failed = report.nodeid

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try all mutants."""
        early = set(SEEN)
        gc.unfreeze()  # or what is frozen is not among what `gc` names
        functions: dict[str, list[FunctionType]] = defaultdict(list)
        for found in gc.get_objects():
            if type(found) is FunctionType and found.__code__.co_filename == self.file:
                functions[found.__code__.co_qualname].append(found)
        gc.freeze()
        with tempfile.TemporaryDirectory() as folder:
            reach = self._reach(session.items, Path(folder))
            known = {name: found for name, found in functions.items() if name not in early}
            self._try(known, reach, Path(folder))
        return True

    def _run(self, items: list[pytest.Item]) -> str:
        """The test that fails first, if one does."""
        for item, after in zip(items, [*items[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            if self.failed:
                break
        return self.failed

    def _reach(
        self, items: list[pytest.Item], folder: Path
    ) -> dict[str, list[tuple[float, pytest.Item]]]:
        """For each function the tests that reach it, and how long each of them takes."""

        def alone(at: int) -> int:
            SEEN.clear()
            failed = self._run([items[at]])
            (folder / f"{at}.json").write_text(json.dumps([time.process_time(), *sorted(SEEN)]))
            return KILLED if failed else SURVIVED

        reach: dict[str, list[tuple[float, pytest.Item]]] = defaultdict(list)
        for at, code in forked(range(len(items)), alone, self.jobs, LONGEST_S):
            if code != SURVIVED:
                self.say(-1, KILLED, items[at].nodeid)
                raise pytest.UsageError(f"{items[at].nodeid} fails alone, without a mutant")
            seconds, *names = json.loads((folder / f"{at}.json").read_text())
            for name in names:
                reach[name].append((seconds, items[at]))
        return reach

    def _try(
        self,
        functions: dict[str, list[FunctionType]],
        reach: dict[str, list[tuple[float, pytest.Item]]],
        folder: Path,
    ) -> None:
        names = [changed_function(self.source, mutant.source) for mutant in self.tried]
        killing: dict[str, Counter[str]] = defaultdict(Counter)

        def tried(at: int) -> int:
            name, mutant = names[at] or "", self.tried[at]
            whole = compile(mutant.source, self.file, "exec", dont_inherit=True)
            codes = [code for code in codes_of(whole) if code.co_qualname == name]
            if len(codes) != 1:
                return UNKNOWN
            for function in functions[name]:
                function.__code__ = codes[0]  # fails where it has other variables from around it
            before = killing[name]
            last = self.killers.get(digest(mutant), "")
            tests = sorted(
                reach[name],
                key=lambda test: (test[1].nodeid != last, -before[test[1].nodeid], test[0]),
            )
            limit = ceil(LEAST_S + TIMES * sum(seconds for seconds, _ in tests))
            resource.setrlimit(resource.RLIMIT_CPU, (min(limit, LONGEST_S), LONGEST_S))
            failed = self._run([item for _, item in tests])
            (folder / f"{at}.killer").write_text(failed)
            return KILLED if failed else SURVIVED

        known = [at for at, name in enumerate(names) if name in functions]
        for at in sorted(set(range(len(self.tried))) - set(known)):
            self.say(at, UNKNOWN, "")
        for at, code in forked(known, tried, self.jobs, LONGEST_S):
            note = folder / f"{at}.killer"
            killer = note.read_text() if note.exists() else ""
            killing[names[at] or ""][killer] += 1
            ended = code < 0  # by a limit
            self.say(
                at, KILLED if ended else code if code in (SURVIVED, KILLED) else UNKNOWN, killer
            )
