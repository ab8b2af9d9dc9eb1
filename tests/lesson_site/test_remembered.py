"""What was worked out once is not worked out again, and a damaged memory is no harm."""

from pathlib import Path

import pytest

from lesson_site import remembered as module
from lesson_site.remembered import remembered


class Counted:
    """An answer that counts how often it is worked out."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> list[object]:
        """Work it out."""
        self.times += 1
        return [True, "said"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty memory."""
    monkeypatch.setattr(module, "FOLDER", tmp_path / "remembered")
    return tmp_path / "remembered"


def test_the_same_question_is_answered_once() -> None:
    """The second time nobody works, and the answer is the same."""
    answer = Counted()

    assert remembered(["a", {"x": 1}], answer) == remembered(["a", {"x": 1}], answer)
    assert 1 == answer.times


def test_another_question_is_answered_anew() -> None:
    """Everything in the question counts."""
    answer = Counted()
    remembered(["a", 1], answer)

    remembered(["a", 2], answer)

    assert 2 == answer.times


@pytest.mark.parametrize("content", ["", "{", "[]", '{"question": "other", "answer": 7}', "\x00"])
def test_a_damaged_memory_is_replaced(folder: Path, content: str) -> None:
    """What nobody can read, or what answers another question, is worked out again."""
    answer = Counted()
    remembered("q", answer)
    [file] = folder.iterdir()
    file.write_text(content, encoding="utf-8")

    assert [True, "said"] == remembered("q", answer)
    assert [True, "said"] == remembered("q", answer)
    assert 2 == answer.times


def test_a_folder_that_cannot_be_written_costs_only_time(folder: Path) -> None:
    """A build in a read-only checkout works out everything."""
    folder.write_text("a file is in the way", encoding="utf-8")
    answer = Counted()

    assert [True, "said"] == remembered("q", answer)
    assert [True, "said"] == remembered("q", answer)
    assert 2 == answer.times
