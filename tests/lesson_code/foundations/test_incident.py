"""The incident happens again, without an error: bad weights, and a bad measurement of them."""

import contextlib
import io
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
import torch
from torch import nn
from torch.nn import functional

from lesson_code import devices
from lesson_code.data import as_tensors, load_mnist
from lesson_code.foundations import incident
from lesson_code.foundations.incident import Images, Replay
from lesson_code.models import parameter_count
from tests.warm import Parent


@pytest.fixture(scope="module")
def digits() -> tuple[Images, Images]:
    """6,000 images to train on, and 1,000 that no run sees."""
    return (
        as_tensors(load_mnist(source="subset")),
        as_tensors(load_mnist(train=False, source="subset")),
    )


@dataclass(frozen=True)
class Shown:
    """What the page's printout says and returns, and its healthy and its broken run."""

    lines: list[str]
    data: dict[str, dict[str, float]]
    runs: tuple[Replay, Replay]


@pytest.fixture(scope="module")
def quick() -> Iterator[None]:
    """One thread for the runs that the whole module shares."""
    with devices.one_thread():
        yield


@pytest.fixture(scope="module")
def shown(quick: None) -> Shown:
    """The printout, whose seed is 0."""
    said, replay, runs = io.StringIO(), incident.replay, list[Replay]()

    def remembered(*given: Images, reset_gradients: bool) -> Replay:
        runs.append(replay(*given, reset_gradients=reset_gradients))
        return runs[-1]

    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(said):
        patch.setattr(incident, "replay", remembered)
        data = incident.print_replay()
    healthy, broken = runs
    return Shown(said.getvalue().splitlines(), data, (healthy, broken))


@pytest.fixture(scope="module", params=[0, 1, 2])
def runs(
    request: pytest.FixtureRequest, quick: None, shown: Shown, digits: tuple[Images, Images]
) -> tuple[Replay, Replay]:
    """The healthy run and the broken one, from the same seed."""
    if request.param == 0:
        return shown.runs
    healthy, broken = (incident.replay(*digits, reset, request.param) for reset in (True, False))
    return healthy, broken


def test_the_missing_reset_ruins_the_weights(runs: tuple[Replay, Replay]) -> None:
    """Healthy above 0.88; without a reset below 0.60, and at least 0.25 worse."""
    healthy, broken = runs

    assert healthy.accuracies[-1] > 0.88
    assert broken.accuracies[-1] < 0.60
    assert broken.accuracies[-1] <= healthy.accuracies[-1] - 0.25


def test_more_epochs_make_it_worse(runs: tuple[Replay, Replay]) -> None:
    """The accuracy sinks from the first epoch to the last, while a healthy run's rises."""
    healthy, broken = runs

    assert broken.accuracies[0] > broken.accuracies[2] > broken.accuracies[5]
    assert healthy.accuracies[0] < healthy.accuracies[5]


def test_every_loss_is_finite(runs: tuple[Replay, Replay]) -> None:
    """No NaN and no infinity in either run, since one of them would spoil the epoch's mean."""
    assert all(math.isfinite(loss) for run in runs for loss in run.losses)


def test_one_batch_of_the_broken_run_looks_fine(runs: tuple[Replay, Replay]) -> None:
    """In two epochs a loss lies far below the 2.3 of guessing, and in no later one again."""
    _, broken = runs

    assert min(broken.best_batches[:2]) < 0.75
    assert min(broken.best_batches[:2]) < min(broken.best_batches[2:])
    assert broken.losses[-1] > 1.75


def test_dropout_makes_the_measurement_low_and_unsteady(runs: tuple[Replay, Replay]) -> None:
    """Passes over the same weights differ, and their mean lies below the right number."""
    for run in runs:
        assert incident.PASSES == len(run.with_dropout)
        assert len(set(run.with_dropout)) > 1
    healthy, _ = runs
    assert max(healthy.with_dropout) < healthy.accuracies[-1]


def test_dropout_in_a_measurement_leaves_the_weights_alone(digits: tuple[Images, Images]) -> None:
    """After passes in training mode, `eval` gives the number that it gave before."""
    _, unseen = digits
    model, _ = incident.build()
    model.eval()
    before = incident.accuracy(model, *unseen)
    model.train()
    incident.accuracy(model, *unseen)

    after = incident.accuracy(model.eval(), *unseen)

    assert before == after


def test_the_mean_loss_counts_every_image_alike() -> None:
    """With a learning rate of zero, an epoch's loss is that of all images at once."""
    images, labels = torch.rand(200, 1, 28, 28), torch.arange(200) % 10
    model = nn.Sequential(nn.Flatten(), nn.Linear(784, 10))  # without dropout
    still = torch.optim.SGD(model.parameters(), lr=0.0)
    expected = functional.cross_entropy(model(images), labels).item()

    mean, lowest = incident.train_epoch(model, still, images, labels, reset_gradients=True)

    assert expected == pytest.approx(mean, rel=1e-5)
    assert lowest < expected


def test_the_network_has_the_parameters_that_its_docstring_counts() -> None:
    """784-128-10: 101,770, with a dropout of 0.2."""
    model, _ = incident.build()

    assert 101_770 == parameter_count(model)
    assert 0.2 == next(m.p for m in model.modules() if isinstance(m, nn.Dropout))


def test_the_replay_prints_both_runs_and_both_measurements(shown: Shown) -> None:
    """Six epochs, two lines of measurements, and the numbers that the page names."""
    lines, data = shown.lines, shown.data

    rows = [line.split() for line in lines if line.strip()[:1].isdigit()]
    assert ["1", "2", "3", "4", "5", "6"] == [row[0] for row in rows]
    assert f"{data['healthy']['accuracy']:.2f}" == rows[-1][2]
    assert f"{data['broken']['accuracy']:.2f}" == rows[-1][5]
    assert f"{data['broken']['best_batch']:.2f}" == min(row[4] for row in rows)
    assert ["never", "reset"] == lines[-1].split()[:2]


@pytest.mark.parametrize("seed", range(2))
def test_at_a_low_rate_the_broken_run_leads_at_first(
    seed: int, quick: None, digits: tuple[Images, Images]
) -> None:
    """After one epoch at a tenth of the rate it is ahead, which nobody would look into."""
    healthy, broken = (
        incident.replay(*digits, reset, seed, epochs=1, rate=incident.LOW_RATE)
        for reset in (True, False)
    )

    assert broken.accuracies[0] > healthy.accuracies[0] + 0.05


def test_the_study_of_the_low_rate_prints_a_line_for_each_epoch(
    quick: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both runs of every seed are asked for at the low rate, to the last epoch that is shown."""
    asked = []

    def noted(*given: object) -> Replay:
        asked.append(given[2:])
        return Replay([], [], [epoch / 100 for epoch in range(1, 16)], [])

    monkeypatch.setattr(incident, "replay", noted)

    found = incident.study_low_rate()

    assert [(reset, seed, 15, 0.01) for reset in (True, False) for seed in range(5)] == asked
    assert [0.04] * 5 == found["broken"]["4"]
    last = capsys.readouterr().out.splitlines()[-1]
    assert ["15", "0.15", "to", "0.15", "0.15", "to", "0.15"] == last.split()


def test_the_script_reports_success(warm: Parent) -> None:
    """Like the job in the story: it ends with status 0 and complains of nothing."""
    command = [sys.executable, "-m", "lesson_code.foundations.incident"]

    done = warm.run(command)

    assert 0 == done.returncode
    assert "" == done.stderr
    assert "nan" not in done.stdout
