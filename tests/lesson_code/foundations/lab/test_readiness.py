"""Step 6: the checker of the note finds what is missing in it, and nothing else."""

import importlib
import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from tests.lesson_code.foundations.lab.workspace import SOLUTIONS, STARTER, check, solved_folder

METRICS = {
    "model": "DigitClassifier",
    "loss": "CrossEntropyLoss",
    "optimizer": "Adam",
    "device": "cpu",
    "epochs": [
        {"epoch": 1, "training_loss": 0.94, "validation_accuracy": 0.8220},
        {"epoch": 2, "training_loss": 0.43, "validation_accuracy": 0.8980},
    ],
}
CHECKPOINT = {
    "epoch": 2,
    "model_state_dict": {"weight": torch.zeros(1)},
    "optimizer_state_dict": {"state": {0: {"step": 1}}, "param_groups": []},
    "validation_accuracy": 0.8980,
}
PAGE = "Momentum keeps the old direction while each new gradient bends it a little further towards "
PAGE += "the valley, and so a plain sum of gradients behaves like a ball without any friction."
GOOD = (SOLUTIONS / "training-readiness.md").read_text(encoding="utf-8")
FAULTY = {
    "no verdict": (
        "Not ready for a nightly job. Ready for a demonstration on one machine.",
        "Wait for a nightly job.",
        "there is no verdict",
    ),
    "wrong loss": ("CrossEntropyLoss", "MSELoss", "Loss: the note does not name what ran"),
    "two checks": (
        '- Save and reload: the largest difference of the logits was "0.0".\n',
        "",
        "fewer than three checks with what was seen",
    ),
    "a check without a number": (
        "## Validation versus",
        "- Validate twice: both passes gave the same accuracy.\n\n## Validation versus",
        "a check does not say what was seen",
    ),
    "wrong accuracy": ("0.898", "0.95", "the best validation accuracy is not in the evidence"),
    "missing key": (
        "`optimizer_state_dict`",
        "the optimizer",
        "the note does not name every key of the checkpoint",
    ),
    "placeholder": ("## Bugs fixed\n", "## Bugs fixed\n\nTODO\n", "a placeholder is left"),
    "copied paragraph": (
        "## Evidence\n",
        f"## Evidence\n\n{PAGE}\n",
        "part of the note is text of the pages",
    ),
    "one risk": (
        "- The loader converts every image anew, and with a hundred times the data it will rule "
        "the night.\n",
        "",
        "fewer than two risks",
    ),
}


@pytest.fixture(scope="module")
def checks() -> dict[str, ModuleType]:
    """The modules of the checker that look at notes."""
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(str(STARTER))
        names = ("readiness", "fingerprints")
        return {name: importlib.import_module(f"checks.{name}") for name in names}


@pytest.fixture
def symptoms(checks: dict[str, ModuleType], tmp_path: Path) -> Any:
    """Gives the symptoms that are found in a note."""
    pages = tmp_path / "pages.bin"
    pages.write_bytes(checks["fingerprints"].pack([PAGE]))
    evidence = checks["readiness"].Evidence(METRICS, CHECKPOINT, pages)

    def look(note: str) -> list[str]:
        found = checks["readiness"].findings(note, evidence)
        return [finding.symptom for findings in found.values() for finding in findings]

    return look


def test_a_good_note_is_complete(symptoms: Any) -> None:
    """Nothing is found in it."""
    assert [] == symptoms(GOOD)


def test_a_wrapped_note_is_as_complete(symptoms: Any) -> None:
    """What was seen may stand in a later line of its item."""
    wrapped = GOOD.replace("- Overfit one batch: 32", "- Overfit one batch:\n  32")
    assert wrapped != GOOD

    assert [] == symptoms(wrapped)


@pytest.mark.parametrize("written", ["89.8 %", "89.80%", "89.8 percent", "0.8980"])
def test_an_accuracy_may_be_written_in_percent(written: str, symptoms: Any) -> None:
    """The metrics file has fractions, and a note may have either."""
    assert [] == symptoms(GOOD.replace("0.898", written))


@pytest.mark.parametrize("mark", ["-", "*", "+", "1.", "2)", " -"])
def test_what_belongs_to_an_item_is_no_item(mark: str, symptoms: Any) -> None:
    """A check may say in a list of its own what was run and seen, however its items are marked."""
    inner = "- Overfit one batch:\n  - on a small batch\n  - seen: a final loss of 0.007\n"
    nested = GOOD.replace("- Overfit one batch: 32 images, 100 steps, final loss 0.007.\n", inner)
    assert nested != GOOD
    before, title, checks = nested.partition("## Debugging checks")

    note = before + title + re.sub("^- ", f"{mark} ", checks, flags=re.MULTILINE)

    assert [] == symptoms(note)


@pytest.mark.parametrize("fault", FAULTY)
def test_a_faulty_note_has_one_finding(fault: str, symptoms: Any) -> None:
    """Each fault is found, and nothing besides."""
    old, new, expected = FAULTY[fault]
    assert old in GOOD

    assert [expected] == symptoms(GOOD.replace(old, new))


def test_the_template_lacks_everything(symptoms: Any) -> None:
    """Every heading of the empty template has its finding, and so has the whole."""
    found = symptoms((STARTER / "training-readiness.md").read_text(encoding="utf-8"))

    assert 15 == len(found)
    assert set(found) >= {said for _, _, said in FAULTY.values()} - {
        "part of the note is text of the pages",
        "a check does not say what was seen",
    }


def test_yes_to_resuming_needs_the_optimizer(checks: dict[str, ModuleType], tmp_path: Path) -> None:
    """A file without optimizer state cannot be resumed from, whatever the note says."""
    pages = tmp_path / "pages.bin"
    pages.write_bytes(b"")
    weights_only = {"model_state_dict": {}, "optimizer_state_dict": {}}
    evidence = checks["readiness"].Evidence(METRICS, weights_only, pages)

    found = checks["readiness"].findings(GOOD, evidence)

    said = [finding.symptom for findings in found.values() for finding in findings]
    assert ["the note says yes to resuming"] == said


def test_step_6_reads_what_the_run_left(tmp_path: Path) -> None:
    """With metrics file and checkpoint in place the reference note passes every point."""
    folder = solved_folder(tmp_path)
    (folder / "metrics.json").write_text(json.dumps(METRICS), encoding="utf-8")
    (folder / "checkpoints").mkdir()
    torch.save(CHECKPOINT, folder / "checkpoints" / "best.pt")

    checked = check("6", folder)

    assert {"passed"} == set(checked.states.values()), checked.text
    assert 0 == checked.status
