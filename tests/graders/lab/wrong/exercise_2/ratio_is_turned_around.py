"""Divides the second time by the first."""

# fails: 2.7
# says: expected a ratio of 1.250, got 0.800


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
        sync()
        seconds.append((clock() - start) / iters)
    a_s, b_s = seconds
    return Speed(a_s, b_s, b_s / a_s)
