"""What a faster device can gain, as arithmetic: an epoch of which a part stays, and a step's cost.

Real steps are not quite straight lines over the batch size; the pages measure them.
"""

import math
from dataclasses import dataclass


# --8<-- [start:whole_speedup]
def whole_speedup(share: float, times: float) -> float:
    """How many times as fast an epoch gets, if ``share`` of it stays.

    The rest gets ``times`` as fast. This is Amdahl's law.
    """
    return 1 / (share + (1 - share) / times)


# --8<-- [end:whole_speedup]


def try_whole_speedup() -> None:
    """What a faster training makes of the epoch."""
    # --8<-- [start:try_whole_speedup]
    for times in (2, 10, 1000):
        print(f"training {times:>4} times as fast: the epoch {whole_speedup(0.8, times):.2f} times")
    # --8<-- [end:try_whole_speedup]


# --8<-- [start:crossing]
@dataclass(frozen=True)
class Device:
    """What a training step costs: a fixed part, and one for each sample."""

    fixed_s: float
    sample_s: float

    def step_s(self, batch_size: float) -> float:
        """Seconds of a step."""
        return self.fixed_s + self.sample_s * batch_size


def crossing(cpu: Device, gpu: Device) -> float:
    """The batch size from which on the GPU is faster; inf if it never is."""
    if gpu.sample_s >= cpu.sample_s:
        return math.inf
    return max(0.0, (gpu.fixed_s - cpu.fixed_s) / (cpu.sample_s - gpu.sample_s))


# --8<-- [end:crossing]


def try_crossing() -> None:
    """From which batch on a GPU wins, for three GPUs."""
    # --8<-- [start:try_crossing]
    cpu = Device(fixed_s=20e-6, sample_s=3e-6)
    for gpu in (Device(300e-6, 0.2e-6), Device(300e-6, 0.1e-6), Device(150e-6, 0.2e-6)):
        cost = f"{1e6 * gpu.fixed_s:.0f} µs and {1e6 * gpu.sample_s:.1f} µs a sample"
        print(f"{cost}: wins from {crossing(cpu, gpu):.0f} samples on")
    # --8<-- [end:try_crossing]
