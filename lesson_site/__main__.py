"""Finish and serve the built site, record snippets' output, build the notebook, check snippets."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from lesson_site import notebooks
from lesson_site.errors import LiveError, PageError, SheetError, SiteError
from lesson_site.notebooks import NotebookError
from lesson_site.snippets import CoverageError, recorded_targets, shown_sections, untested
from results.recorded import RecordingError
from results.store import FigureError

REFUSALS = (
    PageError,
    SiteError,
    SheetError,
    CoverageError,
    RecordingError,
    NotebookError,
    FigureError,
    LiveError,
)


def main(arguments: list[str] | None = None) -> int:
    """Run one command: 0 if all is well, 2 if something is wrong."""
    parsed = _parser().parse_args(arguments)
    command: Callable[[argparse.Namespace], list[str]] = parsed.command
    try:
        problems = command(parsed)
    except REFUSALS as refused:
        problems = [str(refused)]
    except OSError as broken:
        advice = "; is another build at work?" if isinstance(broken, FileNotFoundError) else ""
        problems = [f"can't use {broken.filename or 'a file'}: {broken.strerror}{advice}"]
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    return 2 if problems else 0


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m lesson_site", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    site = commands.add_parser("finish", help="check the built site and write its security policy")
    site.add_argument("site", nargs="?", type=Path, default=Path("site"), help="its folder")
    site.set_defaults(command=_finish)

    serve = commands.add_parser("serve", help="serve the site, built again when a file changes")
    serve.add_argument("--port", type=int, default=8000, help="on 127.0.0.1 (default: 8000)")
    serve.set_defaults(command=_serve)

    live = commands.add_parser("live", help="serve the built site, with PyTorch behind its pages")
    live.add_argument("site", nargs="?", type=Path, default=Path("site"), help="its folder")
    live.add_argument("--port", type=int, default=0, help="on 127.0.0.1 (default: a free one)")
    live.add_argument("--no-browser", action="store_true", help="print the address, open nothing")
    live.set_defaults(command=_live)

    record = commands.add_parser("record", help="record what snippets print")
    record.add_argument("targets", nargs="*", metavar="TARGET", help="track/module:function")
    record.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    record.add_argument("--all", action="store_true", help="every output that a page shows")
    how = record.add_mutually_exclusive_group()
    how.add_argument(
        "--check", action="store_true", help="write nothing; say what pages show that fails here"
    )
    how.add_argument(
        "--merge", action="store_true", help="the code is as it was: add this processor's numbers"
    )
    record.set_defaults(command=_record)

    notebook = commands.add_parser("notebook", help="build both versions of the notebook")
    notebook.add_argument(
        "--execute", action="store_true", help="run the solution and keep its outputs (minutes)"
    )
    notebook.add_argument(
        "--data", type=Path, default=Path("data"), help="folder with MNIST/raw (default: data)"
    )
    notebook.set_defaults(command=_notebook)

    payload = commands.add_parser("mission", help="write the data of the mission's instruments")
    payload.set_defaults(command=_mission)

    race = commands.add_parser("race", help="export the training steps that race in the page")
    race.set_defaults(command=_race)

    letters = commands.add_parser("letters", help="draw the letters of shared links' pictures")
    letters.set_defaults(command=_letters)

    check = commands.add_parser("check-snippets", help="every shown line is run by a test")
    check.add_argument(
        "report",
        nargs="?",
        type=Path,
        default=Path("build/coverage.json"),
        metavar="COVERAGE.json",
        help="what `coverage json` wrote (default: %(default)s)",
    )
    check.set_defaults(command=_check_snippets)
    return parser


class _Parser(argparse.ArgumentParser):
    """A parser whose complaint is one sentence."""

    def error(self, message: str) -> None:  # type: ignore[override]
        print(f"error: {message}; see `{self.prog} --help`", file=sys.stderr)
        sys.exit(2)


def _finish(arguments: argparse.Namespace) -> list[str]:
    from lesson_site.postbuild import finish  # here alone: a GPU machine lacks what it needs
    from lesson_site.postbuild.sizes import size_table

    problems, sizes = finish(arguments.site)
    print(size_table(sizes))
    if not problems:
        print(f"{len(sizes)} pages: links, hosts and sizes are fine; the policy is written.")
    return problems


def _serve(arguments: argparse.Namespace) -> list[str]:
    from lesson_site.preview import preview  # here alone: no other command needs MkDocs

    try:
        preview(arguments.port)
    except OSError as problem:
        return [f"can't listen on port {arguments.port} ({problem.strerror}); choose another"]
    return []


def _live(arguments: argparse.Namespace) -> list[str]:
    from lesson_site.live import serve  # here alone, as `finish`

    serve(arguments.site, arguments.port, not arguments.no_browser)
    return []


def _record(arguments: argparse.Namespace) -> list[str]:
    if bool(arguments.targets) == arguments.all:
        return ["name what to record, or give --all"]
    from lesson_site import recordings  # here alone, as `finish` is called more often

    problems = []
    with recordings.Printers() as printers:
        for target in arguments.targets or recorded_targets(arguments.device):
            try:
                if arguments.check:
                    problems += recordings.check(target, arguments.device, printers)
                else:
                    path = recordings.record(
                        target, arguments.device, printers=printers, merge=arguments.merge
                    )
                    print(path, flush=True)
            except RecordingError as problem:
                problems.append(str(problem))
    return problems


def _notebook(arguments: argparse.Namespace) -> list[str]:
    written = notebooks.rebuild(arguments.execute, arguments.data)
    print(*written, sep="\n")
    return []


def _mission(_: argparse.Namespace) -> list[str]:
    from lesson_site.mission.payload import write_payload

    print(write_payload())
    return []


def _race(_: argparse.Namespace) -> list[str]:
    try:  # here alone: no other command of the site needs PyTorch
        from lesson_site.race.files import write_graphs
    except ImportError:
        return [
            "exporting needs PyTorch, ONNX and ONNX Script; run `make test` once, "
            "then `.venv/bin/python -m lesson_site race`"
        ]
    for path in write_graphs():
        print(path, flush=True)
    return []


def _letters(_: argparse.Namespace) -> list[str]:
    try:  # here alone: no other command of the site draws
        from lesson_site.sharing.drawn_letters import write_letters
    except ImportError:
        return ["drawing letters needs Pillow; run `make test` once, and call it again"]
    print(*write_letters(), sep="\n")
    return []


def _check_snippets(arguments: argparse.Namespace) -> list[str]:
    problems = untested(arguments.report)
    if not problems:
        print(f"{len(shown_sections())} shown sections: a test runs every line.")
    return problems


if __name__ == "__main__":
    sys.exit(main())
