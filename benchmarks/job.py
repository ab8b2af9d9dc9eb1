"""The run: one part after the other, each saved at once, within a budget of time.

A part that this machine can't do is kept with the reason, so that nobody wonders why a number is
missing. A run that was killed goes on where it was: parts that are in the file are not repeated,
except those that were skipped or broke.
"""

import contextlib
import datetime
import gc
import math
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import torch

from benchmarks import cases, provenance
from benchmarks.cases import IncompletePartError, Part, Plan, SkipPartError
from benchmarks.method import lacks_memory
from results import result_file
from results.entry import Entry, read_entry
from results.quantities import write

QUICK_SHARE = 0.05  # of a part's usual time, for the forecast of a quick run
SMALLEST_FACTOR, LARGEST_FACTOR = 0.3, 5.0  # one odd part must not decide about all that follow


@dataclass
class Outcome:
    """How a run ended.

    Attributes:
        measured: Parts that were measured now.
        kept: Parts that were in the file already.
        skipped: Parts that this machine can't do, with the reason.
        failed: Parts that broke, with the error.
        left: Parts for which no time was left.
    """

    measured: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)


class Forecast:
    """How long parts will take: what they expect, times how wrong that was so far."""

    def __init__(self, quick: bool) -> None:
        self.expected_s = 0.0
        self.took_s = 0.0
        self.quick = quick

    def seconds(self, part: Part) -> float:
        """The time that ``part`` will probably take."""
        usual = part.expected_s * QUICK_SHARE + 0.2 if self.quick else part.expected_s
        return usual * self.factor

    @property
    def factor(self) -> float:
        """Measured time over expected time, drawn towards one while little is known."""
        factor = (self.took_s + 5) / (self.expected_s + 5)
        return min(LARGEST_FACTOR, max(SMALLEST_FACTOR, factor))

    def learn(self, part: Part, took_s: float) -> None:
        """Take a measured part into account; a skipped one says nothing about the others."""
        self.expected_s += self.seconds(part) / self.factor
        self.took_s += took_s


def run(
    names: list[str],
    plan: Plan,
    path: Path,
    conditions: result_file.Provenance,
    budget_s: float | None = None,
    out: TextIO | None = None,
) -> Outcome:
    """Measure the parts of these cases that are not in the file yet.

    Args:
        names: The cases, in order.
        plan: What to measure them on.
        path: The result file; a finished part is saved there at once.
        conditions: The provenance of this run; a file with another one is refused.
        budget_s: Seconds after which no part should still run; parts that would not fit are left.
        out: Where progress is told; standard error by default.

    Raises:
        BadResultError: If the file is damaged, was measured under other conditions, or is being
            written by another run.
        OSError: If it can't be written.
    """
    with result_file.only_writer(path):
        return _Run(plan, path, conditions, budget_s, out or sys.stderr).measure(names)


class _Run:
    """One run of the job over one file."""

    def __init__(
        self,
        plan: Plan,
        path: Path,
        conditions: result_file.Provenance,
        budget_s: float | None,
        out: TextIO,
    ) -> None:
        self.ends = math.inf if budget_s is None else time.monotonic() + budget_s
        self.plan = plan
        self.path = path
        self.result = result_file.continue_or_start(path, conditions)
        self.out = out
        self.outcome = Outcome()
        self.forecast = Forecast(plan.quick)

    def measure(self, names: list[str]) -> Outcome:
        """Every part of these cases that is still to be measured and fits into the time."""
        todo = [(name, part) for name in names for part in self._open_parts(name)]
        if self.outcome.kept:
            count = len(self.outcome.kept)
            kept = "1 part is" if count == 1 else f"{count} parts are"
            print(f"{self.path}: goes on, {kept} there already", file=self.out)
        progress = Progress(len(todo), self.out)
        try:
            for index, (name, part) in enumerate(todo):
                left_s = self.ends - time.monotonic()
                if self.forecast.seconds(part) > left_s:
                    self.outcome.left.append(f"{name} {part.name}")
                    progress.step(f"{name} {part.name}: left for another run, no time")
                    continue
                needed_s = sum(self.forecast.seconds(later) for _, later in todo[index:])
                progress.show(f"{name} {part.name}", min(needed_s, left_s))
                content = self._measure(name, part)
                progress.step(f"{name} {part.name}: {_told(content)}")
                for entry_name, kept in content.get("entries", {}).items():
                    progress.note(f"  {entry_name:36} {line(read_entry(kept))}")
        finally:
            progress.close()
        return self.outcome

    def _open_parts(self, name: str) -> Iterator[Part]:
        """The parts of a case that are not whole in the file; others are tried again."""
        try:
            parts = list(cases.load(name).parts(self.plan))
        except Exception as problem:  # one case that can't even begin must not stop the others
            self.outcome.failed[name] = _plain(f"{type(problem).__name__}: {problem}")
            return
        for part in parts:
            if self.plan.gpu_only and part.cpu_only:
                continue
            before = self.result["cases"].get(name, {}).get(part.name, {})
            if "entries" in before and "incomplete" not in before:
                self.outcome.kept.append(f"{name} {part.name}")
            else:
                yield part

    def _measure(self, name: str, part: Part) -> dict[str, Any]:
        """Measure a part, save what came of it, and return that."""
        label = f"{name} {part.name}"
        load_average = provenance.load_average()
        started = time.perf_counter()
        kept, failure = _attempt(part)
        state = provenance.gpu_state()  # it takes a while, and so belongs to the time of the part
        took_s = time.perf_counter() - started
        about: dict[str, Any] = {
            "load_average": load_average,
            "took_s": round(took_s, 1),
            "finished": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%MZ"),
        }
        if state:
            about["gpu_state"] = state
        content = about | kept
        problem = result_file.problem_of_part(name, part.name, content, self.result["provenance"])
        if problem:
            failure = _plain(problem)
            content = about | _failed(failure)
        if failure:
            self.outcome.failed[label] = failure
        elif "skipped" in content:
            self.outcome.skipped[label] = content["skipped"]
        else:
            self.outcome.measured.append(label)
            self.forecast.learn(part, took_s)
        parts = {**self.result["cases"].get(name, {}), part.name: content}
        self._save({**self.result, "cases": {**self.result["cases"], name: parts}})
        return content

    def _save(self, result: result_file.Content) -> None:
        """Write the result with its figures; a mistake in one must not cost what was measured."""
        try:
            self.result = result_file.with_figures(result)
        except Exception as problem:  # functions of derived.py, on entries they never saw before
            self.result = {**result, "figures": {}}
            self.outcome.failed["figures"] = _plain(f"{type(problem).__name__}: {problem}")
        result_file.write(self.result, self.path)


def _attempt(part: Part) -> tuple[dict[str, Any], str]:
    """What the file keeps of a part, entries or why there are none, and what broke in it.

    A part may break in any library; the others must still be measured.
    """
    try:
        return {"entries": _kept(part.measure())}, ""
    except SkipPartError as reason:
        return {"skipped": _plain(str(reason))}, ""
    except IncompletePartError as broken:
        failure = _plain(str(broken))
        if not broken.entries:
            return _failed(failure), failure
        return {"entries": _kept(broken.entries), "incomplete": failure}, failure
    except Exception as problem:
        if lacks_memory(problem):
            return {"skipped": "it needs more GPU memory than was free"}, ""
        failure = _plain(f"{type(problem).__name__}: {problem}")
        return _failed(failure), failure
    finally:
        gc.collect()
        with contextlib.suppress(RuntimeError):  # a GPU that a failed part left in a bad state
            torch.cuda.empty_cache()


def _kept(entries: dict[str, Entry]) -> dict[str, Any]:
    return {name: entry.to_json() for name, entry in entries.items()}


def _failed(failure: str) -> dict[str, Any]:
    return {"skipped": f"it failed: {failure}"}


def _plain(text: str) -> str:
    """The first line of a message, short, and without what could be a path on this machine."""
    first = (text.strip().splitlines() or ["no reason given"])[0]
    return re.sub(r"\S*[/\\<>\x00-\x1f\x7f\ud800-\udfff]\S*", "…", first)[:250]


def _told(content: dict[str, Any]) -> str:
    reason = content.get("skipped")
    return f"skipped, {reason}" if reason else f"done in {content['took_s']:.0f} s"


def line(entry: Entry) -> str:
    """An entry in one line: median, unit, smallest to largest, and whether it is noisy."""
    median, smallest, largest = (
        write(value, entry.unit) for value in (entry.median, entry.smallest, entry.largest)
    )
    return f"{median} ({smallest} to {largest}){'  noisy' if entry.noisy else ''}"


class Progress:
    """A bar where a person watches, and lines of text everywhere else."""

    def __init__(self, parts: int, out: TextIO) -> None:
        self.parts = parts
        self.done = 0
        self.out = out
        self.bar: Any = None
        if out.isatty() and parts:
            with contextlib.suppress(ImportError):
                from tqdm import tqdm  # type: ignore[import-untyped]

                form = "{desc} |{bar}| {n_fmt}/{total_fmt}{postfix}"
                self.bar = tqdm(total=parts, file=out, bar_format=form, leave=False)

    def show(self, label: str, left_s: float) -> None:
        """Say what is measured now and how long everything that is left will take."""
        left = f"about {left_s / 60:.0f} min left" if left_s >= 90 else f"about {left_s:.0f} s left"
        if self.bar is None:
            print(f"[{self.done + 1}/{self.parts}] {label}, {left}", file=self.out, flush=True)
        else:
            self.bar.set_description(label)
            self.bar.set_postfix_str(left)

    def step(self, text: str) -> None:
        """A part is over."""
        self.done += 1
        self.note(text)
        if self.bar is not None:
            self.bar.update()

    def note(self, text: str) -> None:
        """A line that stays."""
        if self.bar is None:
            print(text, file=self.out, flush=True)
        else:
            self.bar.write(text, file=self.out)

    def close(self) -> None:
        """Take the bar away."""
        if self.bar is not None:
            self.bar.close()
