"""Step 3: the training script on real digits, and the seven faults that it has to catch."""

import copy
import functools
import hashlib
import inspect
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

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
BEFORE_TRAINING = ("empty-optimizer", "partial-optimizer", "unwritable")
OWN_WORDS = 3
BAD_LABELS = ([3, 14, 7], [-2, 5, 5])
RATE = 0.1
DATA = "Part 4, “Data that choose, and data that judge”"
LOADER = "Part 4, “The loader shapes the result”"
RESET = "Part 2, “When the loss goes bad after hundreds of batches”"
SOFTMAX = "Part 3, “Softmax in front of the loss”"
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
        checkpoint, metrics = folder / "checkpoints" / "best.pt", folder / "metrics.json"
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


@point("MNIST is found or downloaded", DATA)
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
    """Each epoch's loss is printed and written down."""
    losses = [float(epoch["training_loss"]) for epoch in metrics["epochs"]]
    require(len(losses) == EPOCHS, "the metrics lack epochs", f"{len(losses)} of {EPOCHS}")
    printed = [any(f"{loss:.{n}f}" in healthy.result.output for n in (3, 4)) for loss in losses]
    require(all(printed), "not every epoch's loss is printed", f"found: {printed}")


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


def marked(answers: list[int], labels: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """Images that make the probe answer as given."""
    features = torch.zeros(len(answers), 28 * 28)
    features[range(len(answers)), answers] = 5.0
    return features.reshape(-1, 1, 28, 28), torch.tensor(labels)


def loader_over(features: torch.Tensor, labels: torch.Tensor, batch: int) -> DataLoader[Any]:
    """A loader as PyTorch makes them, always in the same order."""
    return DataLoader(TensorDataset(features, labels), batch_size=batch)


VALIDATED = point("validation accuracy is computed in evaluation mode", LOOP)


@VALIDATED
def test_validation_mode(script: ModuleType) -> None:
    """Both switches are off in validation and on again in the next training."""
    probe = Probe()
    # Batches of different sizes: 3 of 4 right, whatever the mean of the batches is.
    loader = loader_over(*marked([1, 2, 3, 4], [1, 2, 3, 5]), batch=3)
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


def train_once(
    script: ModuleType,
    model: nn.Module,
    loader: DataLoader[Any],
    criterion: nn.Module | None = None,
    optimizer: torch.optim.Optimizer | None = None,
) -> float:
    """One epoch of the learner's loop, with parts of ours."""
    criterion = criterion or nn.CrossEntropyLoss()
    optimizer = optimizer or torch.optim.SGD(model.parameters(), lr=RATE)
    cpu = torch.device("cpu")
    return float(part_of(script, "train_one_epoch")(model, loader, criterion, optimizer, cpu))


def stand_in(script: ModuleType, name: str, ours: Callable[..., Any]) -> None:
    """Put ours in place of a function of the learner's; arguments come in the order of theirs."""
    theirs = part_of(script, name)
    order = inspect.signature(theirs)

    @functools.wraps(theirs)
    def called(*values: Any, **named: Any) -> Any:
        return ours(*order.bind(*values, **named).args)

    script.__dict__[name] = called


SAVED = point(
    "a checkpoint is written when the accuracy improves, and only then",
    "Part 4, “A snapshot of the whole run”",
)
SCRIPTED = (0.50, 0.90, 0.88, 0.89)


@SAVED
def test_checkpoint(script: ModuleType, data: Path, tmp_path: Path) -> None:
    """With accuracies of ours, the file changes in epochs 1 and 2, and opens to the same model."""
    path, kept, live = tmp_path / "checkpoints" / "best.pt", [], {}
    images = torch.randn(4, 1, 28, 28, generator=torch.Generator().manual_seed(3))

    def scripted(model: nn.Module, *_: Any) -> float:
        kept.append(epoch_in(path))
        twin = copy.deepcopy(model).eval()
        with torch.no_grad():
            live[len(kept)] = twin(images.to(next(twin.parameters()).device)).cpu()
        return SCRIPTED[len(kept) - 1]

    stand_in(script, "validate", scripted)
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
    # What PyTorch warns of stands there too, and is no sentence of the script.
    lines = [line for line in result.error.splitlines() if line.startswith("stopped:")]
    whole = len(lines) == 1 and "Traceback" not in result.error
    said = " ".join(result.error.split()) or "nothing"
    require(whole, f"`{fault}`: stderr has not one sentence that begins with 'stopped:'", said)
    wanted = SENTENCES.get(fault, "")
    require(wanted in lines[0], f"`{fault}`: the sentence does not say {wanted!r}", lines[0])
    if fault == "nonfinite-loss":
        names = "epoch 1" in lines[0] and "batch 5" in lines[0]
        require(names, "`nonfinite-loss`: the sentence does not name epoch and batch", lines[0])
    if fault == "empty-optimizer":
        own = lines[0].removeprefix("stopped:").replace(error_of_no_parameters(), "")
        enough = len(re.findall(r"[a-z]{2,}", own.lower())) >= OWN_WORDS
        require(enough, f"`{fault}`: the sentence is PyTorch's error and no more", lines[0])
    if fault != "collapse":
        require(not run.checkpoint.exists(), f"`{fault}`: a checkpoint was written", "it exists")
        return
    require(run.checkpoint.is_file(), "`collapse`: the last good checkpoint is gone", "no file")
    saved = torch.load(run.checkpoint, map_location="cpu", weights_only=True)
    good = saved["epoch"] == 1 and saved["validation_accuracy"] > LOWEST_KEPT
    shown = f"epoch {saved['epoch']}, accuracy {saved['validation_accuracy']:.4f}"
    require(good, "`collapse`: the checkpoint holds the collapsed model", shown)


def error_of_no_parameters() -> str:
    """What this PyTorch says of an optimizer without parameters."""
    try:
        torch.optim.Adam([])
    except ValueError as problem:
        return str(problem)
    return ""


@CAUGHT
@pytest.mark.parametrize("fault", BEFORE_TRAINING)
def test_stops_before_training(fault: str, script: ModuleType, data: Path, tmp_path: Path) -> None:
    """What can be known before the first batch stops the run before it."""
    epochs = []

    def train(*_: Any) -> float:
        epochs.append(fault)
        return 1.0

    stand_in(script, "train_one_epoch", train)
    stand_in(script, "validate", lambda *_: 0.9)
    try:
        part_of(script, "main")([*options_for(data, tmp_path), "--inject", fault])
    except NotImplementedError:
        raise
    except Exception:
        pass  # how a run has to end is for the check above
    shown = "train_one_epoch was called"
    require(not epochs, f"`{fault}`: training begins before the fault is found", shown)


@CAUGHT
@pytest.mark.parametrize("labels", BAD_LABELS, ids=str)
def test_names_labels(labels: list[int], script: ModuleType) -> None:
    """The sentence about labels has the smallest and the largest."""
    features, bad = marked([1] * len(labels), labels)
    said = ""
    try:
        part_of(script, "check_batch")(features, bad, 10)
    except NotImplementedError:
        raise
    except Exception as problem:
        said = str(problem)
    seen = {int(number) for number in re.findall(r"(?<!\d)-?\d+", said)}
    require(
        {min(labels), max(labels)} <= seen,
        "the sentence about labels does not say the smallest and the largest seen",
        f"check_batch with labels {labels} and 10 classes says {said or 'nothing'!r}",
    )


@CAUGHT
def test_trial_write(script: ModuleType, tmp_path: Path) -> None:
    """Trying the path leaves no file behind, and a checkpoint that lies there as it was."""
    part_of(script, "check_checkpoint_path")(tmp_path / "best.pt")
    left = [path.name for path in tmp_path.rglob("*") if path.is_file()]
    require(not left, "the trial write leaves something behind", f"found {', '.join(left)}")
    (tmp_path / "best.pt").write_bytes(b"kept")
    part_of(script, "check_checkpoint_path")(tmp_path / "best.pt")
    kept = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    shown = f"a file of 4 bytes lay there; now: {kept}"
    require(kept == {"best.pt": b"kept"}, "the trial write spoils an older checkpoint", shown)


@CAUGHT
def test_stops_in_time(script: ModuleType) -> None:
    """A bad batch never reaches the model, and a bad loss never reaches backward."""
    features, labels = marked([1, 2], [1, 2])
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


def _stops(
    script: ModuleType, model: nn.Module, features: torch.Tensor, labels: torch.Tensor
) -> None:
    """The learner's loop has to end on this batch with status 10."""
    shown = "the epoch went on to its end"
    try:
        train_once(script, model, loader_over(features, labels, batch=len(labels)))
    except NotImplementedError:
        raise
    except Exception as problem:
        if getattr(problem, "status", None) == STATUSES["nonfinite-loss"]:
            return
        shown = f"it was {type(problem).__name__}: {problem}"
    raise OpenPointError(
        Finding("a loop that meets a value that is not finite does not stop with 10", shown)
    )


@dataclass
class Handed:
    """What the script hands over in two epochs: images (N, 1, 28, 28) with labels (N,).

    Attributes:
        training: For each epoch what `train_one_epoch` gets from its loader.
        validation: For each epoch what `validate` gets.
        criterion: The loss for training.
    """

    training: list[tuple[torch.Tensor, torch.Tensor]] = field(default_factory=list)
    validation: list[tuple[torch.Tensor, torch.Tensor]] = field(default_factory=list)
    criterion: nn.Module = field(default_factory=nn.Identity)


def options_for(data: Path, folder: Path) -> list[str]:
    """Two short epochs, with checkpoint and metrics in a folder of ours."""
    paths = {"--data": data, "--checkpoint": folder / "best.pt", "--metrics": folder / "m.json"}
    limits = ["--epochs", "2", "--limit-train", "512", "--limit-val", "256"]
    return [*(str(part) for pair in paths.items() for part in pair), *limits]


def whole(loader: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Everything that a loader hands out, in its order."""
    images, labels = zip(*loader, strict=True)
    return torch.cat(images).cpu(), torch.cat(labels).cpu()


@pytest.fixture
def hand_over(script: ModuleType, data: Path, tmp_path: Path) -> Callable[[], Handed]:
    """Runs the script with a loop and a validation that only look at what they get."""

    def run() -> Handed:
        handed = Handed()

        def train(_: nn.Module, loader: Any, criterion: nn.Module, *__: Any) -> float:
            handed.training.append(whole(loader))
            handed.criterion = criterion
            return 1.0

        def judge(_: nn.Module, loader: Any, *__: Any) -> float:
            handed.validation.append(whole(loader))
            return 0.9

        stand_in(script, "train_one_epoch", train)
        stand_in(script, "validate", judge)
        status = part_of(script, "main")(options_for(data, tmp_path))
        require(status == 0, "a run of two epochs does not end well", f"main returned {status}")
        short = min(len(handed.training), len(handed.validation)) < 2
        require(not short, "two epochs do not train and validate twice", "a call is missing")
        return handed

    return run


FED = point("added: the loss is cross-entropy, and gets logits", SOFTMAX)


@FED
def test_logits(script: ModuleType) -> None:
    """The model returns raw scores, and the loop hands them on as they are."""
    generator = torch.Generator().manual_seed(5)
    images = torch.randn(8, 1, 28, 28, generator=generator)
    with torch.no_grad():
        outputs = part_of(script, "build_model")().eval()(images)
    sums = outputs.sum(dim=1)
    require(
        not torch.allclose(sums, torch.ones_like(sums), atol=1e-3),
        "the model's answers are shares, not logits",
        f"for each of {len(images)} images they sum to {float(sums[0]):.3f}",
    )
    probe, criterion, got = Probe(), nn.CrossEntropyLoss(), []

    def listen(_: nn.Module, values: tuple[Any, ...], named: dict[str, Any]) -> None:
        got.append((values[0] if values else named["input"]).detach())

    criterion.register_forward_pre_hook(listen, with_kwargs=True)
    train_once(script, probe, loader_over(*marked([1, 2, 3], [1, 2, 3]), batch=3), criterion)
    require(bool(got), "the loop does not call the loss that it is given", "no call was seen")
    require(
        torch.allclose(got[0], 5.0 * functional.one_hot(torch.tensor([1, 2, 3]), 10)),
        "the loss does not get what the model returned",
        f"the model's largest logit is 5, and the loss got {float(got[0].max()):.3f}",
    )


@FED
def test_criterion(hand_over: Callable[[], Handed]) -> None:
    """The script trains with cross-entropy of logits."""
    criterion = hand_over().criterion
    logits = torch.randn(8, 10, generator=torch.Generator().manual_seed(5))
    labels = torch.arange(8)
    expected = float(functional.cross_entropy(logits, labels))
    same = isinstance(criterion, nn.CrossEntropyLoss)
    found = expected if same else float(criterion(logits, labels))
    require(
        abs(found - expected) < 1e-4,
        "the script does not train with cross-entropy",
        f"{type(criterion).__name__} of known logits is {found:.4f}, cross-entropy {expected:.4f}",
    )


@point("added: each update follows the gradient of its own batch", RESET)
def test_reset(script: ModuleType) -> None:
    """In three batches, each move points where the gradient of its batch does, and is no longer."""
    generator = torch.Generator().manual_seed(5)
    features = torch.randn(3 * 16, 1, 28, 28, generator=generator)
    labels = torch.randint(10, (len(features),), generator=generator)
    layer = nn.Linear(28 * 28, 10)
    model = nn.Sequential(nn.Flatten(), layer)
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    weight = layer.weight
    before: list[torch.Tensor] = []
    after: list[torch.Tensor] = []
    optimizer.register_step_pre_hook(lambda *_: before.append(weight.detach().clone()))
    optimizer.register_step_post_hook(lambda *_: after.append(weight.detach().clone()))
    batches = loader_over(features, labels, batch=16)
    train_once(script, model, batches, optimizer=optimizer)
    require(len(after) == 3, "not every batch is one update", f"{len(after)} updates in 3 batches")
    for update, (batch, start, end) in enumerate(zip(batches, before, after, strict=True), 1):
        with torch.no_grad():
            weight.copy_(start)
        (own,) = torch.autograd.grad(functional.cross_entropy(model(batch[0]), batch[1]), [weight])
        moved = (start - end) / RATE
        require(bool(moved.any()), "the weights do not move", f"update {update} changes none")
        along = float(functional.cosine_similarity(moved.flatten(), own.flatten(), dim=0))
        longer = float(moved.norm() / own.norm())  # shorter where gradients are clipped
        require(
            along > 0.99 and longer < 1.01,
            "an update is not the gradient of its own batch",
            f"update {update} is {longer:.2f} times as long, at a cosine of {along:.2f}",
        )


@point("added: the training images come in a new order in every epoch", LOADER)
def test_shuffled(hand_over: Callable[[], Handed]) -> None:
    """Two epochs differ in order, and two runs with one seed do not."""
    (_, first), (_, second) = hand_over().training[:2]
    shown = f"the first ten labels are {first[:10].tolist()} in both epochs"
    require(not torch.equal(first, second), "both epochs have the same order", shown)
    again = hand_over().training[0][1]
    shown = f"the labels begin {first[:5].tolist()} and {again[:5].tolist()}"
    require(torch.equal(first, again), "two runs with one seed have another order", shown)


@point("added: what trains does not validate, and the test files wait", DATA)
def test_kept_apart(hand_over: Callable[[], Handed], data: Path) -> None:
    """The images that choose an epoch are no training images, and neither are test images."""
    handed = hand_over()
    training, validation = (pictures(part[0][0]) for part in (handed.training, handed.validation))
    raw = (data / "MNIST" / "raw" / "t10k-images-idx3-ubyte").read_bytes()[16:]
    test = pictures(torch.frombuffer(bytearray(raw), dtype=torch.uint8).reshape(-1, 28 * 28))
    overlaps = {
        "validation images come from the test files": (validation, test),
        "training images come from the test files": (training, test),
        "validation images are training images": (validation, training),
    }
    wrong = [
        Finding(symptom, f"{len(ours & others)} of {len(ours)}")
        for symptom, (ours, others) in overlaps.items()
        if 2 * len(ours & others) > len(ours)
    ]
    if wrong:
        raise OpenPointError(*wrong)


def pictures(images: torch.Tensor) -> set[bytes]:
    """Each image as bytes from 0 to 255, however it was normalised."""
    flat = images.flatten(start_dim=1).float()
    lowest = flat.amin(dim=1, keepdim=True)
    span = (flat.amax(dim=1, keepdim=True) - lowest).clamp(min=1e-6)
    return {bytes(row) for row in ((flat - lowest) / span * 255).round().byte().numpy()}


@point("added: the loss falls, and the accuracy is what this network reaches", LOOP)
def test_learns(metrics: dict[str, Any]) -> None:
    """Three epochs on 6,000 images go as they went for us."""
    losses = [round(float(epoch["training_loss"]), 4) for epoch in metrics["epochs"]]
    falls = all(later < earlier for earlier, later in pairwise(losses))
    require(falls, "the loss does not fall in every epoch", f"losses {losses}")
    accuracy = float(metrics["epochs"][-1]["validation_accuracy"])
    require(
        LOWEST <= accuracy <= HIGHEST,
        f"after three epochs the accuracy is not in {LOWEST} to {HIGHEST}",
        f"it is {accuracy:.4f}",
    )
