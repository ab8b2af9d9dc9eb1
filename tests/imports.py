"""What a module of ours imports when it is imported, read off its text."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
ROOMS = ("benchmarks", "graders", "lesson_code", "lesson_site", "results", "tests")


@cache
def packages_of(module: Path) -> frozenset[str]:
    """The libraries, by their top-level names, that importing a module of ours brings in."""
    return frozenset(_packages(module, set()))


def _packages(module: Path, seen: set[Path]) -> Iterator[str]:
    if module in seen:
        return
    seen.add(module)
    for name in _names(module):
        if name.split(".")[0] in ROOMS:
            for file in _files(name):
                yield from _packages(file, seen)
        else:
            yield name.split(".")[0]


@cache
def _names(module: Path) -> tuple[str, ...]:
    return tuple(_at_the_top(ast.parse(module.read_text(encoding="utf-8"))))


def _at_the_top(tree: ast.AST) -> Iterator[str]:
    """Full names of what is imported outside of functions and of blocks for type checkers."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _at_the_top(node)


@cache
def _files(name: str) -> tuple[Path, ...]:
    """The files of ours that importing a full name runs."""
    parts = name.split(".")
    places = [REPOSITORY.joinpath(*parts[:count]) for count in range(1, len(parts) + 1)]
    files = [file for path in places for file in (path / "__init__.py", path.with_suffix(".py"))]
    return tuple(file for file in files if file.is_file())
