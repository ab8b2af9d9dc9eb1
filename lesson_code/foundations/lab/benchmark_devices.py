"""Step 5: time square matrix products on the CPU, and on a CUDA GPU if there is one.

Run it with `.venv/bin/python benchmark_devices.py`.
"""

import statistics
import sys
import time
from collections.abc import Callable

import torch

SIZES = (512, 1024, 2048)
ITERATIONS = 5
WARM_UPS = 3


def benchmark(
    device: torch.device,
    size: int,
    iterations: int,
    *,
    multiply: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] | None = None,
    synchronize: Callable[[], None] | None = None,
    clock: Callable[[], float] | None = None,
) -> list[float]:
    """Time a product of two random matrices and return the seconds of every repetition.

    First three warm-ups. Then for each repetition: synchronize, read the clock, multiply,
    synchronize, read the clock.

    Args:
        device: Where the matrices lie.
        size: Rows and columns of both matrices.
        iterations: Repetitions to time.
        multiply: Does the work; `torch.matmul` if nothing is given.
        synchronize: Waits until the device is done. If nothing is given: what CUDA needs on a
            CUDA device, and nothing elsewhere.
        clock: Gives seconds; `time.perf_counter` if nothing is given.
    """
    # BLANK 5.1: time every repetition
    multiply = multiply or torch.matmul
    clock = clock or time.perf_counter
    synchronize = synchronize or (torch.cuda.synchronize if device.type == "cuda" else done_already)
    left, right = (torch.randn(size, size, device=device) for _ in range(2))
    for _ in range(WARM_UPS):
        multiply(left, right)
    times = []
    for _ in range(iterations):
        synchronize()
        start = clock()
        multiply(left, right)
        synchronize()
        times.append(clock() - start)
    return times
    # END


# OURS
def done_already() -> None:
    """The CPU has finished when a call returns."""


# END


def main() -> int:
    """Print a line for each size: the times, and the ratio or why there is none."""
    has_cuda = torch.cuda.is_available()
    for size in SIZES:
        try:
            times = benchmark(torch.device("cpu"), size, ITERATIONS)
            cpu = statistics.median(times)
            line = f"size {size}: CPU {cpu * 1e3:.2f} ms"
            if has_cuda:
                gpu = statistics.median(benchmark(torch.device("cuda"), size, ITERATIONS))
                line += f", CUDA {gpu * 1e3:.2f} ms, ratio {cpu / gpu:.1f}"
            else:
                line += ", CUDA is not available"
        except NotImplementedError as open_end:
            print(f"stopped: {open_end}", file=sys.stderr)
            return 2
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
