"""Cards are offered with their sources alone."""

from pathlib import Path

import pytest

from lesson_code.forecast.cards import CardError, read_cards

GOOD = """
[small]
name = "Small"
memory_bytes = 1
bandwidth = 2.0
[small.peak]
float32 = 3.0
[small.sources]
all = "a datasheet"
"""


def test_cards_of_the_lesson() -> None:
    """Colab's card is there, and every rate has a source."""
    cards = read_cards()

    assert 16e9 < cards["t4"].memory_bytes < 18e9
    assert all(card.peak["float32"] > 1e12 < card.bandwidth * 10 for card in cards.values())


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("bandwidth = 2.0\n", "", "bandwidth"),
        ("float32 = 3.0", "float32 = 0", "float32 is 0, not a number above zero"),
        ("float32 = 3.0", "float64 = 3.0", "peak has float64"),
        ("float32 = 3.0", "tf32 = 3.0", "peak has no float32"),
        ('all = "a datasheet"', 'bandwidth = "a page"', "memory_bytes has no source"),
        ("[small]", "[small", "can't read"),
    ],
)
def test_a_bad_card_is_refused(tmp_path: Path, old: str, new: str, says: str) -> None:
    """The message says which card and what is wrong with it."""
    file = tmp_path / "cards.toml"
    file.write_text(GOOD.replace(old, new), encoding="utf-8")

    with pytest.raises(CardError, match=says):
        read_cards(file)
