"""Loops against a library call."""

from pathlib import Path

from benchmarks.cases import Plan, loops


def test_the_library_call_is_the_fastest(tmp_path: Path) -> None:
    """Even for tiny matrices, each way gets its entry, and loops over tensors are the slowest."""
    measured = [part.measure() for part in loops.parts(Plan(tmp_path, quick=True))]

    entries = {name: entry for part in measured for name, entry in part.items()}

    assert set(loops.ENTRIES) == set(entries)
    assert entries["cpu_library"].median < entries["cpu_indexed_tensors"].median
