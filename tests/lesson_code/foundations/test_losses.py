"""Output, target and loss: what fits, what is refused, and what runs and learns nothing."""

import math
import warnings
from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from lesson_code.data import as_tensors, load_mnist
from lesson_code.foundations import losses
from lesson_code.foundations.losses import (
    NAMES_IN_FIGURES,
    PAIRS,
    SoftmaxFirst,
    gradient_of_a_confident_mistake,
    gradients_of_a_confident_no,
    loss_of_random_logits,
    mse_of_indices,
    print_first_loss,
    print_floor,
    print_label_formats,
    print_mse_of_indices,
    print_regression_losses,
    print_softmax_first_runs,
    print_two_classes,
    softmax_first_floor,
    train_pair,
    two_clouds,
    untrained_losses,
)
from lesson_code.foundations.modules import DigitClassifier
from tests.printed import printed

SIZE_WARNING = "different to the input size"
Runs = dict[str, dict[str, float]]


@pytest.fixture(scope="module")
def digits() -> Runs:
    """Logits and softmax first on real digits, as the page shows them."""
    data: Runs = printed("foundations/losses:print_softmax_first_runs").data
    return data


@pytest.fixture(scope="module")
def two_classes() -> Runs:
    """Six pairs of target and loss, as the page shows them."""
    data: Runs = printed("foundations/losses:print_two_classes").data
    return data


def logits_and_indices() -> tuple[torch.Tensor, torch.Tensor]:
    """Random logits (4, 10), float32, and class indices (4,), int64."""
    logits = torch.randn(4, 10, generator=torch.Generator().manual_seed(0))
    return logits, torch.tensor([3, 1, 4, 1])


def test_the_first_loss_is_about_the_logarithm_of_the_classes() -> None:
    """An untrained classifier: ln 10. Random logits: some more, one draw between 2 and 3.5."""
    data = print_first_loss()

    assert 2.0 < loss_of_random_logits(0) < 3.5
    assert data["mean"] == pytest.approx(2.72, abs=0.02)
    assert data["spread"] == pytest.approx(0.17, abs=0.01)
    assert data["untrained"] == pytest.approx(math.log(10), abs=0.1)
    assert data["softmax_first"] == pytest.approx(math.log(10), abs=0.1)
    assert data["other_labels"] == pytest.approx(math.log(10), abs=0.1)


@pytest.mark.parametrize("seed", range(5))
def test_the_first_loss_shows_neither_a_softmax_nor_other_labels(seed: int) -> None:
    """Behind a softmax it is closer to ln 10 than a healthy one may be; 9 - y is near it too."""
    digits = as_tensors(load_mnist(train=False, source="subset"))
    from_logits = untrained_losses(DigitClassifier, digits, seed)
    behind_softmax = untrained_losses(SoftmaxFirst, digits, seed)

    assert behind_softmax["labels"] == pytest.approx(math.log(10), abs=0.02)
    assert from_logits["labels"] == pytest.approx(math.log(10), abs=0.1)
    assert from_logits["other_labels"] == pytest.approx(math.log(10), abs=0.1)


def test_a_fresh_model_may_begin_far_above_with_nothing_wrong() -> None:
    """The first weights decide: an embedding's are large, and used as a head too they show."""
    torch.manual_seed(0)
    embedding = nn.Embedding(1000, 256)
    words, answers = torch.randint(1000, (2, 128))

    loss = F.cross_entropy(F.layer_norm(embedding(words), (256,)) @ embedding.weight.T, answers)

    assert loss.item() > 2 * math.log(1000)


def test_a_rare_class_makes_a_low_loss_easy() -> None:
    """Who says 1 % to every row pays far less than ln 2, and is right in 99 rows of 100."""
    labels = torch.cat([torch.ones(10), torch.zeros(990)])
    base_rate = torch.full((1000,), math.log(0.01 / 0.99))

    loss = F.binary_cross_entropy_with_logits(base_rate, labels).item()

    assert loss < 0.1 * math.log(2)
    assert 0.98 < ((base_rate > 0) == labels.bool()).float().mean().item()


@pytest.mark.parametrize("dtype", [torch.int32, torch.int16, torch.float32])
def test_indices_of_other_dtypes_are_refused(dtype: torch.dtype) -> None:
    """int32, int16 and float indices raise, and the message asks for Long."""
    logits, indices = logits_and_indices()

    with pytest.raises(RuntimeError, match="Long"):
        F.cross_entropy(logits, indices.to(dtype))


def test_integer_one_hot_rows_are_refused() -> None:
    """As class probabilities they would have to be floating."""
    logits, indices = logits_and_indices()

    with pytest.raises(RuntimeError, match="floating point type for target"):
        F.cross_entropy(logits, F.one_hot(indices, 10))


def test_float_one_hot_rows_and_bytes_give_the_loss_of_indices() -> None:
    """Probabilities are a second form of the same labels, and uint8 indices a third."""
    logits, indices = logits_and_indices()
    expected = F.cross_entropy(logits, indices).item()

    from_rows = F.cross_entropy(logits, F.one_hot(indices, 10).float()).item()
    from_bytes = F.cross_entropy(logits, indices.to(torch.uint8)).item()

    assert from_rows == pytest.approx(expected, abs=1e-6)
    assert from_bytes == pytest.approx(expected, abs=1e-6)


def test_with_class_weights_one_hot_floats_give_another_loss() -> None:
    """Over indices the mean divides by the weights of the rows, over probabilities by the rows."""
    logits, indices = logits_and_indices()
    weight = torch.linspace(1, 10, 10)
    rows = F.one_hot(indices, 10).float()
    total = F.cross_entropy(logits, indices, weight, reduction="sum")

    torch.testing.assert_close(
        F.cross_entropy(logits, indices, weight), total / weight[indices].sum()
    )
    torch.testing.assert_close(F.cross_entropy(logits, rows, weight), total / len(indices))


def test_probabilities_leave_no_label_out() -> None:
    """ignore_index is for indices alone."""
    logits, indices = logits_and_indices()

    with pytest.raises(RuntimeError, match="ignore_index is not supported"):
        F.cross_entropy(logits, F.one_hot(indices, 10).float(), ignore_index=0)


def test_indices_are_smaller_with_more_than_two_classes() -> None:
    """A label is 8 bytes as an index, and 4 for each class as a row: with two they are equal."""
    sizes = {k: F.one_hot(torch.arange(2), k).float().nbytes for k in (2, 3)}

    assert torch.arange(2).nbytes == sizes[2] < sizes[3]


def test_bce_wants_float_targets_of_the_same_shape() -> None:
    """Another shape raises, integers raise, and both `[batch]` and `[batch, 1]` do."""
    logits = torch.zeros(4, 1)
    answers = torch.tensor([[1.0], [0.0], [0.0], [1.0]])
    bce = nn.BCEWithLogitsLoss()

    assert math.log(2) == pytest.approx(bce(logits, answers).item())
    assert math.log(2) == pytest.approx(bce(logits[:, 0], answers[:, 0]).item())
    with pytest.raises(ValueError, match="must be the same as input size"):
        bce(logits, answers[:, 0])
    with pytest.raises(RuntimeError):
        bce(logits, answers.long())


@pytest.mark.parametrize(
    ("classes", "floor"), [(2, 0.3133), (3, 0.5514), (10, 1.4612), (100, 3.6222), (1000, 5.9095)]
)
def test_the_floor_is_what_perfect_answers_cost(classes: int, floor: float) -> None:
    """The formula gives the loss of a 1 for the right class and a 0 for the others."""
    perfect = torch.eye(classes)[:1]
    cost = F.cross_entropy(perfect, torch.tensor([0])).item()

    computed = softmax_first_floor(classes)

    assert floor == pytest.approx(computed, abs=1e-4)
    assert cost == pytest.approx(computed, abs=1e-5)


def test_a_log_softmax_in_front_changes_nothing() -> None:
    """Loss and gradient are those of the logits: only a softmax in front is a fault."""
    logits, indices = logits_and_indices()
    logits.requires_grad_()
    found = []
    for outputs in (logits, F.log_softmax(logits, dim=1)):
        loss = F.cross_entropy(outputs, indices)
        found.append((loss, *torch.autograd.grad(loss, logits)))

    torch.testing.assert_close(*found)


def test_no_logits_get_below_the_floor() -> None:
    """Whatever a model says before the softmax, sure or unsure, right or wrong."""
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(10_000, 10, generator=generator) * 20
    labels = logits.argmax(dim=1)

    losses = F.cross_entropy(logits.softmax(dim=1), labels, reduction="none")

    assert losses.min() >= softmax_first_floor(10) - 1e-4


def test_a_confident_mistake_gets_no_gradient_behind_a_softmax() -> None:
    """From logits it is pulled as hard as can be."""
    assert gradient_of_a_confident_mistake(softmax_first=False) == pytest.approx(-1.0, abs=1e-3)
    assert abs(gradient_of_a_confident_mistake(softmax_first=True)) < 1e-7


def test_the_log_of_a_softmax_overflows_where_the_loss_does_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Infinity by hand, 300 from logits."""
    print_floor()

    lines = [line.split() for line in capsys.readouterr().out.splitlines()[-2:]]
    assert ["inf", "300.0"] == [line[-1] for line in lines]


def test_softmax_first_gives_shares() -> None:
    """The rows of its outputs sum to one."""
    outputs = SoftmaxFirst()(torch.rand(5, 1, 28, 28))

    torch.testing.assert_close(outputs.sum(dim=1), torch.ones(5))


def test_both_tables_have_the_rows_of_the_page(
    digits: Runs, two_classes: Runs, monkeypatch: pytest.MonkeyPatch, one_thread: None
) -> None:
    """One seed and one epoch give what is to be shown, and numbers of their own."""
    monkeypatch.setattr(losses, "DIGIT_SEEDS", range(1))
    monkeypatch.setattr(losses, "DIGIT_EPOCHS", 1)
    monkeypatch.setattr(losses, "TWO_CLASS_SEEDS", range(1))

    short, pairs = print_softmax_first_runs(), print_two_classes()

    assert digits.keys() == short.keys()
    assert all(digits[name].keys() == runs.keys() for name, runs in short.items())
    assert short["adam_logits"]["smallest_loss"] > digits["adam_logits"]["largest_loss"]
    assert two_classes.keys() == pairs.keys()
    assert all(two_classes[name].keys() == runs.keys() for name, runs in pairs.items())
    assert all(
        runs["accuracy"] > 0.9 for name, runs in pairs.items() if name in NAMES_IN_FIGURES[:-1]
    )


def test_on_digits_softmax_first_looks_fine_but_for_its_loss(digits: Runs) -> None:
    """With Adam: loss above the floor, below 1.75; accuracy within 0.05 of the one from logits."""
    logits, softmax = digits["adam_logits"], digits["adam_softmax"]

    assert logits["largest_loss"] < 0.45
    assert softmax["smallest_loss"] >= softmax_first_floor(10) - 1e-4
    assert softmax["largest_loss"] < 1.75
    assert abs(logits["smallest_accuracy"] - softmax["smallest_accuracy"]) < 0.05
    assert softmax["smallest_accuracy"] > 0.8


def test_on_digits_sgd_pays_for_softmax_first(digits: Runs) -> None:
    """Every run with softmax first is worse than every run from logits, by five points or more."""
    logits, softmax = digits["sgd_logits"], digits["sgd_softmax"]

    assert softmax["smallest_loss"] >= softmax_first_floor(10) - 1e-4
    assert softmax["largest_accuracy"] < logits["smallest_accuracy"] - 0.05


def test_squared_error_punishes_and_absolute_error_does_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """25.75 against 3.25; perfect values cost nothing, and much as a column."""
    print_regression_losses()

    lines = capsys.readouterr().out.splitlines()
    assert [25.75, 3.25, 0.0] == [float(line.split()[-1]) for line in lines[:3]]
    assert float(lines[3].split()[-1]) > 10
    assert "different to the input" in " ".join(lines[4:])


def test_a_column_against_a_row_becomes_a_table() -> None:
    """N outputs and N targets are compared in N times N pairs, with a warning."""
    outputs, targets = torch.rand(5, 1), torch.rand(5)
    pairs = (outputs - targets.unsqueeze(0)).square().mean().item()

    with pytest.warns(UserWarning, match=SIZE_WARNING):
        loss = F.mse_loss(outputs, targets)

    assert pairs == pytest.approx(loss.item())


@pytest.mark.parametrize(("rows", "classes"), [(2, 2), (10, 10), (1, 2)])
def test_as_many_rows_as_classes_only_warn(rows: int, classes: int) -> None:
    """MSE with index labels runs there, and with a single row."""
    failure, warning = mse_of_indices(rows, classes)

    assert "no error" == failure
    assert SIZE_WARNING in warning


def test_other_batches_warn_and_raise() -> None:
    """Sixteen rows of two classes: the sizes do not match."""
    failure, warning = mse_of_indices(16, 2)

    assert failure.startswith("RuntimeError: ")
    assert "must match the size" in failure
    assert SIZE_WARNING in warning


def test_the_broadcast_learns_the_mean_of_the_labels(two_classes: Runs) -> None:
    """Its loss is that of a coin, its accuracy chance, its outputs hardly differ."""
    broadcast = two_classes["broadcast"]

    assert 0.23 < broadcast["loss"] < 0.27
    assert 0.35 < broadcast["accuracy"] < 0.65
    assert broadcast["spread"] < 0.05
    assert 0.4 < broadcast["smallest"] < broadcast["largest"] < 0.6


@pytest.mark.parametrize("name", NAMES_IN_FIGURES[:-1])
def test_every_other_pair_learns(two_classes: Runs, name: str) -> None:
    """Nine rows of ten are right."""
    assert two_classes[name]["accuracy"] > 0.90


def test_outputs_of_mse_are_no_probabilities(two_classes: Runs) -> None:
    """They leave the range from 0 to 1 at both ends."""
    same_shape = two_classes["same_shape"]

    assert same_shape["smallest"] < -0.1
    assert same_shape["largest"] > 1.1


def test_mse_after_a_sigmoid_hardly_pulls_at_a_confident_mistake() -> None:
    """0.005 where BCE has 0.998."""
    bce, mse = gradients_of_a_confident_no()

    assert bce == pytest.approx(0.998, abs=1e-3)
    assert mse == pytest.approx(0.005, abs=1e-3)


@pytest.mark.parametrize("name", PAIRS)
def test_only_the_last_pair_warns(name: str) -> None:
    """The other five have outputs and targets that fit."""
    features, labels = two_clouds(16, seed=0)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        train_pair(name, features, labels)

    assert (name == list(PAIRS)[-1]) == any(SIZE_WARNING in str(one.message) for one in caught)


@pytest.mark.parametrize(
    ("show", "fragments"),
    [
        (print_label_formats, ["int32 refused: RuntimeError", "(4,), float32 refused: ValueError"]),
        (print_mse_of_indices, ["(16, 2)", "must match the size", "no error"]),
    ],
)
def test_the_page_prints_what_it_needs(
    show: Callable[[], None], fragments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Every output has its findings, in at most 72 columns."""
    show()

    printed = capsys.readouterr().out
    assert [] == [fragment for fragment in fragments if fragment not in " ".join(printed.split())]
    assert max(len(line) for line in printed.splitlines()) <= 72
