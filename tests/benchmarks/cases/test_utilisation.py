"""How busy a GPU is, and how much of its peak becomes progress."""

import subprocess
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from benchmarks.cases import Plan, SkipPartError
from benchmarks.cases import utilisation as case
from benchmarks.cases.utilisation import peak_product
from benchmarks.method import Arm
from lesson_code.mission.gpt2 import GPT2_SMALL, step_flops
from results import catalogue
from results.entry import entry

CPU = torch.device("cpu")
ONE_GPU = SimpleNamespace(uuid="1a-2b")


def test_every_entry_has_a_figure_that_shows_it() -> None:
    """Pages can name whatever the case measures."""
    shown = {d.fields["measured"] for d in catalogue.read() if d.kind == "measured"}

    assert not {f"utilisation:{name}" for name in case.ENTRIES} - shown


def test_without_a_gpu_there_is_nothing_to_measure(tmp_path: Path) -> None:
    """A CPU has no such counter."""
    assert not list(case.parts(Plan(tmp_path, gpu=None)))


def test_mfu_is_the_models_arithmetic_over_time_and_peak() -> None:
    """300 FLOP in 2 s and in 3 s, where the peak is 1,000 FLOP/s: 15 and 10 percent."""
    times = entry([2.0, 3.0], "s", device="cuda", amount=300.0)
    peak = entry([0.5, 0.5], "s", device="cuda", amount=500.0)

    assert [15.0, 10.0] == pytest.approx(case.model_flop_utilisation(times, peak))


def test_a_step_faster_than_the_peak_is_a_measurement_error() -> None:
    """More than 100 percent can't be, so nothing is kept."""
    times = entry([0.1], "s", device="cuda", amount=300.0)
    peak = entry([0.5], "s", device="cuda", amount=500.0)

    with pytest.raises(ValueError, match="300 % of the peak"):
        case.model_flop_utilisation(times, peak)


def test_flops_are_counted_exactly(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, one_thread: None
) -> None:
    """MNIST: three products forward and five backward, as images need no gradient; GPT-2: all."""
    monkeypatch.setattr(case, "QUICK_GPT2", GPT2_SMALL)
    plan = Plan(tmp_path, quick=True, gpu=torch.device("meta"))
    forward = 2 * 64 * (784 * 256 + 256 * 128 + 128 * 10)
    to_images = 2 * 64 * 784 * 256

    tiny = case._step(plan, torch.device("meta"), "tiny")[1]
    large = case._step(plan, torch.device("meta"), "large")[1]

    assert 3 * forward - to_images == tiny
    assert step_flops(GPT2_SMALL, 8) == large


def far_peak(*arguments: Any) -> Arm:
    """A peak that no step comes near: a busy CPU's own may be lower than what it reaches later."""
    arm = peak_product(*arguments)
    arm.amount = 1e3 * (arm.amount or 0)
    return arm


def test_steps_peaks_and_shares_come_from_one_part(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, one_thread: None
) -> None:
    """For both models: seconds of a step, seconds of the large product, and the percentage."""
    monkeypatch.setattr(case, "peak_product", far_peak)
    mfu, _ = case.parts(Plan(tmp_path, quick=True, gpu=CPU))

    entries = mfu.measure()

    assert {"tiny", "large"} == {name.partition(".")[0] for name in entries}
    assert set(entries) == {name for name in case.ENTRIES if not name.endswith("busy")}
    assert 0 < entries["large.cuda_mfu"].median <= 100
    assert "bfloat16" == entries["large.cuda_peak"].settings["dtype"]


def test_the_counter_is_read_while_the_steps_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, one_thread: None
) -> None:
    """Every reading becomes a sample of the model that was training at that time."""
    monkeypatch.setattr(case, "utilisation", lambda _: 37.0)
    _, busy = case.parts(Plan(tmp_path, quick=True, gpu=CPU))

    entries = busy.measure()

    assert ["tiny.cuda_busy", "large.cuda_busy"] == list(entries)
    assert {37.0} == {sample for e in entries.values() for sample in e.samples}


def test_readings_of_the_time_before_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The counter looks back, so the first readings say what was before."""
    began = time.monotonic()
    monkeypatch.setattr(case, "utilisation", lambda _: time.monotonic() - began)

    readings = case.watch(lambda: time.sleep(0.01), CPU, seconds=2.0, forgotten_s=0.4)

    assert 0.4 <= readings[0]
    assert readings == sorted(readings)


def test_without_nvidia_smi_the_reason_is_given(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, one_thread: None
) -> None:
    """The part ends at once and says so in words; no thread stays behind."""

    def missing(*arguments: object, **more: object) -> None:
        raise FileNotFoundError

    monkeypatch.setattr(subprocess, "run", missing)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: ONE_GPU)
    _, busy = case.parts(Plan(tmp_path, quick=True, gpu=CPU))

    with pytest.raises(SkipPartError, match="does not say how busy"):
        busy.measure()


@pytest.mark.parametrize(("said", "expected"), [("97\n", 97.0), ("0\n", 0.0)])
def test_what_nvidia_smi_writes_becomes_a_number(
    monkeypatch: pytest.MonkeyPatch, said: str, expected: float
) -> None:
    """Whole percent, as the driver writes them, of the GPU that trains: asked for by its UUID."""
    asked: list[str] = []

    def answers(command: list[str], **_: object) -> SimpleNamespace:
        asked.extend(command)
        return SimpleNamespace(stdout=said)

    monkeypatch.setattr(subprocess, "run", answers)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: ONE_GPU)

    assert expected == case.utilisation(CPU)
    assert "--id=GPU-1a-2b" in asked


def test_an_answer_that_is_no_number_is_no_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some drivers write [N/A]."""
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: SimpleNamespace(stdout="[N/A]\n"))
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: ONE_GPU)

    with pytest.raises(SkipPartError):
        case.utilisation(CPU)


@pytest.mark.gpu
def test_a_gpu_that_multiplies_without_a_pause_is_busy() -> None:
    """One kernel after the other: nvidia-smi sees nearly no gap."""
    a = torch.randn(4096, 4096, device="cuda")

    readings = case.watch(lambda: a @ a, torch.device("cuda"), seconds=4.0, forgotten_s=1.5)

    assert max(readings) > 50
