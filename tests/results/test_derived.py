"""What is computed from several measurements of one file."""

from typing import Any

from results import derived
from results.derived import Cell
from results.summary import Estimate
from tests.benchmarks.made_up import timed


def cell(width: int, batch_size: int, cpu: float, cuda: float | None) -> Cell:
    """A cell of the sweep."""
    return Cell(width, batch_size, Estimate(cpu), None if cuda is None else Estimate(cuda))


def test_crossover_is_the_width_from_which_on_the_gpu_wins() -> None:
    """A single win below a loss does not count."""
    cells = [cell(64, 64, 2, 1), cell(256, 64, 1, 2), cell(1024, 64, 3, 2), cell(4096, 64, 9, 2)]

    assert derived.smallest_winning_width(cells, batch_size=64) == 1024
    assert derived.largest_speedup(cells) == 4.5
    assert derived.smallest_speedup(cells) == 0.5
    assert derived.smallest_winning_width(cells[:2], batch_size=64) is None
    assert derived.largest_speedup([cell(64, 64, 1, None)]) is None


def test_sweep_cells_come_from_their_entries_names() -> None:
    """Width, batch size and device are read from the name, and sorted."""
    entries = {
        "width_256.batch_16.cpu": timed(3.0),
        "width_64.batch_64.cpu": timed(2.0),
        "width_64.batch_64.cuda": timed(1.0, "cuda"),
        "note": timed(1.0),
    }

    cells = derived.sweep_cells(entries)

    assert [(64, 64), (256, 16)] == [(c.width, c.batch_size) for c in cells]
    assert [2.0, None] == [c.speedup for c in cells]


def product(n: int, cpu_s: float, gpu_s: float | None) -> dict[str, dict[str, Any]]:
    """One size of the matmul case."""
    of = {f"n_{n}.cpu": {"median": cpu_s, "outcome": {"relative_error": 1e-7}}}
    return of if gpu_s is None else {**of, f"n_{n}.cuda_float32": {"median": gpu_s}}


def test_the_size_from_which_on_the_gpu_wins() -> None:
    """A single win among losses does not count, nor does a size that a GPU has not run."""
    entries = {"matmul": product(64, 2, 1) | product(128, 1, 2) | product(256, 3, 1)}

    assert derived.smallest_winning_product(entries, "cuda_float32") == 256
    assert derived.smallest_winning_product({"matmul": product(64, 1, None)}, "cuda_tf32") is None
    assert derived.smallest_winning_product({}, "cuda_float32") is None


def test_an_outcome_is_read_or_missing() -> None:
    """The error that stands beside a time, and nothing where there is none."""
    entries = {"matmul": product(64, 2, 1)}

    assert derived.outcome(entries, "matmul", "n_64.cpu", "relative_error") == 1e-7
    assert derived.outcome(entries, "matmul", "n_64.cuda_float32", "relative_error") is None


def test_a_size_wins_only_with_all_larger_ones_that_both_measured() -> None:
    """A win below a loss is luck, equal is not faster, and one racer alone proves nothing."""
    cpu = {16: 1.0, 64: 2.0, 256: 4.0, 1024: 8.0}

    assert 256 == derived.smallest_winning_size(cpu, {16: 0.5, 64: 2.0, 256: 3.0, 1024: 3.0})
    assert 16 == derived.smallest_winning_size(cpu, {16: 0.5, 64: 1.0, 4096: 99.0})
    assert derived.smallest_winning_size(cpu, {1024: 9.0}) is None
    assert derived.smallest_winning_size(cpu, {}) is None


def test_the_batch_from_which_on_the_race_is_the_gpu_s() -> None:
    """Only the cells of the asked width count, and neither those of a browser nor products."""
    race = {
        "width_64.batch_16.cpu": timed(2.0),
        "width_64.batch_16.cuda": timed(1.0, "cuda"),
        "width_256.batch_16.cpu": timed(1.0),
        "width_256.batch_16.cuda": timed(2.0, "cuda"),
        "width_256.batch_64.cpu": timed(3.0),
        "width_256.batch_64.cuda": timed(2.0, "cuda"),
        "width_256.batch_16.browser_gpu": timed(0.1),
        "product.n_128.browser_cpu": timed(0.1),
    }

    assert {16: 2.0, 64: 2.0} == derived.race_times({"race": race}, 256, "cuda")
    assert 64 == derived.smallest_winning_batch({"race": race}, width="256")
    assert 16 == derived.smallest_winning_batch({"race": race}, width="64")
    assert derived.smallest_winning_batch({"race": race}, width="1024") is None
