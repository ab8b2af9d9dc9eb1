"""The training script to take along: the same command on a laptop and on a GPU machine.

    python -m lesson_code.gpu_training.portable_training --help

It trains the lesson's classifier, in mixed precision on an NVIDIA or AMD GPU, and can be killed at
any moment and started again with ``--resume``: on a CPU it then ends with the same bits as a run
that nobody disturbed. Three habits make that so.

1. Every epoch seeds its own random numbers, so an epoch that has to be trained again sees the same
   batches, and no generator's state has to be saved.
2. After every epoch one file, ``portable_last.pth``, takes the place of the one before it in a
   single step. It holds all that the next epoch needs, and the best model so far.
3. ``portable_best.pth``, the file to use the model from, is only ever a copy out of the first one.
"""

import contextlib
import copy
import math
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.utils.data import DataLoader

from lesson_code.data import Sample, make_loaders
from lesson_code.devices import choose_amp_dtype, synchronize
from lesson_code.gpu_training.device_aware_checkpoints import load_scaler_state
from lesson_code.gpu_training.portable_files import (
    alone_in,
    contradiction,
    load_untrusted,
    prepare_folder,
    reason,
    refusing_unfit,
    save_atomically,
)
from lesson_code.gpu_training.portable_settings import (
    BEST_FILE,
    LAST_FILE,
    InputError,
    Settings,
    read_settings,
)
from lesson_code.gpu_training.training import Batch, evaluate, train_one_epoch_amp
from lesson_code.models import MNISTClassifier

if TYPE_CHECKING:  # imported for real only when a log is asked for
    from torch.utils.tensorboard import SummaryWriter

Checkpoint = dict[str, Any]
CHECKPOINT_CONTENT = {
    "epoch": int,  # zero-based index of the finished epoch
    "model_state_dict": dict,
    "optimizer_state_dict": dict,
    "loss": float,  # average training loss of that epoch
    "accuracy": float,  # on the validation data, percent
}
LAST_CONTENT = {
    **CHECKPOINT_CONTENT,
    "best": dict,  # the checkpoint of the best epoch so far
    "history": list,  # (loss, accuracy) of every finished epoch
    "conditions": dict,
}
CONDITIONS_CONTENT = {
    "seed": int,
    "batch size": int,
    "training images": int,
    "device": str,
    "mixed precision": str,
}


@dataclass
class Run:
    """What learns, where, and how far it has come."""

    device: torch.device
    model: nn.Module
    optimizer: torch.optim.Optimizer
    amp_dtype: torch.dtype | None  # None: float32 throughout
    scaler: torch.amp.GradScaler
    conditions: dict[str, Any]  # what decides the numbers: seed, batch size, …
    history: list[tuple[float, float]] = field(default_factory=list)  # (loss, accuracy) by epoch
    best: Checkpoint = field(default_factory=lambda: {"accuracy": -math.inf})


# --8<-- [start:find_device]
def find_device(asked: str) -> torch.device:
    """The device that was asked for; for ``auto``, whichever accelerator PyTorch finds.

    Raises:
        InputError: If PyTorch does not find it here.
    """
    found = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
    if asked not in ("auto", "cpu", found.type):
        raise InputError(
            f"--device {asked}: PyTorch finds no such GPU here; leave it out, or say {found.type}"
        )
    return found if asked == "auto" else torch.device(asked)


# --8<-- [end:find_device]


def choose_precision(settings: Settings) -> tuple[torch.device, torch.dtype | None]:
    """The device and the format of mixed precision, or None: decided once for the whole run."""
    device = find_device(settings.device)
    if settings.amp == "on" and device.type != "cuda":
        raise InputError(
            "--amp on: this script mixes precisions on an NVIDIA or AMD GPU only; leave it out, "
            "or say off"
        )
    use_amp = device.type == "cuda" and settings.amp != "off"
    return device, choose_amp_dtype(device) if use_amp else None


def start_run(
    device: torch.device, amp_dtype: torch.dtype | None, conditions: dict[str, Any]
) -> Run:
    """A fresh model on its device, then its optimizer, then a scaler that may be switched off."""
    torch.manual_seed(conditions["seed"])
    model = MNISTClassifier()
    model.to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler(device.type, enabled=amp_dtype is torch.float16)
    return Run(device, model, optimizer, amp_dtype, scaler, conditions)


# --8<-- [start:train]
def train(
    run: Run,
    train_loader: DataLoader[Sample],
    validation_loader: DataLoader[Sample],
    settings: Settings,
    log: "SummaryWriter | None",
) -> None:
    """Train the epochs that are still missing, and save after each of them."""
    criterion = nn.CrossEntropyLoss()
    for epoch in range(len(run.history), settings.epochs):
        seed_epoch(settings.seed, epoch, train_loader)
        title = f"epoch {epoch + 1}/{settings.epochs}"
        batches = with_progress_bar(train_loader, title)
        loss = train_one_epoch_amp(
            run.model, batches, run.optimizer, criterion, run.device, run.amp_dtype, run.scaler
        )
        _, accuracy = evaluate(run.model, validation_loader, run.device)

        checkpoint = make_checkpoint(run, epoch, loss, accuracy)
        improved = accuracy > run.best["accuracy"]  # asked before the update: a tie is no gain
        if improved:
            run.best = copy.deepcopy(checkpoint)  # training goes on in the original tensors
        run.history.append((loss, accuracy))
        save_run(run, checkpoint, settings.out)

        mark = ", best so far: saved" if improved else ""
        print(f"{title}: loss {loss:.4f}, accuracy {accuracy:.2f} %{mark}", flush=True)
        if log:
            log.add_scalar("loss/training", loss, epoch + 1)
            log.add_scalar("accuracy/validation", accuracy, epoch + 1)
            log.flush()


def seed_epoch(seed: int, epoch: int, train_loader: DataLoader[Sample]) -> None:
    """Make what an epoch draws depend on the seed and its number, on nothing that ran before."""
    number = 1000 * seed + epoch
    torch.manual_seed(number)  # dropout and the like, on every device
    train_loader.generator.manual_seed(number)  # the order of the batches


# --8<-- [end:train]


def with_progress_bar(batches: Iterable[Batch], title: str) -> Iterable[Batch]:
    """The batches, with a bar on stderr where somebody looks at a terminal."""
    try:
        from tqdm import tqdm  # type: ignore[import-untyped]
    except ImportError:
        return batches
    bar: Iterable[Batch] = tqdm(batches, title, leave=False, disable=None)
    return bar


def make_checkpoint(run: Run, epoch: int, loss: float, accuracy: float) -> Checkpoint:
    """All that is needed to use the model or to train it further; plain numbers only."""
    checkpoint = {
        "epoch": epoch,
        "model_state_dict": run.model.state_dict(),
        "optimizer_state_dict": run.optimizer.state_dict(),
        "loss": loss,
        "accuracy": accuracy,
    }
    if run.scaler.is_enabled():
        checkpoint["scaler_state_dict"] = run.scaler.state_dict()
    return checkpoint


def save_run(run: Run, checkpoint: Checkpoint, out: Path) -> None:
    """Save the whole run first, then copy the best model out of it if this epoch made it."""
    progress = {"best": run.best, "history": run.history, "conditions": run.conditions}
    save_atomically({**checkpoint, **progress}, out / LAST_FILE)
    if run.best["epoch"] == checkpoint["epoch"]:
        save_atomically(run.best, out / BEST_FILE)


def resume(run: Run, path: Path) -> dict[str, Any]:
    """Bring a fresh run to where the saved one stood; its parameters are on their device already.

    Returns:
        The conditions under which the saved run was trained.

    Raises:
        InputError: If the file can't be read, is damaged, contradicts itself, or is something else.
    """
    with refusing_unfit(path):
        saved = load_untrusted(path, torch.device("cpu"))  # Adam's step counter stays there
        require(saved, LAST_CONTENT)
        require(saved["best"], CHECKPOINT_CONTENT)
        require(saved["conditions"], CONDITIONS_CONTENT)
        wrong = contradiction(saved)
        for checkpoint in (saved["best"], saved):  # the run changes only if both of them fit
            wrong = wrong or rehearsal_problem(run, checkpoint)
    if wrong:
        raise InputError(
            f"{path} can't be gone on with: {wrong}; it stays as it is; "
            "move it away, or choose another --out"
        )
    load_states(run, saved)
    run.history, run.best = saved["history"], saved["best"]
    conditions: dict[str, Any] = saved["conditions"]
    return conditions


def load_states(run: Run, checkpoint: Checkpoint) -> None:
    """Give model, optimizer and scaler the numbers that a checkpoint has for them."""
    run.model.load_state_dict(checkpoint["model_state_dict"])
    run.optimizer.load_state_dict(checkpoint["optimizer_state_dict"])
    load_scaler_state(run.scaler, checkpoint)


def rehearsal_problem(run: Run, checkpoint: Checkpoint) -> str:
    """What keeps another such run, on a CPU, from going on from a checkpoint; or nothing.

    Raises:
        Exception: Of many kinds; an optimizer loads whatever it is given, and fails in its step.
    """
    trial, own = start_run(torch.device("cpu"), run.amp_dtype, run.conditions), run.optimizer
    load_states(trial, copy.deepcopy(checkpoint))
    for name, value in trial.optimizer.param_groups[0].items():
        if name != "params" and own.param_groups[0].get(name, value) != value:
            return f"its optimizer has another {name} than this script's"
    if set(trial.optimizer.state) != set(trial.model.parameters()):
        return "its optimizer has not trained all of the weights, or has trained others"
    batch = torch.ones(10, 1, 28, 28), torch.arange(10)
    loss = train_one_epoch_amp(
        *(trial.model, [batch, batch], trial.optimizer, nn.CrossEntropyLoss()),
        *(trial.device, trial.amp_dtype, trial.scaler),
    )
    numbers = [torch.tensor(loss), *trial.model.parameters()]
    return "" if all(n.isfinite().all() for n in numbers) else "two more steps lead to no number"


def require(content: object, types: dict[str, type]) -> None:
    """Raise unless ``content`` is a dictionary that has a value of the right type for every key."""
    if not isinstance(content, dict):
        raise TypeError("not a dictionary")
    for key, expected in types.items():
        if not isinstance(content.get(key), expected):
            raise TypeError(f"{key} is missing or of another type")


def resume_if_asked(run: Run, settings: Settings) -> None:
    """Go on with the saved run if there is one, it is wanted, and it was trained like this one."""
    path = settings.out / LAST_FILE
    if not settings.resume:
        if path.exists():
            print(f"note: the first epoch replaces {path}; --resume would go on with that run")
        return
    if not path.exists():
        print(f"nothing to resume in {settings.out}: starting with epoch 1")
        return

    before = resume(run, path)
    for name in ("seed", "batch size", "training images"):
        if before.get(name) != run.conditions[name]:
            raise InputError(
                f"{path} was trained with {name} {before.get(name)}, this command means "
                f"{run.conditions[name]}; use the same, or choose another --out"
            )
    finished = len(run.history)
    if finished > settings.epochs:
        raise InputError(
            f"{path} holds {finished} finished epochs; say --epochs {finished} or more, "
            "or choose another --out"
        )
    print(f"resumed: {finished} of {settings.epochs} epochs are finished")
    save_atomically(run.best, settings.out / BEST_FILE)  # a kill may have come before this copy
    if before != run.conditions:
        print("note: device or precision has changed, so the numbers will differ a little")


def load_data(settings: Settings) -> tuple[DataLoader[Sample], ...]:
    """Loaders for training, validation and test."""
    try:
        return make_loaders(settings.batch_size, settings.data, settings.source, settings.seed)
    except FileNotFoundError as problem:
        raise InputError(str(problem)) from problem
    except Exception as problem:  # a damaged file can fail anywhere in its reader
        folder = settings.data / "MNIST" / "raw"
        raise InputError(
            f"the files in {folder} can't be read as MNIST; replace them, or say --source subset"
        ) from problem


def open_log(
    folder: Path | None, first_epoch: int
) -> "contextlib.AbstractContextManager[SummaryWriter | None]":
    """A TensorBoard log, if one is wanted; what a killed run logged from there on is hidden."""
    if folder is None:
        return contextlib.nullcontext()
    try:
        from torch.utils.tensorboard import SummaryWriter

        return SummaryWriter(folder, purge_step=first_epoch)
    except ImportError as problem:
        raise InputError("--log-dir needs TensorBoard; run `pip install tensorboard`") from problem
    except OSError as problem:
        raise InputError(
            f"can't write to {folder} ({reason(problem)}); choose another --log-dir"
        ) from problem


def carry_out(settings: Settings) -> int:
    """Train, report, and use the test data once, on the best model."""
    device, amp_dtype = choose_precision(settings)
    mixed_precision = str(amp_dtype).removeprefix("torch.") if amp_dtype else "off"
    print(f"device: {device.type}, mixed precision: {mixed_precision}")
    if device.type not in ("cpu", "cuda"):
        print(f"note: no test of this script has run on {device.type}")
    train_loader, validation_loader, test_loader = load_data(settings)
    conditions = {
        "seed": settings.seed,
        "batch size": settings.batch_size,
        "training images": len(train_loader.dataset),  # type: ignore[arg-type]
        "device": device.type,
        "mixed precision": mixed_precision,
    }

    prepare_folder(settings.out, (LAST_FILE, BEST_FILE))
    with alone_in(settings.out):
        run = start_run(device, amp_dtype, conditions)
        resume_if_asked(run, settings)
        return train_and_report(run, train_loader, validation_loader, test_loader, settings)


def train_and_report(
    run: Run,
    train_loader: DataLoader[Sample],
    validation_loader: DataLoader[Sample],
    test_loader: DataLoader[Sample],
    settings: Settings,
) -> int:
    """Bring a run to its end, and say what came of it."""
    device = run.device
    synchronize(device)
    start = time.perf_counter()
    try:
        with open_log(settings.log_dir, len(run.history) + 1) as log:
            train(run, train_loader, validation_loader, settings, log)
    except KeyboardInterrupt:
        print(f"stopped: {where_to_go_on(run, settings)}", file=sys.stderr)
        return 130
    synchronize(device)
    duration_s = time.perf_counter() - start

    print(f"device: {device.type}")
    print(f"time: {duration_s:.1f} s")
    print(f"best accuracy: {run.best['accuracy']:.2f} % after epoch {run.best['epoch'] + 1}")
    run.model.load_state_dict(run.best["model_state_dict"])
    _, test_accuracy = evaluate(run.model, test_loader, device)
    print(f"test accuracy of that model: {test_accuracy:.2f} %")
    return 0


def main(arguments: list[str] | None = None) -> int:
    """Train the lesson's digit classifier, on a GPU where there is one."""
    settings = read_settings(arguments)
    try:
        return carry_out(settings)
    except InputError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130


def where_to_go_on(run: Run, settings: Settings) -> str:
    """What to do after Ctrl-C."""
    if not run.history:
        return "no epoch was finished, so there is nothing to resume"
    return (
        f"{len(run.history)} of {settings.epochs} epochs are in {settings.out / LAST_FILE}; "
        "the same command with --resume goes on from there"
    )


def print_portable_run() -> None:
    """Train for three epochs on the images that ship with the lesson."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        main(["--epochs", "3", "--source", "subset"])


if __name__ == "__main__":
    sys.exit(main())
