"""The whole of what a GPU is asked for: it goes on where it stopped, and says what is left."""

import dataclasses
import json
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import cases, gpu_run
from benchmarks.cases import Plan
from benchmarks.gpu_run import COMMANDS, LONG, SHORT, WHERE, Command
from benchmarks.stopping import STOPPED
from lesson_site import notebooks
from results import result_file
from tests.benchmarks.made_up import GPU_MACHINE, part
from tests.building import REPOSITORY
from tests.warm import Parent

Run = Callable[..., tuple[int, str]]
NOTHING_LEFT, FAILED, LEFT = 0, 1, 3


def command(name: str, code: str, needs: str = "torch", step: str = "step") -> Command:
    """One that runs a line of Python, in a module of its own."""
    Path(f"{name}.py").write_text(f"print({name!r}, file=open('ran.txt', 'a')); {code}\n")
    return Command(name, step, (name, "{seconds}"), needs)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Calls it with made-up commands, in an empty folder, as if a GPU were there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(gpu_run, "WHERE", "print('results/made-up-gpu/today.json'); %r, %r")
    monkeypatch.setattr(gpu_run, "commit", lambda: "0123456789")

    def called(commands: list[Command], *arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(gpu_run, "COMMANDS", tuple(commands))
        code = gpu_run.main([*arguments])
        return code, capsys.readouterr().out

    return called


def test_a_later_call_runs_what_is_not_done(run: Run) -> None:
    """What failed stops nothing else, and is asked again; what is done is not."""
    good, bad = command("good", "pass"), command("bad", "raise SystemExit(1)")

    code, said = run([bad, good])
    again, said_again = run([command("bad", "pass"), good])

    assert (FAILED, NOTHING_LEFT) == (code, again)
    assert "bad: failed with exit code 1\ngood: done\n" in said
    assert "bad: done\ngood: done before\n" in said_again
    assert ["bad", "good", "bad"] == Path("ran.txt").read_text().split()
    assert "results/made-up-gpu/today.json" in said_again


def test_other_code_begins_anew(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """What passed with another commit says nothing about this one."""
    good = command("good", "pass")
    run([good])
    tried = gpu_run.FOLDER / "tried.txt"
    tried.write_text("passed a test\n")
    monkeypatch.setattr(gpu_run, "commit", lambda: "9876543210")

    _, said = run([good])

    assert "good: done\n" in said
    assert not tried.exists()


def test_a_call_that_was_killed_is_taken_up_where_it_was(run: Run) -> None:
    """A damaged note of what was done is no reason to stop."""
    killed = command("killed", "__import__('os').kill(__import__('os').getppid(), 2)")
    # A shell that started the tests in the background lets them ignore Ctrl-C.
    heard = signal.signal(signal.SIGINT, signal.default_int_handler)

    try:
        code, _ = run([killed])
    finally:
        signal.signal(signal.SIGINT, heard)
    kept = json.loads((gpu_run.FOLDER / "state.json").read_text())
    (gpu_run.FOLDER / "state.json").write_text('{"about": ')
    again, _ = run([command("killed", "pass")])

    assert (STOPPED, NOTHING_LEFT) == (code, again)
    assert ("results/made-up-gpu/today.json", []) == (kept["result"], kept["done"])


def test_a_trial_publishes_nothing(run: Run) -> None:
    """Nor does what it did count as done when it is meant."""
    shown = dataclasses.replace(command("shown", "pass"), publishes=True)
    good = command("good", "pass")

    _, said = run([good, shown], "--quick")
    _, said_then = run([good, shown])

    assert "good: done\nshown: left out of a trial\n" in said
    assert "good: done\nshown: done\n" in said_then


def test_time_that_is_over_leaves_the_rest(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that takes too long is ended, the next of its step is not begun, others are."""
    monkeypatch.setattr(gpu_run, "SPARE_S", 0.1)
    monkeypatch.setattr(gpu_run, "STEP_S", 2.0)
    slow = command("slow", "__import__('time').sleep(60)")
    later, other = command("later", "pass"), command("other", "pass", step="another")

    code, said = run([slow, later, other])

    assert LEFT == code
    assert "slow: not finished\nlater: not finished\nother: done\n" in said
    assert "goes on with what is left" in said


def test_what_is_not_installed_is_left_out(run: Run) -> None:
    """A bare machine measures all the same, and says what it could not do."""
    code, said = run([command("notebook", "pass", needs="no_such_package")])

    assert NOTHING_LEFT == code
    assert "notebook: left out, no_such_package is not installed" in said
    assert not Path("ran.txt").exists()


def test_a_measurement_without_time_for_some_part_is_not_done(run: Run) -> None:
    """The job ends well with parts left over; only the file knows which are in it."""
    measured = {"launches": {"operations": part(cuda_queued=1e-6)}}
    content = {**result_file.empty(GPU_MACHINE), "cases": measured}
    result_file.write(content, Path("results/made-up-gpu/today.json"))
    done = Command("measured", "cases", command("measured", "pass").arguments, cases=("launches",))
    left = Command("left", "cases", command("left", "pass").arguments, cases=("tiny_epoch",))

    code, said = run([done, left])

    assert LEFT == code
    assert "measured: done\nleft: not finished\n" in said


def test_without_a_gpu_it_is_one_sentence(
    run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing runs and nothing is written."""
    monkeypatch.setattr(gpu_run, "WHERE", WHERE)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY))

    code = gpu_run.main([])
    said = capsys.readouterr().err

    assert 2 == code
    assert 1 == len(said.splitlines())
    assert said.startswith("error: PyTorch finds no NVIDIA GPU")
    assert not gpu_run.FOLDER.exists()


@pytest.mark.parametrize(
    "wrong", ["--minutes=0", "--minutes=soon", "--commit=main", "--quick=yes", "tests"]
)
def test_a_wrong_word_is_refused_in_a_sentence(
    wrong: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before anything runs."""
    with pytest.raises(SystemExit) as ended:
        gpu_run.main([wrong])
    said = capsys.readouterr().err

    assert 2 == ended.value.code
    assert 1 == len(said.splitlines())
    assert said.startswith("error: ")


def test_every_part_fits_into_its_step() -> None:
    """What is expected to take longer than ten minutes together would never end in one call."""
    plan = Plan(Path("data"), gpu=cases.torch.device("cuda", 0), gpu_only=True)
    lists = {"short": SHORT, "long": LONG}
    expected_s = {
        name: sum(
            part.expected_s
            for case in cases.with_compared(names)
            for part in cases.load(case).parts(plan)
            if case in cases.GPU_NAMES and not part.cpu_only
        )
        for name, names in lists.items()
    }

    assert set(cases.GPU_NAMES) == {*SHORT, *LONG}
    limit_s = gpu_run.STEP_S - 2 * gpu_run.SPARE_S
    assert {} == {name: s for name, s in expected_s.items() if s >= limit_s}, (
        f"over {limit_s:.0f} s; lower expected_s in a case, or put one into _LONG of gpu_run.py"
    )


def test_the_commands_are_there(warm: Parent) -> None:
    """Each is a module that this project or its tools have, with options that it knows."""
    words = {"minutes": 1, "seconds": 1, "result": "r.json", "tried": "t.txt"}
    for found in COMMANDS:
        module, *rest = (word.format(**words) for word in found.arguments)
        wrong = [*rest, "--no-such-option"]
        done = warm.run([sys.executable, "-m", module, *wrong], cwd=REPOSITORY)

        _, _, unknown = done.stderr.partition("unrecognized arguments: ")
        assert ["--no-such-option"] == unknown.partition(";")[0].split()[:1], done.stderr


@pytest.mark.gpu
def test_a_trial_measures_a_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The GPU is found, and a case in its short form leaves a file that belongs to no page."""
    monkeypatch.chdir(REPOSITORY)
    monkeypatch.setattr(gpu_run, "FOLDER", tmp_path)
    measuring = next(of for of in COMMANDS if "launches" in of.cases)
    arguments = [*measuring.arguments[: measuring.arguments.index("--case")], "--case", "launches"]
    short = dataclasses.replace(measuring, arguments=tuple(arguments), cases=("launches",))
    monkeypatch.setattr(gpu_run, "COMMANDS", (short,))

    code = gpu_run.main(["--quick"])

    state = json.loads((tmp_path / "trial/state.json").read_text(encoding="utf-8"))
    assert NOTHING_LEFT == code
    assert Path(state["result"]).is_relative_to(result_file.QUICK_FOLDER)


COLAB = """
import sys, types
def download(path):
    print("handed over:", path.rpartition("/")[2])
sys.modules["google.colab"] = types.SimpleNamespace(files=types.SimpleNamespace(download=download))
"""


def run_notebook(folder: Path, parameters: str) -> tuple[str, Path]:
    """What the measuring notebook prints, run in a folder that has its archive, and its file."""
    pytest.importorskip("nbclient")
    from lesson_site.postbuild.bundle import MEASURING_NOTEBOOK, pack_measuring

    at = folder / MEASURING_NOTEBOOK.parent
    at.mkdir()
    shutil.copy(notebooks.MEASURING_NOTEBOOK, at)
    pack_measuring(folder)
    ran = notebooks.execute(notebooks.build("learner", notebooks.MEASURING), at, parameters)
    printed = "".join(o.get("text", "") for cell in ran["cells"] for o in cell.get("outputs", []))
    return printed, at / "gpu-result.json"


@pytest.mark.gpu
def test_the_notebook_measures_a_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its cells run from top to bottom and leave a file; here one case in its short form."""
    monkeypatch.chdir(REPOSITORY)

    printed, file = run_notebook(tmp_path, 'QUICK, CASES = True, ["launches"]')

    measured = json.loads(file.read_text(encoding="utf-8"))
    assert "Your file is gpu-result.json" in printed
    assert {"cpu", "cuda_queued"} <= set(measured["cases"]["launches"]["operations"]["entries"])


def test_the_notebook_measures_a_cpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a GPU its cells run as well; Colab is handed a file that the validator takes."""
    monkeypatch.chdir(REPOSITORY)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    parameters = 'ONLY_GPU, QUICK, CASES = False, True, ["launches"]'

    printed, file = run_notebook(tmp_path, f"{parameters}{COLAB}")

    measured = result_file.read(file)
    assert "handed over: gpu-result.json" in printed
    assert {"cpu"} == set(measured["cases"]["launches"]["operations"]["entries"])
