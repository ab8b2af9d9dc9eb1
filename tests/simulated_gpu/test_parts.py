"""Every part of every case runs on a GPU in its short form; the simulated one stands in for it."""

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch.utils.data import Subset

from benchmarks import cases
from benchmarks.cases import (
    Part,
    Plan,
    kept_losses,
    ladder,
    mixed_precision,
    mnist_epoch,
)
from lesson_code.data import load_mnist
from results import result_file
from tests.benchmarks.made_up import GPU_MACHINE
from tests.building import REPOSITORY

GPU = torch.device("cuda", 0)
FEW = Subset(load_mnist(Path("none"), train=True, source="subset"), range(640))


def every_part() -> Iterator[object]:
    """The case and the part, under the name of both."""
    plan = Plan(Path("data"), quick=True, gpu=GPU, gpu_only=True)
    for case in cases.GPU_NAMES:
        for part in cases.load(case).parts(plan):
            if not part.cpu_only:
                yield pytest.param(case, part, id=f"{case}-{part.name}")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sizes at which a CPU needs a second or two; an epoch is ten batches of digits."""
    for module in (ladder, mixed_precision, mnist_epoch):
        monkeypatch.setattr(module, "load_mnist", lambda *_, **__: FEW)
    monkeypatch.setattr(kept_losses, "HIDDEN", 64)


@pytest.mark.gpu
@pytest.mark.usefixtures("small", "one_thread")
@pytest.mark.filterwarnings("ignore:This DataLoader will create:UserWarning")  # with two cores
@pytest.mark.parametrize(("case", "part"), list(every_part()))
def test_part(case: str, part: Part, monkeypatch: pytest.MonkeyPatch) -> None:
    """It measures something on the GPU, and a result file takes it."""
    monkeypatch.chdir(REPOSITORY)
    gc.collect()

    entries = part.measure()

    content = {
        "finished": "2026-11-23T00:00Z",
        "took_s": 1e6,
        "load_average": 0,
        "entries": {name: entry.to_json() for name, entry in entries.items()},
    }
    assert any("cuda" in name for name in entries)
    assert "" == result_file.problem_of_part(case, part.name, content, GPU_MACHINE)
