"""What a page shows that a function printed, for tests that ask for a fact of it.

Nothing is run again: ``tests/recorded`` runs each such function, and compares text and data.
"""

from functools import cache

from lesson_site import recordings
from lesson_site.snippets import recorded_targets
from results.recorded import Recording


@cache
def compared() -> frozenset[str]:
    """The functions that are run again, each as ``foundations/losses:print_floor``."""
    return frozenset(t for t in recorded_targets("cpu") if not recordings.is_study(t))


def printed(target: str) -> Recording:
    """What a function printed and returned on a CPU, as tests compare it with a fresh run."""
    assert target in compared(), f"no page shows {target}, so no test runs it again"
    return recorded(target)


def recorded(target: str) -> Recording:
    """What a function printed and returned on a CPU when it was recorded, a study as well."""
    recording = recordings.read(target)
    assert recording is not None
    return recording
