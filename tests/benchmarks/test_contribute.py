"""The command that makes of a result file one that its owner may give away."""

import json
from pathlib import Path

import pytest

from benchmarks.contribute import main
from results import contributed, result_file
from results.contributed import FOLDER
from results.store import Store, open_store
from tests.benchmarks.made_up import good, raced
from tests.building import REPOSITORY
from tests.results.test_contributed import FILE, SKIPPED


@pytest.fixture(scope="module")
def store() -> Store:
    """The store of this repository."""
    return open_store(REPOSITORY)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which the command runs, with a result file in it."""
    monkeypatch.chdir(tmp_path)
    content = good()
    content["cases"]["tiny_epoch"]["late"] = SKIPPED
    content["cases"]["matmul"] = {"late": SKIPPED}
    content["cases"]["tiny_epoch"]["samples_100"]["incomplete"] = "OSError on adas-laptop"
    content["provenance"]["machine"] = "adas-laptop"
    result_file.write(content, tmp_path / "mine.json")
    return tmp_path


def test_the_command_takes_out_what_tells_of_the_machine(here: Path, store: Store) -> None:
    """What it writes is good, and every measured value is in it."""
    code = main(["mine.json", "--as", "Ada"])

    [path] = (here / FOLDER).glob("*/*")
    written = json.loads(path.read_text(encoding="utf-8"))
    assert 0 == code
    assert FILE == path.relative_to(here)
    assert "adas-laptop" not in path.read_text(encoding="utf-8")
    assert good()["figures"] == written["figures"]
    assert 1 == len(contributed.read(store, here))


def test_a_race_is_given_too(here: Path, store: Store) -> None:
    """A browser has no PyTorch, and its engine is named."""
    result_file.write(raced(), here / "race.json")

    code = main(["race.json", "mine.json", "--as", "Ada"])

    assert 0 == code
    assert 2 == len(contributed.read(store, here))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["mine.json", "--as", "a/b"], "error: the name 'a/b' can't be used: "),
        (["mine.json", "--as", "A\u202eb"], "error: the name 'A\\u202eb' can't be used: "),
        (["mine.json", "--as", "My-Box"], "error: My-Box is the name of this machine; "),
        (["mine.json", "none.json", "--as", "Ada"], "error: can't read none.json: "),
        (["mine.json", "mine.json", "--as", "Ada"], "error: mine.json has been given already"),
        (["trial.json", "--as", "Ada"], "error: trial.json at provenance.quick: "),
    ],
)
def test_bad_input_is_one_sentence_and_changes_nothing(
    arguments: list[str],
    said: str,
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Of several files none is written then."""
    trial = good()
    trial["provenance"]["quick"] = True
    result_file.write(trial, here / "trial.json")
    monkeypatch.setattr("platform.node", lambda: "my-box.lab.example")

    code = main(arguments)

    assert 2 == code
    error = capsys.readouterr().err
    assert error.startswith(said)
    assert 1 == error.count("\n")
    assert not (here / FOLDER).exists()
