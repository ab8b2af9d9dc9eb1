"""What changed between two sections, line by line."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["same", "added", "removed", "moved"]


@dataclass(frozen=True)
class Line:
    """One line of a comparison.

    Attributes:
        kind: ``moved`` is a line whose indentation alone changed.
        text: The line as the new section has it, or in the old one if it was removed.
        index: Its place in that section, from zero.
    """

    kind: Kind
    text: str
    index: int


def compare(before: Sequence[str], after: Sequence[str]) -> list[Line]:
    """Every line of both sections in reading order, lines that only moved right or left as one.

    Lines are matched without their indentation, since a line that slides under a ``with`` is
    still the same statement.
    """
    old = [line.strip() for line in before]
    new = [line.strip() for line in after]
    result = []
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for operation, i1, i2, j1, j2 in matcher.get_opcodes():
        if operation == "equal":
            for i, j in zip(range(i1, i2), range(j1, j2), strict=True):
                kind: Kind = "same" if before[i] == after[j] else "moved"
                result.append(Line(kind, after[j], j))
            continue
        result += [Line("removed", before[i], i) for i in range(i1, i2)]
        result += [Line("added", after[j], j) for j in range(j1, j2)]
    return result


def added(before: Sequence[str], after: Sequence[str]) -> list[int]:
    """Places (from zero) of the lines of ``after`` that ``before`` does not have."""
    return [line.index for line in compare(before, after) if line.kind == "added"]
