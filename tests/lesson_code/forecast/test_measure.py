"""This machine's CPU is timed as far as it has the memory and the patience."""

import os
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from lesson_code.devices import cpu_name
from lesson_code.forecast import measure as measuring
from lesson_code.forecast.measure import free_memory, measure
from lesson_code.forecast.refusal import RefusedError
from lesson_code.forecast.report import Measured
from lesson_code.forecast.training import Training
from tests.lesson_code.forecast import own

PLENTY = 10**9


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[int]]:
    """Has some memory, of which a sample takes 1,000 bytes, and a clock; gives what it timed."""

    def machine(seconds: Callable[[int], float], free: int) -> list[int]:
        timed: list[int] = []

        def count(build: Callable[[], Training], size: int) -> Any:
            assert isinstance(build(), Training)
            return SimpleNamespace(peak_bytes=1000 * size)

        def timing(training: Training, size: int) -> Measured:
            assert isinstance(training, Training)
            timed.append(size)
            return Measured("this", size, seconds(size))

        monkeypatch.setattr(measuring, "count", count)
        monkeypatch.setattr(measuring, "free_memory", lambda: free)
        monkeypatch.setattr(measuring, "_timed", timing)
        return timed

    return machine


def training() -> Training:
    """A linear layer's."""
    return Training(*own.good())


@pytest.mark.parametrize(
    ("wanted", "seconds_of_sample", "free", "timed", "given"),
    [
        ([2, 8], 0.01, PLENTY, [2, 4, 8], [2, 8]),
        ([8, 2], 0.01, PLENTY, [2, 4, 8], [8, 2]),
        ([1], 0.01, PLENTY, [2, 1], [1]),
        ([6, 3], 0.01, PLENTY, [2, 4, 3], [4, 3]),
        ([4, 3, 4, 3], 0.01, PLENTY, [2, 4, 3], [4, 3, 4, 3]),
        ([64, 3], 0.25, PLENTY, [2, 4, 8, 3], [8, 3]),
        ([64], 0.251, PLENTY, [2, 4], [4]),
        ([64], 5.0, PLENTY, [2], [2]),
        ([64], 0.01, 16_000, [2, 4, 8], [8]),
        ([64], 0.01, 15_999, [2, 4], [4]),
    ],
)
def test_what_takes_two_seconds_or_half_of_the_memory_is_not_timed(
    wanted: list[int],
    seconds_of_sample: float,
    free: int,
    timed: list[int],
    given: list[int],
    machine: Callable[..., list[int]],
) -> None:
    """Batches are doubled from two on; a larger one has the largest that was, a smaller its own."""
    found = machine(lambda size: size * seconds_of_sample, free)

    result = measure(training, wanted)

    assert timed == found
    assert dict(zip(wanted, given, strict=True)) == {of: m.batch for of, m in result.items()}
    assert list(dict.fromkeys(wanted)) == list(result)


def test_without_memory_for_two_samples_nothing_is_timed(
    machine: Callable[..., list[int]],
) -> None:
    """Half of what is free would be one sample."""
    timed = machine(float, free=3_999)

    with pytest.raises(RefusedError, match="half"):
        measure(training, [1])

    assert [] == timed


class Elsewhere(torch.Tensor):
    """A tensor on some other device, as far as one can tell."""

    def to(self, device: torch.device) -> torch.Tensor:  # type: ignore[override]
        """The same tensor here."""
        return super().to(device).as_subclass(torch.Tensor)


class Seen(nn.Linear):
    """Knows on what it was called, and whether it was sent to the CPU before."""

    def __init__(self) -> None:
        super().__init__(3, 2)
        self.calls: list[list[tuple[type, int]]] = []
        self.sent = False

    def to(self, device: torch.device) -> "Seen":  # type: ignore[override]
        """Where it is already."""
        self.sent = "cpu" == device.type
        return self

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        """What a linear layer gives of the first."""
        assert self.sent
        self.calls.append([(type(tensor), len(tensor)) for tensor in inputs])
        return super().forward(inputs[0])


def test_the_median_of_three_training_steps_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """Model and batch are on the CPU, and each step goes down the slope of its own loss."""
    model, gradients = Seen(), []
    inputs, targets = own.BATCH
    batch = tuple(tensor.as_subclass(Elsewhere) for tensor in (inputs, inputs, targets))
    bias, slopes = model.bias.detach().clone(), []
    for _ in range(3):  # of zeros, a linear layer gives its bias
        slopes.append(bias.softmax(0) - torch.tensor([1.0, 0.0]))
        bias -= 0.1 * slopes[-1]

    def loss(scores: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        assert type(wanted) is torch.Tensor
        return nn.functional.cross_entropy(scores, wanted)

    def clock(step: Callable[[], object], device: torch.device, repetitions: int) -> list[float]:
        assert ("cpu", 3) == (device.type, repetitions)
        for _ in range(repetitions):
            step()
            assert model.bias.grad is not None
            gradients.append(model.bias.grad.clone())
        return [9.0, 0.5, 1.0]

    monkeypatch.setattr(measuring, "time_repeatedly", clock)
    monkeypatch.setattr(measuring, "count", lambda *_: SimpleNamespace(peak_bytes=0))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    result = measure(lambda: Training(model, optimizer, loss, batch), [2])

    machine = f"{cpu_name()}, {torch.get_num_threads()} threads"
    assert {2: Measured(machine, 2, 1.0)} == result
    assert [[(torch.Tensor, 2)] * 2] * 3 == model.calls
    assert torch.allclose(torch.stack(slopes), torch.stack(gradients))


def test_a_step_that_fails_is_refused_with_its_reason() -> None:
    """It is counted where no value is; here there are values."""

    def loss(scores: torch.Tensor, _: torch.Tensor) -> Any:
        if scores.device.type == "cpu":
            raise KeyError("no such label")
        return scores.sum()

    def build() -> Training:
        model = nn.Linear(3, 2)
        return Training(model, torch.optim.SGD(model.parameters()), loss, own.BATCH)

    with pytest.raises(RefusedError, match="KeyError: 'no such label'") as refused:
        measure(build, [2])

    assert isinstance(refused.value.__cause__, KeyError)


@pytest.mark.parametrize("missing", [AttributeError, OSError, ValueError])
def test_free_memory_is_what_the_system_tells(
    missing: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages that are free, times the size of one; 2 GiB where the system does not tell."""
    told = {"SC_AVPHYS_PAGES": 1000, "SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 7000}
    monkeypatch.setattr(os, "sysconf", told.__getitem__, raising=False)
    assert 4_096_000 == free_memory()

    def silent(_: str) -> int:
        raise missing

    monkeypatch.setattr(os, "sysconf", silent, raising=False)
    assert 2 * 2**30 == free_memory()
