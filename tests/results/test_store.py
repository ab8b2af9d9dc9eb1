"""What the store takes from its sources, and what it says where they lack something."""

from dataclasses import replace
from typing import Any

import pytest

from results import recorded
from results.catalogue import Definition
from results.store import (
    NOT_MEASURED,
    FigureError,
    Result,
    Store,
    newest,
    open_store,
    skipped_of,
    sort_results,
)
from tests.lesson_site.test_figures import result


def of_machine(name: str, date: str, gpu: str | None = None) -> Result:
    """A result file of a machine of that name, without a single entry."""
    found = result({}, gpu, date)
    return replace(found, provenance={**found.provenance, "machine": name})


def cited(entry: dict[str, Any] | None) -> Store:
    """A store with one figure, and the entry that it cites."""
    figure = Definition("card.memory", "memory of a card", "cited", "GB", {"cited": "card"})
    return Store([figure], citations={} if entry is None else {"card": entry})


ENTRY = {"value": 24e9, "unit": "gigabytes", "source": "A maker, a card", "date": "2026-11-21"}


def test_the_newest_machines_of_each_kind_are_kept_in_their_order() -> None:
    """The one that was measured first goes, whichever stands first; a GPU's place is its own."""
    files = [
        of_machine("a-gpu", "2026-11-01", gpu="A GPU"),
        of_machine("old", "2026-11-02"),
        of_machine("new", "2026-11-04"),
        of_machine("newer", "2026-11-05"),
    ]

    kept = [file.provenance["machine"] for file in newest(iter(files), most=2)]

    assert ["a-gpu", "new", "newer"] == kept


def test_machines_with_a_gpu_come_first_whatever_they_measured() -> None:
    """A file of a few cases is behind a full one of its own machine alone."""
    full = result({case: {} for case in open_store().results[-1].cases})
    files = sort_results([full, of_machine("a-gpu", "2026-11-01", gpu="A GPU")])

    assert ["A GPU", None] == [file.provenance["gpu"] for file in files]


def test_a_part_that_was_skipped_keeps_its_reason() -> None:
    """Under its own name; what was measured has none."""
    parts = {"cuda": {"skipped": "no GPU"}, "cpu": {"entries": {}}}

    assert {"cuda": "no GPU"} == skipped_of(parts)


def test_one_thread_is_said_in_the_singular() -> None:
    """And two in the plural."""
    one = result({})
    one.provenance["threads"] = 1

    assert ["1 thread", "2 threads"] == [one.threads, result({}).threads]


def test_a_citation_gives_its_value_and_where_it_was_read() -> None:
    """With the address and the day where it has one, and in the digits of its source."""
    figure = cited(ENTRY | {"url": "https://maker.example/card"}).figure("card.memory")

    assert "published" == figure.kind
    assert "A maker, a card, https://maker.example/card, read on 2026-11-21" == figure.source
    assert figure.text.startswith("24")
    assert "A maker, a card" == cited(ENTRY).figure("card.memory").source
    assert "24,576 MiB" == cited(ENTRY | {"text": "24,576 MiB"}).figure("card.memory").text


def test_a_citation_that_is_not_in_the_list_is_named() -> None:
    """With the figure that wants it, and the file."""
    with pytest.raises(FigureError, match=r"no entry 'card'; card\.memory cites it"):
        cited(None).figure("card.memory")


def counted(at: list[str | int]) -> Store:
    """A store with one figure, which a recorded printout gives."""
    fields = {"recorded": "lab/memory_dashboard:print_curve", "at": at}
    return Store([Definition("lab.counted", "a printed number", "recorded", "count", fields)])


def test_a_recording_that_nobody_made_says_what_makes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The figure has no value yet."""
    monkeypatch.setattr(recorded, "read", lambda _: None)

    figure = counted([0]).figure("lab.counted")

    assert ("lab.counted", None, NOT_MEASURED) == (figure.name, figure.value, figure.text)
    assert "lab/memory_dashboard:print_curve" in figure.source


@pytest.mark.parametrize("at", [[0, "nowhere"], [10**6, "A"], [0, "name"], ["A"]])
def test_a_way_that_leads_to_no_number_of_a_recording_is_named(at: list[str | int]) -> None:
    """A key or a place that is not there, and what is there and no number."""
    with pytest.raises(FigureError) as refused:
        counted(at).figure("lab.counted")

    assert f"has no number at {' / '.join(map(str, at))} (" in str(refused.value)


def test_a_published_name_that_is_not_there_names_what_is_near() -> None:
    """With the group before it, as pages write it."""
    known = "published.kernel.a100.graph"

    with pytest.raises(FigureError, match="published") as refused:
        open_store().figure(f"{known}s")

    assert known in str(refused.value)
