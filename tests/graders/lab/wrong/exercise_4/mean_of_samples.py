"""One disturbed sample spoils the mean."""

# fails: 4.5
# says: got 69.802 ms


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
            sync()
            start = clock()
            for _ in range(iters):
                config.step()
            sync()
            samples.append((clock() - start) / iters)
        seconds = statistics.mean(samples)
        first = rows[0].seconds if rows else seconds
        rate = config.samples / seconds
        rows.append(Row(config.name, seconds, rate, first / seconds, config.peak_bytes))
    return rows
