"""Step 3: the training script on real digits, and the seven faults that it has to catch."""

import copy
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import nn

from .points import Finding, OpenPointError, load, part_of, point, read, require
from .worker import Result, Worker

SCRIPT = "train_mnist.py"
FOLDERS = ("data", "digits")
# MD5 of the unpacked files: as published, and of the tenth part that comes with the lab.
CHECKSUMS = {
    "train-images-idx3-ubyte": (
        "6bbc9ace898e44ae57da46a324031adb",
        "916dbdbc1acf21e0920b6e9c82b61efb",
    ),
    "train-labels-idx1-ubyte": (
        "a25bea736e30d166cdddb491f175f624",
        "e6c346acc85b864fca9ea021d906e5c6",
    ),
    "t10k-images-idx3-ubyte": (
        "2646ac647ad5339dbf082846283269ea",
        "9f48a8d65f579d8209fe9aff330e45b3",
    ),
    "t10k-labels-idx1-ubyte": (
        "27ae3e4e09519cfbb04c629615203637",
        "9ede2c3a5027ae629332615e8e099544",
    ),
}
NO_DATA = "MNIST is missing, so the script cannot train"
EPOCHS = 3
LOWEST, HIGHEST = 0.86, 0.95  # validation accuracy after three epochs on 6,000 images
PARAMETERS = 101_770
LOWEST_KEPT = 0.2
STATUSES = {
    "nonfinite-input": 10,
    "nonfinite-loss": 10,
    "labels": 12,
    "empty-optimizer": 13,
    "partial-optimizer": 13,
    "unwritable": 14,
    "collapse": 15,
}
SENTENCES = {"labels": "outside 0..9", "partial-optimizer": "3 trainable tensors"}
LOOP = "Part 4, “Five steps, and what makes them trustworthy”"
FAIL_FAST = "Part 5, “Fail fast”"


@dataclass(frozen=True)
class Run:
    """A run of the script, and what it wrote."""

    result: Result
    checkpoint: Path
    metrics: Path


@pytest.fixture
def script() -> ModuleType:
    """The learner's script, imported afresh."""
    return load(SCRIPT)


def data_folder() -> Path | None:
    """The folder with all four files, if there is one."""
    for name in FOLDERS:
        raw = Path.cwd() / name / "MNIST" / "raw"
        if all((raw / file).is_file() for file in CHECKSUMS):
            return Path.cwd() / name
    return None


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of the digits; without it most points cannot be checked."""
    folder = data_folder()
    if folder is None:
        pytest.skip(NO_DATA)
    return folder


@pytest.fixture(scope="session")
def start(data: Path, scratch: Path, worker: Worker) -> Callable[..., Run]:
    """Runs the script with a checkpoint and a metrics file of its own."""

    def run(name: str, *options: str) -> Run:
        read(SCRIPT)
        folder = scratch / name
        folder.mkdir()
        checkpoint, metrics = folder / "best.pt", folder / "metrics.json"
        paths = ("--data", str(data), "--checkpoint", str(checkpoint), "--metrics", str(metrics))
        return Run(worker.run(SCRIPT, *paths, *options), checkpoint, metrics)

    return run


@pytest.fixture(scope="session")
def healthy(start: Callable[..., Run]) -> Run:
    """Three epochs on 6,000 images."""
    limits = ("--limit-train", "6000", "--limit-val", "1000")
    return start("healthy", "--epochs", str(EPOCHS), *limits)


@pytest.fixture(scope="session")
def metrics(healthy: Run) -> dict[str, Any]:
    """What the healthy run wrote down."""
    result = healthy.result
    require(result.status == 0, "a run of three epochs does not end well", result.last_words())
    require(healthy.metrics.is_file(), "no metrics file was written", f"no {healthy.metrics.name}")
    written: dict[str, Any] = json.loads(healthy.metrics.read_text(encoding="utf-8"))
    return written


@point("MNIST is found or downloaded", "Part 4, “Data that choose, and data that judge”")
def test_data() -> None:
    """All four files are there, whole."""
    folder = data_folder()
    if folder is None:
        looked = " and ".join(str(Path(name, "MNIST", "raw")) for name in FOLDERS)
        raise OpenPointError(Finding("MNIST's four files are missing", f"looked in {looked}"))
    for name, known in CHECKSUMS.items():
        content = (folder / "MNIST" / "raw" / name).read_bytes()
        found = hashlib.md5(content, usedforsecurity=False).hexdigest()
        require(found in known, f"{name} is not the published file", f"its MD5 is {found}")


@point("the training loss is printed at least once per epoch", LOOP)
def test_losses(metrics: dict[str, Any], healthy: Run) -> None:
    """Each epoch's loss is printed and written down, and it falls."""
    losses = [float(epoch["training_loss"]) for epoch in metrics["epochs"]]
    require(len(losses) == EPOCHS, "the metrics lack epochs", f"{len(losses)} of {EPOCHS}")
    printed = [any(f"{loss:.{n}f}" in healthy.result.output for n in (3, 4)) for loss in losses]
    require(all(printed), "not every epoch's loss is printed", f"found: {printed}")
    falls = all(later < earlier for earlier, later in pairwise(losses))
    require(falls, "the loss does not fall in every epoch", f"losses {losses}")


class Probe(nn.Module):
    """Answers with chosen logits, and notes how it is called."""

    def __init__(self, factor: float = 1.0) -> None:
        super().__init__()
        self.layer = nn.Linear(28 * 28, 10)
        self.factor = factor
        self.seen: list[tuple[bool, bool]] = []

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Note both switches, and answer with the class that the first pixels mark."""
        self.seen.append((self.training, torch.is_grad_enabled()))
        marked = features.flatten(start_dim=1)[:, :10]
        logits: torch.Tensor = self.factor * (marked + 0 * self.layer(features.flatten(1)))
        return logits


def marked_batch(answers: list[int], labels: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """Images that make the probe answer as given."""
    features = torch.zeros(len(answers), 28 * 28)
    features[range(len(answers)), answers] = 5.0
    return features.reshape(-1, 1, 28, 28), torch.tensor(labels)


VALIDATED = point("validation accuracy is computed in evaluation mode", LOOP)


@VALIDATED
def test_validation_mode(script: ModuleType) -> None:
    """Both switches are off in validation and on again in the next training."""
    probe = Probe()
    # Batches of different sizes: 3 of 4 right, whatever the mean of the batches is.
    loader = [marked_batch([1, 2, 3], [1, 2, 3]), marked_batch([4], [5])]
    try:
        accuracy = float(part_of(script, "validate")(probe, loader, torch.device("cpu")))
        gradients_on = torch.is_grad_enabled()
    finally:
        torch.set_grad_enabled(True)
    require(bool(probe.seen), "validate does not call the model", "no call was seen")
    training, gradients = probe.seen[0]
    require(not training, "validation runs in training mode", "model.training is True in it")
    require(not gradients, "validation records graphs", "torch.is_grad_enabled() is True in it")
    require(gradients_on, "after validation gradients stay off", "is_grad_enabled() is False")
    require(abs(accuracy - 0.75) < 1e-6, "the accuracy is wrong", f"3 of 4 right gives {accuracy}")
    probe.seen.clear()
    train_once(script, probe, loader)
    require(
        all(training and gradients for training, gradients in probe.seen),
        "training after a validation does not run in training mode with gradients",
        f"(training, gradients) inside the model: {sorted(set(probe.seen))}",
    )


@VALIDATED
def test_accuracy(metrics: dict[str, Any]) -> None:
    """Three epochs on 6,000 images reach what this network reaches."""
    accuracy = float(metrics["epochs"][-1]["validation_accuracy"])
    require(
        LOWEST <= accuracy <= HIGHEST,
        f"after three epochs the accuracy is not in {LOWEST} to {HIGHEST}",
        f"it is {accuracy:.4f}",
    )


def train_once(script: ModuleType, model: nn.Module, loader: Any) -> float:
    """One epoch of the learner's loop with an optimizer of ours."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    cpu = torch.device("cpu")
    return float(
        part_of(script, "train_one_epoch")(model, loader, nn.CrossEntropyLoss(), optimizer, cpu)
    )


SAVED = point(
    "a checkpoint is written when the accuracy improves, and only then",
    "Part 4, “A snapshot of all the knobs”",
)
SCRIPTED = (0.50, 0.90, 0.88, 0.89)


@SAVED
def test_checkpoint(script: ModuleType, data: Path, tmp_path: Path) -> None:
    """With accuracies of ours, the file changes in epochs 1 and 2, and opens to the same model."""
    path, kept, live = tmp_path / "best.pt", [], {}
    images = torch.randn(4, 1, 28, 28, generator=torch.Generator().manual_seed(3))

    def scripted(model: nn.Module, *_: Any) -> float:
        kept.append(epoch_in(path))
        twin = copy.deepcopy(model).eval()
        with torch.no_grad():
            live[len(kept)] = twin(images.to(next(twin.parameters()).device)).cpu()
        return SCRIPTED[len(kept) - 1]

    script.__dict__["validate"] = scripted
    limits = ["--epochs", str(len(SCRIPTED)), "--limit-train", "256", "--limit-val", "64"]
    paths = ["--data", str(data), "--checkpoint", str(path), "--metrics", str(tmp_path / "m.json")]
    status = part_of(script, "main")([*paths, *limits])
    require(status == 0, "a run of four epochs does not end well", f"main returned {status}")
    kept.append(epoch_in(path))
    require(
        kept == [None, 1, 2, 2, 2],
        "the checkpoint is not written exactly when the accuracy improves",
        f"with accuracies {SCRIPTED}, the epoch in the file was {kept[1:]} after each of them",
    )
    checkpoint = torch.load(path, map_location="cpu", weights_only=True)
    missing = {"model_state_dict", "optimizer_state_dict", "validation_accuracy"} - set(checkpoint)
    require(not missing, "the checkpoint lacks something", f"missing: {sorted(missing)}")
    require(
        bool(checkpoint["optimizer_state_dict"]["state"]),
        "the optimizer's state in the checkpoint is empty",
        "it holds no entry for any parameter",
    )
    model = part_of(script, "build_model")()
    model.load_state_dict(checkpoint["model_state_dict"])
    with torch.no_grad():
        difference = float((model.eval()(images) - live[2]).abs().max())
    require(
        difference < 1e-5,
        "the model from the checkpoint does not answer like the one that was saved",
        f"the largest difference between their logits is {difference:.4g}",
    )


def epoch_in(path: Path) -> int | None:
    """The epoch that a checkpoint names; None if there is none."""
    if not path.is_file():
        return None
    try:
        checkpoint = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as problem:
        first = str(problem).splitlines()[0]
        symptom = "the checkpoint does not open with weights_only=True"
        raise OpenPointError(Finding(symptom, f"{type(problem).__name__}: {first}")) from None
    require("epoch" in checkpoint, "the checkpoint lacks something", "missing: ['epoch']")
    return int(checkpoint["epoch"])


@point(
    "the layers are registered, and the optimizer holds the same tensors",
    "Part 3, “Inspect before you train”",
)
def test_registered(script: ModuleType) -> None:
    """The model has the standard size, and nothing of it is left out."""
    model = part_of(script, "build_model")()
    names = [name for name, _ in model.named_parameters()]
    count = sum(tensor.numel() for tensor in model.parameters())
    require(
        count == PARAMETERS,
        f"the model does not have {PARAMETERS:,} registered parameters",
        f"named_parameters() lists {count:,} in {len(names)} tensors: {', '.join(names)}",
    )
    optimizer = part_of(script, "build_optimizer")(model)
    held = {id(tensor) for group in optimizer.param_groups for tensor in group["params"]}
    strays = len(held ^ {id(tensor) for tensor in model.parameters()})
    require(strays == 0, "the optimizer holds other tensors than the model", f"{strays} differ")
    kind = type(optimizer).__name__
    require(kind in ("Adam", "AdamW"), "the optimizer is neither Adam nor AdamW", f"it is {kind}")
    part_of(script, "check_optimizer")(model, optimizer)  # stops nothing that is whole


CAUGHT = point("the seven planted faults are caught, each with its exit status", FAIL_FAST)


@CAUGHT
@pytest.mark.parametrize("fault", list(STATUSES))
def test_fault(fault: str, start: Callable[..., Run]) -> None:
    """The run stops with the right status and one sentence, and spoils no checkpoint."""
    limits = ("--epochs", "2", "--limit-train", "1024", "--limit-val", "200")
    run = start(fault, "--inject", fault, *limits)
    result = run.result
    require(
        result.status == STATUSES[fault],
        f"`--inject {fault}` does not end with status {STATUSES[fault]}",
        result.last_words(),
    )
    lines = result.error.strip().splitlines()
    require(len(lines) == 1, f"`{fault}`: not one sentence on stderr", f"{len(lines)} lines")
    wanted = SENTENCES.get(fault, "")
    require(wanted in lines[0], f"`{fault}`: the sentence does not say {wanted!r}", lines[0])
    if fault == "nonfinite-loss":
        names = "epoch 1" in lines[0] and "batch 5" in lines[0]
        require(names, "`nonfinite-loss`: the sentence does not name epoch and batch", lines[0])
    if fault != "collapse":
        require(not run.checkpoint.exists(), f"`{fault}`: a checkpoint was written", "it exists")
        return
    require(run.checkpoint.is_file(), "`collapse`: the last good checkpoint is gone", "no file")
    saved = torch.load(run.checkpoint, map_location="cpu", weights_only=True)
    good = saved["epoch"] == 1 and saved["validation_accuracy"] > LOWEST_KEPT
    shown = f"epoch {saved['epoch']}, accuracy {saved['validation_accuracy']:.4f}"
    require(good, "`collapse`: the checkpoint holds the collapsed model", shown)


@CAUGHT
def test_stops_in_time(script: ModuleType) -> None:
    """A bad batch never reaches the model, and a bad loss never reaches backward."""
    features, labels = marked_batch([1, 2], [1, 2])
    probe, nan_probe = Probe(), Probe(float("nan"))
    _stops(script, probe, features * float("inf"), labels)
    require(not probe.seen, "a batch that is not finite reaches the forward pass", "1 call seen")
    _stops(script, nan_probe, features, labels)
    reached = nan_probe.layer.weight.grad is not None
    require(not reached, "a loss that is not finite reaches backward", "gradients were written")


@CAUGHT
def test_collapse_rule(script: ModuleType) -> None:
    """The rule stops at a fall of more than 0.05 or below 0.2, and at nothing else."""
    rule = part_of(script, "check_validation")
    cases = {(0.90, 0.96): True, (0.92, 0.96): False, (0.15, 0.10): True, (0.95, 0.93): False}
    for (accuracy, before), stops in cases.items():
        try:
            rule(accuracy, [before])
            stopped = False
        except NotImplementedError:
            raise
        except Exception:
            stopped = True
        shown = f"accuracy {accuracy} after {before} {'stops' if stopped else 'goes on'}"
        require(stopped == stops, "the rule for a collapse decides wrongly", shown)


def _stops(script: ModuleType, model: nn.Module, *batch: torch.Tensor) -> None:
    """The learner's loop has to end on this batch with status 10."""
    shown = "the epoch went on to its end"
    try:
        train_once(script, model, [batch])
    except NotImplementedError:
        raise
    except Exception as problem:
        if getattr(problem, "status", None) == STATUSES["nonfinite-loss"]:
            return
        shown = f"it was {type(problem).__name__}: {problem}"
    raise OpenPointError(
        Finding("a loop that meets a value that is not finite does not stop with 10", shown)
    )
