"""One step of each optimizer, and checkpoints that give everything back."""

import argparse
import copy
import datetime
import math
import pickle
import random
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from lesson_code.foundations.modules import DigitClassifier
from lesson_code.foundations.optimizers_and_checkpoints import (
    OPTIMIZERS,
    checkpoint_bytes,
    classify_noise,
    clipped_step,
    compare_resumes,
    load_checkpoint,
    load_with_settings,
    one_step,
    print_checkpoint_size,
    print_clipping,
    print_inference,
    print_kept_state,
    print_one_step,
    print_resumes,
    print_what_loads_safely,
    save_checkpoint,
    values_to_save,
)
from lesson_code.foundations.train_mnist import build_optimizer, train_one_epoch
from lesson_code.gpu_training.device_aware_checkpoints import loads_safely
from tests.building import REPOSITORY
from tests.warm import Parent

CPU = torch.device("cpu")
REFUSED = {
    "numpy.float64(0.9672)",
    "numpy.ones(3)",
    "numpy.random.get_state()",
    "Path('data')",
    "argparse.Namespace(epochs=3)",
    "datetime.date(2026, 1, 1)",
    "the whole model",
}
KILLED_SAVE = """
import os, pathlib, sys
import torch
from torch import nn
from lesson_code.foundations import optimizers_and_checkpoints as checkpoints

def die(number):
    os._exit(9)

os.fsync = die
model = nn.Linear(2, 2)
optimizer = torch.optim.Adam(model.parameters())
checkpoints.save_checkpoint(pathlib.Path(sys.argv[1]), 2, model, optimizer, 0.9)
"""


def leaves(value: Any) -> list[Any]:
    """Everything in nested dictionaries and lists that is neither."""
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in leaves(item)]
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


class Run:
    """A classifier with dropout, Adam, and a loader that shuffles: all that has a state."""

    def __init__(self, seed: int, device: torch.device) -> None:
        torch.manual_seed(seed)
        self.device = device
        self.model = DigitClassifier().to(device)
        self.optimizer = build_optimizer(self.model)
        self.order = torch.Generator().manual_seed(seed)
        pixels = torch.randn(40, 1, 28, 28, generator=torch.Generator().manual_seed(99))
        digits = TensorDataset(pixels, torch.arange(40) % 10)
        self.loader = DataLoader(digits, 8, shuffle=True, generator=self.order)

    def epoch(self) -> float:
        """Train once through the data."""
        criterion = nn.CrossEntropyLoss()
        return train_one_epoch(self.model, self.loader, criterion, self.optimizer, self.device)

    def save(self, path: Path, accuracy: float = 0.5) -> None:
        """Keep everything."""
        save_checkpoint(path, 1, self.model, self.optimizer, accuracy, self.order, {"seed": 0})


def test_adam_normalises_the_decay_away_and_adamw_does_not() -> None:
    """From 1 and 100: Adam 0.9 and 99.9, AdamW 0.89 and 98.9."""
    assert pytest.approx([0.9, 99.9], abs=1e-3) == one_step(torch.optim.Adam)
    assert pytest.approx([0.89, 98.9], abs=1e-3) == one_step(torch.optim.AdamW)


def test_adam_with_decoupled_decay_is_adamw() -> None:
    """The two give equal weights."""
    decoupled = one_step(torch.optim.Adam, decoupled_weight_decay=True)

    assert one_step(torch.optim.AdamW) == decoupled


def test_clipping_returns_the_norm_before_clipping() -> None:
    """A gradient of length 50 comes back as 50, is 1 in the buffers, and moves the weight by 1."""
    model = nn.Linear(2, 1, bias=False)
    nn.init.zeros_(model.weight)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    loss = model(torch.tensor([30.0, 40.0])).sum()

    norm = clipped_step(model, loss, optimizer, max_norm=1.0)

    assert pytest.approx(50.0) == norm
    assert model.weight.grad is not None
    assert pytest.approx(1.0, abs=1e-5) == model.weight.grad.norm().item()
    assert pytest.approx([-0.6, -0.8], abs=1e-5) == model.weight[0].tolist()


def test_a_norm_that_is_not_a_number_raises_only_on_request() -> None:
    """Asked to, clipping raises before the step; by default NaN passes in silence."""
    model = nn.Linear(2, 1)
    before = copy.deepcopy(model.state_dict())
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)

    with pytest.raises(RuntimeError, match="non-finite"):
        clipped_step(model, model(torch.ones(2)).sum() * math.nan, optimizer, max_norm=1.0)
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)

    assert math.isnan(norm)
    assert all(torch.equal(before[name], now) for name, now in model.state_dict().items())


@pytest.mark.parametrize("asked", [False, True])
def test_under_a_scaler_an_overflow_is_routine_until_somebody_asks(asked: bool) -> None:
    """By default the step is skipped and the scale lowered; the question ends the run."""
    model = nn.Linear(2, 1)
    before = copy.deepcopy(model.state_dict())
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127)
    scaler.scale(1000 * model(torch.ones(2)).sum()).backward()
    scaler.unscale_(optimizer)

    if asked:
        with pytest.raises(RuntimeError, match="non-finite"):
            nn.utils.clip_grad_norm_(model.parameters(), 1.0, error_if_nonfinite=True)
        return
    assert not nn.utils.clip_grad_norm_(model.parameters(), 1.0).isfinite()
    scaler.step(optimizer)
    scaler.update()

    assert 2.0**126 == scaler.get_scale()
    assert all(torch.equal(before[name], now) for name, now in model.state_dict().items())


def test_the_page_shows_steps_and_clipping(capsys: pytest.CaptureFixture[str]) -> None:
    """Three optimizers, then the norm before and after, and NaN with and without the question."""
    print_one_step()
    print_clipping()

    lines = capsys.readouterr().out.splitlines()
    assert ["Adam", "AdamW", "Adam, decoupled"] == [line[:17].strip() for line in lines[1:4]]
    assert lines[4].endswith("left in the buffers 1.0")
    assert lines[5].startswith("NaN, asked: RuntimeError")
    assert "NaN, not asked: returned nan, nothing raised" == lines[-1]


def test_a_scheduler_before_the_optimizer_warns() -> None:
    """In the right order nothing is said."""
    weight = nn.Parameter(torch.ones(1))

    def scheduler_of(optimizer: torch.optim.Optimizer) -> torch.optim.lr_scheduler.StepLR:
        return torch.optim.lr_scheduler.StepLR(optimizer, step_size=1)

    wrong = torch.optim.SGD([weight], lr=0.1)
    scheduler = scheduler_of(wrong)
    with pytest.warns(UserWarning, match=r"lr_scheduler.step\(\)` before `optimizer.step"):
        scheduler.step()
    right = torch.optim.SGD([weight], lr=0.1)
    scheduler = scheduler_of(right)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        right.step()
        scheduler.step()

    assert pytest.approx(0.01) == right.param_groups[0]["lr"]


def test_a_run_goes_on_as_if_it_had_never_stopped(
    tmp_path: Path, device: torch.device, one_thread: None
) -> None:
    """Dropout, shuffling and Adam included, the next epoch is the same to the last bit."""
    path = tmp_path / "run.pt"
    run = Run(0, device)
    run.epoch()
    run.save(path)
    expected = run.epoch()

    other = Run(1, device)
    finished, accuracy = load_checkpoint(path, other.model, other.optimizer, other.order)

    assert (1, 0.5) == (finished, accuracy)
    assert expected == other.epoch()
    for p, q in zip(run.model.parameters(), other.model.parameters(), strict=True):
        assert torch.equal(p, q)


def saved_after_an_epoch(folder: Path) -> Path:
    """The file of a run whose Adam has its state."""
    path = folder / "run.pt"
    run = Run(0, CPU)
    run.epoch()
    run.save(path)
    return path


@pytest.mark.filterwarnings("ignore:.*meta:UserWarning")
def test_the_step_counter_stays_on_the_cpu_and_the_moments_do_not(tmp_path: Path) -> None:
    """As in an Adam that never met a file. The meta device stands for a GPU."""
    other = Run(1, torch.device("meta"))
    load_checkpoint(saved_after_an_epoch(tmp_path), other.model, other.optimizer)

    places = {
        (name, tensor.device.type)
        for state in other.optimizer.state.values()
        for name, tensor in state.items()
    }
    assert {("step", "cpu"), ("exp_avg", "meta"), ("exp_avg_sq", "meta")} == places


@pytest.mark.filterwarnings("ignore:.*meta:UserWarning")
def test_a_fused_adam_takes_its_counter_along(tmp_path: Path) -> None:
    """Its kernel reads it where the parameters are."""
    path = saved_after_an_epoch(tmp_path)
    state = torch.load(path, weights_only=True)["optimizer_state_dict"]
    state["param_groups"][0]["fused"] = True

    other = Run(1, torch.device("meta"))
    other.optimizer.load_state_dict(state)

    assert {"meta"} == {held["step"].device.type for held in other.optimizer.state.values()}


def test_draws_of_python_and_numpy_are_not_in_the_file(tmp_path: Path) -> None:
    """PyTorch draws again what it would have drawn, and the two others do not."""
    path = tmp_path / "run.pt"
    run = Run(0, CPU)
    run.save(path)
    first = torch.rand(1), random.random(), np.random.rand()

    load_checkpoint(path, run.model, run.optimizer)

    assert first[0] == torch.rand(1)
    assert first[1] != random.random()
    assert first[2] != np.random.rand()


def test_without_the_random_states_the_next_epoch_is_another_one(
    tmp_path: Path, one_thread: None
) -> None:
    """The four usual entries are not enough for the same run."""
    path = tmp_path / "run.pt"
    run = Run(0, CPU)
    run.epoch()
    run.save(path)
    expected = run.epoch()

    other = Run(1, CPU)
    load_checkpoint(path, other.model, other.optimizer)  # the order of batches stays behind

    assert expected != other.epoch()


def test_what_a_gpu_drew_is_restored_where_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One state for each GPU that this machine has, and none for those that it lacks."""
    path = tmp_path / "run.pt"
    state = torch.get_rng_state()
    restored = []
    monkeypatch.setattr(torch.cuda, "get_rng_state_all", lambda: [state, state])
    Run(0, CPU).save(path)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "set_rng_state", lambda _, index: restored.append(index))

    other = Run(1, CPU)
    load_checkpoint(path, other.model, other.optimizer)

    assert [0] == restored


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_restored_in_full_every_optimizer_goes_on_bit_by_bit(name: str, one_thread: None) -> None:
    """Equal losses in all 20 steps, and no parameter differs."""
    result = compare_resumes(OPTIMIZERS[name])

    assert result["uninterrupted"]["loss"] == result["all"]["loss"]
    assert 0.0 == result["all"]["difference"]


@pytest.mark.parametrize(("name", "least"), [("adam", 0.01), ("momentum", 0.001)])
def test_from_weights_alone_the_second_step_differs(
    name: str, least: float, one_thread: None
) -> None:
    """The first loss is equal, and from the second on the runs part."""
    result = compare_resumes(OPTIMIZERS[name])
    expected, actual = result["uninterrupted"]["loss"], result["weights_only"]["loss"]

    assert expected[0] == actual[0]
    assert expected[1] != actual[1]
    assert result["weights_only"]["difference"] > least


def test_plain_sgd_has_nothing_to_restore(one_thread: None) -> None:
    """A fresh SGD goes on with the same bits."""
    result = compare_resumes(OPTIMIZERS["sgd"])

    assert result["uninterrupted"]["loss"] == result["weights_only"]["loss"]
    assert 0.0 == result["weights_only"]["difference"]


def test_the_page_shows_three_ways_to_resume(
    capsys: pytest.CaptureFixture[str], one_thread: None
) -> None:
    """A row for each optimizer and way; Adam parts further than momentum."""
    results = print_resumes()

    assert 10 == len(capsys.readouterr().out.splitlines())
    differences = [results[name]["weights_only"]["difference"] for name in OPTIMIZERS]
    assert sorted(differences, reverse=True) == differences


def test_a_checkpoint_holds_tensors_and_plain_values_only(tmp_path: Path) -> None:
    """A NumPy accuracy is saved as a plain float, and the file loads safely."""
    path = tmp_path / "run.pt"
    run = Run(0, CPU)
    run.epoch()
    run.save(path, np.float64(0.5))

    checkpoint = torch.load(path, weights_only=True)

    expected = {"epoch", "model_state_dict", "optimizer_state_dict", "validation_accuracy"}
    assert expected <= set(checkpoint)
    plain = {torch.Tensor, int, float, bool, str, type(None)}
    assert plain >= {type(leaf) for leaf in leaves(checkpoint)}


def test_a_killed_save_leaves_the_old_file(tmp_path: Path, warm: Parent) -> None:
    """A process that dies with the new file half done has not touched the old one."""
    path = tmp_path / "run.pt"
    Run(0, CPU).save(path)
    old = path.read_bytes()

    killed = warm.run([sys.executable, "-c", KILLED_SAVE, path], cwd=REPOSITORY)

    assert 9 == killed.returncode
    assert path.with_suffix(".partial").exists()
    assert old == path.read_bytes()


def test_the_file_is_three_times_the_weights(capsys: pytest.CaptureFixture[str]) -> None:
    """1.24 MB with Adam's two numbers for each parameter; 407,080 bytes of weights."""
    sizes = print_checkpoint_size()

    assert 407_080 == sizes["weights"] == checkpoint_bytes()["weights"]
    assert pytest.approx(1_237_000, rel=0.005) == sizes["checkpoint"]
    assert "407,080 bytes" in capsys.readouterr().out


def test_a_kept_state_dict_follows_the_model_and_a_copy_does_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One step later the kept state equals the model's, and the copy is what it was."""
    print_kept_state()

    shown = dict(line.split() for line in capsys.readouterr().out.splitlines())
    assert {"model": "0.5", "kept": "0.5", "copied": "1.0"} == shown


def test_a_reloaded_model_answers_as_the_original(tmp_path: Path) -> None:
    """In evaluation mode both give equal outputs, and the class is theirs."""
    path = tmp_path / "run.pt"
    run = Run(0, CPU)
    run.epoch()
    run.save(path)
    torch.manual_seed(5)
    shown = classify_noise(path)

    reloaded = DigitClassifier()
    reloaded.load_state_dict(torch.load(path, weights_only=True)["model_state_dict"])
    reloaded.eval()
    run.model.eval()
    torch.manual_seed(5)
    DigitClassifier()  # draws what classify_noise draws for its first weights
    pixels = torch.randn(1, 1, 28, 28)

    assert torch.equal(run.model(pixels), reloaded(pixels))
    assert run.model(pixels).argmax().item() == shown


def test_the_page_shows_a_class(capsys: pytest.CaptureFixture[str]) -> None:
    """One of ten."""
    print_inference()

    assert int(capsys.readouterr().out.removeprefix("class ")) in range(10)


@pytest.mark.parametrize("text", values_to_save())
def test_what_loads_safely(text: str) -> None:
    """Plain values, tensors and torch's own small types load; everything else is refused."""
    assert (text not in REFUSED) is loads_safely(values_to_save()[text])


def test_a_refusal_says_so(tmp_path: Path) -> None:
    """Its message begins with the words that the page quotes."""
    path = tmp_path / "run.pt"
    torch.save({"accuracy": np.float64(0.5)}, path)

    with pytest.raises(Exception, match="Weights only load failed") as refused:
        torch.load(path, weights_only=True)

    assert "UnpicklingError" == type(refused.value).__name__


def test_one_class_can_be_let_in(tmp_path: Path) -> None:
    """A refusal names the way, one class passes, and every other one is still refused."""
    file = tmp_path / "settings.pt"
    torch.save({"settings": argparse.Namespace(epochs=3)}, file)

    with pytest.raises(pickle.UnpicklingError, match=r"safe_globals\(\[argparse.Namespace\]\)"):
        torch.load(file, weights_only=True)
    assert 3 == load_with_settings(file)["settings"].epochs

    torch.save({"day": datetime.date(2026, 1, 1)}, file)
    with pytest.raises(pickle.UnpicklingError, match=r"datetime\.date"):
        load_with_settings(file)


def test_the_protection_is_the_default(tmp_path: Path) -> None:
    """Left out, weights_only is True."""
    path = tmp_path / "run.pt"
    torch.save(random.Random(0), path)

    with pytest.raises(Exception, match="Weights only load failed"):
        torch.load(path)


def test_the_page_shows_what_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """The table and this file agree."""
    print_what_loads_safely()

    lines = capsys.readouterr().out.splitlines()
    assert REFUSED == {line[:30].strip() for line in lines if line.endswith("refused")}
