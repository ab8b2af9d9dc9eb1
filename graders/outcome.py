"""What a check came to. Without PyTorch: anyone who only prints it need not wait for its import."""

from dataclasses import dataclass
from typing import Literal

# --8<-- [start:outcome]
BLANK = str.maketrans("\n\r\t", "   ")
State = Literal["passed", "wrong", "not done yet", "cannot be judged here"]
WORST_FIRST: tuple[State, ...] = ("wrong", "not done yet", "cannot be judged here", "passed")


@dataclass(frozen=True)
class Outcome:
    """What a check came to.

    Attributes:
        todo: The number of the TODO, such as ``"3.2"``.
        title: What it is about, such as ``"largest batch"``.
        says: Why, if it did not pass.
        advice: What the answer could do better; it passes all the same.
        seed: What the check's cases were drawn with.
    """

    todo: str
    title: str
    state: State
    says: str = ""
    advice: tuple[str, ...] = ()
    seed: int = 0


def printable(text: str) -> str:
    """The same on one line, with a number for every character that could steer a terminal."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii")
        for c in text.translate(BLANK)
    )


# --8<-- [end:outcome]
