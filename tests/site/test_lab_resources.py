"""Every resource of the lab is listed with a reason, and nothing is requested by the page."""

import re
from pathlib import Path

import pytest

TEXT = Path("docs/lab/resources.md").read_text(encoding="utf-8")
ROWS = [line for line in TEXT.splitlines() if re.match(r"\| (?!---|Read|Watch)", line)]
ADDRESSES = [
    "https://docs.nvidia.com/deeplearning/performance/mixed-precision-training/index.html",
    "https://docs.pytorch.org/docs/stable/amp.html",
    "https://horace.io/brrr_intro.html",
    "https://arxiv.org/abs/1710.03740",
    "https://arxiv.org/abs/1706.02677",
    "https://docs.pytorch.org/docs/stable/profiler.html",
    "https://pytorch.org/blog/understanding-gpu-memory-1/",
    "https://www.nvidia.com/en-us/gtc/",
    "https://course.fast.ai/",
    "https://docs.pytorch.org/docs/stable/notes/cuda.html",
    "https://docs.pytorch.org/docs/stable/torch_cuda_memory.html",
    "https://docs.pytorch.org/tutorials/intermediate/pinmem_nonblock.html",
    "https://pytorch.org/blog/what-every-user-should-know-about-mixed-precision-training-in-pytorch",
    "https://docs.pytorch.org/tutorials/intermediate/memory_format_tutorial.html",
    "https://arxiv.org/abs/2205.05198",
    "https://arxiv.org/abs/2104.10350",
    "https://arxiv.org/abs/2302.13971",
    "https://arxiv.org/abs/2303.08774",
    "https://github.com/NVIDIA/DeepLearningExamples/tree/master/PyTorch/Classification/ConvNets/"
    "resnet50v1.5",
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_each_resource_has_a_row(address: str) -> None:
    """One row links to it."""
    assert 1 == sum(f"({address})" in row for row in ROWS)


def test_the_tool_without_an_address_has_a_row() -> None:
    """``nvidia-smi`` ships with the driver."""
    assert 1 == sum(row.startswith("| `nvidia-smi`") for row in ROWS)
    assert len(ADDRESSES) + 1 == len(ROWS)


@pytest.mark.parametrize("row", ROWS)
def test_each_row_says_why_and_when(row: str) -> None:
    """The second cell has a sentence about what it is, and an advice on when to open it."""
    reason = row.split("|")[2]

    assert len(re.findall(r"\.(?= |$)", reason.strip())) >= 2
    assert re.search(r"\b(Read|Open|Keep|Look|Use|Compare|Take|Search|read)\b", reason)


def test_old_addresses_are_gone() -> None:
    """The documentation lives under docs.pytorch.org."""
    assert not re.search(r"https://pytorch\.org/(docs|tutorials)/", TEXT)


def test_the_page_embeds_nothing() -> None:
    """Links only: no picture, frame or script."""
    assert not re.search(r"!\[|<(img|iframe|script|video|link)\b", TEXT)
