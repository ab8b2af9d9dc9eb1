"""An entry: raw samples, and what a result file keeps of them."""

from typing import Any

import pytest

from results.entry import Entry, entry, read_entry
from results.summary import Estimate

FULL = entry(
    [1.9, 2.0, 2.1],
    "s",
    device="cuda",
    at={"n": 64},
    warmups=[3.0],
    loops=5,
    device_samples=[1.8, 1.9, 2.0],
    seed=0,
    loss=0.0,
    settings={"n": 64},
    amount=100,
    outcome={"relative_error": 1e-7},
)


# All that an entry can have; no two of it are alike.
FIELDS: dict[str, Any] = {
    "unit": "s",
    "device": "cuda",
    "samples": (9.5, 10.0, 11.0),
    "at": {"n": 64},
    "warmups": (3.0, 5.0),
    "loops": 6,
    "device_samples": (0.5, 0.75),
    "seed": 7,
    "loss": 0.25,
    "settings": {"threads": 8},
    "amount": 100.0,
    "outcome": {"relative_error": 1e-7},
}
SAID = {"median": 10.0, "smallest": 9.5, "largest": 11.0, "spread": 0.75, "noisy": False}


def test_an_entry_is_made_of_what_it_is_given() -> None:
    """Each in its place, whichever kind of sequence and of number it was."""
    given = FIELDS | {"amount": 100} | {n: iter(v) for n, v in FIELDS.items() if type(v) is tuple}
    made = entry(given.pop("samples"), given.pop("unit"), **given)

    assert Entry(**FIELDS) == made
    assert isinstance(made.amount, float)
    assert Entry("s", "cpu", (1.0,)) == entry([1], "s", device="cpu")


def test_an_entry_is_written_as_lists_and_numbers() -> None:
    """With what its samples say together; where it was measured is its name's to say."""
    written = {n: list(v) if type(v) is tuple else v for n, v in FIELDS.items() if n != "at"}

    assert written | SAID == Entry(**FIELDS).to_json()


def test_an_estimate_is_one_statistic_of_an_entry() -> None:
    """The median unless another one is asked for, with the spread and the ends beside it."""
    measured = entry([1.0, 2.0, 3.0], "s", device="cpu")

    assert Estimate(2.0, 1.0, True, 3, 1.0, 3.0) == measured.estimate()
    assert 3.0 == measured.estimate("largest").value


def test_rate_divides_the_amount_by_the_time() -> None:
    """With the relative spread of the time."""
    rate = FULL.rate()

    assert rate is not None
    assert 50.0 == rate.value
    assert pytest.approx(2.5) == rate.spread


@pytest.mark.parametrize("without", [{}, {"amount": 0.0}])
def test_an_entry_that_says_no_amount_has_no_rate(without: dict[str, float]) -> None:
    """Nor has one that took no time."""
    assert entry([2.0], "s", device="cpu", **without).rate() is None
    assert entry([0.0], "s", device="cpu", amount=1).rate() is None


def test_a_file_keeps_an_entry_whole() -> None:
    """Written and read again it is the same; a zero of seed or loss is not lost."""
    written = FULL.to_json()

    assert FULL == read_entry(written, {"n": 64})
    assert 2.0 == written["median"]
    assert (0, 0.0) == (written["seed"], written["loss"])


def test_a_file_keeps_nothing_that_an_entry_does_not_have() -> None:
    """Neither empty lists nor zeros that say nothing."""
    kept = {"unit", "device", "median", "smallest", "largest", "spread", "noisy", "samples"}

    assert kept == set(Entry("s", "cpu", (1.0,)).to_json())


def test_an_entry_has_a_sample() -> None:
    """There is nothing to keep of none."""
    for none in ([], iter(())):
        with pytest.raises(ValueError, match="no sample"):
            entry(none, "s", device="cpu")
