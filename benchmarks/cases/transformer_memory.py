"""GPU memory of GPT-2 at each moment of a training step, and what does not fit.

Allocated memory in the second step of GPT-2 small and GPT-2 XL for each optimizer, number format
and way to recompute; the largest batch under a cap of 8 GB; and GPT-2 XL under that cap. What the
matrix library holds for itself before the model is built is not counted. Each entry keeps what the
mission's model predicts for it; what that says would not fit is not tried.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, Protocol

import torch

from benchmarks.cases import Part, Plan, SkipPartError
from benchmarks.method import memory_before, unless_memory_lacks
from lesson_code.devices import synchronize
from lesson_code.mission.choices import Optimizer
from lesson_code.mission.gpt2 import GPT2Config, build, next_token_loss, precision
from results.cases import Family, names_of
from results.entry import Entry, entry
from results.predictions import (
    CAP_BYTES,
    CONFIGURATIONS,
    LAPTOP,
    MODEL_NAMES,
    REGIMES,
    STEPS,
    UNDER_CAP,
    Configuration,
    keep_predictions,
)

CASE = "transformer_memory"
QUICK = GPT2Config(layers=2, width=32, heads=2, vocabulary=64, context=16)
USABLE_SHARE = 0.97  # of the free memory; a configuration that would need more is not tried
SEED = 0

# Fused updates make no temporary copies. The keys are the mission's names.
OPTIMIZERS: dict[Optimizer, Callable[..., torch.optim.Optimizer]] = {
    "sgd": partial(torch.optim.SGD, lr=1e-3, fused=True),
    "momentum": partial(torch.optim.SGD, lr=1e-3, momentum=0.9, fused=True),
    "adam": partial(torch.optim.AdamW, lr=1e-4, fused=True),
}
MOMENTS = {
    "model": "when only the model is on the GPU",
    "idle": "between two steps, gradients freed",
    "forward": "at the end of the forward pass",
    "backward": "at the end of the backward pass",
    "peak": "at the peak of a step",
    "reserved": "reserved by PyTorch after a step",
}
CONFIGURED = {
    c.name: f"{MODEL_NAMES[c.model]}, batch {c.batch}, optimizer {c.optimizer}, "
    f"regime {c.regime}, recomputation {c.recompute}"
    for c in CONFIGURATIONS
}
UNDER = {f"{c.regime}.{c.recompute}": f"{c.regime}, recomputation {c.recompute}" for c in UNDER_CAP}
LAPTOPS = {
    f"{c.regime}.b{c.batch}": f"{c.regime}, SGD, every block recomputed, batch {c.batch}"
    for c in LAPTOP
}
FAMILIES = (
    Family(
        "{configuration}.cuda_{moment}",
        "memory {moment}: {configuration}",
        {"configuration": tuple(CONFIGURED), "moment": tuple(MOMENTS)},
        unit="gigabytes",
        device="cuda",
        words=MOMENTS | CONFIGURED,
    ),
    Family(
        "largest.{how}.cuda_batch",
        "largest batch of GPT-2 small with AdamW in 8 GB: {how}",
        {"how": tuple(UNDER)},
        unit="count",
        device="cuda",
        words=UNDER,
    ),
    Family(
        "laptop.{how}.cuda_steps",
        "of two steps of GPT-2 XL in 8 GB, those that end: {how}",
        {"how": tuple(LAPTOPS)},
        unit="count",
        device="cuda",
        words=LAPTOPS,
    ),
    Family(
        "laptop.{how}.cuda_peak",
        "memory that GPT-2 XL reaches in 8 GB: {how}",
        {"how": tuple(LAPTOPS)},
        unit="gigabytes",
        device="cuda",
        words=LAPTOPS,
    ),
    Family(
        "cuda_context",
        "GPU memory in use beyond what PyTorch holds: the driver's context, and other programs",
        unit="megabytes",
        device="cuda",
    ),
)
ENTRIES = names_of(FAMILIES)


class Meter(Protocol):
    """Reads how much memory is allocated, in bytes; tests bring their own."""

    def now(self) -> int:
        """What is allocated at this moment."""

    def peak(self) -> int:
        """The most that was allocated at once since ``reset_peak``."""

    def reset_peak(self) -> None:
        """Begin to look for the largest value anew."""

    def reserved(self) -> int:
        """What PyTorch holds of the device, allocated or not."""

    def free(self) -> int:
        """What nobody holds of the device."""


class CudaMeter:
    """Reads the counters of PyTorch's allocator; what was there when it was made counts as zero."""

    def __init__(self, gpu: torch.device) -> None:
        self.gpu = gpu
        self.before = memory_before(gpu)
        self.reset_peak()

    def now(self) -> int:
        """What is allocated at this moment."""
        torch.cuda.synchronize(self.gpu)
        return torch.cuda.memory_allocated(self.gpu) - self.before

    def peak(self) -> int:
        """The most that was allocated at once since ``reset_peak``."""
        torch.cuda.synchronize(self.gpu)
        return torch.cuda.max_memory_allocated(self.gpu) - self.before

    def reset_peak(self) -> None:
        """Begin to look for the largest value anew."""
        torch.cuda.synchronize(self.gpu)
        torch.cuda.reset_peak_memory_stats(self.gpu)

    def reserved(self) -> int:
        """What PyTorch holds of the device, the matrix library's share included."""
        return torch.cuda.memory_reserved(self.gpu)

    def free(self) -> int:
        """What nobody holds of the device."""
        return torch.cuda.mem_get_info(self.gpu)[0]


def meter_of(device: torch.device) -> Meter:
    """The meter of a GPU, after each regime has loaded its kernels.

    Raises:
        SkipPartError: On a device that keeps no such count.
    """
    if device.type != "cuda":
        raise SkipPartError("only a CUDA GPU counts its memory")
    for regime in REGIMES:
        Training(QUICK, Configuration("small", 1, regime, "adam", "none"), device).step()
    return CudaMeter(device)


def parts(plan: Plan) -> Iterator[Part]:
    """Each configuration; nothing without a GPU."""
    if plan.gpu is None:
        return
    chosen = CONFIGURATIONS[:3] if plan.quick else CONFIGURATIONS
    for c in chosen:
        expected_s = 1.0 if c.model == "small" else 2.5
        yield Part(c.name, partial(_measure, plan, plan.gpu, c), expected_s)
    yield Part("context", partial(_context, plan.gpu), expected_s=0.5)
    for c in UNDER_CAP[:1] if plan.quick else UNDER_CAP:
        name = f"largest.{c.regime}.{c.recompute}"
        yield Part(name, partial(_largest, plan, plan.gpu, c), expected_s=3)
    yield Part("laptop", partial(_laptop, plan, plan.gpu), expected_s=6)


class Training:
    """A GPT-2, its optimizer and a batch of made-up texts.

    Args:
        config: The sizes of the model.
        c: How it is trained.
        device: Where.
        made: Called when the model is there and nothing else.
    """

    def __init__(
        self,
        config: GPT2Config,
        c: Configuration,
        device: torch.device,
        made: Callable[[], object] = lambda: None,
    ) -> None:
        torch.manual_seed(SEED)
        self.c = c
        self.device = device
        self.model = build(config, c.regime, device, c.recompute)
        made()
        self.tokens = torch.randint(config.vocabulary, (c.batch, config.context), device=device)
        self.optimizer = OPTIMIZERS[c.optimizer](self.model.parameters())

    def forward(self) -> torch.Tensor:
        """The loss; its graph keeps the activations."""
        with precision(self.c.regime, self.device):
            return next_token_loss(self.model, self.tokens, self.tokens)

    def step(self) -> None:
        """One whole step, after which the gradients are freed."""
        self.forward().backward()
        self.optimizer.step()
        self.optimizer.zero_grad()


def phases(
    training: Callable[..., Training], meter: Meter
) -> tuple[dict[str, int], dict[str, int]]:
    """Read the meter at each moment of the second step.

    Args:
        training: Makes what is measured; ``made`` is to be called when the model is there.
        meter: Counts from zero, before the model is there.

    Returns:
        Bytes at each of ``MOMENTS``; and the peak within forward, backward and update.
    """
    found: dict[str, int] = {}
    made = training(made=lambda: found.update(model=meter.now()))
    made.step()  # the optimizer makes its state
    found["idle"] = meter.now()

    peaks = {}
    meter.reset_peak()
    loss = made.forward()
    found["forward"], peaks["forward"] = meter.now(), meter.peak()
    meter.reset_peak()
    loss.backward()
    found["backward"], peaks["backward"] = meter.now(), meter.peak()
    meter.reset_peak()
    made.optimizer.step()
    peaks["update"] = meter.peak()
    return found | {"peak": max(peaks.values()), "reserved": meter.reserved()}, peaks


def _measure(plan: Plan, gpu: torch.device, c: Configuration) -> dict[str, Entry]:
    meter = meter_of(gpu)
    free = meter.free()
    if c.peak_bytes > USABLE_SHARE * free and not plan.quick:
        raise SkipPartError(
            f"by the model its peak is {c.peak_bytes / 1e9:.1f} GB, more than "
            f"{100 * USABLE_SHARE:.0f} % of the {free / 1e9:.1f} GB that are free"
        )
    found, peaks = phases(partial(Training, _sizes(plan, c), c, gpu), meter)
    entries = {
        f"{c.name}.cuda_{phase}": _bytes(found[phase], gpu, c, seed=SEED) for phase in MOMENTS
    }
    peak = f"{c.name}.cuda_peak"
    entries[peak] = replace(entries[peak], outcome={n: float(size) for n, size in peaks.items()})
    return keep_predictions(CASE, entries)


def _sizes(plan: Plan, c: Configuration) -> GPT2Config:
    return QUICK if plan.quick else GPT2Config.of(c.arch)


def _bytes(value: int, gpu: torch.device, c: Configuration, **more: Any) -> Entry:
    settings = _settings(c) | more.pop("settings", {})
    return entry([float(value)], "bytes", device=gpu.type, settings=settings, **more)


def _settings(c: Configuration) -> dict[str, Any]:
    return asdict(c) | {"model": MODEL_NAMES[c.model], "dropout": 0.1}


def _context(gpu: torch.device) -> dict[str, Entry]:
    """What the driver counts as used beyond what PyTorch holds; other programs' share included."""
    meter_of(gpu)
    free, total = torch.cuda.mem_get_info(gpu)
    beyond = total - free - torch.cuda.memory_reserved(gpu)
    return {"cuda_context": entry([float(beyond)], "bytes", device=gpu.type)}


@dataclass(frozen=True)
class Attempt:
    """How far two training steps came.

    Attributes:
        steps: Steps that were completed.
        ended: In words, why there were no more.
        peak_bytes: The most that was allocated on the way.
    """

    steps: int
    ended: str
    peak_bytes: int

    @property
    def ran(self) -> bool:
        """Whether it could have gone on for ever."""
        return self.steps == STEPS


def attempt(config: GPT2Config, c: Configuration, device: torch.device, meter: Meter) -> Attempt:
    """Try ``STEPS`` steps, as far as the memory goes."""
    steps, doing = 0, "the model was built"
    meter.reset_peak()
    with unless_memory_lacks():
        training = Training(config, c, device)
        for _ in range(STEPS):
            doing = "forward"
            loss = training.forward()
            doing = "backward"
            loss.backward()
            doing = "update"
            training.optimizer.step()
            training.optimizer.zero_grad()
            synchronize(device)
            steps += 1
        return Attempt(steps, "ran", meter.peak())
    return Attempt(steps, f"out of memory in step {steps + 1}: {doing}", meter.peak())


@contextmanager
def capped(device: torch.device, most_bytes: int) -> Iterator[None]:
    """PyTorch may hold this much of the GPU and no more; afterwards as much as before.

    Raises:
        SkipPartError: If the GPU has less.
    """
    if device.type != "cuda":
        raise SkipPartError("only the memory of a CUDA GPU can be capped")
    total = torch.cuda.get_device_properties(device).total_memory
    if total < most_bytes:
        raise SkipPartError(f"the GPU has less than the {most_bytes / 1e9:.1f} GB of the cap")
    before = torch.cuda.get_per_process_memory_fraction()
    torch.cuda.set_per_process_memory_fraction(most_bytes / total)
    try:
        yield
    finally:
        torch.cuda.set_per_process_memory_fraction(before)


def largest_batch(peak_of: Callable[[int], int | None], most_bytes: int) -> int:
    """The largest batch that runs.

    Memory grows evenly with the batch, so two of them say about where the end is; from there on
    each batch is tried.

    Args:
        peak_of: The most bytes that a batch needed; None if it ran out of memory.
        most_bytes: What there is.

    Returns:
        Samples; 0 if not even one fits.
    """
    one, two = peak_of(1), peak_of(2)
    if one is None or two is None:
        return 0 if one is None else 1
    found = max(2, 1 + (most_bytes - one) // max(1, two - one))
    while peak_of(found) is None:
        found -= 1
    while peak_of(found + 1) is not None:
        found += 1
    return found


def _largest(plan: Plan, gpu: torch.device, c: Configuration) -> dict[str, Entry]:
    def peak_of(batch: int) -> int | None:
        if plan.quick and batch > 3:
            return None
        tried = _try(plan, gpu, Configuration(c.model, batch, c.regime, c.optimizer, c.recompute))
        return tried.peak_bytes if tried.ran else None

    with capped(gpu, CAP_BYTES):
        found = largest_batch(peak_of, 0 if plan.quick else CAP_BYTES)
    name = f"largest.{c.regime}.{c.recompute}.cuda_batch"
    settings = _settings(c) | {"cap_bytes": CAP_BYTES, "batch": found}
    measured = entry([float(found)], "samples", device=gpu.type, settings=settings)
    return keep_predictions(CASE, {name: measured})


def _laptop(plan: Plan, gpu: torch.device) -> dict[str, Entry]:
    """GPT-2 XL where only 8 GB may be used."""
    entries = {}
    with capped(gpu, CAP_BYTES):
        for c in LAPTOP:
            tried = _try(plan, gpu, c)
            more = {"cap_bytes": CAP_BYTES, "ended": tried.ended}
            name = f"laptop.{c.regime}.b{c.batch}.cuda"
            entries[f"{name}_steps"] = entry(
                [float(tried.steps)], "plain", device=gpu.type, settings=_settings(c) | more
            )
            entries[f"{name}_peak"] = _bytes(tried.peak_bytes, gpu, c, settings=more)
    return keep_predictions(CASE, entries)


def _try(plan: Plan, gpu: torch.device, c: Configuration) -> Attempt:
    """A new meter each time: it also clears away what the last attempt left."""
    return attempt(_sizes(plan, c), c, gpu, meter_of(gpu))
