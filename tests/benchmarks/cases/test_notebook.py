"""The case that runs the companion notebook as a script."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks.cases import MissingDataError, Plan, notebook
from tests.warm import Parent


@pytest.fixture
def forked(monkeypatch: pytest.MonkeyPatch, warm: Parent) -> None:
    """Run the cells in a process that has PyTorch already."""

    def run(command: list[str], cwd: Path, env: dict[str, str], **_: Any) -> Any:
        return warm.run(command, cwd, env)

    monkeypatch.setattr(notebook, "subprocess", SimpleNamespace(run=run))


@pytest.mark.usefixtures("forked")
def test_every_epoch_of_the_cpu_is_measured(one_thread: None) -> None:
    """A quick run gives the wall time and the epochs; the GPU's entries wait for a GPU."""
    (part,) = notebook.parts(Plan(Path("data"), quick=True, gpu=None))

    entries = part.measure()

    assert {"cpu_time", "cpu_epoch", "loader_pass"} == set(entries)
    assert 2 == len(entries["cpu_epoch"].samples)
    assert entries["cpu_epoch"].median < entries["cpu_time"].median


def test_without_mnist_it_is_skipped_with_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full run needs the full set, and says how to get it."""
    monkeypatch.setattr("lesson_code.data._mirror_answers", lambda: False)
    (part,) = notebook.parts(Plan(tmp_path, gpu=None))

    with pytest.raises(MissingDataError, match="run `make data`"):
        part.measure()


def test_a_failing_cell_stops_it_with_its_error(tmp_path: Path) -> None:
    """The last line of the traceback is the reason."""
    with pytest.raises(RuntimeError, match="the notebook stopped: ValueError: no"):
        notebook.run_cells(["x = 1", 'raise ValueError("no")'], tmp_path, "", "cpu")


def test_parameters_follow_the_first_cell(tmp_path: Path) -> None:
    """So they overrule it, and everything after it sees them."""
    cells = ["EPOCHS = 3", "assert EPOCHS == 1"]

    assert notebook.run_cells(cells, tmp_path, "EPOCHS = 1", "cpu") > 0


@pytest.mark.gpu
def test_the_notebook_runs_on_a_gpu() -> None:
    """All four checks hold there, and every kind of epoch is timed."""
    entries = {}
    for part in notebook.parts(Plan(Path("data"), quick=True)):
        entries |= part.measure()

    assert set(notebook.ENTRIES) == set(entries)
    assert "cuda" == entries["cuda_mixed_epoch"].device
