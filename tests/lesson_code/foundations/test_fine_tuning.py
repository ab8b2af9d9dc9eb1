"""A trained network gets a new head: what loads, what is frozen, what trains at which rate."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch

from lesson_code.foundations import fine_tuning
from lesson_code.foundations.fine_tuning import (
    HEAD_RATE,
    NEW,
    OLD,
    RATE,
    DigitReader,
    accuracy,
    epochs_of,
    few,
    fine_tuned,
    from_nothing,
    pretrained,
    start_from,
    study_rates,
    study_sizes,
    task,
    train_all,
    train_head,
)
from lesson_code.foundations.fine_tuning_traps import print_late_head, print_loading, print_step
from lesson_code.foundations.generalising import Images, three_sets, train_epoch
from tests.printed import recorded

State = dict[str, torch.Tensor]


@pytest.fixture
def state() -> State:
    """Of a network with five classes that has seen a batch, so that its statistics moved."""
    torch.manual_seed(1)
    model = DigitReader(classes=5)
    model(torch.randn(8, 1, 28, 28))
    return copy.deepcopy(model.state_dict())


@pytest.fixture
def data() -> Images:
    """Two images of each new digit."""
    return few(2, seed=0)


def same(first: State, second: State) -> list[str]:
    """The names whose tensors are equal."""
    return [name for name in first if torch.equal(first[name], second[name])]


def test_a_start_has_the_trained_features_and_a_fresh_head(state: State) -> None:
    """Its head has as many classes as are asked for, and shares nothing with the file."""
    model = start_from(state, trained_classes=5, classes=3)

    assert (3, 288) == model.head.weight.shape
    loaded = model.state_dict()
    kept = [name for name in state if "head" not in name]
    assert all(torch.equal(state[name], loaded[name]) for name in kept)
    assert (2, 3) == model(torch.rand(2, 1, 28, 28)).shape


def test_a_file_of_another_network_is_refused(state: State) -> None:
    """A name that is missing, one too many, and another number of classes."""
    for wrong in ({"head.bias": state["head.bias"]}, {**state, "more": state["head.bias"]}):
        with pytest.raises(RuntimeError, match=r"Missing|Unexpected"):
            start_from(wrong, trained_classes=5, classes=3)
    with pytest.raises(RuntimeError, match="size mismatch"):
        start_from(state, trained_classes=4, classes=3)


def test_the_features_are_as_many_as_the_head_takes() -> None:
    """32 maps of three by three."""
    assert (4, 288) == DigitReader(classes=5).features(torch.rand(4, 1, 28, 28)).shape


def test_frozen_features_stay_in_evaluation_mode() -> None:
    """Whatever a loop asks for, and until they train again."""
    model = DigitReader(classes=5)
    norm = model.features[1]

    model.features.requires_grad_(False)
    assert model is model.train()
    assert (True, False) == (model.head.training, norm.training)
    model(torch.ones(8, 1, 28, 28))
    assert 0 == norm.num_batches_tracked
    model.features.requires_grad_(True)
    assert model.train().features[1].training
    assert not model.eval().head.training


def test_training_the_head_changes_nothing_else(state: State, data: Images) -> None:
    """Neither a weight nor a running statistic."""
    model = start_from(state, 5, 5)
    before = copy.deepcopy(model.state_dict())

    train_head(model, data, epochs=2)

    assert [name for name in before if "head" not in name] == same(before, model.state_dict())
    assert all(p.grad is None for p in model.features.parameters())


def test_computed_once_or_in_each_epoch_the_features_train_the_same_head(
    state: State, data: Images
) -> None:
    """A usual loop over the whole model, with an optimizer over the head, ends equally."""
    once = start_from(state, 5, 5)
    anew = copy.deepcopy(once)
    torch.manual_seed(0)
    train_head(once, data, epochs=3)
    torch.manual_seed(0)
    anew.features.requires_grad_(False)
    optimizer = torch.optim.Adam(anew.head.parameters(), lr=HEAD_RATE)
    for _ in range(3):
        train_epoch(anew, optimizer, *data)

    torch.testing.assert_close(once.state_dict(), anew.state_dict())


@pytest.mark.parametrize(("rate", "of_head"), [(0.001, 0.01), (0.1, 0.1)])
def test_training_all_moves_each_part_at_its_rate(
    state: State, data: Images, rate: float, of_head: float
) -> None:
    """Adam's first step is one rate long, also for features that were frozen before."""
    model = start_from(state, 5, 5)
    model.features.requires_grad_(False)
    before = copy.deepcopy(model)

    train_all(model, data, epochs=1, rate=rate)

    for name, step in (("features", rate), ("head", of_head)):
        pairs = zip(
            getattr(model, name).parameters(), getattr(before, name).parameters(), strict=True
        )
        assert pytest.approx(step, rel=0.02) == max((p - q).abs().max().item() for p, q in pairs)
    assert 1 == model.features[1].num_batches_tracked - before.features[1].num_batches_tracked


def test_a_task_has_its_digits_alone() -> None:
    """Labels begin at 0."""
    images = torch.arange(10.0).reshape(10, 1, 1, 1)
    at, labels = task(images, torch.arange(10), NEW)

    assert [5, 6, 7, 8, 9] == at.flatten().tolist()
    assert [0, 1, 2, 3, 4] == labels.tolist()


def test_each_seed_draws_its_own_images_and_as_many_of_each_digit() -> None:
    """Fewer of them are among more of them; none is a test image."""
    images, labels = few(3, seed=0)
    more, other = few(5, seed=0)[0], few(3, seed=1)[0]
    known = {image.numpy().tobytes() for image in more}

    assert [3] * 5 == labels.bincount().tolist()
    assert all(image.numpy().tobytes() in known for image in images)
    assert not all(image.numpy().tobytes() in known for image in other)
    assert not any(image.numpy().tobytes() in known for image in three_sets(0)[2][0])


def test_every_size_has_a_hundred_updates_or_a_few_more() -> None:
    """20, 50 and 500 images are 1, 2 and 16 batches."""
    assert [100, 50, 7] == [epochs_of(size) for size in (4, 10, 100)]


def test_from_nothing_each_seed_learns(data: Images) -> None:
    """The same one the same."""
    first, again, other = (from_nothing(seed, data, 20, 0.003) for seed in (0, 0, 1))

    assert torch.equal(first.head.weight, again.head.weight)
    assert not torch.equal(first.head.weight, other.head.weight)
    assert 0.4 < accuracy(first, NEW) < 0.9


def test_a_network_that_learnt_the_old_digits_is_fine_tuned(
    monkeypatch: pytest.MonkeyPatch, state: State
) -> None:
    """At a rate of 0 its features stay; a network of another seed has another head."""
    monkeypatch.setattr(fine_tuning, "pretrained", lambda _: state)
    monkeypatch.setattr(fine_tuning, "UPDATES", 2)
    frozen, trained = fine_tuned(0, 2, 0.0), fine_tuned(0, 2, RATE)

    assert torch.equal(state["features.0.weight"], frozen.features[0].weight)
    assert not torch.equal(state["features.0.weight"], trained.features[0].weight)
    assert torch.equal(frozen.head.weight, fine_tuned(0, 2, 0.0).head.weight)


def test_the_old_digits_are_what_it_was_pretrained_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """2,480 images of 0 to 4, three epochs; kept for the next call."""
    asked: list[Any] = []

    def made_up(seed: int, data: Images, epochs: int, rate: float) -> DigitReader:
        asked.append((seed, len(data[1]), data[1].max().item(), epochs, rate))
        return DigitReader(classes=5)

    monkeypatch.setattr(fine_tuning, "from_nothing", made_up)
    pretrained.cache_clear()

    assert pretrained(7) is pretrained(7)
    assert [(7, 2480, 4, 3, RATE)] == asked
    pretrained.cache_clear()


@pytest.fixture
def no_training(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three seeds that train nothing; an accuracy is made of what it was asked of."""
    model = DigitReader(classes=5)
    asked: dict[str, float] = {}

    def keep(read: Callable[..., float]) -> Callable[..., DigitReader]:
        def trained(*of: Any) -> DigitReader:
            asked["accuracy"] = read(*of)
            return model

        return trained

    monkeypatch.setattr(fine_tuning, "SEEDS", range(3))
    monkeypatch.setattr(fine_tuning, "pretrained", lambda _: model.state_dict())
    monkeypatch.setattr(
        fine_tuning, "from_nothing", keep(lambda seed, data, *_: len(data[1]) / 1000 + seed / 10)
    )
    monkeypatch.setattr(fine_tuning, "fine_tuned", keep(lambda *of: 0.1 + 5 * of[-1]))
    monkeypatch.setattr(
        fine_tuning, "accuracy", lambda _, digits: asked["accuracy"] + (digits == OLD) / 2
    )


@pytest.mark.usefixtures("no_training")
def test_the_sizes_have_a_row_each(capsys: pytest.CaptureFixture[str]) -> None:
    """From nothing: 0.02, 0.12, 0.22 with 20 images; the head reads 0.1, and all 0.105."""
    found = study_sizes()
    *_, first, _, last = (line.split() for line in capsys.readouterr().out.splitlines())

    assert list(recorded("foundations/fine_tuning:study_sizes").data) == list(found)
    assert {"nothing": 0.12, "head": 0.1, "all": 0.105, "head_better": 1, "all_better": 1} == found[
        "4"
    ]
    assert ["4", "0.120", "0.100", "0.105", "1", "of", "3", "1", "of", "3"] == first
    assert ["100", "0.600", "0.100", "0.105", "0", "of", "3", "0", "of", "3"] == last


@pytest.mark.usefixtures("no_training")
def test_the_rates_have_a_row_each(capsys: pytest.CaptureFixture[str]) -> None:
    """The head's rate is no lower than that of the features."""
    found = study_rates()
    _, *rows = (line.split() for line in capsys.readouterr().out.splitlines())

    assert list(recorded("foundations/fine_tuning:study_rates").data) == list(found)
    assert {"new": 0.6, "old": 1.1} == found["0_1"]
    assert ["0,", "frozen", "0.01", "0.10", "0.60"] == rows[0]
    assert ["0.1", "0.1"] == rows[-1][:2]
    assert 4 == len(rows)


def test_not_strict_says_what_is_missing_and_refuses_another_shape(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A prefix makes every name unexpected, and nothing is loaded without an error."""
    print_loading()
    rows = [line.split()[-3:] for line in capsys.readouterr().out.splitlines()[1:]]

    assert [["0", "0", "none"], ["2", "0", "none"], ["20", "23", "none"]] == rows[:3]
    assert ["0", "size", "mismatch"] == rows[3]


def test_a_frozen_part_costs_no_gradient_no_state_and_above_it_no_activation() -> None:
    """Adam keeps two averages and a step a tensor; below a layer that trains nothing is saved."""
    found = print_step()
    sizes = {"everything": 7557 - 112, "head": 1445, "first": 80}
    tensors = {"everything": 14, "head": 2, "first": 2}

    assert tensors == {name: of["gradients"] for name, of in found.items()}
    for name, of in found.items():
        assert 8 * sizes[name] + 4 * tensors[name] == of["adam"]
    head = 4 * 32 * (288 + 5)  # what comes in, and the logarithms of the softmax
    assert head <= found["head"]["kept"] < head + 16
    assert found["first"]["kept"] > 0.95 * found["everything"]["kept"]


def test_an_optimizer_that_is_older_than_the_head_does_not_move_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Though the loss falls."""
    print_late_head()
    early, late = (line.split()[-3:] for line in capsys.readouterr().out.splitlines()[1:])

    assert "0.000" == early[2]
    assert float(late[2]) > 0.01
    assert float(early[1]) < 0.5 * float(early[0])
