"""Results that nobody measured, so that tests can see a chart in every state. For tests only."""

import math
import re
from functools import cache

import pytest

from results.entry import Entry, entry
from results.store import Figure, Result, Store, read_catalogue
from tests.lesson_site.test_figures import result

# The first pattern that fits an entry gives its value: seconds, bytes or percent.
VALUES: tuple[tuple[str, float], ...] = (
    (r"tiny_epoch:.*cuda", 0.004),
    (r"tiny_epoch:", 0.002),
    (r"mnist_epoch:cpu", 8.0),
    (r"mnist_epoch:loader_only", 6.0),
    (r"mnist_epoch:resident_cuda", 0.8),
    (r"mnist_epoch:cuda", 7.0),
    (r"mnist_epoch:", 2.0),
    (r"loader:workers_0", 6.0),
    (r"loader:workers_(\d)", 4.0),
    (r"_accuracy|\.accuracy", 97.2),
    (r"ladder:cpu_textbook", 10.0),
    (r"ladder:cpu_whole_epoch", 1.0),
    (r"ladder:cuda_textbook", 8.0),
    (r"ladder:cuda_whole_epoch", 0.02),
    (r"ladder:", 3.0),
    (r"copies:", 0.001),
    (r"float16_peak|checkpointed_peak", 1.2e9),
    (r"accumulated_peak", 2.1e9),
    (r"full.cuda_peak", 1.5e9),
    (r"peak", 2e9),
    (r"mixed_precision:mnist.*(cpu_b|_float16)", 0.0005),
    (r"mixed_precision:mnist", 0.0004),
    (r"(mixed_precision|cnn_step):.*_float16", 0.01),
    (r"(mixed_precision|cnn_step):", 0.04),
)


def results(kind: str) -> list[Result]:
    """Results of one kind: ``nothing``, ``cpu``, ``gpu`` (both devices) or ``noisy`` (both)."""
    if kind == "nothing":
        return []
    targets = {t for d in read_catalogue() for t in d.targets if not d.in_browser}
    if kind == "cpu":
        targets = {target for target in targets if "cuda" not in target}
    cases: dict[str, dict[str, Entry]] = {}
    for target in sorted(targets):
        case, _, name = target.partition(":")
        cases.setdefault(case, {})[name] = made_up_entry(target, noisy=kind == "noisy")
    return [result(cases, gpu=None if kind == "cpu" else "A GPU")]


@cache
def store(kind: str) -> Store:
    """The real catalogue with results of that kind; the same for all, so nobody may change it."""
    return Store(read_catalogue(), results(kind))


def made_up_entry(target: str, noisy: bool = False) -> Entry:
    """An entry of five samples around the value."""
    value = value_of(target)
    spread = 0.3 if noisy else 0.01
    unit = "percent" if "accuracy" in target else "bytes" if "peak" in target else "s"
    samples = [value * (1 + step * spread) for step in (-1, -0.5, 0, 0.5, 1)]
    return entry(samples, unit, device="cpu", amount=amount_of(target))


def value_of(target: str) -> float:
    """A value that looks like one of the kind, so that a chart looks like a chart."""
    matrix = re.match(r"matmul:n_(\d+)\.(\w+)", target)
    if matrix:
        n, arm = int(matrix[1]), matrix[2]
        peak = {"cpu": 1e11, "cuda_float32": 5e13, "cuda_tf32": 3e14}.get(arm, 6e14)
        return (1e-5 if "cuda" in arm else 1e-6) + 2 * n**3 / peak
    cell = re.match(r"step_sweep:width_(\d+)\.batch_(\d+)\.(\w+)", target)
    if cell:
        work = math.prod(map(int, cell.groups()[:2]))
        return 5e-4 + work / 1e10 if "cuda" in target else 1e-4 + work / 1e7
    step = re.match(r"race:width_(\d+)\.batch_(\d+)\.(\w+)", target)
    if step:
        work = int(step[1]) * int(step[2])
        return 8e-4 + work / 5e9 if "cuda" in target else 5e-4 + work / 1.5e7
    return next((value for pattern, value in VALUES if re.search(pattern, target)), 1.0)


def amount_of(target: str) -> float:
    """What an entry works through: FLOP of a product, bytes of a copy, images of an epoch."""
    matrix = re.match(r"matmul:n_(\d+)", target)
    if matrix:
        return 2.0 * int(matrix[1]) ** 3
    step = re.match(r"race:width_\d+\.batch_(\d+)", target)
    if step:
        return float(step[1])
    return 1e9 if target.startswith("copies:") else 60_000.0


def forecasts(monkeypatch: pytest.MonkeyPatch, seconds: float, times: float = 2.0) -> None:
    """Let every forecast be so long, with a band so many times up and down.

    An H100 takes a quarter of that.
    """
    known = Store.figure

    def figure(self: Store, name: str) -> Figure:
        if not name.startswith("forecast."):
            return known(self, name)
        value = seconds / 4 if ".h100." in name else seconds
        low, high = value / times, value * times
        band = f"{low:g} to {high:g} s"
        source = "from 27 operations of the step"
        text = f"{value:g} s"
        return Figure(name, name, value, text, source, "forecast", False, low, high, band)

    monkeypatch.setattr(Store, "figure", figure)
