"""The pages on what we corrected: every correction has its row, and every row leads somewhere."""

import re

import pytest

from tests.building import REPOSITORY

DOCS = REPOSITORY / "docs"
PAGES = (
    "corrections.md",
    "corrections-foundations.md",
    "corrections-lab.md",
    "corrections-mission.md",
)
TEXTS = {name: (DOCS / name).read_text(encoding="utf-8") for name in PAGES}
ROW = re.compile(r"^\| (?!you may have read|---)(.+?) \| (.+) \| (.+?) \|$", flags=re.M)
# What the chapter says is a table of its own, and no list of corrections.
CORRECTIONS = {name: text.partition("{ #traceability }")[0] for name, text in TEXTS.items()}
ROWS = {
    name: [match.groups() for match in ROW.finditer(text)] for name, text in CORRECTIONS.items()
}
SISTERS = PAGES[1:]

# The number of each correction, and how the claims of its rows begin.
LAB = {
    1: ["GPT-3 took centuries"],
    2: ["Stable Diffusion took thousands"],
    3: ["A ResNet on ImageNet takes days"],
    4: ["A ResNet on ImageNet takes days, or two weeks", "An A100 does it in twelve hours"],
    5: ["A GPU is ten to a hundred times"],
    6: ["Many models cannot be trained"],
    7: ["A CPU does one thing at a time"],
    8: ["One pass of a ResNet"],
    9: ["Its training takes millions"],
    10: ["The A100 has one bandwidth"],
    11: ["A GPU has hardly any cache"],
    12: ["`A @ B` is a thousand times"],
    13: ["Copies to the GPU run at"],
    14: ["PyTorch hides the launch"],
    16: ["Tensors on two devices never meet"],
    17: ["To mend a mismatch, move `a`"],
    18: ['`torch.device("cuda")` prints'],
    19: ["`.to(device)` does the same", "Make the optimizer, then move"],
    20: ["GPT-3's weights have one size"],
    21: ["Stable Diffusion is about five"],
    22: ["Training needs four times the model"],
    23: ["The choice is between float32 and float16"],
    24: ["Mixed precision halves the memory"],
    25: ["It is two to three times faster"],
    26: ["float16 makes everything below"],
    27: ["A gradient of 0.00001"],
    29: ["The model is kept twice"],
    30: ["`autocast()` needs no argument"],
    32: ["Element-wise operations run", "Reductions and normalisation run"],
    33: ["One list of operations"],
    34: ["All losses run in float32"],
    35: ["Scale the loss inside autocast"],
    36: ["Mixed precision needs a gradient scaler"],
    37: ["ResNet-50 at batch 32 takes"],
    38: ["Adam's state is always float32"],
    39: ["A transformer layer keeps"],
    40: ["A CNN layer keeps"],
    41: ["The peak is the sum of the parts"],
    43: ["Do not move batches in the loop"],
    44: ["Always set `pin_memory=True`"],
    45: ["Pinned memory makes copies overlap"],
    47: ["To accumulate, step at every", "Divide each loss by k", "Four batches of 64 equal"],
    48: ["Take `time.time()`"],
    51: ["LLaMA, GPT, Stable Diffusion"],
    52: ["Without it you waste half"],
    53: ["An A100 costs fifteen thousand"],
    54: ["An MNIST epoch takes two minutes"],
    55: ["A good script gains at least"],
    57: ["LLaMA 2 70B took a million"],
    58: ["Mixed precision saved half of its cost"],
    59: ["Half the memory, so twice the model"],
    60: ["Training GPT-3 emitted"],
    61: ["GPT-4 ran on thousands"],
    62: ["LLaMA owes its speed"],
    63: ["Mixed precision made Stable Diffusion"],
    64: ["`DataParallel` uses all your GPUs"],
    65: ["To write a kernel you need"],
    66: ["Look at memory with the profiler's"],
    67: ["Wrap a block in `checkpoint`", "The less a checkpoint saves"],
    68: ["Softmax is unstable in 16 bit"],
    69: ["Switch TF32 on"],
    70: ["A paper of 2018 introduced"],
    71: ["`batch.to(device)` cures"],
    72: ["Four batches of 64 equal"],
    73: ["A loss in a list keeps"],
    74: ["The usual mistake is to scale"],
    75: ["Use more workers"],
    76: ["Raise the batch until memory"],
    77: ["Below eighty percent"],
}
# Right as it was, without a source for either side, or about what older material left out.
NOT_IN_LAB = {15, 28, 31, 42, 46, 49, 50, 56}
FOUNDATIONS = {
    1: ["The graph caches every value"],
    3: ["Check that the model has parameters"],
    4: ["A batch of clips"],
    5: ["Flatten with `view"],
    6: ["bfloat16 is a float16"],
    7: ["Labels and indices have to be"],
    8: ["CPU and GPU tensors never mix"],
    9: ["Add up the norms"],
    10: ["Without `zero_grad` gradients grow"],
    11: ["A list of training losses"],
    12: ["A model without `super().__init__()`"],
    13: ["The optimizer refuses layers"],
    14: ["Softmax in front of the loss"],
    15: ["`CrossEntropyLoss` does not take"],
    16: ["Seed CUDA too"],
    17: ["Keep the epoch that does best"],
    18: ["Take the mean of the batch losses"],
    19: ["With a fresh optimizer"],
    20: ["`torch.load` opens everything"],
    21: ["Time five runs"],
    22: ["Use `torch.cuda.amp`"],
    23: ["Guard `torch.compile`"],
    24: ["TensorFlow builds static graphs"],
    26: ["To go backward several times"],
    27: ["Without `no_grad`, memory grows"],
    28: ["Labels for BCE may be"],
    29: ["A target of `[N]`"],
    30: ["`step` before `backward`"],
    31: ["Print the model to find"],
    32: ["MNIST trains quickly"],
    33: ["Check the labels with"],
    34: ["Without a GPU, `pin_memory`"],
    35: ["Start with `best_accuracy = 0.0`"],
    37: ["Model, optimizer, epoch and loss"],
    38: ["`zeros_like` is the safer"],
    39: ["A compiled model is saved"],
    41: ["A target of the wrong shape"],
    42: ["You need a GPU to see"],
    43: ["Dropout in validation"],
    44: ["A forgotten `no_grad`"],
}
# About one drawing, one command, one unused function and one exercise.
NOT_IN_FOUNDATIONS = {2, 25, 36, 40}
MISSION = {
    1: ["GPT-2 XL with SGD in FP16"],
    2: ['"FP16", "mixed" and "16-bit"'],
    3: ["SGD, momentum and Adam take one, two"],
    4: ["Adam's 24 GB are three times"],
    5: ["Adam adds 12 GB"],
    6: ["With 16-bit parameters and gradients"],
    7: ["Mixed precision saves about 50 %"],
    8: ["At batch 32 the run needs 89 GB"],
    9: ["Checkpointing makes activations four"],
    10: ["Checkpointing costs 33 %"],
    11: ["Over budget means that the optimizer's"],
    12: ["The baseline has an MFU of 45 %"],
    13: ["The target is 80 %; or 85 %"],
    14: ["Mixed precision makes the compute bar"],
    15: ["Prefetching alone leads to"],
    16: ["The GPU is an A100, an H100"],
    17: ["1,200 tokens a second"],
    18: ["A quarter of the iteration copies"],
    19: ["A larger batch raises utilisation"],
    20: ["Set the batch anywhere up to 256"],
    21: ["8 GB is a physical limit"],
    22: ["From batch 4 on it does not fit"],
    23: ["SGD, momentum and Adam each have"],
    24: ["80 GB, 8 GB and 32 GB need"],
    25: ["Adam needs so many times"],
    26: ["The bar has four components"],
    27: ["Two acts of 12 and 22 minutes"],
    28: ["`final_mfu_pct` is 82"],
    29: ["One machine's optimisations recover"],
    30: ["The axis goes from 0 to 100 GB"],
    31: ["Checkpointing raises the gauge"],
    32: ["One extra vector is 3 GB"],
}
NONE_LEFT_OUT: set[int] = set()
LISTS = {
    "corrections-foundations.md": (FOUNDATIONS, NOT_IN_FOUNDATIONS, 44),
    "corrections-lab.md": (LAB, NOT_IN_LAB, 77),
    "corrections-mission.md": (MISSION, NONE_LEFT_OUT, 32),
}


def links(text: str) -> list[tuple[str, str]]:
    """The pages and anchors that a text links to; a missing anchor is empty."""
    return re.findall(r"\]\(([\w./-]+\.md)(?:#([\w-]+))?\)", text)


@pytest.mark.parametrize("name", SISTERS)
def test_every_correction_has_a_row_or_is_left_out_by_name(name: str) -> None:
    """No number is forgotten, and each fragment begins exactly one claim."""
    covered, left_out, last = LISTS[name]
    claims = [claim for claim, _, _ in ROWS[name]]

    assert set(range(1, last + 1)) == set(covered) | left_out
    assert not set(covered) & left_out
    for fragment in (fragment for fragments in covered.values() for fragment in fragments):
        assert 1 == sum(claim.startswith(fragment) for claim in claims), fragment


@pytest.mark.parametrize("name", SISTERS)
def test_no_row_is_without_a_correction(name: str) -> None:
    """What stands on the page was found to be wrong somewhere, and is listed."""
    fragments = tuple(fragment for fragments in LISTS[name][0].values() for fragment in fragments)

    assert [] == [claim for claim, _, _ in ROWS[name] if not claim.startswith(fragments)]


@pytest.mark.parametrize("name", SISTERS)
def test_every_row_links_to_a_place_that_exists(name: str) -> None:
    """Page and anchor, both written out in the page's source."""
    room = f"{name.removeprefix('corrections-').removesuffix('.md')}/"
    for claim, _, see in ROWS[name]:
        assert links(see), claim
    for page, anchor in links("\n".join(f"{holds} {see}" for _, holds, see in ROWS[name])):
        assert page.startswith(room)
        assert anchor
        assert re.search(
            rf"^#+ .+ \{{ #{anchor} \}}$", (DOCS / page).read_text(encoding="utf-8"), flags=re.M
        ), f"{page}#{anchor}"


@pytest.mark.parametrize("name", SISTERS)
def test_what_holds_is_said_in_two_sentences(name: str) -> None:
    """A third one belongs on the page behind the link."""
    long = [
        holds
        for _, holds, _ in ROWS[name]
        if len(re.findall(r"[.?!](?=\s|$)", holds)) > 2 or not holds.endswith((".", "?"))
    ]

    assert [] == long


def test_values_of_figures_are_not_typed() -> None:
    """What was measured, computed or published stands behind its figure's name."""
    for name, typed in (
        ("corrections-lab.md", ("355", "150,000", "42.2", "768", "450,410", "2,039", "1,720,320")),
        ("corrections-lab.md", ("552", "1,287", "19.5", "136", "2,048", "2.63", "700 GB")),
        (
            "corrections-mission.md",
            ("12.46", "91.9", "31.6", "84.6", "39.3", "24.5", "9.9", "6.69"),
        ),
        ("corrections-foundations.md", ("1.46", "33.5", "91.2", "0.95", "101,770")),
    ):
        prose = re.sub(r"\[\[.*?\]\]", "", TEXTS[name])
        assert [] == [value for value in typed if value in prose]


@pytest.mark.parametrize(
    ("name", "following"), list(zip(PAGES, (*PAGES[1:], PAGES[0]), strict=True))
)
def test_each_of_them_leads_to_the_next(name: str, following: str) -> None:
    """Lesson, foundations, lab, mission, and back again, by the last line of each."""
    last = TEXTS[name].rstrip().splitlines()[-1]

    assert f"({following}){{ .next-step }}" in last


def test_the_first_page_names_its_sisters_at_the_top() -> None:
    """All are linked before the first table."""
    top = TEXTS["corrections.md"].split("\n## ")[0]

    assert [(name, "") for name in SISTERS] == links(top)


def test_they_stand_together_in_the_navigation() -> None:
    """One section, with an entry for each."""
    navigation = (REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:")[1]
    section = navigation.split("- What we corrected:\n")[1]

    assert list(PAGES) == re.findall(r"In the \w+: (corrections[\w-]*\.md)", section)
