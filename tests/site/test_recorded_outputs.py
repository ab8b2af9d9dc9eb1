"""The outputs that pages show are what their code prints today."""

import pytest

from lesson_site import recordings
from lesson_site.snippets import recorded_targets


@pytest.mark.parametrize(("target", "tolerance"), recorded_targets("cpu").items())
def test_a_fresh_run_prints_what_the_page_shows(target: str, tolerance: float) -> None:
    """Run again on the CPU, a snippet prints the same words, and numbers within the tolerance."""
    recorded = recordings.read(target)
    assert recorded is not None

    fresh = recordings.run(target)

    assert [] == recordings.differences(recorded.text, fresh.text, tolerance)


@pytest.mark.gpu
@pytest.mark.parametrize("target", [*recorded_targets("cpu"), *recorded_targets("cuda")])
def test_the_snippet_prints_on_a_gpu_as_well(target: str) -> None:
    """What a page shows from the CPU can be recorded on a GPU."""
    assert "" != recordings.run(target, "cuda").text
