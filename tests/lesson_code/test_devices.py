"""Choosing, naming and waiting for a device works with and without a GPU."""

from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from lesson_code import devices


@pytest.mark.parametrize(("gpu", "expected"), [(True, "cuda"), (False, "cpu")])
def test_choose_device_takes_the_gpu_where_there_is_one(
    monkeypatch: pytest.MonkeyPatch, gpu: bool, expected: str
) -> None:
    """The choice follows what PyTorch says about CUDA."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: gpu)

    device = devices.choose_device()

    assert device.type == expected


@pytest.mark.parametrize("kind", ["mps", "xpu"])
def test_choose_device_leaves_other_makers_alone(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Apple's or Intel's GPU is an accelerator to PyTorch, and the lesson trains on the CPU."""
    found = torch.device(kind)
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda **_options: found)
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)

    device = devices.choose_device()

    assert device.type == "cpu"


@pytest.mark.parametrize(
    ("generation", "hip", "expected"),
    [(7, None, torch.float16), (8, None, torch.bfloat16), (0, "6.4", torch.bfloat16)],
)
def test_bfloat16_is_chosen_where_the_gpu_has_it(
    monkeypatch: pytest.MonkeyPatch, generation: int, hip: str | None, expected: torch.dtype
) -> None:
    """From Ampere on, and on AMD's GPUs; a T4, which could emulate it, takes float16."""
    properties = SimpleNamespace(major=generation)
    monkeypatch.setattr(torch.version, "hip", hip)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: properties)

    assert expected == devices.choose_amp_dtype(torch.device("cuda"))
    assert torch.float16 == devices.choose_amp_dtype(torch.device("cpu"))


def test_synchronize_leaves_the_cpu_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a CPU nothing is waited for: the CUDA call would raise without a driver."""
    waited: list[torch.device] = []
    monkeypatch.setattr(torch.cuda, "synchronize", waited.append)

    devices.synchronize(torch.device("cpu"))

    assert waited == []


def test_synchronize_waits_for_the_gpu_it_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """With several GPUs, the right one is waited for."""
    waited: list[torch.device] = []
    monkeypatch.setattr(torch.cuda, "synchronize", waited.append)

    devices.synchronize(torch.device("cuda:1"))

    assert waited == [torch.device("cuda:1")]


@pytest.mark.parametrize("kind", ["mps", "xpu"])
def test_synchronize_waits_for_other_makers(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """Python runs ahead of them as it does of CUDA."""
    waited: list[torch.device] = []
    monkeypatch.setattr(torch.accelerator, "synchronize", waited.append)

    devices.synchronize(torch.device(kind))

    assert waited == [torch.device(kind)]


def test_device_name_is_never_empty(device: torch.device) -> None:
    """Every device that a test runs on has a name to put under a number."""
    name = devices.device_name(device)

    assert name.strip()


def test_cpu_name_reads_the_model_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """On Linux the processor's name is the first `model name`."""

    def read_text(self: Path, **_options: Any) -> str:
        return "processor : 0\nmodel name\t: Example CPU: 3 GHz\nmodel name : Another\n"

    monkeypatch.setattr(Path, "read_text", read_text)

    name = devices.cpu_name()

    assert name == "Example CPU: 3 GHz"


@pytest.mark.parametrize(
    ("processor", "machine", "expected"),
    [("arm", "arm64", "arm"), ("", "arm64", "arm64"), ("", "", "unknown processor")],
)
def test_cpu_name_falls_back_where_there_is_no_such_file(
    monkeypatch: pytest.MonkeyPatch, processor: str, machine: str, expected: str
) -> None:
    """Elsewhere Python's own answer serves, and if it is empty that is said."""

    def read_text(self: Path, **_options: Any) -> str:
        raise FileNotFoundError

    monkeypatch.setattr(Path, "read_text", read_text)
    monkeypatch.setattr(devices.platform, "processor", lambda: processor)
    monkeypatch.setattr(devices.platform, "machine", lambda: machine)

    name = devices.cpu_name()

    assert name == expected


def test_precision_switches_are_put_back() -> None:
    """Also when the work breaks."""

    def switches() -> tuple[bool, bool]:
        return torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32

    before = switches()
    inside = []
    for tf32 in (True, False):
        with suppress(ZeroDivisionError), devices.float32_products(tf32):
            inside.append(switches())
            raise ZeroDivisionError

    assert [(True, True), (False, False)] == inside
    assert before == switches()
