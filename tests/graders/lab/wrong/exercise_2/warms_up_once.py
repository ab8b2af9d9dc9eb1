"""Runs each step once before it times, however often it was told to."""

# fails: 2.7
# says: expected 13 calls of each step, of which the first 3 warm up, got [11, 11]

_right = compare_speed


def compare_speed(
    step_a: Callable[[], object],
    step_b: Callable[[], object],
    sync: Callable[[], object],
    clock: Callable[[], float],
    warmup: int,
    iters: int,
) -> Speed:
    return _right(step_a, step_b, sync, clock, 1, iters)
