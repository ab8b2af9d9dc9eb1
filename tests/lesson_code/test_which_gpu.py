"""What PyTorch finds is told in lines that name the build, the cards and their use."""

import runpy
from types import SimpleNamespace

import pytest
import torch

from lesson_code import which_gpu
from lesson_code.which_gpu import what_is_here


@pytest.fixture
def finds(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A build for CUDA 13.2 that finds nothing until a test says otherwise."""
    monkeypatch.setattr(torch.version, "cuda", "13.2")
    monkeypatch.setattr(torch.version, "hip", None)
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda **_: None)
    return monkeypatch


def test_without_a_gpu_it_names_the_cpu(
    finds: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The module prints the lines: the build first, since a wrong one finds no GPU."""
    runpy.run_path(which_gpu.__file__, run_name="__main__")

    build, place = capsys.readouterr().out.splitlines()
    assert f"PyTorch {torch.__version__}, built for CUDA 13.2" == build
    assert "no GPU" in place
    assert "CPU" in place


@pytest.mark.parametrize(
    ("hip", "cuda", "built_for"),
    [("6.4", None, "ROCm 6.4"), (None, "13.2", "CUDA 13.2"), (None, None, "neither")],
)
def test_the_build_is_named(
    finds: pytest.MonkeyPatch, hip: str | None, cuda: str | None, built_for: str
) -> None:
    """ROCm for AMD, CUDA for NVIDIA, or neither."""
    finds.setattr(torch.version, "hip", hip)
    finds.setattr(torch.version, "cuda", cuda)

    assert f"built for {built_for}" in what_is_here()[0]


@pytest.mark.parametrize("kind", ["mps", "xpu"])
def test_another_makers_gpu_is_named(finds: pytest.MonkeyPatch, kind: str) -> None:
    """Apple's or Intel's GPU is for the portable script, in float32."""
    finds.setattr(torch.accelerator, "current_accelerator", lambda **_: torch.device(kind))

    _, found = what_is_here()

    assert found.startswith(f"{kind}: ")
    assert "float32" in found


def test_a_build_without_cuda_names_no_card(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a Mac, whose accelerator is there, fails at the name."""
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: False)
    monkeypatch.delattr(torch._C, "_cuda_getDeviceCount", raising=False)

    with pytest.raises(AssertionError, match="not compiled with CUDA"):
        torch.cuda.get_device_name()


def test_the_build_for_cuda_12_6_alone_has_code_for_old_cards_and_none_for_blackwell() -> None:
    """By the list from which PyTorch tells what to install; 10.0 and 12.0 are Blackwell."""
    builds = getattr(torch.cuda, "PYTORCH_RELEASES_CODE_CC", {})
    if "12.6" not in builds:
        pytest.skip("this PyTorch knows no build for CUDA 12.6")
    codes = {build: machines["x86_64"] for build, machines in builds.items()}

    assert ["12.6"] == [build for build, code in codes.items() if min(code) < 75]
    assert ["12.6"] == [build for build, code in codes.items() if max(code) < 100]


@pytest.mark.parametrize(("generation", "expected"), [(7, "float16"), (9, "bfloat16")])
def test_each_card_has_a_line(finds: pytest.MonkeyPatch, generation: int, expected: str) -> None:
    """Its name and memory, and at the end the format of mixed precision."""
    card = SimpleNamespace(name="a card", total_memory=16.1e9, major=generation)
    finds.setattr(torch.accelerator, "current_accelerator", lambda **_: torch.device("cuda"))
    finds.setattr(torch.cuda, "is_available", lambda: True)
    finds.setattr(torch.cuda, "current_device", lambda: 0)
    finds.setattr(torch.cuda, "device_count", lambda: 2)
    finds.setattr(torch.cuda, "get_device_properties", lambda _: card)

    _, *found = what_is_here()

    assert [
        "cuda:0: a card, 16 GB",
        "cuda:1: a card, 16 GB",
        f"mixed precision: {expected}",
    ] == found
