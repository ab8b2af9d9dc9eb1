"""What a snippet printed and returned when it was recorded, in the digits that hold.

A target is written ``"gpu_training/float16_numbers:print_small_numbers"``: a module of
``lesson_code`` and a function without arguments that prints. Its recording is beside the module,
in ``recorded/<module>.<function>.<device>.json``. ``lesson_site/recordings.py`` makes it.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from results import held_digits
from results.held_digits import Range, Way

CODE_FOLDER = Path("lesson_code")
Device = Literal["cpu", "cuda"]


class RecordingError(ValueError):
    """A target that cannot be run, or a recording that cannot be read."""


@dataclass(frozen=True)
class Recording:
    """What a function printed, and where and when.

    Attributes:
        text: Its standard output.
        data: What it returned, if that can be written as JSON.
        provenance: Device, processor, cores, threads, versions and date of the run.
        moved: The range of each number of the text that moved, by its place among the numbers.
        moved_data: The same for numbers of the data, by the way to them.
        runs: What else it was printed with: for each processor its name, the version of PyTorch,
            the date, the instruction sets and the numbers of threads.
    """

    text: str
    data: Any
    provenance: dict[str, Any]
    moved: dict[int, Range] = field(default_factory=dict)
    moved_data: dict[Way, Range] = field(default_factory=dict)
    runs: tuple[dict[str, Any], ...] = ()

    @property
    def shown(self) -> str:
        """The text, its moved numbers with the digits that hold."""
        return held_digits.shown(self.text, self.moved)

    @property
    def caption(self) -> str:
        """One line that says where the output comes from."""
        at = self.provenance
        where = at["device_name"] if at["device"] == "cuda" else at["processor"]
        caption = f"Recorded on {where}, PyTorch {at['torch']}, {at['date']}."
        if self.moved:
            caption += " Digits that differ from processor to processor are left out."
        return caption

    def written(self, way: Sequence[str | int], form: str) -> str:
        """A number of the data, written as ``form`` says, with the digits that hold."""
        value = self.data
        for key in way:
            value = value[key]
        text = f"{value:{form}}"
        seen = self.moved_data.get(tuple(way))
        return held_digits.held(text, seen) if seen else text

    def spread(self, way: Sequence[str | int]) -> float:
        """How far a number of the data moved; zero if it did not."""
        seen = self.moved_data.get(tuple(way))
        return seen.high - seen.low if seen else 0.0


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
        printing = ", ".join(re.findall(r"^def ((?:print|study)_\w+)\(\)", source, re.MULTILINE))
        raise RecordingError(
            f"{folder / module}.py has no function {function}() without arguments; "
            f"those that print are: {printing or 'none'}"
        )
    path = path_of(target, device, folder)
    try:
        return from_json(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, OSError) as problem:
        raise RecordingError(f"{path} is damaged ({problem}); record it again") from None


def to_json(recording: Recording) -> dict[str, Any]:
    """What its file says."""
    return {
        "text": recording.text,
        "data": recording.data,
        "moved": [
            {"number": place, "low": seen.low, "high": seen.high}
            for place, seen in sorted(recording.moved.items())
        ],
        "moved_data": [
            {"at": list(way), "low": seen.low, "high": seen.high}
            for way, seen in recording.moved_data.items()
        ],
        "runs": list(recording.runs),
        "provenance": recording.provenance,
    }


def from_json(content: Any) -> Recording:
    """The recording that a file says."""
    return Recording(
        content["text"],
        content["data"],
        content["provenance"],
        {m["number"]: Range(m["low"], m["high"]) for m in content.get("moved", [])},
        {tuple(m["at"]): Range(m["low"], m["high"]) for m in content.get("moved_data", [])},
        tuple(content.get("runs", [])),
    )
