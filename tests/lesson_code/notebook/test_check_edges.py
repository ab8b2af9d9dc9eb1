"""What the notebook's checks do at their edges: code that stops, and other devices than the CPU."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from lesson_code.models import MNISTClassifier
from lesson_code.notebook import checks
from lesson_code.notebook.watching import Batch, WatchedLoader, in_one_line, tensors_in


@pytest.fixture
def batches() -> list[Batch]:
    """Two batches of made-up digits, of different sizes."""
    torch.manual_seed(0)
    return [(torch.rand(n, 1, 28, 28), torch.randint(10, (n,))) for n in (16, 12)]


@pytest.fixture
def accelerator(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch says that there is an accelerator; all stays on the CPU."""
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)


def test_code_that_stops_gets_one_sentence(batches: list[Batch]) -> None:
    """What would follow from it is not listed as well."""

    def stops(_loader: WatchedLoader, _epochs: int) -> Any:
        raise KeyError("made up")

    cpu = torch.device("cpu")
    [finding] = checks.check_1(stops, cpu, MNISTClassifier(), [2.0, 1.0], batches)

    assert not finding.holds
    assert "it stopped with KeyError" in finding.advice


def test_a_run_that_was_stopped_is_to_be_run_again(batches: list[Batch]) -> None:
    """The function is right, and nobody waited for it."""

    def code(loader: WatchedLoader, _epochs: int) -> Any:
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = MNISTClassifier().to(device)
        for images, _ in loader:
            model(images.to(device))
        return device, model, [1.0], [1.0]

    finding = checks.check_1(code, torch.device("cpu"), None, [], batches)[-1]

    assert not finding.holds
    assert "let it come to its end" in finding.advice


@pytest.mark.parametrize(
    ("losses", "holds"), [([0.9], True), ([2.31], False), ([2.0, 1.9], True), ([0.3, 0.4], False)]
)
def test_a_loss_that_does_not_fall_is_seen_after_one_epoch_too(
    losses: list[float], holds: bool
) -> None:
    """One epoch is compared with a guess, several with the first of them."""
    assert holds == checks._learned(losses).holds


def test_a_folder_in_a_files_place_is_said(tmp_path: Path) -> None:
    """It is nothing that the dictionary could mend."""

    def unused(*_: object) -> Any:
        raise AssertionError

    model = MNISTClassifier()
    [finding] = checks.check_2(tmp_path, 1, unused, unused, model, torch.rand(1, 1, 28, 28))

    assert not finding.holds
    assert "Is a directory" in finding.advice


def test_what_would_steer_a_terminal_is_left_out() -> None:
    """An error of an answer may contain anything."""
    assert "ValueError:  [2Jgone" == in_one_line(ValueError("\x1b[2Jgone"))
    assert "ValueError" == in_one_line(ValueError(""))


def test_what_a_pretended_gpu_cannot_do_is_no_mistake(batches: list[Batch]) -> None:
    """Then the run on this machine decides."""

    def code(loader: WatchedLoader) -> None:
        torch.Generator(device="cuda" if torch.cuda.is_available() else "cpu")
        for images, _ in loader:
            images + 1

    practice = checks.Practice(code, batches)

    assert "" == practice.error
    assert not practice.pretended
    assert practice.takes_gpu


def test_beside_a_real_accelerator_nothing_is_pretended(
    batches: list[Batch], accelerator: None
) -> None:
    """Two devices that meet stop by themselves there, so that is not looked for."""

    def code(loader: WatchedLoader) -> None:
        for images, _ in loader:
            images + torch.ones(28)
            images.to("cpu")

    practice = checks.Practice(code, batches)

    assert not practice.pretended
    assert practice.moved("images", 0).holds
    assert not practice.moved("labels", 1).holds


def test_a_model_that_comes_back_elsewhere_is_named(batches: list[Batch]) -> None:
    """A checkpoint opens on the CPU, and so does the model that is made from it."""
    images, _ = batches[0]
    model = MNISTClassifier()

    found = checks._same_answers(lambda _: model.to("meta"), {}, MNISTClassifier(), images)

    assert not found.holds
    assert "it is on meta; leave it on the CPU" == found.advice


def test_weights_that_do_not_load_are_named(batches: list[Batch]) -> None:
    """By the error's name, and with what to save."""
    loader = DataLoader(TensorDataset(*batches[0]), batch_size=16)
    stored = {"model_state_dict": nn.Linear(2, 2).state_dict(), "accuracy": 50.0}

    found = checks._as_accurate(stored, loader)

    assert not found.holds
    assert "its weights do not load (RuntimeError); save model.state_dict()" == found.advice


def test_an_accelerator_may_see_another_digit_in_one_image(
    batches: list[Batch], accelerator: None
) -> None:
    """One image in half precision is no wrong accuracy; two are."""
    images, labels = batches[0]
    loader = DataLoader(TensorDataset(images, labels), batch_size=16)
    model = MNISTClassifier().eval()
    right = int((model(images).argmax(dim=1) == labels).sum())
    state = {"model_state_dict": model.state_dict()}

    one, two = (state | {"accuracy": 100 * (right + more) / 16} for more in (1, 2))

    assert checks._as_accurate(one, loader).holds
    assert not checks._as_accurate(two, loader).holds


def test_tensors_are_found_in_lists_too() -> None:
    """As `torch.cat` and `torch.stack` get them."""
    a, b, c = torch.ones(3)

    assert [a, b, c] == list(tensors_in((a, [b, (c, "text")], 1)))
