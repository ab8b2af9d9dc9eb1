"""Cards are offered with their sources alone."""

from pathlib import Path

import pytest

from lesson_code.forecast.cards import CardError, read_cards

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

    assert {"memory", "bandwidth", "float32", "float16"} == set(cards["t4"].sources)
    assert all(
        source.address.startswith("https://")
        for card in cards.values()
        for source in card.sources.values()
    )


def test_rates_are_in_base_units(tmp_path: Path) -> None:
    """The file has GiB, GB/s and TFLOP/s, the card bytes, bytes and operations a second."""
    file = tmp_path / "cards.toml"
    file.write_text(GOOD, encoding="utf-8")

    card = read_cards(file)["small"]

    assert 16 * 2**30 == card.memory_bytes
    assert 320e9 == card.bandwidth
    assert {"float32": 8.1e12} == card.peak


@pytest.mark.parametrize("id", ["t4", "v100"])
def test_old_cards_lack_newer_formats(id: str) -> None:
    """A T4 and a V100 have no units for TF32 and bfloat16."""
    card = read_cards()[id]

    assert ["float32", "float16"] == list(card.peak)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('bandwidth = { value = 320, source = "sheet" }', "", "bandwidth is None"),
        ("value = 8.1", "value = 0", "float32 is 0, not a number above zero"),
        ("float32 =", "float64 =", "unknown 'float64'"),
        ("float32 =", "tf32 =", "float32 is None"),
        ('value = 16, source = "sheet"', "value = 16", "memory has no source"),
        ('value = 16, source = "sheet"', 'value = 16, source = "me"', "memory has no source"),
        ("[card.small]", "[card.small", "can't read"),
        ("[source.sheet]", "[sources.sheet]", "can't read"),
        ('who = "A maker"', "", "can't read"),
    ],
)
def test_a_bad_card_is_refused(tmp_path: Path, old: str, new: str, says: str) -> None:
    """The message says which card and what is wrong with it."""
    file = tmp_path / "cards.toml"
    file.write_text(GOOD.replace(old, new), encoding="utf-8")

    with pytest.raises(CardError, match=says):
        read_cards(file)
