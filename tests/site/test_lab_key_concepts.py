"""The lab's key concepts ask before they answer, and their answers are what was counted."""

import re
from pathlib import Path

import pytest

from lesson_site import recordings

PAGE = Path("docs/lab/key-concepts.md")
TEXT = PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("lab-pinned-batch", "lab/placement:print_pinned_batch"),
        ("lab-lost-batches", "lab/accumulation:print_left_over"),
        ("lab-equal-gradients", "lab/accumulation:print_equality"),
        ("lab-wait-after-only", "lab/timing_mistakes:print_six_methods"),
    ],
)
def test_questions_stand_before_the_output_that_answers_them(question: str, answer: str) -> None:
    """The reader predicts, then looks."""
    assert TEXT.index(f"id: {question}") < TEXT.index(f'of="{answer}"')


def test_the_lost_batches_are_what_the_loop_loses() -> None:
    """Ten micro-batches in groups of four leave as many as the check says, a fifth of them."""
    right = re.search(r"id: lab-lost-batches\n.*\n    right: (\d+)", TEXT)

    assert right is not None
    assert 10 % 4 == int(right[1])
    assert 10 == 5 * int(right[1])


def test_the_careful_mistake_is_more_than_twice_the_truth() -> None:
    """The check's answer agrees with the recorded readings."""
    recording = recordings.read("lab/timing_mistakes:print_six_methods")

    assert recording is not None
    assert recording.data["wait only after"] > 2 * recording.data["correct"]
