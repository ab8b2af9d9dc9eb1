"""Where the time of a training iteration goes, with and without prefetching.

GPT-2 small reads a made-up corpus whose texts cost CPU work: as much as makes the loader take
40 % of an iteration in float32. Each format trains with a loader that works between the steps, and
with workers, pinned memory and non-blocking copies. Runs are timed undisturbed; in one more, which
waits for the GPU before each fetch, PyTorch's profiler says what the GPU did and when. All shares
are of that one run, so that they can be held against each other.
"""

import functools
import json
import os
import re
import tempfile
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile, record_function
from torch.utils.data import DataLoader, Dataset

from benchmarks.cases import IncompletePartError, Part, Plan
from benchmarks.cases.utilisation import peak_product
from benchmarks.method import in_turn, measure
from lesson_code.devices import float32_products, synchronize
from lesson_code.mission.choices import Recompute
from lesson_code.mission.gpt2 import (
    GPT2_SMALL,
    GPT2Config,
    Regime,
    build,
    next_token_loss,
    precision,
    step_flops,
)
from lesson_code.timing import time_repeatedly
from results.cases import Family, names_of
from results.entry import Entry, entry
from results.predictions import LOADERS, ORDER, RUNS, broken_order, keep_predictions

BATCH_SIZE, QUICK_BATCH_SIZE = 8, 2
QUICK = GPT2Config(layers=1, width=32, heads=2, vocabulary=64, context=16)
DATA_SHARE = 0.4  # of an iteration in float32 that does not prefetch
WARMUPS, TIMED, DIAGNOSED, ROUNDS = 2, 10, 5, 2  # iterations of a run, and timed runs
QUICK_TIMED, QUICK_DIAGNOSED = 2, 2
WORKERS, PREFETCH_FACTOR = 8, 2
SEED = 0
# What cuBLAS, cuDNN and the attention kernels call themselves.
MATRIX_KERNELS = re.compile("gemm|gemv|nvjet|xmma|cutlass|splitk|flash|fmha|attention", re.I)

Interval = tuple[float, float]
Event = Mapping[str, Any]


@dataclass(frozen=True)
class Format:
    """What products are computed in."""

    regime: Regime
    dtype: torch.dtype
    tf32: bool = False


FORMATS = {
    "float32": Format("fp32", torch.float32),
    "tf32": Format("fp32", torch.float32, tf32=True),
    "bfloat16": Format("autocast", torch.bfloat16),
}
SHARES = {
    "data": "share of an iteration in which the loop waits for data",
    "compute": "share of an iteration in which matrix products and attention run",
    "transfer": "share of an iteration in which only other kernels and copies run",
    "idle": "share of an iteration in which neither data come nor the GPU works",
    "utilisation": "share of an iteration in which any kernel runs",
    "mfu": "model FLOP utilisation",
    "hfu": "hardware FLOP utilisation, recomputation included",
}
RUN_WORDS = {
    "float32.none": "float32",
    "tf32.none": "TF32",
    "bfloat16.none": "bfloat16",
    "bfloat16.full": "bfloat16, every block recomputed",
}
LOADER_WORDS = {"plain": "no prefetching", "prefetch": "prefetching"}
AT = {"run": tuple(f"{format}.{recompute}" for format, recompute in RUNS), "loader": LOADERS}
FAMILIES = (
    Family(
        "{run}.cuda_peak",
        "the large matrix product beside GPT-2 small, {run}",
        {"run": AT["run"]},
        device="cuda",
        words=RUN_WORDS,
    ),
    Family(
        "{run}.{loader}.cuda_iteration",
        "an iteration: GPT-2 small, {run}, {loader}",
        AT,
        device="cuda",
        words=RUN_WORDS | LOADER_WORDS,
        rate="samples_per_s",
        counts="tokens",
        rate_figure="pipeline.{run}.{loader}.cuda_tokens",
    ),
    *(
        Family(
            f"{{run}}.{{loader}}.cuda_{share}",
            f"{words}: GPT-2 small, {{run}}, {{loader}}",
            AT,
            unit="percent",
            device="cuda",
            words=RUN_WORDS | LOADER_WORDS,
        )
        for share, words in SHARES.items()
    ),
)
ENTRIES = names_of(FAMILIES)


@dataclass(frozen=True)
class Sizes:
    """How much is run: the real thing, or a short trial of it."""

    config: GPT2Config
    batch: int
    timed: int
    diagnosed: int


def _sizes(plan: Plan) -> Sizes:
    if plan.quick:
        return Sizes(QUICK, QUICK_BATCH_SIZE, QUICK_TIMED, QUICK_DIAGNOSED)
    return Sizes(GPT2_SMALL, BATCH_SIZE, TIMED, DIAGNOSED)


def parts(plan: Plan) -> Iterator[Part]:
    """Each format; both loaders take turns. Nothing without a GPU."""
    if plan.gpu:
        for format, recompute in RUNS:
            run = partial(_compare, plan, plan.gpu, format, recompute)
            expected_s = 20.0 if format == "float32" else 12.0
            yield Part(f"{format}.{recompute}", run, expected_s)


class Corpus(Dataset[torch.Tensor]):
    """Made-up texts; reading one costs as much work of the CPU as is asked for.

    Args:
        config: Says how long a text is and how many tokens there are.
        texts: How many texts.
        work: How often each is compressed, in place of cleaning and splitting real text.
    """

    def __init__(self, config: GPT2Config, texts: int, work: int) -> None:
        self.config = config
        self.texts = texts
        self.work = work

    def __len__(self) -> int:
        return self.texts

    def __getitem__(self, index: int) -> torch.Tensor:
        """A text and the token after it, (S + 1,), int64."""
        if index >= self.texts:
            raise IndexError(f"text {index} of {self.texts}")
        generator = torch.Generator().manual_seed(index)
        length = self.config.context + 1
        tokens = torch.randint(self.config.vocabulary, (length,), generator=generator)
        document = tokens.numpy().tobytes()
        for _ in range(self.work):
            zlib.compress(document)
        return tokens


class Training:
    """A GPT-2 that is trained, one iteration at a time."""

    def __init__(
        self, config: GPT2Config, format: Format, recompute: Recompute, device: torch.device
    ) -> None:
        torch.manual_seed(SEED)
        self.format = format
        self.device = device
        self.model = build(config, format.regime, device, recompute)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4, fused=True)

    def iteration(self, batches: Iterator[torch.Tensor], non_blocking: bool) -> float:
        """Fetch, copy, compute, update, and read the loss, which waits for the GPU."""
        with record_function("fetch"):
            texts = next(batches)
        return self.step(texts.to(self.device, non_blocking=non_blocking))

    def step(self, texts: torch.Tensor) -> float:
        """Everything but the data; ``texts`` (B, S + 1) lies on the device."""
        self.optimizer.zero_grad()
        with precision(self.format.regime, self.device):
            loss = next_token_loss(self.model, texts[:, :-1], texts[:, 1:])
        loss.backward()
        self.optimizer.step()
        return float(loss.item())


def _compare(plan: Plan, gpu: torch.device, name: str, recompute: Recompute) -> dict[str, Entry]:
    format, sizes = FORMATS[name], _sizes(plan)
    peak_arm = {f"{name}.{recompute}.cuda_peak": peak_product(plan, gpu, format.dtype, format.tf32)}
    entries = measure(peak_arm, plan.repetitions, warmups=3)
    [peak] = entries.values()

    work = work_for_share(sizes, gpu)
    training = Training(sizes.config, format, recompute, gpu)
    loaders = {loader: _loader(sizes, work, gpu, loader) for loader in LOADERS}
    seconds: dict[str, list[float]] = {loader: [] for loader in LOADERS}
    traces: dict[str, list[Event]] = {}
    with float32_products(format.tf32):
        for number in range(ROUNDS):
            for loader, batches in in_turn(loaders, number):
                seconds[loader] += _timed(training, batches, sizes, loader)
        for loader in LOADERS:
            traces[loader] = _diagnosed(training, loaders[loader], sizes, loader)

    peak_flop_per_s = peak.amount / peak.median
    at_peak_s = {
        "mfu": step_flops(sizes.config, sizes.batch) / peak_flop_per_s,
        "hfu": step_flops(sizes.config, sizes.batch, recompute) / peak_flop_per_s,
    }
    for loader in LOADERS:
        entries[f"{name}.{recompute}.{loader}.cuda_iteration"] = entry(
            seconds[loader],
            "s",
            device=gpu.type,
            seed=SEED,
            amount=float(sizes.batch * sizes.config.context),
            settings=_settings(sizes, format, recompute, loader, work),
        )
    found = {loader: shares(traces[loader], kind_of, at_peak_s) for loader in LOADERS}
    for loader in LOADERS:
        if not any(found[loader]["compute"]):
            raise IncompletePartError(entries, "the profiler saw no matrix product on the GPU")
        wrong = broken_order({what: median(found[loader][what]) for what in (*ORDER, "data")})
        if wrong:
            raise ValueError(wrong)
        settings = _settings(sizes, format, recompute, loader, work)
        for what in SHARES:
            entries[f"{name}.{recompute}.{loader}.cuda_{what}"] = entry(
                found[loader][what], "percent", device=gpu.type, settings=settings
            )
    return keep_predictions("pipeline", entries)


def _settings(
    sizes: Sizes, format: Format, recompute: Recompute, loader: str, work: int
) -> dict[str, Any]:
    prefetches = loader == "prefetch"
    return {
        "model": "GPT-2 small",
        "batch_size": sizes.batch,
        "regime": format.regime,
        "tf32": format.tf32,
        "recompute": recompute,
        "workers": _workers(loader),
        "prefetch_factor": PREFETCH_FACTOR if prefetches else None,
        "pin_memory": prefetches,
        "non_blocking": prefetches,
        "work_per_text": work,
    }


@functools.cache
def work_for_share(sizes: Sizes, device: torch.device) -> int:
    """The work for each text with which a float32 iteration spends 40 % of its time on data.

    Found once for all formats: what a text costs does not depend on how the GPU computes.
    """
    training = Training(sizes.config, FORMATS["float32"], "none", device)
    texts = torch.zeros(sizes.batch, sizes.config.context + 1, dtype=torch.int64, device=device)
    with float32_products(tf32=False):
        step_s = median(time_repeatedly(lambda: training.step(texts), device, 3, warmup=2))
    some = 20
    reading = partial(Corpus(sizes.config, 1, some).__getitem__, 0)
    once_s = median(time_repeatedly(reading, torch.device("cpu"), 5)) / some
    wanted_s = DATA_SHARE / (1 - DATA_SHARE) * step_s / sizes.batch
    return max(1, round(wanted_s / once_s))


def _workers(loader: str) -> int:
    return min(WORKERS, os.cpu_count() or 1) if loader == "prefetch" else 0


def _loader(sizes: Sizes, work: int, gpu: torch.device, loader: str) -> DataLoader[torch.Tensor]:
    workers = _workers(loader)
    corpus = Corpus(sizes.config, sizes.batch * (WARMUPS + sizes.timed), work)
    return DataLoader(
        corpus,
        sizes.batch,
        num_workers=workers,
        prefetch_factor=PREFETCH_FACTOR if workers else None,
        persistent_workers=workers > 0,
        pin_memory=workers > 0 and gpu.type == "cuda",
    )


def _timed(
    training: Training, loader: Iterable[torch.Tensor], sizes: Sizes, name: str
) -> list[float]:
    """Seconds of each iteration after the warm-up; each ends when its loss has been read."""
    batches = iter(loader)
    seconds = []
    for _ in range(WARMUPS + sizes.timed):
        began = time.perf_counter()
        training.iteration(batches, non_blocking=name == "prefetch")
        seconds.append(time.perf_counter() - began)
    return seconds[WARMUPS:]


def _diagnosed(
    training: Training, loader: Iterable[torch.Tensor], sizes: Sizes, name: str
) -> list[Event]:
    """The profiler's events of a run that waits for the GPU before each fetch."""
    activities = [ProfilerActivity.CPU]
    if training.device.type == "cuda":
        activities.append(ProfilerActivity.CUDA)
    batches = iter(loader)
    with profile(activities=activities) as profiler:
        for number in range(WARMUPS + sizes.diagnosed):
            synchronize(training.device)
            with record_function("warmup" if number < WARMUPS else "iteration"):
                training.iteration(batches, non_blocking=name == "prefetch")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        profiler.export_chrome_trace(str(path))
        events: list[Event] = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    return events


def kind_of(event: Event) -> str | None:
    """What the GPU does in this event: ``matrix``, another ``kernel``, a ``copy``, or nothing."""
    category = event.get("cat")
    if category == "kernel":
        return "matrix" if MATRIX_KERNELS.search(event["name"]) else "kernel"
    return "copy" if category in ("gpu_memcpy", "gpu_memset") else None


def covered(intervals: Iterable[Interval], within: Interval) -> float:
    """How much of ``within`` the intervals cover together; what two cover counts once."""
    total, reached = 0.0, within[0]
    for start, end in sorted(intervals):
        start, end = max(start, reached), min(end, within[1])
        if end > start:
            total += end - start
            reached = end
    return total


def shares(
    events: Iterable[Event],
    kind: Callable[[Event], str | None],
    at_peak_s: Mapping[str, float],
) -> dict[str, list[float]]:
    """What each iteration's time went into, in percent of it.

    Args:
        events: Of a trace in Chrome's format; ``iteration`` and ``fetch`` are annotated.
        kind: Says what the GPU does in an event.
        at_peak_s: What the arithmetic of an iteration would take at the GPU's peak: ``mfu`` for
            the model's, ``hfu`` with what is computed a second time.

    Returns:
        For each iteration ``data``, the host fetching; ``compute``, matrix products and attention;
        ``transfer``, all other kernels and copies while none of those ran; ``idle``, the rest;
        ``utilisation``, any kernel running; and the shares of ``at_peak_s``.
    """
    spans: dict[str, list[Interval]] = {}
    for event in events:
        if "dur" not in event:
            continue
        annotated = event["name"] if event.get("cat") == "user_annotation" else None
        label = annotated or kind(event)
        if label:
            spans.setdefault(label, []).append((event["ts"], event["ts"] + event["dur"]))
    matrix, copies, fetches = (spans.get(label, []) for label in ("matrix", "copy", "fetch"))
    kernels = matrix + spans.get("kernel", [])

    found: dict[str, list[float]] = {what: [] for what in SHARES}
    for wall in sorted(spans.get("iteration", [])):
        percent = 100 / (wall[1] - wall[0])
        data, compute = covered(fetches, wall) * percent, covered(matrix, wall) * percent
        busy = covered(kernels + copies, wall) * percent
        iteration = {
            "data": data,
            "compute": compute,
            "transfer": busy - compute,
            "idle": max(0.0, 100 - data - busy),
            "utilisation": covered(kernels, wall) * percent,
            **{what: 1e6 * seconds * percent for what, seconds in at_peak_s.items()},
        }
        for what, value in iteration.items():
            found[what].append(value)
    return found
