"""Step 4: the six repairs, each checked with parts of its own for everything else.

So the report is the same in whatever order the repairs are made.
"""

import re
import warnings
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional

from .points import Finding, OpenPointError, load, part_of, point, read, require
from .worker import Worker

SCRIPT = "debug_model.py"
NOTE = "debugging-note.md"
FEATURES, CLASSES, ROWS = 20, 4, 64
TENSORS = 4  # weight and bias of two layers
ENOUGH_ACCURACY = 0.95
REPAIRS = 6
REGISTRATION = "Part 3, “What a module knows”"
LOSSES = "Part 3, “Which loss for which task?”"
RESET = "Part 2, “When the loss goes bad after hundreds of batches”"
SWITCHES = "Part 2, “Two switches”"


@pytest.fixture
def script() -> ModuleType:
    """The learner's repaired script, imported afresh."""
    return load(SCRIPT)


class Probe(nn.Module):
    """A linear model that notes in which mode it is called."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(FEATURES, CLASSES)
        self.training_seen: list[bool] = []
        self.gradients_seen: list[bool] = []

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Note both switches, and answer."""
        self.training_seen.append(self.training)
        self.gradients_seen.append(torch.is_grad_enabled())
        logits: torch.Tensor = self.layer(features)
        return logits


def practice_batch() -> tuple[torch.Tensor, torch.Tensor]:
    """Features (64, 20) and labels (64,)."""
    generator = torch.Generator().manual_seed(7)
    labels = torch.randint(CLASSES, (ROWS,), generator=generator)
    return torch.randn(ROWS, FEATURES, generator=generator), labels


def evaluated(script: ModuleType) -> Probe:
    """The probe after the learner's `evaluate`, with gradients on again whatever happened."""
    probe = Probe()
    try:
        part_of(script, "evaluate")(probe, *practice_batch())
        require(bool(probe.training_seen), "evaluate does not call the model", "no call was seen")
        require(
            torch.is_grad_enabled(),
            "after evaluate, gradients stay off",
            "torch.is_grad_enabled() is False",
        )
    finally:
        torch.set_grad_enabled(True)
    return probe


def complete(entry: str) -> bool:
    """Whether an entry of the note has its three fields, each of one line or more."""
    field = r"^\W*(Symptom|Evidence|Change)\W*:"
    pieces = re.split(field, entry, flags=re.MULTILINE)[1:]
    texts = (text.strip(" *\n") for text in pieces[1::2])
    filled = {
        name
        for name, text in zip(pieces[::2], texts, strict=True)
        if text and not text.startswith("<")
    }
    return len(filled) == 3


@point("at least one failure was observed before it was repaired: the note has it", "Lab, Step 4")
def test_note() -> None:
    """The note has an entry for each repair, with symptom, evidence and change."""
    pieces = re.split(r"^##\s+(.*)$", read(NOTE), flags=re.MULTILINE)[1:]
    entries = list(zip(pieces[::2], pieces[1::2], strict=True))
    lacking = [heading for heading, entry in entries if not complete(entry)]
    require(
        len(entries) - len(lacking) >= REPAIRS,
        "the note does not have six complete entries",
        f"{len(entries) - len(lacking)} of {len(entries)} have symptom, evidence and change; "
        f"not so: {', '.join(lacking) or 'none'}",
    )


@point("the list is replaced by a container that registers", REGISTRATION)
def test_registered(script: ModuleType) -> None:
    """All four tensors are known to the model, and `eval` reaches every layer."""
    learners: Any = part_of(script, "TinyClassifier")

    def construct(model: nn.Module) -> None:
        nn.Module.__init__(model)  # so that this check does not depend on theirs
        learners.__init__(model)

    model = type("Initialised", (learners,), {"__init__": construct})()
    tensors = len(list(model.parameters()))
    require(
        tensors == TENSORS,
        "the model does not know all of its parameters",
        f"{tensors} of {TENSORS} parameter tensors are registered",
    )
    model.eval()
    deaf = [type(module).__name__ for module in model.modules() if module.training]
    require(not deaf, "eval() does not reach every layer", f"still in training: {deaf}")
    seen = [type(module).__name__ for module in model.modules()]
    require("Dropout" in seen, "eval() does not reach the dropout layer", f"it reaches {seen}")


@point("loss and target fit each other", LOSSES)
def test_loss(script: ModuleType) -> None:
    """The criterion takes logits (64, 4) and labels (64,), and means cross-entropy."""
    features, labels = practice_batch()
    logits = features[:, :CLASSES]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            loss = float(part_of(script, "build_criterion")()(logits, labels))
        except (Warning, RuntimeError, ValueError, TypeError) as problem:
            said = " ".join(str(problem).split())
            raise OpenPointError(
                Finding(
                    "the loss does not take logits [64, 4] with labels [64]",
                    f"{type(problem).__name__}: {said}",
                )
            ) from None
    expected = float(functional.cross_entropy(logits, labels))
    require(
        abs(loss - expected) <= 1e-5,
        "the loss of a known batch is not that of class labels",
        f"it is {loss:.4f} where cross-entropy gives {expected:.4f}",
    )


@point("the gradients are reset in the right place", RESET)
def test_reset(script: ModuleType) -> None:
    """Each update follows the gradient of its own batch, and nothing else."""
    torch.manual_seed(0)
    model = nn.Linear(FEATURES, CLASSES)
    rate = 0.5
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    batch = practice_batch()
    for update in range(1, 4):
        before = model.weight.detach().clone()
        loss = functional.cross_entropy(model(batch[0]), batch[1])
        (own,) = torch.autograd.grad(loss, [model.weight])
        part_of(script, "training_step")(model, nn.CrossEntropyLoss(), optimizer, *batch)
        moved = (before - model.weight.detach()) / rate
        require(
            bool(moved.abs().sum() > 0),
            "the parameters do not move",
            f"update {update} changes no weight",
        )
        require(
            torch.allclose(moved, own, atol=1e-5),
            "an update is not the gradient of its own batch",
            f"update {update} is {float(moved.norm() / own.norm()):.2f} times the gradient of its "
            "own batch",
        )


SWITCHED = point("`eval()` and `no_grad()` are used in validation", SWITCHES)


@SWITCHED
def test_evaluation_mode(script: ModuleType) -> None:
    """Validation calls the model in evaluation mode."""
    seen = mode_in_validation(script).training_seen
    require(
        not any(seen),
        "validation runs in training mode: dropout stays on, and passes disagree",
        f"model.training is {seen[0]} inside evaluate",
    )


@SWITCHED
def test_gradients_off(script: ModuleType) -> None:
    """Validation records no graph, and gradients are on again afterwards."""
    seen = evaluated(script).gradients_seen
    require(
        not any(seen),
        "validation records a graph that nobody uses",
        f"torch.is_grad_enabled() is {seen[0]} inside evaluate",
    )


def mode_in_validation(script: ModuleType) -> Probe:
    """The probe after `evaluate`; whether gradients are on again is not asked here."""
    probe = Probe()
    try:
        part_of(script, "evaluate")(probe, *practice_batch())
    finally:
        torch.set_grad_enabled(True)
    require(bool(probe.training_seen), "evaluate does not call the model", "no call was seen")
    return probe


@SWITCHED
def test_training_mode_returns(script: ModuleType) -> None:
    """Training after a validation happens in training mode again."""
    probe = mode_in_validation(script)
    probe.training_seen.clear()
    optimizer = torch.optim.SGD(probe.parameters(), lr=0.1)
    part_of(script, "fit")(probe, nn.CrossEntropyLoss(), optimizer, *practice_batch(), epochs=1)
    require(
        bool(probe.training_seen) and all(probe.training_seen),
        "after a validation, training goes on in evaluation mode",
        f"model.training inside fit: {sorted(set(probe.training_seen))}",
    )


@point("the repaired script ends with status 0", "Part 5, “Six probes”")
def test_program(worker: Worker) -> None:
    """As a program it reaches its accuracy, and five validation passes agree."""
    read(SCRIPT)
    result = worker.run(SCRIPT)
    require(result.status == 0, "the script does not end well", result.last_words())
    found = re.search(r"passes:?\s*((?:[\d.]+\s+){4}[\d.]+)", result.output)
    if found is None:
        raise OpenPointError(
            Finding("the script does not print its five validation passes", "no such line")
        )
    passes = [float(number) for number in found[1].split()]
    shown = f"they are {', '.join(f'{accuracy:.4f}' for accuracy in passes)}"
    require(len(set(passes)) == 1, "five validation passes of one model disagree", shown)
    require(passes[-1] >= ENOUGH_ACCURACY, f"the accuracy is below {ENOUGH_ACCURACY}", shown)


@point("added: `super().__init__()` is called", REGISTRATION)
def test_initialised(script: ModuleType) -> None:
    """The class can be constructed, and is a module afterwards."""
    learners = part_of(script, "TinyClassifier")
    try:
        model = learners()
    except AttributeError as problem:
        raise OpenPointError(Finding("the model cannot be constructed", str(problem))) from None
    require(
        hasattr(model, "_parameters"),
        "the instance is no working module",
        "it has no attribute '_parameters'",
    )
