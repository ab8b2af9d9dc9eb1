"""torch.compile on a training step: first call, later calls, and the loss beside them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from torch import nn

from benchmarks.cases import Plan, compiled_step
from benchmarks.cases.compiled_step import Network
from lesson_code.models import parameter_count


def test_the_first_call_compiles_and_the_loss_stays(tmp_path: Path, one_thread: None) -> None:
    """On the CPU a first call takes far longer than a later one; both ways learn the same."""
    from torch._inductor.cpu_vec_isa import pick_vec_isa  # importing it takes seconds

    [part] = compiled_step.parts(Plan(tmp_path, quick=True, gpu=None))
    # Which instructions this processor has takes ten calls of the C++ compiler; they are no part of
    # a first call, as something small was compiled before it, and their answers are kept on disk.
    pick_vec_isa()

    entries = part.measure()

    assert {f"mnist.cpu_{arm}" for arm in ("eager", "compiled", "first_call")} == set(entries)
    first, later = entries["mnist.cpu_first_call"], entries["mnist.cpu_compiled"]
    assert first.median > 5 * later.smallest
    assert 1 == len(first.warmups)
    eager_loss = entries["mnist.cpu_eager"].outcome["loss_of_step_20"]
    assert eager_loss == pytest.approx(later.outcome["loss_of_step_20"], rel=1e-3)
    assert eager_loss < 1.5  # it began at ln 10
    assert 64 == later.amount


def test_every_network_on_every_device(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one_thread: None
) -> None:
    """A full run takes two first calls, each with nothing compiled before."""
    fresh = []

    @contextmanager
    def remembered() -> Iterator[None]:
        fresh.append(True)
        yield

    monkeypatch.setattr(compiled_step, "nothing_compiled_yet", remembered)
    monkeypatch.setattr(torch, "compile", lambda function: function)
    monkeypatch.setattr(nn.Module, "compile", lambda _: None)
    small = Network(lambda: nn.Sequential(nn.Flatten(), nn.Linear(784, 10)), 8)
    monkeypatch.setattr(compiled_step, "NETWORKS", {"mnist": small, "large": small})
    parts = list(compiled_step.parts(Plan(tmp_path, gpu=torch.device("cpu"))))

    entries = {name: entry for part in parts for name, entry in part.measure().items()}

    assert set(compiled_step.ENTRIES) == set(entries)
    assert len(parts) * (1 + 2) == len(fresh)
    assert 2 == len(entries["large.cuda_first_call"].samples)
    assert {8} == {e.amount for name, e in entries.items() if "first_call" not in name}


def test_the_large_network_is_as_large_as_it_says() -> None:
    """About 37 million parameters, as its docstring has it."""
    with torch.device("meta"):
        network = compiled_step.large_network()

    assert 37 == round(parameter_count(network) / 1e6)


@pytest.mark.gpu
def test_compiled_steps_on_a_gpu(tmp_path: Path) -> None:
    """On any GPU the first call is the slow one, and compiling changes no loss by much."""
    plan = Plan(tmp_path, quick=True)
    entries = {
        name: entry for part in compiled_step.parts(plan) for name, entry in part.measure().items()
    }

    assert set(compiled_step.ENTRIES) == set(entries)
    for where in ("mnist.cuda", "large.cuda"):
        eager, compiled, first = (
            entries[f"{where}_{arm}"] for arm in ("eager", "compiled", "first_call")
        )
        assert first.median > compiled.median
        assert eager.outcome["loss_of_step_20"] == pytest.approx(
            compiled.outcome["loss_of_step_20"], abs=0.05
        )
