"""Grows, and never narrows."""

# fails: 3.2
# says: expected 37, the largest batch that the simulated GPU fits, got 32


def largest_batch(step, start=1, limit=65536, cleanup=None):
    size, works = start, 0
    while size <= limit:
        try:
            step(size)
        except torch.OutOfMemoryError:
            break
        works, size = size, 2 * size
    if cleanup:
        cleanup()
    return works
