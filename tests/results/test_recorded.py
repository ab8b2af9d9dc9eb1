"""A recording is read as it was written, and what is none is refused with what to do."""

import json
from pathlib import Path
from typing import Any

import pytest

from results.held_digits import Range
from results.recorded import Recording, RecordingError, from_json, path_of, read, to_json

MODULE = """\
def helper(number):
    return number


def print_number():
    print("größer: 0.2058 and 12")


def print_of(number):
    print(number)


def study_number():
    print(1)


class Printer:
    def print_inside():
        pass
"""
MACHINE = {
    "device": "cpu",
    "device_name": "a name",
    "processor": "A processor",
    "torch": "2.15.0",
    "date": "2026-11-21",
}
RECORDING = Recording(
    "größer: 0.2058 and 12\n",
    {"losses": [1.0, 0.2058], "name": "loss"},
    MACHINE,
    {1: Range(11.0, 12.0), 0: Range(0.2057, 0.2058)},
    {("losses", 1): Range(0.2057, 0.2058), ("losses", 0): Range(1.0, 1.5)},
    ({"processor": "Another", "torch": "2.14.0"},),
)
TARGET = "lab/number:print_number"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of code with one module, which has functions that print."""
    (tmp_path / "lab" / "recorded").mkdir(parents=True)
    (tmp_path / "lab" / "number.py").write_text(MODULE, encoding="utf-8")
    return tmp_path


def test_a_recording_lies_beside_its_module() -> None:
    """Called after the module, the function and the device."""
    assert Path("lesson_code/lab/recorded/tf32.print_errors.cpu.json") == path_of(
        "lab/tf32:print_errors", "cpu"
    )
    assert Path("code/a/b/recorded/c.f.cuda.json") == path_of("a/b/c:f", "cuda", Path("code"))
    assert Path("code/recorded/c.f.cpu.json") == path_of("c:f", "cpu", Path("code"))


def test_what_is_written_is_read_again(folder: Path) -> None:
    """All of it, whatever the function printed; what moved in the text is in its order."""
    written = to_json(RECORDING)
    path_of(TARGET, "cpu", folder).write_text(
        json.dumps(written, ensure_ascii=False), encoding="utf-8"
    )

    assert RECORDING == read(TARGET, folder=folder)
    assert {"text", "data", "moved", "moved_data", "runs", "provenance"} == written.keys()
    assert [
        {"number": 0, "low": 0.2057, "high": 0.2058},
        {"number": 1, "low": 11.0, "high": 12.0},
    ] == written["moved"]
    assert [
        {"at": ["losses", 1], "low": 0.2057, "high": 0.2058},
        {"at": ["losses", 0], "low": 1.0, "high": 1.5},
    ] == written["moved_data"]
    assert [{"processor": "Another", "torch": "2.14.0"}] == written["runs"]


def test_each_device_has_a_recording_of_its_own(folder: Path) -> None:
    """The processor's is the usual one; one that nobody made is None."""
    plain = {"text": "1", "data": None, "provenance": MACHINE}
    path_of(TARGET, "cuda", folder).write_text(json.dumps(plain), encoding="utf-8")

    assert None is read(TARGET, folder=folder)
    assert Recording("1", None, MACHINE) == read(TARGET, "cuda", folder)
    assert Recording("1", None, MACHINE, {}, {}, ()) == from_json(plain)


def test_a_module_that_is_not_there_is_named(folder: Path) -> None:
    """With its whole path."""
    with pytest.raises(RecordingError, match=rf"^there is no module {folder}/lab/nowhere\.py$"):
        read("lab/nowhere:print_number", folder=folder)


@pytest.mark.parametrize(
    "function", ["print_nothing", "print_of", "print_numbe", "number", "print.number", ""]
)
def test_a_function_that_cannot_be_run_by_itself_is_named(function: str, folder: Path) -> None:
    """With those of the module that print and need no argument."""
    with pytest.raises(RecordingError) as refused:
        read(f"lab/number:{function}", folder=folder)

    assert (
        f"{folder}/lab/number.py has no function {function}() without arguments; "
        "those that print are: print_number, study_number"
    ) == str(refused.value)


def test_a_module_without_a_function_that_prints_says_so(folder: Path) -> None:
    """Whatever else it defines."""
    (folder / "lab" / "number.py").write_text("def helper():\n    pass\n", encoding="utf-8")

    with pytest.raises(RecordingError, match=r"those that print are: none$"):
        read(TARGET, folder=folder)
    assert None is read("lab/number:helper", folder=folder)


@pytest.mark.parametrize(
    "text",
    [b"{", b"{}", b"[]", b"null", b"\xff", b'{"text": "", "data": 1, "provenance": {}, ', None],
)
def test_a_damaged_recording_is_named(text: bytes | None, folder: Path) -> None:
    """With what to do: no JSON, JSON that is no recording, and what can't be read at all."""
    path = path_of(TARGET, "cpu", folder)
    if text is None:
        path.mkdir()
    else:
        path.write_bytes(text)

    with pytest.raises(RecordingError) as refused:
        read(TARGET, folder=folder)

    assert str(refused.value).startswith(f"{path} is damaged (")
    assert str(refused.value).endswith("); record it again")


def recording(**provenance: Any) -> Recording:
    """One that did not move."""
    return Recording("0.2058", {"a": [12.5]}, {**MACHINE, **provenance})


def test_a_caption_says_where_and_when() -> None:
    """On a GPU its name; what moved is said too."""
    where = "PyTorch 2.15.0, 2026-11-21."

    assert f"Recorded on A processor, {where}" == recording().caption
    assert f"Recorded on a name, {where}" == recording(device="cuda").caption
    assert RECORDING.caption.startswith(f"Recorded on A processor, {where} Digits that ")


def test_numbers_that_moved_are_shown_with_the_digits_that_hold() -> None:
    """In the text and of the data; others as they are."""
    assert "größer: 0.206 and 10–13\n" == RECORDING.shown
    assert "0.2058" == recording().shown
    assert "0.206" == RECORDING.written(["losses", 1], ".4f")
    assert "12.50" == recording().written(("a", 0), ".2f")
    assert (0.5, 0.0) == (RECORDING.spread(["losses", 0]), RECORDING.spread(["name"]))
