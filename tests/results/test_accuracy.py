"""How good the forecast is: the regression over everything that was published."""

import math
from collections import Counter
from dataclasses import replace

import pytest

from lesson_code.forecast import formula
from lesson_code.forecast.cards import read_cards
from results import accuracy, points
from results.accuracy import Compared
from results.points import PointError

ENOUGH = 20  # points of a card for a band of its own


def made_up(ratio: float) -> Compared:
    """A step of a second, forecast as ``ratio`` seconds."""
    point = replace(points.read("training_seen")[0], seconds=1.0)
    return Compared(
        point, formula.Forecast(ratio, ratio / 1.5, ratio * 1.5, ratio / 2, ratio / 2, 0)
    )


@pytest.mark.parametrize("group", ["seen", "launches"])
def test_points_that_chose_the_constants(group: str) -> None:
    """Half are within a quarter, and none is off by more than two times."""
    assert 1.25 >= accuracy.median_error(group)
    assert 2 >= accuracy.worst_error(group)


def test_points_that_chose_nothing() -> None:
    """Half of those not seen before are within a quarter."""
    assert 1.25 >= accuracy.median_error("unseen")


def test_the_band_is_that_of_points_not_seen_before() -> None:
    """Nine in ten of those that are neither a T4's nor an RTX 3090's lie within it."""
    assert ENOUGH <= accuracy.count("elsewhere")
    assert formula.BAND == accuracy.band_of(accuracy.GROUPS["elsewhere"]())


def test_a_card_has_a_band_of_its_own_where_its_points_say_so() -> None:
    """It has enough points that were not seen before, and nine in ten need a wider band."""
    unseen = accuracy.GROUPS["unseen"]()
    counts = Counter(one.point.card for one in unseen)
    bands = {
        card: accuracy.band_of([one for one in unseen if one.point.card == card])
        for card, count in counts.items()
        if count >= ENOUGH
    }
    wider = {card: band for card, band in bands.items() if band > formula.BAND}

    assert wider == {card.id: card.band for card in read_cards().values() if card.band}


def test_the_band_of_a_gain_is_that_of_pairs_not_seen_before() -> None:
    """Nine in ten gains of 16 bits on one card lie within it, of ten pairs at least."""
    pairs = accuracy.gains(accuracy.GROUPS["unseen"]())

    assert 10 <= len(pairs)
    assert formula.GAIN_BAND == accuracy.band_of(pairs)


def test_a_gain_compares_samples() -> None:
    """Two batches of one network on one card, the second twice as large and as long."""
    plain, short = made_up(1.2), made_up(1.5)
    point = replace(plain.point, batch=8, format="tf32")
    plain = replace(plain, point=point)
    short = replace(short, point=replace(point, batch=16, format="float16", seconds=1.0))
    alone = replace(plain, point=replace(point, network="another"))

    (gain,) = accuracy.gains([plain, alone, short])

    assert 2 == gain.published
    assert 1.6 == pytest.approx(gain.forecast)
    assert 1.25 == pytest.approx(gain.error)
    assert [] == accuracy.gains([plain, short], same_batch=True)


def test_a_t4_gains_what_is_forecast() -> None:
    """The wider band of its times is not its gains': its forward passes are within a quarter."""
    assert 1.25 >= accuracy.worst_gain_of_t4()


def test_the_host_takes_as_long_as_was_published() -> None:
    """The band of a launch reaches the longest published one, in whole microseconds."""
    longest = math.ceil(1e6 * accuracy.longest_launch())

    assert longest == round(1e6 * formula.HOST.high)


def test_the_likely_launch_lies_in_the_middle() -> None:
    """It is as many times the shortest as the longest is of it."""
    low, likely, high = formula.HOST

    assert likely == pytest.approx(math.sqrt(low * high), rel=0.02)


def test_memory_is_right_but_for_named_failures() -> None:
    """BERT in float16 was published with other kernels, and one batch ran in one layout alone."""
    wrong = [one.point for one in accuracy.fitted() if not one.right]
    named = [
        point
        for point in wrong
        if (point.network.startswith("bert") and point.format == "float16")
        or (point.network, point.batch) == ("efficientnet_b0", 512)
    ]

    assert named == wrong
    assert all(point.ran for point in named if point.network.startswith("bert"))


@pytest.mark.parametrize(("ratio", "error"), [(2.0, 2.0), (0.5, 2.0), (1.0, 1.0)])
def test_an_error_is_the_same_both_ways(ratio: float, error: float) -> None:
    """Half as long is as wrong as twice as long."""
    assert error == made_up(ratio).error


def test_a_published_time_lies_in_the_band_or_not() -> None:
    """From the forecast's lowest to its highest."""
    assert made_up(1.4).held
    assert not made_up(1.6).held


def test_the_band_of_some_points() -> None:
    """The smallest tenth that nine in ten stay within."""
    some = [made_up(1.0 + share / 100) for share in range(1, 11)]

    assert 1.1 == accuracy.band_of(some)
    assert 1.1 == accuracy.band_of([*some[:9], made_up(9.0)])


def test_a_card_that_is_not_offered_is_refused() -> None:
    """A point on it can't be forecast."""
    point = replace(points.read("launches")[0], card="abacus")

    with pytest.raises(PointError, match="'abacus', which is not offered"):
        accuracy.card_of(point)


def test_a_step_that_nobody_counted_is_refused() -> None:
    """The message names the command that counts."""
    point = replace(points.read("launches")[0], batch=3)

    with pytest.raises(PointError, match=r"resnet50_inference\.b3\.float32.*published_steps"):
        accuracy.step_of(point)


@pytest.mark.parametrize("right", [False, True])
def test_fits_are_counted_by_what_they_are(right: bool) -> None:
    """BERT in float16 and the rest are all that there is."""
    parts = [accuracy.fits(right, text) for text in (True, False)]

    assert accuracy.fits(right) == sum(parts)
