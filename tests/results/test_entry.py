"""An entry: raw samples, and what a result file keeps of them."""

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
    with pytest.raises(ValueError, match="no sample"):
        entry([], "s", device="cpu")
