"""The page on memory keeps its tables, links and figures."""

import pytest

from lesson_site.markdown_source import Source
from tests.building import REPOSITORY

PAGE = (REPOSITORY / "docs" / "lab" / "memory-mathematics.md").read_text(encoding="utf-8")

LINKS = [
    "bonus-checkpointing.md",
    "../foundations/graphs-and-memory.md#what-keeps-memory",
    "key-concepts.md){ .next-step }",
]
GPU_FIGURES = [
    "resnet_step.batch_32.cuda_float32_peak",
    "resnet_step.batch_32.cuda_bfloat16_peak",
    "checkpointing.resnet50.cuda_plain_peak",
    "checkpointing.resnet50.cuda_checkpointed_peak",
]


@pytest.mark.parametrize("link", LINKS)
def test_ways_on(link: str) -> None:
    """The page leads to the meter, to the bonus challenge and to the next page."""
    assert link in PAGE


@pytest.mark.parametrize("figure", GPU_FIGURES)
def test_what_only_a_gpu_can_say_is_a_figure(figure: str) -> None:
    """The measured values come by name."""
    assert f"[[{figure}]]" in PAGE


@pytest.mark.parametrize("show", ["parts", "estimates", "batches"])
def test_the_worked_example_is_computed(show: str) -> None:
    """All three tables come from the tested module."""
    assert f'```lesson-memory-table show="{show}"' in PAGE


@pytest.mark.parametrize("anchor", ["state", "activations", "worked-example"])
def test_other_pages_find_its_parts(anchor: str) -> None:
    """The anchors that other pages link to."""
    assert anchor in Source(PAGE).anchors
