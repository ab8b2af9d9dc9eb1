"""Reading, checking and writing result files.

A file holds what one machine measured on one day; it lies in ``results/<machine>`` and is called
``<date>-<commit>.json``. ``schema.json`` describes it. History of the format:

1. provenance, and for each case its entries with raw samples and their summary.
"""

import json
import math
import os
from pathlib import Path
from typing import Any

from benchmarks import cases
from benchmarks.method import Entry, summarise

VERSION = 1
FOLDER = Path("benchmarks/results")
SCHEMA = Path(__file__).with_name("schema.json")
LARGEST_BYTES = 5_000_000

Result = dict[str, Any]
Provenance = dict[str, Any]


class BadResultError(ValueError):
    """A result file that can't be used; the message is one sentence: what, where, what to do."""


def empty(provenance: Provenance) -> Result:
    """A result into which nothing has been measured yet."""
    return {"version": VERSION, "provenance": provenance, "cases": {}}


def default_path(provenance: Provenance, folder: Path = FOLDER) -> Path:
    """Where the results of this machine, day and commit belong."""
    commit = provenance["commit"] or "uncommitted"
    return folder / str(provenance["machine"]) / f"{provenance['date']}-{commit}.json"


def write(result: Result, path: Path) -> None:
    """Save ``result`` so that at every moment either the old file is there or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    with partial.open("w", encoding="utf-8") as out:
        json.dump(result, out, indent=1, ensure_ascii=False, allow_nan=False)
        out.write("\n")
        out.flush()
        os.fsync(out.fileno())
    partial.replace(path)


def read(path: Path) -> Result:
    """Read a result file and check everything that can be wrong with it.

    Raises:
        BadResultError: With the file, the place in it, and what is wrong there.
    """
    result = _parse(path)
    _check_schema(path, result)
    for case, content in result["cases"].items():
        if case not in cases.NAMES:
            raise BadResultError(
                f"unknown case in {path} at cases.{case}; "
                f"the known ones are {', '.join(cases.NAMES)}"
            )
        for name, entry in content["entries"].items():
            _check_entry(f"{path} at cases.{case}.entries.{name}", case, name, entry)
    return result


def continue_or_start(path: Path, provenance: Provenance) -> Result:
    """What ``path`` holds already if it was measured under the same conditions, or an empty result.

    Raises:
        BadResultError: If the file is damaged or was measured under other conditions.
    """
    if not path.exists():
        return empty(provenance)
    result = read(path)
    for name, value in provenance.items():
        before = result["provenance"].get(name)
        if before != value:
            raise BadResultError(
                f"{path} was measured with {name} {before!r} and this run has {value!r}, "
                "so they can't share a file; choose another one with --out"
            )
    return result


def _parse(path: Path) -> Result:
    """The file's JSON; duplicate keys and numbers that are none are refused."""

    def no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise BadResultError(
                f"{path} has the key {twice!r} twice in one place; remove one of them"
            )
        return dict(pairs)

    def no_constants(text: str) -> float:
        raise BadResultError(
            f"{path} holds {text}, which is no measured number; measure that case again"
        )

    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise BadResultError(
                f"{path} is larger than {LARGEST_BYTES:,} bytes; it is no result file"
            )
        text = path.read_bytes().decode("utf-8")
        result = json.loads(text, object_pairs_hook=no_duplicates, parse_constant=no_constants)
    except OSError as problem:
        raise BadResultError(f"can't read {path}: {problem.strerror}; check its name") from None
    except UnicodeDecodeError as problem:
        raise BadResultError(
            f"{path} is not UTF-8 text (byte {problem.start}); write it again with `run`"
        ) from None
    except json.JSONDecodeError as problem:
        raise BadResultError(
            f"{path} is not JSON ({problem.msg}, line {problem.lineno}); "
            "it may be cut off, so measure again"
        ) from None
    except RecursionError:
        raise BadResultError(f"{path} is nested too deeply; it is no result file") from None
    if not isinstance(result, dict):
        raise BadResultError(f"{path} holds no JSON object; it is no result file")
    return result


def _check_schema(path: Path, result: Result) -> None:
    if result.get("version") != VERSION:
        raise BadResultError(
            f"{path} has version {result.get('version')!r} and this program reads version "
            f"{VERSION}; measure again with this version"
        )
    try:
        import jsonschema
    except ImportError:
        raise BadResultError(
            f"can't check {path} without the package jsonschema; install it with "
            "`pip install jsonschema`"
        ) from None
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))
    problem = jsonschema.exceptions.best_match(validator.iter_errors(result))
    if problem is not None:
        place = ".".join(str(part) for part in problem.absolute_path) or "the top"
        message = problem.message if len(problem.message) < 160 else problem.message[:157] + "..."
        raise BadResultError(f"{path} at {place}: {message}; correct it or measure again")


def _check_entry(where: str, case: str, name: str, entry: Entry) -> None:
    """What no schema can say: known names, and a summary that follows from the samples."""
    if name not in cases.load(case).ENTRIES:
        raise BadResultError(
            f"unknown entry in {where}; `python -m benchmarks list` names the known ones"
        )
    summary = summarise(entry["samples"])
    for key in ("median", "smallest", "largest", "spread"):
        if not math.isclose(entry[key], getattr(summary, key), rel_tol=1e-9, abs_tol=1e-12):
            raise BadResultError(
                f"{where}: {key} is {entry[key]} and the samples give {getattr(summary, key)}; "
                "measure again"
            )
    if entry["noisy"] != summary.noisy:
        raise BadResultError(f"{where}: noisy contradicts the samples; measure again")
