"""A record of each run: what it was, what came out, and how two runs differ.

A record is a file with one JSON object a line: first the settings, then one for each epoch.
"""

import json
import platform
import subprocess
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from lesson_code.devices import choose_device, device_name
from lesson_code.foundations.generalising import build, judge, three_sets, train_epoch


# --8<-- [start:about]
def about() -> dict[str, Any]:
    """What a run has to be made again: code, versions, device, and when it was."""
    git = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        commit = subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        commit = "unknown"  # no git here, or no repository
    return {
        "commit": commit,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "device": device_name(choose_device()),
        "started": datetime.now().astimezone().isoformat(timespec="seconds"),
    }


# --8<-- [end:about]


# --8<-- [start:record]
class Record:
    """Writes a line at once, so that a run that is killed keeps what it has said.

    Raises:
        FileExistsError: If the file is there: a record is never written over.
    """

    def __init__(self, path: Path, settings: dict[str, Any]) -> None:
        path.open("x").close()
        self.path = path
        self.add({**about(), **settings})

    def add(self, line: dict[str, Any]) -> None:
        """Numbers, texts and lists as they are, and everything else as its text."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, default=str) + "\n")


def read(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The settings of a run, and its epochs."""
    settings, *epochs = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return settings, epochs


def differences(one: Path, other: Path) -> dict[str, tuple[Any, Any]]:
    """Settings in which two runs differ, but for when they began."""
    first, second = read(one)[0], read(other)[0]
    return {
        key: (first.get(key), second.get(key))
        for key in {**first, **second}
        if key != "started" and first.get(key) != second.get(key)
    }


# --8<-- [end:record]


# --8<-- [start:run]
def run(path: Path, settings: dict[str, Any]) -> None:
    """Train on 300 digits, and record every epoch."""
    record = Record(path, settings)
    training, validation, _ = three_sets(300)
    model = build(settings["seed"])
    optimizer = torch.optim.SGD(model.parameters(), lr=settings["rate"])
    for epoch in range(1, settings["epochs"] + 1):
        train_loss = train_epoch(model, optimizer, *training)
        losses, _ = judge(model, *validation)
        record.add({"epoch": epoch, "train": train_loss, "validation": losses.mean().item()})


# --8<-- [end:run]


def print_two_runs() -> None:
    """How two runs differ, in settings and in the validation loss of their last epoch."""
    with TemporaryDirectory() as folder:
        paths = [Path(folder, f"{name}.jsonl") for name in ("monday", "tuesday")]
        run(paths[0], {"seed": 0, "rate": 0.1, "epochs": 5, "batch": 32})
        run(paths[1], {"seed": 0, "rate": 0.2, "epochs": 8, "batch": 32})
        for key, values in differences(*paths).items():
            print(f"{key:24}" + "".join(f"{value:>10}" for value in values))
        last = [read(path)[1][-1]["validation"] for path in paths]
        print(f"{'last validation loss':24}" + "".join(f"{loss:>10.2f}" for loss in last))
