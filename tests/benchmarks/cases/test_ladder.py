"""The ladder: rungs take turns, a broken one stops no other, and the limit is computed."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks.cases import IncompletePartError, Plan, SkipPartError, ladder
from lesson_code.benchmarks.speed_ladder import Data, Training

CPU = torch.device("cpu")


def part(plan: Plan, name: str) -> Any:
    """A part of the case by its name."""
    return next(part for part in ladder.parts(plan) if part.name == name)


def test_the_cpus_rungs_have_time_first_epoch_and_accuracy(tmp_path: Path) -> None:
    """A quick climb measures every rung that needs no compiler, and they all learn."""
    entries = part(Plan(tmp_path, quick=True, gpu=None), "cpu").measure()

    rungs = ("textbook", "resident", "fused", "whole_epoch")
    assert set(entries) == {
        f"cpu_{rung}{what}" for rung in rungs for what in ("", ".first_epoch", ".accuracy")
    }
    assert all(entries[f"cpu_{rung}.accuracy"].median > 85 for rung in rungs)
    assert entries["cpu_textbook"].amount == 6000
    assert entries["cpu_textbook"].settings["epochs"] == ladder.QUICK_EPOCHS


def test_every_entry_is_announced() -> None:
    """Thirteen rungs, three entries each, and those of the GPU say so in their names."""
    assert len(ladder.ENTRIES) == 3 * (len(ladder.CPU_RUNGS) + len(ladder.CUDA_RUNGS))
    assert len(set(ladder.ENTRIES)) == len(ladder.ENTRIES)


def two_images() -> Data:
    """As little data as a training can have."""
    return Data([], torch.zeros(2, 1, 28, 28), torch.tensor([0, 1]))  # type: ignore[arg-type]


def rung(log: list[str], name: str, breaks_in_epoch: int = 0) -> Any:
    """A rung that notes when it trains, and can break in one of its epochs."""

    def build(data: Data, device: torch.device) -> Training:
        def epochs() -> Iterator[float]:
            for number in range(1, 100):
                if number == breaks_in_epoch:
                    raise RuntimeError("no kernel image\nand more lines")
                log.append(name)
                yield 1.0 / number

        training = epochs()
        return Training(lambda: next(training), lambda images: torch.eye(10)[: len(images)])

    return build


def test_rungs_take_turns_and_a_broken_one_stops_no_other() -> None:
    """Every other round runs backwards, and the reason is kept in one line."""
    log: list[str] = []
    climb = ladder.Climb(CPU, two_images())
    for name, breaks in (("a", 0), ("b", 2), ("c", 0)):
        climb.begin(name, rung(log, name, breaks), two_images())
    for number in (1, 2):
        climb.one_epoch(number)
    entries = climb.entries("cpu", two_images())

    assert log == ["a", "b", "c", "c", "a", "a", "c"]
    assert climb.broken == {"b": "b: RuntimeError: no kernel image"}
    assert {name.partition(".")[0] for name in entries} == {"cpu_a", "cpu_c"}
    assert entries["cpu_a"].loss == pytest.approx(1 / 3)
    assert list(entries["cpu_a.accuracy"].samples) == [100.0]
    assert entries["cpu_a.accuracy"].settings["accuracy_percent_by_epoch"] == [100.0] * 3


def test_what_is_done_once_is_told_with_the_first_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Setting up takes 3 s, the first epoch 2 s, a later one 1 s: 5 s, and 1 s."""
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    durations = iter([2.0, 1.0, 1.0])

    def build(data: Data, device: torch.device) -> Training:
        now[0] += 3.0

        def epoch() -> float:
            now[0] += next(durations)
            return 0.5

        return Training(epoch, lambda images: torch.eye(10)[: len(images)])

    climb = ladder.Climb(CPU, two_images())
    climb.begin("a", build, two_images())
    for number in (1, 2):
        climb.one_epoch(number)
    entries = climb.entries("cpu", two_images())

    assert [5.0] == list(entries["cpu_a.first_epoch"].samples)
    assert [5.0] == list(entries["cpu_a"].warmups)
    assert [1.0, 1.0] == list(entries["cpu_a"].samples)


def test_each_compiled_rung_begins_with_an_empty_cache_and_keeps_what_it_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three caches for three rungs and none for the others; nothing is forgotten until the end."""
    done: list[str] = []

    @contextmanager
    def cache() -> Iterator[None]:
        done.append("cache")
        yield
        done.append("cache ends")

    @contextmanager
    def forgotten() -> Iterator[None]:
        done.append("forget")
        yield
        done.append("forget")

    monkeypatch.setattr(ladder, "empty_cache", cache)
    monkeypatch.setattr(ladder, "nothing_compiled_yet", forgotten)
    monkeypatch.setattr(ladder, "compile_something_small", lambda _: done.append("small"))
    monkeypatch.setattr(ladder, "_data", lambda _: (two_images(), two_images()))
    monkeypatch.setattr(ladder, "EPOCHS", 2)
    names = ("fused", *ladder.COMPILED)
    monkeypatch.setattr(ladder, "CUDA_RUNGS", {name: rung(done, name) for name in names})
    monkeypatch.setattr(ladder, "_can_compile", lambda _: True)

    entries = part(Plan(tmp_path, gpu=CPU), "cuda").measure()

    begun = ["fused", *(step for name in ladder.COMPILED for step in ("cache", name))]
    turns = [*reversed(names), "cache ends", "cache ends", "cache ends"]
    assert ["forget", "small", *begun, *turns, "forget"] == done
    assert {f"cuda_{name}.first_epoch" for name in names} < set(entries)


def test_rungs_see_the_same_random_numbers_in_each_epoch() -> None:
    """So the batches of a rung come in the order of the others', however many turns there are."""
    drawn: dict[str, list[float]] = {"a": [], "b": []}

    def draws(name: str) -> Any:
        def epoch() -> float:
            drawn[name].append(float(torch.rand(())))
            return 0.0

        def scores(images: torch.Tensor) -> torch.Tensor:
            return torch.eye(10)[: len(images)]

        return lambda *_: Training(epoch, scores)

    climb = ladder.Climb(CPU, two_images())
    for name in drawn:
        climb.begin(name, draws(name), two_images())
    for number in (1, 2):
        climb.one_epoch(number)

    assert drawn["a"] == drawn["b"]
    assert len(set(drawn["a"])) == 3


def test_a_rung_that_can_not_be_built_is_put_aside() -> None:
    """Setting up may fail too, in a compiler for example."""

    def broken(data: Data, device: torch.device) -> Training:
        raise OSError("no compiler")

    climb = ladder.Climb(CPU, two_images())
    climb.begin("a", broken, two_images())
    climb.one_epoch(1)

    assert climb.broken == {"a": "a: OSError: no compiler"}
    assert climb.entries("cpu", two_images()) == {}


def test_a_broken_rung_is_told_with_what_was_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The part ends with an error that carries the entries of the other rungs."""
    log: list[str] = []
    rungs = {"textbook": rung(log, "textbook"), "fused": rung(log, "fused", breaks_in_epoch=1)}
    monkeypatch.setattr(ladder, "CPU_RUNGS", rungs)
    monkeypatch.setattr(ladder, "_data", lambda _: (two_images(), two_images()))
    monkeypatch.setattr(
        ladder.speed_ladder,
        "whole_epoch",
        lambda data, device, **_: rung(log, "whole_epoch")(data, device),
    )

    with pytest.raises(IncompletePartError, match="fused: RuntimeError") as broken:
        part(Plan(tmp_path, quick=True, gpu=None), "cpu").measure()

    assert "cpu_textbook" in broken.value.entries


def test_without_a_compiler_the_reason_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The compiled rung is missing in words, not silently."""
    monkeypatch.setattr(ladder.shutil, "which", lambda _: None)

    with pytest.raises(SkipPartError, match="C\\+\\+ compiler"):
        part(Plan(tmp_path, gpu=None), "cpu_compiled").measure()


@pytest.mark.gpu
@pytest.mark.filterwarnings("ignore:This DataLoader will create:UserWarning")  # on two cores
@pytest.mark.timeout(600)
def test_the_gpus_rungs_all_come_through(tmp_path: Path) -> None:
    """On a GPU no rung breaks, the compiled ones included, and all learn the same."""
    plan = Plan(tmp_path, quick=True)
    data, test = ladder._data(plan)
    climb = ladder.Climb(torch.device("cuda"), test)
    for name, build in ladder.CUDA_RUNGS.items():
        climb.begin(name, build, data)
    for number in (1, 2):
        climb.one_epoch(number)
    entries = climb.entries("cuda", data)
    accuracies = {name: entries[f"cuda_{name}.accuracy"].median for name in ladder.CUDA_RUNGS}

    assert climb.broken == {}
    assert min(accuracies.values()) > max(accuracies.values()) - 3
