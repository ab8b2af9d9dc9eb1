"""The complete script runs as it is pasted, and is the loop of the lesson with more instruments."""

import contextlib
import gzip
import io
import math
import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from lesson_code.data import RAW_FILES, SUBSET_FOLDER, lay_out_subset, load_mnist
from lesson_code.gpu_training import gpu_training_in_practice
from lesson_code.gpu_training.training import evaluate
from lesson_code.models import MNISTClassifier
from lesson_site.sections import read_section
from tests.printed import printed

CODE = Path(gpu_training_in_practice.__file__).parent.parent
SCRIPT = read_section("gpu_training/gpu_training_in_practice.py:script", CODE).text
RECORDED = "gpu_training/gpu_training_in_practice:print_training_run"


@dataclass(frozen=True)
class Run:
    """What one run of the script printed, wrote and left behind."""

    lines: list[str]
    checkpoint: dict[str, Any]
    namespace: dict[str, Any]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The script in an empty namespace and a folder that holds the subset and nothing else."""
    folder = tmp_path_factory.mktemp("practice")
    lay_out_subset(folder / "data")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    namespace: dict[str, Any] = {}
    printed = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(printed):
        exec(compile(SCRIPT, "script", "exec"), namespace)
    torch.set_num_threads(threads)
    checkpoint = torch.load(folder / "checkpoint.pth", map_location="cpu", weights_only=True)
    return Run(printed.getvalue().splitlines(), checkpoint, namespace)


def test_it_prints_device_epochs_total_and_result(run: Run) -> None:
    """First the device, then loss, accuracy and seconds of each epoch, the total, the best."""
    device, *epochs, total, best = run.lines

    assert device == f"device: {run.namespace['device']}, 5,500 training images"
    assert len(epochs) == 3
    pattern = r"epoch \d: loss \d\.\d{4}, accuracy \d+\.\d\d %, \d+\.\d s(, saved)?"
    assert all(re.fullmatch(pattern, line) for line in epochs)
    assert re.fullmatch(r"total: \d+\.\d s", total)
    assert re.fullmatch(r"best: epoch \d, test accuracy \d+\.\d\d %", best)


def test_it_learns(run: Run) -> None:
    """On a tenth of MNIST, three epochs halve the loss and reach 85 percent on the test images."""
    losses = [float(re.findall(r"loss (\S+),", line)[0]) for line in run.lines[1:-2]]
    test_accuracy = float(run.lines[-1].split()[-2])

    assert losses[-1] < losses[0] / 2
    assert test_accuracy > 85


def test_the_checkpoint_holds_tensors_and_plain_values_only(run: Run) -> None:
    """It has the keys of the lesson, loads safely, and its numbers are Python's own."""
    kinds = {key: type(value) for key, value in run.checkpoint.items()}

    assert set(kinds) == {
        "epoch",
        "model_state_dict",
        "optimizer_state_dict",
        "loss",
        "accuracy",
    }
    assert (kinds["epoch"], kinds["loss"], kinds["accuracy"]) == (int, float, float)


def test_saved_are_the_epochs_that_were_better_than_all_before(run: Run) -> None:
    """The marker, the file and the last line speak of the same epochs."""
    accuracies = [float(re.findall(r"accuracy (\S+) %", line)[0]) for line in run.lines[1:-2]]
    best_so_far = [max([-1.0, *accuracies[:i]]) for i in range(len(accuracies))]

    marked = [line.endswith(", saved") for line in run.lines[1:-2]]

    assert marked == [now > before for now, before in zip(accuracies, best_so_far, strict=True)]
    saved_epoch = run.checkpoint["epoch"]
    assert saved_epoch == max(i for i, was_saved in enumerate(marked) if was_saved)
    assert run.checkpoint["accuracy"] == pytest.approx(accuracies[saved_epoch], abs=0.005)
    assert run.lines[-1].startswith(f"best: epoch {saved_epoch + 1},")


def test_the_test_accuracy_is_that_of_the_saved_weights(run: Run) -> None:
    """The last line can be had again from the file alone."""
    model = MNISTClassifier()
    model.load_state_dict(run.checkpoint["model_state_dict"])
    loader = torch.utils.data.DataLoader(load_mnist(train=False, source="subset"), batch_size=64)

    _, accuracy = evaluate(model, loader, torch.device("cpu"))

    assert accuracy == pytest.approx(float(run.lines[-1].split()[-2]), abs=0.11)


def test_the_model_is_the_lessons_model(run: Run) -> None:
    """The class is written out in the script, word for word as in the shared module."""
    shared = read_section("models.py:mnist_classifier", CODE).text
    definition = shared[shared.index("class MNISTClassifier") :].strip()

    assert definition in SCRIPT
    assert str(run.namespace["MNISTClassifier"]()) == str(MNISTClassifier())


def test_another_model_is_its_class_and_one_line(tmp_path: Path, one_thread: None) -> None:
    """With the residual network pasted in, the script trains, saves and loads it as it is."""
    _pack_few_images(tmp_path, 240)
    lay_out_subset(tmp_path / "data", packed_in=tmp_path)
    another = read_section("models.py:small_resnet", CODE).text
    changes = {
        "model = MNISTClassifier()": "model = SmallResNet()",
        "\nclass MNISTClassifier": f"\n{another}\n\nclass MNISTClassifier",
        "epochs = 3": "epochs = 1",
    }
    script, printed, namespace = SCRIPT, io.StringIO(), dict[str, Any]()
    for old, new in changes.items():
        assert 1 == script.count(old)
        script = script.replace(old, new)

    with contextlib.chdir(tmp_path), contextlib.redirect_stdout(printed):
        exec(compile(script, "script", "exec"), namespace)

    assert "SmallResNet" == type(namespace["model"]).__name__
    assert printed.getvalue().splitlines()[-1].startswith("best: epoch 1, test accuracy")


def _pack_few_images(folder: Path, count: int) -> None:
    """The first images of the subset's files, with their labels."""
    for name in RAW_FILES:
        content = gzip.decompress((SUBSET_FOLDER / f"{name}.gz").read_bytes())
        header = 4 + 4 * content[3]
        size = count * (784 if "images" in name else 1)
        few = content[:4] + count.to_bytes(4, "big") + content[8 : header + size]
        (folder / f"{name}.gz").write_bytes(gzip.compress(few))


def test_the_loop_in_it_is_the_gpu_loop() -> None:
    """Every line of `loop_gpu` but the one that prints is in the script, in the same order."""
    loop = read_section("gpu_training/loop_gpu.py:loop", CODE).lines
    wanted = [line for line in loop if line and "print(" not in line]

    remaining = iter(SCRIPT.splitlines())

    assert [line for line in wanted if line not in remaining] == []


def test_the_constants_are_the_lessons() -> None:
    """Normalisation, batch size, optimizer, seeded split of one image in twelve."""
    for piece in (
        "transforms.Normalize((0.1307,), (0.3081,))",
        "batch_size=64, shuffle=True",
        "torch.optim.Adam(model.parameters(), lr=1e-3)",
        "held_out = len(known) // 12",
        "torch.Generator().manual_seed(42)",
    ):
        assert piece in SCRIPT


def test_it_has_no_mixed_precision_and_nothing_unsafe() -> None:
    """Those come later in the lesson, or never."""
    forbidden = ("amp", "autocast", "GradScaler", "half", "weights_only=False", "lesson_code")

    found = [word for word in forbidden if word in SCRIPT]

    assert found == []
    assert 'map_location="cpu", weights_only=True' in SCRIPT


def test_the_page_shows_what_the_pasted_script_prints(run: Run) -> None:
    """A loss for each epoch, close to those of the pasted script."""
    shown, pasted = (
        [float(loss) for loss in re.findall(r"loss (\S+),", text)]
        for text in (printed(RECORDED).text, "\n".join(run.lines))
    )

    assert 3 == len(shown)
    assert pasted == pytest.approx(shown, rel=0.05)
    assert math.isclose(shown[0], 0.697, rel_tol=0.05)


def test_the_recorded_run_leaves_nothing_behind(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    one_thread: None,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It says what the page shows, here of few images, in a folder of its own."""
    packed, empty = tmp_path / "packed", tmp_path / "empty"
    packed.mkdir()
    empty.mkdir()
    _pack_few_images(packed, 240)
    few = partial(lay_out_subset, packed_in=packed)
    monkeypatch.setattr(gpu_training_in_practice, "lay_out_subset", few)
    monkeypatch.chdir(empty)

    gpu_training_in_practice.print_training_run()

    device, *epochs, _, _ = capsys.readouterr().out.splitlines()
    assert device.endswith(", 220 training images")
    assert 3 == len(epochs)
    assert [] == list(empty.iterdir())
