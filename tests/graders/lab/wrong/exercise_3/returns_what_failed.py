"""Returns the first size that failed instead of the last that worked."""

# fails: 3.2
# says: expected 37, the largest batch that the simulated GPU fits, got 64 (the last size that was tried


def largest_batch(step, start=1, limit=65536, cleanup=None):
    size = start
    while size <= limit:
        try:
            step(size)
        except torch.OutOfMemoryError:
            break
        size *= 2
    if cleanup:
        cleanup()
    return size
