"""What changed between two runs, and what is only noise."""

from pathlib import Path
from typing import Any

import pytest

from benchmarks import comparison
from benchmarks.__main__ import main
from results import result_file
from results.entry import Entry, entry
from tests.benchmarks.made_up import CPU_MACHINE, GPU_MACHINE, good, part, result

NBSP = "\N{NO-BREAK SPACE}"


def measured(median: float, spread: float = 0.0, unit: str = "s") -> Entry:
    """An entry with this median and this distance between its quartiles."""
    return entry([median - spread, median, median + spread], unit, device="cpu")


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        (measured(1.0), measured(1.04), "within noise"),  # below 5 %
        (measured(1.0), measured(1.06), "slower"),
        (measured(1.0), measured(0.94), "faster"),
        (measured(1.0, 0.3), measured(1.4, 0.3), "within noise"),  # 0.42 together
        (measured(1.0, 0.3), measured(1.5, 0.3), "slower"),
        (measured(97.0, unit="percent"), measured(97.2, unit="percent"), "within noise"),
        (measured(97.0, unit="percent"), measured(96.6, unit="percent"), "less"),
        (measured(3.0, unit="epochs"), measured(4.0, unit="epochs"), "more"),
        (measured(0.0, unit="bytes"), measured(8.0, unit="bytes"), "more"),
    ],
)
def test_a_change_counts_beyond_the_noise_of_both(
    old: dict[str, Any], new: dict[str, Any], verdict: str
) -> None:
    """Beyond both spreads together and 5 %; 0.3 points for percentages."""
    [change] = comparison.compare({"case": {"a": old}}, {"case": {"a": new}})

    assert verdict == change.verdict


def test_entries_that_came_or_went_are_named_in_order() -> None:
    """The old file's order first, then what is new."""
    old = {"case": {"b": measured(1.0), "a": measured(1.0)}}
    new = {"case": {"a": measured(2.0), "c": measured(1.0)}}

    changes = comparison.compare(old, new)

    assert [("case: b", "gone"), ("case: a", "slower"), ("case: c", "new")] == [
        (change.name, change.verdict) for change in changes
    ]
    assert [None, 2.0, None] == [change.ratio for change in changes]


def test_the_table_shows_what_changed_and_counts_the_rest() -> None:
    """Markdown with units; everything on request; a sentence alone if nothing changed."""
    quiet = comparison.compare({"c": {"a": measured(1.0)}}, {"c": {"a": measured(1.0)}})
    both = comparison.compare(
        {"c": {"a": measured(1.0), "b": measured(0.002)}},
        {"c": {"a": measured(1.0), "b": measured(0.001)}},
    )

    assert "1 of 1 entries did not change beyond the noise." == comparison.table(quiet)
    assert (
        f"| c: b | 2.00{NBSP}ms | 1.00{NBSP}ms | 0{NBSP}µs | 0.5 | faster |"
        in comparison.table(both).splitlines()
    )
    assert "c: a" not in comparison.table(both)
    assert "| c: a |" in comparison.table(both, everything=True)


def test_other_conditions_are_said_beside_the_table() -> None:
    """Two machines are a warning; another PyTorch is named with both versions."""
    assert [] == comparison.conditions(CPU_MACHINE, {**CPU_MACHINE, "date": "2027-01-01"})
    assert ["Different conditions: torch 2.15.0 → 2.16.0."] == comparison.conditions(
        CPU_MACHINE, {**CPU_MACHINE, "torch": "2.16.0"}
    )
    engine = {**CPU_MACHINE, "engine": "onnxruntime-web 1.30.0"}
    assert ["Different conditions: engine None → onnxruntime-web 1.30.0."] == comparison.conditions(
        CPU_MACHINE, engine
    )
    warning, *_ = comparison.conditions(CPU_MACHINE, GPU_MACHINE)
    assert "two machines, cpu-2-cores and made-up-gpu" in warning


# The command


def test_summarize_writes_a_table_a_case(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Median and spread with their units, noisy entries marked, skipped parts with their reason."""
    content = good()
    tiny = content["cases"]["tiny_epoch"]
    tiny["samples_200"]["entries"]["samples_200.cpu"] = measured(0.002, 0.001).to_json()
    tiny["later"] = {**part(), "skipped": "no data"}
    del tiny["later"]["entries"]
    path = tmp_path / "r.json"
    result_file.write(result_file.with_figures(content), path)

    assert 0 == main(["summarize", str(path)])
    lines = capsys.readouterr().out.splitlines()

    assert "A processor, PyTorch 2.15.0, 2026-11-21, uncommitted code" in lines[0]
    assert ["tiny_epoch", "median", "spread", "samples"] == lines[2].split()
    assert ["samples_100.cpu", "1.10", "ms", "22.0", "µs", "3"] == lines[3].split()
    assert lines[4].endswith("noisy")
    assert "  later: skipped, no data" in lines


def test_the_newest_file_of_the_machine_is_compared_on_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first file of a machine says so; the next one is compared with it, as Markdown."""
    monkeypatch.setattr(result_file.latest_before, "__defaults__", (tmp_path,))
    old, new = (
        result({"mnist_epoch": {"epoch": part(cpu=8.0, cuda=cuda)}}, {**GPU_MACHINE, "date": date})
        for cuda, date in ((2.0, "2026-11-20"), (1.0, "2026-11-21"))
    )
    first, second = tmp_path / "made-up-gpu" / "1.json", tmp_path / "made-up-gpu" / "2.json"
    result_file.write(old, first)
    main(["summarize", "--compare-latest", str(first)])
    alone = capsys.readouterr().out
    result_file.write(new, second)

    assert 0 == main(["summarize", "--compare-latest", str(second)])
    told = capsys.readouterr().out

    assert "no earlier result of this machine" in alone
    assert f"Before: {first}: Made-up GPU" in told
    assert f"Now: {second}: Made-up GPU" in told
    assert "| mnist_epoch: cuda |" in told
    assert "1 of 2 entries did not change beyond the noise." in told
