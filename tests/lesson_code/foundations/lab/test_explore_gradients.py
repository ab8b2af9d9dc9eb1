"""Step 2: what the four gradients are, and what the checker notices."""

import contextlib
from pathlib import Path

import pytest
import torch

from tests.lesson_code.foundations.lab.workspace import (
    SOLUTIONS,
    STARTER,
    check,
    import_file,
    solved_folder,
)

EXPECTED = {
    "sum": [1, 1, 1],
    "squares": [2, 4, 6],
    "mean": pytest.approx([1 / 3, 1 / 3, 1 / 3]),
    "max": [0, 0, 1],
}


def test_the_four_gradients() -> None:
    """Each expression alone gives the gradient that a pencil gives."""
    solution = import_file(SOLUTIONS / "explore_gradients.py", "lab_gradients_solution")

    assert EXPECTED == {name: solution.gradient_of(name) for name in EXPECTED}


def test_the_running_sums() -> None:
    """Without a reset the last sum ends in 8.333."""
    solution = import_file(SOLUTIONS / "explore_gradients.py", "lab_gradients_solution")

    sums = solution.accumulate_without_reset()

    assert [[1, 1, 1], [3, 5, 7]] == sums[:2]
    assert pytest.approx([10 / 3, 16 / 3, 25 / 3]) == sums[3]


def test_max_finds_its_place_again_by_comparing() -> None:
    """It keeps its input and its result, and no index; along a dimension it keeps indices."""
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)

    over_all, along = x.max().grad_fn, x.max(dim=0).values.grad_fn

    kept = {name for name in dir(over_all) if name.startswith("_saved")}
    assert {"_saved_self", "_saved_result"} == kept
    assert hasattr(along, "_saved_indices")


def test_which_graphs_can_be_used_twice() -> None:
    """Sum and mean keep nothing; squares and max free what they kept."""
    starter = import_file(STARTER / "explore_gradients.py", "lab_gradients_starter")
    survivors = []
    for name, expression in starter.EXPRESSIONS.items():
        result = expression(torch.tensor(starter.X, requires_grad=True))
        result.backward()
        with contextlib.suppress(RuntimeError):
            result.backward()
            survivors.append(name)

    assert ["sum", "mean"] == survivors


@pytest.mark.parametrize(
    ("largest", "gradient"),
    [
        (lambda x: x.max(), [0.5, 0.5, 0]),
        (lambda x: x.amax(), [0.5, 0.5, 0]),
        (lambda x: x.max(dim=0).values, [1, 0, 0]),
    ],
)
def test_ties(largest: object, gradient: list[float]) -> None:
    """With two largest elements `max` and `amax` share, and `max(dim=0)` chooses."""
    x = torch.tensor([3.0, 3.0, 1.0], requires_grad=True)
    assert callable(largest)
    largest(x).backward()

    assert x.grad is not None
    assert gradient == x.grad.tolist()


@pytest.mark.parametrize(
    ("old", "new", "failed"),
    [
        ('"sum": [1, 1, 1]', '"sum": None', {"test_predictions"}),
        ('"max": [0, 0, 1]', '"max": [1, 1, 1]', {"test_predictions"}),
        ("    require_prediction(name)\n    x", "    x", {"test_refuses"}),
        (
            'WHY_MAX_IS_SPARSE = (\n    "',
            'WHY_MAX_IS_SPARSE = ("short")\nOTHER = ("',
            {"test_explained"},
        ),
    ],
)
def test_a_fault_is_named(old: str, new: str, failed: set[str], tmp_path: Path) -> None:
    """Each departure leaves its own point open."""
    folder = solved_folder(tmp_path)
    script = folder / "explore_gradients.py"
    source = script.read_text(encoding="utf-8")
    assert 1 == source.count(old)
    script.write_text(source.replace(old, new), encoding="utf-8")

    assert failed == check("2", folder).failed


@pytest.mark.parametrize(
    ("written", "shown"),
    [("[0.333, 0.333, 0.333]", "[0.333, 0.333, 0.333]"), ("1 / 3", "0.3333333333333333")],
)
def test_a_wrong_prediction_is_shown_with_its_precision(
    written: str, shown: str, tmp_path: Path
) -> None:
    """Whatever was written, the learner reads it again, with the digits that count."""
    folder = solved_folder(tmp_path)
    script = folder / "explore_gradients.py"
    source = script.read_text(encoding="utf-8")
    assert 1 == source.count("[1 / 3, 1 / 3, 1 / 3]")
    script.write_text(source.replace("[1 / 3, 1 / 3, 1 / 3]", written), encoding="utf-8")

    checked = check("2", folder)

    said = f"predicted {shown}; three numbers are compared to 0.000001"
    assert said in " ".join(checked.text.split())
    assert {"test_predictions"} == checked.failed


def test_a_missing_reset_is_noticed(tmp_path: Path) -> None:
    """A tensor that keeps its gradient between calls gives answers that depend on the order."""
    folder = solved_folder(tmp_path)
    script = folder / "explore_gradients.py"
    source = script.read_text(encoding="utf-8")
    own = "    require_prediction(name)\n    x = torch.tensor(X, requires_grad=True)\n"
    assert own in source
    source = source.replace(own, "    require_prediction(name)\n    x = KEPT\n")
    script.write_text(
        source.replace("class P", "KEPT = torch.tensor(X, requires_grad=True)\n\n\nclass P")
    )

    checked = check("2", folder)

    assert {"test_reset"} == {name.split("[")[0] for name in checked.failed}
    assert "gradient_of('mean') gives" in checked.text
