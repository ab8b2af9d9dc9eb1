"""What a GPU of ours measured is laid beside its forecast."""

import re

import pytest

from lesson_code.forecast import formula
from lesson_code.forecast.cards import read_cards
from results import accuracy, forecasts
from results.own_forecasts import COUNTED, Own, card_of, own
from results.store import open_store
from tests.lesson_site.made_up import made_up_entry
from tests.lesson_site.test_figures import result

T4 = "Tesla T4"


@pytest.mark.parametrize(
    ("case", "entry", "step"),
    [
        ("step_sweep", "width_64.batch_256.cuda", "sweep_64_256.float32"),
        ("mixed_precision", "mnist.cuda_float16", "mnist_64.float16"),
        ("mixed_precision", "large.cuda_float16", "large_1024.float16"),
        ("small_resnet", "batch_64.cuda_float16", "resnet_64.float16"),
        ("small_resnet", "mnist.cuda", "mnist_64.float32"),
        ("cnn_step", "batch_128.cuda_float16", "resnet18_128.float16"),
        ("resnet_step", "batch_64.cuda_float16", "resnet50_64.float16"),
        (
            "resnet_step",
            "batch_64.cuda_float16_channels_last",
            "resnet50_64_channels_last.float16",
        ),
    ],
)
def test_a_measured_step_finds_its_forecast(case: str, entry: str, step: str) -> None:
    """On the card that the driver names, in the format of the entry."""
    entries = {entry: made_up_entry(f"{case}:{entry}")}

    [one] = own([result({case: entries}, gpu=T4)])

    assert forecasts.figure(f"forecast.{step}.t4.time") == one.forecast
    assert entries[entry].median == one.seconds
    assert one.where.startswith(T4)


@pytest.mark.parametrize(
    ("end", "factor", "held", "late"),
    [
        ("low", 0.999, False, False),
        ("low", 1.0, True, False),
        ("value", 1.0, True, False),
        ("value", 1.001, True, True),
        ("high", 1.0, True, True),
        ("high", 1.001, False, True),
    ],
)
def test_it_lies_in_the_band_or_not(end: str, factor: float, held: bool, late: bool) -> None:
    """From the lowest to the highest that was forecast; beyond the likely time it is late."""
    figure = forecasts.figure("forecast.resnet18_128.float16.t4.time")
    one = Own(figure, factor * getattr(figure, end), "")

    assert (held, late) == (one.held, one.late)
    assert one.seconds / figure.value == one.ratio


def test_a_step_is_named_in_words() -> None:
    """Network and optimizer, then the batch, the format and the card."""
    one = Own(forecasts.figure("forecast.resnet18_128.float16.t4.time"), 1.0, "")

    assert "ResNet-18 and momentum" == one.network
    assert "ResNet-18 and momentum, batches of 128 photographs, float16, T4" == one.step


def test_every_machine_comes_by_its_name() -> None:
    """Its own software, whatever was measured first, and CPUs are left out."""
    entry = "batch_128.cuda_float16"
    entries = {"cnn_step": {entry: made_up_entry(f"cnn_step:{entry}")}}
    ran = [result(entries, gpu=gpu) for gpu in (T4, None, "NVIDIA H200")]
    for one in ran:
        one.provenance["machine"] = str(one.provenance["gpu"])

    assert [ran[2].where, ran[0].where] == [one.where for one in own(ran)]


def test_one_file_speaks_for_a_machine() -> None:
    """The first that measured the case; an older one with the same case is left out."""
    target = "cnn_step:batch_128.cuda_float16"
    slower = {"batch_128.cuda_float16": made_up_entry(target, noisy=True)}
    same = {"batch_128.cuda_float16": made_up_entry(target)}
    nothing, first, second = (
        result(cases, gpu=T4, date=f"2026-11-2{day}")
        for day, cases in ((3, {}), (2, {"cnn_step": same}), (1, {"cnn_step": slower}))
    )

    assert [first.where] == [one.where for one in own([nothing, first, second])]


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
    assert card_of({"gpu": "NVIDIA GeForce RTX 2060"}) is None
    assert card_of({"gpu": "NVIDIA A10G"}) is None


@pytest.mark.parametrize(
    ("gpu", "mib", "card"),
    [
        ("NVIDIA GeForce RTX 3080", 9_995, "rtx-3080"),
        ("NVIDIA GeForce RTX 3080", 12_043, None),
        ("NVIDIA GeForce RTX 3060", 12_044, "rtx-3060"),
        ("NVIDIA GeForce RTX 3060", 8_192, None),
        ("NVIDIA H100 80GB HBM3", 81_079, "h100"),
        ("NVIDIA L4", 22_564, "l4"),
    ],
)
def test_cards_of_one_name_are_told_apart_by_their_memory(
    gpu: str, mib: int, card: str | None
) -> None:
    """PyTorch reports a little less than the card has, and another card far more or less."""
    found = card_of({"gpu": gpu, "gpu_details": {"memory_bytes": mib * 2**20}})

    assert card == (found.id if found else None)


def test_what_the_page_says_of_our_steps_is_so() -> None:
    """*How good is the forecast?* (and *Forecast*): all are late, narrow layers are in the band.

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
