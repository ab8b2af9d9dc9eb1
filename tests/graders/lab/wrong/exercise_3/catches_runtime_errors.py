"""Takes every RuntimeError for a lack of memory, so that a bug becomes a batch of 0."""

# fails: 3.2
# says: expected the RuntimeError of a step with a bug to come out, got the answer 0


def largest_batch(step, start=1, limit=65536, cleanup=None):
    works, fails = 0, limit + 1
    size = min(start, limit)
    while works + 1 < fails:
        failed = False
        try:
            step(size)
        except RuntimeError:
            failed = True
        if failed:
            fails = size
            if cleanup:
                cleanup()
        else:
            works = size
        size = min(2 * works, limit) if fails > limit else (works + fails) // 2
    return works
