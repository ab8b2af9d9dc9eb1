"""The race of the lesson's model: samples a second over the batch, in PyTorch and in a browser."""

from collections.abc import Sequence

from lesson_site.charts.base import (
    ALIKE,
    CARD,
    NOTHING_MEASURED,
    Chart,
    Curve,
    Source,
    is_forecast,
    measured_together,
    noise_warning,
    times,
)
from lesson_site.charts.description import CARD as CARD_PLACE
from lesson_site.charts.description import DASHES, Below, Plane, Series, mark_of
from results.derived import smallest_winning_size
from results.store import Store

WIDTH = 256  # the lesson's own model
BELOW = "Batch size"
LEFT = "Samples per second"
NO_BROWSER = "No browser’s race is recorded here; yours can be drawn here."
# What the curves are called, their racer, and colour and dash: the device's, and the software's.
SERIES = (
    ("CPU, PyTorch", "cpu", 1, 0),
    ("GPU, PyTorch", "cuda", 2, 0),
    ("CPU, in a browser", "browser_cpu", 1, 3),
    ("GPU, in a browser", "browser_gpu", 2, 3),
)


def draw(store: Store, card: str = CARD) -> Chart:
    """Samples per second over the batch size, both logarithmic."""
    sizes = _batch_sizes(store)
    pytorch, browser = (_source(store, in_browser, card) for in_browser in (False, True))
    curves = [
        _curve(browser if "browser" in racer else pytorch, label, racer, sizes)
        for label, racer, _, _ in SERIES
    ]
    below = Below(BELOW, sizes[0], sizes[-1], [(size, f"{size:,}") for size in sizes], log=True)
    series = [
        Series(
            curve.label,
            color,
            [(at, mark_of(rate)) for at, rate in curve.rates.items()],
            DASHES[dash],
        )
        for curve, (_, _, color, dash) in zip(curves, SERIES, strict=True)
    ]
    return Chart(
        "Training steps of the lesson’s model: samples per second over the batch size",
        finding(curves).replace(CARD_PLACE, pytorch.card_name),
        Plane(below, LEFT, "short_count", series, log=True, card=pytorch.card_name),
        (BELOW, *(curve.label for curve in curves)),
        [(f"{size:,}", *(curve.rates[size] for curve in curves)) for size in sizes],
        " ".join(
            [pytorch.where, *(f"In a browser: {r.where}." for r in browser.store.results)]
        ).strip(),
    )


def _batch_sizes(store: Store) -> list[int]:
    """The batch sizes that the catalogue lists."""
    begin = f"race.width_{WIDTH}.batch_"
    return sorted(
        {int(d.member["batch"]) for d in store.definitions.values() if d.name.startswith(begin)}
    )


def _source(store: Store, in_browser: bool, card: str) -> Source:
    """One file for PyTorch and one for browsers: no curve mixes two, and each is named."""
    return measured_together(store.only(in_browser), "race", card=card)


def _curve(source: Source, label: str, racer: str, sizes: Sequence[int]) -> Curve:
    names = [f"race.width_{WIDTH}.batch_{size}.{racer}" for size in sizes]
    of_card = [
        f"forecast.race_{WIDTH}_{size}.float32.card.sent_rate" if racer == "cuda" else ""
        for size in sizes
    ]
    rates = source.or_forecasts(names, of_card)
    named = label.replace("GPU", CARD_PLACE) if is_forecast(rates) else label
    return Curve(named, dict(zip(sizes, rates, strict=True)))


def finding(curves: Sequence[Curve]) -> str:
    """What the batch does to PyTorch on a CPU, and where each pair's GPU overtakes its CPU."""
    if not any(curve.measured for curve in curves):
        return NOTHING_MEASURED
    cpu, gpu, browser_cpu, browser_gpu = curves
    sentences = [_growth(cpu) if cpu.measured else "", _crossing("In PyTorch", cpu, gpu)]
    if browser_cpu.measured or browser_gpu.measured:
        sentences.append(_crossing("In the browser", browser_cpu, browser_gpu))
    else:
        sentences.append(NO_BROWSER)
    noise = noise_warning([rate for curve in curves for rate in curve.rates.values()])
    return " ".join(filter(None, sentences)) + noise


def _growth(cpu: Curve) -> str:
    first, best = min(cpu.measured), max(cpu.measured, key=lambda size: cpu.measured[size])
    if best == first:
        return f"PyTorch on the CPU gets through most samples at batch size {first:,}."
    gain = times(cpu.measured[best] / cpu.measured[first])
    return (
        f"PyTorch on the CPU gets through most samples at batch size {best:,}, "
        f"{cpu.rates[best].text} and {gain} as many as at {first:,}."
    )


def _crossing(where: str, cpu: Curve, gpu: Curve) -> str:
    """From which batch size on a GPU is faster than the CPU beside it."""
    if not gpu.measured:
        return ""
    both = cpu.measured.keys() & gpu.measured.keys()
    if not both:
        return ""
    if is_forecast(list(gpu.rates.values())):
        return _forecast_crossing(cpu, gpu)
    seconds = [{size: size / rate for size, rate in c.measured.items()} for c in (cpu, gpu)]
    first = smallest_winning_size(*seconds)
    if first is None:
        return f"{where} the GPU is not faster at batch size {max(both):,}."
    cpu_s, gpu_s = (measured[first] for measured in seconds)
    if cpu_s / gpu_s < ALIKE and first < max(both):
        return f"{where} the GPU is about as fast at batch size {first:,}, and faster above it."
    if first == min(both):
        return f"{where} the GPU is faster at every batch size, from {first:,} on."
    return f"{where} the GPU is faster from batch size {first:,} on."


def _forecast_crossing(cpu: Curve, gpu: Curve) -> str:
    """From which batch size on the whole band lies above the CPU beside it."""
    ahead: list[int] = []
    for size in sorted(cpu.measured):
        surely = (gpu.rates[size].low or 0) > cpu.measured[size]
        ahead = [*ahead, size] if surely else []
    if not ahead:
        return f"By forecast the {CARD_PLACE} is at no size surely ahead of this CPU."
    where = f"from batch size {ahead[0]:,} on"
    return f"By forecast the {CARD_PLACE} is ahead of this CPU over its whole band {where}."
