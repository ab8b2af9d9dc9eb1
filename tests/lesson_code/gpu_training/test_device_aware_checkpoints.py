"""Checkpoints: what is in them, what loads, and where it lands."""

import collections
import copy
import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from lesson_code.data import synthetic_digits
from lesson_code.gpu_training.device_aware_checkpoints import (
    cuda_tags,
    load_checkpoint,
    load_scaler_state,
    loads_safely,
    print_loading_without_map_location,
    print_what_loads_safely,
    save_checkpoint,
)
from lesson_code.models import MNISTClassifier

CPU = torch.device("cpu")
MOMENTS = ("exp_avg", "exp_avg_sq")


def trained(device: torch.device) -> tuple[MNISTClassifier, torch.optim.Adam]:
    """A classifier and its Adam after three steps on made-up digits."""
    torch.manual_seed(0)
    images, labels, _, _ = synthetic_digits(64, 8)
    model = MNISTClassifier().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(3):
        train_step(model, optimizer, images.to(device), labels.to(device))
    return model, optimizer


def train_step(
    model: nn.Module, optimizer: torch.optim.Optimizer, images: torch.Tensor, labels: torch.Tensor
) -> None:
    """One plain training step."""
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(images), labels).backward()
    optimizer.step()


def leaves(value: Any) -> list[Any]:
    """Everything in nested dictionaries and lists that is neither."""
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in leaves(item)]
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


@pytest.fixture
def checkpoint_file(tmp_path: Path) -> Path:
    """A checkpoint that was saved on the CPU after epoch index 4."""
    path = tmp_path / "checkpoint.pth"
    save_checkpoint(path, 4, *trained(CPU), loss=0.25)
    return path


@pytest.fixture
def gpu_checkpoint_file(tmp_path: Path) -> Path:
    """The same, claiming that every tensor in it lay on a GPU."""
    path = tmp_path / "checkpoint.pth"
    with cuda_tags():
        save_checkpoint(path, 4, *trained(CPU), loss=0.25)
    return path


def test_a_checkpoint_has_exactly_four_keys(checkpoint_file: Path) -> None:
    """Epoch, both states and the loss are saved, and nothing else."""
    checkpoint = torch.load(checkpoint_file, weights_only=True)

    assert ["epoch", "model_state_dict", "optimizer_state_dict", "loss"] == list(checkpoint)


def test_a_checkpoint_holds_tensors_and_plain_values_only(tmp_path: Path) -> None:
    """A loss that is a NumPy scalar is saved as a plain float; all else is plain or a tensor."""
    path = tmp_path / "checkpoint.pth"
    save_checkpoint(path, 4, *trained(CPU), loss=np.float64(0.25))

    checkpoint = torch.load(path, weights_only=True)

    plain = {torch.Tensor, int, float, bool, str, type(None)}
    assert plain >= {type(leaf) for leaf in leaves(checkpoint)}
    assert float is type(checkpoint["loss"])


def test_the_file_is_three_times_the_parameters(checkpoint_file: Path, tmp_path: Path) -> None:
    """Weights and Adam's two moments make 2.8 MB; the weights alone make a third of it."""
    weights_file = tmp_path / "weights.pth"
    torch.save(trained(CPU)[0].state_dict(), weights_file)

    assert pytest.approx(2_827_909, rel=0.005) == checkpoint_file.stat().st_size
    assert pytest.approx(943_129, rel=0.005) == weights_file.stat().st_size


def test_loading_gives_back_what_was_saved(tmp_path: Path, device: torch.device) -> None:
    """Model, optimizer, epoch and loss come back on the device that was asked for."""
    path = tmp_path / "checkpoint.pth"
    model, optimizer = trained(device)
    save_checkpoint(path, 4, model, optimizer, loss=0.25)

    loaded, loaded_optimizer, epoch, loss = load_checkpoint(path, device)

    assert (4, 0.25) == (epoch, loss)
    assert {device.type} == {p.device.type for p in loaded.parameters()}
    expected = leaves([model.state_dict(), optimizer.state_dict()])
    actual = leaves([loaded.state_dict(), loaded_optimizer.state_dict()])
    torch.testing.assert_close(actual, expected, rtol=0, atol=0, check_device=False)
    assert_moments_on(device, loaded_optimizer)


def assert_moments_on(device: torch.device, optimizer: torch.optim.Optimizer) -> None:
    """Both moments of each of the six parameters lie there."""
    moments = [state[name] for state in optimizer.state.values() for name in MOMENTS]
    assert [device.type] * 12 == [moment.device.type for moment in moments]


def counters_on(optimizer: torch.optim.Optimizer) -> list[str]:
    """Where Adam's step counters lie, one for each parameter."""
    return [state["step"].device.type for state in optimizer.state.values()]


def test_training_goes_on_as_if_nothing_had_happened(
    tmp_path: Path, device: torch.device, one_thread: None
) -> None:
    """One more step from the checkpoint equals one more step without it, bit by bit."""
    path = tmp_path / "checkpoint.pth"
    model, optimizer = trained(device)
    save_checkpoint(path, 4, model, optimizer, loss=0.25)
    images, labels, _, _ = synthetic_digits(64, 8, seed=1)
    images, labels = images.to(device), labels.to(device)
    loaded, loaded_optimizer, _, _ = load_checkpoint(path, device)

    train_step(model, optimizer, images, labels)
    train_step(loaded, loaded_optimizer, images, labels)

    for expected, actual in zip(model.parameters(), loaded.parameters(), strict=True):
        assert torch.equal(expected, actual)


@pytest.mark.parametrize("weights_only", [True, False])
def test_a_gpu_checkpoint_fails_on_a_machine_without_gpu(
    gpu_checkpoint_file: Path, monkeypatch: pytest.MonkeyPatch, weights_only: bool
) -> None:
    """Without map_location the load stops with PyTorch's own advice, trusted file or not."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)

    message = "Attempting to deserialize object on a CUDA device.*map_location=torch.device"
    with pytest.raises(RuntimeError, match=message):
        torch.load(gpu_checkpoint_file, weights_only=weights_only)


def test_map_location_brings_a_gpu_checkpoint_to_the_cpu(gpu_checkpoint_file: Path) -> None:
    """Every tensor of model and optimizer lands on the CPU."""
    checkpoint = torch.load(gpu_checkpoint_file, map_location="cpu", weights_only=True)
    model, optimizer, _, _ = load_checkpoint(gpu_checkpoint_file, CPU)

    tensors = leaves([checkpoint, model.state_dict(), optimizer.state_dict()])
    assert {"cpu"} == {leaf.device.type for leaf in tensors if isinstance(leaf, torch.Tensor)}


@pytest.mark.gpu
@pytest.mark.parametrize(("saved_on", "loaded_on"), [("cuda", "cpu"), ("cpu", "cuda")])
def test_a_checkpoint_crosses_devices_both_ways(
    tmp_path: Path, saved_on: str, loaded_on: str
) -> None:
    """What one device saved trains on the other."""
    path = tmp_path / "checkpoint.pth"
    save_checkpoint(path, 4, *trained(torch.device(saved_on)), loss=0.25)

    device = torch.device(loaded_on)
    model, optimizer, _, _ = load_checkpoint(path, device)

    images, labels, _, _ = synthetic_digits(64, 8)
    train_step(model, optimizer, images.to(device), labels.to(device))
    assert_moments_on(device, optimizer)


@pytest.mark.filterwarnings("ignore:for fc:UserWarning")  # values do not move in on meta
def test_the_step_counter_stays_where_the_file_was_opened(checkpoint_file: Path) -> None:
    """The moments move to the parameters; so the lesson opens the file on the CPU.

    The meta device stands for a GPU.
    """
    meta = torch.device("meta")
    model, opened_on_the_cpu, _, _ = load_checkpoint(checkpoint_file, meta)
    opened_there = torch.optim.Adam(model.parameters(), lr=1e-3)
    state = torch.load(checkpoint_file, map_location=meta, weights_only=True)
    opened_there.load_state_dict(state["optimizer_state_dict"])

    assert_moments_on(meta, opened_there)
    assert_moments_on(meta, opened_on_the_cpu)
    assert ["meta"] * 6 == counters_on(opened_there)
    assert ["cpu"] * 6 == counters_on(opened_on_the_cpu)
    assert ["cpu"] * 6 == counters_on(new_adam_after_a_step(meta))


def new_adam_after_a_step(device: torch.device) -> torch.optim.Optimizer:
    """What never met a file."""
    model = MNISTClassifier().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    model(torch.zeros(2, 1, 28, 28, device=device)).sum().backward()
    optimizer.step()
    return optimizer


def test_the_optimizer_state_follows_its_parameters(checkpoint_file: Path) -> None:
    """Adam's moments take device and type of the parameters that the optimizer was created with."""
    state = torch.load(checkpoint_file, weights_only=True)["optimizer_state_dict"]
    model = MNISTClassifier().to(torch.float64)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    optimizer.load_state_dict(state)

    assert [torch.float64] * 6 == [s["exp_avg"].dtype for s in optimizer.state.values()]
    assert [torch.float32] * 6 == [s["step"].dtype for s in optimizer.state.values()]


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        (True, 4),
        (True, 0.25),
        (True, "cuda"),
        (True, True),
        (True, None),
        (True, [1, (2.0, "three")]),
        (True, torch.ones(3)),
        (False, np.float64(0.25)),
        (False, np.ones(3)),
        (False, datetime.date(2024, 2, 29)),
        (False, Path("checkpoint.pth")),
        (False, torch.__version__),
        (False, collections.defaultdict(list)),
        (True, dict(collections.defaultdict(list))),
        (True, float(np.float64(0.25))),
        (True, str(torch.__version__)),
        (False, MNISTClassifier()),
    ],
)
def test_plain_values_load_safely_and_objects_do_not(expected: bool, value: object) -> None:
    """The safe load takes tensors and plain values and refuses everything else."""
    assert expected is loads_safely(value)


class Notes:
    """An object of a class of one's own, with whatever is in it."""

    def __init__(self, content: object = None) -> None:
        self.content = content


def test_a_class_that_is_named_loads_with_the_protection_on() -> None:
    """The refusal names the remedy: let the class through, and nothing else."""
    assert not loads_safely(Notes())

    with torch.serialization.safe_globals([Notes]):
        assert loads_safely(Notes())
        assert not loads_safely(Path("checkpoint.pth"))
        assert not loads_safely(Notes(Path("checkpoint.pth")))


@pytest.mark.parametrize("stored", [{}, {"scaler_state_dict": {}}])
def test_an_enabled_scaler_starts_fresh_without_a_stored_state(stored: dict[str, Any]) -> None:
    """A checkpoint from a CPU run has no scaler state, and an enabled scaler then keeps its own."""
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0)

    load_scaler_state(scaler, stored)

    assert 8.0 == scaler.get_scale()


def test_an_enabled_scaler_refuses_an_empty_state_without_the_guard() -> None:
    """The guard is needed: PyTorch raises on an empty state."""
    scaler = torch.amp.GradScaler("cpu")

    with pytest.raises(RuntimeError, match="source state dict is empty"):
        scaler.load_state_dict({})


def test_a_stored_scale_comes_back() -> None:
    """A run with a scaler goes on with the scale that it had found."""
    stored = {"scaler_state_dict": torch.amp.GradScaler("cpu", init_scale=1024.0).state_dict()}
    scaler = torch.amp.GradScaler("cpu")

    load_scaler_state(scaler, stored)

    assert 1024.0 == scaler.state_dict()["scale"]


def test_a_disabled_scaler_ignores_a_stored_state() -> None:
    """A run that goes on without mixed precision has no use for the scale."""
    stored = {"scaler_state_dict": torch.amp.GradScaler("cpu", init_scale=1024.0).state_dict()}
    scaler = torch.amp.GradScaler("cpu", enabled=False)

    load_scaler_state(scaler, copy.deepcopy(stored))

    assert {} == scaler.state_dict()


def test_the_page_shows_the_failure_and_its_remedy(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a machine without a GPU, the error comes first and the loaded model second."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)

    print_loading_without_map_location()

    failure, remedy = capsys.readouterr().out.split("\n\n")
    assert failure.startswith("without map_location\nRuntimeError: Attempting to deserialize")
    assert "with map_location\nepoch 4, loss 0.0312, the model is on cpu\n" == remedy


@pytest.mark.gpu
def test_the_page_says_what_a_gpu_machine_does(capsys: pytest.CaptureFixture[str]) -> None:
    """Where there is a GPU, the plain load succeeds, and the output says so."""
    print_loading_without_map_location()

    assert "loaded: this machine has a GPU." in capsys.readouterr().out


def test_the_page_shows_what_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """Only the NumPy scalar is refused, and float() mends it."""
    print_what_loads_safely()

    lines = capsys.readouterr().out.splitlines()
    refused = [line.split()[0] for line in lines if line.endswith("refused: UnpicklingError")]
    assert ["numpy.float64(97.5)"] == refused
    assert "float(numpy.float64(97.5))  loads" == lines[-1]
