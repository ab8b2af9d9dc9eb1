"""Returns None where the smallest batch is too large."""

# fails: 3.2
# says: or 0 if none fits, got None

_right = largest_batch


def largest_batch(
    step: Callable[[int], object],
    start: int = 1,
    limit: int = 65536,
    cleanup: Callable[[], None] | None = None,
) -> int:
    return _right(step, start, limit, cleanup) or None
