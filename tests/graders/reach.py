"""Which functions of a solution a check calls, and in which of them an answer differs from it.

Checks draw from a seed and look at what code does, so a check that calls none of the functions in
which an answer differs does with it, step by step, what it does with the solution: it passes.
"""

import ast
from collections.abc import Iterator
from functools import lru_cache

CALLED: set[str] = set()  # what a marked source has called since somebody emptied it
ELSEWHERE = ""  # in the place of a function's name: all lines that are in no function's body
NOTE = f"__import__({__name__!r}, fromlist=['CALLED']).CALLED.add"


def functions_in(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Those of a module and the methods of its classes, by name; what is in them is a part."""
    for node in tree.body:
        inside = node.body if isinstance(node, ast.ClassDef) else [node]
        room = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
        yield from ((room + f.name, f) for f in inside if isinstance(f, ast.FunctionDef))


def marked(source: str) -> str:
    """A source each of whose functions notes in ``CALLED`` that it is called."""
    lines = source.splitlines(keepends=True)
    for name, function in reversed([*functions_in(ast.parse(source))]):
        first = function.body[0]
        line = min(node.lineno for node in (first, *getattr(first, "decorator_list", [])))
        if ast.get_docstring(function, clean=False) is not None:
            line = 1 + (first.end_lineno or line)
        lines.insert(line - 1, f"{' ' * first.col_offset}{NOTE}({name!r})\n")
    return "".join(lines)


def differing(source: str, other: str) -> set[str]:
    """The functions whose bodies differ, and ``ELSEWHERE`` if anything else does."""
    ours, theirs = bodies_of(source), bodies_of(other)
    return {name for name in ours.keys() | theirs if ours.get(name) != theirs.get(name)}


@lru_cache(maxsize=16)
def bodies_of(source: str) -> dict[str, list[str]]:
    """The lines of each function's body, and all others."""
    rest = source.splitlines()
    found: dict[str, list[str]] = {}
    try:
        functions = [*functions_in(ast.parse(source))]
    except SyntaxError:
        functions = []
    for name, function in reversed(functions):
        first, end = function.body[0].lineno - 1, function.end_lineno
        found[name] = rest[first:end] + found.get(name, [])
        del rest[max(first, function.lineno) : end]  # a line with a `def` is never only a body's
    return found | {ELSEWHERE: rest}
