"""Outputs that pages show under a snippet: recorded once, with provenance, and rerun by tests.

On the CPU it is printed under several instruction sets and numbers of threads. The text is that of
one thread with the processor's own instructions; beside it the recording keeps which numbers moved,
and how far. Recordings of one text on several processors add up.
"""

import itertools
import json
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from lesson_site.files import write_whole
from results import held_digits
from results.held_digits import Range, Way
from results.recorded import (
    CODE_FOLDER,
    Device,
    Recording,
    RecordingError,
    path_of,
    read,
    to_json,
)
from results.result_file import SIMULATED_GPU

# Both libraries that compute on the CPU choose their instructions when PyTorch is loaded.
INSTRUCTIONS: dict[str, dict[str, str]] = {
    "native": {},
    "AVX2": {"ONEDNN_MAX_CPU_ISA": "AVX2"},
    "default": {"ATEN_CPU_CAPABILITY": "default"},
    "AVX2 and default": {"ONEDNN_MAX_CPU_ISA": "AVX2", "ATEN_CPU_CAPABILITY": "default"},
}
THREADS = (1, 2, 4)
NATIVE = ("native", 1)
PRINTING = Path(__file__).with_name("printing.py")
SETTINGS = [(instructions, threads) for instructions in INSTRUCTIONS for threads in THREADS]


def is_study(target: str) -> bool:
    """Whether a target trains several times with other seeds, which no quick test repeats."""
    return target.partition(":")[2].startswith("study_")


def settings_of(target: str, device: Device) -> list[tuple[str, int]]:
    """What a target is printed under, the processor's own instructions and one thread first."""
    if device == "cuda":
        return [NATIVE]
    # The default instructions take twenty times as long in float16, and seeds move more.
    return [("native", 1), ("AVX2", 1)] if is_study(target) else SETTINGS


class Printer:
    """A process that has loaded PyTorch with one instruction set, and runs targets.

    Used in a ``with`` statement, which ends it. Without a named instruction set it has the one of
    this process, whatever the environment says.
    """

    def __init__(self, instructions: str | None = None, device: Device = "cpu") -> None:
        self.device = device
        environment = dict(os.environ)
        # To ask whether there is a GPU must not start CUDA: some targets fork, and would fail then.
        changes = {"PYTORCH_NVML_BASED_CUDA_CHECK": "1"}
        if instructions is not None:
            for variable in itertools.chain(*INSTRUCTIONS.values()):
                environment.pop(variable, None)
            changes |= INSTRUCTIONS[instructions]
        # Four threads on two cores, each waiting by asking, take a hundred times as long.
        changes["OMP_WAIT_POLICY"] = "PASSIVE"
        # Lesson code is that of the current folder, as it is when this module reads it.
        changes["PYTHONPATH"] = os.pathsep.join([str(Path.cwd()), os.getenv("PYTHONPATH", "")])
        if device == "cpu":
            changes["CUDA_VISIBLE_DEVICES"] = ""
        self._said = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115, see __exit__
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-W", "ignore", str(PRINTING)],
            env={**environment, **changes},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            text=True,
            encoding="utf-8",
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.communicate()
        self._said.close()

    def run(self, target: str, threads: int = 1) -> Recording:
        """Run ``target`` now, in a process of its own.

        Raises:
            RecordingError: If it fails; the message ends with what Python said.
        """
        module, _, function = target.partition(":")
        name = "lesson_code." + module.replace("/", ".")
        job = {"module": name, "function": function, "device": self.device, "threads": threads}
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(job) + "\n")
            process.stdin.flush()
        except BrokenPipeError:
            pass  # it has ended, and said why
        answer = process.stdout.readline()
        content: dict[str, Any] = json.loads(answer) if answer else {"error": self._last_words()}
        if "error" in content:
            raise RecordingError(f"{target} failed: {content['error']}")
        return Recording(content["text"], content["data"], content["provenance"])

    def _last_words(self) -> str:
        self._process.wait()
        self._said.seek(0)
        return (self._said.read().strip().splitlines() or ["no message"])[-1]


class Printers:
    """A printer for each instruction set, started when it is first asked; for ``with`` too."""

    def __init__(self) -> None:
        self._printers: dict[tuple[str, Device], Printer] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: Any) -> None:
        self._stack.close()

    def run(self, target: str, device: Device, setting: tuple[str, int] = NATIVE) -> Recording:
        """Run ``target`` under one setting."""
        instructions, threads = setting
        key = (instructions, device)
        if key not in self._printers:
            self._printers[key] = self._stack.enter_context(Printer(instructions, device))
        return self._printers[key].run(target, threads)


def record(
    target: str,
    device: Device = "cpu",
    folder: Path = CODE_FOLDER,
    printers: Printers | None = None,
    merge: bool = False,
) -> Path:
    """Run ``target``, on the CPU under every setting, and keep what it printed.

    Args:
        target: A module of lesson code and a function that prints.
        device: What it runs on.
        folder: That of lesson code.
        printers: What runs it; processes of its own unless told.
        merge: The code is as it was: add these numbers to those of the earlier recording. Where
            they agree that is done anyway.

    Raises:
        RecordingError: If it fails, prints other words under another setting, or the GPU is
            simulated.
    """
    with ExitStack() as stack:
        printers = printers or stack.enter_context(Printers())
        recording = _under_all_settings(target, device, printers)
    if recording.provenance["device_name"] == SIMULATED_GPU:
        raise RecordingError(f"{target} ran on a simulated GPU; record it on a real one")
    path = path_of(target, device, folder)
    earlier = _earlier(target, device, folder)
    if earlier and (merge or not differences(earlier, recording)):
        recording = merged(earlier, recording)
    path.parent.mkdir(exist_ok=True)
    content = json.dumps(to_json(recording), indent=1, ensure_ascii=False)
    return write_whole(path, content + "\n")


def check(target: str, device: Device, printers: Printers) -> list[str]:
    """Where pages show of ``target`` what does not hold here, under every setting.

    Raises:
        RecordingError: If it was never recorded, or fails.
    """
    recorded = read(target, device)
    if recorded is None:
        raise RecordingError(f"{target} was never recorded on this device")
    return [
        f"{target} with {_in_words(setting)}: {said}"
        for setting in settings_of(target, device)
        for said in differences(recorded, printers.run(target, device, setting))
    ]


def differences(recorded: Recording, fresh: Recording) -> list[str]:
    """Where a new run differs from what pages show, in words; an empty list if it does not.

    Durations never count. A number that moved when it was recorded may be any that the page would
    show as it does; every other one must be the same. Words must be the same; spacing need not.

    Args:
        recorded: What the page shows.
        fresh: A new run.
    """
    old, new = held_digits.words(recorded.text), held_digits.words(fresh.text)
    if old != new:
        return [f"the words differ: {old!r} became {new!r}"]
    found = []
    pairs = zip(held_digits.numbers(recorded.text), held_digits.numbers(fresh.text), strict=True)
    for place, (a, b) in enumerate(pairs):
        if not _agrees(a.text, a.value, b.value, recorded.moved.get(place)):
            found.append(f"{_as_shown(a.text, recorded.moved.get(place))} became {b.text}")
    before, now = dict(held_digits.leaves(recorded.data)), dict(held_digits.leaves(fresh.data))
    if before.keys() != now.keys():
        return [*found, f"the data differ: {set(before) ^ set(now)}"]
    for way, value in before.items():
        seen = recorded.moved_data.get(way)
        if not _agrees(f"{value}", value, now[way], seen):
            name = " / ".join(map(str, way))
            found.append(f"data: {name}: {_as_shown(f'{value}', seen)} became {now[way]}")
    return found


def merged(earlier: Recording, later: Recording) -> Recording:
    """The later of two recordings of one text, with the ranges and the runs of both.

    Raises:
        RecordingError: If they differ in more than numbers.
    """
    if held_digits.words(earlier.text) != held_digits.words(later.text):
        raise RecordingError("the earlier recording says other words; leave out --merge")
    own = {_identity(run) for run in later.runs}
    one, other = _all_ranges(earlier), _all_ranges(later)
    ranges = {
        key: one.get(key, seen).with_(seen.low).with_(seen.high) for key, seen in other.items()
    }
    moved = {key: seen for key, seen in ranges.items() if seen.low != seen.high}
    return replace(
        later,
        moved={key: seen for key, seen in moved.items() if isinstance(key, int)},
        moved_data={key: seen for key, seen in moved.items() if isinstance(key, tuple)},
        runs=(*(run for run in earlier.runs if _identity(run) not in own), *later.runs),
    )


def _all_ranges(recording: Recording) -> dict[int | Way, Range]:
    """Of every number in text and data, those that did not move too."""
    printed = [number.value for number in held_digits.numbers(recording.text)]
    values: list[tuple[int | Way, Any]] = [*enumerate(printed), *held_digits.leaves(recording.data)]
    return {
        key: (recording.moved_data if isinstance(key, tuple) else recording.moved).get(
            key,  # type: ignore[arg-type]  # it is of the kind that was asked
            Range(value, value),
        )
        for key, value in values
        if held_digits.is_number(value)
    }


def _under_all_settings(target: str, device: Device, printers: Printers) -> Recording:
    first = printers.run(target, device)
    if device == "cuda":
        return first
    settings = settings_of(target, device)
    others = {s: printers.run(target, device, s) for s in settings if s != NATIVE}
    ways = dict(held_digits.leaves(first.data))
    columns: dict[Way, list[Any]] = {way: [value] for way, value in ways.items()}
    for setting, other in others.items():
        found = dict(held_digits.leaves(other.data))
        old, new = held_digits.words(first.text), held_digits.words(other.text)
        if old != new:
            changed = next(((a, b) for a, b in zip(old, new, strict=False) if a != b), (old, new))
            raise RecordingError(
                f"{target} prints {changed[0]!r} here, and {changed[1]!r} with "
                f"{_in_words(setting)}; print what holds everywhere"
            )
        if found.keys() != ways.keys() or any(
            found[way] != ways[way] for way in ways if not held_digits.is_number(ways[way])
        ):
            raise RecordingError(f"{target} returns other data with {_in_words(setting)}")
        for way, value in found.items():
            columns[way].append(value)
    ranges = {
        way: Range(min(values), max(values))
        for way, values in columns.items()
        if held_digits.is_number(values[0])
    }
    at = first.provenance
    run = {
        **{key: at[key] for key in ("processor", "torch", "date")},
        "instructions": list(dict.fromkeys(instructions for instructions, _ in settings)),
        "threads": sorted({threads for _, threads in settings}),
    }
    return replace(
        first,
        moved=held_digits.ranges_of([first.text, *(other.text for other in others.values())]),
        moved_data={way: seen for way, seen in ranges.items() if seen.low != seen.high},
        runs=(run,),
    )


def _earlier(target: str, device: Device, folder: Path) -> Recording | None:
    """The recording that there is, unless it can't be read: it is about to be replaced."""
    try:
        return read(target, device, folder)
    except RecordingError:
        return None


def _agrees(printed: str, old: Any, new: Any, seen: Range | None) -> bool:
    if seen is None or not held_digits.is_number(new):
        return bool(old == new or (old != old and new != new))  # NaN equals NaN here
    return held_digits.admits(printed, seen, new)


def _as_shown(printed: str, seen: Range | None) -> str:
    return held_digits.held(printed, seen) if seen else printed


def _identity(run: dict[str, Any]) -> tuple[str, str, str]:
    return run["processor"], run["torch"], run["date"]


def _in_words(setting: tuple[str, int]) -> str:
    instructions, threads = setting
    return f"{instructions} instructions and {threads} thread{'' if threads == 1 else 's'}"
