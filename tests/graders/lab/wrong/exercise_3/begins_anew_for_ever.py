"""Begins anew after each failure."""

# fails: 3.2
# says: expected at most 40 calls of step, got more than 200


def largest_batch(step, start=1, limit=65536, cleanup=None):
    size = start
    while size <= limit:
        failed = False
        try:
            step(size)
        except torch.OutOfMemoryError:
            failed = True
        if failed and cleanup:
            cleanup()
        size = start if failed else 2 * size
    return limit
