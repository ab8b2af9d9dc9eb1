"""Starting tiny operations, queued and waited for."""

from pathlib import Path

import pytest
import torch

from benchmarks.cases import Plan, launches


def test_entries_are_seconds_for_one_operation(tmp_path: Path) -> None:
    """Samples and warm-ups are divided by the thousand, and the loops say how many ran."""
    [part] = launches.parts(Plan(tmp_path, quick=True, gpu=torch.device("cpu")))

    entries = part.measure()

    assert set(launches.ENTRIES) == set(entries)
    for entry in entries.values():
        assert 0 < entry.smallest < 1e-3
        assert all(0 < seconds < 1e-2 for seconds in entry.warmups)
        assert entry.loops % 1000 == 0


def test_a_thousand_operations_are_done(device: torch.device) -> None:
    """Queued or waited for, each of the thousand adds one."""
    x = torch.zeros(2, device=device)

    launches.queued(x)
    launches.waited_for(x)

    assert [2000.0, 2000.0] == x.tolist()


def test_every_operation_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one way waits a thousand times, the other never."""
    waits: list[torch.device] = []
    monkeypatch.setattr(launches, "synchronize", waits.append)

    launches.queued(torch.zeros(1))
    assert 0 == len(waits)
    launches.waited_for(torch.zeros(1))

    assert 1000 == len(waits)


@pytest.mark.gpu
def test_waiting_after_each_operation_costs(tmp_path: Path) -> None:
    """On any GPU waiting is not faster, and both kinds are read by the GPU's own events too."""
    [part] = launches.parts(Plan(tmp_path, quick=True))
    entries = part.measure()

    assert set(launches.ENTRIES) == set(entries)
    assert 0.9 * entries["cuda_queued"].median <= entries["cuda_waited_for"].median
    assert all(0 < seconds < 1e-2 for seconds in entries["cuda_queued"].device_samples)
