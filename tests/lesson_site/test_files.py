"""Files that are written whole, or not at all."""

import os
from pathlib import Path

import pytest

from lesson_site.files import write_whole


def test_it_writes_text_and_bytes(tmp_path: Path) -> None:
    """Text is UTF-8, and nothing else is left in the folder."""
    assert "é" == write_whole(tmp_path / "text", "é").read_text(encoding="utf-8")
    assert b"\x00" == write_whole(tmp_path / "bytes", b"\x00").read_bytes()
    assert {"text", "bytes"} == {path.name for path in tmp_path.iterdir()}


def test_two_processes_that_write_one_file_do_not_meet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While one is about to put its file into place, the other writes; both succeed."""
    path, replace = tmp_path / "file", Path.replace

    def meanwhile(partial: Path, target: Path) -> Path:
        monkeypatch.setattr(Path, "replace", replace)
        monkeypatch.setattr(os, "getpid", lambda: -1)
        write_whole(path, "of the other")
        return replace(partial, target)

    monkeypatch.setattr(Path, "replace", meanwhile)
    write_whole(path, "of the one")

    assert "of the one" == path.read_text()
    assert [path] == list(tmp_path.iterdir())


def test_what_cannot_be_written_leaves_the_old_file(tmp_path: Path) -> None:
    """A folder in its place stays, and so does no half of the new one."""
    (tmp_path / "file").mkdir()

    with pytest.raises(OSError):
        write_whole(tmp_path / "file", "new")

    assert ["file"] == [path.name for path in tmp_path.iterdir()]
