"""Two more clocks of PyTorch: the GPU's own events, and a timer that does the waiting itself."""

from collections.abc import Callable

# --8<-- [start:clocks]
from functools import partial

import torch
from torch.utils.benchmark import Timer


def event_times(work: Callable[[], object], runs: int = 20) -> list[float]:
    """Seconds of each run by the GPU's clock; Python waits once, after the last."""
    for _ in range(3):
        work()  # warm-up
    event = partial(torch.cuda.Event, enable_timing=True)
    pairs = [(event(), event()) for _ in range(runs)]
    for start, end in pairs:
        start.record()
        work()
        end.record()
    torch.cuda.synchronize()
    return [start.elapsed_time(end) / 1e3 for start, end in pairs]


def timer_median(work: Callable[[], object], at_least: float = 1.0) -> float:
    """The median of blocks of runs, which take ``at_least`` so many seconds together."""
    timer = Timer("work()", globals={"work": work}, num_threads=torch.get_num_threads())
    return timer.blocked_autorange(min_run_time=at_least).median


# --8<-- [end:clocks]
