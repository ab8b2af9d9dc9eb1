"""What the file of counted steps says is what the steps do."""

import os

import pytest
import torch

from benchmarks.cases import mixed_precision, step_sweep
from benchmarks.counted_rungs import RungRecipe, rungs
from benchmarks.forecast_steps import Recipe, recipes
from results.forecasts import counted_with, read_steps

RECIPES = {recipe.name: recipe for recipe in recipes()}
AGAIN = (
    *("mnist_64", "resnet_64", "sweep_256_64", "foundations_64", "fused_64", "tiny_32"),
    "large_1024",
)


def test_every_step_is_counted_once() -> None:
    """The file has each recipe in each of its formats, and nothing else."""
    every: list[Recipe | RungRecipe] = [*recipes(), *rungs()]
    expected = {(one.name, format) for one in every for format in one.formats}

    assert expected == read_steps().keys()
    assert len({one.name for one in every}) == len(every)


needs_the_same_torch = pytest.mark.skipif(
    counted_with() != torch.__version__.partition("+")[0] and "COUNT_AGAIN" not in os.environ,
    reason="another PyTorch may have other operations; COUNT_AGAIN=1 counts all the same",
)


@needs_the_same_torch
@pytest.mark.parametrize("name", AGAIN)
def test_the_same_again(name: str) -> None:
    """A step counted now has the counts of the file."""
    recipe = RECIPES[name]

    for format in recipe.formats:
        assert read_steps()[name, format] == recipe.count(format)


@needs_the_same_torch
@pytest.mark.parametrize("rung", list(rungs()), ids=lambda rung: rung.name)
def test_a_rung_the_same_again(rung: RungRecipe) -> None:
    """A rung's turn counted now has the counts of the file."""
    for format in rung.formats:
        assert read_steps()[rung.name, format] == rung.count(format)


def test_sizes_are_the_cases_own() -> None:
    """What is forecast is what the cases measure."""
    assert {f"sweep_{w}_{b}" for w in step_sweep.WIDTHS for b in step_sweep.BATCH_SIZES} <= set(
        RECIPES
    )
    assert mixed_precision.LARGE_BATCH == RECIPES["large_1024"].inputs[0]


def test_batches_grow_linearly() -> None:
    """Twice the batch has twice the products, and as many launches."""
    steps = read_steps()
    small, large = (steps[f"resnet50_{n}", "float32"].step for n in (64, 128))

    assert {"float32": 2 * small.flop["float32"]} == large.flop
    assert small.launches == large.launches


def test_the_residual_network_by_hand() -> None:
    """Each convolution thrice, but for the gradient of the images, which nobody needs."""
    kept = 9 * (32**2 * 784 + 64**2 * 196 + 128**2 * 49)
    changed = 10 * (32 * 64 * 196 + 64 * 128 * 49)
    first, last = 10 * 32 * 784, 128 * 10
    products = 3 * (kept + changed + last) + 2 * first

    assert {"float32": 64 * 2 * products} == RECIPES["resnet_64"].count("float32").step.flop


def test_recomputation_shows() -> None:
    """GPT-2 with less kept needs less memory and computes no less."""
    steps = read_steps()
    everything, fused, again = (
        steps[f"gpt2_8{suffix}", "bfloat16"].step for suffix in ("", "_selective", "_full")
    )

    assert everything.peak_bytes > fused.peak_bytes
    assert everything.peak_bytes > again.peak_bytes
    assert sum(everything.flop.values()) < sum(again.flop.values())


def test_a_recipe_by_hand() -> None:
    """The lesson's model has 235,146 parameters, and six times their products but for the first."""
    step = RECIPES["mnist_64"].count("float32").step
    weights = [784 * 256, 256 * 128, 128 * 10]

    assert {"float32": 64 * (6 * sum(weights) - 2 * weights[0])} == step.flop
    assert isinstance(RECIPES["mnist_64"], Recipe)
