"""The memory that is counted is what the case would measure, and what the file says."""

import pytest
import torch

from benchmarks.cases.transformer_memory import QUICK
from benchmarks.counted_memory import count
from lesson_code.mission.gpt2 import GPT2
from results.counted_memory import counted_with, read_counted
from results.predictions import LAPTOP, PHASES, Configuration

SMALL = Configuration("small", 4, "pure16", "adam", "selective")


@pytest.mark.skipif(
    counted_with() != torch.__version__.partition("+")[0],
    reason="another PyTorch may have other operations; count again on the newest",
)
@pytest.mark.parametrize("c", [SMALL, LAPTOP[1]], ids=lambda c: c.name)
def test_the_same_again(c: Configuration) -> None:
    """A configuration counted now has the bytes of the file."""
    assert read_counted()[c.name] == count(c)


def test_a_small_model_by_hand() -> None:
    """Its weights, then the optimizer's two vectors, then gradients; the peak holds them all."""
    c = Configuration("small", 2, "fp32", "adam", "none")
    weights = 4 * sum(parameter.numel() for parameter in GPT2(QUICK).parameters())

    found = count(c, QUICK)

    rounding = 0.35  # the allocator's blocks, of a model of so few bytes
    assert tuple(found) == PHASES
    assert found["model"] == pytest.approx(weights, rel=rounding)
    assert found["idle"] == pytest.approx(3 * found["model"], rel=0.1)
    assert found["backward"] == pytest.approx(4 * found["model"], rel=0.1)
    assert found["peak"] >= max(found["forward"], found["backward"])
