"""What is computed from several measurements of one file."""

from typing import Any

import pytest

from results import derived, forecasts
from results.derived import Cell, Entries
from results.entry import entry
from results.store import open_store
from results.summary import Estimate
from tests.benchmarks.made_up import placed


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
    assert derived.smallest_speedup([cell(64, 64, 1, None)]) is None


def test_a_crossover_is_that_of_one_batch_size() -> None:
    """Cells of another one say nothing, whichever device was faster in them."""
    cells = [cell(64, 16, 1, 9), cell(64, 64, 3, 2), cell(64, 256, 9, 1), cell(64, 1024, 1, 9)]

    assert [None, 64, 64, None] == [
        derived.smallest_winning_width(cells, size) for size in (16, 64, 256, 1024)
    ]


def test_a_figure_is_computed_from_the_sweep_of_a_file() -> None:
    """By its name, with what a figure gives it; a file without a sweep has none."""
    entries = entries_of(
        "step_sweep",
        width_64__batch_64__cpu=2.0,
        width_64__batch_64__cuda=1.0,
        width_256__batch_64__cpu=2.0,
        width_256__batch_64__cuda=0.5,
    )

    assert 64 == derived.FUNCTIONS["smallest_winning_width"](entries, batch_size=64)
    assert derived.FUNCTIONS["smallest_winning_width"](entries, batch_size=16) is None
    assert 4.0 == derived.FUNCTIONS["largest_speedup"](entries)
    assert 2.0 == derived.FUNCTIONS["smallest_speedup"](entries)
    assert derived.FUNCTIONS["smallest_speedup"]({}) is None


def entries_of(case: str, **seconds: float) -> Entries:
    """The entries of a case that took these times; two underscores in a name stand for a dot."""
    names = {name.replace("__", "."): took for name, took in seconds.items()}
    return placed({case: {name: entry([took], "s", device="") for name, took in names.items()}})


def test_sweep_cells_are_sorted_by_what_they_were_measured_at() -> None:
    """By width and then by batch size, with the device of each entry."""
    entries = entries_of(
        "step_sweep",
        width_256__batch_16__cpu=3.0,
        width_64__batch_64__cpu=2.0,
        width_64__batch_64__cuda=1.0,
    )

    cells = derived.sweep_cells(entries["step_sweep"])

    assert [(64, 64), (256, 16)] == [(c.width, c.batch_size) for c in cells]
    assert [2.0, None] == [c.speedup for c in cells]


def test_an_outcome_is_read_or_missing() -> None:
    """The error that is beside a time, and nothing where there is none."""
    found = entry([2.0], "s", device="cpu", outcome={"relative_error": 1e-7})
    entries = {"matmul": {"n_64.cpu": found}}

    assert derived.outcome(entries, "matmul", "n_64.cpu", "relative_error") == 1e-7
    assert derived.outcome(entries, "matmul", "n_64.cuda_float32", "relative_error") is None


def test_an_epoch_takes_its_steps() -> None:
    """938 batches of 64 are 60,000 images, the last one smaller; without a step there is none."""
    entries = {"step": {"cpu": entry([0.2, 0.1, 0.3], "s", device="cpu")}}

    assert 938 * 0.2 == derived.epoch_of_steps(entries, "step", "cpu", 60_000, 64)
    assert derived.epoch_of_steps(entries, "step", "cuda", 60_000, 64) is None


def test_a_launch_takes_its_share_of_a_step() -> None:
    """The figure of the lesson's model names as many as are counted in its step."""
    entries = {"step": {"cuda": entry([0.0027], "s", device="cuda")}}
    named = open_store().definitions["launches.in_a_step"].fields["arguments"]["launches"]

    launch = derived.time_of_a_launch(entries, "step", "cuda", 27)

    assert Estimate(pytest.approx(0.0001), 0.0, False) == launch
    assert forecasts.figure("forecast.mnist_64.float32.t4.launches").value == named


def test_a_size_wins_only_with_all_larger_ones_that_both_measured() -> None:
    """A win below a loss is luck, equal is not faster, and one racer alone proves nothing."""
    cpu = {16: 1.0, 64: 2.0, 256: 4.0, 1024: 8.0}

    assert 256 == derived.smallest_winning_size(cpu, {16: 0.5, 64: 2.0, 256: 3.0, 1024: 3.0})
    assert 16 == derived.smallest_winning_size(cpu, {16: 0.5, 64: 1.0, 4096: 99.0})
    assert derived.smallest_winning_size(cpu, {1024: 9.0}) is None
    assert derived.smallest_winning_size(cpu, {}) is None


def test_the_batch_from_which_on_the_race_is_the_gpu_s() -> None:
    """Only the cells of the asked width count, and neither those of a browser nor products."""
    race = entries_of(
        "race",
        width_64__batch_16__cpu=2.0,
        width_64__batch_16__cuda=1.0,
        width_256__batch_16__cpu=1.0,
        width_256__batch_16__cuda=2.0,
        width_256__batch_64__cpu=3.0,
        width_256__batch_64__cuda=2.0,
        width_256__batch_16__browser_gpu=0.1,
        product__n_128__browser_cpu=0.1,
    )

    assert {16: 2.0, 64: 2.0} == derived.race_times(race, 256, "cuda")
    assert 64 == derived.smallest_winning_batch(race, width="256")
    assert 16 == derived.smallest_winning_batch(race, width="64")
    assert derived.smallest_winning_batch(race, width="1024") is None


def machine(device: str, product_s: float, copy_s: float) -> Entries:
    """Entries of a made-up machine: a rung, a product of 1e12 FLOP, a copy of 1e9 bytes."""
    return {
        "ladder": {
            f"{device}_textbook": entry([3.0], "s", device=device, amount=60000.0),
            f"{device}_fused": entry([0.5], "s", device=device, amount=60000.0),
        },
        "matmul": {f"n_1.{device}": entry([product_s], "s", device=device, amount=1e12)},
        "copies": {f"{device}_copy": entry([copy_s], "s", device=device, amount=1e9)},
    }


def test_the_limit_is_the_longer_of_arithmetic_and_bytes() -> None:
    """60.4 GFLOP at 1 TFLOP/s take 60 ms, 47 MB at 1 GB/s take 47 ms."""
    assert derived.ladder_limit(machine("cuda", 1.0, 1.0), "cuda") == pytest.approx(0.06042624)
    assert derived.ladder_limit(machine("cuda", 0.1, 1.0), "cuda") == pytest.approx(0.04704)


def test_the_distance_is_how_many_times_the_limit() -> None:
    """Half a second at a limit of 47 ms is more than ten times it."""
    assert derived.ladder_distance(machine("cpu", 0.1, 1.0), "cpu_fused") == pytest.approx(
        0.5 / 0.04704
    )


@pytest.mark.parametrize("case", ["ladder", "matmul", "copies"])
def test_without_a_ceiling_there_is_no_limit(case: str) -> None:
    """A ceiling that was not measured is not guessed, nor is the time of a rung."""
    entries = machine("cpu", 1.0, 1.0)
    del entries[case]

    assert derived.ladder_limit(entries, "cpu") is None
    assert derived.ladder_distance(entries, "cpu_fused") is None
    assert derived.ladder_limit(machine("cuda", 1.0, 1.0), "cpu") is None
    assert derived.ladder_distance(machine("cpu", 1.0, 1.0), "cpu_compiled") is None


def test_a_rung_that_names_no_images_has_no_limit() -> None:
    """Nothing would take no time, and each rung infinitely many times as long."""
    entries = machine("cpu", 1.0, 1.0)
    entries["ladder"]["cpu_textbook"] = entry([3.0], "s", device="cpu")

    assert derived.ladder_limit(entries, "cpu") is None
    assert derived.ladder_distance(entries, "cpu_fused") is None


ARGUMENTS: dict[str, dict[str, Any]] = {
    "smallest_winning_width": {"batch_size": 64},
    "largest_speedup": {},
    "smallest_speedup": {},
    "ladder_limit": {"device": "cpu"},
    "ladder_distance": {"rung": "cpu_fused"},
    "outcome": {"case": "matmul", "entry": "n_64.cpu", "name": "relative_error"},
    "epoch_of_steps": {"case": "step", "entry": "cpu", "samples": 60_000, "batch_size": 64},
    "smallest_winning_batch": {"width": "64"},
    "time_of_a_launch": {"case": "step", "entry": "cuda", "launches": 27},
}


@pytest.mark.parametrize("name", derived.FUNCTIONS)
def test_a_file_without_the_case_gives_no_value(name: str) -> None:
    """Whichever function is asked, by the names that a figure has for its arguments."""
    assert derived.FUNCTIONS[name]({}, **ARGUMENTS[name]) is None
