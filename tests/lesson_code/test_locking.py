"""One at a time: others stay out, and a process that is killed holds nobody up."""

import errno
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from lesson_code.locking import only_one
from tests.building import REPOSITORY
from tests.processes import PATIENCE_S

HOLDER = """
import sys, time
from pathlib import Path
from lesson_code.locking import only_one
with only_one(Path(sys.argv[1])):
    print("inside", flush=True)
    time.sleep(3600)
"""


def test_only_one_is_inside(tmp_path: Path) -> None:
    """The next may come when the first has gone, and nothing is left."""
    mark = tmp_path / "mark"

    with only_one(mark), pytest.raises(BlockingIOError), only_one(mark):
        pass
    with only_one(mark):
        pass

    assert [] == list(tmp_path.iterdir())


def test_an_error_inside_gives_it_back(tmp_path: Path) -> None:
    """Whatever the error is."""
    mark = tmp_path / "mark"

    with pytest.raises(BlockingIOError, match="made up"), only_one(mark):
        raise BlockingIOError("made up")

    with only_one(mark):
        assert mark.exists()


def test_a_killed_process_holds_nobody_up(tmp_path: Path) -> None:
    """Its mark stays, and locks nothing."""
    mark = tmp_path / "mark"
    command = [sys.executable, "-c", HOLDER, str(mark)]
    holder = subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert "inside\n" == holder.stdout.readline()
    with pytest.raises(BlockingIOError), only_one(mark):
        pass

    holder.kill()
    holder.wait(PATIENCE_S)
    holder.stdout.close()

    assert mark.exists()
    with only_one(mark):
        pass
    assert not mark.exists()


def test_a_mark_that_was_taken_away_meanwhile_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who opened it before its owner went would be alone with a file that nobody else sees."""
    fcntl = pytest.importorskip("fcntl")
    mark = tmp_path / "mark"
    locks = []

    def flock(file: object, how: int) -> None:
        locks.append(how)
        if len(locks) == 1:
            mark.unlink()
        plain(file, how)

    plain = fcntl.flock
    monkeypatch.setattr(fcntl, "flock", flock)

    with only_one(mark), pytest.raises(BlockingIOError), only_one(mark):
        pass
    assert 3 == len(locks)


def test_where_nothing_can_be_locked_everybody_may_enter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some file systems of networks know no locks."""
    fcntl = pytest.importorskip("fcntl")

    def flock(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", flock)

    with only_one(tmp_path / "mark"), only_one(tmp_path / "mark"):
        pass


def test_windows_has_a_lock_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It refuses with another error."""
    held: list[int] = []

    def locking(number: int, mode: int, length: int) -> None:
        assert (2, 1) == (mode, length)
        if held:
            raise PermissionError(errno.EACCES, "Permission denied")
        held.append(number)

    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(locking=locking, LK_NBLCK=2))

    with only_one(tmp_path / "mark"), pytest.raises(BlockingIOError), only_one(tmp_path / "mark"):
        pass
