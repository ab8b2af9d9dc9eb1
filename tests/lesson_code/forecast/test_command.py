"""The command forecasts a learner's own training, or says in a sentence why not."""

import json
import re
from itertools import product
from pathlib import Path
from unittest.mock import Mock

import pytest

from lesson_code.forecast import __main__ as command
from lesson_code.forecast import measure as measuring
from lesson_code.forecast import training

OWN = "tests.lesson_code.forecast.own"


def rows(text: str) -> list[list[str]]:
    """The cells of the table, heads first."""
    lines = text.partition("\n\n")[0].splitlines()
    return [re.split(r"\s{2,}", line) for line in lines]


def test_a_row_for_each_choice(capsys: pytest.CaptureFixture[str]) -> None:
    """Two batches, two formats and two cards are eight forecasts."""
    asked = [f"{OWN}:good", "--card", "t4,h100", "--batch", "64,256", "--format", "float32,float16"]

    assert 0 == command.main(asked)

    heads, *found = rows(capsys.readouterr().out)
    chosen = product(("64", "256"), ("float32", "float16"), ("T4", "H100 (SXM)"))
    assert ["card", "batch", "format"] == heads[:3]
    assert [[card, batch, format] for batch, format, card in chosen] == [row[:3] for row in found]
    assert all("launches" == row[-1] for row in found)


def test_a_card_without_the_format(capsys: pytest.CaptureFixture[str]) -> None:
    """Its row says so, and the other cards are forecast."""
    asked = [f"{OWN}:good", "--card", "t4,h100", "--format", "float32,bfloat16"]

    assert 0 == command.main(asked)

    *_, without, other = rows(capsys.readouterr().out)
    assert ["T4", "4", "bfloat16", "–", "–", "–"] == without[:6]
    assert "no bfloat16 units" == without[-1]
    assert ["H100 (SXM)", "4", "bfloat16"] == other[:3]
    assert "launches" == other[-1]


def test_the_functions_own_batch(capsys: pytest.CaptureFixture[str]) -> None:
    """Without --batch it is the batch that the function made; said once, as all rows have it."""
    command.main([f"{OWN}:good", "--card", "t4"])

    above, heads, _ = rows(capsys.readouterr().out)
    assert ["batch 4, float32"] == above
    assert ["card", "a step"] == heads[:2]


def test_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The file for the page has the counts of each step."""
    file = tmp_path / "own.json"

    assert 0 == command.main([f"{OWN}:good", "--batch", "1,2", "--json", str(file), "--measure"])

    content = json.loads(file.read_text(encoding="utf-8"))
    assert ("gpu-training.forecast", 1, f"{OWN}:good") == (
        content["format"],
        content["version"],
        content["model"],
    )
    assert [1, 2] == [step["batch"] for step in content["steps"]]
    assert 2 * (2 * 2 * 3 * 2) == content["steps"][1]["flop"]["float32"]
    assert 2 == content["measured"]["batch"]
    assert 0 < content["measured"]["seconds"]


def test_what_is_too_large_is_scaled(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A batch that would take too long is timed smaller, and the table says so."""
    monkeypatch.setattr(measuring, "LONGEST_S", 0.0)

    command.main([f"{OWN}:good", "--batch", "2,100", "--measure"])

    small, large = rows(capsys.readouterr().out)[-2:]
    assert ["this CPU", "2", "measured"] == [*small[:2], small[4]]
    assert "scaled from a batch of 2" == large[-1]


def test_too_little_memory(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without memory nothing is measured."""
    monkeypatch.setattr(measuring, "free_memory", lambda: 0)

    assert 2 == command.main([f"{OWN}:good", "--measure"])
    assert "no batch fits" in capsys.readouterr().err


def test_recurrent_layers(capsys: pytest.CaptureFixture[str]) -> None:
    """Launches that are not a GPU's decide nothing."""
    command.main([f"{OWN}:recurrent"])

    printed = capsys.readouterr().out
    assert {"not known"} == {row[-1] for row in rows(printed)[2:]}
    assert "Recurrent layers" in printed


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["mnist"], "'mnist' is not MODULE:FUNCTION"),
        (["no.such.module:mnist"], "there is no module 'no.such.module'"),
        ([f"{OWN}:goood"], "has no function 'goood'; there is good"),
        ([f"{OWN}:NOT_A_FUNCTION"], "has no function 'NOT_A_FUNCTION'"),
        ([f"{OWN}:raises"], "fails, OSError: no such data set"),
        ([f"{OWN}:three"], "returns tuple and not four things"),
        ([f"{OWN}:a_class"], "a class and not an object of it"),
        ([f"{OWN}:unequal"], "has a batch of 4, 5 samples"),
        ([f"{OWN}:wrong_shape"], "the step fails with a batch of 4, RuntimeError"),
        ([f"{OWN}:another_optimizer"], "an optimizer of tensors that are not its model's"),
        ([f"{OWN}:many_losses"], "grad can be implicitly created only for scalar outputs"),
        ([f"{OWN}:reads"], "reads a value of a tensor, and counts are made without values"),
        ([f"{OWN}:compiled"], "compiles its model"),
        ([f"{OWN}:good", "--card", "rtx4090"], "there is no card 'rtx4090'; there is rtx-4090"),
        (
            [f"{OWN}:good", "--card", "t4", "--format", "bfloat16"],
            "no units for bfloat16 on any card asked for: T4 has float32",
        ),
        ([f"{OWN}:good", "--format", "fp8"], "there is no format 'fp8'; there is float32"),
        ([f"{OWN}:good", "--batch", "0"], "'0' is not a batch size of at least 1"),
        ([f"{OWN}:good", "--batch", ","], "',' names nothing"),
        ([f"{OWN}:good", "--layout", "nhwc"], "invalid choice: 'nhwc'"),
        ([f"{OWN}:good", "--json", "/no/such/folder/a.json"], "can't write /no/such/folder/a.json"),
        ([f"{OWN}:good", "--json", "/"], "can't write /: it is a folder"),
    ],
)
def test_a_sentence_for_each_mistake(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line that begins with error, nothing else, and exit code 2."""
    try:
        code = command.main(arguments)
    except SystemExit as stopped:
        code = stopped.code  # type: ignore[assignment]

    printed = capsys.readouterr()
    assert 2 == code
    assert "" == printed.out
    assert 1 == printed.err.count("\n")
    assert printed.err.startswith("error: ")
    assert says in printed.err


def test_all_cards_are_forecast_from_one_count(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], any_weights: None
) -> None:
    """A step is what takes time to count; ResNet-50 on five cards is counted once."""
    counting = Mock(wraps=training.count)
    monkeypatch.setattr(training, "count", counting)
    asked = ["lesson_code.forecast.examples:resnet50", "--batch", "128"]

    assert 0 == command.main([*asked, "--card", "t4,rtx-3090,rtx-4090,a100-80gb,h100"])

    assert 5 == len(rows(capsys.readouterr().out)[2:])
    assert 1 == counting.call_count
