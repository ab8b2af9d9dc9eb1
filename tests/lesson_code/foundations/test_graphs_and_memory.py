"""What graphs keep alive, and what each of the two switches does."""

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from lesson_code.foundations.graphs_and_memory import (
    KEEP,
    MEBIBYTE,
    ROWS,
    SITUATIONS,
    kept_bytes,
    print_dropout,
    print_frozen_batch_norm,
    print_inference_mode,
    print_kept,
    print_logging,
    print_predictions,
    print_two_switches,
    print_validation_with_dropout,
    two_passes,
)
from lesson_code.saved_tensors import SavedBytes

GROWING = ("losses.append(loss)", "total += loss", "kept.append(logits)")
GRADIENTS_ON = "validation, gradients on"


def test_item_gives_a_float_and_detach_a_tensor_without_graph(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The list holds a Python float, and only the loss itself requires gradients."""
    print_logging()

    ends = [line.split()[-1] for line in capsys.readouterr().out.splitlines()]
    assert ["float", "True", "False"] == ends


@pytest.mark.parametrize(("situation", "way"), ROWS)
def test_only_results_that_never_met_backward_keep_memory(situation: str, way: str) -> None:
    """Nothing is alive after 20 batches, or 0.25 MiB for each; and that grows in a line."""
    alive = {n: kept_bytes(way, n, **SITUATIONS[situation]).after for n in (5, 10, 20)}

    if situation != GRADIENTS_ON or way not in GROWING:
        assert {0} == set(alive.values())
    else:
        assert alive[5] > 0
        growth = alive[20] - alive[10]
        assert pytest.approx(2 * (alive[10] - alive[5]), rel=0.01) == growth
        assert pytest.approx(10 * 0.25 * MEBIBYTE, rel=0.03) == growth


def test_the_nine_rows_hold_every_way() -> None:
    """Each way of keeping results is in the table, and each of the nine rows once."""
    assert set(KEEP) == {way for _, way in ROWS}
    assert 9 == len(set(ROWS))


def test_what_is_kept_are_the_hidden_activations() -> None:
    """20 batches of logits keep two layers of 64 times 512 each, and nothing else."""
    assert 20 * 2 * 64 * 512 * 4 == kept_bytes("kept.append(logits)", 20).after
    assert pytest.approx(5.05, abs=0.01) == kept_bytes("losses.append(loss)", 20).after / MEBIBYTE


def test_a_missing_no_grad_alone_does_not_grow() -> None:
    """Floats kept, gradients on: more is alive during a batch, no more after 20 than after 5."""
    five, twenty = (kept_bytes("losses.append(loss.item())", n) for n in (5, 20))
    off = kept_bytes("losses.append(loss.item())", 20, gradients=False)

    assert five.peak == twenty.peak > 0 == off.peak
    assert 0 == five.after == twenty.after


def test_a_kept_loss_keeps_its_nodes_after_backward() -> None:
    """The skeleton of the graph can still be walked, though its saved tensors are gone."""
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
    meter = SavedBytes(model)
    with meter:
        loss = cross_entropy(model(torch.randn(4, 8)), torch.tensor([0, 1, 0, 1]))
    loss.backward()

    nodes, waiting = set(), [loss.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in nodes:
            nodes.add(node)
            waiting += [following for following, _ in node.next_functions]

    assert len(nodes) > 4
    assert 0 == meter.total()


def test_the_page_shows_the_table_of_what_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    """Nine rows in three groups, narrow enough for a page."""
    rows = print_kept()

    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 72
    assert list(ROWS) == [(row["situation"], row["way"]) for row in rows]
    assert 2 + len(SITUATIONS) + len(ROWS) == len(lines)


def test_predictions_carry_no_graph(capsys: pytest.CaptureFixture[str]) -> None:
    """Five classes are predicted; a new model was in training mode."""
    print_predictions()

    mode, predictions, graph = capsys.readouterr().out.splitlines()
    assert mode.endswith("True")
    assert 5 == predictions.count("0") + predictions.count("1")
    assert graph.endswith("False")


@pytest.mark.parametrize(
    ("training", "gradients", "equal", "graph"),
    [
        (True, True, False, True),
        (True, False, False, False),
        (False, True, True, True),
        (False, False, True, False),
    ],
)
def test_the_two_switches_are_independent(
    training: bool, gradients: bool, equal: bool, graph: bool
) -> None:
    """The mode alone decides on dropout, and the gradient switch alone on the graph."""
    assert (equal, graph) == two_passes(training, gradients)


def test_the_page_shows_the_four_combinations(capsys: pytest.CaptureFixture[str]) -> None:
    """One row for each, below a heading."""
    print_two_switches()

    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [
        ["mode", "gradients", "two", "passes", "graph"],
        ["train()", "on", "different", "yes"],
        ["train()", "no_grad", "different", "no"],
        ["eval()", "on", "equal", "yes"],
        ["eval()", "no_grad", "equal", "no"],
    ] == rows


def test_an_inference_tensor_may_enter_a_graph_that_does_not_save_it() -> None:
    """A sum keeps nothing, so it goes; a product would have to keep the tensor."""
    weights = torch.ones(3, requires_grad=True)
    with torch.inference_mode():
        features = torch.ones(3)

    (weights + features).sum().backward()

    assert weights.grad is not None
    with pytest.raises(RuntimeError, match="cannot be saved for backward"):
        weights * features


def test_inference_tensors_cannot_be_saved(capsys: pytest.CaptureFixture[str]) -> None:
    """Features from no_grad train a head, and features from inference_mode raise."""
    print_inference_mode()

    no_grad, inference_mode = capsys.readouterr().out.splitlines()
    assert "no_grad: the head has its gradient" == no_grad
    assert "Inference tensors cannot be saved for backward" in inference_mode


def test_dropout_zeroes_half_and_doubles_the_rest(capsys: pytest.CaptureFixture[str]) -> None:
    """In training mode the mean stays; in evaluation mode everything does."""
    data = print_dropout()

    training, evaluation = capsys.readouterr().out.splitlines()
    assert pytest.approx(0.5, abs=0.01) == data["zeros"]
    assert pytest.approx(1.0, abs=0.02) == data["mean"]
    assert "the rest 2.0" in training
    assert evaluation.endswith("True")


def test_dropout_in_validation_measures_low_and_unsteadily(
    capsys: pytest.CaptureFixture[str], one_thread: None
) -> None:
    """Evaluation mode repeats itself; training mode gives another, lower number each time."""
    data = print_validation_with_dropout()

    still = capsys.readouterr().out.splitlines()[2].split()[-2:]
    assert still[0] == still[1]
    assert data["lowest"] < data["highest"]
    assert data["mean"] < data["eval"]
    assert data["eval"] > 0.85


def test_frozen_batch_norm_follows_its_batches_in_training_mode(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Parameters without gradients do not stop the running mean; evaluation mode does."""
    print_frozen_batch_norm()

    means = [line.split("mean ")[1] for line in capsys.readouterr().out.splitlines()]
    assert ["tensor([0., 0.])", *["tensor([0.3000, 0.3000])"] * 2] == means


def test_an_input_can_have_a_gradient_while_the_model_is_evaluated() -> None:
    """The situation of adversarial examples: gradients on, eval(), and the input asks for them."""
    model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 2)).eval()
    model.requires_grad_(False)
    rows = torch.randn(3, 4, requires_grad=True)

    cross_entropy(model(rows), torch.tensor([0, 1, 0])).backward()

    assert rows.grad is not None
    assert {None} == {p.grad for p in model.parameters()}
