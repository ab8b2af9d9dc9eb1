"""Keeps to the limit while it grows, and not at the first size."""

# fails: 3.2
# says: expected 50 as the answer and as the largest size tried, with start=100 and limit=50


def largest_batch(step, start=1, limit=65536, cleanup=None):
    works, fails, size = 0, limit + 1, start
    while works + 1 < fails:
        if _fits(step, size):
            works = size
        else:
            fails = size
            if cleanup:
                cleanup()
        size = min(2 * works, limit) if fails > limit else (works + fails) // 2
    return works
