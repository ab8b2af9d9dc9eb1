"""The lab's one command: what it says about a fresh folder, a solved one, and wrong calls."""

import importlib
import os
import re
import signal
import subprocess
import sys
import sysconfig
import zipfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import torch

from lesson_code.data import lay_out_subset
from lesson_site.postbuild.bundle import LAB_PAGE, pack_lab
from tests.building import REPOSITORY
from tests.lesson_code.foundations.lab.workspace import (
    STARTER,
    check,
    import_file,
    solved_folder,
    starter_folder,
)
from tests.processes import gone

RUNS_OF_ITS_OWN = ("2", "3", "4", "5")  # Steps 1 and 6 have tests of their own


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The starter, with the digits that come with it."""
    folder = starter_folder(tmp_path_factory.mktemp("fresh"))
    lay_out_subset(folder / "digits")
    return folder


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reference solutions, with the same digits."""
    folder = solved_folder(tmp_path_factory.mktemp("solved"))
    lay_out_subset(folder / "digits")
    return folder


@pytest.mark.parametrize("step", ["1", "2", "3", "4", "5", "6"])
def test_the_starter_fails_every_step_readably(step: str, fresh: Path) -> None:
    """Each step says what is open, with symptom, evidence and part, and shows no traceback."""
    checked = check(step, fresh)

    assert 1 == checked.status
    assert "open" in checked.states.values()
    for word in ("symptom:", "evidence:", "reread:"):
        assert word in checked.text
    assert "Traceback" not in checked.text


@pytest.mark.parametrize("step", RUNS_OF_ITS_OWN)
def test_the_reference_passes(step: str, solved: Path) -> None:
    """With the solutions everything is passed."""
    checked = check(step, solved)

    assert {"passed"} == set(checked.states.values()), checked.text
    assert 0 == checked.status


def test_without_digits_nothing_counts_as_passed(tmp_path: Path) -> None:
    """Without MNIST the script's points are listed with the reason, and the status is not 0."""
    checked = check("3", solved_folder(tmp_path), "-k", "test_data or losses or test_fault")

    assert ["open", "not checkable here", "not checkable here"] == list(checked.states.values())
    assert "reason:   MNIST is missing" in checked.text
    assert "0 of 3 passed, 1 open, 2 not checkable here" in checked.text
    assert 1 == checked.status


def test_changed_digits_are_noticed(tmp_path: Path) -> None:
    """A file of the right name and other content leaves the point open."""
    folder = solved_folder(tmp_path)
    raw = lay_out_subset(folder / "data")
    (raw / "t10k-labels-idx1-ubyte").write_bytes(b"no labels")

    checked = check("3", folder, "-k", "test_data")

    assert "t10k-labels-idx1-ubyte is not the published file" in checked.text


@pytest.mark.parametrize("arguments", [[], ["7"], ["two"]])
def test_a_wrong_call_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Only 1 to 6 and `all` are steps."""
    checker = import_file(STARTER / "check.py", "lab_checker")

    with pytest.raises(SystemExit) as refused:
        checker.main(arguments)

    assert 2 == refused.value.code
    assert "python check.py" in capsys.readouterr().err


def test_all_is_as_good_as_its_worst_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """`all` runs the six steps in order, and fails if one does."""
    checker = import_file(STARTER / "check.py", "lab_checker")
    ran: list[str] = []
    monkeypatch.setattr(checker, "run_step", lambda step: ran.append(step) or int(step == "4"))

    assert 1 == checker.main(["all"])
    assert ["1", "2", "3", "4", "5", "6"] == ran


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def broken(:\n", "SyntaxError"),
        ("import no_such_module\n", "No module named 'no_such_module'"),
        ("import sys\nsys.exit(3)\n", "SystemExit: 3"),
        ("", "defines no PREDICTIONS"),
    ],
)
def test_a_script_that_cannot_be_imported_is_open(source: str, said: str, tmp_path: Path) -> None:
    """Whatever is in the file, the learner reads a sentence."""
    (tmp_path / "explore_gradients.py").write_text(source, encoding="utf-8")

    checked = check("2", tmp_path)

    assert said in checked.text
    assert "Traceback" not in checked.text


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """An empty folder is told which file it lacks."""
    assert "explore_gradients.py is missing" in check("2", tmp_path).text


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a learner has after unpacking the archive and creating the environment for real."""
    folder = tmp_path_factory.mktemp("download")
    (folder / LAB_PAGE).parent.mkdir(parents=True)
    (folder / LAB_PAGE).touch()
    archive = pack_lab(folder, STARTER, REPOSITORY / "lesson_code" / "mnist_subset")
    assert archive is not None
    zipfile.ZipFile(archive).extractall(folder)
    lab = folder / "pytorch-training-lab"
    subprocess.run([sys.executable, "-m", "venv", ".venv"], cwd=lab, check=True)
    return lab


def learners_check(lab: Path, interpreter: Path, step: str) -> subprocess.CompletedProcess[str]:
    """Run the command of the page with an interpreter."""
    command = [str(interpreter), "-B", "check.py", step]
    return subprocess.run(command, cwd=lab, capture_output=True, text=True, check=False)


def test_step_1_in_a_fresh_environment(unpacked: Path) -> None:
    """Empty, the environment lacks pytest; with the packages in it the step passes; and outside
    of it the same packages do not do.
    """
    inside = unpacked / ".venv" / "bin" / "python"
    empty = learners_check(unpacked, inside, "1")
    libraries = unpacked / ".venv" / "lib" / f"python{sysconfig.get_python_version()}"
    # In place of a download: what is installed for this test is found from there.
    (libraries / "site-packages" / "installed.pth").write_text("\n".join(site_folders()))

    filled = learners_check(unpacked, inside, "1")
    outside = learners_check(unpacked, Path(sys.executable), "1")

    assert (1, "pytest is not installed") == (empty.returncode, empty.stderr[6:29])
    assert 0 == filled.returncode, filled.stdout
    assert "4 of 4 passed" in filled.stdout
    assert 1 == outside.returncode
    assert "another interpreter runs" in outside.stdout


def test_builds_that_do_not_fit_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A torchvision for CUDA beside a torch for the CPU raises no ImportError, and is seen."""
    (tmp_path / "torchvision.py").write_text("raise RuntimeError('no operator nms')\n")
    monkeypatch.delitem(sys.modules, "torchvision", raising=False)
    monkeypatch.syspath_prepend(tmp_path)

    said = check("1", starter_folder(tmp_path), "-k", "packages").text

    assert "torchvision cannot be imported" in said
    assert f"no operator nms; torch {version('torch')}, torchvision" in " ".join(said.split())


def site_folders() -> list[str]:
    """Where torch and pytest are imported from here."""
    return sorted({str(Path(str(module.__file__)).parent.parent) for module in (torch, pytest)})


def test_the_environment_cannot_create_itself(tmp_path: Path) -> None:
    """An interpreter that does not exist yet can't make the folder that would hold it."""
    command = ["sh", "-c", ".venv/bin/python -m venv .venv"]

    tried = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)

    assert 127 == tried.returncode


def test_a_script_that_dies_or_hangs_is_survived(tmp_path: Path) -> None:
    """The checker's process for scripts outlives both, and says what happened."""
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(tmp_path)
        worker = import_file(STARTER / "checks" / "worker.py", "lab_worker").Worker()
        (tmp_path / "dies.py").write_text("import os\nos._exit(7)\n", encoding="utf-8")
        (tmp_path / "hangs.py").write_text("while True:\n    pass\n", encoding="utf-8")
        (tmp_path / "says.py").write_text("import sys\nsys.exit('no')\n", encoding="utf-8")

        died = worker.run("dies.py")
        with pytest.raises(TimeoutError, match="still ran"):
            worker.run("hangs.py", timeout_s=0.2)
        said = worker.run("says.py")
        worker.close()

    assert -1 == died.status
    assert (1, "no\n") == (said.status, said.error)


NOISY = """
import os, sys
os.write(1, b"noise\\n")
os.system("echo noise")
try:
    input()
except EOFError:
    print("nothing to read")
"""
DAEMON = """
import os, pathlib, time
if not os.fork():
    os.setsid()
    if os.fork():
        os._exit(0)
    pathlib.Path("note").write_text(str(os.getpid()))
    time.sleep(3600)
while not os.path.exists("note") or not pathlib.Path("note").read_text():
    time.sleep(0.05)
print("on")
"""


def run_in_worker(folder: Path, **scripts: str) -> list[Any]:
    """How these scripts end in the checker's process for scripts."""
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        worker = import_file(STARTER / "checks" / "worker.py", "lab_worker").Worker()
        for name, code in scripts.items():
            (folder / f"{name}.py").write_text(code, encoding="utf-8")
        results = [worker.run(f"{name}.py") for name in scripts]
        worker.close()
    return results


def test_what_a_scripts_programs_print_does_not_disturb(tmp_path: Path) -> None:
    """A script may start a program of the system, and may ask for input that nobody types."""
    noisy, next_one = run_in_worker(tmp_path, noisy=NOISY, quiet="print('quiet')\n")

    assert (0, "nothing to read\n") == (noisy.status, noisy.output)
    assert (0, "quiet\n") == (next_one.status, next_one.output)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_a_script_that_comes_to_its_end_twice_is_heard_once(tmp_path: Path) -> None:
    """What it forked says nothing, and reads no job."""
    code = "import os\nprint('child' if os.fork() == 0 else 'parent')\n"
    forked, next_one = run_in_worker(tmp_path, forks=code, quiet="print('quiet')\n")

    assert ["parent\n", "quiet\n"] == [forked.output, next_one.output]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere orphans do not come to the checker")
def test_not_even_a_daemon_outlives_the_checks(tmp_path: Path) -> None:
    """Nobody waits for it, and it ends."""
    [result] = run_in_worker(tmp_path, daemon=DAEMON)

    assert (0, "on\n") == (result.status, result.output)
    assert gone(int((tmp_path / "note").read_text(encoding="utf-8")))


def test_both_labs_end_processes_in_the_same_way() -> None:
    """Each is handed out without the other, so each has the file."""
    ours = REPOSITORY / "graders" / "keeper.py"

    assert ours.read_bytes() == (STARTER / "checks" / "keeper.py").read_bytes()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="Windows has no such timer")
@pytest.mark.parametrize("start", ["", "def gradient_of(name):\n    "])
def test_a_loop_without_an_exit_is_stopped(
    start: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the file itself or in a function of it; the line is named."""
    monkeypatch.syspath_prepend(str(STARTER))
    monkeypatch.setattr(importlib.import_module("checks.limit"), "LIMIT_S", 1.0)
    code = f"PREDICTIONS = {{}}\n{start}while True:\n        pass\n"
    (tmp_path / "explore_gradients.py").write_text(code, encoding="utf-8")

    checked = check("2", tmp_path, "-k", "test_reset")

    assert {"open"} == set(checked.states.values())
    assert "the code does not come to an end" in checked.text
    assert re.search(r"still at line \d of\s+explore_gradients\.py", checked.text)


def test_what_would_steer_a_terminal_is_written_as_a_number(tmp_path: Path) -> None:
    """Text out of a script neither clears the screen nor changes its colours."""
    code = "raise ValueError('\\x1b[2J\\x9b31m')\n"
    (tmp_path / "explore_gradients.py").write_text(code, encoding="utf-8")

    text = check("2", tmp_path).text

    assert r"ValueError: \x1b[2J\x9b31m" in text
    assert [] == [c for c in text if not c.isprintable() and c != "\n"]


def test_a_folder_in_a_files_place_is_named(tmp_path: Path) -> None:
    """It is not missing: it is of another kind."""
    (tmp_path / "explore_gradients.py").mkdir()

    assert "explore_gradients.py is a folder" in check("2", tmp_path).text


def changed_script(folder: Path, name: str, old: str, new: str) -> Path:
    """A solved folder in which one script has one fault."""
    script = solved_folder(folder) / name
    source = script.read_text(encoding="utf-8")
    assert 1 == source.count(old)
    script.write_text(source.replace(old, new), encoding="utf-8")
    lay_out_subset(script.parent / "digits")
    return script.parent


@pytest.mark.parametrize(
    ("old", "new", "tests", "said"),
    [
        ("        if accuracy > best:\n", "        if True:\n", "checkpoint", "[1, 2, 3, 4]"),
        ("    model.eval()\n", "", "validation_mode", "model.training is True"),
        ("    with torch.no_grad():\n", "    if True:\n", "validation_mode", "records graphs"),
        ("            check_loss(loss.item())\n", "", "in_time", "went on to its end"),
        ("nn.Dropout(0.2)", "nn.Linear(128, 128)", "registered", "118,282"),
        ("return logits\n", "return logits.softmax(dim=1)\n", "logits", "they sum to 1.000"),
        ("criterion(model(", "criterion(2 * model(", "logits", "the loss got 10.000"),
        ("criterion(model(features), labels)", "(model(features).sum() * 0)", "logits", "no call"),
        (
            "    criterion = nn.CrossEntropyLoss()",
            "    criterion = nn.NLLLoss()",
            "crit",
            "NLLLoss",
        ),
        ("            optimizer.zero_grad()\n", "", "reset", "update 2 is 1.4"),
        ("        optimizer.step()\n", "", "reset", "0 updates in 3 batches"),
        ("        loss.backward()\n", "", "reset", "update 1 changes none"),
        ("shuffle=True", "shuffle=False", "shuffled", "in both epochs"),
        (
            "            generator=torch.Generator().manual_seed(options.seed),\n",
            "            generator=torch.Generator().manual_seed(time.perf_counter_ns()),\n",
            "shuffled",
            "two runs with one seed",
        ),
        ("MNIST(options.data, True, ", "MNIST(options.data, False, ", "apart", "the test files"),
        (
            "limited(validation, options.limit_val)",
            "limited(training, options.limit_val)",
            "apart",
            "validation images are training images",
        ),
        (
            'f"the model registers no parameters ({problem})"',
            "str(problem)",
            "fault and empty",
            "PyTorch's error and no more",
        ),
        ("    check_optimizer(model, optimizer)\n", "", "before_training", "`partial-optimizer`"),
        ("    check_checkpoint_path(path)\n", "", "before_training", "`unwritable`"),
        ("smallest {smallest}, largest", "largest", "names_labels", "with labels [-2, 5, 5]"),
        ("smallest {smallest}, largest {largest}", "bad", "names_labels", "labels [3, 14, 7]"),
        ("        trial.unlink()\n", "", "trial_write", "found .trial-best.pt"),
        ("        trial.unlink()\n", "        trial.replace(path)\n", "trial_write", "best.pt"),
        ('path.with_name(f".trial-{path.name}")', "path", "trial_write", "an older checkpoint"),
        (
            "        path.parent.mkdir(parents=True, exist_ok=True)\n",
            "",
            "fault and labels",
            "evidence: exit status 14",
        ),
    ],
)
def test_a_fault_in_the_training_script_is_seen(
    old: str, new: str, tests: str, said: str, tmp_path: Path
) -> None:
    """The checks of Step 3 see what is wrong in the functions themselves."""
    folder = changed_script(tmp_path, "train_mnist.py", old, new)

    assert said in check("3", folder, "-k", tests).text


@pytest.mark.parametrize(
    ("old", "new", "tests"),
    [
        ("smallest {smallest}, largest {largest}", "{smallest}-{largest}", "names_labels"),
        (
            "validate(model, validation, device)",
            "validate(loader=validation, device=device, model=model)",
            "checkpoint or shuffled",
        ),
        ("    return correct / seen\n", "    return correct / len(loader.dataset)\n", "mode"),
        (
            "            TRAINING_BATCH,\n",
            "            TRAINING_BATCH,\n            pin_memory=True,\n",
            "fault and labels",
        ),
        (
            "        optimizer.step()\n",
            "        nn.utils.clip_grad_norm_(model.parameters(), 0.1)\n        optimizer.step()\n",
            "reset",
        ),
        (
            "criterion(model(features), labels)",
            "criterion(input=model(features), target=labels)",
            "logits",
        ),
    ],
)
def test_an_unusual_training_script_passes(old: str, new: str, tests: str, tmp_path: Path) -> None:
    """What is right in another way leaves nothing open in Step 3."""
    folder = changed_script(tmp_path, "train_mnist.py", old, new)

    checked = check("3", folder, "-k", tests)

    assert {"passed"} == set(checked.states.values()), checked.text


def test_two_sentences_are_one_too_many(tmp_path: Path) -> None:
    """Lines that begin with `stopped:` are counted, and two of them are one too many."""
    folder = changed_script(
        tmp_path,
        "train_mnist.py",
        '        print(f"stopped: {reason}", file=sys.stderr)\n',
        '        print(f"stopped: {reason}\\nstopped: again", file=sys.stderr)\n',
    )

    assert "begins with 'stopped:'" in check("3", folder, "-k", "fault and unwritable").text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    times = []\n", "    synchronize()\n    times = []\n"),
        ("    return times\n", "    synchronize()\n    return times\n"),
        (
            "    for _ in range(WARM_UPS):\n        multiply(left, right)\n",
            "    for _ in range(WARM_UPS):\n        multiply(left, right)\n        synchronize()\n",
        ),
    ],
)
def test_a_wait_more_is_no_fault(old: str, new: str, tmp_path: Path) -> None:
    """Waiting where nothing is timed changes no time."""
    folder = changed_script(tmp_path, "benchmark_devices.py", old, new)

    checked = check("5", folder, "-k", "order")

    assert {"passed"} == set(checked.states.values()), checked.text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "        multiply(left, right)\n        synchronize()\n",
            "        multiply(left, right)\n",
        ),
        ("        synchronize()\n        start", "        start"),
        ("    for _ in range(WARM_UPS):\n        multiply(left, right)\n", ""),
    ],
)
def test_a_clock_that_does_not_wait_is_seen(old: str, new: str, tmp_path: Path) -> None:
    """Step 5 needs no GPU to see that a wait or a warm-up is missing."""
    folder = changed_script(tmp_path, "benchmark_devices.py", old, new)

    assert {"test_order"} == check("5", folder, "-k", "order").failed


def test_times_grow_with_the_size() -> None:
    """The reference gives positive times, and a large product takes longer than a small one."""
    solution = import_file(
        REPOSITORY / "tests" / "foundations_lab_solutions" / "benchmark_devices.py", "lab_benchmark"
    )
    times = {size: min(solution.benchmark(torch.device("cpu"), size, 5)) for size in (64, 1024)}

    assert 0 < times[64] < times[1024]
