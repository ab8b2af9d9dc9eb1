"""Five pitfalls with their cures, ten tips, a rule that holds, nine boxes and four thoughts."""

import re
from pathlib import Path

import pytest

from results.store import open_store

PAGE = Path("docs/lab/pitfalls-and-tips.md")
TEXT = PAGE.read_text(encoding="utf-8")
PITFALLS = ("device-mismatch", "out-of-memory", "synchronise", "leaks", "wrong-amp")


def section(name: str) -> str:
    """The text under the heading with this anchor, up to the next heading of its level."""
    return TEXT.split(f"{{ #{name} }}\n")[1].split("\n## ")[0]


@pytest.mark.parametrize("anchor", PITFALLS)
def test_the_failure_stands_before_the_cure(anchor: str) -> None:
    """Each pitfall shows something that fails, then says what cures it."""
    failure, _, cure = section(anchor).partition("**The cure")

    assert "```" in failure
    assert cure


def test_pitfalls_come_in_their_order() -> None:
    """Five of them, numbered."""
    assert list(PITFALLS) == re.findall(r"^## [1-5]\. .*\{ #([a-z-]+) \}$", TEXT, re.MULTILINE)


def test_nine_boxes_are_kept() -> None:
    """The list has an id under which the browser keeps nine ticks."""
    tasks = section("ready").split('<kept-tasks id="lab-ready" markdown>')[1]

    assert 9 == len(re.findall(r"^- \[ \] ", tasks.split("</kept-tasks>")[0], re.MULTILINE))


def test_four_thoughts_end_the_page() -> None:
    """They follow the boxes."""
    thoughts = section("ready").split("</kept-tasks>")[1]

    assert 4 == len(re.findall(r"^- ", thoughts, re.MULTILINE))


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("lab-kept-losses", 'of="lab/kept_graphs:print_bytes_kept"'),
        ("lab-busy-gpu", "[[utilisation.tiny.cuda_busy]]"),
    ],
)
def test_questions_stand_before_what_answers_them(question: str, answer: str) -> None:
    """The reader predicts, then looks."""
    assert TEXT.index(f"id: {question}") < TEXT.index(answer)


@pytest.mark.parametrize(
    ("name", "value"),
    [("resnet50_flop_per_s", 60e12), ("resnet50_float16_mfu", 0.19), ("resnet50_tf32_mfu", 0.15)],
)
def test_what_follows_from_a_published_run_counts_as_published(name: str, value: float) -> None:
    """2,470 images of 24.3 GFLOP make 60 TFLOP/s: 19 % of an A100's peak; in TF32 15 %."""
    figure = open_store().figure(f"lab_tips.{name}")

    assert pytest.approx(value, rel=0.03) == figure.value
    assert "published" == figure.kind
    assert "DeepLearningExamples" in figure.source
