"""The portable training script: what it reports, saves, resumes and refuses."""

import copy
import errno
import json
import math
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import lesson_code.data
from lesson_code.data import make_loaders, synthetic_digits
from lesson_code.devices import choose_amp_dtype
from lesson_code.gpu_training import portable_files, portable_training
from lesson_code.gpu_training.device_aware_checkpoints import cuda_tags, save_checkpoint
from lesson_code.gpu_training.portable_settings import (
    BEST_FILE,
    LAST_FILE,
    InputError,
    read_settings,
)
from lesson_code.gpu_training.training import evaluate, train_one_epoch
from lesson_code.models import MNISTClassifier
from tests.warm import Parent

REPOSITORY = Path(__file__).parents[3]
COMMAND = [sys.executable, "-m", "lesson_code.gpu_training.portable_training"]
ONE_THREAD = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(REPOSITORY)}
CUDA = torch.device("cuda")
PRECISION = {torch.float16: "float16", torch.bfloat16: "bfloat16"}
CHECKPOINT_KEYS = ["epoch", "model_state_dict", "optimizer_state_dict", "loss", "accuracy"]

pytestmark = pytest.mark.usefixtures("one_thread", "inside_an_empty_folder")


@pytest.fixture
def inside_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the defaults `data` and `saved_models` point into a folder of this test's own."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def few_images(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the script so few images that an epoch takes hundredths of a second."""

    def tiny_loaders(batch_size: int, root: Path, source: str, seed: int) -> tuple[Any, ...]:
        images, labels, held_out_images, held_out_labels = synthetic_digits(300, 128, seed)
        held_out = TensorDataset(held_out_images, held_out_labels)
        order = torch.Generator().manual_seed(seed)
        training = TensorDataset(images, labels)
        return (
            DataLoader(training, batch_size, shuffle=True, generator=order),
            DataLoader(held_out, batch_size),
            DataLoader(held_out, batch_size),
        )

    monkeypatch.setattr(portable_training, "make_loaders", tiny_loaders)


@pytest.fixture
def accuracies(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Prescribe what the script measures after each epoch, an exception included."""

    def prescribe(*values: float | type[BaseException]) -> None:
        remaining = list(values)

        def measure(*_: object) -> tuple[float, float]:
            value = remaining.pop(0)
            if isinstance(value, type):
                raise value
            return 0.0, value

        monkeypatch.setattr(portable_training, "evaluate", measure)

    return prescribe


def train(options: str = "") -> int:
    """Run the script in this process on the CPU."""
    return portable_training.main(["--device", "cpu", *options.split()])


def refusal(options: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What the script says when it refuses; checks that this is one sentence, with status 2."""
    capsys.readouterr()
    try:
        status: object = portable_training.main(options.split())
    except SystemExit as leaving:
        status = leaving.code
    message = capsys.readouterr().err
    assert 2 == status
    assert re.fullmatch(r"error: .+\n", message)
    return message


def load(path: str | Path) -> dict[str, Any]:
    """A checkpoint on the CPU, from a file that may hold tensors and plain values only."""
    checkpoint: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    return checkpoint


def same(one: Any, other: Any) -> bool:
    """Whether two checkpoints agree in every bit."""
    if isinstance(one, torch.Tensor):
        return one.dtype == other.dtype and torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def assert_same_run(one: str | Path, other: str | Path) -> None:
    """Check that two folders hold the same last epoch, best epoch and history."""
    for name in (LAST_FILE, BEST_FILE):
        assert same(load(Path(one) / name), load(Path(other) / name))


# What it reports and saves


def test_the_subset_is_enough_for_ninety_percent(capsys: pytest.CaptureFixture[str]) -> None:
    """Ten epochs on the images that ship take less than a minute of a processor."""
    before = time.process_time()
    status = train("--source subset")
    busy_s = time.process_time() - before

    report = capsys.readouterr().out
    assert 0 == status
    assert 90 <= load("saved_models/portable_best.pth")["accuracy"]
    assert 60 > busy_s
    assert re.search(r"^time: \d+\.\d s$", report, re.MULTILINE)


@pytest.mark.usefixtures("few_images")
def test_the_report(capsys: pytest.CaptureFixture[str], accuracies: Callable[..., None]) -> None:
    """Device and precision first, a line for every epoch, then device, time, best and test."""
    accuracies(50.0, 62.5, 48.0)

    train("--epochs 2")

    printed = capsys.readouterr()
    assert "" == printed.err
    for pattern, line in zip(
        [
            "device: cpu, mixed precision: off",
            r"epoch 1/2: loss \d\.\d{4}, accuracy 50\.00 %, best so far: saved",
            r"epoch 2/2: loss \d\.\d{4}, accuracy 62\.50 %, best so far: saved",
            "device: cpu",
            r"time: \d+\.\d s",
            r"best accuracy: 62\.50 % after epoch 2",
            r"test accuracy of that model: 48\.00 %",
        ],
        printed.out.splitlines(),
        strict=True,
    ):
        assert re.fullmatch(pattern, line)


@pytest.mark.usefixtures("few_images")
def test_only_a_strictly_better_epoch_is_saved_and_marked(
    capsys: pytest.CaptureFixture[str], accuracies: Callable[..., None]
) -> None:
    """A tie is no improvement, and an accuracy of zero is one over nothing."""
    accuracies(0.0, 0.0, 60.0, 60.0, 55.0, 48.0)

    train("--epochs 5")

    marked = re.findall(r"epoch (\d)/5: .* saved$", capsys.readouterr().out, re.MULTILINE)
    assert ["1", "3"] == marked
    assert 2 == load("saved_models/portable_best.pth")["epoch"]


@pytest.mark.usefixtures("few_images")
def test_the_best_checkpoint_has_exactly_five_keys() -> None:
    """On a CPU there is no scaler, so its state is left out; numbers are plain."""
    train("--epochs 2")

    best = load("saved_models/portable_best.pth")
    assert CHECKPOINT_KEYS == list(best)
    assert [int, float, float] == [type(best[key]) for key in ("epoch", "loss", "accuracy")]


@pytest.mark.usefixtures("few_images")
def test_the_best_checkpoint_is_the_model_of_its_epoch(accuracies: Callable[..., None]) -> None:
    """Later epochs don't leak into the best model that is kept in memory."""
    accuracies(90.0, 50.0, 50.0, 90.0, 90.0, 90.0)
    train("--epochs 3 --out longer")

    train("--epochs 1 --out shorter")

    assert same(load("longer/portable_best.pth"), load("shorter/portable_best.pth"))
    assert not same(
        load("longer/portable_best.pth")["model_state_dict"],
        load("longer/portable_last.pth")["model_state_dict"],
    )


def test_the_best_checkpoint_evaluates_to_its_stored_accuracy() -> None:
    """A fresh model with the saved weights reaches the saved accuracy on the validation data."""
    train("--epochs 2 --source subset")
    best = load("saved_models/portable_best.pth")
    _, validation_loader, _ = make_loaders(64, source="subset")
    model = MNISTClassifier()
    model.load_state_dict(best["model_state_dict"])

    _, accuracy = evaluate(model, validation_loader, torch.device("cpu"))

    assert best["accuracy"] == accuracy


@pytest.mark.usefixtures("few_images")
def test_the_test_data_are_used_once_and_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every epoch is judged on validation data; the test data wait for the best model."""
    used = []

    def measure(model: nn.Module, loader: object, device: torch.device) -> tuple[float, float]:
        used.append(loader)
        return 0.0, 50.0

    monkeypatch.setattr(portable_training, "evaluate", measure)

    train("--epochs 3")

    assert 3 == used.count(used[0])
    assert used[0] is not used[3]
    assert 4 == len(used)


@pytest.mark.usefixtures("few_images")
def test_without_a_gpu_the_run_equals_the_plain_loop(recwarn: pytest.WarningsRecorder) -> None:
    """Switched-off autocast and scaler change no bit and say nothing."""
    train("--epochs 2 --seed 3")
    train_loader, _, _ = portable_training.make_loaders(64, "data", "subset", 3)
    torch.manual_seed(3)
    model = MNISTClassifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(2):
        portable_training.seed_epoch(3, epoch, train_loader)
        train_one_epoch(model, train_loader, optimizer, nn.CrossEntropyLoss(), torch.device("cpu"))

    last = load("saved_models/portable_last.pth")

    assert same(model.state_dict(), last["model_state_dict"])
    assert same(optimizer.state_dict(), last["optimizer_state_dict"])
    assert [] == list(recwarn)


@pytest.mark.usefixtures("few_images")
def test_a_terminal_sees_a_progress_bar(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bar goes to stderr, and only when that is a terminal."""
    train("--epochs 1")
    piped = capsys.readouterr().err
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)

    train("--epochs 1")

    assert "" == piped
    assert "epoch 1/1: " in capsys.readouterr().err


@pytest.mark.usefixtures("few_images")
def test_training_works_without_tqdm(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing progress bar is no reason not to train."""
    monkeypatch.setitem(sys.modules, "tqdm", None)

    assert 0 == train("--epochs 1")


@pytest.mark.usefixtures("few_images")
def test_a_tensorboard_log_continues_over_a_resume() -> None:
    """The log holds loss and accuracy of every epoch once, under the numbers that were saved."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    train("--epochs 3 --log-dir runs")
    shutil.rmtree("saved_models")
    train("--epochs 2")
    train("--epochs 4 --log-dir runs --resume")

    log = EventAccumulator("runs").Reload()
    history = load("saved_models/portable_last.pth")["history"]
    for index, tag in enumerate(["loss/training", "accuracy/validation"]):
        events = log.Scalars(tag)
        assert [1, 2, 3, 4] == [event.step for event in events]
        expected = [epoch[index] for epoch in history]
        assert pytest.approx(expected, rel=1e-6) == [event.value for event in events]


def test_the_recorded_run_cleans_up(capsys: pytest.CaptureFixture[str]) -> None:
    """What the page shows is a real run of three epochs, and leaves no file behind."""
    portable_training.print_portable_run()

    lines = capsys.readouterr().out.splitlines()
    assert "device: cpu, mixed precision: off" == lines[0] or torch.cuda.is_available()
    assert 3 == sum(line.startswith("epoch ") for line in lines)
    assert [] == list(Path().iterdir())


def test_help_explains_every_option(capsys: pytest.CaptureFixture[str]) -> None:
    """--help names all options and both files, and leaves with status 0."""
    with pytest.raises(SystemExit) as leaving:
        portable_training.main(["--help"])

    text = capsys.readouterr().out
    options = "epochs batch-size seed data source device amp out log-dir resume"
    assert 0 == leaving.value.code
    assert [] == [name for name in options.split() if f"  --{name} " not in text]
    assert LAST_FILE in text
    assert BEST_FILE in text


# Resuming


@pytest.mark.usefixtures("few_images")
def test_a_resumed_run_equals_an_undisturbed_one() -> None:
    """Two epochs, then three more, end with the same bits as five in one go."""
    train("--epochs 5 --out undisturbed")

    train("--epochs 2 --out in_parts")
    train("--epochs 5 --out in_parts --resume")

    assert_same_run("undisturbed", "in_parts")


@pytest.mark.filterwarnings("ignore:for .*copying from a non-meta parameter:UserWarning")
def test_a_resumed_run_leaves_the_step_counter_on_the_cpu() -> None:
    """On a GPU, in whose place the meta device is here, no step waits for it; the moments move."""
    train("--epochs 1 --out in_parts")
    meta = torch.device("meta")
    run = portable_training.start_run(meta, amp_dtype=None, conditions={"seed": 0})

    portable_training.resume(run, Path("in_parts", LAST_FILE))

    states = run.optimizer.state.values()
    assert {("cpu", "meta")} == {(s["step"].device.type, s["exp_avg"].device.type) for s in states}


def test_fifty_kills_leave_a_whole_checkpoint_and_change_no_bit(
    tmp_path: Path, warm: Parent
) -> None:
    """SIGKILL at random moments never spoils a file, and the run ends as if undisturbed."""
    driver = Path(__file__).with_name("portable_kill_driver.py")
    arguments = [str(tmp_path), "50", "1"]

    done = warm.run([sys.executable, driver, *arguments], env=ONE_THREAD)

    assert 0 == done.returncode, done.stderr
    report = json.loads(done.stdout)
    assert 50 == report["loaded"]
    assert sorted(report["epochs"]) == report["epochs"]
    assert_same_run(tmp_path / "killed", tmp_path / "undisturbed")


@pytest.mark.usefixtures("few_images")
def test_a_kill_between_the_two_files_is_mended() -> None:
    """If the best model's copy was not written any more, resuming writes it."""
    train("--epochs 1 --out undisturbed")
    train("--epochs 1 --out in_parts")
    Path("in_parts/portable_best.pth").write_bytes(b"an older file")

    train("--epochs 1 --out in_parts --resume")

    assert_same_run("undisturbed", "in_parts")


@pytest.mark.usefixtures("few_images")
def test_a_resumed_run_keeps_its_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under mixed precision, the scaler's state goes on too (float16 runs on a CPU as well)."""
    cpu = torch.device("cpu")
    chosen = cpu, torch.float16
    monkeypatch.setattr(portable_training, "choose_precision", lambda _settings: chosen)
    train("--epochs 3 --out undisturbed")

    train("--epochs 1 --out in_parts")
    train("--epochs 3 --out in_parts --resume")

    assert [*CHECKPOINT_KEYS, "scaler_state_dict"] == list(load("in_parts/portable_best.pth"))
    assert 0 < load("in_parts/portable_last.pth")["scaler_state_dict"]["_growth_tracker"]
    assert_same_run("undisturbed", "in_parts")


@pytest.mark.usefixtures("few_images")
def test_a_run_from_a_gpu_goes_on_on_a_cpu(capsys: pytest.CaptureFixture[str]) -> None:
    """Files that claim CUDA storages, from a run in mixed precision, resume without a GPU."""
    train("--epochs 1")
    last = load("saved_models/portable_last.pth")
    last["conditions"] |= {"device": "cuda", "mixed precision": "float16"}
    last["scaler_state_dict"] = torch.amp.GradScaler("cpu").state_dict()
    with cuda_tags():
        torch.save(last, "saved_models/portable_last.pth")

    status = train("--epochs 2 --resume")

    assert 0 == status
    assert "note: device or precision has changed" in capsys.readouterr().out
    assert CHECKPOINT_KEYS == list(load("saved_models/portable_last.pth"))[:5]


@pytest.mark.usefixtures("few_images")
def test_a_finished_run_is_reported_again(capsys: pytest.CaptureFixture[str]) -> None:
    """Resuming where nothing is left to train gives the report and changes no file's content."""
    train("--epochs 2")
    before = load("saved_models/portable_last.pth")

    status = train("--epochs 2 --resume")

    assert 0 == status
    assert "resumed: 2 of 2 epochs are finished" in capsys.readouterr().out
    assert same(before, load("saved_models/portable_last.pth"))


@pytest.mark.usefixtures("few_images")
def test_resuming_where_there_is_nothing_starts_anew(capsys: pytest.CaptureFixture[str]) -> None:
    """So the same command serves for the first start and for every start after a kill."""
    train("--epochs 1 --resume")

    assert "nothing to resume in saved_models: starting with epoch 1" in capsys.readouterr().out
    assert Path("saved_models/portable_last.pth").exists()


@pytest.mark.usefixtures("few_images")
def test_a_new_run_says_which_older_one_it_replaces(capsys: pytest.CaptureFixture[str]) -> None:
    """Forgetting --resume doesn't go unnoticed."""
    train("--epochs 2")
    capsys.readouterr()

    train("--epochs 1")

    note = "note: the first epoch replaces saved_models/portable_last.pth; --resume would go on"
    assert note in capsys.readouterr().out
    assert 0 == load("saved_models/portable_last.pth")["epoch"]


@pytest.mark.usefixtures("few_images")
def test_stopping_by_hand_says_where_to_go_on(
    capsys: pytest.CaptureFixture[str], accuracies: Callable[..., None]
) -> None:
    """After Ctrl-C in the third epoch, two are saved."""
    accuracies(50.0, 60.0, KeyboardInterrupt)

    status = train("--epochs 5")

    assert 130 == status
    assert (
        "stopped: 2 of 5 epochs are in saved_models/portable_last.pth; "
        "the same command with --resume goes on from there\n"
    ) == capsys.readouterr().err
    assert 1 == load("saved_models/portable_last.pth")["epoch"]


@pytest.mark.usefixtures("few_images")
def test_stopping_in_the_first_epoch_promises_nothing(
    capsys: pytest.CaptureFixture[str], accuracies: Callable[..., None]
) -> None:
    """Before the first epoch is finished, there is nothing to resume."""
    accuracies(KeyboardInterrupt)

    status = train("--epochs 5")

    assert 130 == status
    assert "stopped: no epoch was finished, so there is nothing to resume\n" == (
        capsys.readouterr().err
    )


def test_control_c_reaches_the_real_command() -> None:
    """SIGINT ends the command with status 130 and one line on stderr."""
    with subprocess.Popen(
        [*COMMAND, "--source", "subset", "--device", "cpu", "--epochs", "1000"],
        env=ONE_THREAD,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell that started the tests in the background lets its children ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as command:
        assert command.stdout is not None
        while not command.stdout.readline().startswith("epoch 1/1000"):
            assert command.poll() is None
        command.send_signal(signal.SIGINT)
        _, message = command.communicate(timeout=60)

    assert 130 == command.returncode
    assert re.fullmatch(r"stopped: \d+ of 1000 epochs are in .*\n", message)


# Refusals


class Malicious:
    """Runs code when it is unpickled: it makes the folder `attacked`."""

    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return os.mkdir, ("attacked",)


def truncate(path: Path) -> None:
    """Cut the file's second half off."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip_a_bit(path: Path) -> None:
    """Change one bit among the weights of the first layer."""
    content = bytearray(path.read_bytes())
    content[100_000] ^= 1
    path.write_bytes(content)


def save_another_model(path: Path) -> None:
    """Everything is in its place, except that the weights are of another shape."""
    last = load(path)
    last["model_state_dict"]["fc1.weight"] = torch.zeros(2, 2)
    torch.save(last, path)


def save_without_best(path: Path) -> None:
    """Leave the best model's weights out."""
    last = load(path)
    del last["best"]["model_state_dict"]
    torch.save(last, path)


def save_other_moments(path: Path) -> None:
    """The optimizer's averages are of another shape, which only its next step would notice."""
    last = load(path)
    last["optimizer_state_dict"]["state"][0]["exp_avg"] = torch.ones(3)
    torch.save(last, path)


def save_other_conditions(path: Path) -> None:
    """A tensor of several numbers, which is neither equal to a seed nor another one."""
    torch.save(over(load(path), {"conditions": {"seed": torch.ones(3)}}), path)


def save_lesson_checkpoint(path: Path) -> None:
    """The checkpoint of the lesson's section 8, under this script's name."""
    model = MNISTClassifier()
    save_checkpoint(path, 0, model, torch.optim.Adam(model.parameters()), 0.5)


def make_folder(path: Path) -> None:
    """A folder in the place of the file."""
    path.unlink()
    path.mkdir()


@pytest.mark.usefixtures("few_images")
@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(truncate, id="truncated"),
        pytest.param(flip_a_bit, id="one bit changed"),
        pytest.param(lambda path: path.write_bytes(b""), id="empty"),
        pytest.param(lambda path: path.write_text("not a checkpoint"), id="text"),
        pytest.param(lambda path: torch.save(torch.ones(3), path), id="foreign tensor"),
        pytest.param(lambda path: torch.save({"epoch": 3}, path), id="foreign dictionary"),
        pytest.param(lambda path: torch.save([1, 2], path), id="foreign list"),
        pytest.param(save_lesson_checkpoint, id="the lesson's checkpoint"),
        pytest.param(save_another_model, id="another model"),
        pytest.param(save_without_best, id="incomplete"),
        pytest.param(save_other_moments, id="another optimizer"),
        pytest.param(save_other_conditions, id="conditions of another kind"),
        pytest.param(lambda path: torch.save(MNISTClassifier(), path), id="pickled model"),
        pytest.param(lambda path: torch.save(Malicious(), path), id="malicious checkpoint"),
        pytest.param(
            lambda path: torch.save({**load(path), "history": Malicious()}, path),
            id="malicious value in a good checkpoint",
        ),
        pytest.param(
            lambda path: path.write_bytes(pickle.dumps(Malicious())), id="malicious pickle"
        ),
    ],
)
def test_an_unfit_checkpoint_is_refused_and_left_alone(
    spoil: Callable[[Path], object], capsys: pytest.CaptureFixture[str]
) -> None:
    """One sentence, no code run, no file changed or made."""
    train("--epochs 1")
    path = Path("saved_models/portable_last.pth")
    spoil(path)
    before = {file: file.read_bytes() for file in Path("saved_models").iterdir()}

    message = refusal("--device cpu --epochs 2 --resume", capsys)

    assert "saved_models/portable_last.pth is damaged or no checkpoint of this script" in message
    assert before == {file: file.read_bytes() for file in Path("saved_models").iterdir()}
    assert not Path("attacked").exists()


CONTRADICTORY: dict[str, tuple[dict[str, Any], str]] = {
    "no history": ({"history": []}, "its last epoch is number 2, and its history has 0"),
    "a longer history": ({"history": [(1.0, 50.0)] * 3}, "its history has 3"),
    "no finite loss": ({"history": [(1.0, 50.0), (math.nan, 62.5)]}, "epoch 2 has the loss nan"),
    "an impossible accuracy": ({"history": [(1.0, 1e9), (1.0, 62.5)]}, "accuracy 1e+09 %"),
    "an accuracy that is none": ({"history": [(1.0, math.nan), (1.0, 62.5)]}, "accuracy nan %"),
    "another best accuracy": ({"best": {"accuracy": 1e9}}, "not the highest one in its history"),
    "no number as the best": ({"best": {"accuracy": math.nan}}, "not the highest one"),
    "another best epoch": ({"best": {"epoch": 0}}, "loss and accuracy of its best epoch"),
    "a best epoch to come": ({"best": {"epoch": 7}}, "loss and accuracy of its best epoch"),
    "a best epoch before the first": ({"best": {"epoch": -1}}, "loss and accuracy of its best"),
    "a seed beyond all": ({"conditions": {"seed": 10**600}}, "no command gives a run its seed"),
    "another learning rate": (
        {"optimizer_state_dict": {"param_groups": [{"params": [*range(6)], "lr": 0.5}]}},
        "its optimizer has another lr than this script's",
    ),
    "an optimizer that has trained more": (
        {"optimizer_state_dict": {"state": {6: {"step": torch.tensor(5.0)}}}},
        "its optimizer has not trained all of the weights",
    ),
    "an optimizer that has trained another": (
        {"optimizer_state_dict": {"state": {0: None, "fc1.weight": {"step": torch.tensor(2.0)}}}},
        "its optimizer has not trained all of the weights",
    ),
    "squares below zero": (
        {"optimizer_state_dict": {"state": {5: {"exp_avg_sq": torch.full((10,), -1.0)}}}},
        "two more steps lead to no number",
    ),
    "weights beyond all": (
        {"model_state_dict": {"fc3.bias": 3.4e37 * torch.arange(10)}},
        "two more steps lead to no number",
    ),
    "another last loss": ({"loss": 0.0}, "loss and accuracy of its last epoch"),
    "weights that are none": (
        {"model_state_dict": {"fc3.bias": torch.full((10,), math.nan)}},
        "its last epoch has weights",
    ),
    "best weights that are none": (
        {"best": {"model_state_dict": {"fc3.bias": torch.full((10,), math.inf)}}},
        "its best epoch has weights",
    ),
}


def over(saved: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """A checkpoint with some values replaced, in dictionaries inside it as well; None drops one."""
    changed = saved | {
        key: over(saved.get(key, {}), value) if isinstance(value, dict) else value
        for key, value in changes.items()
    }
    return {key: value for key, value in changed.items() if key not in changes or value is not None}


@pytest.mark.usefixtures("few_images")
@pytest.mark.parametrize("name", CONTRADICTORY)
def test_a_contradictory_checkpoint_is_refused_and_left_alone(
    name: str, capsys: pytest.CaptureFixture[str], accuracies: Callable[..., None]
) -> None:
    """One sentence says what can't be true, and what to do."""
    changes, says = CONTRADICTORY[name]
    accuracies(50.0, 62.5, 48.0)
    train("--epochs 2")
    path = Path("saved_models/portable_last.pth")
    torch.save(over(load(path), changes), path)
    before = {file: file.read_bytes() for file in Path("saved_models").iterdir()}

    message = refusal("--device cpu --epochs 3 --resume", capsys)

    assert says in message
    assert "move it away, or choose another --out" in message
    assert before == {file: file.read_bytes() for file in Path("saved_models").iterdir()}


@pytest.mark.usefixtures("few_images")
@pytest.mark.parametrize(
    "changes",
    [{"loss": 0.0}, {"optimizer_state_dict": {"state": {0: {"exp_avg": torch.ones(3)}}}}],
    ids=["contradictory", "unfit"],
)
def test_a_refused_checkpoint_changes_no_run(changes: dict[str, Any]) -> None:
    """Weights and moments of a run are those from before, however late the refusal comes."""
    train("--epochs 1")
    path = Path("saved_models/portable_last.pth")
    torch.save(over(load(path), changes), path)
    run = portable_training.start_run(torch.device("cpu"), None, {"seed": 0})
    before = copy.deepcopy([run.model.state_dict(), run.optimizer.state_dict()])

    with pytest.raises(InputError):
        portable_training.resume(run, path)

    assert same(before, [run.model.state_dict(), run.optimizer.state_dict()])
    assert [] == run.history


@pytest.mark.usefixtures("few_images")
def test_a_second_run_in_the_same_folder_is_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It touches nothing; when the first one is through, it may come."""
    train("--epochs 1")
    before = {file: file.read_bytes() for file in Path("saved_models").iterdir()}

    with portable_files.alone_in(Path("saved_models")):
        message = refusal("--device cpu --epochs 2 --resume", capsys)
        during = {file: file.read_bytes() for file in Path("saved_models").glob("*.pth")}

    assert "another run is writing saved_models; wait for it, or choose another --out" in message
    assert before == during
    assert 0 == train("--epochs 2 --resume")
    assert [BEST_FILE, LAST_FILE] == sorted(path.name for path in Path("saved_models").iterdir())


def test_a_lock_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    """With the system's reason."""
    (tmp_path / portable_files.LOCK_FILE).mkdir()

    with pytest.raises(InputError, match=r"can't write .*portable\.lock \(Is a directory\)"):
        portable_files.alone_in(tmp_path).__enter__()


def test_the_malicious_file_would_run_code() -> None:
    """The refusals above mean something: an unguarded reader does run the code."""
    pickle.loads(pickle.dumps(Malicious()))

    assert Path("attacked").exists()


@pytest.mark.usefixtures("few_images")
@pytest.mark.parametrize("name", [LAST_FILE, BEST_FILE])
@pytest.mark.parametrize("resume", ["", " --resume"])
def test_a_folder_in_a_files_place_is_refused(
    name: str, resume: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is found before anything is trained."""
    Path("saved_models", name).mkdir(parents=True)

    message = refusal(f"--device cpu --epochs 1{resume}", capsys)

    assert f"saved_models/{name} is a folder" in message


@pytest.mark.usefixtures("few_images")
def test_an_unreadable_checkpoint_is_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The operating system's reason is passed on."""
    train("--epochs 1")

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(portable_files.zipfile, "ZipFile", refuse)

    message = refusal("--device cpu --epochs 2 --resume", capsys)

    assert "can't read saved_models/portable_last.pth (Permission denied)" in message


@pytest.mark.usefixtures("few_images")
@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("--epochs 3 --seed 7", "with seed 42, this command means 7"),
        ("--epochs 3 --batch-size 32", "with batch size 64, this command means 32"),
        ("--epochs 1", "holds 2 finished epochs; say --epochs 2 or more"),
    ],
)
def test_resuming_with_other_settings_is_refused(
    options: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What would make another run is named, with both values, and the files stay."""
    train("--epochs 2")
    before = load("saved_models/portable_last.pth")

    message = refusal(f"--device cpu --resume {options}", capsys)

    assert reason in message
    assert same(before, load("saved_models/portable_last.pth"))


def test_resuming_with_other_data_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """A run on part of MNIST can't go on with other images, whatever --source said."""
    train("--epochs 1 --source subset")
    last = load("saved_models/portable_last.pth")
    last["conditions"]["training images"] = 55_000
    torch.save(last, "saved_models/portable_last.pth")

    message = refusal("--device cpu --epochs 2 --source subset --resume", capsys)

    assert "with training images 55000, this command means 5500" in message


@pytest.mark.usefixtures("few_images")
def test_a_full_disk_leaves_the_checkpoint_before_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No half-written file stays, and the run can go on when there is space again."""
    train("--epochs 1")
    train("--epochs 2 --out undisturbed")

    def refuse(_file: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as full_disk:
        full_disk.setattr(portable_files.os, "fsync", refuse)
        message = refusal("--device cpu --epochs 2", capsys)
    left = sorted(path.name for path in Path("saved_models").iterdir())
    train("--epochs 2 --resume")

    assert "can't write saved_models/portable_last.pth (No space left on device)" in message
    assert [BEST_FILE, LAST_FILE] == left
    assert_same_run("undisturbed", "saved_models")


@pytest.mark.usefixtures("few_images")
def test_a_place_that_cannot_be_written_to_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """A file where the folder should be is found before anything is trained."""
    Path("taken").touch()

    assert "can't write to taken (File exists)" in refusal("--out taken", capsys)
    assert "can't write to taken/x (Not a directory)" in refusal("--out taken/x", capsys)
    assert "can't write to taken (" in refusal("--device cpu --log-dir taken", capsys)


@pytest.mark.usefixtures("few_images")
def test_a_missing_tensorboard_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Anyone who asks for a log learns how to get it."""
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)

    message = refusal("--device cpu --epochs 1 --log-dir runs", capsys)

    assert "--log-dir needs TensorBoard; run `pip install tensorboard`" in message


def test_missing_data_are_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of MNIST, asked for and not to be had, is an error; nothing is made."""
    monkeypatch.setattr(lesson_code.data, "_mirror_answers", lambda: False)

    message = refusal("--device cpu --source full", capsys)

    assert f"MNIST is not in {Path('data/MNIST/raw')}" in message
    assert [] == list(Path().iterdir())


def test_damaged_data_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """Files of the right names with the wrong content are named."""
    raw = lesson_code.data.lay_out_subset("data")
    (raw / "train-images-idx3-ubyte").write_bytes(b"")

    message = refusal("--device cpu --source full", capsys)

    assert "the files in data/MNIST/raw can't be read as MNIST" in message


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("--epochs 0", "--epochs: '0' is no whole number from 1 on"),
        ("--epochs ten", "--epochs: 'ten' is no whole number from 1 on"),
        ("--epochs 1e9", "--epochs: '1e9' is no whole number"),
        ("--batch-size 0", "--batch-size: '0' is no whole number"),
        ("--batch-size 2.5", "--batch-size: '2.5' is no whole number"),
        ("--seed -1", "--seed"),
        ("--seed 99999999999999999999999", "--seed"),
        ("--device tpu", "--device: invalid choice: 'tpu'"),
        ("--amp maybe", "--amp: invalid choice"),
        ("--source all", "--source: invalid choice"),
        ("--out", "--out: expected one argument"),
        ("--momentum 0.9", "unrecognized arguments: --momentum"),
        ("--device cpu --amp on", "--amp on: this script mixes precisions on an NVIDIA or AMD GPU"),
    ],
)
def test_bad_arguments_are_refused(
    options: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each is named in one sentence, and nothing is made."""
    assert reason in refusal(options, capsys)
    assert [] == list(Path().iterdir())


def test_a_missing_gpu_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asking for CUDA where there is none is refused, not quietly replaced."""
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda **_: None)

    for device in ("cuda", "mps", "xpu"):
        message = refusal(f"--device {device}", capsys)

        assert f"--device {device}: PyTorch finds no such GPU here" in message
        assert "say cpu" in message


@pytest.mark.parametrize("found", ["mps", "xpu", "cuda"])
def test_any_accelerator_that_is_found_is_taken(
    found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Apple's and Intel's GPUs train in float32; another kind than the one there is refused."""
    there = torch.device(found)
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda **_: there)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda **_: True)

    device, amp_dtype = portable_training.choose_precision(read_settings([]))

    assert there == device
    assert (torch.bfloat16 if found == "cuda" else None) == amp_dtype
    with pytest.raises(InputError, match=f"say {found}"):
        portable_training.find_device("mps" if found == "xpu" else "xpu")


@pytest.mark.parametrize(
    ("amp_dtype", "keys"),
    [(torch.float16, [*CHECKPOINT_KEYS, "scaler_state_dict"]), (torch.bfloat16, CHECKPOINT_KEYS)],
)
@pytest.mark.usefixtures("few_images")
def test_only_float16_has_a_scaler(
    amp_dtype: torch.dtype,
    keys: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The report names the format; bfloat16 needs no scaler, so no state of one is saved."""
    chosen = torch.device("cpu"), amp_dtype
    monkeypatch.setattr(portable_training, "choose_precision", lambda _settings: chosen)

    train("--epochs 1")

    name = str(amp_dtype).removeprefix("torch.")
    assert capsys.readouterr().out.startswith(f"device: cpu, mixed precision: {name}\n")
    assert keys == list(load("saved_models/portable_best.pth"))


# On a GPU


@pytest.mark.gpu
def test_a_gpu_run_uses_mixed_precision_and_resumes_on_a_cpu(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The same command trains on CUDA in mixed precision; its files go on without a GPU."""
    status = portable_training.main(["--source", "subset", "--epochs", "3"])

    report = capsys.readouterr().out
    best = load("saved_models/portable_best.pth")
    assert 0 == status
    assert report.startswith(
        f"device: cuda, mixed precision: {PRECISION[choose_amp_dtype(CUDA)]}\n"
    )
    assert 88 <= best["accuracy"]
    assert CHECKPOINT_KEYS == list(best)[:5]
    assert {"cpu"} == {tensor.device.type for tensor in best["model_state_dict"].values()}
    assert 0 == train("--source subset --epochs 4 --resume")


@pytest.mark.gpu
def test_a_cpu_run_goes_on_on_a_gpu() -> None:
    """A checkpoint without scaler state resumes in mixed precision, with a fresh scaler or none."""
    train("--source subset --epochs 1")

    status = portable_training.main(
        ["--source", "subset", "--epochs", "2", "--resume", "--amp", "on"]
    )

    has_scaler = "scaler_state_dict" in load("saved_models/portable_last.pth")
    assert 0 == status
    assert (choose_amp_dtype(CUDA) == torch.float16) == has_scaler


@pytest.mark.gpu
def test_mixed_precision_can_be_switched_off_on_a_gpu(capsys: pytest.CaptureFixture[str]) -> None:
    """--amp off trains in float32 on CUDA."""
    portable_training.main(["--source", "subset", "--epochs", "1", "--amp", "off"])

    assert capsys.readouterr().out.startswith("device: cuda, mixed precision: off\n")
    assert CHECKPOINT_KEYS == list(load("saved_models/portable_best.pth"))
