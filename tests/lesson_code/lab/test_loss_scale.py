"""A scaler's first steps are skipped with a finite loss, and other facts that the page states."""

import importlib
import warnings
from collections import Counter
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from lesson_code.lab import loss_scale

CPU = "cpu"


def a_parameter_with(gradient: float) -> tuple[nn.Parameter, torch.optim.Optimizer]:
    """A weight of 1 with a gradient, and its optimizer."""
    weight = nn.Parameter(torch.ones(1))
    weight.grad = torch.tensor([gradient])
    return weight, torch.optim.SGD([weight], lr=0.1)


def test_the_first_step_is_skipped_although_its_loss_is_finite() -> None:
    """Scale 65,536 to 32,768, gradients not finite, and the next loss is the same to the bit."""
    first, second = loss_scale.first_steps(2)[0]

    assert (65_536.0, 32_768.0) == (first["scale"], second["scale"])
    assert (True, False) == (first["skipped"], first["finite"])
    assert first["loss"] == second["loss"] < float("inf")


def test_a_large_loss_is_as_finite_as_a_small_one() -> None:
    """Targets ten times as far away: a loss in the hundreds, and gradients that overflow."""
    first = loss_scale.first_steps(1, spread=10.0)[0][0]

    assert 300 < first["loss"] < 600
    assert not first["finite"]


def test_two_thousand_good_steps_double_the_scale() -> None:
    """Two are skipped; 1,999 good ones later the scale is the same, and the next one doubles it."""
    returned = loss_scale.print_first_steps()

    assert 65_536.0 == returned["first_scale"]
    assert (2, 2 + 2000) == (returned["skipped"], returned["doubled"])


def test_good_steps_double_the_scale_after_a_short_interval_as_well() -> None:
    """With an interval of three: nothing, nothing, doubled."""
    scaler = torch.amp.GradScaler(CPU, init_scale=4.0, growth_interval=3)
    scales = []
    for _ in range(3):
        weight, optimizer = a_parameter_with(1.0)
        scaler.scale(weight.sum())
        scaler.step(optimizer)
        scaler.update()
        scales.append(scaler.get_scale())

    assert [4.0, 4.0, 8.0] == scales


def test_the_scale_has_no_lower_bound() -> None:
    """An infinite gradient at scale 1 leaves 0.5, and the weight where it was."""
    weight, optimizer = a_parameter_with(float("inf"))
    scaler = torch.amp.GradScaler(CPU, init_scale=1.0)
    scaler.scale(weight.sum())

    scaler.step(optimizer)
    scaler.update()

    assert 0.5 == scaler.get_scale()
    assert 1.0 == weight.item()


@pytest.mark.parametrize(
    ("dtype", "scale"), [(torch.float16, 65_536.0 / 2**30), (torch.bfloat16, 65_536.0)]
)
def test_no_scale_helps_where_forward_is_infinite(dtype: torch.dtype, scale: float) -> None:
    """Weights that bfloat16 and float32 hold easily give more than float16's largest number."""
    model = nn.Sequential(nn.Linear(4, 4, bias=False), nn.Linear(4, 1, bias=False))
    for layer in model:
        nn.init.constant_(layer.weight, 300.0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    scaler = torch.amp.GradScaler(CPU)

    for _ in range(30):
        optimizer.zero_grad()
        with torch.autocast(CPU, dtype):
            loss = nn.functional.mse_loss(model(torch.ones(8, 4)), torch.zeros(8, 1))
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()

    assert (dtype == torch.bfloat16) == bool(loss.isfinite())
    assert scale == scaler.get_scale()


def test_a_checkpoint_of_the_scaler_has_the_keys_that_the_page_names() -> None:
    """Scale, both factors, the interval and the count of good steps."""
    keys = {"scale", "growth_factor", "backoff_factor", "growth_interval", "_growth_tracker"}

    assert keys == torch.amp.GradScaler(CPU).state_dict().keys()


def test_a_scheduler_complains_after_a_skipped_first_step() -> None:
    """It ran before the optimizer did."""
    weight, optimizer = a_parameter_with(float("inf"))
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1)
    scaler = torch.amp.GradScaler(CPU)
    scaler.scale(weight.sum())
    scaler.step(optimizer)
    scaler.update()

    with pytest.warns(UserWarning, match=r"lr_scheduler.step\(\)` before `optimizer.step\(\)"):
        scheduler.step()


def test_a_fused_optimizer_skips_and_no_scheduler_notices() -> None:
    """The weight stays, the scale falls, and the schedule goes on without a word."""
    weight, _ = a_parameter_with(float("inf"))
    optimizer = torch.optim.SGD([weight], lr=0.1, fused=True)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1)
    scaler = torch.amp.GradScaler(CPU, init_scale=4.0)
    scaler.scale(weight.sum())
    scaler.step(optimizer)
    scaler.update()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scheduler.step()

    assert (1.0, 2.0) == (weight.item(), scaler.get_scale())
    assert pytest.approx(0.01) == scheduler.get_last_lr()[0]


def test_gradients_of_a_half_model_are_refused() -> None:
    """The message says so."""
    layer = nn.Linear(4, 1).half()
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler(CPU)
    scaler.scale(layer(torch.ones(2, 4).half()).sum()).backward()

    with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients"):
        scaler.unscale_(optimizer)


def test_a_scaler_that_is_off_hands_the_loss_through_and_steps() -> None:
    """The same code path serves bfloat16 and float32."""
    weight, optimizer = a_parameter_with(1.0)
    scaler = torch.amp.GradScaler(CPU, enabled=False)
    loss = weight.sum()

    scaled = scaler.scale(loss)
    scaler.step(optimizer)
    scaler.update()

    assert scaled is loss
    assert 0.9 == pytest.approx(weight.item())


@pytest.mark.parametrize("name", ["autocast", "GradScaler"])
def test_the_older_names_warn(name: str) -> None:
    """A FutureWarning at each call, whether there is a GPU or not, and none at the import."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        older = getattr(importlib.import_module("torch.cuda.amp"), name)
        assert FutureWarning not in [warning.category for warning in seen]
        older()

    assert FutureWarning in [warning.category for warning in seen]


def test_autocast_wants_a_device_and_chooses_a_type_for_it() -> None:
    """Float16 on CUDA, bfloat16 on the CPU."""
    assert torch.float16 == torch.get_autocast_dtype("cuda")
    assert torch.bfloat16 == torch.get_autocast_dtype(CPU)
    with pytest.raises(TypeError, match="device_type"):
        torch.autocast()  # type: ignore[call-arg]


class Casts(TorchDispatchMode):
    """Counts the shapes of what is cast to another type."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.shapes: Counter[tuple[int, ...]] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run the operation, and count it if it is a cast."""
        if func is torch.ops.aten._to_copy.default:
            self.shapes[tuple(args[0].shape)] += 1
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_weight_that_is_used_twice_is_cast_once(dtype: torch.dtype) -> None:
    """And its gradient is float32, since the cast's derivative casts back."""
    layer = nn.Linear(4, 4, bias=False)
    inputs = torch.ones(3, 4)

    with Casts() as casts, torch.autocast(CPU, dtype):
        loss = layer(layer(inputs)).float().sum()
    loss.backward()

    assert 1 == casts.shapes[4, 4]
    assert layer.weight.grad is not None
    assert torch.float32 == layer.weight.grad.dtype == layer.weight.dtype
