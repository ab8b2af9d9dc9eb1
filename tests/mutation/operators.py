"""The changes that a mutant may have: for a piece of code, what may be written in its place."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import libcst as cst
from libcst import matchers as m

Change = Iterator[cst.CSTNode]
Inside = Callable[[cst.CSTNode], bool]  # whether a learner writes it
Operator = Callable[[cst.CSTNode], Change]

COMPARISONS: list[tuple[type[cst.BaseCompOp], list[type[cst.BaseCompOp]]]] = [
    (cst.LessThan, [cst.LessThanEqual, cst.GreaterThan]),
    (cst.LessThanEqual, [cst.LessThan, cst.GreaterThan]),
    (cst.GreaterThan, [cst.GreaterThanEqual, cst.LessThan]),
    (cst.GreaterThanEqual, [cst.GreaterThan, cst.LessThan]),
    (cst.Equal, [cst.NotEqual]),
    (cst.NotEqual, [cst.Equal]),
    (cst.Is, [cst.IsNot]),
    (cst.IsNot, [cst.Is]),
    (cst.In, [cst.NotIn]),  # codespell:ignore
    (cst.NotIn, [cst.In]),  # codespell:ignore
]
ARITHMETIC: dict[type[cst.BaseBinaryOp], type[cst.BaseBinaryOp]] = {
    cst.Add: cst.Subtract,
    cst.Subtract: cst.Add,
    cst.Multiply: cst.Divide,
    cst.Divide: cst.Multiply,
    cst.FloorDivide: cst.Multiply,
    cst.Modulo: cst.Multiply,
    cst.Power: cst.Multiply,
    cst.BitOr: cst.BitAnd,
    cst.BitAnd: cst.BitOr,
}
OTHERS: dict[str, list[str]] = {  # a name, and those that are of its kind
    "train": ["eval"],
    "eval": ["train"],
    "float16": ["bfloat16", "float32"],
    "bfloat16": ["float16", "float32"],
    "float32": ["float16", "float64"],
    "no_grad": ["enable_grad"],
    "max": ["min"],
    "min": ["max"],
    "median": ["mean", "median_low"],
    "mean": ["sum"],
    "sum": ["mean"],
    "argmax": ["argmin"],
    "rand": ["zeros", "randn"],
    "parameters": ["buffers"],
    "buffers": ["parameters"],
    "named_parameters": ["named_buffers"],
    "named_buffers": ["named_parameters"],
    "max_memory_allocated": ["memory_allocated"],
    "memory_allocated": ["max_memory_allocated"],
    "memory_reserved": ["memory_allocated"],
    "Adam": ["SGD"],
    "zip": ["product"],
}
NEIGHBOURS = 2  # local names that are tried in the place of one
WORDS = {"cuda": "cpu", "cpu": "cuda", "tf32": "ieee", "fp16": "bf16"}


def statements(node: cst.CSTNode, inside: Inside) -> Iterator[tuple[cst.CSTNode, cst.CSTNode]]:
    """A block with one of its statements dropped, done twice, or after the next."""
    if not isinstance(node, cst.IndentedBlock):
        return
    body = list(node.body)
    for i, statement in enumerate(body):
        if is_text(statement) or not inside(statement):
            continue
        dropped = [*body[:i], *body[i + 1 :]] or [_line("pass")]
        yield statement, node.with_changes(body=dropped)
        if m.matches(statement, m.SimpleStatementLine(body=[m.Expr()])):
            yield statement, node.with_changes(body=[*body[: i + 1], *body[i:]])
        if i + 1 < len(body) and inside(body[i + 1]):
            swapped = [*body[:i], body[i + 1], statement, *body[i + 2 :]]
            yield statement, node.with_changes(body=swapped)


def stubs(node: cst.CSTNode, inside: Inside) -> Iterator[tuple[cst.CSTNode, cst.CSTNode]]:
    """A function that returns one of its arguments, or a constant, and does nothing else."""
    if not isinstance(node, cst.FunctionDef) or not isinstance(node.body, cst.IndentedBlock):
        return
    written = [statement for statement in node.body.body if inside(statement)]
    if not written:
        return
    given = node.body.body[: node.body.body.index(written[0])]
    names = [parameter.name.value for parameter in node.params.params]
    for result in (*names, "None", "0", "1", "True", "False", "[]", "{}"):
        body = [*given, _line(f"return {result}")]
        yield written[0], node.with_deep_changes(node.body, body=body)


def blocks(node: cst.CSTNode) -> Change:
    """A condition always or never true, a loop done once, a ``with`` without its ``with``."""
    if isinstance(node, cst.If | cst.IfExp):
        for word in ("True", "False"):
            yield node.with_changes(test=cst.Name(word))
        yield node.with_changes(test=_turned(node.test))
    elif isinstance(node, cst.While):
        yield node.with_changes(test=_turned(node.test))
    elif isinstance(node, cst.For) and isinstance(node.body, cst.IndentedBlock):
        yield node.with_deep_changes(node.body, body=[*node.body.body, _line("break")])
    elif isinstance(node, cst.With):
        if len(node.items) == 1:
            yield node.with_changes(items=[cst.WithItem(cst.parse_expression("open('/dev/null')"))])
        for i in range(len(node.items)):
            if len(node.items) > 1:
                left = [*node.items[:i], *node.items[i + 1 :]]
                yield node.with_changes(items=_without_last_comma(left))
        for i in range(len(node.items) - 1):
            items = _swapped(node.items, i, "item")
            yield node.with_changes(items=items)


def calls(node: cst.CSTNode) -> Change:
    """A call dropped, its arguments swapped, and each of them left out."""
    if not isinstance(node, cst.Call):
        return
    plain = [a for a in node.args if a.keyword is None and not a.star]
    if plain:
        yield plain[0].value
    if isinstance(node.func, cst.Attribute):
        yield node.func.value
    for i, argument in enumerate(node.args):
        left = [*node.args[:i], *node.args[i + 1 :]]
        yield node.with_changes(args=_without_last_comma(left))
        if i + 1 < len(plain) and argument in plain:
            yield node.with_changes(args=_swapped(node.args, i, "value"))


def values(node: cst.CSTNode) -> Change:
    """Another number, string or truth; a comparison or a sum turned; one side of it alone."""
    if isinstance(node, cst.Integer):
        for number in dict.fromkeys((0, 1, node.evaluated_value + 1, node.evaluated_value - 1)):
            if number != node.evaluated_value:
                yield cst.parse_expression(str(number))
    elif isinstance(node, cst.Float):
        yield cst.Float(repr(node.evaluated_value * 2))
        yield cst.Float(repr(node.evaluated_value * 1.01))
    elif isinstance(node, cst.SimpleString):
        word = str(node.evaluated_value)
        yield cst.SimpleString(repr(WORDS.get(word, f"{word}x")))
    elif m.matches(node, m.Name("True") | m.Name("False")):
        yield cst.Name("False" if m.matches(node, m.Name("True")) else "True")
    elif isinstance(node, cst.Comparison):
        yield from _compared(node)
    elif isinstance(node, cst.BooleanOperation):
        yield node.with_changes(
            operator=cst.Or() if isinstance(node.operator, cst.And) else cst.And()
        )
        yield node.left
        yield node.right
    elif isinstance(node, cst.UnaryOperation):
        yield node.expression
    elif isinstance(node, cst.BinaryOperation):
        if type(node.operator) in ARITHMETIC:
            yield node.with_changes(operator=ARITHMETIC[type(node.operator)]())
        yield node.left
        yield node.right
        yield node.with_changes(left=node.right, right=node.left)
    elif isinstance(node, cst.AugAssign):
        yield cst.Assign([cst.AssignTarget(node.target)], node.value)
    elif isinstance(node, cst.List | cst.Tuple) and len(node.elements) > 1:
        for i in range(len(node.elements)):
            left = [*node.elements[:i], *node.elements[i + 1 :]]
            yield node.with_changes(elements=left)


def names(node: cst.CSTNode) -> Change:
    """A method, type or mode replaced by another of its kind."""
    if isinstance(node, cst.Attribute):
        for other in OTHERS.get(node.attr.value, ()):
            yield node.with_changes(attr=cst.Name(other))


def locals_of(part: cst.CSTNode) -> Operator:
    """An operator that puts another local name in the place of each one that is read."""
    places = m.findall(part, m.AssignTarget() | m.For() | m.CompFor() | m.NamedExpr())
    parameters = cast("list[cst.Param]", m.findall(part, m.Param()))
    targets = [name for place in places for name in _names_in(cast("Any", place).target)]
    targets += [parameter.name for parameter in parameters]
    known = list(dict.fromkeys(name.value for name in targets))
    attributes = [cast("cst.Attribute", found).attr for found in m.findall(part, m.Attribute())]
    keywords = [cast("cst.Arg", found).keyword for found in m.findall(part, m.Arg())]
    written = {id(name) for name in (*targets, *attributes, *keywords)}

    def other_locals(node: cst.CSTNode) -> Change:
        if isinstance(node, cst.Name) and node.value in known and id(node) not in written:
            at = known.index(node.value)
            yield from map(cst.Name, [*known[at + 1 :], *known[:at]][:NEIGHBOURS])

    return other_locals


def _names_in(target: cst.CSTNode) -> list[cst.Name]:
    return cast("list[cst.Name]", m.findall(target, m.Name()))


OPERATORS: tuple[Operator, ...] = (blocks, calls, values, names)


def _compared(node: cst.Comparison) -> Change:
    first = node.comparisons[0]
    for kind, others in COMPARISONS:
        if isinstance(first.operator, kind):
            for other in others:
                turned = first.with_changes(operator=other())
                yield node.with_changes(comparisons=[turned, *node.comparisons[1:]])


def is_text(statement: cst.CSTNode) -> bool:
    """Whether a statement is a docstring."""
    text = m.SimpleString() | m.ConcatenatedString()
    return m.matches(statement, m.SimpleStatementLine(body=[m.Expr(text)]))


def _line(code: str) -> cst.SimpleStatementLine | cst.BaseCompoundStatement:
    return cst.parse_statement(code)


def _turned(test: cst.BaseExpression) -> cst.UnaryOperation:
    inner = test.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return cst.UnaryOperation(cst.Not(), inner)


def _swapped(parts: Sequence[cst.CSTNode], i: int, field: str) -> list[cst.CSTNode]:
    """The same with what two neighbours hold in a field exchanged; commas stay."""
    first, second = getattr(parts[i], field), getattr(parts[i + 1], field)
    pair = [parts[i].with_changes(**{field: second}), parts[i + 1].with_changes(**{field: first})]
    return [*parts[:i], *pair, *parts[i + 2 :]]


def _without_last_comma(parts: list[cst.CSTNode]) -> list[cst.CSTNode]:
    if not parts:
        return []
    return [*parts[:-1], parts[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)]
