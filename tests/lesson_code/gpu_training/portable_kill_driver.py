"""Kill the portable training script again and again, at random moments.

A process of its own, because a child to be killed is made by ``fork``: importing PyTorch anew for
each of fifty kills would take minutes, and forking is safe only where no thread was started.

Arguments: a folder, the number of kills, a seed. Leaves in it ``killed`` (killed that often, then
brought to its end) and ``undisturbed`` (the same epochs at one go); prints a line of JSON.
"""

import contextlib
import io
import json
import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import DataLoader, TensorDataset

from lesson_code.data import synthetic_digits
from lesson_code.gpu_training import portable_training
from lesson_code.gpu_training.portable_settings import BEST_FILE, LAST_FILE

LONGEST_LIFE_S = 0.25


def tiny_loaders(batch_size: int, root: Path, source: str, seed: int) -> tuple[Any, ...]:
    """Loaders of so few images that an epoch takes about as long as saving it."""
    images, labels, held_out_images, held_out_labels = synthetic_digits(256, 128, seed)
    held_out = DataLoader(TensorDataset(held_out_images, held_out_labels), batch_size)
    order = torch.Generator().manual_seed(seed)
    training = TensorDataset(images, labels)
    return DataLoader(training, batch_size, shuffle=True, generator=order), held_out, held_out


def start(out: Path, epochs: int, *options: str) -> int:
    """Start the script in a child process and return the child's id."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            settings = ["--device", "cpu", "--out", str(out), "--epochs", str(epochs)]
            status = portable_training.main([*settings, *options])
    finally:
        os._exit(status)


def finish(out: Path, epochs: int, *options: str) -> None:
    """Run the script to its end."""
    _, status = os.waitpid(start(out, epochs, *options), 0)
    if status:
        raise SystemExit(f"the script ended with status {os.waitstatus_to_exitcode(status)}")


def main(folder: Path, kills: int, seed: int) -> None:
    """Kill, look at what is left, go on; then bring the run to its end, and do another in peace."""
    torch.set_num_threads(1)
    portable_training.make_loaders = tiny_loaders
    moments = random.Random(seed)
    killed, undisturbed = folder / "killed", folder / "undisturbed"
    finish(killed, 1)

    epochs, amid_saving = [], 0
    for _ in range(kills):
        child = start(killed, 1_000_000, "--resume")
        time.sleep(moments.uniform(0, LONGEST_LIFE_S))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            raise SystemExit("the script ended before it was killed")
        amid_saving += bool(list(killed.glob("*.partial")))
        # True: nothing but tensors and plain values belongs in these files.
        last = torch.load(killed / LAST_FILE, map_location="cpu", weights_only=True)
        torch.load(killed / BEST_FILE, map_location="cpu", weights_only=True)
        epochs.append(last["epoch"] + 1)

    finish(killed, epochs[-1] + 2, "--resume")
    finish(undisturbed, epochs[-1] + 2)
    print(json.dumps({"loaded": len(epochs), "epochs": epochs, "amid_saving": amid_saving}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
