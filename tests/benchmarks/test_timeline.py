"""The loops that the timeline is held against are measured part by part, and read as written."""

from pathlib import Path

import pytest

from benchmarks import timeline, timeline_steps
from results.timeline import TimelineError, read_models, write_models
from results.timeline_measured import Measured, Setting, read_measured, write_measured

SLOW = Setting("sleep", 0.02, 64, 0)


@pytest.mark.parametrize("workers", [0, 1])
def test_the_parts_of_a_loop_are_measured(monkeypatch: pytest.MonkeyPatch, workers: int) -> None:
    """Each has its samples, per step; a loader that waits for 20 ms takes no less."""
    monkeypatch.setattr(timeline, "STEPS", {64: 3})
    setting = Setting("sleep", 0.02, 64, workers)

    found = timeline.measured(setting, repetitions=2)

    assert [2, 2, 2] == [len(found.loads), len(found.computes), len(found.loops)]
    assert 0.02 <= min(*found.loads, *found.loops)
    assert 0 < min(found.computes)
    assert (workers == 0) == (found.hands == (0.0,))


def test_a_loader_that_works_takes_its_time_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """20 ms of work are no less than 20 ms of waiting."""
    monkeypatch.setattr(timeline, "STEPS", {64: 2})

    found = timeline.measured(Setting("work", 0.02, 64, 0), 1)

    assert 0.02 <= min(*found.loads, *found.loops)


def test_a_simulated_loop_adds_its_fastest_parts() -> None:
    """Without workers a step is loaded and computed in turn."""
    one = Measured(SLOW, 5, loads=(0.03, 0.02), computes=(0.01, 0.04), hands=(0.0,), loops=(0.033,))

    assert pytest.approx(0.03) == one.simulated
    assert pytest.approx(1.1) == one.error


def test_measured_loops_are_read_as_they_were_written(tmp_path: Path) -> None:
    """With the machine, in one piece."""
    one = Measured(SLOW, 5, (0.02,), (0.01,), (0.0,), (0.03, 0.06))
    path = tmp_path / "measured.json"

    write_measured([one], {"processor": "some"}, path)

    assert ((one,), {"processor": "some"}) == read_measured(path)
    assert [path] == list(tmp_path.iterdir())


def test_operations_are_read_as_they_were_written(tmp_path: Path) -> None:
    """The command writes what is in the repository."""
    path = tmp_path / "steps.json"
    models = {name: timeline_steps.model(name) for name in timeline_steps.MODELS}

    write_models(models, "2.15.0", path)

    assert read_models() == read_models(path)


def test_a_loop_without_its_samples_is_refused(tmp_path: Path) -> None:
    """The message names the file and the command that writes it."""
    path = tmp_path / "measured.json"
    path.write_text('{"loops": [{"steps": 3}], "provenance": {}}')

    with pytest.raises(TimelineError, match=r"measured\.json.*benchmarks\.timeline"):
        read_measured(path)
