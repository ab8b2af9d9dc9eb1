"""Starts the clock while earlier work is still in the queue."""

# fails: 4.5
# says: expected 50.002 ms for 'slow'


def run_benchmark(
    configs: Sequence[Config],
    sync: Callable[[], None],
    clock: Callable[[], float],
    warmup: int = 1,
    iters: int = 1,
    repeats: int = 5,
) -> list[Row]:
    rows: list[Row] = []
    for config in configs:
        for _ in range(warmup):
            config.step()
        samples = []
        for _ in range(repeats):
            start = clock()
            for _ in range(iters):
                config.step()
            sync()
            samples.append((clock() - start) / iters)
        seconds = statistics.median(samples)
        first = rows[0].seconds if rows else seconds
        rate = config.samples / seconds
        rows.append(Row(config.name, seconds, rate, first / seconds, config.peak_bytes))
    return rows
