"""A forecast by name is the formula's, for the counts that the file has."""

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from lesson_code.forecast.cards import CardError, read_cards
from lesson_code.forecast.formula import GAIN_BAND, HOST, Step, forecast
from results import forecasts
from results.forecasts import (
    CountedStep,
    ForecastError,
    ForecastFigure,
    counted_with,
    figure,
    read_steps,
    times_the_arithmetic,
    write_steps,
)
from results.quantities import SPACE, coarse, write
from results.store import FigureError, Store
from results.timeline import trip_of

HEAVY = Step("float32", {"float32": 10**12}, 10**10, 0, 100, 90, 10**8, 10**9)
LIGHT = Step("float32", {"float32": 10**3}, 10**4, 0, 30, 27, 10**6, 5 * 10**6)
HALF = Step("float16", {"float16": 10**12}, 5 * 10**9, 0, 150, 140, 10**8, 10**9)


@pytest.fixture
def steps(tmp_path: Path) -> Path:
    """A file with three counted steps."""
    counted = [
        CountedStep("heavy", "a heavy step", 32, HEAVY),
        CountedStep("heavy", "a heavy step", 32, HALF),
        CountedStep("light", "a light step", 8, LIGHT),
    ]
    path = tmp_path / "steps.json"
    write_steps(counted, "2.15.0", path)
    return path


def of(name: str, steps: Path) -> ForecastFigure:
    """The figure of that name, its first word left out."""
    return figure(f"forecast.{name}", steps)


def test_what_is_written_is_read(steps: Path) -> None:
    """Counts survive the file, and so does the version of PyTorch whose operations they are."""
    assert CountedStep("heavy", "a heavy step", 32, HALF) == read_steps(steps)["heavy", "float16"]
    assert 3 == len(read_steps(steps))
    assert "2.15.0" == counted_with(steps)


def test_changed_counts_are_read_again(steps: Path) -> None:
    """A forecast that was asked for before is that of the new counts."""
    before = of("heavy.float32.t4.launches", steps)

    write_steps([CountedStep("heavy", "a heavy step", 32, LIGHT)], "2.15.0", steps)
    os.utime(steps, ns=(0, 0))

    assert (100.0, 30.0) == (before.value, of("heavy.float32.t4.launches", steps).value)


def test_time(steps: Path) -> None:
    """A forecast has its band, and says so with one digit."""
    expected = forecast(HEAVY, read_cards()["t4"])

    found = of("heavy.float32.t4.time", steps)

    assert (expected.time, expected.low, expected.high) == (found.value, found.low, found.high)
    assert "s" == found.unit
    assert write(found.value, "s", coarse(found.value)) == found.text
    assert re.fullmatch(r"(1[.\d]\d*|0?\.?[1-9]0*)\s(m|µ)?s", found.text)
    assert str(HEAVY.operations) in found.source.split()
    counted = of("heavy.float32.t4.memory", steps)
    assert [True, False] == ["forecast" in each.source for each in (found, counted)]


def test_a_figure_says_what_it_is_of(steps: Path) -> None:
    """Whatever it is, its name, the step, its format and the card's name; no two say the same."""
    card = read_cards()["h100"]
    found = {
        quantity: of(f"heavy.float16.h100.{quantity}", steps)
        for quantity in ("time", "rate", "epoch", "sent_rate", "memory", "launches", "gain")
    }

    for quantity, one in found.items():
        assert f"forecast.heavy.float16.h100.{quantity}" == one.name
        assert one.what.endswith(f": a heavy step, float16, {card.name}")
        assert one.name not in one.what
        if quantity not in ("memory", "launches"):
            assert write(one.value, one.unit, coarse(one.value)) == one.text
    assert 7 == len({one.what for one in found.values()})
    assert ["s", "samples_per_s", "s", "samples_per_s", "gigabytes", "count", "times"] == [
        one.unit for one in found.values()
    ]


def test_rate(steps: Path) -> None:
    """Samples in a second are the batch over the time, and the band is turned round."""
    time, rate = of("heavy.float32.t4.time", steps), of("heavy.float32.t4.rate", steps)

    assert 32 / time.value == rate.value
    assert (32 / time.high, 32 / time.low) == (rate.low, rate.high)


def test_a_rate_with_the_trip_of_each_batch(steps: Path) -> None:
    """Batches of MNIST: what is slowest and what is fastest come together."""
    time, sent = of("heavy.float32.t4.time", steps), of("heavy.float32.t4.sent_rate", steps)
    trip = trip_of(32 * (28 * 28 * 4 + 8))

    assert pytest.approx(32 / (time.value + trip.likely)) == sent.value
    assert pytest.approx(32 / (time.high + trip.worst)) == sent.low
    assert pytest.approx(32 / (time.low + trip.best)) == sent.high
    assert of("heavy.float32.t4.rate", steps).source in sent.source
    assert of("heavy.float32.t4.rate", steps).source != sent.source


def test_epoch(steps: Path) -> None:
    """An epoch of MNIST has as many steps as batches, the last and smaller one included."""
    time, epoch = of("heavy.float32.t4.time", steps), of("heavy.float32.t4.epoch", steps)

    assert 1875 * time.value == epoch.value
    assert (1875 * time.low, 1875 * time.high) == (epoch.low, epoch.high)
    assert "1875 steps" in epoch.what


@pytest.mark.parametrize(("batch", "count"), [(60_000, 1), (59_999, 2)])
def test_an_epoch_has_every_image(steps: Path, batch: int, count: int) -> None:
    """One that does not fit into a batch needs another one."""
    write_steps([CountedStep("light", "a light step", batch, LIGHT)], "2.15.0", steps)
    time, epoch = of("light.float32.t4.time", steps), of("light.float32.t4.epoch", steps)

    assert count * time.value == epoch.value


def test_memory(steps: Path) -> None:
    """Memory is counted and has no band."""
    found = of("light.float32.t4.memory", steps)

    assert 5e6 == found.value == found.low == found.high
    assert f"5.00{SPACE}MB" == found.text
    assert f"1.00{SPACE}GB" == of("heavy.float32.t4.memory", steps).text
    assert str(LIGHT.operations) in found.source.split()


def test_counted_launches(steps: Path) -> None:
    """Launches are counted, and are the same on every card."""
    assert "30" == of("light.float32.t4.launches", steps).text
    assert "30" == of("light.float32.h100.launches", steps).text


def test_launches(steps: Path) -> None:
    """A light step takes what the host takes to ask for it, on every card."""
    small, large = (of(f"light.float32.{card}.time", steps) for card in ("t4", "h100"))

    assert small.value == large.value == 30 * HOST.likely


def test_gain(steps: Path) -> None:
    """A gain compares two forecasts on one card, and has a band of its own."""
    card = read_cards()["t4"]

    found = of("heavy.float16.t4.gain", steps)

    assert forecast(HEAVY, card).time / forecast(HALF, card).time == found.value
    assert found.value / GAIN_BAND == found.low
    assert found.value * GAIN_BAND == found.high


def test_a_gain_is_compared_on_one_host(steps: Path) -> None:
    """Where launches decide one of the two, a fast host gains more than a slow one."""
    card = read_cards()["t4"]
    asked = Step("float16", {"float16": 10**6}, 10**6, 0, 2000, 2000, 10**8, 10**9)
    plain = CountedStep("heavy", "a heavy step", 32, HEAVY)
    write_steps([plain, replace(plain, step=asked)], "2.15.0", steps)
    work = forecast(HEAVY, card).time

    found = of("heavy.float16.t4.gain", steps)

    assert work / (2000 * HOST.likely) == pytest.approx(found.value)
    assert work / (2000 * HOST.high) / GAIN_BAND == pytest.approx(found.low)
    assert work / (2000 * HOST.low) * GAIN_BAND == pytest.approx(found.high)


def test_a_gain_over_many_launches_is_compared_on_one_host_too(steps: Path) -> None:
    """Where launches decide float32's time, it is a slow host that gains most."""
    asked = Step("float32", {"float32": 10**6}, 10**6, 0, 20_000, 20_000, 10**8, 10**9)
    plain = CountedStep("heavy", "a heavy step", 32, asked)
    write_steps([plain, replace(plain, step=HALF)], "2.15.0", steps)
    work = forecast(HALF, read_cards()["t4"]).time

    found = of("heavy.float16.t4.gain", steps)

    assert 20_000 * HOST.low / work / GAIN_BAND == pytest.approx(found.low)
    assert 20_000 * HOST.high / work * GAIN_BAND == pytest.approx(found.high)


def test_tf32(steps: Path) -> None:
    """TF32 takes float32's counts."""
    assert of("heavy.tf32.h100.time", steps).value < of("heavy.float32.h100.time", steps).value


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("heavy.float32.time", "is not the name of a forecast"),
        ("hevy.float32.t4.time", "there is no step 'hevy'; there is heavy"),
        ("light.float16.t4.time", "light was counted in float32, not in float16"),
        ("light.float64.t4.time", "there is no format 'float64'"),
        ("light.float32.rtx4090.time", "there is no card 'rtx4090'; there is rtx-4090"),
        ("light.float32.t4.tme", "there is no quantity 'tme'; there is time"),
        (
            "light.float32.rtx-6090.time",
            "there is no card 'rtx-6090'; there is rtx-5090, rtx-4090, rtx-3090",
        ),
        ("light.float32.t4.q", "there is no quantity 'q'; there is epoch, gain, launches"),
        ("heavy.bfloat16.t4.time", "heavy was counted in float32, float16, not in bfloat16"),
    ],
)
def test_a_wrong_name_is_refused(steps: Path, name: str, says: str) -> None:
    """The message names it and says which word is wrong, and at most three that are near."""
    with pytest.raises(ForecastError, match=re.escape(says)) as refused:
        of(name, steps)

    assert f"forecast.{name}" in str(refused.value)
    assert 3 > str(refused.value).count(", ")


def test_a_gain_over_what_was_not_counted_is_refused(steps: Path) -> None:
    """A step that was counted in 16 bits alone has none."""
    write_steps([CountedStep("new", "a new step", 1, HALF)], "2.15.0", steps)

    with pytest.raises(ForecastError, match=r"^forecast\.new\.float16\.t4\.gain: new was counted"):
        of("new.float16.t4.gain", steps)


def test_a_name_of_another_kind_is_refused(steps: Path) -> None:
    """It is not taken for that of a forecast."""
    with pytest.raises(ForecastError, match=r"published\.light.* is not the name of a forecast"):
        figure("published.light.float32.t4.time", steps)


def test_cards_that_can_not_be_read_are_named(steps: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As their own message says."""

    def fail() -> None:
        raise CardError("can't read cards.toml")

    monkeypatch.setattr(forecasts, "read_cards", fail)

    with pytest.raises(ForecastError, match=r"can't read cards\.toml"):
        of("heavy.float32.t4.rate", steps)


def test_counts_that_are_not_there_are_refused(tmp_path: Path) -> None:
    """The message says what writes them."""
    with pytest.raises(ForecastError, match=r"can't read .*steps\.json.*benchmarks count"):
        of("heavy.float32.t4.time", tmp_path / "steps.json")


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"torch": "2.15.0"}', '{"steps": [{"name": "a"}]}']
)
def test_broken_counts_are_refused(tmp_path: Path, content: str) -> None:
    """The message says which file, and what writes it."""
    path = tmp_path / "steps.json"
    path.write_text(content, encoding="utf-8")

    with pytest.raises(ForecastError, match=r"can't read .*steps\.json.*benchmarks count"):
        figure("forecast.a.float32.t4.time", path)


def test_a_card_without_the_format(steps: Path) -> None:
    """A T4 computes nothing in bfloat16."""
    bf16 = Step("bfloat16", {"bfloat16": 1}, 1, 0, 1, 1, 1, 1)
    write_steps([CountedStep("new", "a new step", 1, bf16)], "2.15.0", steps)

    with pytest.raises(ForecastError, match="no units for bfloat16"):
        of("new.bfloat16.t4.time", steps)


def test_the_arithmetic_of_two_steps_is_compared() -> None:
    """Twice the photographs have twice the products; a step that nobody counted has none."""
    assert 2.0 == times_the_arithmetic("resnet50_128", "resnet50_64")
    with pytest.raises(ForecastError, match="there is no step 'resnet51_64'"):
        times_the_arithmetic("resnet51_64", "resnet50_64")


def test_pages_and_claims_name_a_forecast_without_a_catalogue_entry() -> None:
    """A time is a forecast with its band; memory is counted, so it has none and is exact."""
    store = Store([])
    time, memory = (
        store.figure(f"forecast.mnist_64.float32.t4.{quantity}") for quantity in ("time", "memory")
    )

    assert ("forecast", "exact") == (time.kind, memory.kind)
    assert time.value is not None
    assert time.low is not None
    assert time.high is not None
    assert time.low < time.value < time.high
    assert " to " in time.band
    assert "" == memory.band
    assert {time.name: time.value} == store.values([time.name])


def test_a_wrong_name_of_a_forecast_is_a_wrong_figure() -> None:
    """A page that names a card that nobody lists stops the build with near names."""
    with pytest.raises(FigureError, match="there is no card 't5'"):
        Store([]).figure("forecast.mnist_64.float32.t5.time")
