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


def test_a_card_is_tested_where_training_speeds_were_compared() -> None:
    """On each other one the forecast says that nothing tests it."""
    tested = {card.id for card in read_cards().values() if card.tested}

    assert tested == {one.point.card for one in accuracy.training()}


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


def test_what_error_correction_takes_changes_no_verdict() -> None:
    """Each published batch would be judged alike by the memory that is on its card's box."""
    cards = {one.point.card: accuracy.card_of(one.point) for one in accuracy.fitted()}
    smaller = [one for one in accuracy.fitted() if cards[one.point.card].box_bytes]

    assert {"a10"} == {one.point.card for one in smaller}
    assert [one.fits for one in smaller] == [
        one.peak_bytes <= formula.MEMORY_SHARE * cards[one.point.card].box_bytes for one in smaller
    ]


@pytest.mark.parametrize(("ratio", "error"), [(2.0, 2.0), (0.5, 2.0), (1.0, 1.0)])
def test_an_error_is_the_same_both_ways(ratio: float, error: float) -> None:
    """Half as long is as wrong as twice as long."""
    assert error == made_up(ratio).error


def test_the_longer_of_two_in_place_of_their_sum() -> None:
    """It counts alone, lengthened where that is asked for, and launches decide as before."""
    one = replace(
        made_up(1.0),
        forecast=formula.Forecast(3.0, 2.0, 4.5, arithmetic=2, traffic=1, launches=2.5),
    )
    other = replace(one, forecast=replace(one.forecast, arithmetic=1, traffic=4))

    assert (2.5, 4.0) == tuple(accuracy.with_the_larger(of).ratio for of in (one, other))
    assert (3.0, 6.0) == tuple(accuracy.with_the_larger(of, 1.5).ratio for of in (one, other))
    assert one.forecast.low == accuracy.with_the_larger(one).forecast.low


def test_the_sum_needs_no_factor_and_the_longer_one_does() -> None:
    """Fitted on the speeds seen, half of which then take longer, it hits fewer of the others."""
    factor = accuracy.larger_factor()
    fitted = [accuracy.with_the_larger(one, factor) for one in accuracy.GROUPS["seen"]()]

    assert len(fitted) // 2 == sum(one.ratio < 0.999 for one in fitted)
    assert accuracy.within("larger") < accuracy.within("larger_fitted") < accuracy.within("unseen")
    assert accuracy.count("larger") == accuracy.count("larger_fitted") == accuracy.count("unseen")


def test_points_by_card() -> None:
    """Each is with its card, the cards in the order of the list, and none without points."""
    cards = accuracy.by_card("training_unseen")

    assert [id for id in read_cards() if id in cards] == list(cards)
    assert all({id} == {one.point.card for one in some} for id, some in cards.items())
    assert accuracy.count("unseen") == sum(map(len, cards.values()))


def test_a_published_time_lies_in_the_band_or_not() -> None:
    """From the forecast's lowest to its highest, both included."""
    assert made_up(1.5).held
    assert made_up(2 / 3).held
    assert not made_up(1.6).held
    assert not made_up(0.6).held


def test_the_band_of_some_points() -> None:
    """The smallest tenth that nine in ten stay within."""
    some = [made_up(1.0 + share / 100) for share in range(1, 11)]

    assert 1.1 == accuracy.band_of(some)
    assert 1.1 == accuracy.band_of([*some[:9], made_up(9.0)])
    assert 1.2 == accuracy.band_of([*some[:8], made_up(1.15), made_up(9.0)])


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


@pytest.mark.parametrize(
    ("group", "cards", "sources"),
    [
        ("launches", {"t4", "v100"}, {"nvidia-resnet50"}),
        ("t4", {"t4"}, {"apple-silicon", "pollux-bert", "pollux-cifar10", "pollux-imagenet"}),
        ("t4_images", {"t4"}, {"pollux-imagenet"}),
        ("t4_text", {"t4"}, {"pollux-bert"}),
        ("t4_colab", {"t4"}, {"apple-silicon"}),
        ("t4_small", {"t4"}, {"pollux-cifar10"}),
        ("timm", {"rtx-3090"}, {"timm-nchw", "timm-nhwc"}),
        ("b200", {"b200"}, {"lambda-v2-fp16", "lambda-v2-fp32"}),
        (
            "new_cards",
            {"a100-80gb-pcie", "b200", "t4"},
            {
                *("apple-silicon", "pollux-bert", "pollux-cifar10", "pollux-imagenet"),
                *("lambda-fp16", "lambda-fp32", "lambda-v2-fp16", "lambda-v2-fp32"),
            },
        ),
    ],
)
def test_a_group_is_of_its_cards_and_sources(
    group: str, cards: set[str], sources: set[str]
) -> None:
    """As a page says of it."""
    some = [one.point for one in accuracy.GROUPS[group]()]

    assert (cards, sources) == ({p.card for p in some}, {p.source.id for p in some})


@pytest.mark.parametrize(
    ("whole", "parts"),
    [
        ("training", ("seen", "unseen")),
        ("unseen", ("t4", "timm", "elsewhere")),
        ("unseen", ("grouped", "ungrouped")),
        ("t4", ("t4_images", "t4_text", "t4_colab", "t4_small")),
    ],
)
def test_groups_share_out_what_they_are_parts_of(whole: str, parts: tuple[str, ...]) -> None:
    """No point is in two of them, and none in neither."""
    shared = [id(one) for part in parts for one in accuracy.GROUPS[part]()]

    assert sorted(map(id, accuracy.GROUPS[whole]())) == sorted(shared)


def test_files_are_groups() -> None:
    """Of all their rows, and what ran or did not is compared row by row."""
    for file, group in (("training_seen", "seen"), ("launches", "launches")):
        assert points.read(file) == [one.point for one in accuracy.GROUPS[group]()]
    fitted = accuracy.fitted()
    steps = [accuracy.step_of(point) for point in points.read("fits")]
    assert points.read("fits") == [one.point for one in fitted]
    assert [step.peak_bytes for step in steps] == [one.peak_bytes for one in fitted]
    assert [one.fits for one in fitted] == [one.share <= formula.MEMORY_SHARE for one in fitted]


def test_networks_with_grouped_convolutions_are_of_four_families() -> None:
    """Each family has a published speed, and those not seen before are a group."""
    families = ("convnext", "efficientnet", "mobilenet", "resnext")
    published, unseen, grouped = (
        {one.point.network for one in accuracy.GROUPS[group]()}
        for group in ("training", "unseen", "grouped")
    )
    known = {network for network in published if network.startswith(families)}

    assert all(any(network.startswith(family) for network in known) for family in families)
    assert known == {network for network in published if network.startswith(accuracy.GROUPED)}
    assert grouped == known & unseen


def test_the_numbers_of_a_group(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six steps of a second: errors of 1, 1.25 twice, 2, 2.01 and 2.5."""
    some = [made_up(ratio) for ratio in (0.4, 0.8, 1.0, 1.25, 2.0, 2.01)]
    some[0] = replace(some[0], point=replace(some[0].point, card="another"))
    some[1:3] = [replace(one, point=replace(one.point, network="another")) for one in some[1:3]]
    monkeypatch.setitem(accuracy.GROUPS, "some", lambda: some)

    assert 6 == accuracy.count("some")
    assert math.sqrt(1.25 * 2) == pytest.approx(accuracy.median_error("some"))
    assert 2.5 == accuracy.worst_error("some")
    assert 3 == accuracy.within("some")
    assert 3 == accuracy.within("some", 1.25)
    assert 4 == accuracy.within_two("some")
    assert 3 == accuracy.held("some")
    assert 2 == accuracy.slower("some")
    assert 2 == accuracy.cards("some")
    assert 2 == accuracy.networks("some")


def test_what_is_new_among_the_points_not_seen_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two cards and one network, of which nothing was seen."""
    point = made_up(1.0).point
    for group, some in (
        ("seen", [("a", "n"), ("b", "m"), ("c", "m")]),
        ("unseen", [("a", "n"), ("d", "o"), ("e", "o"), ("e", "m")]),
    ):
        of = [
            replace(made_up(1.0), point=replace(point, card=card, network=network))
            for card, network in some
        ]
        monkeypatch.setitem(accuracy.GROUPS, group, lambda of=of: of)

    assert (2, 1) == (accuracy.new("card"), accuracy.new("network"))


def test_the_numbers_of_gains(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three of three networks, whose forecasts are a half too high, two times and right.

    A speed without its pair is none.
    """
    some = [made_up(9.0)]
    for network, ratio in (("a", 1.5), ("b", 2.0), ("c", 1.0)):
        plain, short = made_up(ratio), made_up(1.0)
        point = replace(plain.point, network=network, format="float32")
        some += [
            replace(plain, point=point),
            replace(short, point=replace(point, format="float16")),
        ]
    monkeypatch.setitem(accuracy.GROUPS, "some", lambda: some)

    assert 3 == accuracy.gain_count("some")
    assert 2 == accuracy.gains_within("some")
    assert 2.0 == accuracy.worst_gain("some")


def test_a_gain_is_of_the_first_batch_of_each_format_and_author() -> None:
    """Two files of one author are one, and the second batch counts where it is asked for."""
    first = made_up(1.0)
    source = first.point.source
    some = [
        replace(
            first,
            point=replace(
                first.point,
                batch=batch,
                format=format,
                source=replace(source, id=f"someone{ending}"),
            ),
        )
        for batch in (8, 16)
        for format, ending in (("float32", "-fp32"), ("float16", "-fp16"))
    ]

    assert [(8, 8)] == [(g.plain.point.batch, g.short.point.batch) for g in accuracy.gains(some)]
    each = accuracy.gains(some, same_batch=True)
    assert [(8, 8), (16, 16)] == [(g.plain.point.batch, g.short.point.batch) for g in each]


def test_two_authors_have_no_gain() -> None:
    """One published float32 alone, and the other 16 bits."""
    one = made_up(1.0)
    plain, short = (
        replace(
            one, point=replace(one.point, format=format, source=replace(one.point.source, id=id))
        )
        for format, id in (("float32", "somebody"), ("float16", "another"))
    )

    assert [] == accuracy.gains([plain, short])


def test_every_batch_of_a_t4_s_forward_passes_has_a_gain() -> None:
    """Each was published in two formats."""
    of_t4 = [one for one in accuracy.launches() if one.point.card == "t4"]
    errors = [
        accuracy.Gain(plain, short).error
        for plain in of_t4
        for short in of_t4
        if plain.point.batch == short.point.batch and short.point.format == "float16"
        if plain.point.format != "float16"
    ]

    assert len(errors) == accuracy.gain_count_of_t4()
    assert max(errors) == accuracy.worst_gain_of_t4()


def test_a_forward_pass_is_forecast_with_the_software_of_its_time() -> None:
    """57 microseconds a launch, and half as many or few more at the ends."""
    one = accuracy.launches()[0]
    count = accuracy.step_of(one.point).launches

    assert 1 == one.point.batch
    assert count * 57e-6 == one.forecast.time
    assert count * 57e-6 / 1.5 == pytest.approx(one.forecast.low)
    assert count * 57e-6 * 1.5 == pytest.approx(one.forecast.high)


def test_a_step_has_the_counts_of_its_network() -> None:
    """With the point's own format and layout."""
    point = next(p for p in points.read("training_unseen") if p.layout == "channels_last")
    count = points.counts()[point.step.name]
    counted = (count["flop"], count["bytes"], count["convolution_bytes"], count["launches"])

    of = {layout: replace(point, layout=layout) for layout in points.LAYOUTS}
    for layout, last in (("contiguous", False), ("channels_last", True)):
        step = formula.Step(point.format, *counted, 0, 0, count["peak_bytes"], last)
        assert step == accuracy.step_of(of[layout])


def test_bands_and_hosts_are_those_of_the_formula() -> None:
    """A card has its own band or that of most."""
    assert (formula.BAND, read_cards()["t4"].band, formula.BAND) == (
        accuracy.band(),
        accuracy.band("t4"),
        accuracy.band("v100"),
    )
    assert (formula.HOST.low, formula.HOST.high, 57e-6) == tuple(
        map(accuracy.host, ("low", "high", "old"))
    )
    assert (formula.MEMORY_SHARE, formula.GAIN_BAND) == (
        accuracy.memory_share(),
        accuracy.gain_band(),
    )


def test_fits_are_right_where_both_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of a card's memory, needed by four kinds of points: text or not, in 16 bits or not."""
    point = points.read("fits")[0]
    half = accuracy.card_of(point).memory_bytes // 2
    made = [
        accuracy.Fitted(replace(point, network=network, format=format, ran=ran), half, True)
        for network, format, ran in (
            ("bert_base", "float16", True),
            ("bert_base", "float16", False),
            ("bert_base", "float32", True),
            ("resnet50", "float16", False),
            ("resnet50", "float16", True),
            ("resnet50", "float32", True),
        )
    ]
    monkeypatch.setattr(accuracy, "fitted", lambda: made)

    assert 0.5 == made[0].share
    assert (6, 4) == (accuracy.fits(), accuracy.fits(right=True))
    assert (2, 1) == tuple(accuracy.fits(right, text_in_16_bits=True) for right in (False, True))
    assert (4, 3) == tuple(accuracy.fits(right, text_in_16_bits=False) for right in (False, True))
