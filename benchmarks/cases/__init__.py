"""The cases, one short module each.

A module says what it measures in its docstring, and in ``FAMILIES`` which entries that gives, a
GPU's too, wherever it runs; ``ENTRIES`` has their names. ``NEEDS`` names the cases that it is
compared with: the job measures them along. ``parts(plan)`` gives what to measure on this machine,
in pieces: what is in one piece takes turns, and every finished piece is saved at once. What only a
reader's browser gives, in the race, comes from no part.
"""

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import torch

from results.cases import Case, DeclarationError, together
from results.entry import Entry

# In this order they run: what the pages lean on most comes first, in case the time runs out.
NAMES = (
    "tiny_epoch",
    "mnist_epoch",
    "step_sweep",
    "race",
    "loader",
    "mixed_precision",
    "ladder",
    "matmul",
    "elementwise",
    "launches",
    "loops",
    "copies",
    "synchronisation",
    "convolution",
    "fused_elementwise",
    "compiled_step",
    "kept_losses",
    "device_agreement",
    "foundations_step",
    "small_resnet",
    "cnn_step",
    "resnet_step",
    "checkpointing",
    "accumulation",
    "largest_batch",
    "utilisation",
    "pipeline",
    "transformer_memory",
    "data_parallel",
    "mnist_accuracy",
    "quiet_faults",
    "notebook",
)

# What uses a GPU, in the order in which a page misses it most: first what takes seconds and says
# whether a GPU pays, and last what trains for minutes in one part, which is lost if time runs out.
GPU_NAMES = (
    "launches",
    "tiny_epoch",
    "mixed_precision",
    "small_resnet",
    "step_sweep",
    "race",
    "matmul",
    "copies",
    "elementwise",
    "synchronisation",
    "convolution",
    "resnet_step",
    "largest_batch",
    "utilisation",
    "cnn_step",
    "checkpointing",
    "accumulation",
    "kept_losses",
    "device_agreement",
    "foundations_step",
    "transformer_memory",
    "pipeline",
    "compiled_step",
    "fused_elementwise",
    "data_parallel",
    "mnist_epoch",
    "ladder",
    "loader",
    "notebook",
)


class SkipPartError(Exception):
    """A part can't be measured on this machine; the message is a reason in words."""


class MissingDataError(SkipPartError):
    """A case needs data that are not on this machine; the message says how to get them."""


class IncompletePartError(Exception):
    """Some of a part broke; what was measured all the same is in ``entries``."""

    def __init__(self, entries: dict[str, Entry], reason: str) -> None:
        super().__init__(reason)
        self.entries = entries


@dataclass(frozen=True)
class Part:
    """A piece of a case that is measured and saved at once.

    Attributes:
        name: Unique in its case; the result file names it.
        measure: Measures it and returns its entries. It may raise ``SkipPartError``,
            or ``IncompletePartError`` with what could be measured.
        expected_s: Roughly how long that takes, in seconds, for the time left.
        cpu_only: No GPU takes part in it, even where there is one.
    """

    name: str
    measure: Callable[[], dict[str, Entry]]
    expected_s: float = 5.0
    cpu_only: bool = False


@dataclass(frozen=True)
class Plan:
    """What a case is asked to do.

    Attributes:
        data: The folder with ``MNIST/raw``.
        quick: Seconds instead of minutes, for a first try and for tests; the numbers mean little.
        gpu: The first GPU, with its number, which some of PyTorch's functions insist on; None
            without one. A test may let the CPU stand in for it.
        gpu_only: Leave out parts in which no GPU takes part; comparisons with a CPU stay.
    """

    data: Path
    quick: bool = False
    gpu: torch.device | None = field(
        default_factory=lambda: torch.device("cuda", 0) if torch.cuda.is_available() else None
    )
    gpu_only: bool = False

    @property
    def cpu(self) -> torch.device:
        """The CPU."""
        return torch.device("cpu")

    @property
    def devices(self) -> dict[str, torch.device]:
        """The CPU, and the GPU where there is one, by their names in entries."""
        return {"cpu": self.cpu, **({"cuda": self.gpu} if self.gpu else {})}

    @property
    def repetitions(self) -> int:
        """Timed samples of each arm."""
        return 2 if self.quick else 5


def with_compared(names: Iterable[str]) -> set[str]:
    """These cases, and those whose numbers pages set beside theirs: one run measures them all."""
    return {other for name in names for other in together(name)}


def declared(names: Iterable[str] | None = None) -> dict[str, Case]:
    """What cases measure, all of them or these, as the modules say it."""
    modules = {name: load(name) for name in (NAMES if names is None else names)}
    return {
        name: Case(module.FAMILIES, getattr(module, "NEEDS", ()))
        for name, module in modules.items()
    }


def load(name: str) -> ModuleType:
    """The module of a case.

    Raises:
        DeclarationError: If there is none, or its ``FAMILIES`` can't be.
    """
    module, file = f"{__name__}.{name}", f"benchmarks/cases/{name}.py"
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as problem:
        if problem.name != module:
            raise
        raise DeclarationError(
            f"there is no {file}, and benchmarks/cases/__init__.py names the case {name!r}; "
            "correct the name, or write the module"
        ) from None
    except DeclarationError as problem:
        raise DeclarationError(f"{file}: {problem}") from None
