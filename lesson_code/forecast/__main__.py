"""Forecast a training step of your own on graphics cards that you do not have.

MODULE:FUNCTION names a function without arguments that returns a model, an optimizer, a loss
function and a batch: the model's inputs and, last, the targets. The step is counted, not run.
"""

import argparse
import json
import sys
import tempfile
from difflib import get_close_matches
from pathlib import Path
from typing import NoReturn

from lesson_code.forecast.cards import FORMATS, Card, CardError, read_cards
from lesson_code.forecast.refusal import RefusedError
from lesson_code.forecast.report import Counted, OnGPU, file_content, has_units, table

LAYOUTS = ("usual", "channels_last")


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line asks.

    Returns:
        0 if all went well, 2 for what can't be done, 130 after Ctrl-C.
    """
    options = _parser().parse_args(arguments)
    try:
        cards = [_card(id) for id in options.card]
        _check_units(cards, options.format)
        if options.json:
            _check_writable(options.json)
        _forecast(options, cards)
    except (RefusedError, CardError) as problem:
        return _refuse(str(problem))
    except KeyboardInterrupt:
        return 130
    return 0


class _Parser(argparse.ArgumentParser):
    """A parser whose complaint is one sentence."""

    def error(self, message: str) -> NoReturn:
        sys.exit(_refuse(f"{message}; see `{self.prog} --help`"))


def _refuse(message: str) -> int:
    print(f"error: {message}", file=sys.stderr)
    return 2


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m lesson_code.forecast", description=__doc__)
    parser.add_argument("training", metavar="MODULE:FUNCTION", help="builds what is to be forecast")
    parser.add_argument(
        "--card", type=_words, default="t4,rtx-4090,h100", help="names, with commas between"
    )
    parser.add_argument("--batch", type=_sizes, help="batch sizes; default: the function's own")
    parser.add_argument(
        "--format",
        type=_formats,
        default="float32",
        help=f"of {', '.join(FORMATS)}; float32 is without TF32, which PyTorch allows in "
        "convolutions unless you forbid it",
    )
    parser.add_argument("--layout", choices=LAYOUTS, default=LAYOUTS[0], help="of images")
    parser.add_argument(
        "--measure",
        action="store_true",
        help="time this machine as well: its CPU in float32, and its GPU in every format",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the counts for the page")
    return parser


def _words(text: str) -> list[str]:
    words = [word.strip().lower() for word in text.split(",") if word.strip()]
    if not words:
        raise argparse.ArgumentTypeError(f"{text!r} names nothing")
    return words


def _sizes(text: str) -> list[int]:
    sizes = _words(text)
    for size in sizes:
        if not size.isdecimal() or int(size) < 1:
            raise argparse.ArgumentTypeError(f"{size!r} is not a batch size of at least 1")
    return [int(size) for size in sizes]


def _formats(text: str) -> list[str]:
    for format in _words(text):
        if format not in FORMATS:
            raise argparse.ArgumentTypeError(
                f"there is no format {format!r}; there is {', '.join(FORMATS)}"
            )
    return _words(text)


def _card(id: str) -> Card:
    """The card of that name."""
    cards = read_cards()
    if id not in cards:
        near = get_close_matches(id, cards, 3, cutoff=0.4) or list(cards)
        raise RefusedError(f"there is no card {id!r}; there is {', '.join(near)}")
    return cards[id]


def _check_units(cards: list[Card], formats: list[str]) -> None:
    """Whether at least one of the cards computes in one of the formats."""
    if not any(has_units(card, format) for card in cards for format in formats):
        there = "; ".join(f"{card.name} has {', '.join(card.peak)}" for card in cards)
        raise RefusedError(f"no units for {' or '.join(formats)} on any card asked for: {there}")


def _check_writable(path: Path) -> None:
    try:
        if path.is_dir():
            raise IsADirectoryError(None, "it is a folder")
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as problem:
        raise RefusedError(f"can't write {path}: {problem.strerror}; name another file") from None


def _forecast(options: argparse.Namespace, cards: list[Card]) -> None:
    """Count, and measure if asked; print the table and write the file."""
    import torch

    from lesson_code.devices import choose_device
    from lesson_code.forecast.measure import measure
    from lesson_code.forecast.measure_gpu import measure_gpu
    from lesson_code.forecast.training import builder, count

    build = builder(options.training)
    sizes = options.batch or [build().batch_size]
    steps = [
        Counted(size, count(build, size, format, options.layout == "channels_last"))
        for size in sizes
        for format in options.format
    ]
    measured = measure(build, sizes) if options.measure else {}
    gpu, on_gpu = choose_device(), list[OnGPU]()
    if options.measure and gpu.type == "cuda":
        last = options.layout == "channels_last"
        on_gpu = measure_gpu(build, sizes, options.format, last, gpu)
    print(table(steps, cards, measured, build().has_recurrent_layers, on_gpu))
    if options.json:
        content = file_content(options.training, torch.__version__, steps, measured)
        options.json.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        print(f"wrote {options.json}")


if __name__ == "__main__":
    sys.exit(main())
