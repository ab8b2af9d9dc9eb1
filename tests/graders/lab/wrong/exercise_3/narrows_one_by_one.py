"""Narrows in steps of one."""

# fails: 3.2
# says: expected at most 40 calls of step to find 100


def largest_batch(step, start=1, limit=65536, cleanup=None):
    works, size, growing = 0, min(start, limit), True
    while works < size <= limit:
        failed = False
        try:
            step(size)
        except torch.OutOfMemoryError:
            failed = True
        if failed:
            if cleanup:
                cleanup()
            if not growing or size == 1:
                return works
            growing = False
            size = works + 1
            continue
        works = size
        size = min(2 * size, limit) if growing else size + 1
    return works
