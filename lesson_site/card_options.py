"""The list from which readers choose a card, in groups, so that one's own is found among many."""

from html import escape

from lesson_code.forecast.cards import Card, read_cards

GAMES, WORK = "GeForce", "Workstations and servers"


def card_groups() -> dict[str, list[Card]]:
    """The cards by the group that they are listed in."""
    groups: dict[str, list[Card]] = {}
    for card in read_cards().values():
        group = GAMES if any(GAMES in name for name in card.called) else WORK
        groups.setdefault(group, []).append(card)
    return groups


def card_options(chosen: str) -> str:
    """What a ``select`` of all cards holds, in HTML that is XML as well.

    Args:
        chosen: The id of the card that is chosen at first.
    """
    return "".join(
        f'<optgroup label="{group}">{"".join(_option(card, chosen) for card in cards)}</optgroup>'
        for group, cards in card_groups().items()
    )


def _option(card: Card, chosen: str) -> str:
    selected = ' selected="selected"' if card.id == chosen else ""
    return f'<option value="{card.id}"{selected}>{escape(card.name)}</option>'
