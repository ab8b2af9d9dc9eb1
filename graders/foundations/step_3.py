"""Step 3: the training script on real digits, and the seven faults that it has to catch."""

import copy
import functools
import hashlib
import inspect
import io
import json
import math
import random
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

from graders.answers import error_text
from graders.checks import CannotJudgeError, WrongAnswerError, require, todo
from graders.folder import Folder, Result
from graders.foundations.pretended import CPU, CUDA, is_cuda, pretended_cuda

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
SHAPES = [(10,), (10, 128), (128,), (128, 784)]  # of 784-128-10, in order
PARAMETERS = 101_770
DROPPED = 0.2
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
CANNOT_START, NOT_FINITE, BAD_LABELS, BAD_OPTIMIZER, NOT_WRITABLE, COLLAPSED = 2, 10, 12, 13, 14, 15
SENTENCES = {"labels": "outside 0..9", "partial-optimizer": "3 trainable tensors"}
BEFORE_TRAINING = ("empty-optimizer", "partial-optimizer", "unwritable")
OWN_WORDS = 3
DECIMAL = re.compile(r"\d+\.\d+(?:[eE][-+]?\d+)?")
DECIMALS = 2  # to which a loss has to be printed, at least
SHORTEST_FLOAT = Decimal("1e-6")  # how far a float32 may be from the digits that it prints
RATE = 0.1
PAUSE_S = 0.02  # that an epoch of ours takes
RUN_S, CHECK_S = 300.0, 120.0  # scripts, and functions

DATA = "reread Part 4, “Data that choose, and data that judge”"
LOADER = "reread Part 4, “The loader shapes the result”"
RESET = "reread Part 2, “When the loss goes bad after hundreds of batches”"
SOFTMAX = "reread Part 3, “Softmax in front of the loss”"
LOOP = "reread Part 4, “Five steps, and what makes them trustworthy”"
FAIL_FAST = "reread Part 5, “Fail fast”"
SEEDS = "reread Part 4, “What ties it together”"
SNAPSHOT = "reread Part 4, “A snapshot of the whole run”"
INSPECT = "reread Part 3, “Inspect before you train”"

Batch = tuple[torch.Tensor, torch.Tensor]


def opened(path: Path) -> Folder:
    """The learner's folder, whose script can be imported."""
    folder = Folder(path)
    folder.load(SCRIPT)
    return folder


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder for what a script writes, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="lab-") as folder:
        yield Path(folder)


def data_folder(answer: Folder) -> Path | None:
    """The folder with all four files, if there is one."""
    for name in FOLDERS:
        raw = answer.path / name / "MNIST" / "raw"
        if all((raw / file).is_file() for file in CHECKSUMS):
            return answer.path / name
    return None


def digits(answer: Folder) -> Path:
    """The folder of the digits.

    Raises:
        CannotJudgeError: If there are none; most points can't be judged then.
    """
    folder = data_folder(answer)
    if folder is None:
        raise CannotJudgeError(NO_DATA)
    return folder


@dataclass(frozen=True)
class Run:
    """A run of the script, and what it wrote.

    Attributes:
        checkpoint: The keys that pages name; None if no file was written.
        metrics: What the metrics file holds; None likewise.
    """

    result: Result
    checkpoint: dict[str, Any] | None
    metrics: dict[str, Any] | None


def run_script(answer: Folder, *options: str) -> Run:
    """Run the script with a checkpoint and a metrics file of its own."""
    data = str(digits(answer))
    with scratch() as folder:
        checkpoint, metrics = folder / "checkpoints" / "best.pt", folder / "metrics.json"
        paths = ("--data", data, "--checkpoint", str(checkpoint), "--metrics", str(metrics))
        result = answer.run(SCRIPT, *paths, *options)
        saved = opened_checkpoint(checkpoint.read_bytes()) if checkpoint.is_file() else None
        written = json.loads(metrics.read_text(encoding="utf-8")) if metrics.is_file() else None
        return Run(result, saved, written)


def opened_checkpoint(content: bytes) -> dict[str, Any]:
    """What a checkpoint's file holds, as those open it who do not trust it."""
    try:
        saved: dict[str, Any] = torch.load(
            io.BytesIO(content), map_location="cpu", weights_only=True
        )
    except Exception as problem:
        raise WrongAnswerError(
            f"expected a checkpoint that opens with weights_only=True, got {error_text(problem)} "
            f"(save states and numbers; {SNAPSHOT})"
        ) from None
    needed = {"epoch", "model_state_dict", "optimizer_state_dict", "validation_accuracy"}
    lacking = needed - set(saved)
    require(not lacking, "four keys in the checkpoint", f"no {sorted(lacking)}", SNAPSHOT)
    return saved


def healthy(answer: Folder) -> tuple[Run, list[dict[str, float]]]:
    """Three epochs on 6,000 images, and what was written down of each."""
    options = ("--epochs", str(EPOCHS), "--limit-train", "6000", "--limit-val", "1000")
    run: Run = answer.once("healthy", lambda: run_script(answer, *options))
    require(run.result.status == 0, "exit status 0", run.result.last_words(), LOOP)
    if run.metrics is None:
        raise WrongAnswerError(f"expected a metrics file, got none (write_metrics does it; {LOOP})")
    epochs: list[dict[str, float]] = run.metrics["epochs"]
    require(len(epochs) == EPOCHS, f"{EPOCHS} epochs in the metrics", f"{len(epochs)}", LOOP)
    return run, epochs


@todo("3.1", "MNIST is found or downloaded")
def has_the_digits(answer: Folder) -> None:
    """All four files are there, whole."""
    folder = data_folder(answer)
    if folder is None:
        looked = " and ".join(str(Path(name, "MNIST", "raw")) for name in FOLDERS)
        raise WrongAnswerError(
            f"expected MNIST's four files, got none in {looked} (run the script once; {DATA})"
        )
    for name, known in CHECKSUMS.items():
        content = (folder / "MNIST" / "raw" / name).read_bytes()
        found = hashlib.md5(content, usedforsecurity=False).hexdigest()
        require(
            found in known,
            f"{name} as it was published",
            f"one whose MD5 is {found}",
            f"delete it and run the script again; {DATA}",
        )


@todo("3.1", "MNIST is found or downloaded", limit_s=CHECK_S)
def says_where_it_looked(answer: Folder) -> None:
    """Without the files, and without a network, the script says where they belong."""
    with scratch() as folder, no_mnist():
        ended, said = ended_with(answer.load(SCRIPT), options_for(folder / "none", folder))
        require(
            ended == CANNOT_START and str(folder / "none") in said,
            f"status {CANNOT_START}, and the folder in which the files are missing",
            f"{ended}: {said or 'nothing'}",
            f"StopError takes both; {DATA}",
        )


@contextmanager
def no_mnist() -> Iterator[None]:
    """Let torchvision find nothing, as without files and without a network."""

    def missing(*_: Any, **__: Any) -> None:
        raise RuntimeError("Dataset not found. You can use download=True to download it")

    with (
        patch("torchvision.datasets.MNIST", missing),
        patch("torchvision.datasets.mnist.MNIST", missing),
    ):
        yield


def ended_with(script: ModuleType, options: list[str]) -> tuple[object, str]:
    """How the learner's run ends: the status of its StopError, or an error; and what it says."""
    try:
        script.run(script.parse_options(options))
    except NotImplementedError:
        raise
    except Exception as problem:
        return getattr(problem, "status", type(problem).__name__), " ".join(str(problem).split())
    return "its end", ""


@todo("3.2", "the training loss is printed at least once per epoch", limit_s=RUN_S)
def prints_losses(answer: Folder) -> None:
    """Each epoch's loss is printed and written down."""
    run, epochs = healthy(answer)
    losses = [float(epoch["training_loss"]) for epoch in epochs]
    printed = [is_printed(loss, run.result.output) for loss in losses]
    require(
        all(printed),
        f"each epoch's loss in the output, to {DECIMALS} decimals or more: "
        f"{[round(loss, 4) for loss in losses]}",
        f"printed: {printed}",
        f"print what write_metrics gets; {LOOP}",
    )


def is_printed(loss: float, output: str) -> bool:
    """Whether a number of the output is this loss, rounded to two decimals or to more.

    A number stands for what is within half a unit of its last digit. One that lacks its last
    zeros, as ``round`` leaves it, and one in float32 are taken as well.
    """
    for number in map(Decimal, DECIMAL.findall(output)):
        exponent = min(int(number.as_tuple().exponent), -DECIMALS)
        if abs(number - Decimal(loss)) <= max(Decimal(5).scaleb(exponent - 1), SHORTEST_FLOAT):
            return True
    return False


@todo("3.2", "the training loss is printed at least once per epoch", limit_s=CHECK_S)
def means_over_examples(answer: Folder) -> None:
    """The loss of an epoch is the mean of its examples, however they are divided into batches."""
    script = answer.load(SCRIPT)
    for batch in (3, random.randint(4, 6)):
        probe = Probe(random.uniform(0.5, 1.5))
        count = 2 * batch + 1
        classes = [n % 10 for n in range(count)]
        features, labels = marked(classes, [*classes[:-1], (classes[-1] + 5) % 10])
        still = torch.optim.SGD(probe.parameters(), lr=0.0)
        right = float(functional.cross_entropy(probe(features), labels))
        found = train_once(script, probe, loader_over(features, labels, batch), optimizer=still)
        require(
            abs(found - right) < 1e-4,
            f"{right:.4f}, the mean loss of {count} examples in batches of {batch}",
            f"{found:.4f}",
            f"the last batch is smaller than the others; {LOOP}",
        )


@todo("3.2", "the training loss is printed at least once per epoch", limit_s=CHECK_S)
def writes_what_it_measured(answer: Folder) -> None:
    """Losses and accuracies of ours are printed, and in the metrics, epoch by epoch."""
    script = answer.load(SCRIPT)
    losses = [round(random.uniform(0.1, 2.0), 4) for _ in range(2)]
    accuracies = [round(random.uniform(0.90, 0.92), 4) for _ in range(2)]
    parts: list[Any] = []
    seed = random.randint(20, 99)
    with scratch() as folder, silent() as printed:
        data = digits(answer)
        left, right = iter(losses), iter(accuracies)

        def train(model: Any, _: Any, criterion: Any, optimizer: Any, *__: Any) -> float:
            parts[:] = [model, criterion, optimizer]
            time.sleep(PAUSE_S)
            return next(left)

        stand_in(script, "train_one_epoch", train)
        stand_in(script, "validate", lambda *_: next(right))
        start = time.monotonic()
        require_end(script, [*options_for(data, folder), "--seed", str(seed)])
        took = time.monotonic() - start
        metrics = json.loads((folder / "m.json").read_text(encoding="utf-8"))
    written = metrics["epochs"]
    found = [(e["epoch"], e["training_loss"], e["validation_accuracy"]) for e in written]
    require(
        found == list(zip((1, 2), losses, accuracies, strict=True)),
        f"epochs 1 and 2 with losses {losses} and accuracies {accuracies} in the metrics",
        f"{found}",
        f"epochs count from 1; {LOOP}",
    )
    seconds = [epoch.get("seconds", math.nan) for epoch in written]
    require(
        all(each > PAUSE_S / 2 for each in seconds) and sum(seconds) <= took,
        f"the seconds of each epoch in the metrics: its training takes {PAUSE_S}, and the whole "
        f"run {took:.2f}",
        f"{seconds}",
        f"write_metrics says what an epoch has; {LOOP}",
    )
    for name, part in zip(("model", "loss", "optimizer"), parts, strict=True):
        inside = part.modules() if isinstance(part, nn.Module) else [part]
        require(
            metrics.get(name) in {type(each).__name__ for each in inside},
            f"{type(part).__name__} in the metrics as the {name}",
            f"{metrics.get(name)}",
            f"write_metrics says in which order it takes them; {LOOP}",
        )
    found_seed = metrics.get("seed")
    require(found_seed == seed, f"the seed {seed} in the metrics", f"{found_seed}", SNAPSHOT)
    shown = printed.getvalue()
    require(
        all(is_printed(loss, shown) for loss in losses),
        f"the losses {losses} in the output, to {DECIMALS} decimals or more",
        repr(shown),
        f"one line an epoch; {LOOP}",
    )


def silent() -> redirect_stdout[io.StringIO]:
    """Keep what a script prints."""
    return redirect_stdout(io.StringIO())


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
        first = features.flatten(start_dim=1)[:, :10]
        logits: torch.Tensor = self.factor * (first + 0 * self.layer(features.flatten(1)))
        return logits


def marked(answers: list[int], labels: list[int]) -> Batch:
    """Images that make the probe answer as given."""
    features = torch.zeros(len(answers), 28 * 28)
    features[range(len(answers)), answers] = 5.0
    return features.reshape(-1, 1, 28, 28), torch.tensor(labels)


def loader_over(features: torch.Tensor, labels: torch.Tensor, batch: int) -> DataLoader[Any]:
    """A loader as PyTorch makes them, always in the same order."""
    return DataLoader(TensorDataset(features, labels), batch_size=batch)


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
    return float(script.train_one_epoch(model, loader, criterion, optimizer, CPU))


def stand_in(script: ModuleType, name: str, ours: Callable[..., Any]) -> None:
    """Put ours in place of a function of the learner's; arguments come in the order of theirs."""
    theirs = getattr(script, name)
    order = inspect.signature(theirs)

    @functools.wraps(theirs)
    def called(*values: Any, **named: Any) -> Any:
        return ours(*order.bind(*values, **named).args)

    script.__dict__[name] = called


def require_end(script: ModuleType, options: list[str]) -> None:
    """The learner's main part has to return 0."""
    status = script.main(options)
    require(status == 0, "main to return 0", f"{status}", f"nothing is wrong in this run; {LOOP}")


VALIDATED = "validation accuracy is computed in evaluation mode"


@todo("3.3", VALIDATED, limit_s=CHECK_S)
def validates(answer: Folder) -> None:
    """Both switches are off in every batch, and the accuracy counts every image once."""
    script = answer.load(SCRIPT)
    for batch, wrong in ((3, [3]), (4, [1, 4, 5])):
        probe = Probe(random.choice((0.5, 2.0)))
        answers = [random.randrange(10) for _ in range(batch + 3)]
        labels = [(c + 1) % 10 if n in wrong else c for n, c in enumerate(answers)]
        right = 1 - len(wrong) / len(answers)
        try:
            loader = loader_over(*marked(answers, labels), batch=batch)
            accuracy = float(script.validate(probe, loader, CPU))
            gradients_on = torch.is_grad_enabled()
        finally:
            torch.set_grad_enabled(True)
        require(bool(probe.seen), "validate to call the model", "no call", LOOP)
        require(
            not any(training for training, _ in probe.seen),
            "validation in evaluation mode",
            "model.training True in it",
            f"dropout is still on; {LOOP}",
        )
        require(
            not any(gradients for _, gradients in probe.seen),
            "validation that records no graphs",
            "torch.is_grad_enabled() True in it",
            f"nobody uses them; {LOOP}",
        )
        require(
            gradients_on,
            "gradients to be on again after validation",
            "is_grad_enabled() False",
            f"the next epoch needs them; {LOOP}",
        )
        require(
            abs(accuracy - right) < 1e-6,
            f"{right:.4f}: {len(answers) - len(wrong)} of {len(answers)} right, in batches of "
            f"{batch}",
            f"{accuracy:.4f}",
            f"count images, not batches; {LOOP}",
        )
        probe.seen.clear()
        train_once(script, probe, loader)
        require(
            bool(probe.seen) and all(map(all, probe.seen)),
            "training mode with gradients in the training after a validation",
            f"(training, gradients) {sorted(set(probe.seen))} inside the model",
            f"who switches back? {LOOP}",
        )


@todo("3.3", VALIDATED, limit_s=CHECK_S)
def validates_on_the_device(answer: Folder) -> None:
    """Every batch is moved to the device that is given; CUDA is pretended.

    Labels may stay where they are if the answers come there.
    """
    script = answer.load(SCRIPT)
    for batch in (2, random.randint(3, 5)):
        features, labels = marked([1] * (batch + 1), [1] * (batch + 1))
        loader = loader_over(features, labels, batch)
        with pretended_cuda() as cuda:
            script.validate(Probe(), loader, CUDA)
        require_moved(cuda.moved, [(size, 1, 28, 28) for size in (batch, 1)])
        if not cuda.fetched:
            require_moved(cuda.moved, cuda.compared)


def require_moved(moved: Sequence[tuple[int, ...]], shapes: Sequence[tuple[int, ...]]) -> None:
    """What has these shapes has to be moved."""
    stayed = [shape for shape in shapes if shape not in moved]
    require(
        not stayed,
        "every batch to be moved to the device that is given",
        f"tensors of shape {stayed} that stay behind",
        "a model on a GPU refuses them; reread Part 1, “Devices”",
    )


SAVED = "a checkpoint is written when the accuracy improves, and only then"


@todo("3.4", SAVED, limit_s=CHECK_S)
def saves_improvements(answer: Folder) -> None:
    """With accuracies of ours, the file changes in the right epochs, and opens to that model."""
    best = round(random.uniform(0.90, 0.93), 3)
    for scripted in ((0.50, best, best - 0.02, best - 0.01), (0.9, 0.89, 0.9, best + 0.01, 0.93)):
        require_snapshots(answer, scripted)


def require_snapshots(answer: Folder, scripted: tuple[float, ...]) -> None:
    """A run with these accuracies has to save when one is better than all before."""
    script, data = answer.load(SCRIPT), digits(answer)
    images = torch.randn(4, 1, 28, 28)
    kept: list[int | None] = []
    live: dict[int, torch.Tensor] = {}
    states: dict[int, Any] = {}
    theirs = script.train_one_epoch
    opened_once = functools.cache(opened_checkpoint)

    with scratch() as folder, silent():
        path = folder / "checkpoints" / "best.pt"

        def train(*parts: Any) -> float:
            loss = theirs(*parts)
            states[len(states) + 1] = copy.deepcopy(parts[3].state_dict())
            return float(loss)

        def judged(model: nn.Module, *_: Any) -> float:
            kept.append(opened_once(path.read_bytes())["epoch"] if path.is_file() else None)
            twin = copy.deepcopy(model).eval()
            with torch.no_grad():
                live[len(kept)] = twin(images.to(next(twin.parameters()).device)).cpu()
            return scripted[len(kept) - 1]

        stand_in(script, "train_one_epoch", train)
        stand_in(script, "validate", judged)
        limits = ["--epochs", str(len(scripted)), "--limit-train", "256", "--limit-val", "64"]
        paths = ["--data", str(data), "--checkpoint", str(path), "--metrics", str(folder / "m")]
        require_end(script, [*paths, *limits])
        require(path.is_file(), "a checkpoint", "no file where --checkpoint says", SNAPSHOT)
        saved = opened_once(path.read_bytes())
    kept.append(saved["epoch"])
    right = [scripted.index(max(scripted[:n])) + 1 for n in range(1, len(scripted) + 1)]
    require(
        kept == [None, *right],
        f"epoch {right} in the file after each epoch, with accuracies {scripted}",
        f"{kept[1:]}, and {kept[0]} before the first",
        f"compare with the best so far; {SNAPSHOT}",
    )
    require_contents(script, saved, scripted, live, states, images)


def require_contents(
    script: ModuleType,
    saved: dict[str, Any],
    scripted: tuple[float, ...],
    live: dict[int, torch.Tensor],
    states: dict[int, Any],
    images: torch.Tensor,
) -> None:
    """The checkpoint has to hold what was live in its epoch."""
    epoch = saved["epoch"]
    require(
        saved["validation_accuracy"] == scripted[epoch - 1],
        f"the accuracy of epoch {epoch}, {scripted[epoch - 1]}, in the checkpoint",
        f"{saved['validation_accuracy']}",
        SNAPSHOT,
    )
    state, right = saved["optimizer_state_dict"]["state"], states[epoch]["state"]
    same = len(state) == len(right) > 0 and all(
        torch.equal(torch.as_tensor(state[n][name]).cpu(), torch.as_tensor(value).cpu())
        for n, values in right.items()
        for name, value in values.items()
        if n in state and name in state[n]
    )
    require(
        same,
        f"the optimizer's state after epoch {epoch} in the checkpoint",
        f"{len(state)} entries, where the optimizer has {len(right)}, or other numbers",
        SNAPSHOT,
    )
    model = script.build_model()
    model.load_state_dict(saved["model_state_dict"])
    with torch.no_grad():
        difference = float((model.eval()(images) - live[epoch]).abs().max())
    require(
        difference < 1e-5,
        "a model from the checkpoint that answers like the one that was saved",
        f"logits that differ by {difference:.4g}",
        f"a state_dict is no copy; {SNAPSHOT}",
    )


REGISTERED = "the layers are registered, and the optimizer holds the same tensors"


@todo("3.5", REGISTERED)
def has_the_standard_size(answer: Folder) -> None:
    """The model is 784-128-10 with ReLU and dropout, and registers all of it."""
    model = answer.load(SCRIPT).build_model()
    named = dict(model.named_parameters())
    shapes = sorted(tuple(tensor.shape) for tensor in named.values())
    count = sum(tensor.numel() for tensor in named.values())
    require(
        shapes == SHAPES,
        f"{PARAMETERS:,} registered parameters in tensors of shapes {SHAPES}",
        f"{count:,} in {len(named)} tensors: {', '.join(named)}",
        f"what is in a plain list, or is missing? {INSPECT}",
    )
    bias, weight, hidden_bias, hidden_weight = sorted(
        named.values(), key=lambda tensor: tuple(tensor.shape)
    )
    for images in (torch.randn(1, 1, 28, 28), torch.randn(random.randint(2, 9), 1, 28, 28)):
        hidden = functional.relu(functional.linear(images.flatten(1), hidden_weight, hidden_bias))
        right = functional.linear(hidden, weight, bias)
        logits = model.eval()(images)
        require(
            logits.shape == right.shape and torch.allclose(logits, right, atol=1e-4),
            f"the logits {list(right.shape)} of 784-128-10 with ReLU, in evaluation mode",
            f"shape {list(logits.shape)}, and other numbers",
            f"all registered layers, in their order; {INSPECT}",
        )
    images = torch.randn(16, 1, 28, 28)
    passes = torch.stack([model.train()(images) for _ in range(2)])
    shares = {module.p for module in model.modules() if isinstance(module, nn.Dropout)}
    require(
        not torch.equal(*passes) and shares <= {DROPPED},
        f"dropout of {DROPPED} in training",
        f"dropout of {sorted(shares)}" if shares - {DROPPED} else "the same answer twice",
        f"the docstring of build_model has it; {INSPECT}",
    )
    zeros = int((passes == 0).sum())
    require(
        zeros == 0,
        "dropout of hidden values, and logits that are all there",
        f"{zeros} of {passes.numel()} logits that are exactly zero in training",
        f"what is dropped last is an answer; {INSPECT}",
    )


@todo("3.5", REGISTERED)
def optimizes_the_model(answer: Folder) -> None:
    """The optimizer holds the very tensors of the model that it gets, whichever that is."""
    script = answer.load(SCRIPT)
    for model in (script.build_model(), nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))):
        optimizer = script.build_optimizer(model)
        held = {id(tensor) for group in optimizer.param_groups for tensor in group["params"]}
        own = {id(tensor) for tensor in model.parameters()}
        require(
            held == own,
            f"an optimizer with the {len(own)} tensors of its model",
            f"{len(own - held)} that it lacks, and {len(held - own)} of another",
            f"the model is its argument; {INSPECT}",
        )
        kind = type(optimizer).__name__
        require(kind in ("Adam", "AdamW"), "Adam or AdamW", kind, INSPECT)
        with stopping(script) as stop:
            script.check_optimizer(model, optimizer)
        require(
            stop.status is None,
            "check_optimizer to stop nothing that is whole",
            f"{stop}",
            INSPECT,
        )


CAUGHT = "the seven planted faults are caught, each with its exit status"


@dataclass
class Stop:
    """How a call ended.

    Attributes:
        status: That of the learner's StopError, or another error's name; None if it went on.
        said: The error's text.
    """

    status: object = None
    said: str = ""

    def __str__(self) -> str:
        return f"a stop with {self.status}: {self.said}" if self.status is not None else "no stop"

    def numbers(self) -> set[int]:
        """The whole numbers in its text."""
        return {int(number) for number in re.findall(r"(?<!\d)-?\d+", self.said)}


@contextmanager
def stopping(_: ModuleType) -> Iterator[Stop]:
    """Note how the block ends, in place of the error."""
    stop = Stop()
    try:
        yield stop
    except (NotImplementedError, WrongAnswerError):
        raise
    except Exception as problem:
        stop.status = getattr(problem, "status", type(problem).__name__)
        stop.said = " ".join(str(problem).split())


def ends_with(fault: str) -> Callable[[Folder], None]:
    """A check that the run with a planted fault stops as it should."""

    def check(answer: Folder) -> None:
        limits = ("--epochs", "2", "--limit-train", "1024", "--limit-val", "200")
        run = run_script(answer, "--inject", fault, *limits)
        status, error = run.result.status, run.result.error
        require(
            status == STATUSES[fault],
            f"`--inject {fault}` to end with status {STATUSES[fault]}",
            run.result.last_words(),
            FAIL_FAST,
        )
        # What PyTorch warns of is there too, and is not a sentence of the script.
        lines = [line for line in error.splitlines() if line.startswith("stopped:")]
        require(
            len(lines) == 1 and "Traceback" not in error,
            f"`{fault}`: one sentence on stderr that begins with 'stopped:'",
            " ".join(error.split()) or "nothing",
            FAIL_FAST,
        )
        require_sentence(fault, lines[0])
        require_last_good(fault, run.checkpoint)

    check.__name__ = f"ends_with_{fault.replace('-', '_')}"
    check.__doc__ = f"The run with `{fault}` stops with its status and one sentence."
    return check


def require_sentence(fault: str, line: str) -> None:
    """The sentence has to say what was wrong, and where."""
    wanted = SENTENCES.get(fault, "")
    require(wanted in line, f"`{fault}`: a sentence that says {wanted!r}", line, FAIL_FAST)
    if fault == "nonfinite-loss":
        require(
            "epoch 1" in line and "batch 5" in line,
            f"`{fault}`: a sentence that names epoch 1 and batch 5",
            line,
            FAIL_FAST,
        )
    if fault == "empty-optimizer":
        own = line.removeprefix("stopped:").replace(error_of_no_parameters(), "")
        require(
            len(re.findall(r"[a-z]{2,}", own.lower())) >= OWN_WORDS,
            f"`{fault}`: words of your own",
            f"PyTorch's error and no more: {line}",
            FAIL_FAST,
        )


def require_last_good(fault: str, saved: dict[str, Any] | None) -> None:
    """No fault may leave a checkpoint that is worth nothing."""
    if fault != "collapse":
        require(saved is None, f"`{fault}`: no checkpoint", "one that was written", FAIL_FAST)
        return
    if saved is None:
        raise WrongAnswerError(
            f"expected the last good checkpoint to stay, got no file (`collapse`; {FAIL_FAST})"
        )
    require(
        saved["epoch"] == 1 and saved["validation_accuracy"] > LOWEST_KEPT,
        "`collapse`: the checkpoint of epoch 1",
        f"epoch {saved['epoch']}, accuracy {saved['validation_accuracy']:.4f}",
        FAIL_FAST,
    )


def error_of_no_parameters() -> str:
    """What this PyTorch says of an optimizer without parameters."""
    try:
        torch.optim.Adam([])
    except ValueError as problem:
        return str(problem)
    return ""


ends_with_nonfinite_input = todo("3.6", CAUGHT, limit_s=RUN_S)(ends_with("nonfinite-input"))
ends_with_nonfinite_loss = todo("3.6", CAUGHT, limit_s=RUN_S)(ends_with("nonfinite-loss"))
ends_with_labels = todo("3.6", CAUGHT, limit_s=RUN_S)(ends_with("labels"))
ends_with_empty_optimizer = todo("3.6", CAUGHT, limit_s=RUN_S)(ends_with("empty-optimizer"))
ends_with_partial_optimizer = todo("3.6", CAUGHT, limit_s=RUN_S)(ends_with("partial-optimizer"))
ends_with_unwritable = todo("3.6", CAUGHT, limit_s=RUN_S)(ends_with("unwritable"))
ends_with_collapse = todo("3.6", CAUGHT, limit_s=RUN_S)(ends_with("collapse"))


@todo("3.6", CAUGHT, limit_s=CHECK_S)
def stops_before_training(answer: Folder) -> None:
    """What can be known before the first batch stops the run before it."""
    data = digits(answer)
    for fault in BEFORE_TRAINING:
        script = answer.load(SCRIPT)
        epochs: list[str] = []
        stand_in(script, "train_one_epoch", lambda *_, seen=epochs: seen.append("") or 1.0)
        stand_in(script, "validate", lambda *_: 0.9)
        with scratch() as folder, silent(), stopping(script):
            script.run(script.parse_options([*options_for(data, folder), "--inject", fault]))
        require(
            not epochs,
            f"`{fault}` to be found before training begins",
            "a call of train_one_epoch",
            f"what can be known before the first batch? {FAIL_FAST}",
        )


@todo("3.6", CAUGHT, limit_s=CHECK_S)
def knows_bad_batches(answer: Folder) -> None:
    """Each kind of bad value stops, wherever in the batch; what is healthy goes on."""
    script = answer.load(SCRIPT)
    for classes in (10, random.randint(3, 7)):
        count = random.randint(4, 9)
        features = torch.randn(count, 1, 28, 28) * 3
        labels = torch.tensor([0, classes - 1, *torch.randint(classes, (count - 2,)).tolist()])
        for bad in (math.nan, math.inf, -math.inf):
            spoiled = features.clone()
            spoiled.view(-1)[random.randrange(spoiled.numel())] = bad
            require_stop(script, NOT_FINITE, f"one feature {bad}", spoiled, labels, classes)
        for wrong in (classes, classes + random.randint(1, 90), -1, -random.randint(2, 90)):
            mislabelled = labels.clone()
            mislabelled[random.randrange(count)] = wrong
            stop = require_stop(
                script, BAD_LABELS, f"label {wrong} of {classes}", features, mislabelled, classes
            )
            extremes = {int(mislabelled.min()), int(mislabelled.max())}
            require(
                extremes <= stop.numbers(),
                f"the smallest and the largest label in the sentence, {sorted(extremes)}",
                stop.said or "nothing",
                f"labels {mislabelled.tolist()}, {classes} classes; {FAIL_FAST}",
            )
        for whole, fit in ((features, labels), (features * 1e30, labels)):
            with stopping(script) as stop:
                script.check_batch(whole, fit, classes)
            require(
                stop.status is None,
                f"a healthy batch to go on, labels 0 to {classes - 1} of {classes}",
                f"{stop}",
                FAIL_FAST,
            )


def require_stop(
    script: ModuleType,
    status: int,
    shown: str,
    features: torch.Tensor,
    labels: torch.Tensor,
    classes: int,
) -> Stop:
    """A bad batch has to stop with its status."""
    with stopping(script) as stop:
        script.check_batch(features, labels, classes)
    require(
        stop.status == status,
        f"check_batch to stop with {status} at {shown}",
        f"{stop}",
        FAIL_FAST,
    )
    return stop


@todo("3.6", CAUGHT)
def knows_bad_losses(answer: Folder) -> None:
    """NaN and both infinities stop; every other number goes on."""
    script = answer.load(SCRIPT)
    for value in (math.nan, math.inf, -math.inf, 0.0, 2.3, random.uniform(10, 1e4), 1e30):
        with stopping(script) as stop:
            script.check_loss(value)
        right = None if math.isfinite(value) else NOT_FINITE
        require(
            stop.status == right,
            f"a loss of {value} to {'go on' if right is None else f'stop with {right}'}",
            f"{stop}",
            f"which numbers are finite? {FAIL_FAST}",
        )


@todo("3.6", CAUGHT, limit_s=CHECK_S)
def stops_in_time(answer: Folder) -> None:
    """A bad batch never reaches the model, and a bad loss never backward, whichever batch it is."""
    script = answer.load(SCRIPT)
    for number in (1, random.randint(2, 3), 4):
        features, labels = marked([n % 10 for n in range(8)], [n % 10 for n in range(8)])
        row = 2 * number - random.randint(1, 2)
        bad = random.choice((math.inf, -math.inf, math.nan))
        features[row, 0, 20, 20] = bad
        probe = Probe()
        require_epoch_stops(script, NOT_FINITE, number, f"{bad}", probe, (features, labels))
        require(
            len(probe.seen) == number - 1,
            f"{number - 1} batches to reach the model before a bad one",
            f"{len(probe.seen)} forward passes",
            f"check a batch before the forward pass; {FAIL_FAST}",
        )
        features[row, 0, 20, 20] = 0.0
        labels[row] = random.choice((10, -1))
        require_epoch_stops(script, BAD_LABELS, number, "bad labels", Probe(), (features, labels))
        labels[row] = row % 10
        require_loss_stops(script, number, (features, labels))


def require_loss_stops(script: ModuleType, number: int, batch: Batch) -> None:
    """A loss that is not finite has to stop before backward."""
    probe = Probe()
    backwards: list[int] = []
    probe.layer.weight.register_hook(lambda _: backwards.append(1))
    spoiled = random.choice((math.nan, math.inf, -math.inf))

    class Spoiling(nn.CrossEntropyLoss):
        def forward(self, *parts: torch.Tensor, **named: torch.Tensor) -> torch.Tensor:
            loss: torch.Tensor = super().forward(*parts, **named)
            return loss + (spoiled if len(probe.seen) == number else 0.0)

    require_epoch_stops(
        script, NOT_FINITE, number, f"a loss of {spoiled}", probe, batch, Spoiling()
    )
    require(
        len(backwards) == number - 1,
        f"{number - 1} calls of backward before a loss that is not finite",
        f"{len(backwards)}",
        f"check the loss before backward; {FAIL_FAST}",
    )


def require_epoch_stops(
    script: ModuleType,
    status: int,
    number: int,
    shown: str,
    model: nn.Module,
    batch: Batch,
    criterion: nn.Module | None = None,
) -> None:
    """An epoch in batches of two has to stop with its status, and name the batch."""
    with stopping(script) as stop:
        train_once(script, model, loader_over(*batch, batch=2), criterion)
    require(
        stop.status == status and number in stop.numbers(),
        f"an epoch with {shown} in batch {number} to stop with {status} and name the batch",
        f"{stop}",
        FAIL_FAST,
    )


@todo("3.6", CAUGHT)
def compares_tensors(answer: Folder) -> None:
    """The optimizer has to hold the model's own tensors: neither their number nor shape is it."""
    script = answer.load(SCRIPT)
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 3), nn.Linear(3, 4))
    own, copied = list(model.parameters()), list(copy.deepcopy(model).parameters())
    left_out = random.randrange(1, len(own))
    cases = {
        "those of a copy": (copied, len(own)),
        "all but some": (own[left_out:], left_out),
        "one of a copy in the place of its own": ([*own[:-1], copied[-1]], 1),
        "another of the same shape": ([*own[1:], copied[0]], 1),
    }
    for shown, (tensors, lacking) in cases.items():
        require_verdict(script, model, [{"params": tensors}], shown, lacking)
    groups: list[dict[str, Any]] = [{"params": own[:2]}, {"params": own[2:], "lr": 0.5}]
    require_verdict(script, model, groups, "its own in two groups", 0)
    for tensor in own[:2]:
        tensor.requires_grad_(False)
    require_verdict(script, model, [{"params": own[2:]}], "all that are not frozen", 0)


def require_verdict(
    script: ModuleType, model: nn.Module, groups: list[dict[str, Any]], shown: str, lacking: int
) -> None:
    """An optimizer that lacks tensors has to stop, with their number; another one must not."""
    optimizer = torch.optim.SGD(groups, lr=0.1)
    with stopping(script) as stop:
        script.check_optimizer(model, optimizer)
    stops = stop.status == BAD_OPTIMIZER and lacking in stop.numbers()
    require(
        stops if lacking else stop.status is None,
        f"check_optimizer to {f'stop with 13 and say {lacking}' if lacking else 'go on'}, where "
        f"the optimizer holds {shown}",
        f"{stop}",
        f"which tensors of the model does it not hold? {FAIL_FAST}",
    )


@todo("3.6", CAUGHT)
def tries_the_path(answer: Folder) -> None:
    """Trying the path leaves no file behind, and a checkpoint that lies there as it was."""
    script = answer.load(SCRIPT)
    for name in ("best.pt", f"epoch-{random.randint(1, 99)}.ckpt"):
        with scratch() as folder:
            path = folder / "new" / "folder" / name
            script.check_checkpoint_path(path)
            left = [found.name for found in folder.rglob("*") if found.is_file()]
            require(
                not left and path.parent.is_dir(),
                "a folder for the checkpoint, and no file in it",
                f"found {', '.join(left)}" if left else "no folder",
                f"a trial is over when it is over; {FAIL_FAST}",
            )
            path.write_bytes(b"kept")
            script.check_checkpoint_path(path)
            kept = {p.name: p.read_bytes() for p in path.parent.iterdir() if p.is_file()}
            require(
                kept == {name: b"kept"},
                f"an older checkpoint, {name}, as it was, with 4 bytes",
                f"{kept}",
                f"the trial must not touch it; {FAIL_FAST}",
            )
            with stopping(script) as stop:
                script.check_checkpoint_path(path / name)
            require(
                stop.status == NOT_WRITABLE,
                f"a stop with {NOT_WRITABLE} for a path below a regular file",
                f"{stop}",
                f"only writing shows it; {FAIL_FAST}",
            )


@todo("3.6", CAUGHT)
def knows_a_collapse(answer: Folder) -> None:
    """The rule stops at a fall of more than 0.05 below the best, or below 0.2, and at no other."""
    rule = answer.load(SCRIPT).check_validation
    best = random.uniform(0.6, 0.9)
    cases: list[tuple[float, list[float], bool]] = [
        (0.90, [0.96], True),
        (0.92, [0.96], False),
        (0.15, [0.10], True),
        (0.15, [], True),
        (0.25, [0.21], False),
        (0.25, [], False),
        (0.19, [0.22], True),
        (0.2, [], False),
        (0.95, [0.93], False),
        (best - 0.06, [0.5, best, best - 0.03], True),
        (best - 0.04, [0.5, best, best - 0.03], False),
        (best - 0.04, [best, 0.3], False),
        (best - 0.06, [best, best - 0.01], True),
    ]
    for accuracy, before, stops in cases:
        status: object = None
        try:
            rule(accuracy, before)
        except NotImplementedError:
            raise
        except Exception as problem:
            status = getattr(problem, "status", type(problem).__name__)
        history = [round(each, 3) for each in before]
        require(
            status == (COLLAPSED if stops else None),
            f"accuracy {accuracy:.3f} after {history} to {'stop with 15' if stops else 'go on'}",
            f"status {status}" if status is not None else "no stop",
            f"what is the best so far, and what is chance? {FAIL_FAST}",
        )


@dataclass
class Handed:
    """What the script hands over in two epochs: images (N, 1, 28, 28) with labels (N,).

    Attributes:
        training: For each epoch what `train_one_epoch` gets from its loader.
        validation: For each epoch what `validate` gets.
        criterion: The loss for training.
        weights: All numbers of the model before the first epoch.
    """

    training: list[Batch] = field(default_factory=list)
    validation: list[Batch] = field(default_factory=list)
    criterion: nn.Module = field(default_factory=nn.Identity)
    weights: torch.Tensor = field(default_factory=lambda: torch.empty(0))


def options_for(data: Path, folder: Path) -> list[str]:
    """Two short epochs, with checkpoint and metrics in a folder of ours."""
    return [*unlimited(data, folder), "--limit-train", "512", "--limit-val", "256"]


def unlimited(data: Path, folder: Path) -> list[str]:
    """The same over all images."""
    paths = {"--data": data, "--checkpoint": folder / "best.pt", "--metrics": folder / "m.json"}
    return [*(str(part) for pair in paths.items() for part in pair), "--epochs", "2"]


def whole(loader: Any) -> Batch:
    """Everything that a loader hands out, in its order."""
    images, labels = zip(*loader, strict=True)
    return torch.cat(images).cpu(), torch.cat(labels).cpu()


def handed_over(answer: Folder, *more: str) -> Handed:
    """Runs the script with a loop and a validation that only look at what they get."""
    data, script, handed = digits(answer), answer.load(SCRIPT), Handed()
    torch.seed()  # what the script does not seed differs from run to run

    def train(model: nn.Module, loader: Any, criterion: nn.Module, *_: Any) -> float:
        if not handed.training:
            handed.weights = flat(weights(model))
        handed.training.append(whole(loader))
        handed.criterion = criterion
        return 1.0

    def judge(_: nn.Module, loader: Any, *__: Any) -> float:
        handed.validation.append(whole(loader))
        return 0.9

    stand_in(script, "train_one_epoch", train)
    stand_in(script, "validate", judge)
    with scratch() as folder, silent():
        require_end(script, [*options_for(data, folder), *more])
    calls = (len(handed.training), len(handed.validation))
    require(calls == (2, 2), "two epochs to train and validate twice", f"{calls} calls", LOOP)
    return handed


def handed_once(answer: Folder) -> Handed:
    """The same with the default seed, once for all checks."""
    handed: Handed = answer.once("handed", lambda: handed_over(answer))
    return handed


FED = "added: the loss is cross-entropy, and gets logits"


@todo("3.7", FED, limit_s=CHECK_S)
def hands_on_logits(answer: Folder) -> None:
    """The model returns raw scores, and the loop hands them on as they are, with their labels."""
    script = answer.load(SCRIPT)
    images = torch.randn(8, 1, 28, 28)
    with torch.no_grad():
        outputs = script.build_model().eval()(images)
    sums = outputs.exp().sum(dim=1), outputs.sum(dim=1)
    require(
        not any(torch.allclose(each, torch.ones(8), atol=1e-3) for each in sums),
        "logits as the model's answers",
        f"shares, or their logarithms: for each image they sum to {float(sums[1][0]):.3f}",
        f"the loss has a softmax in it; {SOFTMAX}",
    )
    for classes in ([1, 2, 3], random.sample(range(10), 4)):
        probe, criterion = Probe(), nn.CrossEntropyLoss()
        got: list[torch.Tensor] = []

        def listen(_: nn.Module, values: Any, named: Any, seen: list[torch.Tensor] = got) -> None:
            given = [*values, *(named[name] for name in ("input", "target") if name in named)]
            seen += [value.detach() for value in given]

        criterion.register_forward_pre_hook(listen, with_kwargs=True)
        train_once(script, probe, loader_over(*marked(classes, classes), batch=4), criterion)
        require(bool(got), "the loop to call the loss that it is given", "no call", SOFTMAX)
        right = 5.0 * functional.one_hot(torch.tensor(classes), 10)
        require(
            got[0].shape == right.shape and torch.allclose(got[0], right),
            "the loss to get what the model returned, whose largest logit is 5",
            f"one that is {float(got[0].max()):.3f}",
            f"logits go in as they are; {SOFTMAX}",
        )
        require(
            got[1].tolist() == classes,
            f"the loss to get the labels, {classes}",
            f"{got[1].tolist()}",
            SOFTMAX,
        )


@todo("3.7", FED, limit_s=CHECK_S)
def takes_cross_entropy(answer: Folder) -> None:
    """The script trains with cross-entropy of logits."""
    criterion = handed_once(answer).criterion
    for rows in (8, random.randint(3, 20)):
        logits, labels = torch.randn(rows, 10), torch.randint(10, (rows,))
        right = float(functional.cross_entropy(logits, labels))
        found = float(criterion(logits, labels))
        require(
            abs(found - right) < 1e-4,
            f"{right:.4f}, the cross-entropy of known logits",
            f"{found:.4f} from {type(criterion).__name__}",
            SOFTMAX,
        )


OWN_BATCH = "added: each update follows the gradient of its own batch"


@todo("3.8", OWN_BATCH, limit_s=CHECK_S)
def follows_its_own_batch(answer: Folder) -> None:
    """In each batch, the move points where its gradient does, and is no longer."""
    script = answer.load(SCRIPT)
    for size in (16, random.randint(5, 12)):
        features = torch.randn(3 * size - 2, 1, 28, 28)
        labels = torch.randint(10, (len(features),))
        model = nn.Sequential(nn.Flatten(), nn.Linear(28 * 28, 6), nn.Tanh(), nn.Linear(6, 10))
        optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
        before: list[list[torch.Tensor]] = []
        after: list[list[torch.Tensor]] = []
        optimizer.register_step_pre_hook(lambda *_, m=model, to=before: to.append(weights(m)))
        optimizer.register_step_post_hook(lambda *_, m=model, to=after: to.append(weights(m)))
        batches = loader_over(features, labels, batch=size)
        train_once(script, model, batches, optimizer=optimizer)
        require(len(after) == 3, "3 updates in 3 batches", f"{len(after)} updates", RESET)
        for update, (batch, start, end) in enumerate(zip(batches, before, after, strict=True), 1):
            with torch.no_grad():
                for tensor, was in zip(model.parameters(), start, strict=True):
                    tensor.copy_(was)
            loss = functional.cross_entropy(model(batch[0]), batch[1])
            own = flat(torch.autograd.grad(loss, list(model.parameters())))
            moved = (flat(start) - flat(end)) / RATE
            require(bool(moved.any()), "weights that move", f"none in update {update}", RESET)
            along = float(functional.cosine_similarity(moved, own, dim=0))
            longer = float(moved.norm() / own.norm())  # shorter where gradients are clipped
            require(
                along > 0.99 and longer < 1.01,
                "each update to be the gradient of its own batch",
                f"update {update}, which is {longer:.2f} times as long, at a cosine of {along:.2f}",
                f"what is in .grad when backward begins? {RESET}",
            )


@todo("3.8", OWN_BATCH, limit_s=CHECK_S)
def trains_on_the_device(answer: Folder) -> None:
    """Images and labels are moved to the device that is given; CUDA is pretended."""
    script = answer.load(SCRIPT)
    for batch in (2, random.randint(3, 5)):
        probe = Probe()
        loader = loader_over(*marked([1] * (batch + 1), [1] * (batch + 1)), batch)
        optimizer = torch.optim.SGD(probe.parameters(), lr=RATE)
        with pretended_cuda() as cuda:
            script.train_one_epoch(probe, loader, nn.CrossEntropyLoss(), optimizer, CUDA)
        shapes = [shape for size in (batch, 1) for shape in ((size, 1, 28, 28), (size,))]
        require_moved(cuda.moved, shapes)


class ReachedError(Exception):
    """Ends a run where all is known that is asked."""


@todo("3.8", OWN_BATCH, limit_s=CHECK_S)
def moves_the_model(answer: Folder) -> None:
    """The model is on the device that the loop is given; CUDA is pretended.

    A run that has no digits, takes the CPU or needs more of CUDA than is pretended is not asked.
    """
    data, script = data_folder(answer), answer.load(SCRIPT)
    if data is None:
        return
    shapes: list[tuple[int, ...]] = []

    def train(model: nn.Module, _: Any, __: Any, ___: Any, device: Any) -> float:
        if is_cuda(device):
            shapes.extend(tuple(tensor.shape) for tensor in model.parameters())
        raise ReachedError

    stand_in(script, "train_one_epoch", train)
    with scratch() as folder, silent(), pretended_cuda() as cuda, suppress(Exception):
        script.run(script.parse_options(options_for(data, folder)))
    stayed = [shape for shape in shapes if shape not in cuda.moved]
    require(
        not stayed,
        "the model to be moved to the device of its batches",
        f"parameters of shape {stayed} that stay behind",
        "a GPU computes with what lies on it; reread Part 1, “Devices”",
    )


def weights(model: nn.Module) -> list[torch.Tensor]:
    """A copy of all parameters."""
    return [tensor.detach().clone() for tensor in model.parameters()]


def flat(tensors: Any) -> torch.Tensor:
    """All numbers of some tensors in a row."""
    return torch.cat([tensor.flatten() for tensor in tensors])


SHUFFLED = "added: the training images come in a new order in every epoch"


@todo("3.9", SHUFFLED, limit_s=CHECK_S)
def shuffles(answer: Folder) -> None:
    """Two epochs differ in order, two runs with one seed do not, and with another seed all does.

    The weights with which a run begins are drawn like the order.
    """
    first = handed_once(answer)
    (_, early), (_, late) = first.training
    require(
        not torch.equal(early, late),
        "another order in the second epoch",
        f"labels that begin {early[:10].tolist()} in both",
        LOADER,
    )
    again, other = handed_over(answer), handed_over(answer, "--seed", str(random.randint(20, 99)))
    require(
        torch.equal(early, again.training[0][1]),
        "the same order in two runs with one seed",
        f"labels that begin {early[:5].tolist()} and {again.training[0][1][:5].tolist()}",
        f"a generator has a seed of its own; {LOADER}",
    )
    require(
        not torch.equal(early, other.training[0][1]),
        "another order with another --seed",
        f"labels that begin {early[:5].tolist()} with both",
        f"the seed is an option; {LOADER}",
    )
    require(
        torch.equal(first.weights, again.weights) and not torch.equal(first.weights, other.weights),
        "a model that begins with the same weights where the seed is the same, and only there",
        f"weights that begin {[w.weights[:2].tolist() for w in (first, again)]} with one seed, "
        f"{other.weights[:2].tolist()} with another",
        f"a seed comes before the first draw; {SEEDS}",
    )


APART = "added: what trains does not validate, and the test files wait"


@todo("3.10", APART, limit_s=CHECK_S)
def keeps_them_apart(answer: Folder) -> None:
    """The images that choose an epoch are no training images, and neither are test images."""
    handed, data = handed_once(answer), digits(answer)
    training, validation = (pictures(part[0][0]) for part in (handed.training, handed.validation))
    raw = (data / "MNIST" / "raw" / "t10k-images-idx3-ubyte").read_bytes()[16:]
    test = pictures(torch.frombuffer(bytearray(raw), dtype=torch.uint8).reshape(-1, 28 * 28))
    overlaps = {
        "validation images that are not from the test files": (validation, test),
        "training images that are not from the test files": (training, test),
        "validation images that are not training images": (validation, training),
    }
    for expected, (ours, others) in overlaps.items():
        shared = len(ours & others)
        require(
            10 * shared <= len(ours),
            expected,
            f"{shared} of {len(ours)} that are",
            f"the test files wait until the end; {DATA}",
        )
    counts = [len(part[0][1]) for part in (handed.training, handed.validation)]
    require(
        counts == [512, 256],
        "512 training and 256 validation images, where the limits are these",
        f"{counts[0]} and {counts[1]}",
        f"each limit has its part; {DATA}",
    )


@todo("3.10", APART, limit_s=CHECK_S)
def needs_no_limits(answer: Folder) -> None:
    """Who names no limit trains and validates all the same; the first batches are looked at."""
    data, script = digits(answer), answer.load(SCRIPT)
    counts: dict[str, int] = {}

    def first(part: str, loader: Any, result: float) -> float:
        counts[part] = len(next(iter(loader))[1])
        return result

    stand_in(script, "train_one_epoch", lambda _, loader, *__: first("training", loader, 1.0))
    stand_in(script, "validate", lambda _, loader, *__: first("validation", loader, 0.9))
    with scratch() as folder, silent():
        ended, said = ended_with(script, unlimited(data, folder))
    require(
        ended == "its end" and counts.keys() == {"training", "validation"} and all(counts.values()),
        "a run to its end without --limit-train and --limit-val",
        f"{ended}: {said or counts}",
        f"a limit that is not given is None; {DATA}",
    )


def pictures(images: torch.Tensor) -> set[bytes]:
    """Each image as bytes from 0 to 255, however it was normalised."""
    flattened = images.flatten(start_dim=1).float()
    lowest = flattened.amin(dim=1, keepdim=True)
    span = (flattened.amax(dim=1, keepdim=True) - lowest).clamp(min=1e-6)
    return {bytes(row) for row in ((flattened - lowest) / span * 255).round().byte().numpy()}


@todo(
    "3.11",
    "added: the loss falls, and the accuracy is what this network reaches",
    limit_s=RUN_S,
)
def learns(answer: Folder) -> None:
    """Three epochs on 6,000 images go as they went for us."""
    _, epochs = healthy(answer)
    losses = [round(float(epoch["training_loss"]), 4) for epoch in epochs]
    require(
        all(later < earlier for earlier, later in pairwise(losses)),
        "a loss that falls in every epoch",
        f"{losses}",
        LOOP,
    )
    accuracy = float(epochs[-1]["validation_accuracy"])
    require(
        LOWEST <= accuracy <= HIGHEST,
        f"an accuracy from {LOWEST} to {HIGHEST} after three epochs",
        f"{accuracy:.4f}",
        f"is what you measure the share that is right? {LOOP}",
    )
