"""The step that cases about whole models share: its peaks, its scale, and what does not fit."""

import weakref
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn

from benchmarks import cases
from benchmarks.cases import Plan, SkipPartError, _training_step
from benchmarks.cases._training_step import (
    FORMATS,
    Step,
    Training,
    arms_that_fit,
    peaks_of,
    resnet50,
)
from results.entry import Entry, entry

CPU = torch.device("cpu")


@pytest.mark.parametrize(
    "name",
    [
        *("mixed_precision", "small_resnet", "cnn_step", "resnet_step"),
        *("checkpointing", "accumulation"),
    ],
)
def test_every_case_names_its_peaks(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where memory can be counted, each case gives all the peaks that it announces."""
    module = cases.load(name)

    def counted(step: Step, _: int) -> Entry:
        return entry([1.0], "bytes", device="cuda", settings=step.settings)

    monkeypatch.setattr(_training_step, "_peak", counted)
    monkeypatch.setattr(module, "measure", lambda *_, **__: {})
    monkeypatch.setattr(module, "arms_that_fit", lambda _: {})
    monkeypatch.setattr(module, "_accuracies", lambda _: {}, raising=False)
    monkeypatch.setattr(module, "random_images", lambda *_: _batch(), raising=False)
    monkeypatch.setattr(module, "resnet50", lambda _: resnet50(quick=True), raising=False)
    entries: dict[str, Entry] = {}

    for part in module.parts(Plan(tmp_path, gpu=CPU)):
        entries |= part.measure()

    assert {n for n in module.ENTRIES if n.endswith("_peak")} == set(entries)
    assert all({"autocast", "tf32", "batch_size"} <= set(e.settings) for e in entries.values())


def test_arms_that_do_not_fit_are_named_beside_the_others(one_thread: None) -> None:
    """One arm out of memory stops none of the others, and their settings name it."""
    arms = arms_that_fit({"too_large": _out_of_memory, "fits": _small_step})

    assert ["fits"] == list(arms)
    assert ["too_large"] == arms["fits"].settings["does_not_fit"]


def test_nothing_of_an_arm_that_does_not_fit_is_held_while_the_next_is_built(
    one_thread: None,
) -> None:
    """Else a smaller one would find the GPU full."""
    failed: list[weakref.ref[Step]] = []
    held: list[bool] = []

    def too_large() -> Step:
        step = _small_step()
        step.settle = _out_of_memory  # type: ignore[method-assign, assignment]
        failed.append(weakref.ref(step))
        return step

    def fits() -> Step:
        held.append(failed[0]() is not None)
        return _small_step()

    arms = arms_that_fit({"too_large": too_large, "fits": fits})

    assert [False] == held
    assert ["fits"] == list(arms)


def test_each_peak_is_counted_from_what_lay_there_before_its_build(
    monkeypatch: pytest.MonkeyPatch, one_thread: None
) -> None:
    """Memory is cleared before each build, and the settings say from where the peak counts."""
    done: list[str] = []

    def cleared(_: torch.device) -> int:
        done.append("cleared")
        return 64

    def build() -> Step:
        done.append("built")
        return _small_step()

    def peak(*_: object, settings: dict[str, object], before: int) -> Entry:
        return entry([100.0 - before], "bytes", device="cuda", settings=settings)

    monkeypatch.setattr(_training_step, "memory_before", cleared)
    monkeypatch.setattr(_training_step, "peak_memory", peak)

    peaks = peaks_of({"a": build, "b": build})

    assert ["cleared", "built"] * 2 == done
    assert [36.0] == list(peaks["b_peak"].samples)
    assert "before the model" in peaks["b_peak"].settings["counted_from"]


@pytest.mark.parametrize("measure", [arms_that_fit, peaks_of])
def test_no_arm_that_fits_is_said_in_words(measure: Callable[..., object]) -> None:
    """Where nothing fits, the part is skipped with the reason."""
    with pytest.raises(SkipPartError, match="fits in the memory"):
        measure({"too_large": _out_of_memory})


def test_settling_waits_until_the_loss_scale_lets_steps_through(one_thread: None) -> None:
    """A scale that makes gradients infinite is halved before anything is timed."""
    step = _small_step("float16")
    training = step.training
    training.scaler = torch.amp.GradScaler("cpu", init_scale=2.0**24)

    step.settle()
    settled = training.scaler.get_scale()
    step()

    assert settled < 2.0**24
    assert settled == training.scaler.get_scale()
    assert all(torch.isfinite(p).all() for p in training.model.parameters())


def _out_of_memory() -> Step:
    raise RuntimeError("GET was unable to find an engine to execute this computation")


def _batch() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(8, 3, 32, 32), torch.zeros(8, dtype=torch.int64)


def _small_step(format: str = "float32") -> Step:
    model = nn.Sequential(nn.Flatten(), nn.Linear(3 * 32 * 32, 2))
    return Step(Training(model, CPU, FORMATS[format]), _batch(), {})
