"""The page of Exercise 2 has its parts, says what was corrected, and none of what was wrong."""

import re
from pathlib import Path

import pytest

TEXT = Path("docs/lab/exercise-2.md").read_text(encoding="utf-8")
WORDS = " ".join(TEXT.split())
TODOS = ["2.1", "2.2", "2.3", "2.4", "2.5", "2.6", "2.7", "2.8"]


@pytest.mark.parametrize("anchor", ["why", "start", "todos", "hints", "solution", "report"])
def test_other_pages_can_link_here(anchor: str) -> None:
    """The sections keep the names under which they are linked."""
    assert re.search(rf"^## .+ \{{ #{anchor} \}}$", TEXT, flags=re.MULTILINE)


def test_every_todo_can_be_ticked_and_has_a_hint_and_a_solution() -> None:
    """Eight of each, the hints before the solutions."""
    ticks = re.findall(r"^- \[ \] \*\*(2\.\d)\*\*", TEXT, flags=re.MULTILINE)
    hints = re.findall(r'^\?\?\? tip "(2\.\d) ', TEXT, flags=re.MULTILINE)
    solved = re.findall(r'^\?\?\? success "(.+)"$', TEXT, flags=re.MULTILINE)

    assert ticks == TODOS
    assert hints == TODOS
    assert sorted(re.findall(r"2\.\d", " ".join(solved))) == TODOS
    assert TEXT.index("??? tip") < TEXT.index("??? success")


@pytest.mark.parametrize(
    "command",
    [
        "python -m lesson_code.lab start my-lab",
        "python -m lesson_code.lab check 2 my-lab/02_amp_training.py",
    ],
)
def test_the_learner_is_told_how_to_begin(command: str) -> None:
    """Both commands stand on the page, in a form that can be typed."""
    assert f"\n$ {command}\n" in TEXT


@pytest.mark.parametrize(
    "fact",
    [
        # C51: only what its makers have published
        "OPT-175B was trained on [[lab.opt_175b_gpus]] GPUs",
        "Llama 3 was trained in bfloat16",
        "For models whose makers have published no details, nobody outside can say",
        # C52
        "usually leaves speed unused",
        "How much is a question for your model and your card",
        # C35, C36
        "The loss belongs inside, the backward pass does not",
        "a scaler that is on for float16, and off for every other format",
        # C24
        'So "half the memory" is a statement about activations',
        # M1 instead of 1.5 to 3 times
        "[[resnet_step.batch_64.float16_speedup]]",
        "[[resnet_step.batch_64.bfloat16_peak_memory_saving]]",
        # before a solution is opened
        "have you read the whole message, and printed `dtype` and `device`",
        "have you tried a smaller batch, and the CPU",
        "The times of a CPU say nothing about a GPU",
        # the first run of a scaler, and checkpoints
        "Step the schedule only when the scale did not fall",
        "the scale, its growth and backoff factors, the growth interval",
    ],
)
def test_the_page_says_what_was_corrected(fact: str) -> None:
    """Facts that earlier material had wrong or left out stand on the page."""
    assert fact in WORDS


@pytest.mark.parametrize(
    "wrong",
    [
        "torch.cuda.amp",
        "every modern",
        "OpenAI",
        "Stable Diffusion",
        "wastes",
        r"1\.5[-–]3",
        r"2[-–]3 ?[×x]",
        "master copy",
        r"scale[^.]{0,30} inside the autocast",
    ],
)
def test_none_of_the_old_claims_stands_here(wrong: str) -> None:
    """What section by section was found to be wrong does not come back."""
    assert not re.search(wrong, WORDS)
