"""Waits before the clock starts, not before it stops."""

# fails: 2.7
# says: expected 50.002 ms a step, got 0.020 ms (the clock stopped before the device had finished


def compare_speed(
    step_a: Callable[[], object],
    step_b: Callable[[], object],
    sync: Callable[[], object],
    clock: Callable[[], float],
    warmup: int,
    iters: int,
) -> Speed:
    seconds = []
    for step in (step_a, step_b):
        for _ in range(warmup):
            step()
        sync()
        start = clock()
        for _ in range(iters):
            step()
        seconds.append((clock() - start) / iters)
    a_s, b_s = seconds
    return Speed(a_s, b_s, a_s / b_s)
