"""The list of what the simulated GPU cannot carry names tests that there are."""

import pytest

from tests.building import REPOSITORY
from tests.simulated_gpu import THERE, not_carried


@pytest.mark.gpu
def test_every_entry_is_a_test(request: pytest.FixtureRequest) -> None:
    """One that was renamed is found here, if its file is among those that run."""
    there = request.config.stash[THERE]
    files = {name.partition("::")[0] for name in there}

    assert [] == [
        name
        for name in not_carried()
        if (name.partition("::")[0] in files and name not in there)
        or not (REPOSITORY / "tests" / name.partition("::")[0]).is_file()
    ]
