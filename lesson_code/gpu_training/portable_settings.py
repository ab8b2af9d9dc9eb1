"""The command line of the portable training script, checked and typed."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NoReturn

from lesson_code.data import Source

LAST_FILE = "portable_last.pth"
BEST_FILE = "portable_best.pth"
TOO_LARGE = 10**12  # for a number on the command line


class InputError(Exception):
    """Something that the caller can put right; the message says what, where and how."""


@dataclass(frozen=True)
class Settings:
    """What the command line says; ``--help`` explains every field."""

    epochs: int
    batch_size: int
    seed: int
    data: Path
    source: Source
    device: Literal["auto", "cpu", "cuda", "mps", "xpu"]
    amp: Literal["auto", "on", "off"]
    out: Path
    log_dir: Path | None
    resume: bool


class Parser(argparse.ArgumentParser):
    """Says what is wrong with a command in one sentence, without the usage lines above it."""

    def error(self, message: str) -> NoReturn:
        """Print the sentence and leave with status 2."""
        self.exit(2, f"error: {message}; --help explains every option\n")


def read_settings(arguments: list[str] | None) -> Settings:
    """The command line as settings."""
    parser = Parser(
        prog="python -m lesson_code.gpu_training.portable_training",
        description="Train the lesson's digit classifier, on a GPU where there is one.",
        epilog=f"{BEST_FILE} is the model with the best validation accuracy, {LAST_FILE} is what "
        "--resume reads; both load on any device. Exit status: 0 done, 2 something to put right, "
        "130 stopped by Ctrl-C.",
    )
    add = parser.add_argument
    add("--epochs", type=whole_number(1), default=10, help="times through the data; %(default)s")
    add("--batch-size", type=whole_number(1), default=64, help="images in a batch; %(default)s")
    add(
        "--seed",
        type=whole_number(0),
        default=42,
        help="fixes weights, split and order of the batches; %(default)s",
    )
    add("--data", type=Path, default=Path("data"), help="folder of the MNIST files; %(default)s")
    add(
        "--source",
        choices=("auto", "full", "subset"),
        default="auto",
        help="all of MNIST, or the part that ships with the lesson; auto: all, if it can be had",
    )
    add(
        "--device",
        choices=("auto", "cpu", "cuda", "mps", "xpu"),
        default="auto",
        help="where to train: cuda is NVIDIA or AMD, mps Apple, xpu Intel; auto: a GPU that "
        "PyTorch finds, else cpu",
    )
    add(
        "--amp",
        choices=("auto", "on", "off"),
        default="auto",
        help="mixed precision, on cuda only; auto: on there, in bfloat16 where the GPU computes "
        "it in hardware, in float16 with a scaler elsewhere",
    )
    add(
        "--out",
        type=Path,
        default=Path("saved_models"),
        help="folder of the checkpoints; %(default)s",
    )
    add("--log-dir", type=Path, help="write a TensorBoard log to this folder")
    add(
        "--resume",
        action="store_true",
        help="go on after the last finished epoch; starts anew where there is none",
    )
    return Settings(**vars(parser.parse_args(arguments)))


def whole_number(smallest: int) -> Callable[[str], int]:
    """A check for argparse: a whole number from ``smallest`` on."""

    def check(text: str) -> int:
        number = int(text) if text.isdecimal() and len(text) < 13 else smallest - 1
        if not smallest <= number < TOO_LARGE:
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number from {smallest} on")
        return number

    return check
