"""The reader's card in the name of a forecast: ``forecast.mnist_64.float32.card.time``.

A reader chooses a card for the whole site, and the browser puts its forecasts in place. What
is written when the site is built holds for the first one.
"""

READERS = "card"
FIRST = "t4"  # the one that Colab lends
NAME = f"forecast.{READERS}"  # the figure that is the card's name


def is_readers(name: str) -> bool:
    """Whether a figure follows the reader's card."""
    return name.startswith("forecast.") and READERS in name.split(".")


def on_card(name: str, card: str) -> str:
    """The figure's name on a card, given by its id; one that does not follow it stays as it is."""
    if not is_readers(name):
        return name
    return ".".join(card if part == READERS else part for part in name.split("."))
