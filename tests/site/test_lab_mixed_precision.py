"""The lab's page on mixed precision keeps its tables and questions, and repeats no error."""

import re

import pytest

from lesson_site import recordings
from tests.building import REPOSITORY

PAGE = (REPOSITORY / "docs" / "lab" / "mixed-precision.md").read_text(encoding="utf-8")
TEXT = " ".join(PAGE.split())
WITHOUT_FENCES = re.sub(r"^```.*?^```$", "", PAGE, flags=re.M | re.S)
PROSE = " ".join(re.sub(r"^!!! belief.*$|\[\[.*?\]\]", "", WITHOUT_FENCES, flags=re.M).split())

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
# What section by section a reader has to find.
PHRASES = [
    "16 bytes a parameter",
    "SGD with momentum keeps one average, which makes 12 bytes; plain SGD keeps none",
    "its weights in 16 bit; in float32 they are",
    "On Ampere and later GPUs bfloat16 is the default choice",
    "FP8 is a newer step",
    "the same within the noise",
    "Only at $2^{-25}$, about 2.98e-8, and below it, nothing is left",
    "3e-8 and 5e-8 both become 5.96e-8",
    "**Scaling repairs underflow**",
    "Underflow is a risk of some networks, not a law of float16",
    "**the weights that are updated stay in float32**",
    "Parameters stay float32, and there is no second set of them",
    "a weight that is used twice is cast once",
    "arrive in float32 nevertheless",
    "**The loss inside, backward outside.**",
    "With bfloat16 or float32 no scaler is needed",
    "“Attempting to unscale FP16 gradients”",
    "It reads one flag back from the GPU",
    "After 2,000 good steps in a row it doubles, to try again; 1,999 change nothing",
    "There is no lower bound",
    "A finite loss proves nothing about the gradients",
    "Step it only when the scale has not fallen",
    "about 4.5e-13",
    "`mean`, `max` and `var` do not",
    "`batch_norm` does not",
    "`BCELoss`, raises an error under CUDA autocast",
    "**The CPU has a list of its own.**",
]
# C20 to C36: what older material says.
UNTRUE = [
    r"numbers below 6.{0,12} become zero",
    r"6e-8 become zero",
    r"0\.00001 underflows",
    r"element-wise operations (?:run|are) in (?:float16|16 bit)[.,]",
    r"reductions run in float32[.,]",
    r"(?:two|three) times (?:faster|as fast)",
    r"2[-–]3 ?[x×]",
    r"torch\.cuda\.amp",
    r"scale .{0,20}inside the autocast",
    r"(?:gradients|\.grad) (?:are|stay) (?:float16|FP16) under autocast",
    r"same final accuracy",
]


@pytest.mark.parametrize("anchor", ANCHORS)
def test_other_pages_find_their_anchors(anchor: str) -> None:
    """Headings that other pages link to keep their ids."""
    assert re.search(rf"^## .+ {{ #{anchor} }}$", PAGE, flags=re.M)


@pytest.mark.parametrize("target", OUTPUTS)
def test_the_tables_are_recordings(target: str) -> None:
    """What the modules print, not what somebody typed."""
    assert f'of="{target}"' in PAGE


@pytest.mark.parametrize("phrase", PHRASES)
def test_the_page_says_it(phrase: str) -> None:
    """The facts that readers and other pages lean on."""
    assert phrase in TEXT


@pytest.mark.parametrize("untrue", UNTRUE)
def test_the_page_does_not_repeat_an_error(untrue: str) -> None:
    """Outside the beliefs that it breaks."""
    assert not re.search(untrue, PROSE, flags=re.I)


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
    """Each question stands above the table that answers it."""
    assert PAGE.index(f"id: {check}") < PAGE.index(f'of="{output}"')


def test_what_was_published_or_measured_is_named_and_not_typed() -> None:
    """Sizes of cards, ResNet-50's results and the share that was lost are figures."""
    for name in ("hardware.h200.memory", "lab.resnet50.a100_amp_top1", "lab.underflow.deep.lost"):
        assert f"[[{name}]]" in PAGE
    for typed in ("77.1", "76.9", "2.63", "3.26", "99.9", "80 GB", "141 GB"):
        assert typed not in PROSE


def test_the_diagram_follows_the_order_of_a_step() -> None:
    """Clear, forward inside, backward outside, unscale only if wanted, step, update."""
    diagram = PAGE.split("```lesson-diagram")[1].split("```")[0]

    edges = re.findall(r"^  (\w+)\S* .*?(?:-->|-\.->)(?:\|\"(.*?)\"\|)? (\w+)", diagram, re.M)
    assert [
        ("clear", "", "forward"),
        ("forward", "", "backward"),
        ("backward", "", "step"),
        ("backward", "only to clip or inspect", "unscale"),
        ("unscale", "", "step"),
        ("step", "yes", "moves"),
        ("moves", "", "update"),
        ("step", "no, skip", "update"),
    ] == edges


def test_rms_norm_is_told_in_prose_since_releases_differ() -> None:
    """The recorded table has to hold for all of them."""
    recording = recordings.read("lab/autocast_table:print_table")

    assert recording is not None
    assert "rms_norm" not in recording.text
    assert "`rms_norm` does since PyTorch 2.12" in TEXT


def test_the_page_leads_on() -> None:
    """To memory mathematics, last of all."""
    assert "[Memory mathematics](memory-mathematics.md){ .next-step }" == PAGE.split("\n")[-2]
