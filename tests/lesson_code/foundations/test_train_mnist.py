"""The whole script: it learns, it repeats itself, and it stops where it must."""

import math
import runpy
import sys
from pathlib import Path
from typing import Any, cast

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset
from torchvision import datasets

from lesson_code.data import RAW_FILES, lay_out_subset
from lesson_code.foundations import train_mnist
from lesson_code.foundations.modules import DigitClassifier
from lesson_code.foundations.train_mnist import (
    build_model,
    build_optimizer,
    load_digits,
    main,
    make_loaders,
    train_one_epoch,
    validate,
)
from tests.building import REPOSITORY
from tests.warm import Parent

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which torchvision finds the subset, as if it were all of MNIST."""
    folder = tmp_path_factory.mktemp("data")
    lay_out_subset(folder)
    return folder


@pytest.fixture
def no_mirror(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Downloads fail at once."""
    monkeypatch.setattr(datasets.MNIST, "mirrors", [f"{(tmp_path / 'nowhere').as_uri()}/"])


def small_run(data: Path, checkpoint: Path, *more: str) -> None:
    """Two epochs on 300 images."""
    limits = ["--limit-train", "300", "--limit-val", "100", "--epochs", "2"]
    main(["--data", str(data), "--checkpoint", str(checkpoint), *limits, *more])


def loader_of(features: torch.Tensor, labels: torch.Tensor, batch_size: int) -> DataLoader:
    """Batches in a fixed order."""
    return DataLoader(TensorDataset(features, labels), batch_size)


def test_it_repeats_itself(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], one_thread: None
) -> None:
    """With the same seed it prints the same digits, and with another one it doesn't."""
    printed = []
    for seed in ("13", "13", "14"):
        small_run(data, tmp_path / "best.pt", "--seed", seed)
        printed.append(capsys.readouterr().out)

    first, second, other = printed
    assert first == second
    assert first != other


def first_epoch(data: Path, workers: int) -> float:
    """The mean loss of a first epoch on 256 images that so many processes load."""
    train_mnist.seed_everything(13)
    order = torch.Generator().manual_seed(13)
    images = make_loaders(data, order, 256, 1)[0].dataset
    model = build_model()
    loader = DataLoader(images, batch_size=128, shuffle=True, generator=order, num_workers=workers)
    return train_one_epoch(model, loader, nn.CrossEntropyLoss(), build_optimizer(model), CPU)


# Forks workers, so it must not have used PyTorch's threads: a process of its own.
FIRST_EPOCHS = """
import sys, torch
from pathlib import Path
from tests.lesson_code.foundations.test_train_mnist import first_epoch
torch.set_num_threads(1)
for workers in (0, 2):
    print(first_epoch(Path(sys.argv[1]), workers))
"""


def test_two_loader_workers_give_the_same_first_epoch(data: Path, warm: Parent) -> None:
    """The order is drawn before the workers get it, and nothing that they do is random."""
    ran = warm.run([sys.executable, "-c", FIRST_EPOCHS, data], cwd=REPOSITORY)

    assert 0 == ran.returncode, ran.stderr
    alone, with_workers = map(float, ran.stdout.split())
    assert alone == with_workers


def test_test_images_appear_after_the_last_choice(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every save comes before the test images are loaded, and they are loaded once."""
    events = []
    load, save = train_mnist.load_digits, train_mnist.save_checkpoint

    def load_and_note(folder: Path, train: bool) -> datasets.MNIST:
        events.append("training images" if train else "test images")
        return load(folder, train)

    def save_and_note(*args: object) -> None:
        events.append("save")
        save(*args)

    monkeypatch.setattr(train_mnist, "load_digits", load_and_note)
    monkeypatch.setattr(train_mnist, "save_checkpoint", save_and_note)

    small_run(data, tmp_path / "best.pt")

    assert "training images" == events[0]
    assert "test images" == events[-1]
    assert {"save"} == set(events[1:-1])


def test_training_and_validation_share_no_image(data: Path) -> None:
    """The split is 11 to 1, fixed, and disjoint; only the training loader shuffles."""
    training, validation = make_loaders(data, torch.Generator(), None, None)
    again, _ = make_loaders(data, torch.Generator().manual_seed(1), None, None)

    images, kept = (cast(Subset[Any], loader.dataset) for loader in (training, validation))
    indices, held_out = set(images.indices), set(kept.indices)
    assert (5500, 500) == (len(indices), len(held_out))
    assert set() == indices & held_out
    assert images.indices == cast(Subset[Any], again.dataset).indices
    assert (128, 512) == (training.batch_size, validation.batch_size)
    assert isinstance(training.sampler, torch.utils.data.RandomSampler)
    assert isinstance(validation.sampler, torch.utils.data.SequentialSampler)


@pytest.mark.parametrize(
    ("accuracies", "saved"), [([0.0, 0.0], [1]), ([0.5, 0.4], [1]), ([0.4, 0.5], [1, 2])]
)
def test_a_checkpoint_is_written_when_accuracy_improves_and_only_then(
    data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    accuracies: list[float],
    saved: list[int],
) -> None:
    """A first accuracy of zero is saved; a tie or a fall is not."""
    written = []
    save = train_mnist.save_checkpoint

    def note(path: Path, epoch: int, *rest: object) -> None:
        written.append(epoch)
        save(path, epoch, *rest)

    coming = iter([*accuracies, 0.9])  # the last one is the test's
    monkeypatch.setattr(train_mnist, "save_checkpoint", note)
    monkeypatch.setattr(train_mnist, "validate", lambda *_: next(coming))

    small_run(data, tmp_path / "best.pt")

    assert saved == written
    checkpoint = torch.load(tmp_path / "best.pt", weights_only=True)
    assert saved[-1] == checkpoint["epoch"]
    assert {"seed": 13} == checkpoint["config"]


def test_missing_data_give_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], no_mirror: None
) -> None:
    """The folder and the four names are in it, nothing was trained, nothing stands in for MNIST."""
    with pytest.raises(SystemExit) as stopped:
        main(["--data", str(tmp_path), "--checkpoint", str(tmp_path / "best.pt")])

    message = str(stopped.value.code)
    assert str(tmp_path / "MNIST" / "raw") in message
    assert [] == [name for name in RAW_FILES if name not in message]
    assert 1 == len(message.splitlines())
    assert "epoch" not in capsys.readouterr().out
    assert not (tmp_path / "best.pt").exists()


def test_data_that_lie_there_need_no_network(data: Path, no_mirror: None) -> None:
    """The four files suffice, and pixels come normalised."""
    image, label = load_digits(data, train=False)[0]

    assert (1, 28, 28) == image.shape
    assert pytest.approx(-0.4242, abs=1e-4) == image.min().item()
    assert label in range(10)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_loss_that_is_not_finite_stops_before_backward(value: float) -> None:
    """No gradient is written, and the message names the batch."""
    model = nn.Linear(2, 2)
    features = torch.ones(6, 2)
    features[4] = value
    loader = loader_of(features, torch.zeros(6, dtype=torch.int64), 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)

    with pytest.raises(FloatingPointError, match="batch 3: the loss is"):
        train_one_epoch(model, loader, nn.CrossEntropyLoss(), optimizer, CPU)

    assert [None, None] == [p.grad for p in model.parameters()]


def test_the_script_names_the_epoch_of_a_bad_loss(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One sentence with epoch and batch, and no traceback."""

    def bad(*_: object) -> float:
        raise FloatingPointError("batch 5: the loss is nan")

    monkeypatch.setattr(train_mnist, "train_one_epoch", bad)

    with pytest.raises(SystemExit, match="error: epoch 1, batch 5: the loss is nan"):
        small_run(data, tmp_path / "best.pt")


def test_the_command_line_asks_for_at_least_one_epoch(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Run as a script with no epochs, it says so and stops: there would be no best one."""
    monkeypatch.setattr(sys, "argv", ["train_mnist", "--epochs", "0"])

    with pytest.raises(SystemExit):
        runpy.run_path(train_mnist.__file__, run_name="__main__")

    assert "--epochs must be at least 1" in capsys.readouterr().err


def test_the_loss_is_the_mean_over_examples() -> None:
    """A last batch of one counts as one example, not as a whole batch."""
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    features, labels = torch.randn(5, 3), torch.tensor([0, 1, 1, 0, 1])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    expected = nn.functional.cross_entropy(model(features), labels).item()

    loss = train_one_epoch(
        model, loader_of(features, labels, 4), nn.CrossEntropyLoss(), optimizer, CPU
    )

    assert pytest.approx(expected, rel=1e-6) == loss


class Probe(nn.Module):
    """A model that notes in which state it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.seen: list[tuple[bool, bool]] = []

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Note training mode and gradients, then compute."""
        self.seen.append((self.training, torch.is_grad_enabled()))
        return self.layer(features)


def test_validation_is_in_evaluation_mode_and_keeps_no_graph() -> None:
    """Validation sees training off and gradients off, and training sees both on again."""
    probe = Probe()
    loader = loader_of(torch.ones(2, 2), torch.zeros(2, dtype=torch.int64), 2)
    optimizer = torch.optim.SGD(probe.parameters(), lr=0.0)

    validate(probe, loader, CPU)
    train_one_epoch(probe, loader, nn.CrossEntropyLoss(), optimizer, CPU)

    assert [(False, False), (True, True)] == probe.seen


def test_accuracy_is_a_fraction(device: torch.device) -> None:
    """Three of four right is 0.75, whatever the batches."""
    model = nn.Identity()
    scores = torch.eye(2)[[0, 1, 1, 0]]

    assert 0.75 == validate(model, loader_of(scores, torch.tensor([0, 1, 1, 1]), 3), device)


def test_it_trains_where_the_model_is(device: torch.device) -> None:
    """Images and labels follow the model."""
    model = build_model().to(device)
    loader = loader_of(torch.zeros(4, 1, 28, 28), torch.arange(4), 2)

    loss = train_one_epoch(model, loader, nn.CrossEntropyLoss(), build_optimizer(model), device)

    assert math.isfinite(loss)


def test_the_model_is_part_threes_and_all_of_it_trains() -> None:
    """The classifier has 101,770 parameters in four tensors, and Adam holds the same tensors."""
    model = build_model()
    optimizer = build_optimizer(model)

    assert isinstance(model, DigitClassifier)
    assert 101_770 == sum(p.numel() for p in model.parameters())
    held = [p for group in optimizer.param_groups for p in group["params"]]
    assert 4 == len(held)
    assert all(p is q for p, q in zip(model.parameters(), held, strict=True))
    assert (torch.optim.Adam, 1e-3) == (type(optimizer), optimizer.defaults["lr"])


def test_one_seed_covers_every_device() -> None:
    """torch.manual_seed reseeds the CPU generator, Python and NumPy get theirs."""
    import random

    import numpy as np

    def draw() -> tuple[float, float, float]:
        return random.random(), float(np.random.rand()), torch.rand(1).item()

    train_mnist.seed_everything(13)
    first = draw()
    train_mnist.seed_everything(13)

    assert first == draw()
