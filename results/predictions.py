"""What the mission's model says about the entries of two cases, before anybody measures them.

``transformer_memory`` and ``pipeline`` keep these numbers beside what they measure, and the site
sets both side by side. Nothing here imports PyTorch, so that a page can ask.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from lesson_code.mission.architecture import GPT2_SMALL, GPT2_XL, Arch
from lesson_code.mission.choices import Optimizer, Recompute, TorchRegime
from lesson_code.mission.constants import BASELINE_BATCH, GIB, MODEL_VERSION
from lesson_code.mission.fit import Verdict, device_budget_bytes, max_batch, verdict
from lesson_code.mission.memory import (
    ledger_total_bytes,
    phase_bytes,
    step_peak_bytes,
)
from lesson_code.mission.pipeline import pipeline
from results.entry import Entry

ModelName = Literal["small", "xl"]

ARCHS: dict[ModelName, Arch] = {"small": GPT2_SMALL, "xl": GPT2_XL}
MODEL_NAMES: dict[ModelName, str] = {"small": "GPT-2 small", "xl": "GPT-2 XL"}
REGIMES: tuple[TorchRegime, ...] = ("fp32", "autocast", "pure16")
MODES: tuple[Recompute, ...] = ("none", "selective", "full")
PHASES = ("model", "idle", "forward", "backward", "peak")
STATIC_PHASES = ("model", "idle", "backward")
CAP_BYTES = device_budget_bytes("laptop")
STEPS = 2  # that are tried under the cap: the second needs the optimizer's state as well

# How far a measurement may lie from the model before the page calls it off.
STATIC_TOLERANCE = 0.01
WORKSPACE_BYTES = GIB // 16  # or 64 MiB, if that is more: the matrix library's workspace
FORWARD_TOLERANCE: dict[Recompute, float] = {"none": 0.05, "selective": 0.10, "full": 0.10}
ORDER = ("mfu", "hfu", "compute", "utilisation")
TOLERANCE_POINTS = 0.5  # the clocks of CPU and GPU are aligned that well at least


@dataclass(frozen=True)
class Configuration:
    """What is trained, and how."""

    model: ModelName
    batch: int
    regime: TorchRegime
    optimizer: Optimizer
    recompute: Recompute

    @property
    def name(self) -> str:
        """How its entries begin."""
        return f"{self.model}.b{self.batch}.{self.regime}.{self.optimizer}.{self.recompute}"

    @property
    def arch(self) -> Arch:
        """The sizes of the model."""
        return ARCHS[self.model]

    @property
    def peak_bytes(self) -> int:
        """The fullest moment of a step, by the model."""
        return step_peak_bytes(self.regime, self.optimizer, self.recompute, self.batch, self.arch)

    @property
    def phases(self) -> dict[str, int]:
        """Bytes at each of ``PHASES``, by the model."""
        found = phase_bytes(self.regime, self.optimizer, self.recompute, self.batch, self.arch)
        return {str(phase): size for phase, size in found.items()} | {"peak": self.peak_bytes}

    @property
    def under_cap(self) -> Verdict:
        """Whether it fits under the cap, by the model; the steps that are tried free gradients."""
        total = ledger_total_bytes(
            self.regime, self.optimizer, self.recompute, self.batch, self.arch
        )
        return verdict(total, self.peak_bytes, CAP_BYTES)


CONFIGURATIONS = (
    *(Configuration("small", 4, regime, "adam", mode) for regime in REGIMES for mode in MODES),
    *(
        Configuration("small", 4, regime, optimizer, "none")
        for regime in REGIMES
        for optimizer in ("sgd", "momentum")
    ),
    *(
        Configuration("small", 8, regime, "adam", mode)
        for regime in REGIMES
        for mode in ("none", "full")
    ),
    *(Configuration("xl", 1, "fp32", "adam", mode) for mode in MODES),
    *(
        Configuration("xl", 1, regime, "adam", mode)
        for regime in ("autocast", "pure16")
        for mode in ("none", "full")
    ),
    *(Configuration("xl", 1, "fp32", optimizer, "none") for optimizer in ("sgd", "momentum")),
    *(Configuration("xl", 4, "autocast", "adam", mode) for mode in ("none", "full")),
)
UNDER_CAP = tuple(
    Configuration("small", 1, regime, "adam", mode)
    for regime in ("fp32", "autocast")
    for mode in MODES
)
LAPTOP = (
    Configuration("xl", 1, "fp32", "sgd", "full"),
    *(Configuration("xl", batch, "pure16", "sgd", "full") for batch in (1, 2, 4)),
)

# Format and recomputation of a pipeline that is measured, and how it loads its data.
RUNS: tuple[tuple[str, Recompute], ...] = (
    ("float32", "none"),
    ("tf32", "none"),
    ("bfloat16", "none"),
    ("bfloat16", "full"),
)
LOADERS = ("plain", "prefetch")


@cache
def predictions(case: str) -> Mapping[str, float]:
    """What the model says now, by entry; empty for a case that it says nothing about."""
    return dict(_MODELLED[case]()) if case in _MODELLED else {}


def _memory() -> Iterator[tuple[str, float]]:
    """Bytes at each moment, the largest batch under the cap, and how many steps run there."""
    for c in CONFIGURATIONS:
        for phase, size in c.phases.items():
            yield f"{c.name}.cuda_{phase}", float(size)
    for c in UNDER_CAP:
        largest = max_batch(c.regime, c.optimizer, c.recompute, CAP_BYTES, arch=c.arch)
        yield f"largest.{c.regime}.{c.recompute}.cuda_batch", float(largest)
    for c in LAPTOP:
        name = f"laptop.{c.regime}.b{c.batch}.cuda"
        yield f"{name}_steps", 0.0 if c.under_cap == "over" else float(STEPS)
        yield f"{name}_peak", float(c.peak_bytes)


def _pipeline() -> Iterator[tuple[str, float]]:
    """Percent of an iteration at the textbook's batch; the model's iterations are never idle."""
    for (format, recompute), loader in itertools.product(RUNS, LOADERS):
        found = pipeline(
            loader == "prefetch", format == "bfloat16", recompute == "full", BASELINE_BATCH
        )
        shares = {
            "data": found.data_share,
            "compute": found.compute_share,
            "transfer": found.transfer_share,
            "utilisation": found.utilisation,
            "mfu": found.mfu,
            "hfu": found.hfu,
        }
        for what, share in shares.items():
            yield f"{format}.{recompute}.{loader}.cuda_{what}", 100 * share


_MODELLED: dict[str, Callable[[], Iterator[tuple[str, float]]]] = {
    "transformer_memory": _memory,
    "pipeline": _pipeline,
}


def keep_predictions(case: str, entries: dict[str, Entry]) -> dict[str, Entry]:
    """Put beside each measured entry what the model says about it, and which model that is."""
    said = predictions(case)
    for name in entries.keys() & said.keys():
        kept = {"predicted": said[name], "model_version": MODEL_VERSION}
        settings = {**entries[name].settings, **kept}
        entries[name] = replace(entries[name], settings=settings)
    return entries


def problems(case: str, entries: Mapping[str, Entry]) -> Iterator[str]:
    """What must not be in a result of a case, in words.

    A kept prediction that the same model no longer gives; none at all; and shares of an iteration
    that contradict each other.
    """
    for name, value in predictions(case).items():
        if name not in entries:
            continue
        settings = entries[name].settings
        kept, version = settings.get("predicted"), settings.get("model_version")
        if kept is None or version is None:
            yield f"{case} {name} keeps no prediction beside what was measured; measure it again"
        elif version == MODEL_VERSION and abs(kept - value) > 1e-12 * max(1.0, abs(value)):
            yield (
                f"{case} {name} keeps the prediction {kept:,.12g}, and model {MODEL_VERSION} "
                f"gives {value:,.12g}; give a model that was changed on purpose a new "
                "MODEL_VERSION in lesson_code/mission/constants.py"
            )
    for (format, recompute), loader in itertools.product(RUNS, LOADERS):
        name = f"{format}.{recompute}.{loader}.cuda_"
        found = {what: entries.get(name + what) for what in (*ORDER, "data")}
        medians = {what: entry.median for what, entry in found.items() if entry}
        wrong = broken_order(medians) if len(medians) == len(found) else None
        if wrong:
            yield f"{case} {format}.{recompute}.{loader}: {wrong}; measure it again"


def broken_order(percent: Mapping[str, float]) -> str | None:
    """What contradicts MFU ≤ HFU ≤ compute ≤ utilisation ≤ 100 - data, which holds everywhere.

    Args:
        percent: Medians of ``mfu``, ``hfu``, ``compute``, ``utilisation`` and ``data``.

    Returns:
        The two that do, in words; None if the order holds within ``TOLERANCE_POINTS``.
    """
    found = {what: percent[what] for what in ORDER} | {"time without data": 100 - percent["data"]}
    for smaller, larger in itertools.pairwise(found):
        if found[smaller] > found[larger] + TOLERANCE_POINTS:
            return (
                f"{smaller} is {found[smaller]:.1f} % and {larger} {found[larger]:.1f} %, "
                "which can't be; one of them was measured wrongly"
            )
    return None


def within_tolerance(c: Configuration, phase: str, predicted: float, measured: float) -> bool:
    """Whether a measured phase agrees with the model.

    Static phases may lie 1 % or 64 MiB off. The end of forward and the peak may lie 5 % off where
    nothing is recomputed and 10 % elsewhere.

    Args:
        c: What was trained.
        phase: One of ``PHASES``.
        predicted: Bytes by the model that the measurement kept.
        measured: Bytes.
    """
    if phase in STATIC_PHASES:
        return abs(measured - predicted) <= max(STATIC_TOLERANCE * predicted, WORKSPACE_BYTES)
    return abs(measured - predicted) <= FORWARD_TOLERANCE[c.recompute] * predicted
