"""The lab's page on mixed precision keeps its anchors, tables and questions."""

import re

import pytest

from lesson_site import recordings
from lesson_site.markdown_source import Source
from tests.building import REPOSITORY

PAGE = (REPOSITORY / "docs" / "lab" / "mixed-precision.md").read_text(encoding="utf-8")
PROSE = " ".join(re.sub(r"^!!! belief.*$|\[\[.*?\]\]", "", Source(PAGE).prose, flags=re.M).split())

ANCHORS = [
    *("memory", "formats", "underflow", "lost-updates", "algorithm", "loss-scaling"),
    "which-type",
]
OUTPUTS = [
    "lab/number_formats:print_weights",
    "lab/number_formats:print_formats",
    "lab/number_formats:print_storage_error",
    "lab/underflow:print_underflow",
    "lab/number_formats:print_lost_updates",
    "lab/loss_scale:print_first_steps",
    "lab/autocast_table:print_table",
]


@pytest.mark.parametrize("anchor", ANCHORS)
def test_other_pages_find_their_anchors(anchor: str) -> None:
    """Headings that other pages link to keep their ids."""
    assert anchor in Source(PAGE).anchors


@pytest.mark.parametrize("target", OUTPUTS)
def test_the_tables_are_recordings(target: str) -> None:
    """What the modules print, not what somebody typed."""
    assert f'of="{target}"' in PAGE


@pytest.mark.parametrize(
    ("check", "output"),
    [
        ("lab-small-gradient", "lab/number_formats:print_storage_error"),
        ("lab-lost-updates", "lab/number_formats:print_lost_updates"),
        ("lab-first-scaled-step", "lab/loss_scale:print_first_steps"),
        ("lab-batch-norm-type", "lab/autocast_table:print_table"),
    ],
)
def test_the_page_asks_before_it_tells(check: str, output: str) -> None:
    """Each question is above the table that answers it."""
    assert PAGE.index(f"id: {check}") < PAGE.index(f'of="{output}"')


def test_what_was_published_or_measured_is_named_and_not_typed() -> None:
    """Sizes of cards, ResNet-50's results and the share that was lost are figures."""
    for name in (
        "hardware.h200.memory",
        "published.accuracy.resnet50.mixed",
        "lab.underflow.deep.lost",
    ):
        assert f"[[{name}]]" in PAGE
    for typed in ("77.1", "76.9", "2.63", "3.26", "99.9", "141 GB"):
        assert typed not in PROSE


def test_rms_norm_is_told_in_prose_since_releases_differ() -> None:
    """The recorded table has to hold for all of them."""
    recording = recordings.read("lab/autocast_table:print_table")

    assert recording is not None
    assert "rms_norm" not in recording.text


def test_the_page_leads_on() -> None:
    """To memory mathematics, last of all."""
    assert "[Memory mathematics](memory-mathematics.md){ .next-step }" == PAGE.split("\n")[-2]
