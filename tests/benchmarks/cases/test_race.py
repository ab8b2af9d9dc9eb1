"""The race in PyTorch: every cell on every device, and what comes from readers' browsers alone."""

from pathlib import Path

import pytest
import torch

from benchmarks.cases import Plan, SkipPartError, race

CPU = torch.device("cpu")


def test_every_arm_of_a_machine_is_an_entry_and_every_other_entry_is_a_browser_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job gives all entries but those that a reader's race gives, and none of these."""
    given: set[str] = set()
    monkeypatch.setattr(race, "_Training", Instant)
    monkeypatch.setattr(race, "measure", lambda arms, _: given.update(arms) or {})

    for part in race.parts(Plan(tmp_path, gpu=CPU)):
        part.measure()

    assert set(race.ENTRIES) - set(race.BROWSER_ENTRIES) == given
    assert {name for name in race.ENTRIES if "browser" in name} == set(race.BROWSER_ENTRIES)
    assert 52 == len(race.BROWSER_ENTRIES)


def test_a_part_times_the_lesson_s_step_on_both_devices(tmp_path: Path, one_thread: None) -> None:
    """Steps are chained within a sample, the loss is beside the time, and samples are told."""
    part = next(race.parts(Plan(tmp_path, quick=True, gpu=CPU)))

    entries = part.measure()

    assert {"width_64.batch_16.cpu", "width_64.batch_16.cuda"} == set(entries)
    for entry in entries.values():
        assert 1 < entry.loops
        assert 16 == entry.amount
        assert {"width": 64, "batch_size": 16} == entry.settings
        assert 0 < entry.loss < 2.3


def test_both_devices_begin_with_the_same_weights_and_batch() -> None:
    """Their first losses are equal, to the bits of two devices."""
    first, second = (race._Training((64, 32), 16, CPU) for _ in range(2))

    assert first.loss == second.loss
    assert 0 < first.step_s


def test_a_device_that_is_too_slow_is_left_out_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one_thread: None
) -> None:
    """The other one is measured all the same; where no device is left, the part is skipped."""
    part = next(race.parts(Plan(tmp_path, quick=True, gpu=CPU)))
    took = iter([3.0, 2.5, 2.1, 0.001])
    monkeypatch.setattr(race, "time_repeatedly", lambda run, *_, **__: (run(), [next(took)])[1])

    [(name, entry)] = part.measure().items()

    assert "width_64.batch_16.cuda" == name
    assert ["width_64.batch_16.cpu"] == entry.settings["too_slow"]
    took = iter([3.0] * 4)
    with pytest.raises(SkipPartError, match="a step takes more than 2 s on this machine"):
        part.measure()


def test_what_is_done_once_makes_no_device_too_slow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one_thread: None
) -> None:
    """A first step that loads libraries for 2.1 s is made again, and the second one counts."""
    part = next(race.parts(Plan(tmp_path, quick=True, gpu=CPU)))
    took = iter([0.01, 0.001, 2.1, 0.001])
    monkeypatch.setattr(race, "time_repeatedly", lambda run, *_, **__: (run(), [next(took)])[1])

    assert {"width_64.batch_16.cpu", "width_64.batch_16.cuda"} == set(part.measure())


def test_a_hopeless_step_is_not_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """After 25 s nobody waits for a second one."""
    took = iter([25.0])
    monkeypatch.setattr(race, "time_repeatedly", lambda run, *_, **__: (run(), [next(took)])[1])

    assert 25.0 == race._Training((64, 32), 16, CPU).step_s


def test_a_quick_run_tries_a_few_small_cells(tmp_path: Path) -> None:
    """Two widths at two batch sizes."""
    parts = list(race.parts(Plan(tmp_path, quick=True, gpu=None)))

    assert [
        "width_64.batch_16",
        "width_64.batch_64",
        "width_256.batch_16",
        "width_256.batch_64",
    ] == [part.name for part in parts]


@pytest.mark.gpu
def test_the_race_on_a_gpu(tmp_path: Path) -> None:
    """Both devices learn from the same weights, and events of the GPU are beside the clock."""
    entries = next(race.parts(Plan(tmp_path, quick=True))).measure()
    cpu, cuda = entries["width_64.batch_16.cpu"], entries["width_64.batch_16.cuda"]

    assert "cuda" == cuda.device
    assert len(cuda.samples) == len(cuda.device_samples)
    assert cpu.loss < 2.3
    assert cuda.loss < 2.3


class Instant:
    """A training that takes no time and trains nothing."""

    step_s = 0.001
    loss = 0.5

    def __init__(self, hidden: tuple[int, int], batch_size: int, device: torch.device) -> None:
        pass

    def arm(self, settings: dict[str, object]) -> dict[str, object]:
        """Its settings, in place of an arm."""
        return settings
