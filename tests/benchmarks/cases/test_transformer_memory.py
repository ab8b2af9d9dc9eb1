"""The memory of GPT-2 at each moment of a step; where no GPU is, the test brings the meter."""

import gc
import weakref
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter

from benchmarks.cases import Plan, SkipPartError
from benchmarks.cases import transformer_memory as case
from benchmarks.cases.transformer_memory import Training
from lesson_code.mission.choices import Recompute, TorchRegime
from lesson_code.mission.constants import MODEL_VERSION
from lesson_code.mission.gpt2 import GPT2_SMALL
from results import catalogue
from results.predictions import (
    MODES,
    REGIMES,
    STATIC_PHASES,
    Configuration,
    within_tolerance,
)
from tests.lesson_code.mission.test_gpt2 import gpu_autocast
from tests.lesson_code.mission.test_model_against_torch import fused_attention

CPU, GPU = torch.device("cpu"), torch.device("cuda")
MIB = 2**20
SMALL = Configuration("small", 1, "fp32", "adam", "none")
TRAINED = {
    "sgd": replace(SMALL, optimizer="sgd"),
    "momentum": replace(SMALL, optimizer="momentum"),
    "adam": SMALL,
    "selective": replace(SMALL, recompute="selective"),
    "full": replace(SMALL, recompute="full"),
    "pure16": replace(SMALL, regime="pure16"),
}


class LiveTensors:
    """Counts the tensors that Python can see; activations are not among them."""

    def __init__(self) -> None:
        gc.collect()  # what other tests left would go in between
        self.before = 0
        self.before = self.now()

    def now(self) -> int:
        """Bytes of all distinct storages, gradients included."""
        seen = [o for o in gc.get_objects() if type(o) in (torch.Tensor, torch.nn.Parameter)]
        seen += [t.grad for t in seen if t.is_leaf and t.grad is not None]
        storages = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in seen}
        return sum(storages.values()) - self.before

    def peak(self) -> int:
        """It knows the present only."""
        return self.now()

    def reset_peak(self) -> None:
        """It knows the present only."""

    def reserved(self) -> int:
        """Nothing is reserved."""
        return 0

    def free(self) -> int:
        """As much as a GPU of 80 GB."""
        return 80_000_000_000


class FakeGpu(TorchDispatchMode):
    """Counts the storages that operations make on a GPU that is not there, until they go."""

    def __init__(self) -> None:
        super().__init__()
        self.alive: dict[int, int] = {}
        self.most = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> object:
        """Do it, and look for storages that nobody has seen."""
        result = func(*args, **(kwargs or {}))
        for tensor in tree_iter(result):
            if isinstance(tensor, torch.Tensor) and tensor.device.type == "cuda":
                storage = tensor.untyped_storage()
                if storage._cdata not in self.alive:
                    self.alive[storage._cdata] = storage.nbytes()
                    weakref.finalize(storage, self.alive.pop, storage._cdata)
        self.most = max(self.most, self.now())
        return result

    def now(self) -> int:
        """Bytes alive."""
        return sum(self.alive.values())


class Script:
    """A meter that reads what the test wrote down, in order."""

    def __init__(self, *readings: int) -> None:
        self.readings = list(readings)
        self.resets = 0

    def now(self) -> int:
        """The next reading."""
        return self.readings.pop(0)

    peak = now
    reserved = now

    def reset_peak(self) -> None:
        """Remembered."""
        self.resets += 1

    def free(self) -> int:
        """Plenty."""
        return 10**12


def out_of_memory_above(batch: int, after: int = 0) -> Callable[..., torch.Tensor]:
    """A loss that larger batches can't compute, once ``after`` calls have gone well."""
    plain, calls = case.next_token_loss, 0

    def loss(model: torch.nn.Module, tokens: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        nonlocal calls
        calls += 1
        if len(tokens) > batch and calls > after:
            raise RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate`")
        return plain(model, tokens, targets)

    return loss


def test_every_entry_has_a_figure_that_shows_it() -> None:
    """Pages can name whatever the case measures."""
    shown = {
        definition.fields["measured"]
        for definition in catalogue.read()
        if definition.kind == "measured"
    }

    assert not {f"transformer_memory:{name}" for name in case.ENTRIES} - shown


def test_without_a_gpu_there_is_nothing_to_measure(tmp_path: Path) -> None:
    """The CPU counts no memory, so no part is even named."""
    assert not list(case.parts(Plan(tmp_path, gpu=None)))


def test_where_nothing_counts_memory_the_reason_is_given(tmp_path: Path) -> None:
    """Each part says in words why it has no entries."""
    parts = list(case.parts(Plan(tmp_path, quick=True, gpu=CPU)))

    reasons = []
    for part in parts:
        with pytest.raises(SkipPartError) as caught:
            part.measure()
        reasons.append(str(caught.value))

    assert {
        "only a CUDA GPU counts its memory",
        "only the memory of a CUDA GPU can be capped",
    } == set(reasons)


@pytest.mark.parametrize(
    ("regime", "bytes_each", "optimizer", "vectors"),
    [
        ("fp32", 4, "sgd", 0),
        ("fp32", 4, "momentum", 1),
        ("fp32", 4, "adam", 2),
        ("autocast", 4, "adam", 2),
        ("pure16", 2, "adam", 2),
    ],
)
def test_weights_gradients_and_state_are_there_when_they_should_be(
    regime: str, bytes_each: int, optimizer: str, vectors: int, one_thread: None
) -> None:
    """Weights at first; state between steps, without gradients; all three after backward."""
    weights = case.QUICK.parameters * bytes_each
    c = replace(SMALL, regime=regime, optimizer=optimizer)

    found, peaks = case.phases(partial(Training, case.QUICK, c, CPU), LiveTensors())

    assert weights == found["model"]
    assert weights * (1 + vectors) == pytest.approx(found["idle"], rel=0.01)
    assert weights * (2 + vectors) == pytest.approx(found["backward"], rel=0.01)
    assert ["forward", "backward", "update"] == list(peaks)


def test_each_phase_of_the_second_step_is_read_once_and_its_peak_apart() -> None:
    """The peak of the step is the largest of three, and the counter is reset before each."""
    meter = Script(10, 30, 90, 95, 40, 97, 45, 128)

    found, peaks = case.phases(partial(Training, case.QUICK, SMALL, CPU), meter)

    assert {
        "model": 10,
        "idle": 30,
        "forward": 90,
        "backward": 40,
        "peak": 97,
        "reserved": 128,
    } == (found)
    assert {"forward": 95, "backward": 97, "update": 45} == peaks
    assert 3 == meter.resets


def test_a_part_has_an_entry_for_each_phase(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Bytes, with what was trained in the settings and the three peaks as the outcome."""
    monkeypatch.setattr(case, "meter_of", lambda _: Script(10, 30, 90, 95, 40, 97, 45, 128))
    part = next(iter(case.parts(Plan(tmp_path, quick=True, gpu=CPU))))

    entries = part.measure()

    assert [f"small.b4.fp32.adam.none.cuda_{phase}" for phase in case.MOMENTS] == list(entries)
    assert set(entries) <= set(case.ENTRIES)
    peak = entries["small.b4.fp32.adam.none.cuda_peak"]
    assert ("bytes", (97.0,)) == (peak.unit, peak.samples)
    assert {"forward": 95.0, "backward": 97.0, "update": 45.0} == peak.outcome
    assert ("GPT-2 small", 4) == (peak.settings["model"], peak.settings["batch"])


def test_an_entry_keeps_what_the_model_predicts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Beside each of five moments, with the model's version; nothing is said of reserved memory."""
    monkeypatch.setattr(case, "meter_of", lambda _: Script(10, 30, 90, 95, 40, 97, 45, 128))
    part = next(iter(case.parts(Plan(tmp_path, quick=True, gpu=CPU))))

    entries = part.measure()

    kept = {name.rpartition("_")[2]: e.settings.get("predicted") for name, e in entries.items()}
    versions = {e.settings.get("model_version") for e in entries.values()}
    assert {**case.CONFIGURATIONS[0].phases, "reserved": None} == kept
    assert {MODEL_VERSION, None} == versions


@pytest.mark.parametrize("free", [8_000_000_000, 36_000_000_000])
def test_what_can_not_fit_is_not_tried(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, free: int
) -> None:
    """GPT-2 XL with AdamW peaks at 35.8 GB by the model, more than 97 % of 8 and of 36 GB."""
    meter = Script()
    monkeypatch.setattr(meter, "free", lambda: free)
    monkeypatch.setattr(case, "meter_of", lambda _: meter)
    parts = {part.name: part for part in case.parts(Plan(tmp_path, gpu=CPU))}

    with pytest.raises(SkipPartError, match=r"peak is 35\.8 GB, more than 97 % of the \d+\.0 GB"):
        parts["xl.b1.fp32.adam.none"].measure()


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("recompute", MODES)
def test_the_model_gives_what_forward_leaves_on_a_gpu_that_is_not_there(
    monkeypatch: pytest.MonkeyPatch, regime: TorchRegime, recompute: Recompute
) -> None:
    """Three moments of GPT-2 small, counted storage by storage, autocast's cache included.

    Backward needs a GPU's driver. Gradients of zeros stand in for its own, so that the optimizer
    makes its state. Forward itself stays below the peak, which comes in backward.
    """
    c = replace(SMALL, batch=4, regime=regime, recompute=recompute)
    monkeypatch.setattr(case, "precision", lambda regime, _: gpu_autocast(regime == "autocast"))
    monkeypatch.setattr(nn.functional, "scaled_dot_product_attention", fused_attention)
    found = {}
    with FakeTensorMode(), FakeGpu() as gpu:
        training = Training(GPT2_SMALL, c, GPU, made=lambda: found.update(model=gpu.now()))
        for parameter in training.model.parameters():
            parameter.grad = torch.zeros_like(parameter)
        training.optimizer.step()
        found["backward"] = gpu.now()
        training.optimizer.zero_grad()
        found["idle"], gpu.most = gpu.now(), 0
        loss = training.forward()
        found["forward"] = gpu.now()
        del loss  # until here it kept them alive

    assert c.phases["model"] == found["model"]
    for phase in ("idle", "backward", "forward"):
        assert c.phases[phase] == pytest.approx(found[phase], rel=3e-3)
    assert gpu.most <= 1.01 * c.peak_bytes


@pytest.mark.parametrize(
    ("fixed", "each", "most", "expected"),
    [(100, 50, 99, 0), (100, 50, 160, 1), (100, 50, 225, 2), (100, 10, 805, 70)],
)
def test_the_largest_batch_is_the_last_that_runs(
    fixed: int, each: int, most: int, expected: int
) -> None:
    """Whatever is fixed and whatever each sample adds."""
    tried = []

    def peak_of(batch: int) -> int | None:
        tried.append(batch)
        peak = fixed + each * batch
        return peak if peak <= most else None

    assert expected == case.largest_batch(peak_of, most)
    assert len(tried) <= 4


def test_a_last_batch_that_memory_in_pieces_does_not_allow_is_found_by_trying() -> None:
    """The estimate may be too high or too low; what runs decides."""
    for end in (68, 73):
        found = case.largest_batch(lambda b, end=end: 10 * b + 100 if b <= end else None, 805)

        assert end == found


def test_an_attempt_says_how_far_it_came(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two steps run, or the memory ends in a named place."""
    config, two = case.QUICK, replace(SMALL, batch=2)
    monkeypatch.setattr(case, "next_token_loss", out_of_memory_above(batch=1, after=1))

    runs = case.attempt(config, SMALL, CPU, Script(70))
    fails = case.attempt(config, two, CPU, Script(80))

    assert (True, "ran", 70) == (runs.ran, runs.ended, runs.peak_bytes)
    assert (False, 0, 80) == (fails.ran, fails.steps, fails.peak_bytes)
    assert "out of memory in step 1: forward" == fails.ended


def test_the_cap_is_taken_away_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when what runs under it breaks, the process may use as much as before."""
    fractions = [1.0]
    properties = type("Properties", (), {"total_memory": 80_000_000_000})
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: properties)
    monkeypatch.setattr(torch.cuda, "get_per_process_memory_fraction", lambda: fractions[-1])
    monkeypatch.setattr(torch.cuda, "set_per_process_memory_fraction", fractions.append)

    with pytest.raises(ZeroDivisionError), case.capped(GPU, 8_000_000_000):
        _ = 1 / 0

    assert [1.0, 0.1, 1.0] == fractions


def test_what_runs_under_the_cap_is_told_for_each_attempt(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Steps that ended, the memory reached and the reason, for four ways to train GPT-2 XL."""
    monkeypatch.setattr(case, "meter_of", lambda _: Script(*[70] * 9))
    monkeypatch.setattr(case, "capped", lambda *_: nullcontext())
    monkeypatch.setattr(case, "next_token_loss", out_of_memory_above(batch=2))
    parts = {part.name: part for part in case.parts(Plan(tmp_path, quick=True, gpu=CPU))}

    largest = parts["largest.fp32.none"].measure()
    laptop = parts["laptop"].measure()

    assert [2.0] == list(largest["largest.fp32.none.cuda_batch"].samples)
    assert {"b1": 2, "b2": 2, "b4": 0} == {
        f"b{n}": laptop[f"laptop.pure16.b{n}.cuda_steps"].median for n in (1, 2, 4)
    }
    ended = laptop["laptop.pure16.b4.cuda_peak"].settings["ended"]
    assert "out of memory in step 1: forward" == ended
    assert set(laptop) <= set(case.ENTRIES)


@pytest.fixture(scope="module")
def measured() -> dict[str, dict[str, int]]:
    """Phases of GPT-2 small with one text, for each optimizer and with recomputation."""
    return {
        name: case.phases(partial(Training, GPT2_SMALL, c, GPU), case.meter_of(GPU))[0]
        for name, c in TRAINED.items()
    }


@pytest.mark.gpu
def test_optimizers_differ_by_whole_vectors(measured: dict[str, dict[str, int]]) -> None:
    """Momentum keeps one vector as large as the weights between steps, AdamW two."""
    vector = SMALL.phases["model"]
    idle = {name: phases["idle"] for name, phases in measured.items()}

    assert idle["sgd"] < idle["momentum"] < idle["adam"]
    assert vector == pytest.approx(idle["momentum"] - idle["sgd"], abs=64 * MIB)
    assert 2 * vector == pytest.approx(idle["adam"] - idle["sgd"], abs=64 * MIB)


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["sgd", "momentum", "adam", "selective", "full", "pure16"])
def test_static_phases_are_those_of_the_model(
    measured: dict[str, dict[str, int]], name: str
) -> None:
    """Weights; weights and state; weights, state and gradients: within 1 % or 64 MiB."""
    c = TRAINED[name]
    for phase in STATIC_PHASES:
        assert within_tolerance(c, phase, c.phases[phase], measured[name][phase])


@pytest.mark.gpu
@pytest.mark.parametrize("name", TRAINED)
def test_the_fullest_moment_is_that_of_the_model(
    measured: dict[str, dict[str, int]], name: str
) -> None:
    """Early in backward, where the gradients of the logits are there."""
    c = TRAINED[name]

    assert c.phases["peak"] > c.phases["forward"]
    assert within_tolerance(c, "peak", c.phases["peak"], measured[name]["peak"])


@pytest.mark.gpu
def test_recomputation_lowers_what_the_forward_pass_leaves(
    measured: dict[str, dict[str, int]],
) -> None:
    """Each way to recompute keeps less than the one before, and the peak falls with it."""
    for phase in ("forward", "peak"):
        kept = [measured[name][phase] for name in ("adam", "selective", "full")]

        assert kept == sorted(kept, reverse=True)
        assert kept[0] > kept[-1] + 100 * MIB


@pytest.mark.gpu
def test_under_a_cap_the_memory_ends_there() -> None:
    """What fits in the whole GPU does not fit under 1 GB, and afterwards it does again."""
    before = torch.cuda.get_per_process_memory_fraction()
    with case.capped(GPU, 1_000_000_000):
        capped = case.attempt(GPT2_SMALL, SMALL, GPU, case.meter_of(GPU))

    free = case.attempt(GPT2_SMALL, SMALL, GPU, case.meter_of(GPU))

    assert (0, True) == (capped.steps, free.ran)
    assert capped.peak_bytes <= 1_000_000_000 < free.peak_bytes
    assert before == torch.cuda.get_per_process_memory_fraction()
