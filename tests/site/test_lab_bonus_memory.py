"""Bonus pages 3 and 4 of the lab keep their parts."""

import re

import pytest

from lesson_site.charts import memory_curve
from lesson_site.charts.base import to_html
from lesson_site.markdown_source import Source
from lesson_site.recordings import Recording
from results.store import Store
from tests.building import REPOSITORY

LAB = REPOSITORY / "docs" / "lab"
DASHBOARD = (LAB / "bonus-memory-dashboard.md").read_text(encoding="utf-8")
CHECKPOINTING = (LAB / "bonus-checkpointing.md").read_text(encoding="utf-8")

SHOWN = [
    (DASHBOARD, 'lesson-chart show="memory_curve"'),
    (DASHBOARD, 'lesson-chart show="memory_snapshot"'),
    (DASHBOARD, 'of="lab/memory_dashboard:print_snapshot" device="cuda"'),
    (DASHBOARD, 'show="lab/memory_dashboard.py:record"'),
    (DASHBOARD, "python -m lesson_code.lab.memory_dashboard my_training.py"),
    (CHECKPOINTING, "python -m lesson_code.lab.checkpoint_by_hand my_checkpoint.py"),
    (CHECKPOINTING, 'show="lab/checkpoint_by_hand.py:by_hand"'),
    (CHECKPOINTING, 'of="lab/checkpoint_segments:print_segments"'),
    (CHECKPOINTING, 'of="lab/checkpoint_segments:print_selective"'),
    (CHECKPOINTING, "[[checkpointing.resnet50.slowdown]]"),
    (CHECKPOINTING, "[[checkpointing.transformer.cuda_checkpointed_peak]]"),
]


@pytest.mark.parametrize("page", [DASHBOARD, CHECKPOINTING], ids=["dashboard", "checkpointing"])
def test_a_page_has_a_goal_steps_and_questions(page: str) -> None:
    """What a bonus page promises, with answers, and the way on."""
    assert "**Goal:**" in page
    assert "steps" in Source(page).anchors
    questions = page.split("## Questions { #questions }")[1]
    checks = questions.count("//// check |")
    assert 3 == checks + questions.count("??? question")
    assert checks == questions.count("/// answer")
    assert page.rstrip().endswith("{ .next-step }")


@pytest.mark.parametrize(("page", "shown"), SHOWN)
def test_a_page_shows_its_parts(page: str, shown: str) -> None:
    """Code, recordings, figures and the commands."""
    assert shown in page


def test_guesses_stand_before_what_answers_them() -> None:
    """The reader predicts, then looks."""
    for page, check, output in (
        (DASHBOARD, "lab-dashboard-peak", "print_curve"),
        (DASHBOARD, "lab-dashboard-healthy", "print_marks"),
        (CHECKPOINTING, "lab-checkpoint-reentrant", "print_trap"),
        (CHECKPOINTING, "lab-checkpoint-segment", "print_segments"),
    ):
        assert page.index(check) < page.index(output)


def test_the_chart_holds_the_recorded_rows() -> None:
    """As many rows as the recording, one line for each loop, and told apart without colour."""
    chart = memory_curve.draw(Store([], []))

    assert 40 < len(chart.rows)
    assert all(3 == len(row) for row in chart.rows)
    html = to_html("memory_curve", chart)
    assert 2 == html.count("<path")
    assert 'stroke-dasharray="8 4"' in html


def test_a_recorded_snapshot_leaves_the_page_within_its_budget(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Hundreds of events are one line each, and four cells or so."""
    curve = [[event, 1e6 * (event % 5)] for event in range(400)]
    at = {"device": "cuda", "device_name": "A GPU", "torch": "2.15.0", "date": "2026-11-21"}
    recording = Recording("", {"A": curve, "C": curve}, at)
    monkeypatch.setattr(memory_curve.recorded, "read", lambda *_: recording)

    html = to_html("memory_snapshot", memory_curve.draw_snapshot(Store([], [])))

    assert "Recorded on A GPU" in html
    assert 100 > len(re.findall(r"<[a-z]", html))
