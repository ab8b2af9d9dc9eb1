"""Outputs are recorded with their provenance, read back, rerun and compared."""

import json
from pathlib import Path

import pytest

from lesson_code.devices import cpu_name
from lesson_site import recordings
from lesson_site.__main__ import main
from lesson_site.recordings import (
    Printer,
    Recording,
    RecordingError,
    differences,
    path_of,
    read,
    record,
)
from lesson_site.snippets import recorded_targets
from results import held_digits
from results.held_digits import Range
from results.result_file import SIMULATED_GPU
from tests.building import REPOSITORY

MODULE = """\
import os

import torch


def print_number():
    print("loss", 1.5)
    return {"loss": 1.5}


def print_setting():
    avx2 = os.getenv("ONEDNN_MAX_CPU_ISA") == "AVX2"
    default = os.getenv("ATEN_CPU_CAPABILITY") == "default"
    loss = 0.25 + 0.001 * avx2 - 0.002 * default + 0.0001 * torch.get_num_threads()
    print(f"3 epochs, loss {loss:.4f}, took {torch.get_num_threads()} s")
    return {"losses": [1.0, loss], "name": "loss"}


def print_verdict():
    print("rises" if torch.get_num_threads() > 2 else "falls")


def print_asking():
    print(os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"], repr(os.getenv("CUDA_VISIBLE_DEVICES")))


def print_and_fail():
    raise ValueError("too hot")


def print_and_end():
    os._exit(3)
"""


# PyTorch takes seconds to load, and three instruction sets load it three times.
STAND_IN = """\
__version__ = "2.15.0"
threads = 0


class device:
    def __init__(self, name):
        self.type = name


class dtype:
    pass


class cuda:
    is_available = staticmethod(lambda: True)
    get_device_name = staticmethod(lambda device: "a GPU")


def set_num_threads(count):
    global threads
    threads = count


def get_num_threads():
    return threads
"""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose lesson code is one module, as the current folder, and a light PyTorch."""
    track = tmp_path / "lesson_code" / "tiny"
    track.mkdir(parents=True)
    for room in (track, track.parent):
        (room / "__init__.py").touch()
    (track.parent / "devices.py").symlink_to(REPOSITORY / "lesson_code" / "devices.py")
    (tmp_path / "torch.py").write_text(STAND_IN)
    (tmp_path / "torchvision.py").touch()
    (track / "prints.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
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


def test_a_number_that_moves_is_kept_with_its_range(repository: Path) -> None:
    """It is printed under every instruction set and number of threads; durations never count."""
    record("tiny/prints:print_setting")

    kept = read("tiny/prints:print_setting")
    assert kept is not None
    assert "3 epochs, loss 0.2501, took 1 s\n" == kept.text
    assert {1: Range(0.2481, 0.2514)} == kept.moved
    assert {("losses", 1): Range(0.2481, 0.2514)} == kept.moved_data
    assert "3 epochs, loss 0.244–0.255, took 1 s\n" == kept.shown
    assert 0.0 == kept.spread(["losses", 0])
    assert 0.0033 == pytest.approx(kept.spread(["losses", 1]))
    [run] = kept.runs
    assert list(recordings.INSTRUCTIONS) == run["instructions"]
    assert [1, 2, 4] == run["threads"]
    assert "differ from processor to processor" in kept.caption


def test_words_that_move_are_refused(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No range can tell them: the printout has to say what holds everywhere."""
    assert 2 == main(["record", "tiny/prints:print_verdict"])
    assert (
        "error: tiny/prints:print_verdict prints 'falls' here, and 'rises' with native "
        "instructions and 4 threads; print what holds everywhere\n"
    ) == capsys.readouterr().err


def test_another_processor_adds_its_numbers(repository: Path) -> None:
    """Where both agree, or where the author says that the code is as it was."""
    path = record("tiny/prints:print_setting")
    content = json.loads(path.read_text())
    content["runs"][0]["processor"] = "another one"
    for moved in (content["moved"][0], content["moved_data"][0]):
        moved["low"] = 0.2478
    path.write_text(json.dumps(content))

    record("tiny/prints:print_setting")
    kept = read("tiny/prints:print_setting")
    assert kept is not None
    assert {1: Range(0.2478, 0.2514)} == kept.moved
    assert ["another one", cpu_name()] == [run["processor"] for run in kept.runs]

    for moved in (content["moved"][0], content["moved_data"][0]):
        moved |= {"low": 0.5, "high": 0.5001}
    path.write_text(json.dumps(content))
    record("tiny/prints:print_setting", merge=True)
    kept = read("tiny/prints:print_setting")
    assert kept is not None
    assert Range(0.2481, 0.5001) == kept.moved[1]

    path.write_text(json.dumps(content))
    record("tiny/prints:print_setting")
    kept = read("tiny/prints:print_setting")
    assert kept is not None
    assert Range(0.2481, 0.2514) == kept.moved[1]


def test_checking_writes_nothing(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It says what a page shows that fails here, and under which setting."""
    target = "tiny/prints:print_setting"
    path = record(target)
    assert 0 == main(["record", "--check", target])

    content = path.read_text().replace("3 epochs", "4 epochs")
    path.write_text(content)

    assert 2 == main(["record", "--check", target])
    problems = capsys.readouterr().err.splitlines()
    assert len(recordings.SETTINGS) == len(problems)
    assert f"error: {target} with AVX2 instructions and 2 threads: 4 became 3" in problems
    assert content == path.read_text()


@pytest.mark.parametrize(("device", "seen"), [("cpu", "''"), ("cuda", "'0'")])
def test_asking_for_a_gpu_starts_no_driver(
    repository: Path, monkeypatch: pytest.MonkeyPatch, device: recordings.Device, seen: str
) -> None:
    """PyTorch asks without CUDA, so that a target may fork; only a recording of a GPU sees one."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")

    with Printer(device=device) as printer:
        assert f"1 {seen}\n" == printer.run("tiny/prints:print_asking").text


def test_what_a_simulated_gpu_prints_is_not_kept(repository: Path) -> None:
    """It would be passed off as a real one's."""
    module = repository / "torch.py"
    stand_in = module.read_text(encoding="utf-8").replace("a GPU", SIMULATED_GPU)
    module.write_text(stand_in, encoding="utf-8")

    with pytest.raises(RecordingError, match="on a real one"):
        recordings.record("tiny/prints:print_number", "cuda")

    assert None is recordings.read("tiny/prints:print_number", "cuda")


@pytest.mark.parametrize("forks", [True, False])
def test_a_process_that_ends_harms_no_other_target(
    repository: Path, monkeypatch: pytest.MonkeyPatch, forks: bool
) -> None:
    """The message has its status, and the next target is printed; where nothing forks as well."""
    printing = recordings.PRINTING.read_text(encoding="utf-8")
    path = repository / "printing.py"
    path.write_text(printing.replace('sys.platform == "linux"', str(forks)))
    monkeypatch.setattr(recordings, "PRINTING", path)

    with Printer() as printer:
        with pytest.raises(RecordingError, match="its process ended with status 3"):
            printer.run("tiny/prints:print_and_end")
        assert "loss 1.5\n" == printer.run("tiny/prints:print_number").text


def test_python_s_last_words_are_passed_on(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where PyTorch is missing, for one."""
    path = repository / "printing.py"
    path.write_text("import a_library_that_is_missing")
    monkeypatch.setattr(recordings, "PRINTING", path)

    with Printer() as printer, pytest.raises(RecordingError, match="No module named 'a_library"):
        printer.run("tiny/prints:print_number")


def test_what_was_not_recorded_is_none(repository: Path) -> None:
    """A page then says that nobody measured it yet."""
    assert read("tiny/prints:print_number", "cuda") is None


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("tiny/nope:print_number", "there is no module lesson_code/tiny/nope.py"),
        ("tiny/prints:nope", r"prints.py has no function nope\(\).*: .*print_number"),
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
        '```lesson-output of="a:b"\n```\n\n'
        '    ```lesson-output of="a:b"\n    ```\n\n'
        '```lesson-output of="c:d" device="cuda"\n```\n'
    )
    taken: list[tuple[str, str]] = []

    def note(target: str, device: str, **_: object) -> Path:
        taken.append((target, device))
        return Path(target)

    monkeypatch.setattr(recordings, "record", note)

    codes = [main(["record", "--all", "--device", device]) for device in ("cpu", "cuda")]

    assert [0, 0] == codes
    assert [("a:b", "cpu"), ("c:d", "cuda")] == taken
    assert "a:b\nc:d\n" == capsys.readouterr().out


def printed(text: str, data: object = None, moved: Range | None = None) -> Recording:
    """A recording of a text whose last number moved over a range."""
    count = len(held_digits.numbers(text))
    return Recording(text, data, {}, {count - 1: moved} if moved else {})


@pytest.mark.parametrize(
    ("recorded", "fresh", "moved"),
    [
        ("loss 1.5", "loss 1.5", None),
        ("took 2.3 s", "took 9.81 s", None),
        ("loss   1.5", "loss 1.5", None),
        ("1,200 images", "1,200 images", None),
        ("-----", "---------", None),
        ("loss 1.50", "loss 1.52", Range(1.49, 1.52)),
        ("loss 1.503", "loss 1.497", Range(1.502, 1.503)),
        ("loss 0.2058", "loss 0.1655", Range(0.1741, 0.2058)),
    ],
)
def test_outputs_agree(recorded: str, fresh: str, moved: Range | None) -> None:
    """A moved number may be any that the page would show as it does; every other one is itself."""
    assert [] == differences(printed(recorded, moved=moved), printed(fresh))


@pytest.mark.parametrize(
    ("recorded", "fresh", "moved", "said"),
    [
        ("loss 1.5", "loss 1.6", None, "1.5 became 1.6"),
        ("loss 1.5000", "loss 1.5001", None, "1.5000 became 1.5001"),
        ("loss 1.5", "cost 1.5", None, "the words differ"),
        ("loss 1.503", "loss 1.512", Range(1.502, 1.503), "1.50 became 1.512"),
        ("2 and 1.5", "3 and 1.5", Range(1.4, 1.5), "2 became 3"),
        ("1 2", "1", None, "the words differ"),
    ],
)
def test_outputs_differ(recorded: str, fresh: str, moved: Range | None, said: str) -> None:
    """What differs is said in words, and as the page shows it."""
    found = differences(printed(recorded, moved=moved), printed(fresh))

    assert 1 == len(found)
    assert said in found[0]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ({"a": [1, 2.0]}, {"a": [1, 2.0]}, []),
        ({"a": 1 / 3}, {"a": 1 / 3 + 1e-9}, []),
        ({"a": float("nan")}, {"a": float("nan")}, []),
        ({"a": [1, 2.0]}, {"a": [1, 2.1]}, ["data: a / 1: 2.0 became 2.1"]),
        ({"a": 1}, {"b": 1}, ["the data differ: "]),
    ],
)
def test_data_are_compared_too(old: object, new: object, said: list[str]) -> None:
    """Pages take figures from them, in a few digits."""
    found = differences(printed("", old), printed("", new))

    assert len(said) == len(found)
    assert all(text in problem for text, problem in zip(said, found, strict=True))


def test_every_output_on_a_page_is_recorded_for_the_cpu() -> None:
    """No page waits for a recording that any machine can make."""
    targets = recorded_targets("cpu", REPOSITORY / "docs")

    missing = [t for t in targets if read(t, "cpu", REPOSITORY / "lesson_code") is None]
    assert [] == missing


def test_a_recording_is_readable_json() -> None:
    """Each file in the repository holds text, data and provenance."""
    for path in (REPOSITORY / "lesson_code").rglob("recorded/*.json"):
        content = json.loads(path.read_text(encoding="utf-8"))

        assert {"text", "data", "provenance"} <= set(content), path
