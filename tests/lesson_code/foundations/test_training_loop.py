"""The order of the steps, sorted digits, and what the table of loader settings says."""

import contextlib
import copy
import io
import os
import random
import re
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

from lesson_code import devices
from lesson_code.foundations import train_mnist, training_loop
from lesson_code.foundations.train_mnist import load_digits
from lesson_code.foundations.training_loop import (
    ORDERS,
    print_orders,
    print_sorted_digits,
    print_training_run,
    print_two_layers,
    train,
    train_on_sorted_digits,
    two_layers,
)
from tests.printed import printed

ROWS = TensorDataset(torch.arange(10.0))


def test_the_healthy_order_learns(one_thread: None) -> None:
    """The loss falls as measured: 0.9389, 0.8712, 0.8103, and 0.2639 after 50 rounds."""
    losses = train(ORDERS["as it should be"])

    expected = [0.9389, 0.8712, 0.8103, 0.2639]
    assert pytest.approx(expected, abs=2e-4) == [*losses[:3], losses[-1]]


@pytest.mark.parametrize("name", ["step before backward", "zero after backward"])
def test_two_orders_never_learn(name: str) -> None:
    """Clearing between backward and step leaves the loss where it was, to the last bit."""
    losses = train(ORDERS[name])

    assert {losses[0]} == set(losses)
    assert pytest.approx(0.9389, abs=2e-4) == losses[0]


def test_one_order_learns_a_round_late(one_thread: None) -> None:
    """Step, zero, backward: the first loss twice, then not the healthy path but one like it."""
    losses = train(ORDERS["step, zero, backward"])

    expected = [0.9389, 0.9389, 0.8712, 0.2628]
    assert pytest.approx(expected, abs=2e-4) == [*losses[:3], losses[-1]]


def test_the_late_order_stops_a_deeper_network(capsys: pytest.CaptureFixture[str]) -> None:
    """Backward needs a weight that the step has changed, so the second round raises."""
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        train(ORDERS["step, zero, backward"], 2, two_layers)
    print_two_layers()

    first, second, _ = capsys.readouterr().out.splitlines()
    assert "round 1: no error" == first
    assert second.startswith("round 2: RuntimeError: one of the variables needed")


Optimizer = torch.optim.SGD | torch.optim.Adam | torch.optim.AdamW
OPTIMIZERS = [torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW]


def loss_before_a_step(model: nn.Module, steps: Optimizer) -> torch.Tensor:
    """A loss whose weights an optimizer changes before anything went backward."""
    model(torch.ones(3, 4)).square().mean().backward()
    loss: torch.Tensor = model(torch.ones(3, 4)).square().mean()
    steps.step()
    steps.zero_grad()
    return loss


@pytest.mark.parametrize("foreach", [True, False])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_the_late_order_stops_it_whichever_optimizer_steps(
    optimizer: type[Optimizer], foreach: bool
) -> None:
    """It is the change of a weight that is refused."""
    model = two_layers()
    steps = optimizer(model.parameters(), lr=0.1, foreach=foreach)

    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss_before_a_step(model, steps).backward()


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_fused_optimizer_is_not_noticed(optimizer: type[Optimizer]) -> None:
    """The gradient is neither that of the weights before the step nor of those after it."""
    torch.manual_seed(0)
    model = two_layers()
    before = copy.deepcopy(model)

    loss_before_a_step(model, optimizer(model.parameters(), lr=0.1, fused=True)).backward()

    mixed = next(model.parameters()).grad
    assert mixed is not None
    for weights in (before, copy.deepcopy(model)):
        weights.zero_grad()
        weights(torch.ones(3, 4)).square().mean().backward()
        right = next(weights.parameters()).grad
        assert right is not None
        assert not torch.allclose(right, mixed)


def test_clearing_after_the_step_is_as_good(one_thread: None) -> None:
    """Zero at the end of the round equals zero at its beginning, in every digit."""
    assert train(ORDERS["as it should be"]) == train(ORDERS["zero at the end"])


def test_the_page_shows_the_orders(capsys: pytest.CaptureFixture[str]) -> None:
    """A row for each order, with three losses and the last."""
    returned = print_orders()

    rows = capsys.readouterr().out.splitlines()[1:]
    assert list(ORDERS) == [row[:22].strip() for row in rows]
    assert {"healthy", "late"} == set(returned)


@dataclass(frozen=True)
class Table:
    """What the table of loader settings says, and the losses of each epoch."""

    text: str
    data: dict[str, dict[str, Any]]

    def losses(self, row: str) -> list[float]:
        """The numbers before the gap, of the row of this name."""
        [line] = [line for line in self.text.splitlines() if line.startswith(f"{row} ")]
        return [float(word) for word in line.removeprefix(row).split()[:3]]


@pytest.fixture(scope="module")
def tables() -> dict[int, Table]:
    """The table of the page, with seed 0; and another that is trained here, with seed 1."""
    shown = printed("foundations/training_loop:print_sorted_digits")
    said = io.StringIO()
    with (
        devices.one_thread(),
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(said),
    ):
        patch.setattr(
            training_loop,
            "train_on_sorted_digits",
            lambda shuffle, seed: train_on_sorted_digits(shuffle, seed + 1),
        )
        fresh = print_sorted_digits()
    return {0: Table(shown.text, shown.data), 1: Table(said.getvalue(), fresh)}


@pytest.mark.parametrize("seed", [0, 1])
def test_sorted_digits_without_shuffling_fool_the_loss(seed: int, tables: dict[int, Table]) -> None:
    """The loss falls in both runs, and only the shuffled one reads digits."""
    table = tables[seed]
    shuffled, unshuffled = table.data["shuffled"], table.data["not_shuffled"]
    losses = table.losses("not shuffled")

    assert shuffled["accuracy"][-1] > 0.88
    assert unshuffled["accuracy"][-1] < 0.75
    assert sorted(losses, reverse=True) == losses
    assert (losses[0], losses[-1]) == (unshuffled["first_loss"], unshuffled["last_loss"])
    assert unshuffled["last_loss"] < unshuffled["first_loss"]
    assert shuffled["late_share"] < 0.3
    assert unshuffled["late_share"] > 0.5


def test_the_page_shows_a_run_on_the_subset() -> None:
    """The loss falls in each of three epochs, and accuracies are those of 6,000 images."""
    text = printed("foundations/training_loop:print_training_run").text

    losses = [float(number) for number in re.findall(r"training loss (\S+),", text)]
    accuracies = [float(number) for number in re.findall(r"accuracy\D* (\d\S+)", text)]
    assert 3 == len(losses)
    assert sorted(losses, reverse=True) == losses
    assert 5 == len(accuracies)  # of three epochs, of the best one, of the test
    assert all(0.86 <= accuracy <= 0.95 for accuracy in accuracies[2:])


def test_that_run_is_the_script_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no options, and a folder of its own in which it finds the subset."""
    before, given = Path.cwd(), []

    def run(options: list[str]) -> None:
        given.append((options, len(load_digits(Path("data"), train=True)), Path.cwd()))

    monkeypatch.setattr(train_mnist, "main", run)

    print_training_run()

    [(options, images, folder)] = given
    assert ([], 6000) == (options, images)
    assert before == Path.cwd() != folder
    assert not folder.exists()


def test_a_seeded_generator_repeats_the_order() -> None:
    """Shuffling with the same generator seed gives the same batches; without shuffling, always."""
    first, second = (
        torch.cat([batch for (batch,) in loader])
        for loader in (
            DataLoader(ROWS, 4, shuffle=True, generator=torch.Generator().manual_seed(1))
            for _ in range(2)
        )
    )
    (unshuffled,) = next(iter(DataLoader(ROWS, 10, shuffle=False)))

    assert torch.equal(first, second)
    assert list(range(10)) == unshuffled.tolist()


def test_drop_last_drops_the_smaller_batch() -> None:
    """Ten rows in batches of four: 4, 4, 2, or 4, 4."""
    kept, dropped = (
        [len(batch) for (batch,) in DataLoader(ROWS, 4, drop_last=drop)] for drop in (False, True)
    )

    assert [4, 4, 2] == kept
    assert [4, 4] == dropped


def test_batch_norm_refuses_one_value_a_channel() -> None:
    """A row alone has no variance, in training; in evaluation it passes, and so does one image."""
    layer = nn.BatchNorm1d(3)

    with pytest.raises(ValueError, match="Expected more than 1 value per channel"):
        layer(torch.ones(1, 3))
    assert (1, 3) == layer.eval()(torch.ones(1, 3)).shape
    assert (1, 3, 4, 4) == nn.BatchNorm2d(3)(torch.ones(1, 3, 4, 4)).shape


class RandomNumbers(Dataset[torch.Tensor]):
    """Eight examples, each three random numbers: PyTorch's, Python's and NumPy's."""

    def __getitem__(self, _: int) -> torch.Tensor:
        return torch.tensor([torch.rand(1).item(), random.random(), float(np.random.rand())])

    def __len__(self) -> int:
        return 8


def drawn(workers: int) -> torch.Tensor:
    """What the workers of a loader drew, (8, 3), after the one seed that everybody sets."""
    torch.manual_seed(0)
    return torch.cat(list(DataLoader(RandomNumbers(), batch_size=2, num_workers=workers)))


def test_random_calls_in_workers_repeat_with_seed_and_number_of_workers() -> None:
    """Each worker gets a seed of its own from the loader's; another number draws others."""
    two = drawn(2)

    assert torch.equal(two, drawn(2))
    assert all(len(column.unique()) == 8 for column in two.T)
    assert not any(torch.equal(*columns) for columns in zip(two.T, drawn(1).T, strict=True))


class Counted(Dataset[int]):
    """A hundred examples that count how often they are asked for, across processes."""

    def __init__(self) -> None:
        self.asked = torch.zeros(1, dtype=torch.int64).share_memory_()

    def __getitem__(self, index: int) -> int:
        self.asked += 1
        return index

    def __len__(self) -> int:
        return 100


def test_one_worker_prepares_batches_while_the_loop_is_busy() -> None:
    """After the first batch was taken, more are loaded though nobody asks for them."""
    examples = Counted()
    batches = iter(DataLoader(examples, batch_size=1, num_workers=1))
    next(batches)

    deadline = time.monotonic() + 120
    while examples.asked < 3 and time.monotonic() < deadline:
        time.sleep(0.01)

    assert 3 <= int(examples.asked) < 100


def test_more_workers_than_cores_warn() -> None:
    """The loader says so when it is created."""
    with pytest.warns(UserWarning, match="suggested max number of worker"):
        DataLoader(ROWS, num_workers=(os.cpu_count() or 1) + 1)


def test_pinning_without_a_gpu_warns_and_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The batch comes in ordinary memory, with a warning."""
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: False)

    with pytest.warns(UserWarning, match="no accelerator is found"):
        (batch,) = next(iter(DataLoader(ROWS, 4, pin_memory=True)))

    assert not batch.is_pinned()


def test_the_classic_transform_is_not_deprecated() -> None:
    """The v2 counterpart of ToTensor warns; the one that the script uses doesn't."""
    from torchvision import transforms
    from torchvision.transforms import v2

    with pytest.warns(UserWarning, match="is deprecated"):
        v2.ToTensor()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        transforms.ToTensor()
