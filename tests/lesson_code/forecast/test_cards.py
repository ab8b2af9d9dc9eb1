"""Cards are offered with their sources alone."""

from datetime import date
from pathlib import Path

import pytest

from lesson_code.forecast.cards import Card, CardError, Source, read_cards

GOOD = """
[source.sheet]
who = "A maker"
title = "A data sheet"
address = "https://example.org/sheet"
read = 2026-11-23

[card.small]
name = "Small"
memory = { value = 16, source = "sheet" }
bandwidth = { value = 320, source = "sheet" }
float32 = { value = 8.1, source = "sheet" }
"""


def test_cards_of_the_lesson() -> None:
    """Colab's card is there, and every rate of every card has a source at a fixed place."""
    cards = read_cards()

    assert {"memory", "reported", "bandwidth", "float32", "float16"} == set(cards["t4"].sources)
    assert all(
        source.address.startswith("https://")
        for card in cards.values()
        for source in card.sources.values()
    )


def test_rates_are_in_base_units(tmp_path: Path) -> None:
    """The file has GiB, GB/s and TFLOP/s, the card bytes, bytes and operations a second."""
    file = tmp_path / "cards.toml"
    file.write_text(GOOD, encoding="utf-8")
    source = Source(
        id="sheet",
        who="A maker",
        title="A data sheet",
        address="https://example.org/sheet",
        read=date(2026, 11, 23),
    )

    expected = Card(
        id="small",
        name="Small",
        memory_bytes=17_179_869_184,
        bandwidth=320_000_000_000,
        peak={"float32": 8_100_000_000_000},
        sources={"memory": source, "bandwidth": source, "float32": source},
        called=(),
        band=0,
        note="",
        box_bytes=0,
        tested=False,
    )
    assert {"small": expected} == read_cards(file)


def test_what_a_card_may_have_besides(tmp_path: Path) -> None:
    """Names of the driver's, a band, a note and a test; memory is in whole bytes, rates any."""
    file = tmp_path / "cards.toml"
    more = """float16 = { value = 0.5, source = "sheet" }
called = ["Tiny", "Tiny Ti"]
band = 2.5
note = "Slow."
tested = true
"""
    file.write_text(GOOD.replace("value = 16", "value = 15.9") + more, encoding="utf-8")

    card = read_cards(file)["small"]

    assert "17072495002" == str(card.memory_bytes)
    assert {"float32": 8.1e12, "float16": 5e11} == card.peak
    assert (("Tiny", "Tiny Ti"), 2.5, "Slow.") == (card.called, card.band, card.note)
    assert card.tested


def test_what_a_driver_reports_is_the_memory(tmp_path: Path) -> None:
    """In MiB, with a source of its own; what is on the box is kept beside it."""
    file = tmp_path / "cards.toml"
    file.write_text(GOOD + 'reported = { value = 15360, source = "sheet" }\n', encoding="utf-8")

    card = read_cards(file)["small"]

    assert (16_106_127_360, 17_179_869_184) == (card.memory_bytes, card.box_bytes)
    assert ["memory", "reported", "bandwidth", "float32"] == list(card.sources)


def test_error_correction_takes_a_sixteenth_of_four_cards() -> None:
    """To a fifth of a percent of the whole; the others report what is on their box."""
    shares = {
        id: card.memory_bytes / card.box_bytes
        for id, card in read_cards().items()
        if card.box_bytes
    }

    assert ["t4", "l4", "a10", "l40s"] == list(shares)
    assert all(share == pytest.approx(15 / 16, abs=0.002) for share in shares.values())


def test_a_card_of_ones_own() -> None:
    """Six facts in the order of the page make one, without names of the driver's, band and note."""
    card = Card("mine", "my card", 16 * 2**30, 320e9, {"float32": 8.1e12}, {})

    assert ("mine", "my card", 17_179_869_184) == (card.id, card.name, card.memory_bytes)
    assert (320e9, {"float32": 8.1e12}, {}) == (card.bandwidth, card.peak, card.sources)
    assert ((), 0, "", 0) == (card.called, card.band, card.note, card.box_bytes)
    assert not card.tested


# Multiprocessors, CUDA cores of one, clock in GHz, width of the memory in bits, Gbit/s of each.
SHEETS = {
    "rtx-2080-ti": (68, 64, 1.545, 352, 14),
    "rtx-3060": (28, 128, 1.777, 192, 15),
    "rtx-3080": (68, 128, 1.71, 320, 19),
    "rtx-3090": (82, 128, 1.695, 384, 19.5),
    "rtx-4070": (46, 128, 2.475, 192, 21),
    "rtx-4080": (76, 128, 2.505, 256, 22.4),
    "rtx-4090": (128, 128, 2.52, 384, 21),
    "rtx-5070": (48, 128, 2.512, 192, 28),
    "rtx-5070-ti": (70, 128, 2.452, 256, 28),
    "rtx-5080": (84, 128, 2.617, 256, 30),
    "rtx-5090": (170, 128, 2.407, 512, 28),
}
HALF_RATE = 512  # of a multiprocessor's tensor cores each clock, with sums in float32


def test_rates_of_geforce_cards_are_what_their_units_do_at_their_clock() -> None:
    """To a percent; in 16 bits they halve their rate for sums in float32, and TF32 is half of that.

    So nobody's rate with float16 sums, or with sparsity, can be taken for one of these.
    """
    cards = read_cards()
    assert list(SHEETS) == [id for id, card in cards.items() if "GeForce" in card.called[0]]
    for id, (processors, cores, clock, bits, gbits) in SHEETS.items():
        card = cards[id]
        short = processors * HALF_RATE * clock * 1e9
        rates = {"bandwidth": bits / 8 * gbits * 1e9, "float16": short, "bfloat16": short}
        rates |= {"tf32": short / 2, "float32": 2 * processors * cores * clock * 1e9}
        for name, told in {**card.peak, "bandwidth": card.bandwidth}.items():
            assert told == pytest.approx(rates[name], rel=0.01), (id, name)


def test_tf32_gains_on_an_a100_and_its_successors_and_not_on_geforce_cards() -> None:
    """By their peaks; 16 bits double those of a GeForce card that has TF32."""
    cards = [card for card in read_cards().values() if "tf32" in card.peak]
    gains = {card.id: card.peak["tf32"] / card.peak["float32"] for card in cards}

    assert all(gains[id] > 3 for id in ("a100-80gb", "h100", "h200", "b200"))
    for card in cards:
        if card.id in SHEETS:
            assert 1 == pytest.approx(gains[card.id], rel=0.02), card.id
            assert 2 == pytest.approx(card.peak["float16"] / card.peak["float32"], rel=0.02)


def test_old_cards_lack_newer_formats() -> None:
    """A T4, a V100 and an RTX 2080 Ti have no units for TF32 and bfloat16; all others have."""
    lacking = {id: list(card.peak) for id, card in read_cards().items() if len(card.peak) < 4}

    assert ["rtx-2080-ti", "t4", "v100"] == list(lacking)
    assert all(["float32", "float16"] == formats for formats in lacking.values())


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('memory = { value = 16, source = "sheet" }', "", "memory is None"),
        ('bandwidth = { value = 320, source = "sheet" }', "", "bandwidth is None"),
        ("value = 320, ", "", "bandwidth is None"),
        ("value = 320", "value = '320'", "bandwidth is '320', not a number"),
        ("value = 8.1", "value = 0", "float32 is 0, not a number above zero"),
        ("float32 =", "float64 =", "unknown 'float64'"),
        ("float32 =", "tf32 =", "float32 is None"),
        ("float32 =", "tf32 = { value = -1 }\nfloat32 =", "tf32 is -1"),
        ('value = 16, source = "sheet"', "value = 16", "memory has no source"),
        ('value = 16, source = "sheet"', 'value = 16, source = "me"', "memory has no source"),
        ("[card.small]", "[card.small", "can't read"),
        ("[source.sheet]", "[sources.sheet]", "can't read"),
        ('who = "A maker"', "", "can't read"),
    ],
)
def test_a_bad_card_is_refused(tmp_path: Path, old: str, new: str, says: str) -> None:
    """The message says in which file, and what is wrong there."""
    file = tmp_path / "cards.toml"
    file.write_text(GOOD.replace(old, new), encoding="utf-8")

    with pytest.raises(CardError, match=says) as refused:
        read_cards(file)

    assert str(file) in str(refused.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """It is refused as one that can't be read."""
    with pytest.raises(CardError, match="can't read"):
        read_cards(tmp_path / "none.toml")
