"""On a Mac the notebook trains on the CPU, though PyTorch has an accelerator there."""

from pathlib import Path
from typing import Any

import pytest
import torch

from tests.graders.kept import contradiction, kept_answer, outcomes

PLACING = (
    *("the_cpu_for_everybody", "asked_and_the_answer_ignored", "a_gpu_for_nobody"),
    *("model_left_behind", "the_portable_model_left_behind"),
    *("nothing_of_the_batch_moved", "labels_left_behind", "moved_and_thrown_away"),
    *("the_portable_batch_left_behind", "mixed_precision_never_on"),
    *("gpus_counted", "bfloat16_without_a_scaler"),
)


@pytest.fixture
def a_mac(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch answers as there: an accelerator, and none that `torch.cuda` finds."""

    def found(*_: Any, **__: Any) -> torch.device:
        return torch.device("mps")

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)
    monkeypatch.setattr(torch.accelerator, "device_count", lambda: 1)
    monkeypatch.setattr(torch.accelerator, "current_accelerator", found)


@pytest.mark.parametrize("name", PLACING)
@pytest.mark.usefixtures("a_mac", "one_thread")
def test_answers_are_judged_as_on_a_cpu(name: str, tmp_path: Path) -> None:
    """What would fail on the first CUDA GPU does not pass on a laptop that has none."""
    answer = kept_answer("notebook", name)

    found = outcomes("notebook", answer.write(tmp_path), without=answer.unasked())

    assert "" == contradiction(answer, found)
