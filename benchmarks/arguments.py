"""What the commands of this package read from their command line."""

import argparse
import re
import sys
from typing import NoReturn


class Parser(argparse.ArgumentParser):
    """A parser whose complaint is one sentence."""

    def error(self, message: str) -> NoReturn:
        """Say it, and exit with 2."""
        print(f"error: {message}; see `{self.prog} --help`", file=sys.stderr)
        sys.exit(2)


def positive_number(text: str) -> float:
    """A number of minutes.

    Raises:
        ArgumentTypeError: If it is none, or not above 0.
    """
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of minutes above 0")
    return number


def commit_hash(text: str) -> str:
    """The first ten digits of a commit's name.

    Raises:
        ArgumentTypeError: If it is none.
    """
    if not re.fullmatch(r"[0-9a-f]{7,40}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no commit: 7 to 40 digits of 0-9 and a-f")
    return text[:10]
