"""The pages on several GPUs and on a kernel of one's own keep their parts, and count right."""

import re

import pytest

from lesson_site.markdown_source import Source
from lesson_site.sections import read_section
from tests.building import REPOSITORY

PAGES = REPOSITORY / "docs" / "lab"
GPUS = (PAGES / "bonus-multi-gpu.md").read_text(encoding="utf-8")
KERNEL = (PAGES / "bonus-custom-kernel.md").read_text(encoding="utf-8")


def test_the_kernels_come_in_order() -> None:
    """PyTorch, then the registration, then Triton, then C++, and CUDA last."""
    shown = re.findall(r'lesson-code show="lab/(\w+\.py:\w+)"', KERNEL)

    assert [
        "fused_kernel.py:in_pytorch",
        "fused_kernel.py:teach",
        "fused_kernel.py:operation",
        "triton_kernel.py:kernel",
        "fused_kernel.py:in_triton",
        "fused_extension.py:cpp",
        "fused_extension.py:build_cpp",
        "fused_extension.py:cuda",
    ] == shown


@pytest.mark.parametrize("count", [1, 2, 4])
def test_the_measurement_on_gpus_is_named(count: int) -> None:
    """Times come from the case that measures them, and nothing stands in for them."""
    rows = [line for line in GPUS.splitlines() if line.startswith(f"| {count} |")]
    [row] = [row for row in rows if f"[[data_parallel.gpus_{count}.cuda]]" in row]

    assert f"[[data_parallel.gpus_{count}.cuda_rate]]" in row


@pytest.mark.parametrize("way", ["eager", "compiled", "triton", "extension"])
def test_every_way_is_measured(way: str) -> None:
    """Time and rate of each way on a GPU come from the case that measures them."""
    assert f"[[fused_elementwise.cuda_{way}]]" in KERNEL
    assert f"[[fused_elementwise.cuda_{way}_rate]]" in KERNEL


@pytest.mark.parametrize("text", [GPUS, KERNEL], ids=["several GPUs", "kernel"])
def test_every_page_has_what_a_bonus_has(text: str) -> None:
    """What runs where, the steps, a check of one's own work, and questions."""
    anchors = Source(text).anchors

    assert {"where", "steps", "check", "questions"} <= set(anchors)
    assert text.count("//// check |") >= 2
    assert text.count("??? question") >= 5


def test_the_losses_of_two_means_are_not_weighted() -> None:
    """24 samples and 8: a sample of the smaller batch weighs three times as much."""
    weights = [1 / 2 / 24, 1 / 2 / 8]

    assert 3 == pytest.approx(weights[1] / weights[0])


def test_the_last_block_is_counted_right() -> None:
    """5,000 numbers leave 904 for the fifth block of 1,024, and 120 lanes without one."""
    blocks = -(-5000 // 1024)

    assert (5, 904, 120) == (blocks, 5000 - 4 * 1024, blocks * 1024 - 5000)


def test_two_lines_of_the_loop_are_new() -> None:
    """The wrapper and the sampler's epoch: what the page asks the reader to find."""
    loop = read_section("lab/data_parallel.py:train").text

    assert 1 == loop.count("DistributedDataParallel(")
    assert 1 == loop.count("sampler.set_epoch(epoch)")
