"""The data of the mission's page as a file: what it holds, how large it is, when it is stale."""

import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from markdown import Markdown
from pymdownx.superfences import SuperFencesException

from lesson_code.mission.constants import MODEL_VERSION
from lesson_code.mission.memory import regime_for
from lesson_site.fences import keep_options
from lesson_site.mission import fence
from lesson_site.mission.payload import (
    FILE,
    SCHEMA_VERSION,
    build_payload,
    payload_text,
    write_payload,
)

MOST_BYTES = 250_000
REPOSITORY = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def payload() -> dict[str, Any]:
    """The data, as the browser reads it."""
    found: dict[str, Any] = json.loads(payload_text())
    return found


def test_committed_file_is_what_is_built() -> None:
    """The file in the repository is up to date: else run `python -m lesson_site mission`."""
    assert payload_text() == (REPOSITORY / FILE).read_text(encoding="utf-8")


def test_two_builds_give_equal_bytes() -> None:
    """Two builds give the same bytes, also where Python orders its sets differently."""
    program = "from lesson_site.mission.payload import payload_text; print(payload_text(), end='')"
    other = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", program],
        cwd=REPOSITORY,
        env={"PYTHONHASHSEED": "7", "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        check=True,
    ).stdout.decode()

    assert payload_text() == payload_text() == other


def test_size(payload: dict[str, Any]) -> None:
    """The file stays below 250 KB uncompressed."""
    assert len(payload_text().encode()) <= MOST_BYTES


def test_row_counts(payload: dict[str, Any]) -> None:
    """Each instrument has a row for every state that its controls can be in."""
    counts = {name: len(payload[name]) for name in ("ledger", "pipeline", "laptop")}

    assert counts == {"ledger": 216, "pipeline": 80, "laptop": 108}


@pytest.mark.parametrize("instrument", ["ledger", "laptop"])
def test_memory_rows_are_those_that_the_controls_spell(
    payload: dict[str, Any], instrument: str
) -> None:
    """Every choice of the controls leads to a row, and every row is some choice."""
    values = _values(payload["controls"][instrument])
    spelled = {
        f"{payload['regimes'][precision][bookkeeping]}/{optimizer}/{recompute}/{batch}"
        for precision, bookkeeping, optimizer, recompute, batch in product(
            *(values[name] for name in ("precision", "bookkeeping")),
            *(values[name] for name in ("optimizer", "recompute", "batch")),
        )
    }

    assert spelled == set(payload[instrument])


def test_pipeline_rows_are_those_that_the_controls_spell(payload: dict[str, Any]) -> None:
    """Every choice of the analyzer's controls leads to a row, and every row is some choice."""
    values = _values(payload["controls"]["pipeline"])
    order = ("prefetch", "mixed", "checkpointing", "batch", "tensor_effect")
    spelled = {"/".join(chosen) for chosen in product(*(values[name] for name in order))}

    assert spelled == set(payload["pipeline"])


def test_regimes_are_the_models(payload: dict[str, Any]) -> None:
    """Precision and bookkeeping name the regime that the model says they name."""
    named = {
        (precision, bookkeeping): regime
        for precision, each in payload["regimes"].items()
        for bookkeeping, regime in each.items()
    }

    assert len(named) == 6
    assert {chosen: regime_for(*chosen) for chosen in named} == named


def test_defaults_are_among_the_values(payload: dict[str, Any]) -> None:
    """Every control starts at one of its own values, and each value is there once."""
    for controls in payload["controls"].values():
        for name, control in controls.items():
            values = [value for value, _ in control["values"]]
            assert control["default"] in values, name
            assert len(values) == len(set(values)), name


def test_checksum_covers_everything_else(payload: dict[str, Any]) -> None:
    """The checksum is that of all other parts, so that a change anywhere changes it."""
    rest = {key: value for key, value in payload.items() if key != "checksum"}
    text = json.dumps(rest, ensure_ascii=False, separators=(",", ":"), sort_keys=True)

    assert hashlib.sha256(text.encode()).hexdigest() == payload["checksum"]


def test_keys_are_sorted() -> None:
    """All keys are in order, at every level, so that a diff shows only what changed."""

    def ordered(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in pairs]
        assert sorted(set(keys)) == keys
        return dict(pairs)

    json.loads(payload_text(), object_pairs_hook=ordered)


def test_numbers_are_plain(payload: dict[str, Any]) -> None:
    """Numbers are finite, and sizes in bytes whole: nothing depends on how a float is printed."""
    for path, value in _leaves(payload):
        assert value == value and abs(value) < float("inf") if isinstance(value, float) else True
        if re.search(r"/(bytes|extra_bytes)(/\d+)?$", path):
            assert isinstance(value, int), path


def test_versions(payload: dict[str, Any]) -> None:
    """The file says which shape and which model it has, and in which unit."""
    assert payload["schema_version"] == SCHEMA_VERSION == 1
    assert payload["model_version"] == MODEL_VERSION
    assert payload["units"] == "GB=1e9 B"


def test_writing_replaces_the_file(tmp_path: Path) -> None:
    """The command writes the whole file, and nothing else stays beside it."""
    file = tmp_path / "mission" / "data.json"

    write_payload(file)
    write_payload(file)

    assert payload_text() == file.read_text(encoding="utf-8")
    assert [file] == list(file.parent.iterdir())


def test_stale_file_stops_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page with a part of the mission is refused while the file is not what would be built."""
    stale = tmp_path / "data.json"
    stale.write_text(payload_text().replace(f'"{MODEL_VERSION}"', '"0.9.0"'), encoding="utf-8")
    monkeypatch.setattr(fence, "FILE", stale)

    with pytest.raises(SuperFencesException, match="out of date; run `python -m lesson_site "):
        converted("ledger")


def test_parts_by_name() -> None:
    """Every registered part gives HTML; an unknown one is refused with the names that there are."""
    assert '<div class="mission"><memory-ledger><p>This instrument' in converted("ledger")
    with pytest.raises(SuperFencesException, match=r"show is 'x'; it must be one of guide, ledger"):
        converted("x")


def test_each_optimizers_steps_stand_beside_its_own_memory(payload: dict[str, Any]) -> None:
    """Momentum saves one of Adam's two vectors, and takes the textbook's steps or more."""
    says = payload["messages"]

    assert "With momentum you keep 6.23 GB of it" in says["tradeoff.node.not"]
    assert "about 150,000 steps or more instead of about 50,000" in says["tradeoff.node.not"]
    assert "save about 100,000 steps or more against momentum" in says["tradeoff.node.worth"]


def test_the_fused_step_names_the_gradient_that_waits(payload: dict[str, Any]) -> None:
    """The token embedding's is complete at the end only, since the head has the same weights."""
    says = payload["messages"]["laptop.exit.fuse"]

    assert "6.23 GB + 0.95 GB" in says
    assert "its 0.32 GB wait until then" in says


def converted(name: str) -> str:
    """What a page shows where its Markdown names a part."""
    custom = {
        "name": "lesson-mission",
        "class": "lesson-mission",
        "format": fence.mission,
        "validator": keep_options,
    }
    markdown = Markdown(
        extensions=["pymdownx.superfences", "lesson_site.extension"],
        extension_configs={"pymdownx.superfences": {"custom_fences": [custom]}},
    )
    return markdown.convert(f'```lesson-mission show="{name}"\n```')


def _values(controls: dict[str, Any]) -> dict[str, list[str]]:
    return {name: [value for value, _ in each["values"]] for name, each in controls.items()}


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    children = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else None
    )
    if children is None:
        yield path, value
    else:
        for key, child in children:
            yield from _leaves(child, f"{path}/{key}")


def test_building_does_not_change_what_is_built() -> None:
    """What one caller does with the data is not seen by the next."""
    build_payload()["ledger"].clear()

    assert len(build_payload()["ledger"]) == 216
