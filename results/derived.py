"""What is computed from several measurements of one result file.

Each computation stands here once; figures, charts, claims and a learner's own file share it. A
function takes the measured entries by case and name, and gives None where one that it needs is
missing.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lesson_code.accounting import dataset_bytes, linear_layers_training_flop
from results.summary import Entry, Estimate, estimate, rate, ratio

CELL = re.compile(r"width_(?P<width>\d+)\.batch_(?P<batch>\d+)\.(?P<device>cpu|cuda)")
RACED = re.compile(r"width_(?P<width>\d+)\.batch_(?P<batch>\d+)\.(?P<racer>\w+)")

Entries = dict[str, dict[str, Entry]]


@dataclass(frozen=True)
class Cell:
    """One cell of the sweep over model width and batch size.

    Attributes:
        width: Units of the hidden layers.
        batch_size: Samples in a batch.
        cpu: Seconds per training step on the CPU.
        cuda: The same on the GPU; None if that was not measured.
    """

    width: int
    batch_size: int
    cpu: Estimate
    cuda: Estimate | None

    @property
    def speedup(self) -> float | None:
        """CPU time divided by GPU time: above one the GPU wins."""
        return None if self.cuda is None else ratio(self.cpu, self.cuda).value


def sweep_cells(entries: dict[str, Entry]) -> list[Cell]:
    """The cells of a ``step_sweep`` case, by width and then by batch size."""
    by_cell: dict[tuple[int, int], dict[str, Estimate]] = {}
    for name, entry in entries.items():
        found = CELL.fullmatch(name)
        if found:
            key = int(found["width"]), int(found["batch"])
            by_cell.setdefault(key, {})[found["device"]] = estimate(entry)
    return [
        Cell(width, batch, devices["cpu"], devices.get("cuda"))
        for (width, batch), devices in sorted(by_cell.items())
        if "cpu" in devices
    ]


def smallest_winning_width(cells: Sequence[Cell], batch_size: int) -> int | None:
    """The smallest width from which on the GPU wins at this batch size; None if it never does."""
    alike = [cell for cell in cells if cell.batch_size == batch_size]
    return smallest_winning_size(
        {cell.width: cell.cpu.value for cell in alike},
        {cell.width: cell.cuda.value for cell in alike if cell.cuda},
    )


def largest_speedup(cells: Sequence[Cell]) -> float | None:
    """The GPU's best ratio in the sweep; None if no cell has one."""
    return max((cell.speedup for cell in cells if cell.speedup is not None), default=None)


def smallest_speedup(cells: Sequence[Cell]) -> float | None:
    """The GPU's worst ratio in the sweep; None if no cell has one."""
    return min((cell.speedup for cell in cells if cell.speedup is not None), default=None)


def _sweep(function: Callable[..., float | None]) -> Callable[..., float | None]:
    def of_entries(entries: Entries, **arguments: int) -> float | None:
        return function(sweep_cells(entries.get("step_sweep", {})), **arguments)

    return of_entries


def ladder_limit(entries: Entries, device: str) -> float | None:
    """Seconds below which no epoch of the speed ladder can come on this machine.

    The arithmetic that training cannot avoid, at the fastest matrix product that was measured here;
    or the images' pixels, read once, at the speed of a large copy (which counts bytes read and
    bytes written); whichever takes longer.

    Args:
        entries: The measured entries.
        device: ``cpu`` or ``cuda``.
    """
    rung = entries.get("ladder", {}).get(f"{device}_textbook")
    products = [rate(e).value for e in entries.get("matmul", {}).values() if e["device"] == device]
    copy = entries.get("copies", {}).get(f"{device}_copy")
    if rung is None or copy is None or not products:
        return None
    samples = round(rung["amount"])
    arithmetic_s = linear_layers_training_flop([784, 256, 128, 10], samples) / max(products)
    pixels_s = dataset_bytes(samples, 784, bytes_per_element=1) / rate(copy).value
    return max(arithmetic_s, pixels_s)


def ladder_distance(entries: Entries, rung: str) -> float | None:
    """How many times as long as its limit an epoch of a rung takes."""
    limit_s = ladder_limit(entries, rung.partition("_")[0])
    entry = entries.get("ladder", {}).get(rung)
    return None if limit_s is None or entry is None else estimate(entry).value / limit_s


def outcome(entries: Entries, case: str, entry: str, name: str) -> float | None:
    """What the timed work of an entry reached, such as the error of a product."""
    found = entries.get(case, {}).get(entry, {}).get("outcome", {}).get(name)
    return None if found is None else float(found)


def smallest_winning_product(entries: Entries, arm: str) -> float | None:
    """The size from which on a GPU's matrix products are faster than the CPU's; None if none is.

    Args:
        entries: The measured entries.
        arm: The GPU's entry without its size, such as ``cuda_float32``.
    """
    of = entries.get("matmul", {})
    sizes = sorted(int(name[2:-4]) for name in of if name.endswith(".cpu"))
    winning = None
    for n in reversed(sizes):
        cpu, gpu = of[f"n_{n}.cpu"], of.get(f"n_{n}.{arm}")
        if gpu is None or gpu["median"] >= cpu["median"]:
            break
        winning = n
    return winning


def smallest_winning_size(cpu: Mapping[int, float], gpu: Mapping[int, float]) -> int | None:
    """The size from which on the GPU takes less time at every size that both measured, or None.

    Args:
        cpu: Seconds by size.
        gpu: The same of the GPU.
    """
    winning = None
    for size in sorted(cpu.keys() & gpu.keys(), reverse=True):
        if gpu[size] >= cpu[size]:
            break
        winning = size
    return winning


def race_times(entries: Entries, width: int, racer: str) -> dict[int, float]:
    """Seconds of a step of one racer, by batch size.

    Args:
        entries: The measured entries.
        width: Units of the first hidden layer.
        racer: ``cpu``, ``cuda``, ``browser_cpu`` or ``browser_gpu``.
    """
    found = {name: RACED.fullmatch(name) for name in entries.get("race", {})}
    return {
        int(match["batch"]): entries["race"][name]["median"]
        for name, match in found.items()
        if match and (int(match["width"]), match["racer"]) == (width, racer)
    }


def smallest_winning_batch(entries: Entries, width: str) -> int | None:
    """The batch from which on PyTorch's step in the race is faster on the GPU; None if it never is.

    Args:
        entries: The measured entries.
        width: Units of the first hidden layer.
    """
    cpu, cuda = (race_times(entries, int(width), racer) for racer in ("cpu", "cuda"))
    return smallest_winning_size(cpu, cuda)


FUNCTIONS: dict[str, Callable[..., float | None]] = {
    "smallest_winning_width": _sweep(smallest_winning_width),
    "largest_speedup": _sweep(largest_speedup),
    "smallest_speedup": _sweep(smallest_speedup),
    "ladder_limit": ladder_limit,
    "ladder_distance": ladder_distance,
    "outcome": outcome,
    "smallest_winning_product": smallest_winning_product,
    "smallest_winning_batch": smallest_winning_batch,
}
