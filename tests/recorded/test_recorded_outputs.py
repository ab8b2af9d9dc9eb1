"""The outputs that pages show are what their code prints today."""

from collections.abc import Iterator

import pytest

from lesson_site import recordings
from lesson_site.recordings import Printer, is_study
from lesson_site.snippets import recorded_targets
from tests.building import REPOSITORY


@pytest.fixture(scope="module")
def here() -> Iterator[Printer]:
    """Prints with the instructions of this processor."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(REPOSITORY)
        with Printer() as printer:
            yield printer


@pytest.fixture(scope="module")
def there() -> Iterator[Printer]:
    """Prints with the GPU: one process loads PyTorch, and each printout is a fork of it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(REPOSITORY)
        with Printer(device="cuda") as printer:
            yield printer


@pytest.mark.parametrize("target", [t for t in recorded_targets("cpu") if not is_study(t)])
def test_a_fresh_run_prints_what_the_page_shows(here: Printer, target: str) -> None:
    """On any processor: words and numbers are those of the page, in the digits that it shows."""
    recorded = recordings.read(target)
    assert recorded is not None

    moved = recordings.differences(recorded, here.run(target))
    assert [] == moved, (
        f"{moved}; where its code changed, run `python -m lesson_site record {target}`"
    )


@pytest.mark.gpu
@pytest.mark.parametrize(
    "target", list(dict.fromkeys((*recorded_targets("cpu"), *recorded_targets("cuda"))))
)
def test_the_snippet_prints_on_a_gpu_as_well(there: Printer, target: str) -> None:
    """What a page shows from the CPU can be recorded on a GPU."""
    assert "" != there.run(target).text
