"""What is computed from several measurements of one result file.

Each computation is here once; figures, charts, claims and a learner's own file share it. A
function takes the measured entries by case and name, and gives None where one that it needs is
missing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lesson_code.accounting import batches_per_epoch, dataset_bytes, linear_layers_training_flop
from results.entry import Entry
from results.summary import Estimate, ratio

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


def sweep_cells(entries: Mapping[str, Entry]) -> list[Cell]:
    """The cells of a ``step_sweep`` case, by width and then by batch size."""
    by_cell: dict[tuple[int, int], dict[str, Estimate]] = {}
    for entry in entries.values():
        key = entry.at["width"], entry.at["batch"]
        by_cell.setdefault(key, {})[entry.device] = entry.estimate()
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
    products = [e.rate() for e in entries.get("matmul", {}).values() if e.device == device]
    fastest = max((rate.value for rate in products if rate), default=None)
    copy = entries.get("copies", {}).get(f"{device}_copy")
    copied = copy.rate() if copy else None
    if rung is None or not rung.amount or copied is None or fastest is None:
        return None
    samples = round(rung.amount)
    arithmetic_s = linear_layers_training_flop([784, 256, 128, 10], samples) / fastest
    pixels_s = dataset_bytes(samples, 784, bytes_per_element=1) / copied.value
    return max(arithmetic_s, pixels_s)


def ladder_distance(entries: Entries, rung: str) -> float | None:
    """How many times as long as its limit an epoch of a rung takes."""
    limit_s = ladder_limit(entries, rung.partition("_")[0])
    entry = entries.get("ladder", {}).get(rung)
    return None if limit_s is None or entry is None else entry.estimate().value / limit_s


def outcome(entries: Entries, case: str, entry: str, name: str) -> float | None:
    """What the timed work of an entry reached, such as the error of a product."""
    found = entries.get(case, {}).get(entry)
    return None if found is None else found.outcome.get(name)


def epoch_of_steps(
    entries: Entries, case: str, entry: str, samples: int, batch_size: int
) -> float | None:
    """Seconds of an epoch of steps that each take what one took; loading is left out.

    Args:
        entries: The measured entries.
        case: The case that measured a step.
        entry: The step.
        samples: Samples of the epoch.
        batch_size: Of the step, and of all but the last one.
    """
    step = entries.get(case, {}).get(entry)
    return None if step is None else batches_per_epoch(samples, batch_size) * step.median


def time_of_a_launch(entries: Entries, case: str, entry: str, launches: int) -> Estimate | None:
    """Seconds of a measured step for each kernel that it launches; None if it was not measured.

    Args:
        entries: The measured entries.
        case: The case that measured the step.
        entry: The step, on a GPU and in float32.
        launches: How many it launches.
    """
    measured = entries.get(case, {}).get(entry)
    if measured is None:
        return None
    step = measured.estimate()
    return Estimate(step.value / launches, step.spread / launches, step.noisy)


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


def race_times(entries: Entries, width: int, device: str) -> dict[int, float]:
    """Seconds of a step of PyTorch in the race, by batch size.

    Args:
        entries: The measured entries.
        width: Units of the first hidden layer.
        device: ``cpu`` or ``cuda``.
    """
    return {
        entry.at["batch"]: entry.median
        for entry in entries.get("race", {}).values()
        if entry.at.get("width") == width and entry.device == device
    }


def smallest_winning_batch(entries: Entries, width: str) -> int | None:
    """The batch from which on PyTorch's step in the race is faster on the GPU; None if it never is.

    Args:
        entries: The measured entries.
        width: Units of the first hidden layer.
    """
    cpu, cuda = (race_times(entries, int(width), device) for device in ("cpu", "cuda"))
    return smallest_winning_size(cpu, cuda)


FUNCTIONS: dict[str, Callable[..., float | Estimate | None]] = {
    "smallest_winning_width": _sweep(smallest_winning_width),
    "largest_speedup": _sweep(largest_speedup),
    "smallest_speedup": _sweep(smallest_speedup),
    "ladder_limit": ladder_limit,
    "ladder_distance": ladder_distance,
    "outcome": outcome,
    "epoch_of_steps": epoch_of_steps,
    "time_of_a_launch": time_of_a_launch,
    "smallest_winning_batch": smallest_winning_batch,
}
