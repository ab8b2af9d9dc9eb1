"""The counted memory of the mission's GPT-2 is whole, and agrees with its model."""

import json
from pathlib import Path

import pytest

from results import counted_memory
from results.counted_memory import CountedMemoryError, configurations, read_counted, write_counted
from results.predictions import PHASES, within_tolerance


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


def test_what_is_farthest(tmp_path: Path) -> None:
    """One moment that is a tenth larger than the model says is ten percent off."""
    file = tmp_path / "counted.json"
    as_modelled = {c.name: dict(c.phases) for c in configurations()}
    first = next(iter(as_modelled))
    as_modelled[first]["idle"] = round(1.1 * as_modelled[first]["idle"])
    as_modelled["xl.b4.pure16.sgd.full"]["peak"] *= 2

    write_counted(as_modelled, "2.15.0", file)

    assert counted_memory.farthest(path=file) == pytest.approx(10, rel=1e-3)
    assert counted_memory.farthest(open_layer=True, path=file) == pytest.approx(100, rel=1e-3)
    assert "2.15.0" == counted_memory.counted_with(file)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "can't read"),
        (json.dumps({"torch": "2.15.0"}), "lacks moments of small.b4.fp32.adam.none"),
    ],
)
def test_a_file_that_is_not_whole(tmp_path: Path, content: str, says: str) -> None:
    """The message says what is missing, and the command that writes it."""
    file = tmp_path / "counted.json"
    file.write_text(content, encoding="utf-8")

    with pytest.raises(CountedMemoryError, match=f"{says}.*python -m benchmarks count"):
        read_counted(file)


def test_no_file(tmp_path: Path) -> None:
    """So it is too where nobody has counted."""
    with pytest.raises(CountedMemoryError, match="can't read"):
        read_counted(tmp_path / "counted.json")
