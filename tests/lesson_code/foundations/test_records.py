"""A record of a run: written at once, never written over, and compared with another."""

import json
import subprocess
from pathlib import Path

import pytest
import torch

from lesson_code.foundations import records
from lesson_code.foundations.records import Record, about, differences, read, run
from tests.printed import printed

SETTINGS = {"seed": 0, "rate": 0.1, "epochs": 2, "batch": 32}


def test_a_run_leaves_its_settings_and_a_line_for_each_epoch(tmp_path: Path) -> None:
    """The losses are those of the training, and a second run with the same seed repeats them."""
    files = [tmp_path / name for name in ("one.jsonl", "other.jsonl")]
    for file in files:
        run(file, SETTINGS)

    (settings, epochs), (_, again) = map(read, files)
    assert SETTINGS.items() <= settings.items()
    assert [1, 2] == [epoch["epoch"] for epoch in epochs]
    assert epochs == again
    assert epochs[1]["train"] < epochs[0]["train"]
    assert {} == differences(*files)


def test_a_record_is_never_written_over(tmp_path: Path) -> None:
    """A second run of that name stops before it trains, and the first one stays."""
    file = tmp_path / "run.jsonl"
    Record(file, {"rate": 0.1})

    with pytest.raises(FileExistsError):
        Record(file, {"rate": 0.2})
    assert 0.1 == read(file)[0]["rate"]


def test_each_line_is_there_at_once(tmp_path: Path) -> None:
    """Other values than numbers, texts and lists become text, and NaN comes back as it was."""
    record = Record(tmp_path / "run.jsonl", {"data": tmp_path})
    record.add({"loss": float("nan")})

    settings, [epoch] = read(record.path)
    assert str(tmp_path) == settings["data"]
    assert epoch["loss"] != epoch["loss"]


def test_two_records_differ_in_what_only_one_has_too(tmp_path: Path) -> None:
    """The time at which they began does not count."""
    one, other = (tmp_path / name for name in ("one", "other"))
    for file, line in ((one, {"a": 1, "b": 2}), (other, {"a": 1, "c": 3})):
        file.write_text(json.dumps({**line, "started": file.name}) + "\n", encoding="utf-8")

    assert {"b": (2, None), "c": (None, 3)} == differences(one, other)


def test_it_says_what_the_run_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commit is that of the folder, dirty with a change, and unknown without a repository."""
    monkeypatch.chdir(tmp_path)
    outside = about()
    for command in (
        ["init", "--quiet"],
        [
            "-c",
            "user.name=a",
            "-c",
            "user.email=b",
            "commit",
            "--quiet",
            "--allow-empty",
            "-m",
            "x",
        ],
    ):
        subprocess.run(["git", *command], check=True)
    clean = about()["commit"]
    (tmp_path / "file").write_text("x", encoding="utf-8")
    subprocess.run(["git", "add", "file"], check=True)

    assert ("unknown", torch.__version__) == (outside["commit"], outside["torch"])
    assert f"{clean}-dirty" == about()["commit"]


def test_without_git_the_commit_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without it can keep records too."""

    def missing(*_: object, **__: object) -> None:
        raise FileNotFoundError

    monkeypatch.setattr(records.subprocess, "run", missing)

    assert "unknown" == about()["commit"]


def test_the_two_runs_of_the_page_differ_in_two_settings() -> None:
    """And the second one ends lower, which the page leaves to neither of them."""
    *settings, losses = printed("foundations/records:print_two_runs").text.splitlines()
    monday, tuesday = map(float, losses.split()[-2:])

    assert ["rate", "epochs"] == [line.split()[0] for line in settings]
    assert tuesday < monday
