"""A tensor's move has to be assigned; a model's move need not be."""

import pytest
import torch

from lesson_code.gpu_training import device_fundamentals
from lesson_code.models import MNISTClassifier


@pytest.fixture
def without_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch finds no GPU."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


def test_a_tensor_moves_only_when_assigned(
    without_gpu: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without an assignment the batch stays where it was, and the output says so."""
    device_fundamentals.print_move_a_tensor()

    assert capsys.readouterr().out.splitlines() == [
        "device: meta (no GPU here; meta keeps shapes without values)",
        "images.to(device)           images are on cpu",
        "images = images.to(device)  images are on meta",
    ]


def test_a_model_moves_in_place(without_gpu: None, capsys: pytest.CaptureFixture[str]) -> None:
    """Without an assignment the parameters move, and the call returns the same model."""
    device_fundamentals.print_move_a_model()

    assert capsys.readouterr().out.splitlines() == [
        "device: meta (no GPU here; meta keeps shapes without values)",
        "model.to(device)            fc1.weight is on meta",
        "what the call returns       the same model: True",
    ]


@pytest.mark.gpu
def test_a_gpu_is_named_in_the_place_of_meta(capsys: pytest.CaptureFixture[str]) -> None:
    """Where a GPU is, both outputs are about it."""
    device_fundamentals.print_move_a_tensor()
    device_fundamentals.print_move_a_model()

    printed = capsys.readouterr().out
    assert "images = images.to(device)  images are on cuda:0" in printed
    assert "fc1.weight is on cuda:0" in printed
    assert "meta" not in printed


def test_a_tensor_that_is_there_already_is_not_copied() -> None:
    """`.to` gives back the same object when nothing changes, so a change in place shows in it."""
    images = torch.rand(2, 1, 28, 28)

    moved = images.to("cpu")
    moved.zero_()

    assert moved is images
    assert 0 == images.count_nonzero()


def test_parameters_keep_their_identity_when_a_model_is_changed() -> None:
    """A module's `.to` writes into the parameters that an optimizer may already hold."""
    model = MNISTClassifier()
    before = list(model.parameters())

    model.to(torch.float64)

    assert all(old is new for old, new in zip(before, model.parameters(), strict=True))
    assert {parameter.dtype for parameter in before} == {torch.float64}


def test_not_every_optimizer_waits_for_its_first_step_to_make_its_memory() -> None:
    """Adagrad makes it at once, on the device where the parameters are then; Adam does not."""
    parameters = list(MNISTClassifier().parameters())

    adagrad, adam = torch.optim.Adagrad(parameters), torch.optim.Adam(parameters)

    assert {"cpu"} == {adagrad.state[parameter]["sum"].device.type for parameter in parameters}
    assert 0 == len(adam.state)


def test_one_move_of_four_is_lost() -> None:
    """A model and a loss function move in place, a tensor only by an assignment."""
    meta = torch.device("meta")

    places = device_fundamentals.places_after_moving(meta)

    assert {
        "model": meta,
        "criterion": meta,
        "images": torch.device("cpu"),
        "labels": meta,
    } == places
