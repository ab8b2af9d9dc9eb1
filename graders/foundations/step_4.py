"""Step 4: the six repairs, each checked with parts of its own for everything else.

So the report is the same in whatever order the repairs are made.
"""

import random
import re
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from graders.checks import require, todo
from graders.folder import Folder

SCRIPT = "debug_model.py"
NOTE = "debugging-note.md"
FEATURES, CLASSES = 20, 4
SHAPES = [(4,), (4, 32), (32,), (32, 20)]  # weight and bias of two layers, in order
ENOUGH_ACCURACY = 0.95
REPAIRS = 6
REGISTRATION = "reread Part 3, “What a module knows”"
LOSSES = "reread Part 3, “Which loss for which task?”"
RESET = "reread Part 2, “When the loss goes bad after hundreds of batches”"
SWITCHES = "reread Part 2, “Two switches”"
SWITCHED = "`eval()` and `no_grad()` are used in validation"

Batch = tuple[torch.Tensor, torch.Tensor]


def opened(path: Path) -> Folder:
    """The learner's folder, whose script can be imported."""
    folder = Folder(path)
    folder.load(SCRIPT)
    return folder


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


def practice_batch(rows: int = 0) -> Batch:
    """Features (rows, 20) and labels (rows,)."""
    rows = rows or random.randint(40, 80)
    return torch.randn(rows, FEATURES), torch.randint(CLASSES, (rows,))


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


@todo("4.1", "at least one failure was observed before it was repaired: the note has it")
def notes_six_repairs(answer: Folder) -> None:
    """The note has an entry for each repair, with symptom, evidence and change."""
    pieces = re.split(r"^##\s+(.*)$", answer.read(NOTE), flags=re.MULTILINE)[1:]
    entries = list(zip(pieces[::2], pieces[1::2], strict=True))
    lacking = [heading for heading, entry in entries if not complete(entry)]
    if entries and len(lacking) == len(entries):
        raise NotImplementedError("TODO 4.1")
    require(
        len(entries) - len(lacking) >= REPAIRS,
        f"{REPAIRS} entries with symptom, evidence and change",
        f"{len(entries) - len(lacking)}; not complete: {', '.join(lacking) or 'none'}",
        "write them down as you go; reread Lab, Step 4",
    )


def initialised(script: ModuleType) -> nn.Module:
    """The learner's model as a working module, so that no check depends on the constructor's."""
    learners: Any = script.TinyClassifier

    def construct(model: nn.Module) -> None:
        nn.Module.__init__(model)
        learners.__init__(model)

    model: nn.Module = type("Initialised", (learners,), {"__init__": construct})()
    return model


@todo("4.2", "the list is replaced by a container that registers")
def registers_all_layers(answer: Folder) -> None:
    """All four tensors are known to the model, and `eval` reaches every layer."""
    model = initialised(answer.load(SCRIPT))
    shapes = sorted(tuple(tensor.shape) for tensor in model.parameters())
    require(
        shapes == SHAPES,
        f"{len(SHAPES)} parameter tensors that the model knows, of shapes {SHAPES}",
        f"{len(shapes)} of {len(SHAPES)} parameter tensors are registered: {shapes}",
        f"what a plain list holds, no module sees; {REGISTRATION}",
    )
    model.eval()
    deaf = [type(module).__name__ for module in model.modules() if module.training]
    seen = [type(module).__name__ for module in model.modules()]
    require(
        not deaf and "Dropout" in seen,
        "eval() to reach every layer, Dropout too",
        f"it reaches {seen}, and still in training are {deaf}",
        REGISTRATION,
    )


@todo("4.2", "the list is replaced by a container that registers")
def uses_all_layers(answer: Folder) -> None:
    """What is registered is what answers, with dropout in training alone."""
    for rows in (1, random.randint(2, 9)):
        torch.manual_seed(rows)
        model = initialised(answer.load(SCRIPT))
        features = torch.randn(rows, FEATURES)
        shapes = sorted(tuple(tensor.shape) for tensor in model.parameters())
        require(
            shapes == SHAPES,
            f"a hidden and an output layer that the model knows, of shapes {SHAPES}",
            f"{shapes}",
            REGISTRATION,
        )
        bias, weight, hidden_bias, hidden_weight = sorted(
            model.parameters(), key=lambda tensor: tuple(tensor.shape)
        )
        hidden = functional.relu(functional.linear(features, hidden_weight, hidden_bias))
        right = functional.linear(hidden, weight, bias)
        found = model.eval()(features)
        require(
            found.shape == right.shape and torch.allclose(found, right, atol=1e-5),
            "the logits of the registered layers: linear, ReLU, linear",
            f"shape {tuple(found.shape)}, and other numbers" if found is not None else "nothing",
            f"forward has to use what is registered; {REGISTRATION}",
        )
        model.train()
        passes = torch.stack([model(features) for _ in range(8)])
        require(
            bool((passes.std(dim=0) > 0).any()),
            "dropout between the layers in training",
            "the same answer eight times",
            f"the layers stay as they are; {REGISTRATION}",
        )


@todo("4.3", "loss and target fit each other")
def takes_labels(answer: Folder) -> None:
    """The criterion takes logits (N, 4) and labels (N,), and means cross-entropy."""
    criterion = answer.load(SCRIPT).build_criterion()
    for scale in (1.0, 5.0):
        features, labels = practice_batch()
        logits = (scale * features[:, :CLASSES]).requires_grad_()
        shown = f"logits {list(logits.shape)} and labels {list(labels.shape)}"
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                loss = criterion(logits, labels)
            except (Warning, RuntimeError, ValueError, TypeError) as problem:
                said = f"{type(problem).__name__}: {' '.join(str(problem).split())}"
                require(False, f"a loss that takes {shown}", said, LOSSES)
        right = functional.cross_entropy(logits, labels)
        require(
            loss.shape == right.shape and abs(float(loss) - float(right)) <= 1e-5,
            f"{float(right):.4f}, the loss of class labels, for {shown}",
            f"{float(loss.detach().mean()):.4f} of shape {list(loss.shape)}",
            f"which loss is made for integer labels? {LOSSES}",
        )
        require(
            loss.requires_grad,
            "a loss through which gradients flow",
            "one without a graph",
            LOSSES,
        )


@todo("4.4", "the gradients are reset in the right place")
def resets_before_backward(answer: Folder) -> None:
    """Each update follows the gradient of its own batch, and nothing else."""
    step = answer.load(SCRIPT).training_step
    for reduction, rate in (("mean", 0.5), ("sum", 0.01)):
        model = nn.Sequential(nn.Linear(FEATURES, 8), nn.Tanh(), nn.Linear(8, CLASSES))
        parameters = list(model.parameters())
        optimizer = torch.optim.SGD(parameters, lr=rate)
        criterion = nn.CrossEntropyLoss(reduction=reduction)
        for update in range(1, 4):
            batch = practice_batch()
            before = [tensor.detach().clone() for tensor in parameters]
            right = criterion(model(batch[0]), batch[1])
            own = torch.autograd.grad(right, parameters)
            found = step(model, criterion, optimizer, *batch)
            moved = [
                (old - new.detach()) / rate for old, new in zip(before, parameters, strict=True)
            ]
            whole, whole_own = (torch.cat([t.flatten() for t in each]) for each in (moved, own))
            require(
                bool(whole.any()),
                "parameters that move",
                f"update {update} changes none",
                f"backward fills the gradients, and step uses them; {RESET}",
            )
            longer = float(whole.norm() / whole_own.norm())
            require(
                torch.allclose(whole, whole_own, rtol=1e-3, atol=1e-4 * float(whole_own.norm())),
                "each update to be the gradient of its own batch",
                f"update {update}, which is {longer:.2f} times as long as its own gradient",
                f"what is in .grad when backward begins? {RESET}",
            )
            require(
                isinstance(found, float) and abs(found - float(right)) < 1e-3 * max(1, found),
                f"{float(right):.4f}, the batch's loss as a number",
                f"{found!r}",
                "the starter returns it already; reread Lab, Step 4",
            )


@todo("4.5", SWITCHED)
def validates_in_evaluation_mode(answer: Folder) -> None:
    """Validation calls the model in evaluation mode."""
    seen = validated(answer.load(SCRIPT)).training_seen
    require(
        not any(seen),
        "validation in evaluation mode",
        f"model.training {seen[0]} inside evaluate",
        f"with dropout on, passes disagree; {SWITCHES}",
    )


@todo("4.5", SWITCHED)
def validates_without_gradients(answer: Folder) -> None:
    """Validation records no graph, and gradients are on again afterwards."""
    script = answer.load(SCRIPT)
    try:
        seen = validated(script).gradients_seen
        on = torch.is_grad_enabled()
    finally:
        torch.set_grad_enabled(True)
    require(
        not any(seen),
        "validation that records no graph",
        f"torch.is_grad_enabled() {seen[0]} inside evaluate",
        f"nobody uses that graph; {SWITCHES}",
    )
    require(
        on,
        "gradients to be on again after evaluate",
        "torch.is_grad_enabled() False",
        f"the next training needs them; {SWITCHES}",
    )


@todo("4.5", SWITCHED)
def measures_accuracy(answer: Folder) -> None:
    """Accuracy and logits are those of the model, for every number of rows."""
    script = answer.load(SCRIPT)
    for rows in (CLASSES, random.randint(5, 50)):
        probe = Probe()
        features, labels = practice_batch(rows)
        right = functional.linear(features, probe.layer.weight, probe.layer.bias)
        labels = torch.where(torch.arange(rows) % 3 > 0, right.argmax(dim=1), labels)
        share = float((right.argmax(dim=1) == labels).float().mean())
        try:
            accuracy, logits = script.evaluate(probe, features, labels)
        finally:
            torch.set_grad_enabled(True)
        require(
            abs(float(accuracy) - share) < 1e-6 and torch.allclose(logits, right),
            f"accuracy {share:.4f}, and the model's logits of shape {list(right.shape)}",
            f"{float(accuracy):.4f}, and logits of shape {list(logits.shape)}",
            f"the starter computes both already; {SWITCHES}",
        )


@todo("4.5", SWITCHED)
def trains_again_afterwards(answer: Folder) -> None:
    """Training after a validation happens in training mode again."""
    script = answer.load(SCRIPT)
    probe = validated(script)
    torch.set_grad_enabled(True)
    probe.training_seen.clear()
    optimizer = torch.optim.SGD(probe.parameters(), lr=0.1)
    script.fit(probe, nn.CrossEntropyLoss(), optimizer, *practice_batch(), epochs=2)
    require(
        bool(probe.training_seen) and all(probe.training_seen),
        "training in training mode after a validation",
        f"model.training inside fit: {sorted(set(probe.training_seen))}",
        f"each epoch has to switch back; {SWITCHES}",
    )


def validated(script: ModuleType) -> Probe:
    """The probe after the learner's `evaluate`."""
    probe = Probe()
    script.evaluate(probe, *practice_batch())
    require(
        bool(probe.training_seen),
        "evaluate to call the model",
        "no call",
        "the starter has the call; reread Lab, Step 4",
    )
    return probe


@todo("4.6", "the repaired script ends with status 0", limit_s=300)
def runs_to_its_end(answer: Folder) -> None:
    """As a program it reaches its accuracy, and five validation passes agree."""
    probes = "reread Part 5, “Six probes”"
    result = answer.run(SCRIPT)
    require(result.status == 0, "exit status 0", result.last_words(), probes)
    found = re.search(r"passes:?\s*((?:[\d.]+\s+){4}[\d.]+)", result.output)
    passes = [float(number) for number in found[1].split()] if found else []
    require(
        len(passes) > 0 and len(set(passes)) == 1,
        "a line with five validation passes that agree",
        f"{', '.join(f'{accuracy:.4f}' for accuracy in passes) or 'no such line'}",
        f"one model and the same data; {probes}",
    )
    require(
        passes[-1] >= ENOUGH_ACCURACY,
        f"an accuracy of {ENOUGH_ACCURACY} or more",
        f"{passes[-1]:.4f}",
        f"watch the losses of all epochs; {probes}",
    )


@todo("4.7", "added: `super().__init__()` is called")
def is_a_module(answer: Folder) -> None:
    """The class can be constructed, and is a module afterwards."""
    learners = answer.load(SCRIPT).TinyClassifier
    said = "it has no attribute '_parameters'"
    try:
        whole = hasattr(learners(), "_parameters")
    except AttributeError as problem:
        whole, said = False, str(problem)
    require(
        whole,
        "a model that can be constructed, and is a module",
        said,
        f"who prepares a module to keep what it is given? {REGISTRATION}",
    )
