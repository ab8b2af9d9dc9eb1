"""Updates against epochs, a sweep over rates, the way to a fixed loss, and schedules."""

import itertools
import math
from collections.abc import Iterable
from typing import Any

import pytest
import torch
from torch import nn
from torch.optim.lr_scheduler import LinearLR

from lesson_code.foundations import rate_and_batch
from lesson_code.foundations.generalising import Images, build, judge, three_sets
from lesson_code.foundations.rate_and_batch import (
    RATES,
    batches,
    best_rate,
    digits,
    study_batches,
    study_decay,
    study_sizes,
    study_sweep,
    study_warm_up,
    sweep,
    train,
    updates_to,
    validation_loss,
    warm_up_and_decay,
)
from tests.by_hand import descend
from tests.printed import recorded


@pytest.fixture
def optimizers(monkeypatch: pytest.MonkeyPatch) -> set[type]:
    """Those of a study of two seeds that trains nothing.

    A loss is the seed, and the rate of the last update times its images.
    """
    losses: dict[nn.Module, float] = {}
    used: set[type] = set()

    def built(seed: int) -> nn.Module:
        model = build(seed)
        losses[model] = seed
        return model

    def no_training(
        model: nn.Module, optimizer: torch.optim.Optimizer, data: Iterable[Images], scheduler: Any
    ) -> None:
        used.add(type(optimizer))
        last = 0.0
        for images, _ in data:
            last = optimizer.param_groups[0]["lr"] * len(images)
            optimizer.step()
            if scheduler:
                scheduler.step()
        losses[model] += last

    monkeypatch.setattr(rate_and_batch, "SEEDS", range(2))
    monkeypatch.setattr(rate_and_batch, "DECAY_SEEDS", range(2))
    monkeypatch.setattr(rate_and_batch, "build", built)
    monkeypatch.setattr(rate_and_batch, "batches", lambda size: itertools.repeat(([0] * size, 0)))
    monkeypatch.setattr(rate_and_batch, "train", no_training)
    monkeypatch.setattr(rate_and_batch, "validation_loss", losses.__getitem__)
    return used


def tried(study: str) -> list[str]:
    """What a study is recorded to have tried."""
    return list(recorded(f"foundations/rate_and_batch:{study}").data)


def table(printed: str) -> list[list[str]]:
    """The words of each line, all of which are equally long."""
    lines = printed.splitlines()
    assert 1 == len({len(line) for line in lines})
    return [line.split() for line in lines]


def one_weight(rate: float = 1.0) -> torch.optim.Optimizer:
    """SGD over one weight that has no gradient, so that a step changes nothing."""
    return torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=rate)


def rates_of(optimizer: torch.optim.Optimizer, scheduler: Any, updates: int) -> list[float]:
    """The rate of each update under a scheduler, and the one that would follow."""
    rates = []
    for _ in range(updates):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return [*rates, optimizer.param_groups[0]["lr"]]


def test_an_epoch_has_every_image_once_and_the_next_one_another_order() -> None:
    """Eight batches of 512 are 4,096 images, and the stream does not end there."""
    torch.manual_seed(0)
    stream = batches(512)
    first, second = (list(itertools.islice(stream, 8)) for _ in range(2))

    assert [512] * 8 == [len(images) for images, _ in first]
    assert torch.equal(
        digits()[0][1].sort().values, torch.cat([labels for _, labels in first]).sort().values
    )
    distinct = {image.numpy().tobytes() for images, _ in first for image in images}
    assert 4096 == len(distinct)
    assert not torch.equal(first[0][0], second[0][0])


def test_each_batch_gets_one_update_and_its_own_loss() -> None:
    """Without a step each loss is that of the images as they come, in training mode."""
    data = list(itertools.islice(batches(16), 3))
    model = build(seed=0)
    model.eval()  # as a validation leaves it
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    steps: list[int] = []
    optimizer.register_step_post_hook(lambda *_: steps.append(1))

    losses = train(model, optimizer, data)

    assert model.training
    assert 3 == len(steps)
    assert pytest.approx([judge(model, *batch)[0].mean().item() for batch in data]) == losses


def test_an_update_is_the_rate_times_the_gradient_of_its_batch_alone() -> None:
    """Two updates of the loop are those of a loop by hand with fresh gradients."""
    data = list(itertools.islice(batches(16), 2))
    model, by_hand = build(seed=0), build(seed=0)
    train(model, torch.optim.SGD(model.parameters(), lr=0.1), data)

    descend(by_hand, data, rate=0.1)

    for learnt, expected in zip(model.parameters(), by_hand.parameters(), strict=True):
        torch.testing.assert_close(learnt, expected)


def test_the_scheduler_steps_after_each_update() -> None:
    """Three updates use the first three rates, and none is left of the fourth."""
    model = build(seed=0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.4)
    used: list[float] = []
    optimizer.register_step_pre_hook(lambda *_: used.append(optimizer.param_groups[0]["lr"]))

    train(model, optimizer, itertools.islice(batches(8), 3), warm_up_and_decay(optimizer, 0, 4))

    assert pytest.approx([0.4, 0.3, 0.2]) == used
    assert pytest.approx(0.1) == optimizer.param_groups[0]["lr"]


def test_a_warm_up_rises_in_equal_steps_and_ends_at_zero() -> None:
    """No update has a rate of zero, and none more than the full one."""
    optimizer = one_weight(0.8)
    rates = rates_of(optimizer, warm_up_and_decay(optimizer, 4, 10), 10)

    assert pytest.approx([0.2, 0.4, 0.6, 0.8]) == rates[:4]
    assert pytest.approx([0.8 * left / 6 for left in (6, 5, 4, 3, 2, 1, 0)]) == rates[4:]


@pytest.mark.parametrize("warm_up", [0, 1, 2, 3])
def test_after_the_last_update_the_rate_stays_at_zero(warm_up: int) -> None:
    """A negative one would climb; the warm-up may take all of the updates, or all but one."""
    optimizer = one_weight()

    rates = rates_of(optimizer, warm_up_and_decay(optimizer, warm_up, 3), 6)

    assert [0.0] * 4 == rates[3:]
    assert min(rates[:3]) > 0
    assert 1.0 == rates[min(warm_up, 2)]  # the full one, at the latest of the last update


def test_without_a_warm_up_it_is_the_linear_decay_of_pytorch() -> None:
    """The same rates as ``LinearLR`` down to zero."""
    ours, theirs = one_weight(), one_weight()
    linear = LinearLR(theirs, start_factor=1.0, end_factor=0.0, total_iters=7)

    assert pytest.approx(rates_of(theirs, linear, 7), abs=1e-9) == rates_of(
        ours, warm_up_and_decay(ours, 0, 7), 7
    )


def test_a_sweep_starts_from_equal_weights_and_batches() -> None:
    """The first loss is the same at each rate; a higher one has moved further after it."""
    found = sweep([0.001, 0.1, 100.0], size=32, updates=20)

    firsts = {losses[0] for losses, _ in found.values()}
    validation = [loss for _, loss in found.values()]
    assert 1 == len(firsts)
    assert {20} == {len(losses) for losses, _ in found.values()}
    assert validation[1] < validation[0] < math.log(10) + 0.2
    assert not validation[2] < math.log(10)  # NaN would do as well
    assert found[0.1] == sweep([0.1], size=32, updates=20, seed=0)[0.1]


def test_the_validation_loss_is_a_mean_over_1000_images() -> None:
    """In evaluation mode, of images that no batch holds."""
    model = build(seed=0)
    images, labels = digits()[1]

    loss = validation_loss(model)

    assert torch.equal(three_sets(4096)[1][0], images)  # neither training nor test images
    assert isinstance(loss, float)
    expected = nn.functional.cross_entropy(model(images), labels).item()
    assert pytest.approx(expected, rel=1e-5) == loss
    assert not model.training


def test_updates_are_counted_until_the_loss_is_low_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """It looks after each of the first 40 updates, then less often; and gives up in the end."""
    counted: list[int] = []

    def only_count(_: nn.Module, __: object, data: Iterable[Images]) -> None:
        counted.append(len(list(data)))

    monkeypatch.setattr(rate_and_batch, "train", only_count)
    monkeypatch.setattr(rate_and_batch, "validation_loss", lambda _: 1 / sum(counted))

    assert 10 == updates_to(0.1, rate=1.0, size=1, seed=0, most=20)
    counted.clear()
    assert 100 <= updates_to(0.01, rate=1.0, size=1, seed=0, most=200) <= 105
    assert [1] * 40 + [2] * 10 + [3] == counted[:51]
    assert {1, 2, 3, 4} <= set(counted) <= {1, 2, 3, 4, 5}
    counted.clear()
    assert math.inf == updates_to(0.1, rate=1.0, size=1, seed=0, most=9)


def test_a_loss_that_is_not_a_number_never_arrives() -> None:
    """A rate that diverges needs more updates than any limit."""
    assert math.inf == updates_to(0.35, rate=1e6, size=8, seed=0, most=10)


def test_a_lower_target_takes_more_updates() -> None:
    """On the digits, with one rate."""
    easy, hard = (updates_to(target, 0.2, size=64, seed=0, most=200) for target in (1.0, 0.6))

    assert 0 < easy < hard < math.inf


def test_the_best_rate_is_the_last_one_that_was_no_worse(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the median: 120, then twice 100, then 105; no mean of these updates says the same."""
    needed = {
        0.1: [100, 110, 120, 130, 141],
        0.2: [90, 90, 100, 180, 190],
        0.4: [100, 100, 100, 100, 141],
        0.8: [105] * 5,
    }
    asked: list[tuple[float, float, int, int]] = []

    def made_up(target: float, rate: float, size: int, seed: int, most: int) -> float:
        asked.append((target, rate, size, most))
        return needed[rate][seed] if needed[rate][seed] <= most else math.inf

    monkeypatch.setattr(rate_and_batch, "updates_to", made_up)

    assert (0.4, needed[0.4]) == best_rate(8, 0.1, most=1000)
    limits = {0.1: 1000, 0.2: 211, 0.4: 285, 0.8: 211}  # half as many again as the slowest seed
    assert [(0.35, rate, 8, most) for rate, most in limits.items()] == asked[::5]
    assert (0.1, [math.inf]) == best_rate(8, 0.1, most=100)


def test_a_rate_with_which_one_seed_does_not_arrive_is_not_the_best(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However fast the others are."""
    monkeypatch.setattr(
        rate_and_batch,
        "updates_to",
        lambda _, rate, __, seed, ___: math.inf if rate > 0.1 and seed == 4 else 10 / rate,
    )

    assert 0.1 == best_rate(8, 0.1, most=1000)[0]


def test_the_sizes_have_a_row_each(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Images are updates times batch; a size begins with the best rate of the one before."""
    begun: list[tuple[float, int]] = []

    def made_up(size: int, rate: float, most: int) -> tuple[float, list[float]]:
        begun.append((rate, most))
        return 2 * rate, [100, 130, 90, 101, 99]

    monkeypatch.setattr(rate_and_batch, "best_rate", made_up)
    found = study_sizes()

    assert [(0.025, 2000), (0.05, 260), (0.1, 260)] == begun[:3]
    assert tried("study_sizes") == list(found)
    assert {"rate": 0.05, "updates": 100, "images": 800, "lowest": 90, "highest": 130} == found["8"]
    _, row, *others = table(capsys.readouterr().out)
    assert ["8", "0.05", "100", "90", "to", "130", "800"] == row
    assert 4 == len(others)


def test_the_batches_have_a_row_each(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three epochs are 384 updates of 32 images, or 24 of 512; the third run has 384 of 512."""
    asked: list[tuple[float, int, int]] = []

    def made_up(rates: list[float], size: int, updates: int, seed: int) -> Any:
        asked.append((rates[0], size, updates))
        return {rates[0]: ([], 0.5 + seed / 10)}

    monkeypatch.setattr(rate_and_batch, "sweep", made_up)
    found = study_batches()

    assert [(0.1, 32, 384), (0.1, 512, 24), (0.1, 512, 384), (0.2, 512, 24)] == asked[::5]
    assert [384, 24, 384, 24] == [run["updates"] for run in found.values()]
    assert [3, 3, 48, 3] == [run["epochs"] for run in found.values()]
    _, *rows = table(capsys.readouterr().out)
    assert ["512", "0.1", "384", "48", "0.50", "to", "0.90"] == rows[2]
    assert tried("study_batches") == list(found)
    assert 4 == len(rows)
    assert {0.5, 0.9} == set(found["small"].values()) - {384, 3}


def test_the_sweep_has_a_row_for_each_rate(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ten losses make a mean: those that end with the tenth, the hundredth and the last update."""

    def made_up(rates: list[float], size: int, updates: int, seed: int) -> Any:
        assert (32, 300) == (size, updates)
        odd = 100 if seed == 4 else 0  # moves a mean, and no median
        return {rates[0]: ([odd + number for number in range(1, 301)], 1.0 + seed)}

    monkeypatch.setattr(rate_and_batch, "sweep", made_up)
    found = study_sweep()

    assert tried("study_sweep") == list(found)
    assert {"early": 5.5, "middle": 95.5, "late": 296, "lowest": 1.0, "highest": 5.0} == found[
        "0_1"
    ]
    _, _, *rows = table(capsys.readouterr().out)
    assert [f"{rate}" for rate in RATES] == [row[0] for row in rows]
    assert ["0.1", "5.50", "95.50", "295.50", "1.00", "to", "5.00"] in rows


def test_the_decays_have_a_row_for_each_rate_and_are_compared_in_pairs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], optimizers: set[type]
) -> None:
    """Six updates of 32 images: the last has the first rate, a sixth of it, or 7 % of it.

    The seed is in the loss, so each pair differs by the same and only that makes the error zero.
    The best constant rate is the lowest one, and no decay is as bad.
    """
    monkeypatch.setattr(rate_and_batch, "UPDATES", 6)
    found = study_decay()

    assert {torch.optim.SGD} == optimizers
    assert recorded("foundations/rate_and_batch:study_decay").data.keys() == found.keys()
    assert ["0_1", "0_2", "0_3", "0_4"] == list(found["linear"])
    same = {"mean": 3.7, "lowest": 3.2, "highest": 4.2, "gain": 0, "error": 0, "lower": 0}
    assert same == found["constant"]["0_1"]
    assert {**same, "mean": 6.9, "lowest": 6.4, "highest": 7.4, "gain": -3.2} == found["constant"][
        "0_2"
    ]
    below = {"mean": 1.03, "lowest": 0.533, "highest": 1.53, "gain": 2.667, "lower": 2}
    assert {**below, "error": 0} == found["linear"]["0_1"]
    assert (0.214, 1.21) == tuple(found["cosine"]["0_1"][end] for end in ("lowest", "highest"))
    lines = capsys.readouterr().out.splitlines()
    assert ["constant", "linear", "cosine"] == lines[2::5]
    assert ["0.1", "1.033", "0.53", "to", "1.53", "2.667", "0.000", "2"] == lines[8].split()
    assert 17 == len(lines)


def test_the_warm_ups_have_a_row_for_each_rate(
    capsys: pytest.CaptureFixture[str], optimizers: set[type]
) -> None:
    """Sixty updates of 512: the last has a sixtieth of the rate, or a fortieth after 20 others."""
    found = study_warm_up()

    assert {torch.optim.Adam} == optimizers
    assert tried("study_warm_up") == list(found)
    assert {
        "without": {"lowest": 0.853, "highest": 1.85},
        "with": {"lowest": 1.28, "highest": 2.28},
    } == found["0_1"]
    _, *rows = table(capsys.readouterr().out)
    assert ["0.1", "0.85", "to", "1.85", "1.28", "to", "2.28"] == rows[-1]
    assert 5 == len(rows)


def test_a_run_begins_with_its_seed_and_has_its_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the number of updates nor the most that are waited for takes their place."""
    asked: list[int] = []

    def built(seed: int) -> nn.Module:
        asked.append(seed)
        return build(seed)

    def streamed(size: int) -> Iterable[Images]:
        asked.append(size)
        return batches(size)

    monkeypatch.setattr(rate_and_batch, "build", built)
    monkeypatch.setattr(rate_and_batch, "batches", streamed)

    sweep([0.1], size=16, updates=2, seed=7)
    assert 1 == updates_to(9.0, rate=0.1, size=16, seed=7, most=3)

    assert [7, 16] * 2 == asked
