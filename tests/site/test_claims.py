"""What the pages claim in words holds for the current results."""

import dataclasses
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from lesson_site.claims import claims_of
from results.claims import holds
from results.store import Store, open_store, read_catalogue, read_result
from tests.benchmarks.made_up import GPU_MACHINE, part, result

CLAIMS = [(page, claim) for page in sorted(Path("docs").rglob("*.md")) for claim in claims_of(page)]


def contradiction(page: Path, claim: str, store: Store) -> str:
    """A sentence that names page, claim and results if these make the claim false, else nothing."""
    if holds(claim, store) is not False:
        return ""
    names = [name for name in re.findall(r"[a-z_][\w.]*", claim) if name in store.definitions]
    values = ", ".join(f"{name} is {store.figure(name).text}" for name in names)
    return f"{page} claims {claim}, and the results say otherwise: {values}; rewrite the sentence"


@pytest.mark.parametrize(("page", "claim"), CLAIMS, ids=[f"{p.name}: {c}" for p, c in CLAIMS])
def test_claim_is_not_false(page: Path, claim: str) -> None:
    """A page's sentence and the newest result agree, or the result is still missing."""
    assert "" == contradiction(page, claim, open_store())


def test_unmeasured_claims_are_counted(record_property: Callable[[str, object], None]) -> None:
    """A claim waits only because a figure in it has no value, and the count is on record."""
    store = open_store()
    waiting = [claim for _, claim in CLAIMS if holds(claim, store) is None]
    record_property("claims_waiting_for_a_measurement", len(waiting))
    print(f"{len(waiting)} of {len(CLAIMS)} claims wait for a measurement")

    for claim in waiting:
        names = re.findall(r"[a-z_][\w.]*", claim)
        assert store.values(names) is None, claim


def with_times(tmp_path: Path, tiny_cpu_s: float, tiny_gpu_s: float) -> Store:
    """A store whose only result is made up: a GPU machine with these times of the tiny epoch."""
    times = part(samples_100__cpu=tiny_cpu_s, samples_100__cuda=tiny_gpu_s)
    path = tmp_path / "made-up.json"
    content = result({"tiny_epoch": {"samples_100": times}}, GPU_MACHINE)
    path.write_text(json.dumps(content), encoding="utf-8")
    return Store(read_catalogue(), [read_result(path)])


def test_a_result_that_makes_a_claim_false_names_page_and_claim(tmp_path: Path) -> None:
    """With the values that contradict it; a result that agrees says nothing."""
    page = Path("docs/gpu-training/a-timing-challenge.md")
    claim = "tiny_epoch.samples_100.cpu < tiny_epoch.samples_100.cuda"
    assert (page, claim) in CLAIMS

    said = contradiction(page, claim, with_times(tmp_path, tiny_cpu_s=0.005, tiny_gpu_s=0.002))

    assert f"{page} claims {claim}" in said
    assert "tiny_epoch.samples_100.cpu is 5.0\N{NO-BREAK SPACE}ms" in said
    assert "" == contradiction(page, claim, with_times(tmp_path, 0.002, 0.005))


def test_claims_are_evaluated_in_one_file_at_a_time(tmp_path: Path) -> None:
    """Two machines never meet in a comparison: a fast CPU says nothing of another machine's GPU."""
    claim = "tiny_epoch.samples_100.cpu < tiny_epoch.samples_100.cuda"
    whole = with_times(tmp_path, tiny_cpu_s=0.005, tiny_gpu_s=0.002)
    times = whole.results[0].cases["tiny_epoch"]
    cpu_only, gpu_only = (
        dataclasses.replace(whole.results[0], cases={"tiny_epoch": {name: times[name]}})
        for name in ("samples_100.cpu", "samples_100.cuda")
    )

    assert holds(claim, whole) is False
    assert holds(claim, Store(read_catalogue(), [cpu_only, gpu_only])) is None
