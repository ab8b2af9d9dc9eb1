"""The page sets what is counted beside the model."""

import pytest

from lesson_site.mission.counted import counted_panel
from results.counted_memory import configurations, counted_with, read_counted
from results.predictions import PHASES
from results.quantities import write
from tests.lesson_site.mission.test_measured import rows


def test_each_moment_has_model_count_and_difference() -> None:
    """GPT-2 XL at its five moments, close to the model at each."""
    counted = read_counted()["xl.b1.fp32.adam.none"]

    found = rows(counted_panel(), "GPT-2 XL, FP32, AdamW, everything stored, batch 1: counted")

    assert len(PHASES) == len(found)
    assert write(counted["peak"], "gigabytes") == found["Peak of the step"][1]
    assert all(cells[2].endswith(" %") for cells in found.values())


def test_every_configuration_has_its_peak() -> None:
    """In two tables, and all say that they are computed."""
    html = counted_panel()
    every = rows(html, "Every configuration, counted")
    laptop = rows(html, "GPT-2 XL, SGD, full recomputation, counted")

    assert len(list(configurations())) == len(every) + len(laptop)
    assert (
        f"Computed, not measured: counted with the operations of PyTorch {counted_with()}" in html
    )


def test_unreadable_counts_stop_the_build(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the command that writes them."""
    from lesson_site.errors import PageError
    from lesson_site.mission import counted
    from results.counted_memory import CountedMemoryError

    def missing() -> None:
        raise CountedMemoryError("there are no counts")

    monkeypatch.setattr(counted, "read_counted", missing)

    with pytest.raises(PageError, match="there are no counts"):
        counted_panel()
