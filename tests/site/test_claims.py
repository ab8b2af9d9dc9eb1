"""What the pages claim in words holds for the current results."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from lesson_site.claims import claims_of, holds
from lesson_site.figure_store import open_store

CLAIMS = [(page, claim) for page in sorted(Path("docs").rglob("*.md")) for claim in claims_of(page)]


@pytest.mark.parametrize(("page", "claim"), CLAIMS, ids=[f"{p.name}: {c}" for p, c in CLAIMS])
def test_claim_is_not_false(page: Path, claim: str) -> None:
    """A page's sentence and the newest result agree, or the result is still missing."""
    truth = holds(claim, open_store())

    assert truth is not False, f"{page} claims {claim}, and the current results say otherwise"


def test_unmeasured_claims_are_counted(record_property: Callable[[str, object], None]) -> None:
    """A claim waits only because a figure in it has no value, and the count is on record."""
    store = open_store()
    waiting = [claim for _, claim in CLAIMS if holds(claim, store) is None]
    record_property("claims_waiting_for_a_measurement", len(waiting))
    print(f"{len(waiting)} of {len(CLAIMS)} claims wait for a measurement")

    for claim in waiting:
        names = re.findall(r"[a-z_][\w.]*", claim)
        assert any(not store.figure(name).measured for name in names), claim
