"""Half a move fails at the forward pass or at the loss; proven here without a GPU.

PyTorch's fake tensors know where they would be, so they raise the real check on any machine.
They are a private part of PyTorch, good for tests only.
"""

import difflib
import re
import traceback
from collections.abc import Callable
from mmap import ACCESS_READ, mmap
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn
from torch._subclasses import fake_tensor
from torch._subclasses.fake_tensor import FakeTensorMode

from lesson_code import models
from lesson_code.gpu_training import device_mismatch, loop_gpu
from lesson_code.models import MNISTClassifier
from lesson_site.sections import read_section
from tests.building import REPOSITORY

CODE = Path(device_mismatch.__file__).parent.parent
BEGINNING = "Expected all tensors to be on the same device"
# Real tensors say it in every version; fake ones in PyTorch 2.11 have words of their own.
FAKE_BEGINNING = (
    BEGINNING
    if hasattr(fake_tensor, "FakeTensorDeviceMismatchError")
    else "Unhandled FakeTensor Device Propagation"
)


class OnTheGPU(MNISTClassifier):
    """A classifier whose (fake) parameters are on a GPU from the start."""

    def __init__(self) -> None:
        with torch.device("cuda"):
            super().__init__()

    def to(self, *_arguments: Any, **_options: Any) -> "OnTheGPU":
        """Stay: fake parameters cannot be moved on a machine without a driver."""
        return self


class BackwardReachedError(Exception):
    """Forward pass and loss have succeeded; fake tensors cannot go further without a driver."""


@pytest.fixture
def fake_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both modules are told of a GPU; a run ends where its backward pass would begin."""

    def stop(_loss: torch.Tensor) -> None:
        raise BackwardReachedError

    claiming_a_gpu = SimpleNamespace(
        cuda=SimpleNamespace(is_available=lambda: True),
        **{name: getattr(torch, name) for name in ("device", "optim", "rand", "randint")},
    )
    monkeypatch.setattr(torch.Tensor, "backward", stop)
    for module in (device_mismatch, loop_gpu):
        monkeypatch.setattr(module, "MNISTClassifier", OnTheGPU)
        monkeypatch.setattr(module, "torch", claiming_a_gpu)  # and PyTorch itself knows better


def train_on_a_fake_batch(train: Callable[..., list[float]]) -> None:
    """Give a loop one batch that is on the CPU."""
    with FakeTensorMode():
        batch = (torch.rand(8, 1, 28, 28), torch.randint(10, (8,)))
        train([batch], 1)


def failing_line(error: BaseException, file: str) -> str | None:
    """The last line of ``file`` in the error's traceback."""
    frames = traceback.extract_tb(error.__traceback__)
    return next(frame.line for frame in reversed(frames) if frame.filename == file)


@pytest.mark.parametrize(
    ("train", "line"),
    [
        (device_mismatch.train_with_the_model_moved, "outputs = model(images)"),
        (device_mismatch.train_with_the_inputs_moved, "loss = criterion(outputs, labels)"),
    ],
)
def test_half_a_move_fails_at_its_line(
    fake_gpu: None, train: Callable[..., list[float]], line: str
) -> None:
    """Inputs left behind: the forward pass fails. Labels left behind: the loss does."""
    with pytest.raises(RuntimeError, match=f"^{FAKE_BEGINNING}") as caught:
        train_on_a_fake_batch(train)

    assert failing_line(caught.value, device_mismatch.__file__) == line


def test_two_lines_of_the_traceback_are_ours(fake_gpu: None) -> None:
    """The loop calls the model, and `forward` its first layer; all other frames are PyTorch's."""
    with pytest.raises(RuntimeError) as caught:
        train_on_a_fake_batch(device_mismatch.train_with_the_model_moved)

    written = {device_mismatch.__file__: "loop", models.__file__: "model"}
    frames = traceback.extract_tb(caught.value.__traceback__)
    ours = [(written[f.filename], f.name, f.line) for f in frames if f.filename in written]
    assert ("loop", "outputs = model(images)") == (ours[0][0], ours[0][2])
    assert [("model", "forward")] == [each[:2] for each in ours[1:]]
    assert "self.fc1(" in str(ours[1][2])


def test_the_whole_move_passes_forward_and_loss(fake_gpu: None) -> None:
    """The loop with three added lines gets as far as the backward pass."""
    with pytest.raises(BackwardReachedError) as caught:
        train_on_a_fake_batch(loop_gpu.train)

    assert failing_line(caught.value, loop_gpu.__file__) == "loss.backward()"


def test_the_naive_loop_is_the_cpu_loop_and_two_lines() -> None:
    """It differs from `loop_cpu` in the device line and the model's line only."""
    old = read_section("gpu_training/loop_cpu.py:loop", CODE).lines
    new = read_section("gpu_training/device_mismatch.py:naive_loop", CODE).lines

    changed = [line for line in difflib.ndiff(old, new) if line[0] in "+-"]

    assert changed == [
        '+ device = torch.device("cuda" if torch.cuda.is_available() else "cpu")',
        "+ model.to(device)",
    ]


def test_inputs_only_is_the_gpu_loop_with_the_labels_forgotten() -> None:
    """It differs from `loop_gpu` in the line that moves the batch only."""
    old = read_section("gpu_training/loop_gpu.py:loop", CODE).lines
    new = read_section("gpu_training/device_mismatch.py:inputs_only", CODE).lines

    changed = [line.split(maxsplit=1) for line in difflib.ndiff(old, new) if line[0] in "+-"]

    assert sorted(changed) == [
        ["+", "images = images.to(device)"],
        ["-", "images, labels = images.to(device), labels.to(device)"],
    ]


@pytest.mark.parametrize(
    "train",
    [device_mismatch.train_with_the_model_moved, device_mismatch.train_with_the_inputs_moved],
)
def test_on_a_cpu_half_a_move_goes_unnoticed(
    monkeypatch: pytest.MonkeyPatch, one_thread: None, train: Callable[..., list[float]]
) -> None:
    """Both loops train there: that is why the mistake is found on the first GPU only."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    batch = (torch.rand(64, 1, 28, 28), torch.randint(10, (64,)))

    losses = train([batch] * 5, 2)

    assert losses[1] < losses[0]


def test_without_a_gpu_no_error_is_invented(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The output says that a GPU is needed, and there is no data."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)

    data = device_mismatch.print_mismatch()

    assert data is None
    assert capsys.readouterr().out == (
        "This needs a GPU: on a CPU, model and batch are in one place.\n"
    )


def test_the_printed_error_has_the_line_and_the_whole_message(
    fake_gpu: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a GPU machine prints: the line of this file, then type and message, in 72 columns."""
    with FakeTensorMode():
        data = device_mismatch.print_mismatch()

    assert data is not None
    assert data["naive_loop"]["line"] == "outputs = model(images)"
    assert data["inputs_only"]["line"] == "loss = criterion(outputs, labels)"
    printed = capsys.readouterr().out
    assert max(len(line) for line in printed.splitlines()) <= 72
    for failure in data.values():
        assert failure["message"].startswith(FAKE_BEGINNING)
        assert failure["message"] in " ".join(printed.split())


RECURRENT = "Input and parameter tensors are not at the same device"
CONVOLUTION = "Input type ({}) and weight type ({}) should be the same"


def test_the_beginning_is_not_the_same_for_every_layer() -> None:
    """A recurrent layer and attention refuse a forgotten batch in words of their own."""
    layer = nn.LSTM(8, 4).to("meta")  # a fake one can't be built
    with pytest.raises(RuntimeError, match=f"^{RECURRENT}") as recurrent:
        layer(torch.rand(3, 2, 8))
    with FakeTensorMode():
        query, other = torch.rand(1, 2, 4, 8, device="cuda"), torch.rand(1, 2, 4, 8)
        with pytest.raises(RuntimeError, match="same device type") as attention:
            nn.functional.scaled_dot_product_attention(query, other, other)

    for refused, there in ((recurrent, "meta"), (attention, "cuda")):
        assert BEGINNING not in str(refused.value)
        assert {"cpu", there} == set(re.findall("cpu|cuda|meta", str(refused.value)))


def test_a_convolution_compares_types_in_words_of_its_own() -> None:
    """The same check compares formats and devices; formats it can compare on any machine."""
    layer = nn.Conv2d(1, 4, 3, bias=False).half()

    with pytest.raises(RuntimeError) as caught:
        layer(torch.rand(2, 1, 8, 8))

    said = CONVOLUTION.format("torch.FloatTensor", "torch.HalfTensor")
    assert str(caught.value).startswith(said)


def quoted_messages() -> list[str]:
    """The errors that the lesson quotes from others' logs, in the words of today's PyTorch."""
    page = (REPOSITORY / "docs/gpu-training/device-mismatch.md").read_text(encoding="utf-8")
    return re.findall(r"`([^`\n]*(?:same device|should be the same)[^`\n]*)`", page)


def test_quoted_messages_are_those_of_the_installed_pytorch() -> None:
    """The library has every part of them that does not depend on the tensors."""
    filled_in = r"mat1|parameter|cpu|cuda:0|wrapper_\w+|torch\.(?:cuda\.)?FloatTensor"
    parts = {part for said in quoted_messages() for part in re.split(filled_in, said)}
    library = next((Path(torch.__file__).parent / "lib").glob("*torch_cpu.*"))

    with library.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as words:
        unknown = {part for part in parts if words.find(part.strip(" )").encode()) < 0}

    assert 5 == len(quoted_messages())
    assert set() == unknown


@pytest.mark.gpu
def test_a_convolution_on_a_real_gpu_names_both_types() -> None:
    """A type with `cuda` in its name is on the GPU."""
    with pytest.raises(RuntimeError) as caught:
        nn.Conv2d(1, 4, 3).to("cuda")(torch.rand(2, 1, 8, 8))

    said = CONVOLUTION.format("torch.FloatTensor", "torch.cuda.FloatTensor")
    assert str(caught.value).startswith(said)


def test_a_number_without_dimensions_and_indices_may_stay_on_the_cpu() -> None:
    """These two PyTorch accepts beside a GPU tensor; a vector it refuses."""
    with FakeTensorMode():
        there = torch.rand(4, 3, device="cuda")

        assert "cuda" == (there * torch.tensor(2.0)).device.type
        assert "cuda" == there[torch.tensor([0, 2])].device.type
        with pytest.raises(RuntimeError, match=FAKE_BEGINNING):
            _ = there * torch.tensor([1.0, 2.0, 3.0])


@pytest.mark.gpu
def test_a_real_gpu_fails_at_the_same_lines() -> None:
    """The type, the beginning of the message and the lines hold on hardware."""
    data = device_mismatch.print_mismatch()

    assert data is not None
    assert {failure["type"] for failure in data.values()} == {"RuntimeError"}
    assert all(failure["message"].startswith(BEGINNING) for failure in data.values())
    assert [failure["line"] for failure in data.values()] == [
        "outputs = model(images)",
        "loss = criterion(outputs, labels)",
    ]
