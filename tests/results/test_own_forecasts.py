"""What a GPU of ours measured is laid beside its forecast."""

import re

import pytest

from lesson_code.forecast import formula
from lesson_code.forecast.cards import read_cards
from results import accuracy, forecasts
from results.own_forecasts import COUNTED, card_called, own
from results.store import open_store
from tests.lesson_site.made_up import made_up_entry
from tests.lesson_site.test_figures import result

T4 = "Tesla T4"


def test_a_measured_step_finds_its_forecast() -> None:
    """On the card that the driver names, in the format of the entry."""
    entries = {"batch_128.cuda_float16": made_up_entry("cnn_step:batch_128.cuda_float16")}

    [one] = own([result({"cnn_step": entries}, gpu=T4)])

    assert forecasts.figure("forecast.resnet18_128.float16.t4.time") == one.forecast
    assert entries["batch_128.cuda_float16"].median == one.seconds
    assert one.where.startswith(T4)


def test_it_lies_in_the_band_or_not() -> None:
    """From the lowest to the highest that was forecast."""
    entries = {"batch_128.cuda_float16": made_up_entry("cnn_step:batch_128.cuda_float16")}
    [one] = own([result({"cnn_step": entries}, gpu=T4)])

    assert (one.forecast.low <= one.seconds <= one.forecast.high) == one.held


@pytest.mark.parametrize(
    ("gpu", "case", "entry"),
    [
        (None, "cnn_step", "batch_8.cpu_float32"),
        ("A card of tomorrow", "cnn_step", "batch_8.cuda_float32"),
        (T4, "resnet_step", "batch_32.cuda_bfloat16"),
        (T4, "cnn_step", "batch_8.cpu_float32"),
        (T4, "cnn_step", "batch_128.cuda_float32_peak"),
    ],
)
def test_what_has_no_forecast_is_left_out(gpu: str | None, case: str, entry: str) -> None:
    """A CPU, an unknown card, a format that the card has not, and what is not a time."""
    entries = {entry: made_up_entry(f"{case}:{entry}")}

    assert [] == own([result({case: entries}, gpu=gpu)])


def test_every_pattern_fits_an_entry_and_a_counted_step() -> None:
    """None is left over from a case that was renamed."""
    names = {target for d in open_store().definitions.values() for target in d.targets}

    for pattern, _ in COUNTED:
        case = pattern.partition(":")[0]
        entries = {
            name.partition(":")[2]: made_up_entry(name)
            for name in names
            if re.fullmatch(pattern, name)
        }

        assert {} != entries
        assert len(entries) == len(own([result({case: entries}, gpu="NVIDIA H200")]))


def test_a_driver_names_one_card() -> None:
    """No two cards are called the same, and every card is called something."""
    called = [name for card in read_cards().values() for name in card.called]

    assert len(called) == len(set(called))
    assert all(card.called for card in read_cards().values())
    assert card_called("NVIDIA GeForce RTX 5090") is None


def test_what_the_page_says_of_our_steps_is_so() -> None:
    """*How good is the forecast?*: all are late, and those of narrow layers are in the band.

    And fewer of all of them are than of the published ones that were not seen before.
    """
    every = own(open_store().results)
    narrow = [one for one in every if re.match(r"two hidden layers of (64|256|1024) ", one.network)]
    unseen = accuracy.compared("training_unseen")

    assert 15 <= len(narrow)
    assert all(one.held for one in narrow)
    assert all(one.late for one in every)
    published = sum(one.error <= formula.BAND for one in unseen) / len(unseen)
    assert sum(one.held for one in every) / len(every) < published
