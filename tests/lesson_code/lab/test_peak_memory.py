"""The peak tracker: what PyTorch's private tracker gives us, pinned."""

from dataclasses import asdict

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed._tools.mem_tracker import MemTracker

from lesson_code.lab.peak_memory import PeakMemory, peak_memory

FLOAT = 4
BATCH, INPUTS, HIDDEN = 16, 8, 32
PARAMETERS = (INPUTS + 1) * HIDDEN + (HIDDEN + 1)


class Training:
    """Two linear layers with Adam, which has its state already."""

    def __init__(self) -> None:
        self.model = nn.Sequential(nn.Linear(INPUTS, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 1))
        self.optimizer = torch.optim.Adam(self.model.parameters())
        self.batch = torch.randn(BATCH, INPUTS)
        self.step()

    def step(self) -> None:
        """Train on the batch once."""
        self.model(self.batch).mean().backward()
        self.optimizer.step()
        self.optimizer.zero_grad()

    def peak(self) -> PeakMemory:
        """What such a step holds."""
        return peak_memory(self.step, self.model, self.optimizer, self.batch)


def test_what_exists_before_the_step_is_counted_by_kind() -> None:
    """Parameters, Adam's state and the batch have exactly the bytes of their values."""
    peak = Training().peak()

    assert FLOAT * PARAMETERS == peak.parameters
    assert 2 * FLOAT * PARAMETERS + 4 * FLOAT == peak.optimizer  # a step count for each tensor
    assert FLOAT * BATCH * INPUTS == peak.inputs
    assert peak.buffers == 0


def test_the_kinds_add_up_to_the_total() -> None:
    """No byte of the fullest moment is left without a kind."""
    kinds = asdict(Training().peak())
    total = kinds.pop("total")

    assert total == sum(kinds.values())


def test_fake_tensors_are_counted_like_real_ones() -> None:
    """A model without contents gives the numbers of a real one."""
    with FakeTensorMode():
        fake = Training().peak()

    assert Training().peak() == fake


def test_each_call_follows_one_step() -> None:
    """A second step of the same model is counted afresh."""
    training = Training()

    assert training.peak() == training.peak()


def test_the_peak_is_the_one_that_pytorch_finds() -> None:
    """Leaving out the peaks of single modules changes nothing in the whole one."""
    training = Training()
    tracker = MemTracker()
    tracker.track_external(training.model, training.optimizer, training.batch)
    with tracker:
        training.step()
    (found,) = tracker.get_tracker_snapshot("peak").values()

    assert found["Total"] == training.peak().total


def test_backward_needs_what_forward_keeps() -> None:
    """At the peak a step with a wide hidden layer holds at least that layer's output."""
    assert FLOAT * BATCH * HIDDEN <= Training().peak().activations


def test_the_second_step_holds_the_state_that_the_first_has_made() -> None:
    """With Adam its peak is higher by two numbers for each parameter; no later one is higher."""
    model = nn.Sequential(*(nn.Linear(64, 64) for _ in range(4)))
    optimizer = torch.optim.Adam(model.parameters())
    batch = torch.randn(4096, 64)

    def step() -> None:
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()

    first, second, third = (peak_memory(step, model, optimizer, batch) for _ in range(3))

    assert 0 == first.optimizer
    assert first.total + 2 * first.parameters <= second.total == third.total
