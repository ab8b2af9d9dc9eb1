"""The benchmark job: ``run``, ``list``, ``validate``, ``summarize``, ``count``.

Each is called as ``python -m benchmarks run``.
"""

import argparse
import sys
from pathlib import Path

from benchmarks.stopping import STOPPED, stopped_quietly

with stopped_quietly():
    import torch

    from benchmarks import cases, comparison, forecast_steps, job, provenance
    from benchmarks import counted_memory as memory_counts
    from benchmarks.arguments import Parser, commit_hash, positive_number
    from benchmarks.cases import Plan
    from benchmarks.validate import validate
    from results import counted_memory, forecasts, result_file
    from results.cases import FILE, DeclarationError, read, written
    from results.catalogue import CatalogueError
    from results.entry import Entry, read_entry
    from results.quantities import write
    from results.result_file import BadResultError, Content, entries_of

NO_COMMIT = (
    "note: the result will name no commit, since the code has changes or is a copy without git; "
    "where it is a copy, add --commit and what `git rev-parse HEAD` says at its origin"
)


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line asks.

    Returns:
        0 if all went well, 1 if a part broke, 2 for bad input, 130 after Ctrl-C.
    """
    options = _parser().parse_args(arguments)
    try:
        return int(options.command(options))
    except (BadResultError, CatalogueError, DeclarationError) as problem:
        print(f"error: {problem}", file=sys.stderr)
    except OSError as problem:
        at = f" {problem.filename}" if problem.filename else ""
        print(f"error: can't use{at or ' a file'}: {problem.strerror}", file=sys.stderr)
    return 2


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    run = commands.add_parser("run", help="measure this machine, saving every finished part")
    run.add_argument(
        "--case",
        choices=cases.NAMES,
        action="append",
        help="only this one, and those that it is compared with; repeatable",
    )
    run.add_argument(
        "--gpu-only",
        action="store_true",
        help="only parts in which a GPU takes part, those that pages miss most first",
    )
    run.add_argument("--quick", action="store_true", help="a short trial; no page uses its numbers")
    run.add_argument(
        "--budget",
        type=positive_number,
        metavar="MINUTES",
        help="begin nothing that would not end within this time; a later run measures the rest",
    )
    run.add_argument("--data", type=Path, default=Path("data"), help="folder with MNIST/raw")
    run.add_argument(
        "--threads", type=_positive, help="CPU threads for PyTorch; default: its own choice"
    )
    run.add_argument("--out", type=Path, help="result file; default: by machine, date and commit")
    run.add_argument(
        "--commit", type=commit_hash, help="the commit that is measured, where there is no git"
    )
    run.set_defaults(command=_run)

    listing = commands.add_parser("list", help="name every case and what it measures")
    listing.set_defaults(command=_list)

    describe = commands.add_parser(
        "describe", help="write what the cases measure into results/cases.json, for the site"
    )
    describe.set_defaults(command=_describe)

    validate = commands.add_parser("validate", help="check result files")
    validate.add_argument("files", type=Path, nargs="+", metavar="FILE")
    validate.set_defaults(command=_validate)

    count = commands.add_parser(
        "count", help="count the steps and the memory that pages forecast, into results: minutes"
    )
    count.set_defaults(command=_count)

    summarize = commands.add_parser(
        "summarize", help="print what result files say, or what changed between two"
    )
    summarize.add_argument("files", type=Path, nargs="+", metavar="FILE")
    one = summarize.add_mutually_exclusive_group()
    one.add_argument("--compare", action="store_true", help="the first file with the second")
    one.add_argument(
        "--compare-latest",
        action="store_true",
        help="one file with the newest other one of its machine in benchmarks/results",
    )
    one.add_argument(
        "--write", action="store_true", help="put the figures into the files as they are now"
    )
    summarize.add_argument(
        "--all", action="store_true", help="of a comparison: show unchanged entries too"
    )
    summarize.set_defaults(command=_summarize)
    return parser


def _run(options: argparse.Namespace) -> int:
    """Measure, tell how it ended, and exit with 1 if a part broke."""
    if options.gpu_only and not torch.cuda.is_available():
        raise BadResultError(
            "--gpu-only needs an NVIDIA GPU, and PyTorch finds none here; leave it out to measure "
            "the CPU"
        )
    if options.threads:
        torch.set_num_threads(options.threads)
    conditions = provenance.here(options.quick)
    if problem := result_file.about_simulation(conditions):
        raise BadResultError(problem)
    if options.commit:
        conditions["commit"] = options.commit
    if not conditions["commit"]:
        print(NO_COMMIT, file=sys.stderr)
    path = options.out or result_file.default_path(conditions)
    plan = Plan(options.data, options.quick, gpu_only=options.gpu_only)
    names = list(cases.GPU_NAMES if options.gpu_only else cases.NAMES)
    if options.case:
        names = [name for name in names if name in cases.with_compared(options.case)]
    if undescribed := [name for name in names if not _is_described(name)]:
        raise BadResultError(
            f"{FILE.name} does not say what {', '.join(undescribed)} would measure; run "
            "`python -m benchmarks describe` first"
        )
    budget_s = options.budget * 60 if options.budget else None
    try:
        outcome = job.run(list(names), plan, path, conditions, budget_s)
    except KeyboardInterrupt:
        print(f"stopped; the same command goes on with {path}", file=sys.stderr)
        return STOPPED
    for label, reason in outcome.skipped.items():
        print(f"skipped: {label}: {reason}", file=sys.stderr)
    for label, problem in outcome.failed.items():
        print(f"failed: {label}: {problem}", file=sys.stderr)
    if outcome.left:
        print(f"left for another run: {', '.join(outcome.left)}", file=sys.stderr)
    measured, kept = len(outcome.measured), len(outcome.kept)
    print(f"{path}: measured {measured} part{'s' * (measured != 1)}, kept {kept}")
    return 1 if outcome.failed else 0


def _is_described(name: str) -> bool:
    """Whether the file says of a case what its module says."""
    described = read()
    return name in described and written(cases.declared([name])) == written({name: described[name]})


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of at least 1")
    return int(text)


def _list(_: argparse.Namespace) -> int:
    for name in cases.NAMES:
        module = cases.load(name)
        summary = (module.__doc__ or "").partition("\n\n")[0].replace("\n", " ")
        print(f"{name}: {summary}")
    return 0


def _describe(_: argparse.Namespace) -> int:
    """Write the file that tells everybody without PyTorch what can be measured."""
    FILE.write_text(written(cases.declared()), encoding="utf-8")
    print(f"{FILE.name}: {len(cases.NAMES)} cases")
    return 0


def _validate(options: argparse.Namespace) -> int:
    """Check every file and name each bad one; 2 if there was any."""
    return validate(options.files)


def _count(_: argparse.Namespace) -> int:
    """Count every step that pages forecast, on any machine."""
    counted = forecast_steps.count_all()
    version = torch.__version__.partition("+")[0]
    forecasts.write_steps(counted, version)
    print(f"{forecasts.STEPS}: {len(counted)} steps")
    memory = memory_counts.count_all()
    counted_memory.write_counted(memory, version)
    print(f"{counted_memory.COUNTED}: {len(memory)} configurations")
    return 0


def _summarize(options: argparse.Namespace) -> int:
    """Print what each file says; or compare two files; or write the figures."""
    files = list(options.files)
    if options.compare_latest:
        if len(files) != 1:
            raise BadResultError("--compare-latest needs one file")
        before = result_file.latest_before(files[0])
        if before is None:
            print(_heading(files[0], result_file.read(files[0])))
            print("There is no earlier result of this machine to compare with.")
            return 0
        files.insert(0, before)
    if options.compare or options.compare_latest:
        if len(files) != 2:
            raise BadResultError("--compare needs two files, the older one first")
        old, new = files
        print(_comparison(old, new, options.all))
        return 0
    for path in files:
        if options.write:
            result_file.rewrite_figures(path)
        print(_summary(path, result_file.read(path)))
    return 0


def _heading(path: Path, result: Content) -> str:
    """Where a result comes from, in one line."""
    at = result["provenance"]
    device = f"{at['gpu']}, {at['processor']}" if at["gpu"] else at["processor"]
    quick = ", a quick trial" if at["quick"] else ""
    commit = at["commit"] or "uncommitted code"
    software = at.get("engine") or f"PyTorch {at['torch']}"
    return f"{path}: {device}, {software}, {at['date']}, {commit}{quick}"


def _comparison(old: Path, new: Path, everything: bool) -> str:
    """What changed from one result to another, as Markdown."""
    before, now = result_file.read(old), result_file.read(new)
    changed = comparison.conditions(before["provenance"], now["provenance"])
    table = comparison.table(comparison.compare(entries_of(before), entries_of(now)), everything)
    heads = [f"Before: {_heading(old, before)}", f"Now: {_heading(new, now)}"]
    return "\n\n".join([*heads, *changed, table])


def _summary(path: Path, result: Content) -> str:
    """One table for each case: every entry's median, spread and number of samples."""
    lines = [_heading(path, result)]
    for case, parts in result["cases"].items():
        lines += ["", f"{case:38} {'median':>16}  {'spread':>14}  samples"]
        for part, content in parts.items():
            if "incomplete" in content:
                lines.append(f"  {part}: incomplete, {content['incomplete']}")
            if "skipped" in content:
                lines.append(f"  {part}: skipped, {content['skipped']}")
            entries = content.get("entries", {})
            lines += [_row(name, read_entry(kept)) for name, kept in entries.items()]
    return "\n".join(lines)


def _row(name: str, entry: Entry) -> str:
    median, spread = (write(value, entry.unit) for value in (entry.median, entry.spread))
    samples = len(entry.samples)
    noisy = "  noisy" if entry.noisy else ""
    return f"  {name:36} {median:>16}  {spread if samples > 1 else '–':>14}  {samples:7}{noisy}"


if __name__ == "__main__":
    sys.exit(main())
