"""A list of cards offers each once, in groups, in the order of every table."""

from xml.etree import ElementTree

from lesson_code.forecast.cards import read_cards
from lesson_site.card_options import card_groups, card_options


def test_a_group_is_a_kind_of_card() -> None:
    """Those that the driver calls GeForce, the oldest first; then the others."""
    groups = card_groups()
    games, work = groups.values()

    assert ["GeForce", "Workstations and servers"] == list(groups)
    assert all("GeForce" in name for card in games for name in card.called)
    assert not any("GeForce" in name for card in work for name in card.called)
    assert list(read_cards().values()) == [*games, *work]


def test_geforce_cards_are_in_the_order_of_their_numbers() -> None:
    """An RTX 3060 comes before an RTX 3090, which comes before an RTX 4090."""
    names = [card.name.partition(" (")[0] for card in card_groups()["GeForce"]]

    assert sorted(names) == names


def test_every_card_is_offered_and_one_is_chosen() -> None:
    """Each by its id and its name."""
    listed = ElementTree.fromstring(f"<select>{card_options('h100')}</select>")

    options = {option.get("value"): option.text for option in listed.iter("option")}
    assert {id: card.name for id, card in read_cards().items()} == options
    assert ["h100"] == [o.get("value") for o in listed.iter("option") if o.get("selected")]
    assert list(card_groups()) == [group.get("label") for group in listed]
