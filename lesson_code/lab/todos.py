"""What is left to do in an exercise."""

import re
from pathlib import Path

OPEN = re.compile(r'raise NotImplementedError\("TODO ([^"]+)"\)')


def stub(name: str, task: str) -> str:
    """The line in the place of what a learner is to write."""
    return f'raise NotImplementedError("TODO {name} {task}")'


def open_todos(file: str) -> list[str]:
    """The TODOs of a file that nobody has replaced yet, such as ``"1.3 move a tensor"``."""
    return OPEN.findall(Path(file).read_text(encoding="utf-8"))


def report_open_todos(file: str) -> bool:
    """Print them, if there are any, and say whether there are."""
    left = open_todos(file)
    if left:
        print("Still to do:", *(f"  TODO {todo}" for todo in left), sep="\n")
    return bool(left)
