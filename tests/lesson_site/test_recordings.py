"""Outputs are recorded with their provenance, read back, rerun and compared."""

import json
from pathlib import Path

import pytest

from lesson_site import recordings
from lesson_site.__main__ import main
from lesson_site.recordings import RecordingError, differences, path_of, read, record
from lesson_site.snippets import recorded_targets
from tests.building import REPOSITORY

MODULE = """\
def print_number():
    print("loss", 1.5)
    return {"loss": 1.5}


def print_asking():
    import os

    print(os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"], repr(os.getenv("CUDA_VISIBLE_DEVICES")))


def print_and_fail():
    raise ValueError("too hot")
"""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose lesson code is one module, as the current folder."""
    track = tmp_path / "lesson_code" / "tiny"
    track.mkdir(parents=True)
    for room in (track, track.parent):
        (room / "__init__.py").touch()
    (track.parent / "devices.py").symlink_to(REPOSITORY / "lesson_code" / "devices.py")
    (track / "prints.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path


def test_a_recording_keeps_text_data_and_provenance(repository: Path) -> None:
    """What was printed and returned comes back, with the machine and the versions."""
    path = record("tiny/prints:print_number")

    kept = read("tiny/prints:print_number")
    assert Path("lesson_code/tiny/recorded/prints.print_number.cpu.json") == path
    assert kept is not None
    assert ("loss 1.5\n", {"loss": 1.5}) == (kept.text, kept.data)
    assert {
        *("device", "device_name", "processor", "cores", "threads", "torch", "python", "date")
    } == set(kept.provenance)
    assert 1 == kept.provenance["threads"]
    assert kept.provenance["torch"] in kept.caption
    assert [path] == list(path.parent.iterdir())


@pytest.mark.parametrize(("device", "seen"), [("cpu", "''"), ("cuda", "'0'")])
def test_asking_for_a_gpu_starts_no_driver(
    repository: Path, monkeypatch: pytest.MonkeyPatch, device: recordings.Device, seen: str
) -> None:
    """PyTorch asks without CUDA, so that a target may fork; only a recording of a GPU sees one."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    runner = recordings.RUNNER.replace("torch.cuda.is_available()", "True")
    monkeypatch.setattr(
        recordings, "RUNNER", runner.replace("device_name(torch.device(device))", "''")
    )

    assert f"1 {seen}\n" == recordings.run("tiny/prints:print_asking", device).text


def test_what_was_not_recorded_is_none(repository: Path) -> None:
    """A page then says that nobody measured it yet."""
    assert read("tiny/prints:print_number", "cuda") is None


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("tiny/nope:print_number", "there is no module lesson_code/tiny/nope.py"),
        ("tiny/prints:nope", r"tiny/prints.py has no function nope\(\)"),
        ("tiny/prints", r"has no function \(\)"),
    ],
)
def test_an_unknown_target_is_named(repository: Path, target: str, said: str) -> None:
    """Reading it says what is missing."""
    with pytest.raises(RecordingError, match=said):
        read(target)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"text": 1}'])
def test_a_damaged_recording_is_refused(repository: Path, content: str) -> None:
    """The message says to record it again."""
    path = path_of("tiny/prints:print_number", "cpu")
    path.parent.mkdir()
    path.write_text(content)

    with pytest.raises(RecordingError, match=r"is damaged .*; record it again"):
        read("tiny/prints:print_number")


def test_a_function_that_fails_leaves_the_old_recording(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command says why in one sentence, returns two, and changes nothing."""
    path = path_of("tiny/prints:print_and_fail", "cpu")
    path.parent.mkdir()
    path.write_text("old")

    code = main(["record", "tiny/prints:print_and_fail"])

    said = capsys.readouterr().err
    assert 2 == code
    assert "error: tiny/prints:print_and_fail failed: ValueError: too hot\n" == said
    assert "old" == path.read_text()


@pytest.mark.parametrize("arguments", [["record"], ["record", "--all", "tiny/prints:print_number"]])
def test_the_command_wants_targets_or_all_of_them(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """One of the two, and not both."""
    assert 2 == main(arguments)
    assert "error: name what to record, or give --all\n" == capsys.readouterr().err


def test_all_records_what_pages_show(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """``--all`` takes the targets of the fences for the device, each once."""
    (repository / "docs").mkdir()
    (repository / "docs" / "page.md").write_text(
        '```lesson-output of="a:b" tolerance="0.1"\n```\n\n'
        '    ```lesson-output of="a:b"\n    ```\n\n'
        '```lesson-output of="c:d" device="cuda"\n```\n'
    )
    taken: list[tuple[str, str]] = []

    def note(target: str, device: str) -> Path:
        taken.append((target, device))
        return Path(target)

    monkeypatch.setattr(recordings, "record", note)

    codes = [main(["record", "--all", "--device", device]) for device in ("cpu", "cuda")]

    assert [0, 0] == codes
    assert [("a:b", "cpu"), ("c:d", "cuda")] == taken
    assert "a:b\nc:d\n" == capsys.readouterr().out


@pytest.mark.parametrize(
    ("recorded", "fresh", "tolerance"),
    [
        ("loss 1.5", "loss 1.5", 0.0),
        ("took 2.3 s", "took 9.81 s", 0.0),
        ("loss   1.5", "loss 1.5", 0.0),
        ("loss 1.50", "loss 1.51", 0.001),
        ("loss 100.0", "loss 104.9", 0.05),
        ("1,200 images", "1,201 images", 0.01),
        ("-----", "---------", 0.0),
    ],
)
def test_outputs_agree(recorded: str, fresh: str, tolerance: float) -> None:
    """Durations never count; numbers may differ by the tolerance or in their last digit."""
    assert [] == differences(recorded, fresh, tolerance)


@pytest.mark.parametrize(
    ("recorded", "fresh", "tolerance", "said"),
    [
        ("loss 1.5", "loss 1.6", 0.0, "1.5 became 1.6"),
        ("loss 1.5", "cost 1.5", 0.0, "the words differ"),
        ("loss 100.0", "loss 106.0", 0.05, "100.0 became 106.0"),
        ("1 2", "1", 0.5, "the words differ"),
    ],
)
def test_outputs_differ(recorded: str, fresh: str, tolerance: float, said: str) -> None:
    """What differs is said in words."""
    found = differences(recorded, fresh, tolerance)

    assert 1 == len(found)
    assert said in found[0]


def test_every_output_on_a_page_is_recorded_for_the_cpu() -> None:
    """No page waits for a recording that any machine can make."""
    targets = recorded_targets("cpu", REPOSITORY / "docs")

    missing = [t for t in targets if read(t, "cpu", REPOSITORY / "lesson_code") is None]
    assert [] == missing


def test_a_recording_is_readable_json() -> None:
    """Each file in the repository holds text, data and provenance."""
    for path in (REPOSITORY / "lesson_code").rglob("recorded/*.json"):
        content = json.loads(path.read_text(encoding="utf-8"))

        assert {"text", "data", "provenance"} == set(content), path
