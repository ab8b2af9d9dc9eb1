"""Segments of checkpoints: saved bytes, peak and work, by two trackers that agree."""

from functools import cache, partial

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
from torch.utils.flop_counter import FlopCounterMode
from torchvision.models.resnet import Bottleneck

from lesson_code.lab import checkpoint_segments
from lesson_code.lab.checkpoint_segments import (
    DEPTH,
    SIZES,
    alive_in_backward,
    best_size,
    block_costs,
    in_segments,
    keeping_products,
    stack_and_batch,
)
from lesson_code.lab.peak_memory import PeakMemory, peak_memory

# Blocks per checkpoint, 0 for none: MiB saved, MiB at the peak, compute.
TABLE = {
    0: (40.3, 49.8, 1.00),
    1: (4.3, 19.8, 1.17),
    2: (2.3, 21.8, 1.25),
    4: (1.3, 25.8, 1.29),
    8: (0.8, 33.8, 1.31),
    16: (0.5, 49.8, 1.32),
}

# A segment is a module of its own that lives as long as the call, and the tracker says so.
SEGMENTS_DIE = pytest.mark.filterwarnings("ignore:Module is None")


@cache
def tracked(size: int) -> PeakMemory:
    """What PyTorch's tracker says of a step."""
    blocks, x = stack_and_batch()
    return peak_memory(lambda: in_segments(blocks, x, size).square().mean().backward(), blocks, x)


def test_the_table_of_segments(capsys: pytest.CaptureFixture[str]) -> None:
    """Saved to a tenth of a MiB, peaks within 2 %, compute to a hundredth."""
    found = checkpoint_segments.print_segments()

    assert ["none", "1", "2", "4", "8", "16"] == list(found)
    for (saved, peak, compute), row in zip(TABLE.values(), found.values(), strict=True):
        assert row["saved"] == pytest.approx(saved, abs=0.051)
        assert row["peak"] == pytest.approx(peak, rel=0.02)
        assert row["compute"] == pytest.approx(compute, abs=0.0051)
    assert "16" in capsys.readouterr().out


@SEGMENTS_DIE
@pytest.mark.parametrize("size", [1, 16])
def test_pytorch_s_tracker_gives_the_same_peak(size: int) -> None:
    """The dashboard's peak and the peak tracker's are equal to a tenth of a percent."""
    step = checkpoint_segments.run_step(partial(in_segments, size=size))

    assert tracked(size).total == pytest.approx(step.peak, rel=0.001)


@SEGMENTS_DIE
def test_the_peak_is_late_with_one_block_and_early_with_all() -> None:
    """Most gradients exist at the peak of small segments, almost none at that of one segment."""
    parameters = sum(p.nbytes for p in stack_and_batch()[0].parameters())

    assert 0.9 < tracked(1).gradients / parameters
    assert 0.05 > tracked(16).gradients / parameters


def test_products_count_as_flop_do() -> None:
    """All products have one size, so their number is the work, as PyTorch's counter says."""
    flop = []
    for size in (0, 4):
        blocks, x = stack_and_batch()
        with FlopCounterMode(display=False) as counter:
            in_segments(blocks, x, size).square().mean().backward()
        flop.append(counter.get_total_flops())

    assert 124 / 96 == pytest.approx(flop[1] / flop[0])


@pytest.mark.parametrize("size", [1, 16])
def test_segments_change_no_gradient(size: int) -> None:
    """Bit for bit those of the plain stack."""
    gradients = []
    for way in (0, size):
        blocks, x = stack_and_batch()
        in_segments(blocks, x, way).square().mean().backward()
        gradients.append([p.grad for p in blocks.parameters()])

    assert all(torch.equal(a, b) for a, b in zip(*gradients, strict=True))


def test_the_rule_gives_the_root_for_equal_prices_only() -> None:
    """4 of 16 and 8 of 64; one block where the input is ten times cheaper."""
    kept, inside = block_costs()

    assert (4, 8) == (best_size(16, 1, 1), best_size(64, 3, 3))
    assert 10 == pytest.approx(inside / kept, rel=0.01)
    assert 1.26 == pytest.approx(best_size(DEPTH, kept, inside), abs=0.01)
    own = [alive_in_backward(DEPTH, size, kept, inside) for size in SIZES]
    assert sorted(own) == own
    assert 8 == min(alive_in_backward(DEPTH, size, 1, 1) for size in SIZES)


def test_the_rule_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """Both columns, and where each is smallest."""
    found = checkpoint_segments.print_rule()

    assert (4.0, 0.25, 2.5) == (found["equal"], found["kept"], round(found["inside"], 2))
    assert "best size" in capsys.readouterr().out


def test_the_early_stop_saves_a_product_of_each_segment(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """16 of the 32 for single blocks, one for all blocks together."""
    checkpoint_segments.print_early_stop()

    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert [["1", "112", "128"], ["16", "127", "128"]] == rows


def test_kept_products_are_not_computed_again(capsys: pytest.CaptureFixture[str]) -> None:
    """As many products as without checkpoints, and memory between the two."""
    found = checkpoint_segments.print_selective()
    plain, least, selective = found.values()

    assert (96, 112, 96) == (plain["products"], least["products"], selective["products"])
    for moment in ("after_forward", "peak"):
        assert least[moment] < selective[moment] < plain[moment]
    assert "keep the products too" in capsys.readouterr().out


def test_kept_products_change_no_gradient() -> None:
    """Bit for bit those of the plain stack."""
    gradients = []
    for forward in (partial(in_segments, size=0), keeping_products):
        blocks, x = stack_and_batch()
        forward(blocks, x).square().mean().backward()
        gradients.append([p.grad for p in blocks.parameters()])

    assert all(torch.equal(a, b) for a, b in zip(*gradients, strict=True))


BLOCKS = {  # with an input, and the operations of a step against those without a checkpoint
    "ends in a product": (
        nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.Linear(8, 8)),
        (4, 8),
        7 / 6,
    ),
    "ends in a norm": (nn.Sequential(nn.Linear(8, 8), nn.LayerNorm(8)), (4, 8), 4 / 3),
    "ResNet's block": (Bottleneck(16, 4), (2, 16, 4, 4), 4 / 3),
    "PyTorch's encoder layer": (nn.TransformerEncoderLayer(8, 2, 16), (3, 2, 8), 4 / 3),
}


@pytest.mark.parametrize(("block", "shape", "expected"), BLOCKS.values(), ids=list(BLOCKS))
def test_the_early_stop_saves_a_last_product_and_nothing_behind_one(
    block: nn.Module, shape: tuple[int, ...], expected: float
) -> None:
    """A norm or a ReLU at the end needs what the last product gave."""
    x = torch.randn(shape, requires_grad=True)
    operations = []
    for forward in (block, partial(checkpoint, block, use_reentrant=False)):
        with FlopCounterMode(display=False) as counter:
            forward(x).sum().backward()
        operations.append(counter.get_total_flops())

    assert expected == pytest.approx(operations[1] / operations[0])
