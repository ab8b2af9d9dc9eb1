"""What tells that a file is as it was."""

import os
from pathlib import Path

import pytest

from results.changed import state_of


def test_a_state_has_each_file_in_its_order_with_when_it_was_changed_and_its_size(
    tmp_path: Path,
) -> None:
    """To the nanosecond: two writes may follow each other at once."""
    second, first = tmp_path / "b", tmp_path / "a"
    for path, text, changed in ((second, "four", 1_000_000_001), (first, "", 2_000_000_002)):
        path.write_text(text)
        os.utime(path, ns=(7, changed))

    assert ((second, 1_000_000_001, 4), (first, 2_000_000_002, 0)) == state_of(
        iter([second, first])
    )


def test_a_file_that_cannot_be_asked_is_an_error(tmp_path: Path) -> None:
    """Nobody may take it for one that is as it was."""
    with pytest.raises(FileNotFoundError):
        state_of([tmp_path / "nowhere"])
