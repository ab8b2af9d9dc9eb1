"""Where the three lines may go: what the page calls right runs, what it calls wrong does not."""

import json
import re
from pathlib import Path

import pytest
import torch
import yaml
from torch import nn

from lesson_code.models import MNISTClassifier
from lesson_site.checks.options import Check, read_check

PAGE = Path("docs/gpu-training/device-aware-loop.md")
LOOP_OVER_BATCHES = "for images, labels in"


def _check() -> Check:
    found = re.search(r"//// check \| (.+)\n((?:    .*\n)+)", PAGE.read_text("utf-8"))
    assert found
    return read_check(found[1], yaml.safe_load(found[2]))


CHECK = _check()
RIGHT: list[list[int]] = json.loads(CHECK.attributes["right"])
LINES = CHECK.section.lines if CHECK.section else ()
GAPS = [gap for gap in range(len(LINES) + 1) if gap == len(LINES) or LINES[gap].strip()]
WRONG = [
    (line, gap) for line in range(len(CHECK.missing)) for gap in GAPS if gap not in RIGHT[line]
]


def train(places: list[int]) -> nn.Module:
    """Train for one step with the lines in those gaps; the device is one without values."""
    program: list[str] = []
    for gap in range(len(LINES) + 1):
        below = LINES[gap] if gap < len(LINES) else ""
        indent = re.match(" *", below)
        for line, place in zip(CHECK.missing, places, strict=True):
            if place == gap:
                program.append(f"{indent[0] if indent else ''}{line.strip()}")
        program.append(below)
    text = "\n".join(program)
    text = re.sub(r"device = .*", "device = torch.device('meta')", text)
    text = text.replace("loss.item()", "0.0")  # there is no value to read
    batch = (torch.zeros(4, 1, 28, 28), torch.zeros(4, dtype=torch.long))
    names = {
        "torch": torch,
        "nn": nn,
        "MNISTClassifier": MNISTClassifier,
        "epochs": 1,
        "train_loader": [batch],
    }
    exec(text, names)
    model = names["model"]
    assert isinstance(model, nn.Module)
    return model


@pytest.mark.parametrize(
    "places", [[a, b, c] for a in RIGHT[0] for b in RIGHT[1] for c in RIGHT[2] if a <= b]
)
def test_right_places_train_on_the_device(places: list[int]) -> None:
    """Every combination that the page accepts ends with a model on the device."""
    model = train(places)

    assert {"meta"} == {parameter.device.type for parameter in model.parameters()}


@pytest.mark.parametrize(("line", "gap"), WRONG)
def test_wrong_places_fail_or_move_again_and_again(line: int, gap: int) -> None:
    """Whatever else runs is the model's line inside the loops, where it runs for every batch."""
    places = [fitting[0] for fitting in RIGHT]
    places[line] = gap

    try:
        train(places)
    except (NameError, RuntimeError, TypeError):
        return

    assert "model.to(device)" == CHECK.missing[line].strip()
    assert any(line.startswith("for epoch") for line in LINES[:gap])
