"""Faster ways of training do the same work: the clock, the one step, and the compiled network."""

import inspect
import math
import os
import re
import shutil
import sys
import time
import warnings
from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.utils.benchmark import Timer

from lesson_code.foundations import acceleration
from lesson_code.foundations.acceleration import (
    answers_of_both,
    benchmark,
    compare_devices,
    digits_accuracy,
    print_digits,
    print_names,
    print_one_step,
    print_order_of_events,
    random_batch,
    record_events,
    set_up,
    summary,
    train_step,
)

pytestmark = pytest.mark.usefixtures("one_thread")

CPU = torch.device("cpu")
needs_compiler = pytest.mark.skipif(
    shutil.which(os.environ.get("CXX", "g++")) is None,
    reason="torch.compile needs a C++ compiler, and this machine has none",
)


def small_network() -> nn.Sequential:
    """The network that the page compiles."""
    return nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 2))


def test_the_clock_is_read_only_after_waiting() -> None:
    """Three products warm up; then each repetition is: wait, clock, product, wait, clock."""
    events = record_events(iterations=2)

    timed = ["wait", "clock", "product", "wait", "clock"]
    assert ["product"] * 3 + timed * 2 == events


def test_every_repetition_is_kept() -> None:
    """What the clock says between its two readings is a repetition's time."""
    readings = iter([1.0, 3.0, 10.0, 15.0])

    seconds = benchmark(CPU, 4, 2, clock=lambda: next(readings))

    assert [2.0, 5.0] == seconds


def test_real_products_take_longer_the_larger_they_are() -> None:
    """Times are positive, and a product with 512 times the arithmetic takes longer."""
    small, large = (benchmark(CPU, size, 3) for size in (64, 512))

    assert min(small) > 0
    assert min(small) < min(large)


@pytest.mark.gpu
def test_a_gpu_is_timed_as_well() -> None:
    """On CUDA every repetition takes a positive time."""
    assert min(benchmark(torch.device("cuda"), 512, 5)) > 0


def test_a_summary_has_median_range_and_arithmetic() -> None:
    """Two cubes of the size in operations, divided by the median."""
    expected = "2.00 ms (1.00 to 5.00), 1000 GFLOP/s"
    assert expected == summary([0.001, 0.005, 0.002], size=1000)


def test_the_comparison_says_that_there_is_no_gpu(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without CUDA the settings, the CPU's line and one sentence are printed."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)

    compare_devices(size=16, iterations=2)

    settings, cpu, missing = capsys.readouterr().out.splitlines()
    assert f"{torch.get_num_threads()} CPU threads, float32 products: highest" == settings
    assert re.fullmatch(r"CPU: [\d.]+ ms \([\d.]+ to [\d.]+\), \d+ GFLOP/s", cpu)
    assert "CUDA is not available, so there is nothing to compare with" == missing


def test_the_comparison_gives_the_ratio_of_the_medians(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a GPU its line and the ratio follow."""
    times_s = {"cpu": [0.5, 4.0, 0.5], "cuda": [0.1, 0.1, 9.0]}
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(acceleration, "benchmark", lambda device, *_: times_s[device.type])

    compare_devices()

    *_, gpu, ratio = capsys.readouterr().out.splitlines()
    assert gpu.startswith("GPU: 100.00 ms (100.00 to 9000.00)")
    assert "ratio: 5.0" == ratio


def test_products_use_no_tf32_unless_asked() -> None:
    """The precision of float32 products is the highest by default, as the page says."""
    assert "highest" == torch.get_float32_matmul_precision()


def test_pytorchs_own_timer_uses_one_thread() -> None:
    """The page warns of this default."""
    assert 1 == inspect.signature(Timer).parameters["num_threads"].default


def test_the_order_is_printed_line_by_line(capsys: pytest.CaptureFixture[str]) -> None:
    """The page shows three warm-up products and two timed repetitions."""
    print_order_of_events()

    timed = "timed:   wait clock product wait clock"
    assert ["warm-up: product product product", timed, timed] == (
        capsys.readouterr().out.splitlines()
    )


def test_one_step_serves_cpu_and_gpu(device: torch.device) -> None:
    """Float32 and bfloat16 run on every device without a warning, the scaler switched off."""
    features, labels = random_batch(device)
    for dtype in (torch.float32, torch.bfloat16):
        model, optimizer, scaler = set_up(device, dtype)
        before = [p.detach().clone() for p in model.parameters()]
        with warnings.catch_warnings():
            warnings.simplefilter("error")

            loss = train_step(model, optimizer, scaler, features, labels, dtype)

        assert math.isfinite(loss.item())
        assert torch.float32 == loss.dtype
        assert not scaler.is_enabled()
        assert not any(map(torch.equal, before, model.parameters()))


def test_the_switched_off_step_is_the_plain_one() -> None:
    """In float32 the weights end where a step without autocast and scaler leaves them."""
    features, labels = random_batch(CPU)
    model, optimizer, scaler = set_up(CPU, torch.float32)
    plain, plain_optimizer, _ = set_up(CPU, torch.float32)

    train_step(model, optimizer, scaler, features, labels, torch.float32)
    nn.functional.cross_entropy(plain(features), labels).backward()
    nn.utils.clip_grad_norm_(plain.parameters(), max_norm=1.0)
    plain_optimizer.step()

    assert all(map(torch.equal, plain.parameters(), model.parameters()))


def test_scaled_steps_clip_gradients_in_their_true_size() -> None:
    """With a scaler at work the clipped gradients have the norm that the unscaled ones have."""
    features, labels = random_batch(CPU)
    norms = {}
    for enabled in (False, True):
        model, optimizer, _ = set_up(CPU, torch.float32)
        scaler = torch.amp.GradScaler("cpu", enabled=enabled)
        train_step(model, optimizer, scaler, features * 10, labels, torch.float32)
        grads = [p.grad for p in model.parameters() if p.grad is not None]
        norms[enabled] = nn.utils.get_total_norm(grads).item()

    assert pytest.approx(1.0, rel=1e-4) == norms[False]
    assert pytest.approx(norms[False], rel=1e-4) == norms[True]


@pytest.mark.gpu
def test_float16_on_a_gpu_uses_the_scaler() -> None:
    """The step that runs on the CPU runs in float16 on CUDA, its gradients scaled."""
    device = torch.device("cuda")
    model, optimizer, scaler = set_up(device, torch.float16)

    loss = train_step(model, optimizer, scaler, *random_batch(device), torch.float16)

    assert scaler.is_enabled()
    assert math.isfinite(loss.item())


def test_only_the_products_change_their_type(capsys: pytest.CaptureFixture[str]) -> None:
    """Under bfloat16 the logits are bfloat16; loss, weights and gradients stay float32."""
    losses = print_one_step()

    assert pytest.approx(losses["float32"], abs=0.005) == losses["bfloat16"]
    lines = capsys.readouterr().out.splitlines()
    assert "logits float32, loss float32, weights float32, gradients float32" == lines[1].strip()
    assert "logits bfloat16, loss float32, weights float32, gradients float32" == lines[3].strip()


def test_bfloat16_costs_no_accuracy_on_real_digits() -> None:
    """After three epochs on 6,000 images both precisions are within two points."""
    for seed in range(3):
        float32, bfloat16 = (digits_accuracy(t, seed) for t in (torch.float32, torch.bfloat16))

        assert float32 > 0.85
        assert pytest.approx(float32, abs=0.02) == bfloat16


def test_the_page_shows_both_accuracies(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line for each precision, three decimals."""
    monkeypatch.setattr(acceleration, "digits_accuracy", lambda dtype, **_: dtype.itemsize / 10)

    print_digits()

    _, *lines = capsys.readouterr().out.splitlines()
    assert ["float32   0.400", "bfloat16  0.200"] == lines


@pytest.mark.filterwarnings("ignore:.*not available:UserWarning")  # there may be no GPU
@pytest.mark.parametrize("old", [torch.cuda.amp.autocast, torch.cuda.amp.GradScaler])
def test_the_old_names_warn(old: Callable[[], object]) -> None:
    """The CUDA forms of autocast and scaler are deprecated, as the page says."""
    with pytest.warns(FutureWarning, match="is deprecated"):
        old()


def test_both_cuda_forms_switch_themselves_off_without_a_gpu(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The new forms warn too where CUDA is asked for and missing, and do nothing."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda.amp.common, "amp_definitely_not_available", lambda: True)

    with pytest.warns(UserWarning, match="not available"):
        context = torch.autocast("cuda", dtype=torch.float16)
    with pytest.warns(UserWarning, match="not available"):
        scaler = torch.amp.GradScaler("cuda")

    assert not context._enabled
    assert not scaler.is_enabled()


@needs_compiler
def test_the_compiled_network_answers_like_the_plain_one() -> None:
    """Both give (8, 2) logits that agree to 1e-4."""
    eager, compiled = answers_of_both()

    assert (8, 2) == tuple(compiled.shape)
    torch.testing.assert_close(compiled, eager, rtol=1e-4, atol=1e-4)


@needs_compiler
def test_the_first_call_is_the_one_that_costs() -> None:
    """It takes more than 20 times as long as the calls after it."""
    torch.compiler.reset()
    compiled = torch.compile(small_network())
    features = torch.randn(8, 32)

    def seconds() -> float:
        start = time.perf_counter()
        compiled(features)
        return time.perf_counter() - start

    first_s = seconds()

    assert first_s > 20 * min(seconds() for _ in range(5))


def test_the_first_call_compiles_and_a_new_batch_size_compiles_again() -> None:
    """A known shape compiles nothing; a new size does, once for all others but a batch of one."""
    torch.compiler.reset()
    frames: list[int] = []

    def count(graph: torch.fx.GraphModule, _inputs: object) -> object:
        frames.append(1)
        return graph.forward

    compiled = torch.compile(small_network(), backend=count)
    seen = []
    for size in (8, 8, 9, 9, 10, 11, 1, 3, 1):
        compiled(torch.randn(size, 32))
        seen.append(len(frames))

    assert [1, 1, 2, 2, 2, 2, 3, 3, 3] == seen


def test_wrapping_refuses_a_python_that_is_too_new(monkeypatch: pytest.MonkeyPatch) -> None:
    """There the error comes before the first call."""
    monkeypatch.setattr(sys, "version_info", (3, 99, 0))

    with pytest.raises(RuntimeError, match="not supported on Python"):
        torch.compile(nn.Linear(1, 1))


def test_without_a_compiler_only_the_first_call_fails() -> None:
    """Wrapping succeeds; the call says that there is no working C++ compiler."""
    from torch._inductor import config
    from torch._inductor.utils import fresh_inductor_cache

    torch.compiler.reset()
    with config.patch({"cpp.cxx": ("no-such-compiler",)}), fresh_inductor_cache():
        compiled = torch.compile(small_network())

        with pytest.raises(Exception, match="No working C\\+\\+ compiler found"):
            compiled(torch.randn(8, 32))
    torch.compiler.reset()


def test_for_a_gpu_the_missing_compiler_is_one_for_c(monkeypatch: pytest.MonkeyPatch) -> None:
    """Triton looks for it, and says so in other words."""
    build = pytest.importorskip("triton.runtime.build", reason="PyTorch for the CPU has no Triton")
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    if hasattr(build, "_find_compiler"):
        build._find_compiler.cache_clear()

    with pytest.raises(RuntimeError, match="Failed to find C compiler"):
        build.compile_module_from_src("int never_built(void) { return 42; }", "never_built")


def test_on_windows_the_missing_compiler_has_a_name() -> None:
    """It is `cl`, unless somebody named another."""
    from torch._inductor.cpp_builder import check_compiler_exist_windows

    with pytest.raises(RuntimeError, match="Compiler: no-such-compiler is not found"):
        check_compiler_exist_windows("no-such-compiler")


def test_wrapping_renames_the_weights(capsys: pytest.CaptureFixture[str]) -> None:
    """Wrapped keys begin with _orig_mod. and are refused; in place they stay."""
    print_names()

    wrapped, refusal, in_place, accepted = capsys.readouterr().out.splitlines()
    assert wrapped.split()[1] == "_orig_mod.0.weight"
    assert refusal.startswith("    RuntimeError: Missing key(s) in state_dict")
    assert ["0.weight", "0.bias", "2.weight", "2.bias"] == in_place.split()[2:]
    assert "<All keys matched successfully>" == accepted.strip()


def test_saving_from_the_original_keeps_the_names() -> None:
    """The model that was wrapped still has its own keys and the same tensors."""
    model = small_network()
    wrapped = torch.compile(model)
    assert isinstance(wrapped, nn.Module)

    assert set(model.state_dict()) == {
        key.removeprefix("_orig_mod.") for key in wrapped.state_dict()
    }
    assert model[0].weight is wrapped.get_parameter("_orig_mod.0.weight")
