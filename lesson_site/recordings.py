"""Outputs that pages show under a snippet: recorded once, with provenance, and rerun by tests.

A target is written ``"gpu_training/float16_numbers:print_small_numbers"``: a module of
``lesson_code`` and a function without arguments that prints. Its recording lies beside the module,
in ``recorded/<module>.<function>.<device>.json``.
"""

import json
import math
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from lesson_site.files import write_whole
from lesson_site.sections import CODE_FOLDER

Device = Literal["cpu", "cuda"]
NUMBER = re.compile(r"[-+]?\d[\d,]*\.?\d*(?:[eE][-+]?\d+)?")
DURATION = re.compile(r"[-+]?\d[\d,.]*(?=\s?(?:s|ms|µs|seconds)\b)")

# Runs in a process of its own: the site itself never imports PyTorch.
RUNNER = """
import contextlib, datetime, importlib, io, json, os, platform, sys
import torch
from lesson_code.devices import cpu_name, device_name
torch.set_num_threads(1)
module, function, device = sys.argv[1:]
if device == "cuda" and not torch.cuda.is_available():
    sys.exit("error: no CUDA GPU here; record this output on a machine that has one")
printed = io.StringIO()
with contextlib.redirect_stdout(printed):
    data = getattr(importlib.import_module(module), function)()
json.dump({
    "text": printed.getvalue(),
    "data": data,
    "provenance": {
        "device": device,
        "device_name": device_name(torch.device(device)),
        "processor": cpu_name(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "python": platform.python_version(),
        "date": datetime.date.today().isoformat(),
    },
}, sys.stdout)
"""


class RecordingError(ValueError):
    """A target that cannot be run, or a recording that cannot be read."""


@dataclass(frozen=True)
class Recording:
    """What a function printed, and where and when.

    Attributes:
        text: Its standard output.
        data: What it returned, if that can be written as JSON.
        provenance: Device, processor, cores, threads, versions and date of the run.
    """

    text: str
    data: Any
    provenance: dict[str, Any]

    @property
    def caption(self) -> str:
        """One line that says where the output comes from."""
        at = self.provenance
        where = at["device_name"] if at["device"] == "cuda" else at["processor"]
        return f"Recorded on {where}, PyTorch {at['torch']}, {at['date']}."


def path_of(target: str, device: Device, folder: Path = CODE_FOLDER) -> Path:
    """Where the recording of ``target`` on ``device`` lies."""
    module, _, function = target.partition(":")
    track, _, name = module.rpartition("/")
    return folder / track / "recorded" / f"{name}.{function}.{device}.json"


def read(target: str, device: Device = "cpu", folder: Path = CODE_FOLDER) -> Recording | None:
    """The recording of ``target``, or None if that device has not been recorded yet.

    Raises:
        RecordingError: If the module or the function does not exist, or the file is damaged.
    """
    module, _, function = target.partition(":")
    try:
        source = (folder / f"{module}.py").read_text(encoding="utf-8")
    except OSError:
        raise RecordingError(f"there is no module {folder / module}.py") from None
    if not re.search(rf"^def {re.escape(function)}\(\)", source, re.MULTILINE):
        raise RecordingError(f"{folder / module}.py has no function {function}()")
    path = path_of(target, device, folder)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return Recording(content["text"], content["data"], content["provenance"])
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, OSError) as problem:
        raise RecordingError(f"{path} is damaged ({problem}); record it again") from None


def run(target: str, device: Device = "cpu") -> Recording:
    """Run ``target`` now, in a process of its own.

    Raises:
        RecordingError: If it fails; the message ends with the last line that it printed.
    """
    module, _, function = target.partition(":")
    name = "lesson_code." + module.replace("/", ".")
    # To ask whether there is a GPU must not start CUDA: some targets fork, and would fail then.
    changes = {"PYTORCH_NVML_BASED_CUDA_CHECK": "1"}
    if device == "cpu":
        changes["CUDA_VISIBLE_DEVICES"] = ""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RUNNER, name, function, device],
        capture_output=True,
        text=True,
        env={**os.environ, **changes},
        check=False,
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise RecordingError(f"{target} failed: {last}")
    content = json.loads(done.stdout)
    return Recording(content["text"], content["data"], content["provenance"])


def record(target: str, device: Device = "cpu", folder: Path = CODE_FOLDER) -> Path:
    """Run ``target`` and keep what it printed."""
    recording = run(target, device)
    path = path_of(target, device, folder)
    path.parent.mkdir(exist_ok=True)
    content = {"text": recording.text, "data": recording.data, "provenance": recording.provenance}
    return write_whole(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def differences(recorded: str, fresh: str, tolerance: float = 0.0) -> list[str]:
    """Where two outputs differ, in words; an empty list if they agree.

    Durations never count. Every other number may differ by ``tolerance``, relative, and by one in
    its last printed digit. Words must be the same; spacing need not.

    Args:
        recorded: The output that the page shows.
        fresh: The output of a new run.
        tolerance: Largest relative difference of two numbers.
    """
    old, new = DURATION.sub("#", recorded), DURATION.sub("#", fresh)
    if _words(old) != _words(new):
        return [f"the words differ: {_words(old)!r} became {_words(new)!r}"]
    pairs = zip(NUMBER.findall(old), NUMBER.findall(new), strict=True)
    return [f"{a} became {b}" for a, b in pairs if not _close(a, b, tolerance)]


def _words(text: str) -> list[str]:
    return re.sub(r"[-─=]{3,}", "---", NUMBER.sub("0", text)).split()


def _close(a: str, b: str, tolerance: float) -> bool:
    x, y = float(a.replace(",", "")), float(b.replace(",", ""))
    mantissa, _, exponent = a.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    last_digit = 10.0 ** (int(exponent or 0) - decimals) if tolerance else 0.0
    return math.isclose(x, y, rel_tol=max(tolerance, 1e-12), abs_tol=last_digit * 1.001)
