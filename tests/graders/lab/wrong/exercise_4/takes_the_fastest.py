"""Reports the fastest of five, where the median was asked for."""

# fails: 4.5
# says: expected 50.002 ms for 'slow', whose truth is known, got 49.002 ms


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
        times = []
        for _ in range(repeats):
            sync()
            start = clock()
            for _ in range(iters):
                config.step()
            sync()
            times.append((clock() - start) / iters)
        seconds = min(times)
        first = rows[0].seconds if rows else seconds
        row = Row(
            config.name, seconds, config.samples / seconds, first / seconds, config.peak_bytes
        )
        rows.append(row)
    return rows
