"""What the lesson's checks call right is what happens."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from torch import nn

from lesson_code.gpu_training.automatic_mixed_precision import formats_in_one_step
from lesson_code.gpu_training.device_aware_checkpoints import loads_safely
from lesson_code.models import MNISTClassifier
from lesson_site.charts import hook
from lesson_site.charts.description import Rows
from lesson_site.checks.options import Check, read_check
from results.recorded import read
from tests.lesson_site import made_up

LESSON = Path("docs/gpu-training")


def check_of(page: str, name: str) -> Check:
    """The check with that id."""
    text = (LESSON / f"{page}.md").read_text("utf-8")
    for title, options in re.findall(r"//// check \| (.+)\n((?:    .*\n)+)", text):
        content = yaml.safe_load(options)
        if content["id"] == name:
            return read_check(title, content)
    raise AssertionError(f"no check {name} in {page}")


class Puzzle:
    """A check of placed lines, as programs."""

    def __init__(self, page: str, name: str) -> None:
        """Read it."""
        check = check_of(page, name)
        self.missing = check.missing
        self.lines = check.section.lines if check.section else ()
        self.right: list[list[int]] = json.loads(check.attributes["right"])
        self.gaps = [
            gap
            for gap in range(len(self.lines) + 1)
            if gap == len(self.lines) or self.lines[gap].strip()
        ]

    def program(self, places: list[int]) -> str:
        """The loop with each line in its gap, indented like what comes after it."""
        program: list[str] = []
        for gap in range(len(self.lines) + 1):
            below = self.lines[gap] if gap < len(self.lines) else ""
            indent = " " * (len(below) - len(below.lstrip()))
            program += [
                indent + line.strip()
                for line, place in zip(self.missing, places, strict=True)
                if place == gap
            ]
            program.append(below)
        return "\n".join(program)

    def wrong(self) -> list[list[int]]:
        """Every placement with one line in a gap where it may not be."""
        result = []
        for line, fitting in enumerate(self.right):
            for gap in set(self.gaps) - set(fitting):
                places = [gaps[0] for gaps in self.right]
                places[line] = gap
                result.append(places)
        return result


THREE = Puzzle("device-aware-loop", "place-the-lines")
STEP = Puzzle("context-and-constraints", "put-the-loop-together")


def run(program: str) -> Mapping[str, Any]:
    """Train for two steps on two batches, and return all names."""
    torch.manual_seed(0)
    images = torch.rand(2, 4, 1, 28, 28)
    batches = [(batch, torch.arange(4)) for batch in images]
    names = {
        "torch": torch,
        "nn": nn,
        "MNISTClassifier": MNISTClassifier,
        "epochs": 2,
        "train_loader": batches,
    }
    exec(program, names)
    return names


def on_the_device(places: list[int]) -> str:
    """Train on a device without values, and return where the model is then."""
    program = re.sub(r"device = .*", "device = torch.device('meta')", THREE.program(places))
    model: nn.Module = run(program.replace("loss.item()", "0.0"))["model"]
    return next(model.parameters()).device.type


@pytest.mark.parametrize(
    "places",
    [[a, b, c] for a in THREE.right[0] for b in THREE.right[1] for c in THREE.right[2] if a <= b],
)
def test_right_places_train_on_the_device(places: list[int]) -> None:
    """Every combination that the page accepts ends with a model on the device."""
    assert "meta" == on_the_device(places)


def test_wrong_places_fail_or_move_again_and_again() -> None:
    """Whatever else runs is the model's line inside the loops, where it runs for every batch."""
    ran = []
    for places in THREE.wrong():
        try:
            on_the_device(places)
        except (NameError, RuntimeError, TypeError):
            continue
        ran.append(places)

    inside = next(i for i, line in enumerate(THREE.lines) if line.startswith("for epoch"))
    assert ran
    assert all(places[1] > inside and places[1] not in THREE.right[1] for places in ran)


def weights(places: list[int]) -> torch.Tensor:
    """The first layer after training with the step's lines in those gaps."""
    model: MNISTClassifier = run(STEP.program(places))["model"]
    return model.fc1.weight.detach()


@pytest.mark.parametrize(
    "places", [[a, b, c] for a in STEP.right[0] for b in STEP.right[1] for c in STEP.right[2]]
)
def test_a_loop_put_together_rightly_trains_alike(places: list[int]) -> None:
    """Every combination that the page accepts gives the very same weights."""
    torch.testing.assert_close(weights(places), weights([g[0] for g in STEP.right]), rtol=0, atol=0)


def test_a_loop_put_together_wrongly_fails_or_trains_otherwise() -> None:
    """Nothing that the page refuses comes to the same weights."""
    right = weights([gaps[0] for gaps in STEP.right])

    for places in STEP.wrong():
        try:
            other = weights(places)
        except (NameError, RuntimeError):
            continue
        assert not torch.equal(right, other), places


def test_the_coloured_dtypes_are_those_of_a_step() -> None:
    """The rows are named a little longer than the printed ones, in the same order of things."""
    check = check_of("automatic-mixed-precision", "colour-the-dtypes")
    formats = formats_in_one_step(torch.device("cpu"), use_amp=True)
    printed = {
        "the weights": "weights",
        "the output of a linear layer": "output of a linear layer",
        "the loss": "loss",
        "the gradient that travels from layer to layer": "gradient between two layers",
        "the gradient of the weights": "gradient of the weights",
        "Adam's averages": "Adam's averages",
    }

    for row, number in zip(check.rows, check.attributes["right"].split(), strict=True):
        assert f"torch.{check.choices[int(number) - 1]}" == str(formats[printed[row]]), row


def test_what_loads_safely_is_what_the_check_says() -> None:
    """Each row is the value itself."""
    check = check_of("device-aware-checkpoints", "what-loads-safely")

    for row, number in zip(check.rows, check.attributes["right"].split(), strict=True):
        value = eval(row.strip("`"), {"torch": torch, "numpy": np})
        assert (check.choices[int(number) - 1] == "loads") == loads_safely(value), row


def test_the_script_reaches_the_accuracy_that_is_asked_for() -> None:
    """Both numbers of the recorded run, validation and test, are accepted."""
    check = check_of("gpu-training-in-practice", "script-accuracy")
    recording = read("gpu_training/gpu_training_in_practice:print_training_run")
    assert recording
    reached = [float(number) for number in re.findall(r"accuracy (\d+\.\d+) %", recording.text)]

    right, tolerance = (float(check.attributes[name]) for name in ("right", "tolerance"))
    assert all(abs(number - right) <= tolerance * right for number in (max(reached), reached[-1]))


def test_the_chart_of_the_timing_challenge_has_the_pairs_of_its_check() -> None:
    """Each row of the check has its pair, in the check's order, and the options are its rows."""
    check = check_of("a-timing-challenge", hook.CHECK)
    chart = hook.draw(made_up.store("cpu")).description
    assert isinstance(chart, Rows)
    asked = [group for group in chart.groups if group.asked]

    best = [1 + min(range(2), key=lambda row: group.rows[row].mark.value or 0) for group in asked]

    assert list(range(1, 5)) == [group.asked for group in asked]
    assert {tuple(check.choices)} == {tuple(row.label for row in group.rows) for group in asked}
    assert check.attributes["right"] == " ".join(map(str, best))
