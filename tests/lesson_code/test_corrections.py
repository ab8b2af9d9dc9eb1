"""Statements on what we corrected, in lesson and foundations, that no other test covers."""

import time
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn.functional import cross_entropy
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

from lesson_code.data import PIXEL_MEAN, PIXEL_STD
from lesson_code.models import MNISTClassifier


def test_gpu_memory_is_called_total_memory() -> None:
    """The property object has `total_memory`, and nothing called `total_mem`."""
    names = dir(torch._C._CudaDeviceProperties)

    assert "total_memory" in names
    assert "total_mem" not in names


def test_wall_clock_is_adjustable_and_perf_counter_is_not() -> None:
    """`time.time` may jump while one measures; `time.perf_counter` only goes forward."""
    assert time.get_clock_info("time").adjustable
    assert time.get_clock_info("perf_counter").monotonic


def test_synchronize_needs_a_driver() -> None:
    """`torch.cuda.synchronize` raises on a machine without a GPU."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
        return

    with pytest.raises((RuntimeError, AssertionError)):
        torch.cuda.synchronize()


def test_accelerator_is_named_even_where_none_is() -> None:
    """A CUDA build names its accelerator unless it is asked to look for one."""
    if torch.cuda.is_available() or not torch.backends.cuda.is_built():
        expected = torch.accelerator.current_accelerator(check_available=True)
        assert torch.cuda.is_available() == (expected is not None)
        return

    assert "cuda" == str(torch.accelerator.current_accelerator())
    assert torch.accelerator.current_accelerator(check_available=True) is None
    assert not torch.accelerator.is_available()


@pytest.mark.parametrize("fused", [False, True])
def test_a_scaler_refuses_float16_gradients_unless_the_optimizer_is_fused(fused: bool) -> None:
    """A fused optimizer unscales by itself, in its own kernel."""
    layer = nn.Linear(4, 4).half()
    optimizer = torch.optim.Adam(layer.parameters(), fused=fused)
    scaler = torch.amp.GradScaler("cpu", init_scale=256.0)  # no gradient overflows
    scaler.scale(layer(torch.ones(2, 4).half()).float().sum()).backward()
    before = layer.weight.detach().clone()

    if fused:
        scaler.step(optimizer)
        assert not torch.equal(before, layer.weight)
        return
    with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients"):
        scaler.step(optimizer)


def test_old_amp_module_is_deprecated() -> None:
    """`torch.cuda.amp` warns; `torch.amp` is its successor."""
    with pytest.warns(FutureWarning, match="deprecated"):
        torch.cuda.amp.GradScaler(enabled=False)


def test_one_seed_reaches_every_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """`torch.manual_seed` seeds all GPUs itself, so CUDA needs no call of its own."""
    seeds: list[int] = []
    monkeypatch.setattr(torch.cuda, "manual_seed_all", seeds.append)

    with torch.random.fork_rng():
        torch.manual_seed(7)

    assert [7] == seeds


PRODUCTS = (torch.ops.aten.addmm.default, torch.ops.aten.mm.default)


class Watch(TorchDispatchMode):
    """Counts operations, and the numbers that they read and write."""

    operations = 0
    numbers = 0
    products = 0

    def __torch_dispatch__(
        self, func: Callable[..., Any], _types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Run the operation, and count what it touched."""
        output = func(*args, **(kwargs or {}))
        tensors = [one for one in tree_leaves((args, kwargs, output)) if torch.is_tensor(one)]
        self.operations += 1
        self.products += func in PRODUCTS
        self.numbers += sum(tensor.numel() for tensor in tensors)
        return output


def counted_step(batch_size: int) -> tuple[Watch, Watch, int]:
    """One training step: its passes, its update, and the arithmetic of the passes."""
    model = MNISTClassifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    images, labels = torch.rand(batch_size, 1, 28, 28), torch.randint(10, (batch_size,))
    with FlopCounterMode(display=False) as arithmetic, Watch() as passes:
        cross_entropy(model(images), labels).backward()
    optimizer.step()  # the first one makes the moments
    with Watch() as update:
        optimizer.step()
    return passes, update, arithmetic.get_total_flops()


def test_the_update_costs_the_same_for_every_batch() -> None:
    """Four times the images are four times the arithmetic, and Adam touches as much as before."""
    (small, small_update, few), (large, large_update, many) = counted_step(16), counted_step(64)

    assert 4 * few == many
    assert small_update.numbers == large_update.numbers
    assert small.operations == large.operations  # what has to be launched does not change either
    assert small_update.numbers > large.numbers  # and the update touches more than both passes
    assert 24 < small.operations + small_update.operations < 240


def test_the_backward_pass_has_up_to_twice_as_many_products() -> None:
    """One for the weights and one for what came in, which the first layer has no use for."""
    model = MNISTClassifier()
    with Watch() as forward:
        loss = cross_entropy(model(torch.rand(4, 1, 28, 28)), torch.zeros(4, dtype=torch.int64))
    with Watch() as backward:
        loss.backward()

    assert 3 == forward.products
    assert 2 * 3 - 1 == backward.products


def test_the_backward_pass_runs_operations_that_python_does_not_call() -> None:
    """One call from Python starts them all."""
    model, called = MNISTClassifier(), []
    loss = cross_entropy(model(torch.rand(4, 1, 28, 28)), torch.zeros(4, dtype=torch.int64))

    class Called(torch.overrides.TorchFunctionMode):
        def __torch_function__(
            self, func: Callable[..., Any], _types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            called.append(func)
            return func(*args, **(kwargs or {}))

    with Called(), Watch() as watch:
        torch.autograd.backward([loss])

    assert len(called) <= 2
    assert watch.operations > 10


def test_a_convolution_with_a_stride_skips_pixels() -> None:
    """Each weight is multiplied once at every position of the output, not at every pixel."""
    images = torch.rand(1, 32, 28, 28)
    layer = torch.nn.Conv2d(32, 64, 3, stride=2, padding=1, bias=False)
    with FlopCounterMode(display=False) as arithmetic:
        outputs = layer(images)

    uses = arithmetic.get_total_flops() / 2 / layer.weight.numel()
    assert 14 * 14 == uses == outputs[0, 0].numel() < images[0, 0].numel()


def test_images_can_be_prepared_on_a_gpu() -> None:
    """A batch of bytes that is there already is normalised there, as `as_tensors` does it."""
    with FakeTensorMode():
        pixels = torch.zeros(64, 1, 28, 28, dtype=torch.uint8, device="cuda")

        images = pixels.float().div(255).sub(PIXEL_MEAN).div(PIXEL_STD)

    assert ("cuda", torch.float32) == (images.device.type, images.dtype)
