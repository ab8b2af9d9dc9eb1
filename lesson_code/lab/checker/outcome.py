"""What a check came to. Without PyTorch: whoever only prints it need not wait for its import."""

from dataclasses import dataclass
from typing import Literal

State = Literal["pass", "fail", "not done yet", "skipped"]


@dataclass(frozen=True)
class Outcome:
    """What a check came to.

    Attributes:
        todo: The number of the TODO, such as ``"3.2"``.
        title: What it is about, such as ``"largest batch"``.
        message: Why, if it did not pass.
        advice: What the answer could do better; it passes all the same.
    """

    todo: str
    title: str
    state: State
    message: str = ""
    advice: tuple[str, ...] = ()
