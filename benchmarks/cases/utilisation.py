"""How busy a GPU is by nvidia-smi, and how much of its peak becomes progress.

A training step of a tiny and of a large model. nvidia-smi gives the share of time in which any
kernel ran. Model FLOP utilisation is the arithmetic of the model in a second, divided by what a
large matrix product reaches on the same GPU in the same number format.
"""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.cases import Part, Plan, SkipPartError
from benchmarks.cases.matmul import Format, product_arm
from benchmarks.method import Arm, measure
from benchmarks.provenance import ask_nvidia_smi, number
from lesson_code.devices import synchronize
from lesson_code.mission.gpt2 import GPT2_SMALL, GPT2Config, build, next_token_loss, precision
from lesson_code.models import MNISTClassifier
from results.cases import Family, names_of
from results.entry import Entry, entry

MODELS = {"tiny": "MNIST classifier", "large": "GPT-2 small"}
FORMATS = {"tiny": torch.float32, "large": torch.bfloat16}
BATCH_SIZES = {"tiny": 64, "large": 8}
QUICK_GPT2 = GPT2Config(layers=1, width=32, heads=2, vocabulary=64, context=16)
PEAK_SIZE, QUICK_PEAK_SIZE = 8192, 512
WATCHED_S, QUICK_WATCHED_S = 5.0, 0.3
FORGOTTEN_S = 1.5  # nvidia-smi looks back up to a second
PATIENCE_S = 10.0  # its first answer can take seconds
SEED = 0
FORMAT_WORDS = {"tiny": "float32", "large": "bfloat16 autocast"}
FAMILIES = tuple(
    Family(
        f"{model}.cuda_{what}",
        f"{words} {called} on the GPU, batch {BATCH_SIZES[model]}, {FORMAT_WORDS[model]}",
        unit=unit,
        device="cuda",
        rate="flop_per_s" if what == "peak" else "",
    )
    for what, words, unit in (
        ("step", "a training step of", "s"),
        ("peak", f"a product of two {PEAK_SIZE} × {PEAK_SIZE} matrices beside", "s"),
        ("mfu", "model FLOP utilisation of", "percent"),
        ("busy", "GPU utilisation by nvidia-smi of", "percent"),
    )
    for model, called in MODELS.items()
)
ENTRIES = names_of(FAMILIES)

Step = Callable[[], object]


def parts(plan: Plan) -> Iterator[Part]:
    """The peak and both models by the clock, then by nvidia-smi; nothing without a GPU."""
    if plan.gpu:
        yield Part("mfu", partial(_model_flop_utilisation, plan, plan.gpu), expected_s=6)
        yield Part("busy", partial(_busy, plan, plan.gpu), expected_s=14)


def _model_flop_utilisation(plan: Plan, gpu: torch.device) -> dict[str, Entry]:
    arms = {}
    for model in MODELS:
        step, flops = _step(plan, gpu, model)
        settings = {"model": MODELS[model], "batch_size": BATCH_SIZES[model], "tf32": False}
        arms[f"{model}.cuda_step"] = Arm(step, gpu, settings, SEED, flops)
        arms[f"{model}.cuda_peak"] = peak_product(plan, gpu, FORMATS[model])
    entries = measure(arms, plan.repetitions, warmups=3)
    for model in MODELS:
        times, peak = entries[f"{model}.cuda_step"], entries[f"{model}.cuda_peak"]
        settings = {"model": MODELS[model], "dtype": _name(FORMATS[model])}
        shares = model_flop_utilisation(times, peak)
        entries[f"{model}.cuda_mfu"] = entry(shares, "percent", device=gpu.type, settings=settings)
    return entries


def model_flop_utilisation(times: Entry, peak: Entry) -> list[float]:
    """The model's FLOP/s in percent of the peak, for each timed sample.

    Args:
        times: A step; its amount is what forward and backward compute.
        peak: A large product.

    Raises:
        ValueError: If a step is faster than the peak: then one of them was measured wrongly.
    """
    peak_flop_per_s = peak.amount / peak.median
    shares = [100 * times.amount / (s * peak_flop_per_s) for s in times.samples]
    if max(shares) > 100:
        raise ValueError(f"a step reached {max(shares):.0f} % of the peak, which can't be")
    return shares


def _step(plan: Plan, gpu: torch.device, model: str) -> tuple[Step, float]:
    """A training step, and what its forward and backward pass compute in FLOP."""
    make = _tiny if model == "tiny" else partial(_large, QUICK_GPT2 if plan.quick else GPT2_SMALL)
    with FlopCounterMode(display=False) as counter:
        _, _, loss = make(torch.device("meta"))
        loss().backward()
    flops = float(counter.get_total_flops())
    module, optimizer, loss = make(gpu)
    module.train()

    def step() -> None:
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()

    return step, flops


Made = tuple[nn.Module, torch.optim.Optimizer, Callable[[], torch.Tensor]]


def _tiny(device: torch.device) -> Made:
    torch.manual_seed(SEED)
    with device:
        model = MNISTClassifier()
        images = torch.rand(BATCH_SIZES["tiny"], 1, 28, 28)
        labels = torch.zeros(BATCH_SIZES["tiny"], dtype=torch.int64)
    return model, _optimizer(model), lambda: F.cross_entropy(model(images), labels)


def _large(config: GPT2Config, device: torch.device) -> Made:
    torch.manual_seed(SEED)
    model = build(config, "autocast", device, "selective")
    tokens = torch.zeros(BATCH_SIZES["large"], config.context, dtype=torch.int64, device=device)

    def loss() -> torch.Tensor:
        # Counting the arithmetic needs no autocast, which the meta device does not have.
        with precision("fp32" if device.type == "meta" else "autocast", device):
            return next_token_loss(model, tokens, tokens)

    return model, _optimizer(model), loss


def _optimizer(model: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.AdamW(model.parameters(), lr=1e-4)


def peak_product(plan: Plan, gpu: torch.device, dtype: torch.dtype, tf32: bool = False) -> Arm:
    """A product so large that the GPU does nothing but arithmetic.

    Args:
        plan: Says whether a smaller one must do.
        gpu: Where.
        dtype: The number format of the matrices.
        tf32: Whether a float32 product may be done in TF32.
    """
    n = QUICK_PEAK_SIZE if plan.quick else PEAK_SIZE
    # The error is another case's matter, and a float64 product takes long
    return replace(product_arm(n, gpu, Format(dtype, tf32)), outcome=None)


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _busy(plan: Plan, gpu: torch.device) -> dict[str, Entry]:
    """What nvidia-smi says while each model trains without a pause."""
    entries = {}
    seconds = QUICK_WATCHED_S if plan.quick else WATCHED_S
    for model in MODELS:
        step, _ = _step(plan, gpu, model)
        readings = watch(step, gpu, seconds, 0 if plan.quick else FORGOTTEN_S)
        settings = {"model": MODELS[model], "batch_size": BATCH_SIZES[model], "watched_s": seconds}
        entries[f"{model}.cuda_busy"] = entry(
            readings, "percent", device=gpu.type, settings=settings
        )
    return entries


def watch(step: Step, gpu: torch.device, seconds: float, forgotten_s: float) -> list[float]:
    """Read the GPU's utilisation in a second thread while steps run.

    Args:
        step: Runs again and again.
        gpu: Is waited for after each step, so that the steps end with the time.
        seconds: How long; longer only until there is a reading.
        forgotten_s: Readings of this time, when the counter still sees what was before, are left.

    Returns:
        Readings in percent.

    Raises:
        SkipPartError: If there is nothing that could be read.
    """
    step()
    synchronize(gpu)
    over = threading.Event()
    readings: list[tuple[float, float]] = []
    problems: list[SkipPartError] = []

    def read() -> None:
        try:
            while not over.wait(0.1):
                readings.append((time.monotonic(), utilisation(gpu)))
        except SkipPartError as problem:
            problems.append(problem)

    thread = threading.Thread(target=read)
    began = time.monotonic()

    def kept() -> list[float]:
        return [value for when, value in readings if when >= began + forgotten_s]

    def goes_on() -> bool:
        elapsed_s = time.monotonic() - began
        return elapsed_s < seconds or (not kept() and elapsed_s < seconds + PATIENCE_S)

    thread.start()
    try:
        while goes_on() and not problems:
            step()
            synchronize(gpu)
        found = kept()
    finally:
        over.set()
        thread.join()
    if problems:
        raise problems[0]
    if not found:
        raise SkipPartError("nvidia-smi took too long to answer")
    return found


def utilisation(gpu: torch.device) -> float:
    """The share of the last moments in which any kernel ran, by nvidia-smi, in percent.

    Raises:
        SkipPartError: If nvidia-smi is not there or does not say.
    """
    busy = number(ask_nvidia_smi("utilization.gpu", gpu=gpu).get("utilization.gpu"))
    if busy is None:
        raise SkipPartError("nvidia-smi does not say how busy the GPU is")
    return busy
