"""CPU and GPU, CUDA and devices: what the pages must say, and what they must not."""

import re
from pathlib import Path

import pytest

ARCHITECTURE = Path("docs/lab/architecture.md").read_text(encoding="utf-8")
DEVICES = Path("docs/lab/cuda-and-devices.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "card", ["sms", "lanes", "float32", "tf32", "float16", "memory", "bandwidth", "l2", "threads"]
)
def test_every_row_of_the_card_is_cited(card: str) -> None:
    """No number of a data sheet is typed: both columns name an entry with source and date."""
    assert f"[[hardware.a100.{card}]]" in ARCHITECTURE
    assert f"[[hardware.h100.{card}]]" in ARCHITECTURE


@pytest.mark.parametrize("word", ["SIMT", "dense", "warps", "tile by tile", "two operations here"])
def test_the_architecture_page_says_it(word: str) -> None:
    """The conventions and names without which the numbers mislead."""
    assert word in ARCHITECTURE


@pytest.mark.parametrize("claim", [r"8 operations at once", r"millions of steps", r"all at once\b"])
def test_the_architecture_page_does_not_repeat(claim: str) -> None:
    """Wrong sentences of older tutorials."""
    assert not re.search(claim, ARCHITECTURE)


@pytest.mark.parametrize(
    "word",
    [
        "check_available=True",
        "registered buffers",
        "`copy_` crosses",
        "*after* the model has moved",
    ],
)
def test_the_devices_page_says_it(word: str) -> None:
    """The traps of choosing, placing and mixing."""
    assert word in DEVICES
