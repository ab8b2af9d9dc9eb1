"""Divides the time of the timed steps by all steps, those of the warm-up among them."""

# fails: 2.7
# says: got 38.477 ms (wait before the clock starts and before it stops, and divide by the timed

_right = compare_speed


def compare_speed(
    step_a: Callable[[], object],
    step_b: Callable[[], object],
    sync: Callable[[], object],
    clock: Callable[[], float],
    warmup: int,
    iters: int,
) -> Speed:
    a_s, b_s, ratio = _right(step_a, step_b, sync, clock, warmup, iters)
    return Speed(a_s * iters / (iters + warmup), b_s * iters / (iters + warmup), ratio)
