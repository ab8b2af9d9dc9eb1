"""Six ways to time one piece of work, on a device and a clock that are turned by hand.

A kernel takes 50 ms, asking for it 0.02 ms, and the first request 500 ms more. Nothing here is
measured: every reading can be worked out with a pencil.
"""

from lesson_code.benchmarks.how_we_measure import Clockwork

LAUNCH_S, FIRST_S, WORK_S = 0.00002, 0.5, 0.05


# --8<-- [start:read_clock]
def read_clock(
    device: Clockwork,
    *,
    warmups: int = 3,
    wait_before: bool = True,
    wait_after: bool = True,
    divide: bool = True,
    runs: int = 10,
) -> float:
    """Seconds that a clock gives for one run; every argument left out is a step done right."""
    for _ in range(warmups):
        device.launch()
    if wait_before:
        device.wait()

    start = device.clock()
    for _ in range(runs):
        device.launch()
    if wait_after:
        device.wait()
    seconds = device.clock() - start
    return seconds / runs if divide else seconds


# --8<-- [end:read_clock]


def try_read_clock() -> None:
    """A clock that is read too early."""
    # --8<-- [start:try_read_clock]
    device = fresh_device()
    print(f"{1e3 * read_clock(device, wait_before=False):.3f} ms")
    # --8<-- [end:try_read_clock]


def fresh_device() -> Clockwork:
    """A device that nothing has run on yet."""
    return Clockwork(LAUNCH_S, FIRST_S, WORK_S)


def readings() -> dict[str, float]:
    """What each method says one kernel takes, in seconds, on a fresh device each."""
    return {
        "correct": read_clock(fresh_device()),
        "no wait": read_clock(fresh_device(), wait_before=False, wait_after=False),
        "wait only before": read_clock(fresh_device(), wait_after=False),
        "wait only after": read_clock(fresh_device(), wait_before=False),
        "no warm-up": read_clock(fresh_device(), warmups=0),
        "not divided": read_clock(fresh_device(), divide=False),
    }


def print_six_methods() -> dict[str, float]:
    """Print what each method reads of a kernel that takes 50 ms."""
    found = readings()
    for method, seconds in found.items():
        print(f"{method:18}{1e3 * seconds:>9.3f} ms")
    return found
