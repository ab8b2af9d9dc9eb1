"""The benchmark job: ``python -m benchmarks run``, ``list`` and ``validate``."""

import argparse
import datetime
import os
import sys
import time
from pathlib import Path

import torch

from benchmarks import cases, provenance, result_file
from benchmarks.cases import MissingDataError, Plan
from benchmarks.method import Entry
from benchmarks.result_file import BadResultError


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line asks; 0 if all went well, 2 for bad input."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.command(options))
    except (BadResultError, MissingDataError) as problem:
        print(f"error: {problem}", file=sys.stderr)
    except OSError as problem:
        print(f"error: can't use {problem.filename}: {problem.strerror}", file=sys.stderr)
    return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(required=True)

    run = commands.add_parser("run", help="measure and save every finished case at once")
    run.add_argument(
        "--case", choices=cases.NAMES, action="append", help="only this one; repeatable"
    )
    run.add_argument("--quick", action="store_true", help="a short trial; no page uses its numbers")
    run.add_argument("--data", type=Path, default=Path("data"), help="folder with MNIST/raw")
    run.add_argument(
        "--threads", type=_positive, help="CPU threads for PyTorch; default: its own choice"
    )
    run.add_argument("--out", type=Path, help="result file; default: by machine, date and commit")
    run.set_defaults(command=_run)

    listing = commands.add_parser("list", help="name every case and what it measures")
    listing.set_defaults(command=_list)

    validate = commands.add_parser("validate", help="check result files")
    validate.add_argument("files", type=Path, nargs="+", metavar="FILE")
    validate.set_defaults(command=_validate)
    return parser


def _run(options: argparse.Namespace) -> int:
    """Measure one case after the other; a case without its data is skipped, in one line."""
    if options.threads:
        torch.set_num_threads(options.threads)
    conditions = provenance.here(options.quick)
    path = options.out or result_file.default_path(conditions)
    result = result_file.continue_or_start(path, conditions)
    plan = Plan(options.data, options.quick)
    skipped = []
    for name in options.case or cases.NAMES:
        load_average = round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
        start = time.perf_counter()
        try:
            entries = cases.load(name).run(plan)
        except MissingDataError as problem:
            skipped.append(name)
            print(f"{name}: skipped, {problem}", file=sys.stderr)
            continue
        took_s = round(time.perf_counter() - start, 1)
        result["cases"][name] = {
            "finished": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%MZ"),
            "took_s": took_s,
            "load_average": load_average,
            "entries": entries,
        }
        result_file.write(result, path)
        print(f"{name}: done in {took_s:.0f} s")
        for entry_name, entry in entries.items():
            print(f"  {entry_name:32} {_line(entry)}")
    if skipped and not result["cases"]:
        raise MissingDataError(
            f"nothing was measured: {', '.join(skipped)} lack their data; see above"
        )
    print(f"results: {path}")
    return 0


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of at least 1")
    return int(text)


def _line(entry: Entry) -> str:
    noisy = "  noisy: spread over 15 % of the median" if entry["noisy"] else ""
    return (
        f"{entry['median']:.4g} {entry['unit']} "
        f"({entry['smallest']:.4g} to {entry['largest']:.4g}){noisy}"
    )


def _list(_: argparse.Namespace) -> int:
    for name in cases.NAMES:
        module = cases.load(name)
        summary = (module.__doc__ or "").partition("\n\n")[0].replace("\n", " ")
        print(f"{name}: {summary}")
    return 0


def _validate(options: argparse.Namespace) -> int:
    """Check every file and name each bad one; 2 if there was any."""
    bad = 0
    for path in options.files:
        try:
            result = result_file.read(path)
        except BadResultError as problem:
            bad += 1
            print(f"error: {problem}", file=sys.stderr)
        else:
            entries = sum(len(case["entries"]) for case in result["cases"].values())
            print(f"{path}: good, {len(result['cases'])} cases, {entries} entries")
    return 2 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
