"""Training in several processes at once: on CPUs here, on GPUs where there are any."""

from functools import partial
from pathlib import Path

import pytest
import torch
from torch.multiprocessing.spawn import start_processes

from benchmarks.cases import Plan, SkipPartError
from benchmarks.cases import data_parallel as case
from results import catalogue


def test_every_entry_has_a_figure_that_shows_it() -> None:
    """Pages can name whatever the case measures."""
    shown = {d.fields["measured"] for d in catalogue.read() if d.kind == "measured"}

    assert not {f"data_parallel:{name}" for name in case.ENTRIES} - shown


def test_without_a_gpu_there_is_nothing_to_measure(tmp_path: Path) -> None:
    """Processes that share the cores of a CPU say nothing about several GPUs."""
    assert not list(case.parts(Plan(tmp_path, gpu=None)))


def test_more_gpus_than_there_are_is_a_reason_in_words(tmp_path: Path) -> None:
    """The part that needs four says what is missing."""
    parts = {p.name: p for p in case.parts(Plan(tmp_path, gpu=torch.device("cpu")))}

    with pytest.raises(SkipPartError, match="needs 4 GPUs and this machine has 2"):
        parts["gpus_4"].measure()


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
def test_two_processes_train_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both take part: the entry counts the texts of both, and its samples are seconds of a step."""
    # Forks have PyTorch already; the test of an error starts a new process.
    monkeypatch.setattr(case, "spawn", partial(start_processes, start_method="fork"))
    parts = {p.name: p for p in case.parts(Plan(tmp_path, quick=True, gpu=torch.device("cpu")))}

    [(name, entry)] = parts["gpus_2"].measure().items()

    assert "gpus_2.cuda" == name
    assert (2, 3) == (len(entry.samples), len(entry.warmups))
    assert 2 * case.QUICK_TEXTS == entry.amount
    assert 3.0 < entry.loss < 5.0


def test_an_error_in_a_process_ends_the_part() -> None:
    """A size that can't be built is told by the process that met it, and nobody waits for it."""
    wrong = case.GPT2Config(layers=1, width=30, heads=4)

    with pytest.raises(torch.multiprocessing.ProcessRaisedException, match="no multiple of 4"):
        case.train_together(wrong, "cpu", count=1, texts=1, repetitions=1)


@pytest.mark.gpu
def test_one_gpu_trains(tmp_path: Path) -> None:
    """The smallest group has one member."""
    part = next(iter(case.parts(Plan(tmp_path, quick=True))))

    [entry] = part.measure().values()

    assert "cuda" == entry.device
    assert entry.smallest > 0
