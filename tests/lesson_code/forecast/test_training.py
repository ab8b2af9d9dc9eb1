"""What a learner's function returns is checked and counted, or refused with the reason."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from lesson_code.forecast.refusal import RefusedError
from lesson_code.forecast.training import Training, builder, count, said
from tests.lesson_code.forecast import own

OWN = own.__name__
MODEL, OPTIMIZER, LOSS, BATCH = own.good()
INPUTS, TARGETS = BATCH


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> Callable[[object], Training]:
    """Builds the training that a function gives, which returns some value."""

    def built(returned: object) -> Training:
        monkeypatch.setattr(own, "made", lambda: returned, raising=False)
        return builder(f"{OWN}:made")()

    return built


def test_each_of_the_four_has_its_place(built: Callable[[object], Training]) -> None:
    """In a tuple or a list, and so is the batch."""
    expected = Training(model=MODEL, optimizer=OPTIMIZER, loss_function=LOSS, batch=BATCH)

    for returned in ((MODEL, OPTIMIZER, LOSS, BATCH), [MODEL, OPTIMIZER, LOSS, list(BATCH)]):
        training = built(returned)
        assert expected == training
        assert 4 == training.batch_size


@pytest.mark.parametrize(
    ("returned", "says"),
    [
        (None, "returns NoneType and not four things: a model, an optimizer, a loss function and"),
        ("four", "returns str and not four things"),
        ((MODEL, OPTIMIZER, LOSS), "returns tuple and not four things"),
        ([MODEL, OPTIMIZER, LOSS, *BATCH], "returns list and not four things"),
        ((LOSS.forward, OPTIMIZER, LOSS, BATCH), "returns method in the place of a model"),
        (
            (nn.Linear, OPTIMIZER, LOSS, BATCH),
            "returns type, a class and not an object of it in the place of a model",
        ),
        ((MODEL, MODEL, LOSS, BATCH), "returns Linear in the place of an optimizer"),
        ((MODEL, OPTIMIZER, INPUTS, BATCH), "returns Tensor in the place of a loss function"),
        ((MODEL, OPTIMIZER, LOSS, INPUTS), "returns Tensor in the place of a batch"),
        ((MODEL, OPTIMIZER, LOSS, (INPUTS, [1, 2, 3, 4])), "is not a tuple of tensors with a"),
        ((MODEL, OPTIMIZER, LOSS, (INPUTS, torch.tensor(4))), "is not a tuple of tensors with a"),
        ((MODEL, OPTIMIZER, LOSS, ()), "has a batch of no samples"),
        ((MODEL, OPTIMIZER, LOSS, (INPUTS,)), "has a batch of 4 samples"),
        ((MODEL, OPTIMIZER, LOSS, (INPUTS, INPUTS, INPUTS[1:])), "has a batch of 4, 4, 3 samples"),
        ((MODEL, OPTIMIZER, LOSS, (INPUTS[:0], TARGETS[:0])), "has a batch of 0, 0 samples"),
        (
            (
                MODEL,
                torch.optim.SGD(
                    [{"params": MODEL.parameters()}, {"params": [nn.Parameter(INPUTS)]}]
                ),
                LOSS,
                BATCH,
            ),
            "an optimizer of tensors that are not its model's",
        ),
    ],
)
def test_what_is_no_training_is_refused(
    built: Callable[[object], Training], returned: object, says: str
) -> None:
    """The message names the function and what is wrong with what it returns."""
    with pytest.raises(RefusedError) as refused:
        built(returned)

    assert str(refused.value).startswith(f"{OWN}:made ")
    assert says in str(refused.value)


def test_a_batch_of_one_and_a_model_that_learns_in_part(
    built: Callable[[object], Training],
) -> None:
    """Neither is refused."""
    optimizer = torch.optim.SGD([MODEL.weight])

    assert 1 == built((MODEL, optimizer, LOSS, (INPUTS[:1], TARGETS[:1]))).batch_size


@pytest.mark.parametrize("target", ["mnist", ":mnist", f"{OWN}:", ""])
def test_both_a_module_and_a_function_are_needed(target: str) -> None:
    """The message shows how it is written, by a function that is there."""
    with pytest.raises(RefusedError, match="is not MODULE:FUNCTION; write it like") as refused:
        builder(target)

    module, _, function = str(refused.value).rpartition(" ")[2].partition(":")
    source = Path(str(find_spec(module).origin)).read_text("utf-8")  # type: ignore[union-attr]
    assert f"\ndef {function}(" in source


@pytest.mark.parametrize(
    ("attribute", "ends"),
    [
        ("NOT_A_FUNCTION", "has no function 'NOT_A_FUNCTION'"),
        ("goood", "has no function 'goood'; there is good"),
        ("nothing_like_it", "has no function 'nothing_like_it'"),
    ],
)
def test_a_function_that_is_not_there(attribute: str, ends: str) -> None:
    """Functions with a name like it are named, and nothing else of the module."""
    with pytest.raises(RefusedError) as refused:
        builder(f"{OWN}:{attribute}")

    assert f"{OWN} {ends}" == str(refused.value)


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("import not_there", "mine_too needs 'not_there', which is not installed"),
        ("import mine", "mine_too needs 'mine', which is not installed"),
        ("import mine_too.part", "mine_too needs 'mine_too.part', which is not installed"),
        ("raise ValueError('no. 3\\nmore')", "mine_too can't be imported, ValueError: no. 3"),
        (None, "there is no module 'mine_too' here"),
    ],
)
def test_a_module_that_does_not_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str | None, says: str
) -> None:
    """Whether it is not there, or needs what is not there, or fails."""
    monkeypatch.syspath_prepend(tmp_path)
    if code:
        (tmp_path / "mine_too.py").write_text(code, encoding="utf-8")

    with pytest.raises(RefusedError) as refused:
        builder("mine_too:training")

    assert str(refused.value).startswith(says)
    assert "more" not in str(refused.value)


@pytest.mark.parametrize("name", ["tests.lesson_code.forecast.nothing", "nothing.at.all"])
def test_a_module_in_a_folder(name: str) -> None:
    """It is not there, or one of its folders is not."""
    with pytest.raises(RefusedError, match=f"there is no module '{name}' here"):
        builder(f"{name}:training")


def test_a_function_that_fails() -> None:
    """It is called when the training is built, and what it raised is at hand."""
    build = builder(f"{OWN}:raises")

    with pytest.raises(RefusedError, match=f"{OWN}:raises fails, OSError: no such data") as refused:
        build()

    assert isinstance(refused.value.__cause__, OSError)


@pytest.mark.parametrize(
    ("problem", "expected"),
    [
        (ValueError(), "ValueError"),
        (ValueError("short"), "ValueError: short"),
        (KeyError("a"), "KeyError: 'a'"),
        (OSError("\n No matrix.\nSecond."), "OSError: No matrix"),
    ],
)
def test_what_a_problem_says(problem: BaseException, expected: str) -> None:
    """Its kind, and its first line without the full stop."""
    assert expected == said(problem)


@pytest.mark.parametrize("samples", [1, 3, 5, 8])
def test_a_batch_of_another_size(built: Callable[[object], Training], samples: int) -> None:
    """Its samples are those of the batch in turn, each with its own target."""
    numbers = torch.arange(3)
    training = built((MODEL, OPTIMIZER, LOSS, (numbers * 10, numbers)))

    inputs, targets = training.of_size(samples)

    assert [0, 1, 2, 0, 1, 2, 0, 1][:samples] == targets.tolist()
    assert inputs.tolist() == (10 * targets).tolist()


def test_recurrent_layers(built: Callable[[object], Training]) -> None:
    """They are found wherever in the model they are."""
    within = nn.Sequential(nn.Linear(3, 3), nn.Sequential(nn.GRU(3, 3)))
    optimizer = torch.optim.SGD(within.parameters())

    assert built((within, optimizer, LOSS, BATCH)).has_recurrent_layers
    assert not built(own.good()).has_recurrent_layers


@pytest.mark.parametrize(
    ("arguments", "format", "channels_last"),
    [
        ((), "float32", False),
        (("tf32",), "tf32", False),
        (("bfloat16", True), "bfloat16", True),
    ],
)
def test_a_step_of_any_size_is_counted(
    arguments: tuple[Any, ...], format: str, channels_last: bool
) -> None:
    """No memory holds so many; for each the layer multiplies 3 × 2 numbers forward and back."""
    step = count(builder(f"{OWN}:good"), 10**12, *arguments)

    computed_in = "float32" if format == "tf32" else format
    assert {computed_in: 2 * (2 * 10**12 * 3 * 2)} == step.flop
    assert (format, channels_last) == (step.format, step.channels_last)


def test_a_step_that_fails() -> None:
    """The message says of which size, and what the problem was."""
    with pytest.raises(RefusedError, match=r"batch of 6, RuntimeError: .*; try") as refused:
        count(builder(f"{OWN}:wrong_shape"), 6)

    assert isinstance(refused.value.__cause__, RuntimeError)


def test_a_step_that_reads_a_value() -> None:
    """It is refused as one that can't be counted, and not as one that fails."""
    with pytest.raises(RefusedError, match=r"^the step reads a value of a tensor, and"):
        count(builder(f"{OWN}:reads"), 6)


def test_a_compiled_model_is_refused() -> None:
    """Its operations are not PyTorch's."""
    with pytest.raises(RefusedError, match="own:compiled compiles its model"):
        builder(f"{OWN}:compiled")()
