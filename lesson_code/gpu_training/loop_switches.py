"""What happens to the loop with any of its three new lines, found out by running all eight."""

import itertools
import re
import traceback
from pathlib import Path
from typing import Any

import torch
from torch import nn

from lesson_code.gpu_training import loop_gpu
from lesson_code.models import MNISTClassifier

PROGRAM = "<loop>"
NEW = ("device = ", "model.to(", "images, labels = ")


def loop_lines() -> list[str]:
    """The lines of ``loop_gpu``'s section ``loop``, without their common indentation."""
    text = Path(loop_gpu.__file__).read_text(encoding="utf-8")
    found = re.search(r"# --8<-- \[start:loop\]\n(.*?)\n *# --8<-- \[end:loop\]", text, re.DOTALL)
    if found is None:
        raise ValueError("loop_gpu has no section named loop; put its marks back")
    return [line.removeprefix("    ") for line in found[1].splitlines()]


def outcome(kept: tuple[bool, ...]) -> dict[str, Any]:
    """Run the loop on one batch with some of its three new lines.

    The device ``meta`` stands in for a GPU: tensors there have a place and no values, so that the
    loop is over, and in order, when it asks for the loss as a number.

    Args:
        kept: Whether the device is chosen, whether the model is moved, whether the batch is.

    Returns:
        ``device`` where it trains, or the ``line`` that raises, counted from one among all lines of
        the section, with the ``error``'s type and its ``message``.
    """
    lines = loop_lines()
    left_out = {start for start, keep in zip(NEW, kept, strict=True) if not keep}
    program = [
        "" if any(line.strip().startswith(start) for start in left_out) else line for line in lines
    ]
    text = re.sub(r"device = .*", "device = torch.device('meta')", "\n".join(program))
    names: dict[str, Any] = {
        "torch": torch,
        "nn": nn,
        "MNISTClassifier": MNISTClassifier,
        "epochs": 1,
        "train_loader": [(torch.zeros(4, 1, 28, 28), torch.zeros(4, dtype=torch.long))],
        "print": lambda *_: None,
    }
    try:
        exec(compile(text, PROGRAM, "exec"), names)
    except (NameError, RuntimeError) as error:
        frames = traceback.extract_tb(error.__traceback__)
        number = next(f.lineno for f in reversed(frames) if f.filename == PROGRAM)
        assert number is not None
        if ".item()" not in lines[number - 1]:
            return {"line": number, "error": type(error).__name__, "message": str(error)}
    on_cpu = next(names["model"].parameters()).device.type == "cpu"
    return {"device": "CPU" if on_cpu else "GPU"}


def print_all_eight() -> dict[str, dict[str, Any]]:
    """Print what each combination of the three lines does, with ``meta`` in the place of a GPU.

    Returns:
        The outcome by the lines that are there, as in ``"110"``: device and model, no batch.
    """
    lines = loop_lines()
    print(f"{'device':8}{'model':8}{'batch':8}")
    found = {}
    for kept in itertools.product((False, True), repeat=3):
        result = outcome(kept)
        found["".join(str(int(keep)) for keep in kept)] = result
        what = f"trains on the {result['device']}" if "device" in result else result["error"]
        where = f": {lines[result['line'] - 1].strip()}" if "line" in result else ""
        print("".join(f"{'yes' if keep else '-':8}" for keep in kept) + what + where)
    return found
