"""The memory dashboard sees what is alive, finds three planted leaks, and reads GPU snapshots."""

import itertools
import pickle
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.cuda import _memory_viz
from torch.nn.functional import cross_entropy

from lesson_code.lab import memory_dashboard
from lesson_code.lab.memory_dashboard import (
    LOOPS,
    STEPS,
    MemoryCurve,
    batch_of,
    main,
    network,
    read_snapshot,
    record_snapshot,
    snapshot_of,
    watch,
    watch_loop,
)
from lesson_code.saved_tensors import SavedBytes

MAP = 512 * 256 * 4  # bytes of a hidden layer's result
SNAPSHOT = {
    "device_traces": [
        [
            {"action": "segment_alloc", "size": 2_000_000, "addr": 0, "stream": 0, "frames": []},
            {"action": "alloc", "size": 700_000, "addr": 0, "stream": 0, "frames": []},
            {"action": "alloc", "size": 500_000, "addr": 700_000, "stream": 0, "frames": []},
            {"action": "free_requested", "size": 700_000, "addr": 0, "stream": 0, "frames": []},
            {"action": "free_completed", "size": 700_000, "addr": 0, "stream": 0, "frames": []},
        ]
    ],
    "segments": [],
}


class Allocator:
    """What ``torch.cuda.memory`` does while a snapshot is made, without a GPU."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[dict[str, Any]] = []
        monkeypatch.setattr("torch.cuda.is_available", lambda: True)
        monkeypatch.setattr(torch.cuda.memory, "_record_memory_history", self.record)
        monkeypatch.setattr(torch.cuda.memory, "_dump_snapshot", self.dump)

    def record(self, **options: Any) -> None:
        """Begin or end."""
        self.calls.append(options)

    def dump(self, filename: str) -> None:
        """Write the made-up snapshot."""
        Path(filename).write_bytes(pickle.dumps(SNAPSHOT))


def test_new_memory_counts_once_and_goes_with_its_last_tensor() -> None:
    """Views and in-place results add nothing; what nobody holds is gone at the next operation."""
    existing = torch.zeros(10)

    with MemoryCurve() as memory:
        made = existing + 1
        view = made.view(2, 5)
        made.add_(1)
        existing.add_(1)
        del made
        _ = existing.t()
        del view
        _ = existing.t()

    assert [40, 40, 40, 40, 40, 0] == [alive for _, alive in memory.curve]


def test_it_sees_what_the_allocator_of_a_step_would() -> None:
    """After the forward pass the maps and log-softmax are alive, after backward the gradients."""
    model, (features, labels) = network(), batch_of()

    with MemoryCurve() as memory:
        loss = cross_entropy(model(features), labels)
        memory.mark()
        loss.backward()
        memory.mark()

    assert 3 * MAP == memory.marks[0]["relu [512, 256]"]
    gradients = sum(parameter.nbytes for parameter in model.parameters())
    assert gradients <= memory.marks[1].total() <= gradients + 8
    backward = max(alive for _, alive in memory.curve)
    assert 5 * MAP <= backward < 5.1 * MAP


@pytest.mark.parametrize(
    ("loop", "leak"),
    [("A", 0), ("B", 3 * MAP), ("C", 3 * MAP), ("D", MAP)],
)
def test_three_planted_leaks_are_found(loop: str, leak: int) -> None:
    """Losses without backward, kept graphs and a storing hook grow by their maps; A does not."""
    memory = watch_loop(loop)

    assert STEPS == len(memory.marks)
    assert leak == memory.growth()["relu [512, 256]"]
    assert leak == 0 or leak <= memory.growth().total() <= leak + 20_480 + 8


def test_a_kept_loss_that_met_backward_adds_its_value_alone() -> None:
    """Four bytes a step: the graph is empty."""
    growth = watch_loop("A").growth()

    assert {"nll_loss_forward []": 4} == growth


def test_the_saved_bytes_meter_does_not_see_the_hook() -> None:
    """No graph holds what the hook stored, so only the dashboard finds it."""
    model, batches = network(), [batch_of()] * 3

    meter = SavedBytes(model)
    with meter:
        running = LOOPS["D"](model, batches)
        for _ in range(3):
            next(running)

    assert 0 == meter.total()


def test_taking_detach_away_adds_nothing() -> None:
    """After backward, a stored activation's graph holds no tensor besides the activation."""
    model, seen = network(), []
    model[1].register_forward_hook(lambda _layer, _inputs, out: seen.append(out))

    memory = watch(LOOPS["A"](model, [batch_of()] * STEPS))

    assert MAP + 4 == memory.growth().total()


@pytest.mark.parametrize(("layer", "maps"), [(1, 1), (5, 3)])
def test_without_backward_a_stored_activation_keeps_what_lies_before_it(
    layer: int, maps: int
) -> None:
    """Before the first ReLU that is nothing new; before the last one it is all of the maps."""
    model, seen = network(), []
    model[layer].register_forward_hook(lambda _layer, _inputs, out: seen.append(out))

    def steps() -> Iterator[None]:
        for features, _ in [batch_of()] * 3:
            model(features)
            yield

    assert {"relu [512, 256]": maps * MAP} == watch(steps()).growth()


def test_the_curve_falls_back_after_every_healthy_step() -> None:
    """Equal steps, equal peaks; with ``retain_graph`` each peak is on the one before."""
    peaks = {}
    for loop in ("A", "C"):
        curve = [alive for _, alive in watch_loop(loop).curve]
        a_step = len(curve) // STEPS
        peaks[loop] = [max(curve[i * a_step : (i + 1) * a_step]) for i in range(STEPS)]

    assert 12 == peaks["A"][-1] - peaks["A"][0]
    assert 3 * MAP < peaks["C"][-1] - peaks["C"][-2]


def test_adam_raises_the_floor_once() -> None:
    """Its state is made in the first step, twice the parameters, and does not grow."""

    def steps(optimizer_class: Callable[..., torch.optim.Optimizer]) -> Iterator[None]:
        model, (features, labels) = network(), batch_of()
        optimizer = optimizer_class(model.parameters(), lr=0.001)
        for _ in range(3):
            optimizer.zero_grad()
            cross_entropy(model(features), labels).backward()
            optimizer.step()
            yield

    adam, sgd = (watch(steps(kind)) for kind in (torch.optim.Adam, torch.optim.SGD))

    state = 2 * sum(parameter.nbytes for parameter in network().parameters())
    more = adam.marks[0].total() - sgd.marks[0].total()
    assert state <= more <= state + 100  # and a count of steps for each parameter
    assert 0 == adam.growth().total()


def test_growing_batches_raise_peaks_and_leave_the_floor() -> None:
    """A peak that climbs is no leak."""
    batches = [batch_of(size) for size in (64, 128, 256)]

    memory = watch(LOOPS["A"](network(), batches))

    assert 4 == memory.growth().total()


def test_its_listing_is_the_recorded_one(capsys: pytest.CaptureFixture[str]) -> None:
    """The first step is listed, and the rows of three steps go to the chart."""
    rows = memory_dashboard.print_curve()

    assert "threshold_backward" in capsys.readouterr().out
    assert {1, 2, 3} == {row["step"] for row in rows}
    assert "threshold_backward" == max(rows, key=lambda row: row["A"])["name"]


def test_the_marks_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """One line a loop, and what grows below it."""
    found = memory_dashboard.print_marks()

    assert ["loop_a", "loop_b", "loop_c", "loop_d"] == list(found)
    assert 4 == capsys.readouterr().out.count("loop ")


def test_a_reader_s_leak_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    """The page's own example grows, and the check says from what."""
    status = main([str(memory_dashboard.__file__)])

    assert 1 == status == memory_dashboard.print_own()
    assert "GROWS: 2,097,152 bytes more than after step 2, most of them from" in (
        capsys.readouterr().out
    )


FLAT = """
import torch
def steps():
    weight = torch.ones(1000, requires_grad=True)
    while True:
        weight.square().sum().backward()
        weight.grad = None
        yield
"""


@pytest.mark.parametrize(
    ("source", "status", "says"),
    [
        (FLAT, 0, "FLAT: 0 bytes more than after step 2"),
        ("def steps():\n    yield\n", 2, "has to yield three times"),
        ("def step():\n    pass\n", 2, "has no attribute 'steps'"),
        ("def steps(:\n", 2, "is no Python"),
    ],
)
def test_a_reader_s_file_gets_a_verdict_or_a_reason(
    source: str, status: int, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Flat memory passes; a file that can't be watched is refused in one sentence."""
    file = tmp_path / "my_training.py"
    file.write_text(source, encoding="utf-8")

    assert status == main([str(file)])
    assert says in "".join(capsys.readouterr())


def held(sizes: list[int], kept: int = 0) -> Iterator[None]:
    """Steps whose names hold the last batch, and a list that keeps numbers of every other step."""
    kept_ones = []
    for step, size in enumerate(sizes):
        batch = torch.zeros(size, 256)
        if step % 2 == 0:
            kept_ones.append(torch.zeros(kept))
        yield
        del batch


@pytest.mark.parametrize(
    ("sizes", "kept", "status"),
    [
        ([64, 80, 40, 48, 56, 32], 0, 0),
        ([64, 64, 64, 64, 64, 40], 0, 0),
        ([64, 64, 64, 64, 64, 80], 0, 0),
        ([64, 64, 64], 0, 0),
        ([64, 64, 64], 1000, 1),
        ([64] * 6, 1000, 1),
        ([64] * 5, 1000, 1),
    ],
)
def test_the_size_of_the_last_batch_is_no_leak(
    sizes: list[int], kept: int, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """A floor that follows the batch passes; one that rises for good does not."""
    assert status == memory_dashboard.verdict(watch(held(sizes, kept)))
    assert ("GROWS" if status else "FLAT") in capsys.readouterr().out


def test_a_floor_that_fell_is_said_to_have_fallen(capsys: pytest.CaptureFixture[str]) -> None:
    """Less, and not a negative number more."""
    memory_dashboard.verdict(watch(held([64, 80, 40, 48, 56, 32])))

    assert "FLAT: 49,152 bytes less than after step 2" in capsys.readouterr().out


def test_intels_gpus_have_the_same_history() -> None:
    """Functions of the same names."""
    for name in ("_record_memory_history", "_dump_snapshot"):
        assert callable(getattr(torch.xpu.memory, name))


def test_a_snapshot_is_recorded_and_the_recording_ends(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """History is switched on, written, and switched off, also when a step fails."""
    allocator = Allocator(monkeypatch)

    record_snapshot(iter([None]), tmp_path / "a.pickle")
    with pytest.raises(ZeroDivisionError):
        record_snapshot((1 / 0 for _ in range(1)), tmp_path / "b.pickle")

    begun = {"stacks": "python", "max_entries": 100_000}  # those of C++ take seconds to write
    assert [begun, {"enabled": None}] * 2 == allocator.calls
    assert [0, 700_000, 1_200_000, 1_200_000, 500_000] == read_snapshot(tmp_path / "a.pickle")


def test_a_snapshot_is_written_while_the_loop_holds_what_it_holds(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A kept graph is there at the end, also when steps are counted off; afterwards it is gone."""
    Allocator(monkeypatch)
    ends, afterwards = {}, {}
    for name in ("A", "C"):
        steps = itertools.islice(LOOPS[name](network(), itertools.repeat(batch_of())), STEPS)
        with MemoryCurve() as memory:
            monkeypatch.setattr(torch.cuda.memory, "_dump_snapshot", lambda _: memory.mark())
            record_snapshot(steps, tmp_path / "a.pickle")
        ends[name] = memory.marks[-1].total()
        memory.mark()
        afterwards[name] = memory.marks[-1].total()

    assert (STEPS - 1) * 3 * MAP < ends["C"] - ends["A"]
    assert {"A": 0, "C": 0} == afterwards


def test_a_training_without_a_step_has_no_snapshot(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is written, and the command line says so."""
    Allocator(monkeypatch)
    file, snapshot = tmp_path / "my_training.py", tmp_path / "a.pickle"
    file.write_text("def steps():\n    return iter([])\n", encoding="utf-8")

    assert 2 == main([str(file), "--snapshot", str(snapshot)])
    assert "error: steps() has to yield after each step\n" == capsys.readouterr().err
    assert not snapshot.exists()


def test_a_step_that_is_not_recorded_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """What libraries take once and keep is taken before the history begins, and its model goes."""
    allocator, models = Allocator(monkeypatch), weakref.WeakSet[torch.nn.Module]()

    def loop(model: torch.nn.Module, batches: list[Any]) -> Iterator[None]:
        model.circle = [model]  # type: ignore[assignment]  # no count of references falls to zero
        models.add(model)
        allocator.calls.append({"steps": len(batches), "models": len(models)})
        yield

    monkeypatch.setitem(LOOPS, "A", loop)
    snapshot_of("A", "cpu")

    assert [
        {"steps": 1, "models": 1},
        {"stacks": "python", "max_entries": 100_000},
        {"steps": STEPS, "models": 1},
        {"enabled": None},
    ] == allocator.calls


def test_without_a_gpu_there_is_no_snapshot(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The function raises, and the command line says why in one sentence."""
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)

    with pytest.raises(RuntimeError, match="a memory snapshot needs a CUDA GPU"):
        record_snapshot([], tmp_path / "a.pickle")

    assert 2 == main([str(memory_dashboard.__file__), "--snapshot", str(tmp_path / "a.pickle")])
    assert "needs a CUDA GPU" in capsys.readouterr().err


def test_the_snapshot_s_curves_are_printed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both loops run; peak and end are in the table, the large changes go to the chart."""
    Allocator(monkeypatch)
    monkeypatch.setattr(memory_dashboard, "choose_device", lambda: torch.device("cpu"))

    curves = memory_dashboard.print_snapshot()
    status = main([str(memory_dashboard.__file__), "--snapshot", str(tmp_path / "a.pickle")])

    curve = [(0, 0), (2, 700_000), (3, 1_200_000), (5, 500_000)]
    assert {"A": curve, "C": curve} == curves
    assert 0 == status
    assert "loop A          1.20        0.50" in capsys.readouterr().out


def test_the_viewer_of_the_page_reads_a_snapshot_without_a_gpu() -> None:
    """``trace_plot`` writes a page from an existing file, which fetches its viewer from the web."""
    page = _memory_viz.trace_plot(SNAPSHOT)

    assert "https://" in page


@pytest.mark.gpu
def test_a_gpu_writes_its_history() -> None:
    """The healthy loop ends below its peak, and a kept graph raises the end."""
    alive = {name: snapshot_of(name, "cuda") for name in ("A", "C")}

    assert alive["A"][-1] < max(alive["A"])
    assert (STEPS - 1) * 3 * MAP < alive["C"][-1] - alive["A"][-1]
