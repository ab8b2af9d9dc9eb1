"""Reads a diagram's text, a small part of Mermaid's language, line by line."""

import re
from dataclasses import dataclass, field
from html import unescape

from lesson_site.errors import PageError

NODE = re.compile(
    r"\s*(?P<id>\w+)\s*"
    r'(?:\["(?P<box>[^"]+)"\]|\{"(?P<question>[^"]+)"\}|\[(?P<plain>[^"\[\]{}()]+)\])?\s*'
)
ARROW = re.compile(r'\s*(?P<arrow>-->|-\.->)\s*(?:\|"?(?P<label>[^"|]+)"?\|)?\s*')
PARTICIPANT = re.compile(r"participant\s+(?P<id>\w+)(?:\s+as\s+(?P<name>.+))?")
MESSAGE = re.compile(r"(?P<source>\w+)\s*(?P<arrow>->>|-->>)\s*(?P<target>\w+)\s*:\s*(?P<text>.+)")
BREAK = re.compile(r"<br\s*/?>")


@dataclass(frozen=True)
class Node:
    """A box, or a question; ``lines`` are its text, the first one being its name."""

    lines: tuple[str, ...]
    question: bool = False


@dataclass(frozen=True)
class Edge:
    """An arrow; dashed where it was written with dots."""

    source: str
    target: str
    label: str = ""
    dashed: bool = False


@dataclass(frozen=True)
class Diagram:
    """What was written: nodes or participants by name, in their order, and what connects them.

    Attributes:
        kind: ``LR`` or ``TD`` for a flowchart, ``sequence`` for a sequence of messages.
        nodes: The nodes or participants.
        edges: The edges or messages.
    """

    kind: str
    nodes: dict[str, Node] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)


def parse(source: str) -> Diagram:
    """The diagram that a text describes.

    Raises:
        PageError: If a line is none of those that this subset knows; the message says which.
    """
    lines = [(n, line.strip()) for n, line in enumerate(source.splitlines(), start=1)]
    lines = [(n, line.rstrip(";")) for n, line in lines if line and not line.startswith("%%")]
    head = lines[0][1].split() if lines else []
    if head == ["sequenceDiagram"]:
        diagram, read = Diagram("sequence"), _sequence_line
    elif len(head) == 2 and head[0] == "flowchart" and head[1] in ("LR", "TD"):
        diagram, read = Diagram(head[1]), _flowchart_line
    else:
        raise PageError("must begin with `flowchart LR`, `flowchart TD` or `sequenceDiagram`")
    for number, line in lines[1:]:
        problem = read(diagram, line)
        if problem:
            raise PageError(f"line {number} of the diagram, {line!r}: {problem}")
    if not diagram.nodes:
        raise PageError('the diagram has no node; write one, as in `a["its text"]`')
    return diagram


def _flowchart_line(diagram: Diagram, line: str) -> str:
    """Take up a node, or a chain of nodes with arrows; what is wrong, or nothing."""
    asks = 'write `a["text"]`, `a{"text?"}`, `a --> b` or `a -->|"label"| b`'
    found = NODE.match(line)
    if found is None:
        return asks
    problem = _take_node(diagram, found)
    while not problem and found.end() < len(line):
        arrow = ARROW.match(line, found.end())
        following = NODE.match(line, arrow.end()) if arrow else None
        if arrow is None or following is None:
            return asks
        source, found = found["id"], following
        problem = _take_node(diagram, found)
        if source == found["id"]:
            return "an arrow from a node to itself can't be drawn; name another node"
        label = _lines(arrow["label"] or "")
        diagram.edges.append(Edge(source, found["id"], " ".join(label), arrow["arrow"] != "-->"))
    return problem


def _take_node(diagram: Diagram, found: re.Match[str]) -> str:
    text = found["box"] or found["question"] or found["plain"]
    name = found["id"]
    if text is None:
        diagram.nodes.setdefault(name, Node((name,)))
        return ""
    node = Node(_lines(text), question=found["question"] is not None)
    if name in diagram.nodes and diagram.nodes[name] not in (node, Node((name,))):
        return f"node {name!r} has another text already; give each text once"
    diagram.nodes[name] = node
    return ""


def _sequence_line(diagram: Diagram, line: str) -> str:
    """Take up a participant or a message; what is wrong, or nothing."""
    participant = PARTICIPANT.fullmatch(line)
    if participant:
        diagram.nodes[participant["id"]] = Node(_lines(participant["name"] or participant["id"]))
        return ""
    message = MESSAGE.fullmatch(line)
    if message is None:
        return "write `participant a as Name` or `a->>b: text`"
    for name in (message["source"], message["target"]):
        diagram.nodes.setdefault(name, Node((name,)))
    text = " ".join(_lines(message["text"]))
    edge = Edge(message["source"], message["target"], text, message["arrow"] != "->>")
    diagram.edges.append(edge)
    return ""


def _lines(text: str) -> tuple[str, ...]:
    """The lines of a text, with plain characters in place of HTML's entities."""
    return tuple(" ".join(unescape(line).split()) for line in BREAK.split(text) if line.strip())
