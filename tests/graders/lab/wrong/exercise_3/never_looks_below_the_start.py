"""Gives up if the first size fails."""

# fails: 3.2
# says: expected 37 with start=64 on a GPU that fits 37, got 0


def largest_batch(step, start=1, limit=65536, cleanup=None):
    works, fails = 0, limit + 1
    size = min(start, limit)
    while works + 1 < fails:
        failed = False
        try:
            step(size)
        except torch.OutOfMemoryError:
            failed = True
        if failed:
            fails = size
            if cleanup:
                cleanup()
            if works == 0:
                return 0
        else:
            works = size
        size = min(2 * works, limit) if fails > limit else (works + fails) // 2
    return works
