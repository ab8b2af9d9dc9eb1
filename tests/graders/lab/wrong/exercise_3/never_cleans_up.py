"""Leaves behind what a failed step left behind."""

# fails: 3.2
# says: expected cleanup after each of


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
        else:
            works = size
        size = min(2 * works, limit) if fails > limit else (works + fails) // 2
    return works
