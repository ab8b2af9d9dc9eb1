"""What changed between two result files, beyond the noise of both.

A change counts when it is larger than the two spreads together and than 5 %: below that, two runs
on one idle machine differ as well.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from results.derived import Entries
from results.entry import Entry
from results.quantities import write

SMALLEST_CHANGE = 0.05
# What of the provenance can move a number though the machine is the same.
CONDITIONS = (
    *("processor", "cores", "threads", "gpu", "cuda", "python", "torch", "numpy", "engine"),
    *("system", "quick"),
)
SMALLEST_CHANGE_PERCENT = 0.3  # percentage points, for entries that are percentages


@dataclass(frozen=True)
class Change:
    """One entry in two files.

    Attributes:
        name: ``case: entry``.
        unit: The unit of both values.
        old: Median before; None if the old file lacks it.
        new: Median now; None if the new file lacks it.
        noise: The two spreads together, in the unit.
        verdict: ``slower``, ``faster``, ``more``, ``less``, ``new``, ``gone`` or ``within noise``.
    """

    name: str
    unit: str
    old: float | None
    new: float | None
    noise: float
    verdict: str

    @property
    def ratio(self) -> float | None:
        """New over old."""
        return self.new / self.old if self.old and self.new is not None else None


def compare(old: Entries, new: Entries) -> list[Change]:
    """Every entry of both files, in the old file's order, new ones last."""
    return list(_changes(_flat(old), _flat(new)))


def _flat(entries: Entries) -> dict[str, Entry]:
    return {f"{case}: {name}": entry for case, of in entries.items() for name, entry in of.items()}


def _changes(old: dict[str, Entry], new: dict[str, Entry]) -> Iterator[Change]:
    for name in [*old, *(name for name in new if name not in old)]:
        before, after = old.get(name), new.get(name)
        if before is None or after is None:
            one = before or after
            assert one is not None
            yield Change(
                name,
                one.unit,
                before.median if before else None,
                after.median if after else None,
                one.spread,
                "gone" if before else "new",
            )
            continue
        noise = math.hypot(before.spread, after.spread)
        difference = after.median - before.median
        yield Change(
            name,
            after.unit,
            before.median,
            after.median,
            noise,
            _verdict(difference, noise, before.median, after.unit),
        )


def _verdict(difference: float, noise: float, old: float, unit: str) -> str:
    smallest = SMALLEST_CHANGE_PERCENT if unit == "percent" else SMALLEST_CHANGE * abs(old)
    if abs(difference) <= max(noise, smallest):
        return "within noise"
    if unit == "s":
        return "slower" if difference > 0 else "faster"
    return "more" if difference > 0 else "less"


def conditions(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """A warning for two machines, and a line that names what else differs between two runs."""
    lines = []
    if old["machine"] != new["machine"]:
        lines.append(
            f"These are two machines, {old['machine']} and {new['machine']}: "
            "what changed is not the code alone."
        )
    named = [f"{name} {old.get(name)} → {new.get(name)}" for name in CONDITIONS]
    different = [
        text for name, text in zip(CONDITIONS, named, strict=True) if old.get(name) != new.get(name)
    ]
    return [*lines, f"Different conditions: {', '.join(different)}."] if different else lines


def table(changes: list[Change], everything: bool = False) -> str:
    """A Markdown table of what changed, or of every entry, and a sentence that counts the rest."""
    shown = [c for c in changes if everything or c.verdict != "within noise"]
    quiet = sum(c.verdict == "within noise" for c in changes)
    last = f"{quiet} of {len(changes)} entries did not change beyond the noise."
    if not shown:
        return last
    rows = [
        "| what | before | now | noise | now / before | verdict |",
        "| --- | --: | --: | --: | --: | --- |",
    ]
    for change in shown:
        ratio = "–" if change.ratio is None else f"{change.ratio:.3g}"
        values = (_write(n, change.unit) for n in (change.old, change.new, change.noise))
        rows.append(f"| {change.name} | {' | '.join(values)} | {ratio} | {change.verdict} |")
    return "\n".join([*rows, "", last])


def _write(number: float | None, unit: str) -> str:
    return "–" if number is None else write(number, unit)
