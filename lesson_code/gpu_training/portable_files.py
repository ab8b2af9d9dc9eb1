"""The portable training script's files: whole at any moment, and read without trusting them."""

import contextlib
import io
import math
import os
import tempfile
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from lesson_code.gpu_training.portable_settings import TOO_LARGE, InputError
from lesson_code.locking import only_one

LOCK_FILE = "portable.lock"


def prepare_folder(folder: Path, file_names: tuple[str, ...]) -> None:
    """Make the folder and try to write there: better to fail now than after an epoch.

    Raises:
        InputError: If that doesn't work, or if a folder has the name of one of the files.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as problem:
        raise InputError(
            f"can't write to {folder} ({reason(problem)}); choose another --out"
        ) from problem
    for path in (folder / name for name in file_names):
        if path.is_dir():
            raise InputError(f"{path} is a folder; move it away, or choose another --out")


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Keep other runs from writing the same files meanwhile.

    Raises:
        InputError: If one does already.
    """
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(only_one(folder / LOCK_FILE))
        except BlockingIOError:
            raise InputError(
                f"another run is writing {folder}; wait for it, or choose another --out"
            ) from None
        except OSError as problem:
            raise InputError(
                f"can't write {folder / LOCK_FILE} ({reason(problem)}); choose another --out"
            ) from problem
        yield


# --8<-- [start:save_atomically]
def save_atomically(state: dict[str, Any], path: Path) -> None:
    """Put a new file in the place of an old one: at any moment, one of them is there, whole.

    Raises:
        InputError: If the disk refuses; the old file is unharmed.
    """
    packed = io.BytesIO()
    torch.save(state, packed)
    partial = path.with_suffix(".partial")
    try:
        with partial.open("wb") as file:
            file.write(packed.getbuffer())
            file.flush()
            os.fsync(file.fileno())  # on the disk before its name says so, even if the power fails
        partial.replace(path)  # in the same folder, hence one step
    except OSError as problem:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise InputError(
            f"can't write {path} ({reason(problem)}), where nothing has changed; "
            "mend that, then go on with --resume"
        ) from problem


# --8<-- [end:save_atomically]


def load_untrusted(path: Path, device: torch.device) -> Any:
    """Read a checkpoint that may be damaged, or made by somebody who means harm.

    Raises:
        Exception: Of many kinds; the file decides.
    """
    with zipfile.ZipFile(path) as archive:
        if archive.testzip():  # torch.load doesn't compare the checksums
            raise ValueError("a stored checksum differs")
    with warnings.catch_warnings(action="ignore"):  # a file of another kind makes torch.load wordy
        # True lets tensors and plain values through, and is meant to stop all else.
        return torch.load(path, map_location=device, weights_only=True)


def contradiction(saved: dict[str, Any]) -> str:
    """What a run says of itself that can't be true, or is no ground to go on from; or nothing.

    Raises:
        Exception: Of many kinds, for values of other kinds than this script saves.
    """
    history = [(loss, accuracy) for loss, accuracy in saved["history"]]
    if not all(isinstance(number, float) for epoch in history for number in epoch):
        raise TypeError("a number in the history is of another type")
    if len(history) != saved["epoch"] + 1:
        return f"its last epoch is number {saved['epoch'] + 1}, and its history has {len(history)}"
    for number, (loss, accuracy) in enumerate(history, 1):
        if not (math.isfinite(loss) and 0 <= accuracy <= 100):
            return f"epoch {number} has the loss {loss:.4g} and the accuracy {accuracy:.4g} %"
    best = saved["best"]
    if best["accuracy"] != max(accuracy for _, accuracy in history):
        return "its best accuracy is not the highest one in its history"
    for name, checkpoint in (("last", saved), ("best", best)):
        numbers = (checkpoint["loss"], checkpoint["accuracy"])
        if (checkpoint["epoch"], numbers) not in enumerate(history):
            return f"loss and accuracy of its {name} epoch are others in its history"
        states = {key: state for key, state in checkpoint.items() if key.endswith("_state_dict")}
        if not _finite(states):
            return f"its {name} epoch has weights, or an optimizer's numbers, that are not finite"
    for name, number in saved["conditions"].items():
        if isinstance(number, int) and not 0 <= number < TOO_LARGE:
            return f"no command gives a run its {name}"
    return ""


def _finite(value: object) -> bool:
    """Whether no number in it is infinite or not a number."""
    if isinstance(value, torch.Tensor):
        return bool(value.isfinite().all())
    if isinstance(value, dict | list | tuple):
        return all(map(_finite, value.values() if isinstance(value, dict) else value))
    return not isinstance(value, float) or math.isfinite(value)


@contextlib.contextmanager
def refusing_unfit(path: Path, option: str = "--out") -> Iterator[None]:
    """Turn whatever a file does to its reader into one sentence.

    Args:
        path: The file.
        option: What names it on the command line.

    Raises:
        InputError: If the block raised anything.
    """
    try:
        with warnings.catch_warnings(action="ignore"):  # so is what loads its values
            yield
    except OSError as problem:
        raise InputError(
            f"can't read {path} ({reason(problem)}); choose another {option}"
        ) from problem
    except Exception as problem:  # a damaged file can fail anywhere in its reader
        raise InputError(
            f"{path} is damaged or no checkpoint of this script, and stays as it is; "
            f"move it away, or choose another {option}"
        ) from problem


def reason(problem: OSError) -> str:
    """What the operating system says about a failure, without number and path."""
    return problem.strerror or str(problem)
