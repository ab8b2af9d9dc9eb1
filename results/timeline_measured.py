"""Training loops that were measured on a CPU, beside what the timeline says of them.

``python -m benchmarks.timeline`` measures: each part of a loop alone, and the loops.
"""

import json
import statistics
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from lesson_code.timeline.simulation import Kernel, Loop, simulate
from results.forecasts import MNIST_IMAGES
from results.store import open_store
from results.timeline import Own, TimelineError

FILE = Path("results/timeline_measured.json")
ASSUMED_LOAD = 1e-4  # seconds for an image, where no run of ours has measured it


@dataclass(frozen=True)
class Setting:
    """A training loop on the CPU.

    Attributes:
        images: How they are prepared: by waiting (``sleep``) or by working (``work``).
        load: Seconds of it, for a batch.
        batch: Images of a batch.
        workers: Processes that prepare them.
    """

    images: str
    load: float
    batch: int
    workers: int


@dataclass(frozen=True)
class Measured:
    """A loop, the parts that were measured alone, and what it took.

    Attributes:
        setting: The loop.
        steps: Steps of each sample.
        loads: Seconds in which a batch is prepared, each sample.
        computes: Seconds of a step whose batch is there already.
        hands: Seconds in which Python takes over a batch that a worker has ready.
        loops: Seconds of a step of the whole loop.
    """

    setting: Setting
    steps: int
    loads: tuple[float, ...]
    computes: tuple[float, ...]
    hands: tuple[float, ...]
    loops: tuple[float, ...]

    @property
    def seconds(self) -> float:
        """What a step of the loop took: the fastest sample, while nobody else computed."""
        return min(self.loops)

    @property
    def simulated(self) -> float:
        """What the timeline says of it, from the fastest samples of its parts."""
        load, compute, hand = map(min, (self.loads, self.computes, self.hands))
        kernels = (Kernel("forward", compute),)
        loop = Loop(kernels, load=load, workers=self.setting.workers, hand=hand, on_cpu=True)
        return max(block.end for block in simulate(loop, self.steps).blocks) / self.steps

    @property
    def error(self) -> float:
        """How far apart they are, as a factor of at least one."""
        return max(self.seconds / self.simulated, self.simulated / self.seconds)

    @property
    def spread(self) -> float:
        """The longest sample divided by the shortest."""
        return max(self.loops) / min(self.loops)


def write_measured(
    measured: Iterable[Measured], provenance: dict[str, Any], path: Path = FILE
) -> None:
    """Write the loops, one a line, in one piece.

    Raises:
        OSError: If the file can't be written.
    """
    lines = ",\n".join(json.dumps(asdict(one)) for one in measured)
    draft = path.with_suffix(".new")
    head = f'{{"version": 1, "provenance": {json.dumps(provenance)}, "loops": [\n'
    draft.write_text(f"{head}{lines}\n]}}\n", encoding="utf-8")
    draft.replace(path)


@lru_cache(maxsize=2)
def read_measured(path: Path = FILE) -> tuple[tuple[Measured, ...], dict[str, Any]]:
    """The measured loops, and where, when and with what they were measured.

    Raises:
        TimelineError: If the file can't be read.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return tuple(map(_measured, content["loops"])), content["provenance"]
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise TimelineError(
            f"can't read {path}: {problem}; `python -m benchmarks.timeline` writes it"
        ) from None


def _measured(fields: dict[str, Any]) -> Measured:
    samples = {
        name: tuple(map(float, fields[name])) for name in ("loads", "computes", "hands", "loops")
    }
    return Measured(Setting(**fields["setting"]), int(fields["steps"]), **samples)


def own() -> Own:
    """What our CPU took: for an image of the lesson's, in the newest run, and for a batch to take.

    Raises:
        TimelineError: If the measured loops can't be read.
    """
    measured, _ = read_measured()
    whole = open_store().figure("mnist_epoch.loader_only").value
    hands = [min(one.hands) for one in measured if one.setting.workers]
    load = whole / MNIST_IMAGES if whole else ASSUMED_LOAD
    return Own(load, statistics.median(hands), bool(whole))
