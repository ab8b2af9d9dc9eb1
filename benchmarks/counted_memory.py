"""The memory of the mission's GPT-2, counted as the benchmark would measure it on a GPU.

The case's own training runs on shells, and the counter takes the place of the allocator's.
"""

from collections.abc import Callable

import torch

from benchmarks.cases.transformer_memory import OPTIMIZERS, Training, phases
from lesson_code.forecast.counter import StepCounter
from lesson_code.forecast.shells import CUDA, META, Shell, exchange, like_a_gpu
from lesson_code.mission.gpt2 import GPT2Config, build
from results.counted_memory import configurations
from results.predictions import PHASES, Configuration


class CounterMeter:
    """Reads what a counter holds."""

    def __init__(self, counter: StepCounter) -> None:
        self.counter = counter

    def now(self) -> int:
        """Bytes that are held."""
        return self.counter.held_bytes

    def peak(self) -> int:
        """The most since ``reset_peak``."""
        return self.counter.peak_bytes

    def reset_peak(self) -> None:
        """Begin to look for the largest value anew."""
        self.counter.peak_bytes = self.counter.held_bytes

    def reserved(self) -> int:
        """Nothing: only an allocator reserves."""
        return 0

    def free(self) -> int:
        """Nothing is in the way."""
        return 0


class TrainingOnShells(Training):
    """A GPT-2 whose tensors have no values; its tokens are there when it begins.

    Args:
        config: The sizes of the model.
        c: How it is trained.
        counter: Holds its tensors.
    """

    def __init__(self, config: GPT2Config, c: Configuration, counter: StepCounter) -> None:
        self.c, self.device, self.counter = c, CUDA, counter
        self.model = build(config, c.regime, META, c.recompute)
        for tensor in {
            id(t): t for t in (*self.model.parameters(), *self.model.buffers())
        }.values():
            exchange(tensor)
            counter.hold(tensor)  # type: ignore[arg-type]
        shape = c.batch, config.context
        self.tokens = Shell(torch.zeros(shape, dtype=torch.int64, device=META))
        self.optimizer = OPTIMIZERS[c.optimizer](self.model.parameters())

    def begin(self, made: Callable[[], object]) -> Training:
        """As if it were made now: first the model, then the tokens."""
        made()
        self.counter.hold(self.tokens)  # type: ignore[arg-type]
        return self


def count(c: Configuration, config: GPT2Config | None = None) -> dict[str, int]:
    """Bytes at each of ``PHASES`` of the second step.

    Args:
        c: What is trained, and how.
        config: Other sizes than the configuration's.
    """
    counter = StepCounter()
    training = TrainingOnShells(config or GPT2Config.of(c.arch), c, counter)
    with like_a_gpu(), counter:
        found, _ = phases(training.begin, CounterMeter(counter))
    return {phase: found[phase] for phase in PHASES}


def count_all() -> dict[str, dict[str, int]]:
    """Every configuration by its name; some minutes of one core."""
    return {c.name: count(c) for c in configurations()}
