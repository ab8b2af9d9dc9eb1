"""The page on memory keeps its tables, its phrases and its corrections."""

import re

import pytest

from tests.building import REPOSITORY

PAGE = (REPOSITORY / "docs" / "lab" / "memory-mathematics.md").read_text(encoding="utf-8")

STATE = [
    ["weights", "4 P", "4 P", "2 P"],
    [
        "16-bit weight copies for matrix products and convolutions",
        "none",
        "up to 2 P, from forward until backward",
        "none",
    ],
    ["gradients", "4 P", "4 P", "2 P"],
    ["Adam's two averages", "8 P", "8 P", "4 P"],
]
PHRASES = [
    "1 MB is 10⁶ bytes",
    "A float16 parameter gets a float16 gradient and float16 averages",
    "2 · B · C · H · W · 4 bytes in float32",
    "34 + 5 · a · L / H",
    "The fused kernel does not keep it",
    "the copies eat the gain",
    "The sum of the parts is an upper bound, not the peak.",
    "and that is luck",
    "cuDNN takes workspaces",
    "up to 512 bytes",
    "blocks of 2 MiB",
    "The CUDA context lies outside PyTorch",
    "their peak since `reset_peak_memory_stats()`",
]
LINKS = [
    "bonus-checkpointing.md",
    "../foundations/graphs-and-memory.md#what-keeps-memory",
    "key-concepts.md){ .next-step }",
]
# Only a belief may say these (C24, C29, C37 to C42).
UNTRUE = [
    r"Adam's state is always",
    r"(?:FP16|16-bit|float16) gradients under (?:AMP|autocast)",
    r"halves (?:the )?(?:memory|gradients)",
    r"keeps (?:about )?(?:2 · )?B · [CL] · H(?: · W)? bytes",
    r"peak is the sum",
]
GPU_FIGURES = [
    "resnet_step.batch_32.cuda_float32_peak",
    "resnet_step.batch_32.cuda_bfloat16_peak",
    "checkpointing.resnet50.cuda_plain_peak",
    "checkpointing.resnet50.cuda_checkpointed_peak",
]


def without_beliefs(text: str) -> str:
    """The page in one line, the titles of its beliefs left out."""
    return " ".join(re.sub(r"^!!! belief.*$", "", text, flags=re.MULTILINE).split())


@pytest.mark.parametrize("row", STATE, ids=lambda row: row[0])
def test_the_table_of_state(row: list[str]) -> None:
    """Each part in each of the three regimes."""
    assert f"| {' | '.join(row)} |" in PAGE


@pytest.mark.parametrize("phrase", PHRASES)
def test_what_the_page_says(phrase: str) -> None:
    """Each correction stands on the page."""
    assert phrase in without_beliefs(PAGE)


@pytest.mark.parametrize("link", LINKS)
def test_ways_on(link: str) -> None:
    """The page leads to the meter, to the bonus challenge and to the next page."""
    assert link in PAGE


@pytest.mark.parametrize("untrue", UNTRUE)
def test_nothing_untrue_is_said(untrue: str) -> None:
    """What is not so stands in a belief's title or nowhere."""
    assert re.search(untrue, without_beliefs(PAGE)) is None


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
    assert re.search(rf"^## .* \{{ #{anchor} \}}$", PAGE, re.MULTILINE)
