"""Convolutions: what is measured, the error of every format, and the FLOP."""

from pathlib import Path

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.cases import Plan, convolution
from benchmarks.cases.convolution import SHAPES, Shape


@pytest.mark.parametrize("shape", [*SHAPES.values(), Shape(2, 3, 5)])
def test_flop_are_those_that_pytorch_counts(shape: Shape) -> None:
    """The formula agrees with PyTorch's own counter on tensors without data."""
    images = torch.empty(shape.batch, shape.channels, shape.side, shape.side, device="meta")
    weights = torch.empty(shape.channels, shape.channels, 3, 3, device="meta")

    with FlopCounterMode(display=False) as counter:
        nn.functional.conv2d(images, weights, padding=1)

    assert shape.flop == counter.get_total_flops()


def test_every_format_and_layout_is_measured_with_its_error(
    tmp_path: Path, one_thread: None
) -> None:
    """16-bit convolutions are rounded, bfloat16 most; the layout changes no result."""
    part = next(convolution.parts(Plan(tmp_path, quick=True, gpu=torch.device("cpu"))))

    entries = part.measure()

    assert {n for n in convolution.ENTRIES if n.startswith("channels_64.")} == set(entries)
    assert all(entry.smallest > 0 and entry.amount > 0 for entry in entries.values())
    error = {
        name.partition(".cuda_")[2]: each.outcome["relative_error"]
        for name, each in entries.items()
    }
    assert error["bfloat16"] > 3 * error["float16"]
    assert error["float16"] > 30 * error["float32"] > 0
    assert error["float16"] == pytest.approx(error["float16_channels_last"], rel=0.1)
    assert entries["channels_64.cuda_tf32_channels_last"].settings["channels_last"]


def test_without_a_gpu_there_is_float32_only(tmp_path: Path) -> None:
    """The CPU is measured once for each shape."""
    plan = Plan(tmp_path, quick=True, gpu=None)

    names = [name for part in convolution.parts(plan) for name in part.measure()]

    assert ["channels_64.cpu", "channels_256.cpu"] == names


@pytest.mark.gpu
def test_convolutions_on_a_gpu(tmp_path: Path) -> None:
    """Each format is as exact as its bits allow."""
    plan = Plan(tmp_path, quick=True)
    entries = {
        name: entry for part in convolution.parts(plan) for name, entry in part.measure().items()
    }

    assert set(convolution.ENTRIES) == set(entries)
    for shape in SHAPES:
        error = {
            name: entries[f"{shape}.cuda_{name}"].outcome["relative_error"]
            for name in convolution.FORMATS
        }
        assert error["float32"] < 1e-4  # a fast algorithm for small kernels is less exact
        assert error["tf32"] < 2e-3
        assert error["float32"] < error["float16"] < error["bfloat16"] < 0.02
