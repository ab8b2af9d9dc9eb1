"""The mutants of a solution: its source with one thing changed in what a learner writes."""

from collections.abc import Container, Iterator
from dataclasses import dataclass
from itertools import takewhile

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from tests.mutation.operators import OPERATORS, Inside, is_text, locals_of, statements, stubs

Key = tuple[str, str, str]  # the function, the old lines, the new ones
SIGNED = cst.BinaryOperation | cst.BooleanOperation | cst.Comparison | cst.UnaryOperation


@dataclass(frozen=True)
class Mutant:
    """A solution with one change.

    Attributes:
        function: The name of the function or class in which it is; empty outside of all.
        old: The lines that it replaces, without the indentation of the first.
        new: What is in their place.
        line: Where the changed code begins in the solution.
        source: The whole file.
    """

    function: str
    old: str
    new: str
    line: int
    source: str

    @property
    def key(self) -> Key:
        """What names it, wherever in the function it is."""
        return self.function, self.old, self.new


def mutants(source: str, lines: Container[int]) -> list[Mutant]:
    """Every mutant of some lines of a file, in the order of the file and of the operators."""
    wrapper = MetadataWrapper(cst.parse_module(source), unsafe_skip_copy=True)
    places = wrapper.resolve(PositionProvider)
    found: dict[str, Mutant] = {}
    for part in wrapper.module.body:
        if is_text(part):
            continue
        name = part.name.value if isinstance(part, cst.FunctionDef | cst.ClassDef) else ""
        if not any(line in lines for line in range(*_ends(places[part]))):
            continue
        before, after = source.split(wrapper.module.code_for_node(part))
        for node, changed in _changed(part, lambda node: places[node].start.line in lines):
            code = before + wrapper.module.code_for_node(changed) + after
            if code != source and code not in found:
                line = places[node].start.line
                found[code] = Mutant(name, *difference(source, code), line, code)
    return list(found.values())


def _ends(place: CodeRange) -> tuple[int, int]:
    return place.start.line, place.end.line + 1


def _changed(part: cst.CSTNode, inside: Inside) -> Iterator[tuple[cst.CSTNode, cst.CSTNode]]:
    """A statement of the file with one change, and what was changed."""
    operators = (*OPERATORS, locals_of(part))
    for node in _below(part):
        found = [*stubs(node, inside), *statements(node, inside)]
        if inside(node):
            found += [(node, new) for operator in operators for new in operator(node)]
        for place, new in found:
            try:
                yield place, part.deep_replace(node, _in_parentheses(node, new))
            except (TypeError, cst.CSTValidationError):
                continue  # not every node can be there


def _in_parentheses(old: cst.CSTNode, new: cst.CSTNode) -> cst.CSTNode:
    """What keeps its meaning in the place of another expression."""
    if isinstance(old, cst.BaseExpression) and isinstance(new, SIGNED) and not new.lpar:
        return new.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return new


def _below(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    yield node
    for child in node.children:
        if not isinstance(child, cst.Annotation) and not is_text(child):
            yield from _below(child)


def difference(old: str, new: str) -> tuple[str, str]:
    """The lines of both between the first and the last that differ, comments left out."""
    a, b = ([line for line in text.splitlines() if not _is_comment(line)] for text in (old, new))
    first = _alike(a, b)
    last = min(_alike(a[::-1], b[::-1]), len(a) - first, len(b) - first)
    gone, come = a[first : len(a) - last], b[first : len(b) - last]
    return "\n".join(gone).strip(), "\n".join(come).strip()


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith("#")


def _alike(a: list[str], b: list[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))
