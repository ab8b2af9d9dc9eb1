"""The search for the largest batch: exact, frugal, and blind to nothing but lack of memory."""

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest
import torch
from torch import nn

from benchmarks.cases import Plan, SkipPartError, largest_batch
from benchmarks.cases._training_step import Step
from benchmarks.cases.largest_batch import largest_that_fits, memory_cap
from results.entry import Entry, entry


def measured(plan: Plan) -> dict[str, Entry]:
    """The entries of all parts."""
    return {
        name: entry for part in largest_batch.parts(plan) for name, entry in part.measure().items()
    }


def small_network(quick: bool) -> nn.Module:
    """Trains in the place of ResNet-50."""
    assert quick
    norm, pool = nn.BatchNorm2d(8), nn.AdaptiveAvgPool2d(1)
    return nn.Sequential(nn.Conv2d(3, 8, 3, 2), norm, pool, nn.Flatten(), nn.Linear(8, 1000))


def here(*_: object) -> ThreadPoolExecutor:
    """In place of a process of its own, which would not see what a test replaces."""
    return ThreadPoolExecutor(1)


@pytest.mark.parametrize("limit", [0, 1, 2, 37, 64, 100, 999, 1000, 5000])
def test_search_finds_the_limit_with_few_trials(limit: int) -> None:
    """The answer is exact, no size is tried twice, and nothing above the end is tried."""
    tried: list[int] = []

    def fits(size: int) -> bool:
        tried.append(size)
        return size <= limit

    found = largest_that_fits(fits, most=1000)

    assert min(limit, 1000) == found
    assert len(set(tried)) == len(tried) <= 20
    assert max(tried) <= 1000


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
def test_both_formats_run(
    tmp_path: Path, one_thread: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where everything fits, every entry is there with its settings.

    The search runs elsewhere, so that this process has no algorithm from under the cap.
    """
    here, search = os.getpid(), largest_that_fits

    def elsewhere(fits: Callable[[int], bool], most: int) -> int:
        assert os.getpid() != here
        return search(lambda _: True, most)  # PyTorch does not train in a fork of one that has

    monkeypatch.setattr(largest_batch, "largest_that_fits", elsewhere)
    # A CPU is slow in float16, and it is the search that is looked at, whatever trains.
    monkeypatch.setattr(largest_batch, "resnet50", small_network)
    # A fork in the place of a new process: it has PyTorch, and gets its work in the same way.
    monkeypatch.setattr(torch.multiprocessing, "get_context", lambda _: get_context("fork"))
    entries = measured(Plan(tmp_path, quick=True, gpu=torch.device("cpu")))

    assert set(largest_batch.ENTRIES) == set(entries)
    for format in largest_batch.GPU_FORMATS:
        largest = entries[f"cuda_{format}_largest"]
        assert largest_batch.QUICK_MOST == largest.median
        assert "samples" == largest.unit
        assert 8_000_000_000 == largest.settings["cap_bytes"]
        assert math.isfinite(entries[f"cuda_{format}_best_time"].loss)
        assert largest.median == entries[f"cuda_{format}_largest_time"].amount


def test_the_best_batch_is_the_one_with_least_time_for_an_image(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A largest batch that is slower for each image is not the best."""
    seconds = {8: 0.08, 16: 0.12, 20: 0.2}
    times = {n: entry([time], "s", device="cpu", amount=n) for n, time in seconds.items()}
    monkeypatch.setattr(largest_batch, "_times", lambda *_: times)
    monkeypatch.setattr(largest_batch, "ProcessPoolExecutor", here)
    monkeypatch.setattr(largest_batch, "_fits", lambda _, size: size <= 20)
    monkeypatch.setattr(largest_batch, "QUICK_MOST", 64)
    [part, _] = largest_batch.parts(Plan(tmp_path, quick=True, gpu=torch.device("cpu")))

    entries = part.measure()

    assert 20 == entries["cuda_float32_largest"].median
    assert 16 == entries["cuda_float32_best"].median
    assert times[16] == entries["cuda_float32_best_time"]
    assert 0.01 == entries["cuda_float32_best"].settings["seconds_for_an_image"]["20"]


@pytest.mark.parametrize("format", largest_batch.GPU_FORMATS)
def test_a_batch_that_trains_twice_fits(
    format: str, one_thread: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The optimizer has its state then; with the CPU as the GPU there is memory enough."""
    monkeypatch.setattr(largest_batch, "resnet50", small_network)
    build = largest_batch._builder(True, torch.device("cpu"), format, 40, {})
    built: list[Step] = []

    def remembered(size: int) -> Step:
        built.append(build(size))
        return built[-1]

    assert largest_batch._fits(remembered, 2)
    [step] = built
    assert 2 == len(step.losses) == len(step.batch[1])
    assert step.losses[1] < step.losses[0]


def test_only_lack_of_memory_counts_as_too_large() -> None:
    """A convolution that finds no room says no; any other error comes out, since it is a bug."""

    def out_of_memory(_: int) -> Step:
        raise RuntimeError("GET was unable to find an engine to execute this computation")

    def broken(_: int) -> Step:
        raise RuntimeError("a bug in the model")

    assert not largest_batch._fits(out_of_memory, 1)
    with pytest.raises(RuntimeError, match="a bug"):
        largest_batch._fits(broken, 1)


def test_nothing_fits_is_said_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a single image that fits, the part is skipped with the reason."""
    monkeypatch.setattr(largest_batch, "ProcessPoolExecutor", here)
    monkeypatch.setattr(largest_batch, "_fits", lambda *_: False)
    [part, _] = largest_batch.parts(Plan(tmp_path, quick=True, gpu=torch.device("cpu")))

    with pytest.raises(SkipPartError, match="not even one image"):
        part.measure()


def test_cap_holds_and_is_lifted_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The share of the memory is set for the search and put back, also after an error.

    On the GPU of a plan, and by PyTorch's own functions, which refuse a GPU without a number.
    """
    shares: list[tuple[float, int]] = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda.memory, "_lazy_init", lambda: None)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _: (20_000, 40_000))
    monkeypatch.setattr(torch._C, "_cuda_getMemoryFraction", lambda _: 0.9, raising=False)
    monkeypatch.setattr(
        torch._C, "_cuda_setMemoryFraction", lambda *given: shares.append(given), raising=False
    )
    gpu = Plan(tmp_path).gpu
    assert gpu is not None

    with pytest.raises(KeyError), memory_cap(gpu, 10_000):
        raise KeyError
    with pytest.raises(SkipPartError, match="free GPU memory"), memory_cap(gpu, 30_000):
        pass

    assert [(0.25, 0), (0.9, 0)] == shares


def test_nothing_without_a_gpu(tmp_path: Path) -> None:
    """A CPU alone measures none of it."""
    assert [] == list(largest_batch.parts(Plan(tmp_path, gpu=None)))


@pytest.mark.gpu
def test_a_cap_on_a_gpu_limits_the_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On any GPU a smaller cap gives a smaller largest batch, and the cap is lifted again."""
    monkeypatch.setattr(largest_batch, "MOST", 64)
    monkeypatch.setattr(largest_batch, "PIXELS", 128)
    found = {}
    for cap in (1_000_000_000, 2_000_000_000):
        monkeypatch.setattr(largest_batch, "CAP_BYTES", cap)
        found[cap] = measured(Plan(tmp_path))["cuda_float32_largest"].median

    assert 1 <= found[1_000_000_000] < found[2_000_000_000] <= 64
    assert 1.0 == torch.cuda.get_per_process_memory_fraction()
