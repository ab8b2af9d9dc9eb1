"""Statistics of known samples, and what two measurements give together."""

from collections.abc import Callable

import pytest

from results import summary
from results.summary import Estimate, summarise


def test_summary_of_known_samples() -> None:
    """Median, ends and quartile distance are those of textbook numbers."""
    known = summarise([5.0, 1.0, 2.0, 4.0, 3.0])

    assert known.median == 3.0
    assert (known.smallest, known.largest) == (1.0, 5.0)
    assert known.spread == 2.0
    assert known.noisy


@pytest.mark.parametrize(
    ("samples", "median", "spread"),
    [([2.0], 2.0, 0.0), ([1.0, 3.0], 2.0, 1.0), ([4.0, 1.0, 2.0, 3.0], 2.5, 1.5)],
)
def test_summary_of_few_samples(samples: list[float], median: float, spread: float) -> None:
    """One sample has no spread; between two, quartiles are interpolated."""
    few = summarise(samples)

    assert (median, spread) == (few.median, few.spread)


@pytest.mark.parametrize(("spread", "noisy"), [(0.14, False), (0.15, False), (0.16, True)])
def test_noisy_means_a_spread_over_15_percent(spread: float, noisy: bool) -> None:
    """The mark comes from the quartiles' distance, relative to the median."""
    samples = [100 - 100 * spread, 100 - 50 * spread, 100.0, 100 + 50 * spread, 100 + 100 * spread]

    assert noisy == summarise(samples).noisy


def test_one_outlier_of_five_does_not_make_a_measurement_noisy() -> None:
    """A single disturbed run moves the largest value only."""
    disturbed = summarise([1.0, 1.0, 1.01, 1.01, 9.0])

    assert not disturbed.noisy
    assert disturbed.largest == 9.0
    assert 1.01 == disturbed.median


def test_no_samples_are_refused() -> None:
    """There is no summary of nothing."""
    with pytest.raises(ValueError, match="no sample"):
        summarise([])


def test_ratio_and_share_carry_the_spread() -> None:
    """Relative spreads of 3 % and 4 % make one of 5 %."""
    quotient = summary.ratio(Estimate(10.0, 0.3), Estimate(4.0, 0.16, noisy=True))

    assert quotient.value == 2.5
    assert quotient.spread == pytest.approx(0.125)
    assert quotient.noisy
    assert summary.share(Estimate(3.0), Estimate(4.0)).value == 75.0


def test_saving_and_difference() -> None:
    """What the first saves against the second, and how far they lie apart."""
    after, before = Estimate(30.0, 3.0), Estimate(40.0, 4.0)

    assert summary.saving(after, before).value == 25.0
    assert summary.difference(after, before).value == -10.0
    assert summary.difference(after, before).spread == 5.0


def test_zero_above_the_line_is_a_number_and_below_it_none() -> None:
    """An entry may be zero, such as bytes; nothing is divided by it."""
    assert summary.ratio(Estimate(0.0, 2.0), Estimate(4.0, 1.0)) == Estimate(0.0, 0.5)
    with pytest.raises(ZeroDivisionError):
        summary.ratio(Estimate(4.0), Estimate(0.0))


@pytest.mark.parametrize("of", [summary.ratio, summary.share, summary.saving, summary.difference])
@pytest.mark.parametrize(("first", "second"), [(False, False), (True, False), (False, True)])
def test_what_rests_on_a_noisy_measurement_is_noisy(
    of: Callable[[Estimate, Estimate], Estimate], first: bool, second: bool
) -> None:
    """Whichever of the two it is."""
    found = of(Estimate(30.0, noisy=first), Estimate(40.0, noisy=second))

    assert (first or second) == found.noisy


@pytest.mark.parametrize("of", [summary.share, summary.saving])
def test_the_spread_of_a_percentage_is_one(of: Callable[[Estimate, Estimate], Estimate]) -> None:
    """Relative spreads of 3 % and 4 % make one of 5 %, which is 3.75 of 75."""
    found = of(Estimate(30.0, 0.9), Estimate(40.0, 1.6))

    assert pytest.approx(3.75) == found.spread


def test_no_spread_is_below_zero() -> None:
    """Whatever the sign of what is divided by."""
    found = summary.ratio(Estimate(3.0, 0.5), Estimate(-2.0))

    assert (-1.5, 0.25) == (found.value, found.spread)


def test_a_timed_entry_has_a_rate() -> None:
    """Its amount over its time, as far off as the time is."""
    entry = {
        **{"median": 2.0, "smallest": 1.5, "largest": 2.5, "spread": 0.5, "noisy": True},
        **{"samples": [1.5, 2.0, 2.5], "amount": 10},
    }

    assert Estimate(5.0, 1.25, noisy=True) == summary.rate(entry)
    with pytest.raises(KeyError, match="amount"):
        summary.rate({name: value for name, value in entry.items() if name != "amount"})


def test_an_entry_is_reduced_to_any_of_its_statistics() -> None:
    """What is said of all samples stays beside it."""
    entry = {
        **{"median": 2.0, "smallest": 1.5, "largest": 2.5, "spread": 0.5, "noisy": True},
        "samples": [1.5, 2.0, 2.5],
    }

    kept = {"spread": 0.5, "noisy": True, "samples": 3, "smallest": 1.5, "largest": 2.5}

    assert Estimate(value=2.0, **kept) == summary.estimate(entry)
    assert Estimate(value=1.5, **kept) == summary.estimate(entry, "smallest")


def test_a_number_alone_is_exact() -> None:
    """It rests on no sample, and nothing about it is noisy."""
    alone = Estimate(2.0)

    assert (0.0, 0, False) == (alone.spread, alone.samples, alone.noisy)
    assert (0.0, 0.0) == (alone.smallest, alone.largest)


@pytest.mark.parametrize(("spread", "noisy"), [(15.0, False), (15.1, True)])
def test_noise_below_zero_is_measured_alike(spread: float, noisy: bool) -> None:
    """Samples around minus one hundred are noisy as those around one hundred are."""
    samples = [-100 - spread, -100 - spread / 2, -100.0, -100 + spread / 2, -100 + spread]

    assert noisy == summarise(samples).noisy
