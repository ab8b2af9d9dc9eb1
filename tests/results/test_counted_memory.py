"""The counted memory of the mission's GPT-2 is whole, and agrees with its model."""

import json
import os
from pathlib import Path

import pytest

from results import counted_memory
from results.counted_memory import CountedMemoryError, configurations, read_counted, write_counted
from results.predictions import LAPTOP, PHASES, within_tolerance


def as_the_model_says() -> dict[str, dict[str, int]]:
    """Counts of everything that is counted."""
    return {c.name: dict(c.phases) for c in configurations()}


def test_counts_agree_with_the_model() -> None:
    """All are within a measurement's tolerance but one, whose open layer the model leaves out."""
    counted = read_counted()

    beyond = [
        (c.name, phase)
        for c in configurations()
        for phase in PHASES
        if not within_tolerance(c, phase, c.phases[phase], counted[c.name][phase])
    ]

    assert [("xl.b4.pure16.sgd.full", "peak")] == beyond


def test_a_count_has_what_the_model_has() -> None:
    """The model leaves things out, and never adds any."""
    counted = read_counted()

    for c in configurations():
        for phase in PHASES:
            assert counted[c.name][phase] > 0.999 * c.phases[phase], (c.name, phase)


@pytest.mark.parametrize("times", [0.9, 1.1])
@pytest.mark.parametrize(
    ("name", "phase"),
    [
        ("small.b4.fp32.adam.none", "idle"),
        ("small.b4.fp32.adam.none", "peak"),
        ("small.b4.fp32.adam.full", "forward"),
    ],
)
def test_what_is_farthest(tmp_path: Path, name: str, phase: str, times: float) -> None:
    """One moment that is a tenth larger or smaller than the model says is ten percent off.

    A peak under full recomputation is looked at by itself.
    """
    file = tmp_path / "counted.json"
    as_modelled = as_the_model_says()
    as_modelled[name][phase] = round(times * as_modelled[name][phase])
    as_modelled["xl.b4.pure16.sgd.full"]["peak"] *= 2

    write_counted(as_modelled, "2.15.0", file)

    assert counted_memory.farthest(path=file) == pytest.approx(10, rel=1e-3)
    assert counted_memory.farthest(open_layer=True, path=file) == pytest.approx(100, rel=1e-3)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "can't read"),
        *(
            (json.dumps(content), "lacks moments of small.b4.fp32.adam.none")
            for content in (
                {"torch": "2.15.0"},
                {"bytes": []},
                {"bytes": {}},
                {"bytes": {"small.b4.fp32.adam.none": 1}},
                {"bytes": {"small.b4.fp32.adam.none": {"idle": 1}}},
                {"bytes": {"small.b4.fp32.adam.none": list(PHASES)}},
            )
        ),
        (
            json.dumps({"torch": "2.15.0", "bytes": as_the_model_says() | {LAPTOP[-1].name: {}}}),
            f"lacks moments of {LAPTOP[-1].name}",
        ),
        *(
            (json.dumps({**torch, "bytes": as_the_model_says()}), "lacks the version of PyTorch")
            for torch in ({}, {"torch": 2.15})
        ),
    ],
)
def test_a_file_that_is_not_whole(tmp_path: Path, content: str, says: str) -> None:
    """The message says what is missing, and the command that writes it."""
    file = tmp_path / "counted.json"
    file.write_text(content, encoding="utf-8")

    with pytest.raises(CountedMemoryError, match=f"{says}.*python -m benchmarks count"):
        read_counted(file)


def test_new_counts_are_read_at_once(tmp_path: Path) -> None:
    """Each configuration and the version of PyTorch are those of the file as it is now."""
    file = tmp_path / "counted.json"
    as_modelled = as_the_model_says()
    write_counted(as_modelled, "2.15.0", file)
    assert "2.15.0" == counted_memory.counted_with(file)

    as_modelled[LAPTOP[0].name]["peak"] += 1
    write_counted(as_modelled, "2.16.0", file)
    os.utime(file, ns=(0, 0))

    assert (as_modelled, "2.16.0") == (read_counted(file), counted_memory.counted_with(file))
    assert len(as_modelled) == counted_memory.how_many()


def test_no_file(tmp_path: Path) -> None:
    """So it is too where nobody has counted."""
    with pytest.raises(CountedMemoryError, match="can't read"):
        read_counted(tmp_path / "counted.json")
