"""What GPT-2 holds at the moments of a step, counted on tensors without values as CUDA makes them.

``results/counted_memory.json`` has the counts, ``python -m benchmarks count`` writes it. They are
beside the mission's model and beside what a GPU measures.
"""

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from results.predictions import CONFIGURATIONS, LAPTOP, PHASES, Configuration

COUNTED = Path("results/counted_memory.json")
Moments = Mapping[str, int]


class CountedMemoryError(ValueError):
    """Counts that can't be read; the message says which command writes them."""


def configurations() -> Iterator[Configuration]:
    """What is counted."""
    yield from CONFIGURATIONS
    yield from LAPTOP


def write_counted(counted: Mapping[str, Moments], torch: str, path: Path = COUNTED) -> None:
    """Write the bytes of each configuration, one a line.

    Raises:
        OSError: If the file can't be written.
    """
    lines = [f"{json.dumps(name)}: {json.dumps(dict(found))}" for name, found in counted.items()]
    head = f'{{"version": 1, "torch": {json.dumps(torch)}, "bytes": {{\n'
    path.write_text(head + ",\n".join(lines) + "\n}}\n", encoding="utf-8")


def read_counted(path: Path = COUNTED) -> Mapping[str, Moments]:
    """Bytes at each of ``PHASES``, by the configuration's name.

    Raises:
        CountedMemoryError: If the file can't be read, a configuration in it lacks a moment, or it
            does not say which PyTorch was counted.
    """
    counted: Mapping[str, Moments] = _read(path)["bytes"]
    return counted


def counted_with(path: Path = COUNTED) -> str:
    """The version of PyTorch whose operations were counted.

    Raises:
        CountedMemoryError: As ``read_counted``.
    """
    torch: str = _read(path)["torch"]
    return torch


def farthest(open_layer: bool = False, path: Path = COUNTED) -> float:
    """How far a count lies from the mission's model at most, in percent of the model.

    Args:
        open_layer: Look at the peaks under full recomputation, of which the model leaves out the
            layer that is open late in backward; else at everything else.
        path: The file with the counts.
    """
    counted = read_counted(path)
    pairs = (
        (counted[c.name][phase], c.phases[phase])
        for c in configurations()
        for phase in PHASES
        if open_layer == (c.recompute == "full" and phase == "peak")
    )
    return max(100 * abs(count / model - 1) for count, model in pairs)


def how_many() -> int:
    """Configurations that are counted."""
    return len(list(configurations()))


def _read(path: Path) -> dict[str, Any]:
    try:
        content = _read_once(path, path.stat().st_mtime_ns)
    except (OSError, ValueError) as problem:
        raise CountedMemoryError(f"can't read {path}: {problem}; {_AGAIN}") from None
    for c in configurations():
        try:
            complete = content["bytes"][c.name].keys() == set(PHASES)
        except (LookupError, TypeError, AttributeError):
            complete = False
        if not complete:
            raise CountedMemoryError(f"{path} lacks moments of {c.name}; {_AGAIN}")
    if not isinstance(content.get("torch"), str):
        raise CountedMemoryError(f"{path} lacks the version of PyTorch; {_AGAIN}")
    return content


@lru_cache(maxsize=2)
def _read_once(path: Path, _: int) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


_AGAIN = "`python -m benchmarks count` writes it"
