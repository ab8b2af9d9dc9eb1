"""Halves the whole range, and never tries the size that it was told."""

# fails: 3.2
# says: expected 10 as the first size that is tried with start=10


def largest_batch(step, start=1, limit=65536, cleanup=None):
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        failed = False
        try:
            step(middle)
        except torch.OutOfMemoryError:
            failed = True
        if failed:
            high = middle - 1
            if cleanup:
                cleanup()
        else:
            low = middle
    return low
