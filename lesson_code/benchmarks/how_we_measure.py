"""Right and wrong ways to time a device, on a device whose truth is known.

``Clockwork`` is a device and a clock that are turned by hand. It works behind Python's back, as a
GPU does: asking takes a moment, working takes longer, the first request longest. Since nothing here
is measured, every reading can be compared with what really happened.
"""

import statistics
from collections.abc import Callable

LAUNCH_S = 0.00001  # asking the device for work
FIRST_S = 0.5  # what the very first request costs once: loading, compiling, finding memory
WORK_S = 0.004  # the work itself: the truth that each method below should read

Clock = Callable[[], float]
Work = Callable[[], None]


# --8<-- [start:clockwork]
class Clockwork:
    """A device with a queue, and the only clock that there is.

    Args:
        launch_s: What asking takes, in seconds.
        first_s: What the first request takes longer.
        work_s: What the work takes, unless a request says otherwise.

    Attributes:
        now: What the clock shows, in seconds.
        done_at: When the device will have finished everything that it was asked for.
    """

    def __init__(
        self, launch_s: float = LAUNCH_S, first_s: float = FIRST_S, work_s: float = WORK_S
    ) -> None:
        self.launch_s, self.loading_s, self.work_s = launch_s, first_s, work_s
        self.now = 0.0
        self.done_at = 0.0

    def launch(self, seconds: float | None = None) -> None:
        """Ask for work; Python goes on at once, the device works through its queue."""
        self.now += self.launch_s
        work_s = self.work_s if seconds is None else seconds
        self.done_at = max(self.now, self.done_at) + self.loading_s + work_s
        self.loading_s = 0.0  # only the first request pays for it

    def wait(self) -> None:
        """Let the clock run until the device has finished."""
        self.now = max(self.now, self.done_at)

    def clock(self) -> float:
        """What the clock shows."""
        return self.now


# --8<-- [end:clockwork]


def try_clockwork() -> None:
    """The clock goes on before the work is done."""
    # --8<-- [start:try_clockwork]
    device = Clockwork()
    device.launch()
    print(f"the clock shows {device.now:.5f} s, the work is done at {device.done_at:.5f} s")
    # --8<-- [end:try_clockwork]


# --8<-- [start:without_waiting]
def without_waiting(work: Work, clock: Clock) -> float:
    """Wrong: the clock stops when the work has been asked for."""
    start = clock()
    work()
    return clock() - start


# --8<-- [end:without_waiting]


def try_without_waiting() -> None:
    """The first mistake on a clock turned by hand."""
    # --8<-- [start:try_without_waiting]
    device = Clockwork()
    print(f"{1e3 * without_waiting(device.launch, device.clock):.2f} ms")
    # --8<-- [end:try_without_waiting]


# --8<-- [start:without_warm_up]
def without_warm_up(work: Work, wait: Work, clock: Clock) -> float:
    """Wrong: the first run pays for things that no later run pays for."""
    start = clock()
    work()
    wait()
    return clock() - start


# --8<-- [end:without_warm_up]


def try_without_warm_up() -> None:
    """The second mistake."""
    # --8<-- [start:try_without_warm_up]
    device = Clockwork()
    print(f"{1e3 * without_warm_up(device.launch, device.wait, device.clock):.2f} ms")
    # --8<-- [end:try_without_warm_up]


# --8<-- [start:waiting_afterwards_only]
def waiting_afterwards_only(work: Work, wait: Work, clock: Clock) -> float:
    """Wrong: what was asked for earlier is still in the queue when the clock starts."""
    work()
    start = clock()
    work()
    wait()
    return clock() - start


# --8<-- [end:waiting_afterwards_only]


def try_waiting_afterwards_only() -> None:
    """The third mistake."""
    # --8<-- [start:try_waiting_afterwards_only]
    device = Clockwork(first_s=0.0)
    seconds = waiting_afterwards_only(device.launch, device.wait, device.clock)
    print(f"{1e3 * seconds:.2f} ms")
    # --8<-- [end:try_waiting_afterwards_only]


# --8<-- [start:well]
def well(work: Work, wait: Work, clock: Clock, repetitions: int = 5) -> list[float]:
    """Warm up, wait, start the clock, work, wait, stop the clock; and again."""
    work()
    samples = []
    for _ in range(repetitions):
        wait()
        start = clock()
        work()
        wait()
        samples.append(clock() - start)
    return samples


# --8<-- [end:well]


def try_well() -> None:
    """The same work, timed well."""
    # --8<-- [start:try_well]
    device = Clockwork()
    for seconds in well(device.launch, device.wait, device.clock):
        print(f"{1e3 * seconds:.2f} ms")
    # --8<-- [end:try_well]


# --8<-- [start:busy_machine]
def on_a_busy_machine() -> list[float]:
    """Five samples of which one met another program."""
    device = Clockwork()
    pauses = iter([0.0, 0.0, 0.0, 0.036, 0.0, 0.0])

    def work() -> None:
        device.launch(WORK_S + next(pauses))

    return well(work, device.wait, device.clock)


# --8<-- [end:busy_machine]


def try_busy_machine() -> None:
    """One sample in ten is disturbed."""
    # --8<-- [start:try_busy_machine]
    samples = on_a_busy_machine()
    mean, median = statistics.mean(samples), statistics.median(samples)
    print(f"mean {1e3 * mean:.1f} ms, median {1e3 * median:.1f} ms")
    # --8<-- [end:try_busy_machine]


# --8<-- [start:compare_in_order]
def compare_in_order(order: str, slower_by: float) -> float:
    """Time two equal things, A and B, on a machine that gets slower from run to run.

    Args:
        order: Which of them runs when, such as ``"ABAB"``.
        slower_by: What each run takes longer than the one before it, as a part of the first.

    Returns:
        B's median divided by A's. The truth is 1.
    """
    device = Clockwork()
    device.launch()  # the warm-up
    samples: dict[str, list[float]] = {"A": [], "B": []}
    for run, name in enumerate(order):
        device.wait()
        start = device.clock()
        device.launch(WORK_S * (1 + run * slower_by))
        device.wait()
        samples[name].append(device.clock() - start)
    return statistics.median(samples["B"]) / statistics.median(samples["A"])


# --8<-- [end:compare_in_order]


def try_compare_in_order() -> None:
    """Three orders of two arms on a machine that gets slower."""
    # --8<-- [start:try_compare_in_order]
    for order in ("AABB", "ABAB", "ABBA"):
        print(f"{order}  B / A = {compare_in_order(order, slower_by=0.02):.3f}")
    # --8<-- [end:try_compare_in_order]


def print_readings() -> dict[str, float]:
    """What each method reads of work that takes 4 milliseconds."""
    device = Clockwork()
    cold_s = without_warm_up(device.launch, device.wait, device.clock)
    not_waited_s = without_waiting(device.launch, device.clock)
    device.wait()
    afterwards_s = waiting_afterwards_only(device.launch, device.wait, device.clock)
    device = Clockwork()
    well_s = statistics.median(well(device.launch, device.wait, device.clock))
    readings = {
        "the truth": WORK_S,
        "no waiting": not_waited_s,
        "no warm-up": cold_s,
        "waiting afterwards only": afterwards_s,
        "warm-up, waiting twice": well_s,
    }
    for method, seconds in readings.items():
        print(f"{method:24} {1e3 * seconds:8.2f} ms")
    return readings


def print_busy_machine() -> dict[str, float]:
    """Mean and median of five samples of which one was disturbed."""
    samples = on_a_busy_machine()
    found = {"mean": statistics.mean(samples), "median": statistics.median(samples)}
    print("samples", *(f"{1e3 * sample:.1f}" for sample in samples), "ms")
    for name, seconds in found.items():
        print(f"{name:7} {1e3 * seconds:.1f} ms")
    return found


def print_turns() -> dict[str, float]:
    """The quotient of two equal things on a machine that slows down by 2 % from run to run."""
    orders = ("AAAAAABBBBBB", "ABABABABABAB", "ABBAABBAABBA")
    found = {order: compare_in_order(order, slower_by=0.02) for order in orders}
    for order, quotient in found.items():
        print(f"{order}  B / A = {quotient:.3f}")
    return found
