"""Times the first step with the others."""

# fails: 2.7
# says: expected 50.002 ms a step, got 100.002 ms (the first step pays


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
        sync()
        start = clock()
        for _ in range(iters):
            step()
        sync()
        seconds.append((clock() - start) / iters)
    a_s, b_s = seconds
    return Speed(a_s, b_s, a_s / b_s)
