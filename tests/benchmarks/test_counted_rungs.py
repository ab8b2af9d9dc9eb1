"""A turn of a rung is counted as it is written: the bare step, and what is around it."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from benchmarks.counted_rungs import count_turn, rungs
from benchmarks.forecast_steps import recipes
from lesson_code.benchmarks.speed_ladder import BATCH_SIZE
from lesson_code.forecast.counter import StepCounter

RUNGS = {rung.name: rung for rung in rungs()}
BARE = {
    "ladder_resident": ("mnist_64", "float32"),
    "ladder_fused": ("fused_64", "float32"),
    "ladder_autocast": ("fused_64", "bfloat16"),
}
AROUND = ["index", "index", "mul", "add_"]  # images, labels; the loss of a batch, and the sum
IMAGE = 28 * 28 * 4  # bytes
NUMBER = 8  # bytes of a label, and of an image's number


@dataclass
class Named(StepCounter):
    """A counter that keeps the operations' names."""

    names: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def count(self, func: Any, args: Any, kwargs: dict[str, Any], result: Any) -> None:
        """Count one, and keep its name if it is launched."""
        launches = self.launches
        super().count(func, args, kwargs, result)
        name = func._schema.name.removeprefix("aten::")
        self.names += [name] * (self.launches - launches)


@pytest.mark.parametrize("name", RUNGS)
def test_a_turn_is_the_step_and_what_picks_and_sums(name: str) -> None:
    """Four launches more than the step alone, the same products, and the bytes of a batch."""
    of, format = BARE[name]
    bare = next(recipe for recipe in recipes() if recipe.name == of).count(format).step

    turn = RUNGS[name].count(format).step

    picked = BATCH_SIZE * 2 * (IMAGE + NUMBER) + 2 * BATCH_SIZE * NUMBER
    summed = (1 + 1) * 4 + (1 + 1 + 1) * 4
    assert len(AROUND) == turn.launches - bare.launches
    assert (bare.flop, bare.weight_bytes) == (turn.flop, turn.weight_bytes)
    assert picked + summed == turn.bytes - bare.bytes
    assert turn.peak_bytes > 60_000 * IMAGE


def test_a_fused_update_is_two_launches() -> None:
    """One counts the steps, the other updates all weights; else one for each of Adam's lines."""
    names = {}
    for name in ("ladder_resident", "ladder_fused"):
        counter = Named()
        count_turn(RUNGS[name].rung, "float32", counter)
        names[name] = counter.names

    fused, plain = names["ladder_fused"], names["ladder_resident"]
    assert ["_foreach_add_", "_fused_adam_"] == [one for one in fused if one.startswith("_f")]
    assert len(plain) - len(fused) + 2 == sum(one.startswith("_foreach") for one in plain)
    assert sorted(AROUND) == sorted(one for one in fused if one in AROUND)
