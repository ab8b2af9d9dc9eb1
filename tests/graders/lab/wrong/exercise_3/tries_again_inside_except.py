"""Goes on inside the except block, where the failed step's tensors are still held."""

# fails: 3.2
# says: expected no call of step while an exception is being handled


def largest_batch(step, start=1, limit=65536, cleanup=None):
    def search(works, fails, size):
        if works + 1 >= fails:
            return works
        try:
            step(size)
        except torch.OutOfMemoryError:
            if cleanup:
                cleanup()
            return search(works, size, (works + size) // 2)
        return search(size, fails, min(2 * size, limit) if fails > limit else (size + fails) // 2)

    return search(0, limit + 1, min(start, limit))
