"""The same checks for those who like pytest: `--exercise 2 --answer my-lab/02_amp_training.py`."""

import pytest

from lesson_code.lab.checker.outcome import Outcome


def test_todo(todo: str, title: str, graded: dict[tuple[str, str], Outcome]) -> None:
    """A TODO of the exercise."""
    outcome = graded[todo, title]
    if outcome.state == "skipped":
        pytest.skip(outcome.message)
    if outcome.state != "pass":
        pytest.fail(f"TODO {todo} {title}: {outcome.message or outcome.state}", pytrace=False)
