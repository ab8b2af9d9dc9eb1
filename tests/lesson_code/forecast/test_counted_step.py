"""The page's counted step is the lesson's."""

import pytest

from lesson_code.forecast.counted_step import print_step

INPUTS, HIDDEN, MIDDLE, CLASSES, BATCH = 784, 256, 128, 10, 64


def test_products_by_hand(capsys: pytest.CaptureFixture[str]) -> None:
    """Forward and for the weights in all layers, for the inputs in all but the first."""
    first, second, third = INPUTS * HIDDEN, HIDDEN * MIDDLE, MIDDLE * CLASSES

    counts = print_step()

    assert 2 * BATCH * (2 * first + 3 * (second + third)) == counts["operations in products"]
    assert 4 == len(capsys.readouterr().out.splitlines())
