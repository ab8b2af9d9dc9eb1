"""Grows past the limit."""

# fails: 3.2
# says: expected 1000 as the answer and as the largest size tried


def largest_batch(step, start=1, limit=65536, cleanup=None):
    works, fails, size = 0, None, start
    while fails is None or works + 1 < fails:
        failed = False
        try:
            step(size)
        except torch.OutOfMemoryError:
            failed = True
        if failed:
            fails = size
            if cleanup:
                cleanup()
        else:
            works = size
        size = 2 * works if fails is None else (works + fails) // 2
    return works
