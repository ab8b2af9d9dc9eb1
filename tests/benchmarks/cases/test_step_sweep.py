"""The sweep: every cell on every device, warmed up before short steps are repeated."""

from pathlib import Path

import torch

from benchmarks.cases import Plan, step_sweep


def test_a_cell_is_timed_on_every_device_after_three_steps(
    tmp_path: Path, one_thread: None
) -> None:
    """A cold step would say that short steps need no repeating."""
    part = next(step_sweep.parts(Plan(tmp_path, quick=True, gpu=torch.device("cpu"))))

    entries = part.measure()

    assert {"width_64.batch_16.cpu", "width_64.batch_16.cuda"} == set(entries)
    for entry in entries.values():
        assert 3 == len(entry.warmups)
        assert 1 < entry.loops
