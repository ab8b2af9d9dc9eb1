"""The cases, one short module each.

A module says what it measures in its docstring, names its entries in ``ENTRIES`` (a GPU's too,
wherever it runs) and has a function ``run(plan)`` that returns what it measured.
"""

import importlib
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import torch

NAMES = ("tiny_epoch", "mnist_epoch", "mnist_accuracy", "step_sweep")


class MissingDataError(Exception):
    """A case needs data that are not on this machine; the message says how to get them."""


@dataclass(frozen=True)
class Plan:
    """What a case is asked to do.

    Attributes:
        data: The folder with ``MNIST/raw``.
        quick: Seconds instead of minutes, for a first try and for tests; the numbers mean little.
    """

    data: Path
    quick: bool = False

    @property
    def devices(self) -> list[torch.device]:
        """The CPU, and the GPU where there is one."""
        names = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
        return [torch.device(name) for name in names]

    @property
    def repetitions(self) -> int:
        """Timed samples of each arm."""
        return 2 if self.quick else 5


def load(name: str) -> ModuleType:
    """The module of a case."""
    return importlib.import_module(f"{__name__}.{name}")
