"""The four loops differ in the lines that the lesson counts, and in no other; all of them train."""

import ast
import difflib
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import ClassVar

import pytest
import torch
from torch.utils.data import DataLoader, Subset

from lesson_code.data import load_mnist
from lesson_code.gpu_training import loop_amp, loop_cpu, loop_gpu, loop_portable

FOLDER = Path(loop_cpu.__file__).parent
Batches = list[tuple[torch.Tensor, torch.Tensor]]
Train = Callable[[Batches, int], list[float]]
LOOPS = {
    "loop_cpu": loop_cpu.train,
    "loop_gpu": loop_gpu.train,
    "loop_amp": loop_amp.train,
    "loop_portable": loop_portable.train,
}


@pytest.fixture(scope="module")
def batches() -> Batches:
    """1,000 images of the subset in batches of 64, the last one smaller."""
    some = Subset(load_mnist(source="subset"), range(1000))
    return list(DataLoader(some, batch_size=64))


@pytest.fixture
def without_gpu(monkeypatch: pytest.MonkeyPatch, one_thread: None) -> None:
    """PyTorch finds no GPU."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


@pytest.fixture
def silenced() -> Iterator[None]:
    """Let warnings pass: loop_amp gives two kinds of them on a CPU, which have their own test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def lines_of(name: str) -> list[str]:
    """A loop's whole file."""
    return (FOLDER / f"{name}.py").read_text(encoding="utf-8").splitlines()


def changes(old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    """The added and the removed lines, stripped."""
    marked = list(difflib.ndiff(old, new))
    added = [line[2:].strip() for line in marked if line.startswith("+ ")]
    removed = [line[2:].strip() for line in marked if line.startswith("- ")]
    return added, removed


def seeded(train: Train, batches: Batches, epochs: int = 2) -> list[float]:
    """Train with fixed weights at the start."""
    torch.manual_seed(42)
    return train(batches, epochs)


def test_cpu_to_gpu_adds_three_lines_and_removes_none() -> None:
    """The whole files differ in: the device, the model's place, the batch's place."""
    added, removed = changes(lines_of("loop_cpu"), lines_of("loop_gpu"))

    assert removed == []
    assert added == [
        'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")',
        "model.to(device)",
        "images, labels = images.to(device), labels.to(device)",
    ]


def test_the_three_lines_are_of_three_kinds() -> None:
    """An assignment to `device`, a statement that moves the model, one that moves the batch."""
    added, _ = changes(lines_of("loop_cpu"), lines_of("loop_gpu"))

    choose, place, move = (ast.parse(line).body[0] for line in added)

    assert isinstance(choose, ast.Assign)
    assert ast.unparse(choose.targets[0]) == "device"
    assert isinstance(place, ast.Expr)
    assert ast.unparse(place) == "model.to(device)"
    assert isinstance(move, ast.Assign)
    assert ast.unparse(move.targets[0]) == "(images, labels)"
    assert ast.unparse(move.value) == "(images.to(device), labels.to(device))"


@pytest.mark.parametrize("name", ["loop_gpu", "loop_amp", "loop_portable"])
def test_the_model_is_placed_before_the_optimizer_is_made(name: str) -> None:
    """The order is: build, place, optimizer; and each batch moves as soon as it is there."""
    stripped = [line.strip() for line in lines_of(name)]

    build, optimizer = (
        stripped.index("model = MNISTClassifier()"),
        stripped.index("optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)"),
    )
    batch = stripped.index("for images, labels in train_loader:")

    assert stripped[build + 1 : optimizer] == ["model.to(device)"]
    assert stripped[batch + 1] == "images, labels = images.to(device), labels.to(device)"


def test_gpu_to_amp_adds_five_lines_and_removes_two() -> None:
    """Indentation aside: three new lines and two edited ones."""
    old, new = ([line.strip() for line in lines_of(name)] for name in ("loop_gpu", "loop_amp"))

    added, removed = changes(old, new)

    assert removed == ["loss.backward()", "optimizer.step()"]
    assert sorted(added) == sorted(
        [
            'scaler = torch.amp.GradScaler("cuda")',
            'with torch.amp.autocast("cuda", dtype=torch.float16):',
            "scaler.scale(loss).backward()",
            "scaler.step(optimizer)",
            "scaler.update()",
        ]
    )


def test_gpu_to_amp_moves_two_lines_to_the_right() -> None:
    """Counting indentation, seven lines are added and four removed."""
    added, removed = changes(lines_of("loop_gpu"), lines_of("loop_amp"))

    assert (len(added), len(removed)) == (7, 4)


def test_amp_to_portable_decides_before_and_tells_both_helpers() -> None:
    """Three decisions: whether, in which format, with a scaler or not; no line of the loop more."""
    added, removed = changes(lines_of("loop_amp"), lines_of("loop_portable"))

    assert len(removed) == 2
    assert added == [
        "from lesson_code.devices import choose_amp_dtype",
        'use_amp = device.type == "cuda"',
        "amp_dtype = choose_amp_dtype(device)",
        "use_scaler = use_amp and amp_dtype == torch.float16",
        "scaler = torch.amp.GradScaler(device.type, enabled=use_scaler)",
        "with torch.amp.autocast(device.type, dtype=amp_dtype, enabled=use_amp):",
    ]


class Evaluated(loop_cpu.MNISTClassifier):
    """A classifier that a call of `evaluate` left in evaluation mode; writes down its modes."""

    modes: ClassVar[list[bool]] = []

    def __init__(self) -> None:
        super().__init__()
        self.eval()

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Scores (B, 10)."""
        self.modes.append(self.training)
        return super().forward(images)


@pytest.mark.parametrize("module", [loop_cpu, loop_gpu, loop_amp, loop_portable])
def test_every_epoch_begins_in_training_mode(
    module: ModuleType,
    batches: Batches,
    without_gpu: None,
    silenced: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever an evaluation left behind, dropout and batch norm train again."""
    monkeypatch.setattr(module, "MNISTClassifier", Evaluated)
    monkeypatch.setattr(Evaluated, "modes", [])

    module.train(batches[:2], 1)

    assert [True, True] == Evaluated.modes


@pytest.mark.parametrize("name", LOOPS)
def test_every_loop_learns_on_a_cpu(
    name: str,
    batches: Batches,
    without_gpu: None,
    silenced: None,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Two epochs on real digits bring the loss down, and each epoch prints its line."""
    first, last = seeded(LOOPS[name], batches)

    assert last < 0.6 * first
    assert capsys.readouterr().out == f"epoch 1: loss {first:.4f}\nepoch 2: loss {last:.4f}\n"


@pytest.mark.gpu
@pytest.mark.parametrize("name", LOOPS)
def test_every_loop_learns_on_a_gpu(name: str, batches: Batches) -> None:
    """Where a GPU is, the same files train on it."""
    first, last = seeded(LOOPS[name], batches)

    assert last < 0.6 * first


def test_the_average_counts_every_sample_once(batches: Batches, without_gpu: None) -> None:
    """A last batch of another size does not weigh more than its samples."""
    images, labels = batches[0]

    whole = seeded(loop_cpu.train, [(images, labels)], epochs=1)
    torch.manual_seed(42)
    model = loop_cpu.MNISTClassifier()

    expected = torch.nn.functional.cross_entropy(model(images), labels).item()
    assert whole == [pytest.approx(expected)]
    uneven = [(images[:3], labels[:3]), (images[3:], labels[3:])]
    assert seeded(loop_cpu.train, uneven, epochs=1)[0] == pytest.approx(expected, rel=0.05)


def test_amp_says_on_a_cpu_that_both_helpers_are_disabled(
    batches: Batches, without_gpu: None
) -> None:
    """Autocast and scaler warn and switch themselves off; training goes on in float32."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        losses = seeded(loop_amp.train, batches)

    messages = {str(warning.message) for warning in caught}
    assert len(messages) == 2
    assert all("Disabling" in message for message in messages)
    assert any("GradScaler" in message for message in messages)
    assert any("autocast" in message or "device_type" in message for message in messages)
    assert losses == seeded(loop_cpu.train, batches)


def test_portable_loop_is_bit_identical_to_the_plain_one_on_a_cpu(
    batches: Batches, without_gpu: None
) -> None:
    """`enabled=False` changes no bit and gives no warning: warnings are errors in these tests."""
    portable = seeded(loop_portable.train, batches)

    assert portable == seeded(loop_gpu.train, batches) == seeded(loop_cpu.train, batches)
