"""Reading, checking and writing result files.

A file holds what one machine measured on one day; it lies in ``results/<machine>`` and is called
``<date>-<commit>.json``. ``schema.json`` describes it. History of the format:

1. provenance, and for each case its entries with raw samples and their summary.
2. cases are measured in parts, each saved when it is done or with the reason why it was skipped;
   all precision switches and the GPU's state; ``figures``, what the catalogue makes of the entries,
   so that a browser that shows the file computes nothing. Later, without a change for older files:
   what the race measured in a browser, whose provenance names an ``engine`` in PyTorch's place, and
   ``contributor``, the name under which we show a file that somebody gave us.

The job, ``validate``, the site's build and the tests read a file here, and nothing imports PyTorch.
What a case can measure, and in which unit, the catalogue says.
"""

import contextlib
import datetime
import json
import math
import os
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from lesson_code.locking import only_one
from results import catalogue, contributor, quantities, schema
from results.catalogue import Definition
from results.derived import Entries
from results.entry import read_entry
from results.schema import shown, where
from results.summary import summarise

VERSION = 2
FOLDER = Path("benchmarks/results")
QUICK_FOLDER = Path("build/benchmarks")
LARGEST_BYTES = 5_000_000
LARGEST_FIGURE = 1e18
# What the GPU of the tests is called: it computes on the CPU, so that its times mean nothing.
SIMULATED_GPU = "Simulated GPU"
LONGEST_NAME = 120
NO_NAME = str.maketrans("/\\<>", "    ")
DEEPEST = 20  # objects and lists within each other; our own files have 9
# What no clock and no machine can give. A clock that is earlier than this code is wrong itself.
WRITTEN = datetime.datetime(2026, 11, 23, tzinfo=datetime.UTC)
SHORTEST_S = 1e-9
LARGEST_SAMPLE = {"percent": 110.0, "bytes": 1e15, "samples": 1e12, "epochs": 1e6}
LARGEST_RATE = {"flop_per_s": 1e17, "bytes_per_s": 1e14, "samples_per_s": 1e12}
TOOK_LONGER, TOOK_ROUNDED_S = 1.05, 0.1
# The units that an entry may have where the catalogue writes another one.
UNITS = {
    "megabytes": ("bytes",),
    "gigabytes": ("bytes",),
    "count": ("epochs", "samples", "plain"),
}

Content = dict[str, Any]
Definitions = Mapping[str, Definition]
Provenance = dict[str, Any]

# A run that goes on with a file may do so on another day.
MAY_DIFFER = ("date",)
AGAIN = "measure again, or take an undamaged copy"
WRITE_FIGURES = "`python -m benchmarks summarize --write FILE` computes them again"


class BadResultError(ValueError):
    """A result file that can't be used; the message is one sentence: what, where, what to do."""


def plain(text: str) -> str:
    """A name of a processor, GPU or system as a file may hold it; ``unknown`` if none is left."""
    unseen = ("Cc", "Cf", "Cs")
    letters = ("" if unicodedata.category(letter) in unseen else letter for letter in text)
    return " ".join("".join(letters).translate(NO_NAME).split())[:LONGEST_NAME] or "unknown"


def empty(provenance: Provenance) -> Content:
    """A result into which nothing has been measured yet."""
    return {"version": VERSION, "provenance": provenance, "cases": {}, "figures": {}}


def entries_of(content: Content, definitions: Definitions | None = None) -> Entries:
    """Every measured entry of a result, by case and name, with what its case says of it."""
    known = known_entries(definitions or _definitions())
    nothing: Mapping[str, Any] = {}
    return {
        case: {
            name: read_entry(kept, known[case][name].at if name in known.get(case, {}) else nothing)
            for part in parts.values()
            for name, kept in part.get("entries", {}).items()
        }
        for case, parts in content["cases"].items()
    }


def with_figures(result: Content, definitions: Definitions | None = None) -> Content:
    """The result together with what the catalogue makes of its entries.

    Args:
        result: The result.
        definitions: The catalogue by name; the one in this repository by default.
    """
    definitions = definitions or _definitions()
    found = catalogue.figures_of(definitions.values(), entries_of(result, definitions))
    figures = {
        name: {
            "value": value.value,
            "spread": value.spread,
            "noisy": value.noisy,
            "text": quantities.write(value.value, definitions[name].unit, value.spread),
        }
        for name, value in found.items()
        if max(abs(value.value), value.spread) < LARGEST_FIGURE
    }
    return {**result, "figures": figures}


@cache
def _definitions() -> dict[str, catalogue.Definition]:
    """The catalogue, which stays as it is while a command runs."""
    return {definition.name: definition for definition in catalogue.read()}


def default_path(provenance: Provenance, folder: Path = FOLDER) -> Path:
    """Where the results of this machine, day and commit belong; quick ones belong to no page."""
    commit = provenance["commit"] or "uncommitted"
    folder = QUICK_FOLDER if provenance["quick"] else folder
    return folder / provenance["machine"] / f"{provenance['date']}-{commit}.json"


def latest_before(path: Path, folder: Path = FOLDER) -> Path | None:
    """The newest full result of the machine of ``path``, other than ``path`` itself; or None.

    Raises:
        BadResultError: If one of the files is damaged.
    """
    machine = read(path)["provenance"]["machine"]
    others = [
        (newest(result), other)
        for other in sorted((folder / machine).glob("*.json"))
        if other.resolve() != path.resolve() and not (result := read(other))["provenance"]["quick"]
    ]
    return max(others)[1] if others else None


def newest(result: Content) -> str:
    """When the last part of a result was measured."""
    finished = [part["finished"] for parts in result["cases"].values() for part in parts.values()]
    return max(finished, default=str(result["provenance"]["date"]))


def write(result: Content, path: Path) -> None:
    """Save ``result`` so that at every moment either the old file is there or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    try:
        with partial.open("w", encoding="utf-8") as out:
            json.dump(result, out, indent=1, ensure_ascii=False, allow_nan=False)
            out.write("\n")
            out.flush()
            os.fsync(out.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


@contextlib.contextmanager
def only_writer(path: Path) -> Iterator[None]:
    """Keep a second run from writing the same file meanwhile, where the system can.

    Raises:
        BadResultError: If another run is writing it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(only_one(path.with_name(path.name + ".lock")))
        except BlockingIOError:
            raise BadResultError(
                f"{path} is being written by another run; wait for it, or choose another --out"
            ) from None
        yield


def read(path: Path, definitions: Definitions | None = None) -> Content:
    """Read a result file and check everything that can be wrong with it.

    Args:
        path: The file.
        definitions: The catalogue by name; the one in this repository by default.

    Raises:
        BadResultError: With the file, the place in it, and what is wrong there.
    """
    return _checked(path, _load(path), definitions or _definitions())


def rewrite_figures(path: Path) -> None:
    """Compute the figures of a file again, after the catalogue has changed.

    Raises:
        BadResultError: If anything else in the file is wrong.
    """
    write(_without_old_figures(path), path)


def continue_or_start(path: Path, provenance: Provenance) -> Content:
    """What ``path`` holds already if it was measured under the same conditions, or an empty result.

    Raises:
        BadResultError: If the file is damaged or was measured under other conditions.
    """
    if not path.exists():
        return with_figures(
            empty(provenance)
        )  # a bad catalogue is told before anything is measured
    result = _without_old_figures(path)
    for name, value in provenance.items():
        before = result["provenance"][name]
        if name not in MAY_DIFFER and before != value:
            raise BadResultError(
                f"{path} was measured with {name} {json.dumps(before)} and this run has "
                f"{json.dumps(value)}, so they can't share a file; choose another one with --out"
            )
    return result


def problem_of_part(case: str, part: str, content: dict[str, Any], provenance: Provenance) -> str:
    """Why a part that was just measured can't be in a file, in words; empty if it can."""
    result = {**empty(provenance), "cases": {case: {part: content}}}
    described = known_entries(_definitions()).get(case, {})
    for name in content.get("entries", {}):
        if name not in described:
            return (
                f"result at cases.{case}.{part}.entries.{name}: no family of the case has it; name "
                "it in FAMILIES, and run `python -m benchmarks describe`"
            )
    try:
        _checked(Path("result"), _parse(Path("result"), json.dumps(result)), _definitions())
    except (BadResultError, TypeError) as problem:
        return str(problem).partition(";")[0]  # what to do then is for readers of a file
    return ""


def _without_old_figures(path: Path) -> Content:
    """A checked result whose figures are what the catalogue says today."""
    return with_figures(_checked(path, {**_load(path), "figures": {}}, _definitions()))


def _load(path: Path) -> Content:
    """The JSON of a file."""
    try:
        if path.is_dir():
            raise BadResultError(f"{path} is a folder; name a result file in it")
        if path.exists() and not path.is_file():
            raise BadResultError(f"{path} is not a regular file; name a result file")
        if path.stat().st_size > LARGEST_BYTES:
            raise BadResultError(
                f"{path} is larger than {LARGEST_BYTES:,} bytes; it is not a result file"
            )
        raw = path.read_bytes()
    except OSError as problem:
        raise BadResultError(
            f"can't read {path}: {problem.strerror}; check its name and who may read it"
        ) from None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadResultError(f"{path} is damaged: it is not UTF-8 text; {AGAIN}") from None
    return _parse(path, text)


def _parse(path: Path, text: str) -> Content:
    """The JSON in ``text``: an object in which every key is there once and every number is one."""
    try:
        result = json.loads(text, object_pairs_hook=_each_key_once)
        problem = next(_oddities(result), None)
    except json.JSONDecodeError as broken:
        problem = f"is damaged: it is no JSON from line {broken.lineno} on"
    except RecursionError:
        problem = "is damaged: it is nested too deeply"
    except ValueError as broken:
        problem = f"is damaged: {broken}"
    else:
        if problem is None and not isinstance(result, dict):
            problem = "holds no JSON object"
    if problem is not None:
        raise BadResultError(f"{path} {problem}; {AGAIN}")
    checked: Content = result
    return checked


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the key {shown(name)} is there twice")
        found[name] = value
    return found


def _oddities(value: Any, place: tuple[str | int, ...] = ()) -> Iterator[str]:
    """What Python's reader allows and no result file may have, with its place."""
    if len(place) > DEEPEST:
        yield f"at {where(*place[:6])}: it is nested too deeply"
    elif isinstance(value, float) and not math.isfinite(value):
        yield f"at {where(*place)}: {shown(value)} is not a measured number"
    elif isinstance(value, str):
        if any(unicodedata.category(letter) in ("Cf", "Cs", "Zl", "Zp") for letter in value):
            yield f"at {where(*place)}: {shown(value)} has a character that nobody sees"
    elif isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for name, part in items:
            yield from _oddities(part, (*place, name))


def _checked(path: Path, result: Content, definitions: Definitions) -> Content:
    """The result, if nothing is wrong with it."""
    problem = next(_problems(result, definitions), None)
    if problem is not None:
        raise BadResultError(f"{path} {problem}")
    return result


def _problems(result: Content, definitions: Definitions) -> Iterator[str]:
    """What is wrong, first things first: what comes later relies on what was checked before."""
    version = result.get("version")
    if version != VERSION:
        yield _about_version(version)
    problem = schema.first_problem(result)
    if problem is not None:
        yield f"{problem}; {AGAIN}"
    yield from _problems_of_provenance(result["provenance"])
    known = known_entries(definitions)
    for case, parts in result["cases"].items():
        yield from _problems_of_case(case, parts, known.get(case), result["provenance"])
    yield from _problems_of_figures(result, definitions)
    if "contributor" in result:
        yield from contributor.problems(result)


@dataclass(frozen=True)
class Known:
    """What is known of an entry before it is measured: units, where it runs, sizes and arms."""

    units: tuple[str, ...]
    device: str
    in_browser: bool
    at: Mapping[str, Any]


def known_entries(definitions: Definitions) -> dict[str, dict[str, Known]]:
    """What is known of each entry of each case: every entry has a figure of its own."""
    known: dict[str, dict[str, Known]] = {}
    for of in definitions.values():
        if of.kind in ("measured", "rate"):
            case, _, entry = of.targets[0].partition(":")
            unit = "s" if of.kind == "rate" else of.unit
            device = of.devices[0] if of.devices else "cpu"
            known.setdefault(case, {})[entry] = Known(
                UNITS.get(unit, (unit,)), device, of.in_browser, of.member
            )
    return known


def _now() -> datetime.datetime:
    return max(datetime.datetime.now(datetime.UTC), WRITTEN)


def _about_version(version: Any) -> str:
    if version is None:
        return f"at version: it is missing, so this is not a result file; {AGAIN}"
    if isinstance(version, bool) or not isinstance(version, int):
        return f"at version: {shown(version)} is not a version; {AGAIN}"
    if version > VERSION:
        return (
            f"at version: it is of version {shown(version)}, and this program reads {VERSION}; "
            "update the program"
        )
    return (
        f"at version: it is of the old version {shown(version)}, and this program reads {VERSION}; "
        "measure again"
    )


def _problems_of_provenance(provenance: Provenance) -> Iterator[str]:
    try:
        day = datetime.date.fromisoformat(provenance["date"])
    except ValueError:
        yield f"at provenance.date: there is no day {provenance['date']}; {AGAIN}"
    else:
        if day > (_now() + datetime.timedelta(days=1)).date():
            yield f"at provenance.date: {day} lies in the future; set the clock, and {AGAIN}"
    if problem := about_simulation(provenance):
        yield f"at provenance.gpu: {problem}"
    if "engine" in provenance:
        for name in ("gpu_details", "cuda"):
            if provenance[name] is not None:
                yield f"at provenance.{name}: no browser tells it, and engine names one; {AGAIN}"
    elif (provenance["gpu"] is None) != (provenance["gpu_details"] is None):
        yield f"at provenance.gpu_details: they contradict provenance.gpu; {AGAIN}"


def about_simulation(provenance: Provenance) -> str:
    """Why no number of this machine may be kept, where its GPU is simulated; empty elsewhere.

    A quick run is a trial anyway, which no page shows.
    """
    if provenance["gpu"] != SIMULATED_GPU or provenance["quick"]:
        return ""
    return "this GPU is simulated and nothing can be measured on it; take a real one, or --quick"


def _problems_of_case(
    case: str,
    parts: dict[str, dict[str, Any]],
    known: dict[str, Known] | None,
    provenance: Provenance,
) -> Iterator[str]:
    if known is None:
        yield (
            f"at cases.{case}: no case has this name; `python -m benchmarks list` names the known "
            "ones, so update the program or remove it"
        )
        return
    seen: dict[str, str] = {}
    for part, content in parts.items():
        place = f"at cases.{case}.{part}"
        yield from _problems_of_minute(f"{place}.finished", content["finished"])
        for name, entry in content.get("entries", {}).items():
            at = f"{place}.entries.{name}"
            if name in seen:
                yield f"{at}: it is in {seen[name]} too; remove one of them"
            seen[name] = part
            if name not in known:
                yield f"{at}: {case} has no such entry; update the program or remove it"
                continue
            if entry["unit"] not in known[name].units:
                yield f"{at}.unit: it is measured in {known[name].units[0]}; {AGAIN}"
            for problem in _problems_of_entry(known[name], entry, provenance):
                yield f"{at}{problem}"
            if _seconds(entry) > TOOK_LONGER * content["took_s"] + TOOK_ROUNDED_S:
                yield f"{at}.samples: they sum to more than the part's took_s; {AGAIN}"


def _problems_of_minute(place: str, written: str) -> Iterator[str]:
    try:
        minute = datetime.datetime.strptime(written, "%Y-%m-%dT%H:%MZ").replace(tzinfo=datetime.UTC)
    except ValueError:
        yield f"{place}: there is no minute {written}; {AGAIN}"
    else:
        if minute > _now() + datetime.timedelta(days=1):
            yield f"{place}: {written} lies in the future; set the clock, and {AGAIN}"


def _seconds(entry: dict[str, Any]) -> float:
    """The time that an entry's samples and warm-ups took; none for what is not a time."""
    if entry["unit"] != "s":
        return 0.0
    return float(sum(entry["samples"]) * entry.get("loops", 1) + sum(entry.get("warmups", [])))


def _problems_of_entry(
    known: Known, entry: dict[str, Any], provenance: Provenance
) -> Iterator[str]:
    """What no schema can say: possible samples, and a summary that follows from them."""
    samples, unit = entry["samples"], entry["unit"]
    if unit == "s" and min(samples) < SHORTEST_S:
        yield f".samples: {shown(min(samples))} s is shorter than any measured time; {AGAIN}"
    if max(samples) > LARGEST_SAMPLE.get(unit, math.inf):
        yield f".samples: no machine gives {shown(max(samples))} {unit}; {AGAIN}"
    summary = summarise(samples)
    for key in ("median", "smallest", "largest", "spread"):
        if not math.isclose(entry[key], getattr(summary, key), rel_tol=1e-9, abs_tol=1e-12):
            yield (
                f".{key}: it is {shown(entry[key])} and the samples give "
                f"{shown(getattr(summary, key))}; {AGAIN}"
            )
    if entry["noisy"] != summary.noisy:
        yield f".noisy: it contradicts the samples; {AGAIN}"
    if "device_samples" in entry and len(entry["device_samples"]) != len(samples):
        yield f".device_samples: there are not as many as samples; {AGAIN}"
    if entry["device"] != known.device:
        yield f".device: it is {entry['device']}, and this entry runs on {known.device}; {AGAIN}"
    if known.in_browser and "engine" not in provenance:
        yield f": a browser gives it, and provenance.engine names none that computed; {AGAIN}"
    if not known.in_browser and "engine" in provenance:
        yield f": no browser gives it, and provenance.engine says that one did; {AGAIN}"
    if known.device == "cuda" and provenance["gpu"] is None:
        yield f": it ran on a GPU, and provenance.gpu names none; {AGAIN}"


def _problems_of_figures(result: Content, definitions: Definitions) -> Iterator[str]:
    """Whether what follows from the entries is possible, and the figures are that."""
    entries = entries_of(result, definitions)
    for definition in definitions.values():
        if definition.kind == "rate":
            found = catalogue.value_in(definition, entries)
            if found and found.value > LARGEST_RATE[definition.unit]:
                yield (
                    f"at cases: {definition.targets[0]} works through {found.value:.3g} in a "
                    f"second, more than any machine; {AGAIN}"
                )
    if not result["figures"]:  # what can't be computed costs no measurement
        return
    expected = with_figures(result, definitions)["figures"]
    for name, figure in result["figures"].items():
        place = f"at figures.{name}"
        if name not in expected:
            yield f"{place}: the entries do not give this figure; {WRITE_FIGURES}"
            continue
        for key, value in expected[name].items():
            same = (
                math.isclose(figure[key], value, rel_tol=1e-9, abs_tol=1e-12)
                if key in ("value", "spread")
                else figure[key] == value
            )
            if not same:
                yield (
                    f"{place}.{key}: it is {shown(figure[key])} and the entries give "
                    f"{shown(value)}; {WRITE_FIGURES}"
                )
