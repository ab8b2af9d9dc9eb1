"""The lab's key concepts keep their facts, questions and tables, and repeat no old mistake."""

import re
from pathlib import Path

import pytest

from lesson_site import recordings

PAGE = Path("docs/lab/key-concepts.md")
TEXT = PAGE.read_text(encoding="utf-8")
PROSE = " ".join(re.sub(r"^```.*?^```$", "", TEXT, flags=re.DOTALL | re.MULTILINE).split())


def section(name: str) -> str:
    """The text under the heading with this anchor, up to the next heading of its level."""
    return TEXT.split(f"{{ #{name} }}\n")[1].split("\n## ")[0]


@pytest.mark.parametrize(
    ("anchor", "facts"),
    [
        (
            "placement",
            [
                "moving each batch in the loop is the normal pattern",
                "Only together",
                "non_blocking=True",
                "[[ladder.bytes]]",
                "[[mnist.dataset_bytes]]",
                "moving the **model**",
                "device=device",
                'pin_memory=device.type == "cuda"',
                "it is deprecated",
                "safe on the way to the GPU",
                "before you look",
            ],
        ),
        (
            "memory",
            [
                "`torch.cuda.memory_allocated()`",
                "`torch.cuda.max_memory_allocated()`",
                "`torch.cuda.reset_peak_memory_stats()`",
                "`torch.cuda.memory_reserved()`",
                "`torch.cuda.mem_get_info()`",
                "`torch.cuda.memory_summary()`",
                "leaves PyTorch no more to work with",
                "reserved by PyTorch but unallocated",
                "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
                "`PYTORCH_ALLOC_CONF`",
                "`torch.OutOfMemoryError`",
                "after it",
            ],
        ),
        (
            "accumulation",
            [
                "its share of the examples",
                "step for the last group as well",
                "the second call raises a `RuntimeError`",
                "`no_sync()`",
                "BatchNorm is off by as much in both",
                "one step of SGD",
                "Adam divides each gradient by its own size",
                "[[accumulation.resnet50.cuda_accumulated_peak]]",
            ],
        ),
        (
            "timing",
            [
                "monotonic",
                "`time.perf_counter` and not `time.time`",
                "report the median",
                "torch.cuda.Event(enable_timing=True)",
                "`torch.utils.benchmark.Timer`",
                "`.item()`",
                "`torch.nonzero` and indexing with a mask",
                'set_sync_debug_mode("warn")',
                "`CUDA_LAUNCH_BLOCKING=1`",
                "unless something inside it waits",
            ],
        ),
    ],
)
def test_facts_stand_where_they_belong(anchor: str, facts: list[str]) -> None:
    """Each section states what was corrected or added in it."""
    assert [] == [fact for fact in facts if fact not in section(anchor)]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("lab-pinned-batch", "lab/placement:print_pinned_batch"),
        ("lab-lost-batches", "lab/accumulation:print_left_over"),
        ("lab-equal-gradients", "lab/accumulation:print_equality"),
        ("lab-wait-after-only", "lab/timing_mistakes:print_six_methods"),
    ],
)
def test_questions_stand_before_the_output_that_answers_them(question: str, answer: str) -> None:
    """The reader predicts, then looks."""
    assert TEXT.index(f"id: {question}") < TEXT.index(f'of="{answer}"')


def test_the_lost_batches_are_what_the_loop_loses() -> None:
    """Ten micro-batches in groups of four leave as many as the check says, a fifth of them."""
    right = re.search(r"id: lab-lost-batches\n.*\n    right: (\d+)", TEXT)

    assert right is not None
    assert 10 % 4 == int(right[1])
    assert 10 == 5 * int(right[1])


def test_the_careful_mistake_is_more_than_twice_the_truth() -> None:
    """The check's answer agrees with the recorded readings."""
    recording = recordings.read("lab/timing_mistakes:print_six_methods")

    assert recording is not None
    assert recording.data["wait only after"] > 2 * recording.data["correct"]


@pytest.mark.parametrize(
    "mistake",
    [
        r"DataLoader on (the )?GPU",
        r"always (use|set) `?pin_memory",
        r"anti-pattern",
        r"empty_cache.{0,40}frees? (all|the) memory",
        r"torch\.cuda\.amp",
        r"same as (one|a) batch of 128 in every",
        r"clock.{0,20}`time\.time`[^,]*is",
    ],
)
def test_old_mistakes_are_not_repeated(mistake: str) -> None:
    """What the plan of the lab had wrong stands nowhere on the page."""
    assert not re.search(mistake, PROSE, flags=re.IGNORECASE)
