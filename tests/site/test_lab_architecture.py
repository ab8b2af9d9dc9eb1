"""CPU and GPU: the data sheets are cited, and what the page says of them follows from them."""

import tomllib
from pathlib import Path

import pytest

ARCHITECTURE = Path("docs/lab/architecture.md").read_text(encoding="utf-8")
CITED = {
    name: entry
    for path in sorted(Path("results/cited").glob("lab_*.toml"))
    for name, entry in tomllib.loads(path.read_text(encoding="utf-8")).items()
}


def on_the_box(name: str) -> float:
    """The gigabytes under which a card is sold."""
    number, unit = CITED[name]["text"].split("\N{NO-BREAK SPACE}")
    assert "GB" == unit
    return float(number)


@pytest.mark.parametrize(
    "card",
    [
        *("sms", "lanes", "float32", "tf32", "float16", "memory", "bandwidth"),
        *("registers", "l1", "l2", "threads"),
    ],
)
def test_every_row_of_the_card_is_cited(card: str) -> None:
    """No number of a data sheet is typed: both columns name an entry with source and date."""
    assert f"[[hardware.a100.{card}]]" in ARCHITECTURE
    assert f"[[hardware.h100.{card}]]" in ARCHITECTURE


@pytest.mark.parametrize(
    "name", ["rtx3090_memory", "a100_small_memory", "a100_memory", "h100_memory", "h200_memory"]
)
def test_a_card_has_more_bytes_than_its_box_says(name: str) -> None:
    """Between 6 and 8 % more than so many times 10⁹, and at most so many GiB."""
    sold = on_the_box(name)

    assert 1.06 < CITED[name]["value"] / (sold * 10**9) < 1.08
    assert CITED[name]["value"] <= sold * 2**30


@pytest.mark.parametrize("card", ["a100", "h100"])
def test_small_caches_together_are_larger_than_the_second_level(card: str) -> None:
    """Registers and first-level caches of all multiprocessors; the registers alone are not."""
    sms, registers, first, second = (
        CITED[f"{card}_{part}"]["value"] for part in ("sms", "registers", "l1", "l2")
    )

    assert sms * registers < second < sms * (registers + first)


def test_one_large_chip_has_more_in_its_second_level() -> None:
    """So that what holds for the two cards of the page is not told for all."""
    sms, registers, first, second = (
        CITED[f"ad102_{part}"]["value"] for part in ("sms", "registers", "l1", "l2")
    )

    assert sms * (registers + first) < second


def test_threads_are_what_the_multiprocessors_hold() -> None:
    """2,048 on each."""
    for card in ("a100", "h100"):
        assert 2048 * CITED[f"{card}_sms"]["value"] == CITED[f"{card}_threads"]["value"]
