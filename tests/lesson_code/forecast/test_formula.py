"""The forecast's arithmetic, by hand and for anything."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lesson_code.forecast.cards import Card
from lesson_code.forecast.formula import (
    BAND,
    HOST,
    Forecast,
    Host,
    Step,
    forecast,
    memory_fits,
)

CARD = Card(
    id="card",
    name="Card",
    memory_bytes=1000,
    bandwidth=100.0,
    peak={"float32": 10.0, "tf32": 40.0, "bfloat16": 80.0},
    sources={},
)
STEP = Step("float32", {"float32": 80}, 850, 170, 0, 3, 100, 910)


def test_by_hand() -> None:
    """80 operations at 80 % of 10 a second, and 850 bytes at 85 % of 100 a second."""
    result = forecast(STEP, CARD)

    assert (10.0, 10.0, 20.0) == (result.arithmetic, result.traffic, result.time)
    assert (20.0 / BAND, 20.0 * BAND) == (result.low, result.high)
    assert "traffic" == result.binds


def test_a_card_with_a_band_of_its_own() -> None:
    """Where a card's own points say so, its band takes the place of the common one."""
    result = forecast(STEP, replace(CARD, band=4.0))

    assert (5.0, 20.0, 80.0) == (result.low, result.time, result.high)


def test_launches() -> None:
    """A step of many small kernels takes as long as the host needs to ask for them."""
    result = forecast(replace(STEP, launches=1000), CARD, Host(1.0, 2.0, 3.0))

    assert (2000.0, 1000.0, 3000.0) == (result.time, result.low, result.high)
    assert "launches" == result.binds


@pytest.mark.parametrize(
    ("format", "channels_last", "seconds"),
    [("float32", False, 10.0), ("tf32", False, 12.0), ("tf32", True, 10.0)],
)
def test_layout(format: str, channels_last: bool, seconds: float) -> None:
    """Tensor cores convert convolutions that have not the channels last; other units do not."""
    step = replace(STEP, format=format, channels_last=channels_last)

    assert seconds == forecast(step, CARD).traffic


def test_without_a_word_the_channels_are_first() -> None:
    """As in a batch of images that nobody has arranged."""
    assert 12.0 == forecast(replace(STEP, format="tf32"), CARD).traffic


def test_tf32() -> None:
    """Products of float32 numbers run at TF32's rate, where there is one."""
    step = replace(STEP, format="tf32")
    old = replace(CARD, peak={"float32": 10.0})

    assert 2.5 == forecast(step, CARD).arithmetic
    assert 10.0 == forecast(step, old).arithmetic == forecast(STEP, old).arithmetic
    assert 1.25 == forecast(replace(step, flop={"bfloat16": 80}), CARD).arithmetic


@pytest.mark.parametrize(
    ("arithmetic", "traffic", "launches", "binds"),
    [
        (3.0, 2.0, 6.0, "launches"),
        (3.0, 2.0, 4.0, "arithmetic"),
        (2.0, 3.0, 4.0, "traffic"),
        (3.0, 2.0, 1.0, "arithmetic"),
    ],
)
def test_what_binds(arithmetic: float, traffic: float, launches: float, binds: str) -> None:
    """The host, where it takes longer than both of the GPU's parts, or else the larger of these."""
    work = arithmetic + traffic

    assert binds == Forecast(work, work, work, arithmetic, traffic, launches).binds


def test_a_format_that_the_card_lacks() -> None:
    """A card without units for a format gets no forecast of it."""
    with pytest.raises(ValueError, match="Card has no units for float16; it has float32, tf32"):
        forecast(replace(STEP, format="float16", flop={"float16": 1}), CARD)


def test_memory() -> None:
    """Tensors can fill 91 % of the memory."""
    assert memory_fits(STEP, CARD)
    assert not memory_fits(replace(STEP, peak_bytes=911), CARD)


counts = st.integers(0, 10**15)
steps = st.builds(
    Step,
    format=st.sampled_from(["float32", "tf32", "bfloat16"]),
    flop=st.dictionaries(st.sampled_from(["float32", "bfloat16"]), counts),
    bytes=counts,
    convolution_bytes=counts,
    launches=st.integers(0, 10**6),
    operations=counts,
    weight_bytes=counts,
    peak_bytes=counts,
    channels_last=st.booleans(),
)


@given(steps)
def test_the_band_holds_the_forecast(step: Step) -> None:
    """The forecast is between its ends, and not below its parts."""
    result = forecast(step, CARD)

    assert result.low <= result.time <= result.high
    assert result.time >= result.arithmetic + result.traffic
    assert result.time >= result.launches


@given(steps, st.sampled_from(["bytes", "convolution_bytes", "launches"]), counts)
def test_more_work_takes_no_less_time(step: Step, what: str, more: int) -> None:
    """A step with more of anything is never faster."""
    larger = replace(step, **{what: getattr(step, what) + more})

    assert forecast(step, CARD).time <= forecast(larger, CARD).time
    assert forecast(step, CARD).high <= forecast(larger, CARD).high


@given(steps, st.floats(1.0, 100.0))
def test_a_faster_card_takes_no_more_time(step: Step, times: float) -> None:
    """A card with all rates raised alike is never slower."""
    faster = replace(
        CARD,
        bandwidth=CARD.bandwidth * times,
        peak={format: rate * times for format, rate in CARD.peak.items()},
    )

    assert forecast(step, faster).time <= forecast(step, CARD).time * (1 + 1e-12)


def test_the_host_is_likely_in_the_middle() -> None:
    """What is likely is as many times the lowest as the highest is of it."""
    assert HOST.likely == pytest.approx((HOST.low * HOST.high) ** 0.5, rel=0.01)
