"""Matrix products: what each device and number format reaches at each size."""

from collections.abc import Sequence

from lesson_site.charts.base import (
    NOTHING_MEASURED,
    Chart,
    Curve,
    measured_together,
    noise_warning,
    times,
)
from lesson_site.charts.description import DASHES, Below, Plane, Series, mark_of
from results.store import Store

BELOW = "n, of two n × n matrices"
SIZES = (64, 128, 256, 512, 1024, 2048, 4096, 8192)
SERIES = (
    ("CPU, float32", "cpu", 1),
    ("GPU, float32", "cuda_float32", 2),
    ("GPU, TF32", "cuda_tf32", 3),
    ("GPU, bfloat16", "cuda_bfloat16", 4),
    ("GPU, float16", "cuda_float16", 2),
)


def draw(store: Store) -> Chart:
    """Floating-point operations per second over the size of the matrices, both logarithmic."""
    source = measured_together(store, "matmul")
    curves = [_curve(source.store, label, name) for label, name, _ in SERIES]
    below = Below(BELOW, SIZES[0], SIZES[-1], [(n, f"{n:,}") for n in SIZES], log=True)
    series = [
        Series(curve.label, color, [(n, mark_of(rate)) for n, rate in curve.rates.items()], dash)
        for curve, (_, _, color), dash in zip(curves, SERIES, DASHES, strict=True)
    ]
    return Chart(
        "Speed of matrix products over their size",
        finding(curves),
        Plane(below, "FLOP/s", "flop_per_s", series, log=True),
        ("n", *(curve.label for curve in curves)),
        [
            (f"{n:,}", *(curve.rates.get(n, "not part of the job") for curve in curves))
            for n in SIZES
        ],
        source.where,
    )


def _curve(store: Store, label: str, name: str) -> Curve:
    """The rates that the catalogue lists; a CPU is spared the largest sizes."""
    named = {n: f"matmul.n_{n}.{name}_rate" for n in SIZES}
    return Curve(
        label, {n: store.figure(key) for n, key in named.items() if key in store.definitions}
    )


def finding(curves: Sequence[Curve]) -> str:
    """What size does to the CPU, where the GPU overtakes it, and what a shorter format gains."""
    cpu, gpu, *others = curves
    if not any(curve.measured for curve in curves):
        return NOTHING_MEASURED
    sentences = [_growth("CPU", cpu)] if cpu.measured else []
    if gpu.measured:
        sentences += [_overtaking(cpu, gpu), _formats(gpu, others)]
    noise = noise_warning([rate for curve in curves for rate in curve.rates.values()])
    return " ".join(filter(None, sentences)) + noise


def _growth(device: str, curve: Curve) -> str:
    """How much faster the best size goes than the smallest one."""
    first = min(curve.measured)
    best = max(curve.measured, key=lambda n: curve.measured[n])
    if best == first:
        return f"The {device} is fastest at the smallest size, {curve.rates[first].text}."
    gain = times(curve.measured[best] / curve.measured[first])
    return (
        f"The {device} reaches {curve.rates[best].text} at n = {best:,}, {gain} what it does at "
        f"n = {first:,}."
    )


def _overtaking(cpu: Curve, gpu: Curve) -> str:
    both = sorted(set(cpu.measured) & set(gpu.measured))
    losing = [n for n in both if gpu.measured[n] <= cpu.measured[n]]
    if not both:
        return ""
    if not losing:
        return f"In float32 the GPU is faster at every size, from n = {both[0]:,} on."
    if losing[-1] == both[-1]:
        return f"In float32 the GPU is not faster at n = {both[-1]:,}."
    first = next(n for n in both if n > losing[-1])
    return f"In float32 the GPU is faster from n = {first:,} on."


def _formats(gpu: Curve, others: Sequence[Curve]) -> str:
    """The quickest format at the largest size that it shares with float32."""
    shared = [
        (curve.measured[n] / gpu.measured[n], n, curve)
        for curve in others
        for n in [max(set(curve.measured) & set(gpu.measured), default=0)]
        if n
    ]
    if not shared:
        return ""
    gain, n, best = max(shared, key=lambda item: item[0])
    if gain < 1.1:
        return f"No other format is clearly faster at n = {n:,}."
    name = best.label.removeprefix("GPU, ")
    return f"At n = {n:,} {name} is {times(gain)} as fast as float32."
