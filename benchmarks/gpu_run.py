"""Everything that this project asks of a GPU, in pieces of ten minutes.

The tests that need a GPU, the short measurements, the long ones, and what pages show as printed on
a GPU. What a piece gives is kept at once, and a later call goes on where the last one stopped.
"""

import json
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import torch

from benchmarks import cases
from benchmarks.arguments import Parser, commit_hash, positive_number
from benchmarks.cases import Plan
from benchmarks.provenance import commit
from benchmarks.stopping import STOPPED
from results import result_file

STEP_S = 600.0
SPARE_S = 20.0  # a command that was told its time is given this much more before it is ended
# A case is measured with those that it is compared with, so both lists are whole without the other.
_LONG = cases.with_compared(("mnist_epoch", "ladder", "notebook"))
LONG = tuple(name for name in cases.GPU_NAMES if name in _LONG)
SHORT = tuple(name for name in cases.GPU_NAMES if name not in _LONG)
FOLDER = Path("build/gpu")
# Asked in a process of its own, since one that asks a GPU for its name keeps some of its memory.
WHERE = """
import torch
from benchmarks import provenance
from results import result_file
if torch.cuda.is_available():
    found = provenance.here(%r)
    found["commit"] = %r or found["commit"]
    problem = result_file.about_simulation(found)
    print(f"error: {problem}" if problem else result_file.default_path(found))
"""
NO_GPU = "error: PyTorch finds no NVIDIA GPU here; run this where there is one"
OUT_OF_TIME = 3


@dataclass(frozen=True)
class Command:
    """A command of a step.

    Attributes:
        name: What it is called here.
        step: The step, whose commands share ten minutes.
        arguments: After ``python -m``; ``{minutes}`` and ``{seconds}`` become the time that is
            left, ``{result}`` the result file, and ``{tried}`` that of the tests.
        needs: A package without which it is left out.
        cases: What it measures; it is done when the result file has every part of them.
        publishes: Whether it changes what pages show, so that a trial leaves it out.
    """

    name: str
    step: str
    arguments: tuple[str, ...]
    needs: str = "torch"
    cases: tuple[str, ...] = ()
    publishes: bool = False


def _measuring(name: str, step: str, names: tuple[str, ...]) -> Command:
    chosen = (word for name in names for word in ("--case", name))
    limits = ("--gpu-only", "--budget", "{minutes}", "--out", "{result}")
    return Command(name, step, ("benchmarks", "run", *limits, *chosen), cases=names)


TESTS = ("pytest", "-m", "gpu", "--require-gpu", "-q", "-p", "tests.in_pieces")
RECORD = ("lesson_site", "record", "--all", "--device", "cuda")
COMMANDS = (
    Command("tests", "tests", (*TESTS, "--tried", "{tried}", "--within", "{seconds}"), "pytest"),
    _measuring("short measurements", "cases", SHORT),
    _measuring("long measurements", "ladder", LONG),
    Command("recorded outputs", "recordings", RECORD, publishes=True),
    Command(
        "notebook",
        "recordings",
        ("lesson_site", "notebook", "--execute"),
        needs="nbclient",
        publishes=True,
    ),
)


def main(arguments: list[str] | None = None) -> int:
    """Run what is left, and say what ran.

    Returns:
        0 if nothing is left, 1 if something failed, 3 if the time did not suffice, 2 for bad input
        or without a GPU, 130 after Ctrl-C.
    """
    parser = Parser(prog="python -m benchmarks.gpu_run", description=__doc__)
    parser.add_argument(
        "--minutes", type=positive_number, default=1e6, help="stop after so many in all"
    )
    parser.add_argument(
        "--commit", type=commit_hash, help="what is measured, where there is no git"
    )
    parser.add_argument(
        "--quick", action="store_true", help="a short trial of tests and measurements"
    )
    options = parser.parse_args(arguments)
    where = WHERE % (options.quick, options.commit)
    found = subprocess.run([sys.executable, "-c", where], stdout=subprocess.PIPE, text=True)
    result = found.stdout.strip()
    if not result or result.startswith("error: "):
        print(result or NO_GPU, file=sys.stderr)
        return 2
    ends = time.monotonic() + 60 * options.minutes
    try:
        return _Call(result, options.commit or commit(), options.quick, ends).run()
    except KeyboardInterrupt:
        print("stopped; the same command goes on with what is left", file=sys.stderr)
        return STOPPED


class _Call:
    """One call of this command, and what it knows of those before.

    Attributes:
        done: Commands that need not run again.
        result: The result file; a run that goes on tomorrow goes on with it.
    """

    def __init__(self, result: str, at: str | None, quick: bool, ends: float) -> None:
        self.quick, self.ends = quick, ends
        self.folder = FOLDER / "trial" if quick else FOLDER
        self.about = {"commit": at, "machine": Path(result).parent.name}
        self.result, self.done = result, list[str]()
        try:
            before = json.loads((self.folder / "state.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            before = {}
        if before.get("about") == self.about:
            self.result, self.done = before["result"], before["done"]
        else:
            (self.folder / "tried.txt").unlink(missing_ok=True)

    def run(self) -> int:
        """Every command that is left, a step at a time."""
        self._save()
        told, codes = [], []
        step_ends = dict[str, float]()
        for command in COMMANDS:
            if command.name in self.done:
                told.append(f"{command.name}: done before")
            elif command.publishes and self.quick:
                told.append(f"{command.name}: left out of a trial")
            elif find_spec(command.needs) is None:
                told.append(f"{command.name}: left out, {command.needs} is not installed")
            else:
                step_end = step_ends.setdefault(command.step, time.monotonic() + STEP_S)
                code = self._call(command, min(self.ends, step_end) - time.monotonic())
                if code == 0 and self._lacks_parts(command):
                    code = OUT_OF_TIME
                told.append(f"{command.name}: {_in_words(code)}")
                codes.append(code)
                if code == 0:
                    self.done.append(command.name)
                    self._save()
        print(*told, f"the result file is {self.result}", sep="\n")
        if OUT_OF_TIME in codes:
            print("the same command goes on with what is left")
            return OUT_OF_TIME
        return int(any(codes))

    def _call(self, command: Command, left_s: float) -> int:
        """The exit code; that of a command which was ended, or not begun, says so."""
        told_s = left_s - 2 * SPARE_S
        if told_s <= 0:
            return OUT_OF_TIME
        values = {
            "minutes": told_s / 60,
            "seconds": told_s,
            "result": self.result,
            "tried": self.folder / "tried.txt",
        }
        words = [word.format(**values) for word in command.arguments]
        words += ["--quick"] if self.quick and command.cases else []
        print(f"== {command.name}, {left_s / 60:.0f} min at most", flush=True)
        with subprocess.Popen([sys.executable, "-m", *words]) as process:
            try:
                return process.wait(left_s - SPARE_S)
            except subprocess.TimeoutExpired:
                _end(process)
                return OUT_OF_TIME

    def _lacks_parts(self, command: Command) -> bool:
        """Whether there was no time for some part of what it measures."""
        if not command.cases:
            return False
        measured = result_file.read(Path(self.result))["cases"]
        plan = Plan(Path("data"), self.quick, gpu=torch.device("cuda", 0), gpu_only=True)
        return any(
            part.name not in measured.get(name, {})
            for name in command.cases
            for part in cases.load(name).parts(plan)
            if not part.cpu_only
        )

    def _save(self) -> None:
        about = {"about": self.about, "result": self.result, "done": self.done}
        result_file.write(about, self.folder / "state.json")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(SPARE_S)
    except subprocess.TimeoutExpired:
        process.kill()


def _in_words(code: int) -> str:
    return {0: "done", OUT_OF_TIME: "not finished"}.get(code, f"failed with exit code {code}")


if __name__ == "__main__":
    sys.exit(main())
