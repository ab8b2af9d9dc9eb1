"""Timing a step on a GPU, tested on a CPU: formats, switches, memory, refusals."""

from typing import Any

import pytest
import torch
from torch import nn

from lesson_code.devices import device_name
from lesson_code.forecast import __main__ as command
from lesson_code.forecast import measure_gpu as measuring
from lesson_code.forecast.cards import FORMATS
from lesson_code.forecast.measure_gpu import measure_gpu
from lesson_code.forecast.refusal import RefusedError
from lesson_code.forecast.report import OnGPU
from lesson_code.forecast.training import Training
from tests.lesson_code.forecast import own

CPU = torch.device("cpu")


class Watched(nn.Module):
    """A convolution and a layer, which remember what they saw."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Conv2d(2, 4, 3, padding=1), nn.Linear(4, 2)
        self.seen: list[tuple[torch.dtype, bool, bool]] = []

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Scores (B, 2)."""
        scores = self.last(self.first(images).mean((2, 3)))
        last = images.is_contiguous(memory_format=torch.channels_last)
        self.seen.append((scores.dtype, last, torch.backends.cuda.matmul.allow_tf32))
        return scores


def watched() -> tuple[Watched, Training]:
    """A model, and a training of it on images of 4 by 4."""
    model = Watched()
    batch = torch.randn(3, 2, 4, 4), torch.tensor([0, 1, 0])
    optimizer = torch.optim.Adam(model.parameters())
    return model, Training(model, optimizer, nn.CrossEntropyLoss(), batch)


@pytest.mark.parametrize(
    ("format", "dtype", "tf32"),
    [
        ("float32", torch.float32, False),
        ("tf32", torch.float32, True),
        ("bfloat16", torch.bfloat16, False),
        ("float16", torch.float16, False),
    ],
)
@pytest.mark.parametrize("channels_last", [False, True])
def test_each_step_computes_in_its_format_and_layout(
    format: str, dtype: torch.dtype, tf32: bool, channels_last: bool
) -> None:
    """The weights move, and the switches of TF32 are as they were afterwards."""
    before = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    model, training = watched()
    weights = model.last.weight.detach().clone()

    [timed] = measure_gpu(lambda: training, [5], [format], channels_last, CPU)

    assert {(dtype, channels_last, tf32)} == set(model.seen)
    assert measuring.REPETITIONS + measuring.WARM_UP == len(model.seen)
    assert not torch.equal(weights, model.last.weight)
    assert (device_name(CPU), 5, format, 0) == (timed.machine, timed.batch, timed.format, 0)
    assert timed.seconds
    assert before == (torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32)


def test_a_batch_that_does_not_fit_is_said_and_the_others_are_timed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The next ones still run."""

    def timing(step: Any, *_: Any) -> list[float]:
        timed.append(step)
        if len(timed) == 1:
            raise torch.OutOfMemoryError
        return [3.0, 1.0, 2.0]

    timed: list[Any] = []
    monkeypatch.setattr(measuring, "time_repeatedly", timing)

    found = measure_gpu(lambda: Training(*own.good()), [8, 2], ["float32"], False, CPU)

    assert [(8, None), (2, 2.0)] == [(there.batch, there.seconds) for there in found]


def test_a_step_that_fails_is_refused_with_its_reason() -> None:
    """Only a lack of memory lets the other batches go on."""

    def loss(*_: Any) -> Any:
        raise KeyError("no such label")

    model = nn.Linear(3, 2)
    training = Training(model, torch.optim.SGD(model.parameters()), loss, own.BATCH)

    with pytest.raises(RefusedError, match=r"this GPU, .*KeyError: 'no such label'"):
        measure_gpu(lambda: training, [2], ["float32"], False, CPU)


def test_the_command_prints_its_rows(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the memory that the step took, below the cards; nothing without `--measure`."""
    found = [
        OnGPU("Some GPU", 4, "float32", 2e-3, 5_000_000),
        OnGPU("Some GPU", 4, "tf32", None, 0),
    ]
    monkeypatch.setattr("lesson_code.devices.choose_device", lambda: torch.device("cuda"))
    monkeypatch.setattr(measuring, "measure_gpu", lambda *_: found)
    asked = ["tests.lesson_code.forecast.own:good", "--card", "t4", "--format", "float32,tf32"]

    command.main(asked)
    assert "this GPU" not in capsys.readouterr().out
    command.main([*asked, "--measure"])

    said = capsys.readouterr().out
    rows = [line.split("  ") for line in said.splitlines() if line.startswith("this GPU")]
    cells = [[cell.strip() for cell in row if cell.strip()] for row in rows]
    assert ["this GPU", "4", "float32", "2 ms", "measured", "2,000", "5 MB"] == cells[0]
    assert ["this GPU", "4", "tf32", "–", "–", "–", "does not fit"] == cells[1]
    assert 1 == said.count("This GPU: Some GPU.")


@pytest.mark.gpu
def test_every_format_is_timed_on_a_gpu(capsys: pytest.CaptureFixture[str]) -> None:
    """The step takes memory there, and the command names the card."""
    gpu = torch.device("cuda")

    found = measure_gpu(lambda: watched()[1], [3], FORMATS, True, gpu)

    assert list(FORMATS) == [there.format for there in found]
    assert all(there.seconds and there.peak_bytes for there in found)
    command.main(["tests.lesson_code.forecast.own:good", "--measure"])
    assert f"This GPU: {device_name(gpu)}." in capsys.readouterr().out
