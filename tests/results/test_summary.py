"""Statistics of known samples, and what two measurements give together."""

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
