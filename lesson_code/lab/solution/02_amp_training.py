"""Exercise 2: train in 16 bits, watch the scaler, and compare memory and speed with float32.

What the report says on a machine without a GPU, with numbers that you find out:

    MNISTClassifier on cpu, 30 steps of 32 images
                  loss    kept for backward
    float32          …              … bytes
    bfloat16         …              … bytes
    float16          …              … bytes
    float32 needs … times the bytes of float16,
    and in TinyCNN … times

    in float16    skipped finite loss   scale
    normalised    … of 30     … of 30       …
    pixels 0–255  … of 30     … of 30       …

Below it stands the time of a step, which on a CPU says nothing about a GPU.

Shapes: B is the batch size; images are (B, 1, 28, 28), float32; labels are (B,), int64.
"""

import math
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from lesson_code.data import PIXEL_MEAN, PIXEL_STD, as_tensors, load_mnist
from lesson_code.devices import choose_device, synchronize
from lesson_code.lab.models import TinyCNN
from lesson_code.lab.todos import report_open_todos
from lesson_code.models import MNISTClassifier
from lesson_code.saved_tensors import SavedBytes

Batch = tuple[torch.Tensor, torch.Tensor]
Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

FORMATS = (torch.float32, torch.bfloat16, torch.float16)
STEPS, BATCH_SIZE = 30, 32


class Speed(NamedTuple):
    """What ``compare_speed`` finds.

    Attributes:
        a_s: Seconds that a step of the first takes.
        b_s: Seconds that a step of the second takes.
        ratio: How many times as long the first takes.
    """

    a_s: float
    b_s: float
    ratio: float


@dataclass(frozen=True)
class StepRecord:
    """What ``train_monitored`` notes about a step.

    Attributes:
        step: Its number; the first one is 0.
        loss: Its loss, before scaling.
        scale_before: The factor with which it was made.
        scale_after: The factor for the step that follows.
        skipped: Whether the scaler left the weights as they were.
    """

    step: int
    loss: float
    scale_before: float
    scale_after: float
    skipped: bool


# --8<-- [start:train_step_fp32]
def train_step_fp32(
    model: nn.Module,
    x: torch.Tensor,
    y: torch.Tensor,
    optimizer: torch.optim.Optimizer,
    loss_fn: Loss,
) -> float:
    """The step that you know, all of it in float32. Returns the loss."""
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


# --8<-- [end:train_step_fp32]


# --8<-- [start:make_scaler]
def make_scaler(device_type: str, dtype: torch.dtype) -> torch.amp.GradScaler:
    """A scaler that works for float16, and is off for every other format."""
    # BLANK 2.2: make the scaler
    #: Only float16 is short of range. One argument of the scaler switches it off for the others,
    #: so that no caller has to ask which format it is.
    #: Look up: torch.amp.GradScaler.
    return torch.amp.GradScaler(device_type, enabled=dtype == torch.float16)
    # END


# --8<-- [end:make_scaler]


# --8<-- [start:train_step]
def train_step(
    model: nn.Module,
    x: torch.Tensor,
    y: torch.Tensor,
    optimizer: torch.optim.Optimizer,
    scaler: torch.amp.GradScaler,
    loss_fn: Loss,
    device_type: str,
    dtype: torch.dtype,
    max_norm: float | None = None,
) -> float:
    """Train on one batch; the same lines for float32, bfloat16 and float16.

    The scaler was made for this format, so it may be switched off.
    With ``max_norm``, gradients of true size are clipped to that norm.
    Returns the loss as it is without scaling.
    """
    optimizer.zero_grad()
    # BLANK 2.1: autocast the forward pass
    #: 2.1 Compute the forward pass and the loss in an autocast region, and nothing else.
    #: Tell it the device and the format; with float32 it should change nothing.
    #: Look up: torch.autocast.
    in_16_bit = dtype != torch.float32
    with torch.autocast(device_type, dtype, enabled=in_16_bit):
        loss = loss_fn(model(x), y)
    # INSTEAD
    # loss = loss_fn(model(x), y)
    #
    # END
    # BLANK 2.3: scale the loss
    #: 2.3 Start the backward pass from a larger number, so that no gradient on its way becomes
    #: zero. The scaler knows how large. It gives you a new tensor and leaves the old one as it is.
    #: Look up: torch.amp.GradScaler.scale.
    scaler.scale(loss).backward()
    # INSTEAD
    # loss.backward()
    #
    # END
    # BLANK 2.4: unscale and step
    #: 2.4 The gradients are too large now. The scaler divides them, and steps if all are finite.
    #: If max_norm is given, the gradients need their true size before you clip them.
    #: Look up: GradScaler.unscale_, GradScaler.step, torch.nn.utils.clip_grad_norm_.
    if max_norm is not None:
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    scaler.step(optimizer)
    # INSTEAD
    # optimizer.step()
    #
    # END
    # BLANK 2.5: update the scaler
    #: 2.5 Let the scaler adapt its factor, and return the loss as it was before scaling.
    #: A number, not a tensor: a tensor would keep its graph in memory.
    #: Look up: GradScaler.update.
    scaler.update()
    return loss.item()
    # END


# --8<-- [end:train_step]


# --8<-- [start:compare_memory]
def compare_memory(
    make_model: Callable[[], nn.Module],
    batch: Batch,
    dtypes: Sequence[torch.dtype],
    device: torch.device,
) -> dict[torch.dtype, int]:
    """Bytes that a batch costs in each format; the loss is cross-entropy.

    On the CPU: what the graph keeps for its backward pass, without
    parameters. On CUDA: how far the peak of what is allocated rises above
    what was there before, up to the end of the backward pass.
    """
    # BLANK 2.6: compare memory
    #: SavedBytes(model) is a meter: it counts what runs inside `with`, and total() tells any time.
    #: What it counts goes when the graph goes, so think about when to read it.
    #: On CUDA, PyTorch keeps a peak itself; set it back before each format. It counts all that is
    #: there, also what libraries take in their first pass and keep: let one go ahead, and subtract.
    #: Look up: lesson_code/saved_tensors.py, torch.cuda.max_memory_allocated, memory_allocated.
    x, y = (part.to(device) for part in batch)
    found = {}
    for dtype in dtypes:
        model = make_model().to(device)
        found[dtype] = _kept_in_a_pass(model, x, y, dtype, device)
        if device.type == "cuda":  # that pass was the warm-up: libraries have their workspaces
            model.zero_grad()
            torch.cuda.reset_peak_memory_stats(device)
            before = torch.cuda.memory_allocated(device)
            _kept_in_a_pass(model, x, y, dtype, device)
            found[dtype] = torch.cuda.max_memory_allocated(device) - before
    return found
    # END


# OURS
def _kept_in_a_pass(
    model: nn.Module,
    x: torch.Tensor,
    y: torch.Tensor,
    dtype: torch.dtype,
    device: torch.device,
) -> int:
    meter = SavedBytes(model)
    in_16_bit = dtype != torch.float32
    with meter, torch.autocast(device.type, dtype, enabled=in_16_bit):
        loss = cross_entropy(model(x), y)
    kept = meter.total()
    loss.backward()
    return kept


# END


# --8<-- [end:compare_memory]


# --8<-- [start:compare_speed]
def compare_speed(
    step_a: Callable[[], object],
    step_b: Callable[[], object],
    sync: Callable[[], object],
    clock: Callable[[], float],
    warmup: int,
    iters: int,
) -> Speed:
    """Time two steps on a device that works behind Python's back.

    Args:
        step_a: Asks the device for one step of the first kind.
        step_b: The same of the second kind.
        sync: Waits until the device has done what it was asked for.
        clock: Reads the time, in seconds.
        warmup: How often each step runs before its time counts.
        iters: In how many rounds each step is timed once, in turn; the medians count.
    """
    # BLANK 2.7: compare speed
    #: A step returns when the device has been asked, not when it has finished. And the first steps
    #: pay for things that no later one pays for. Where must the clock wait, and for what?
    #: A machine that slows down while you measure should slow both: let the two take turns.
    #: Use the clock and the sync that you are given; the checker's device runs on its own time.
    #: Look up: statistics.median.

    def seconds_of(step: Callable[[], object]) -> float:
        sync()
        start = clock()
        step()
        sync()
        return clock() - start

    for step in (step_a, step_b):
        for _ in range(warmup):
            step()
    # In turn, so that a machine that slows down meanwhile slows both.
    rounds = [(seconds_of(step_a), seconds_of(step_b)) for _ in range(iters)]
    a_s, b_s = (statistics.median(found) for found in zip(*rounds, strict=True))
    return Speed(a_s, b_s, a_s / b_s)
    # END


# --8<-- [end:compare_speed]


# --8<-- [start:train_monitored]
def train_monitored(
    model: nn.Module,
    batches: Iterable[Batch],
    optimizer: torch.optim.Optimizer,
    scaler: torch.amp.GradScaler,
    loss_fn: Loss,
    device_type: str,
    dtype: torch.dtype,
) -> list[StepRecord]:
    """Train on each batch once, and note what the scaler did."""
    # BLANK 2.8: watch for skipped steps
    #: Take your train_step for each batch. A skipped step raises no error, and its loss may be
    #: finite. What does the scaler do after a skip that it does at no other time?
    #: Look up: torch.amp.GradScaler.get_scale.
    records = []
    for step, (x, y) in enumerate(batches):
        before = scaler.get_scale()
        loss = train_step(model, x, y, optimizer, scaler, loss_fn, device_type, dtype)
        after = scaler.get_scale()
        skipped = after < before
        records.append(StepRecord(step, loss, before, after, skipped))
    return records
    # END


# --8<-- [end:train_monitored]


def digits(device: torch.device) -> list[Batch]:
    """The batches of the report: real digits, normalised."""
    images, labels = as_tensors(load_mnist(source="subset"))
    count = STEPS * BATCH_SIZE
    pairs = zip(images[:count].split(BATCH_SIZE), labels[:count].split(BATCH_SIZE), strict=True)
    # Copies: parts of one large tensor would each keep all of it in memory.
    return [(x.clone().to(device), y.clone().to(device)) for x, y in pairs]


def train(dtype: torch.dtype, batches: list[Batch], device: torch.device) -> list[StepRecord]:
    """Train a new digit classifier in one format."""
    torch.manual_seed(0)
    model = MNISTClassifier().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    scaler = make_scaler(device.type, dtype)
    return train_monitored(model, batches, optimizer, scaler, cross_entropy, device.type, dtype)


def print_report() -> dict[str, dict[str, float]]:
    """Print everything but times, and return the numbers by what they belong to."""
    device = choose_device()
    batches = digits(device)
    raw_batches = [(255 * (PIXEL_STD * x + PIXEL_MEAN), y) for x, y in batches]
    memory = compare_memory(MNISTClassifier, batches[0], FORMATS, device)
    of_cnn = compare_memory(TinyCNN, batches[0], FORMATS, device)
    runs = {dtype: train(dtype, batches, device) for dtype in FORMATS}
    losses = {}
    print(f"MNISTClassifier on {device}, {STEPS} steps of {BATCH_SIZE} images")
    what = "added at the peak" if device.type == "cuda" else "kept for backward"
    print(f"{'':12}{'loss':>6}{what:>21}")
    for dtype in FORMATS:
        name = str(dtype).removeprefix("torch.")
        losses[name] = sum(record.loss for record in runs[dtype][-5:]) / 5
        print(f"{name:12}{losses[name]:6.2f}{memory[dtype]:15,} bytes")
    mlp, cnn = (bytes[torch.float32] / bytes[torch.float16] for bytes in (memory, of_cnn))
    print(f"float32 needs {mlp:.2f} times the bytes of float16,")
    print(f"and in TinyCNN {cnn:.2f} times")
    normalised = _scaler_in(runs[torch.float16])
    raw = _scaler_in(train(torch.float16, raw_batches, device))
    print(f"\n{'in float16':13}{'skipped':>8}{'finite loss':>12}{'scale':>8}")
    for name, found in (("normalised", normalised), ("pixels 0–255", raw)):
        skipped, finite = (f"{found[key]} of {STEPS}" for key in ("skipped", "finite"))
        print(f"{name:13}{skipped:>8}{finite:>12}{found['scale']:8,.0f}")
    return {
        "loss": losses,
        "memory_ratio": {"mlp": mlp, "cnn": cnn},
        "normalised": normalised,
        "raw": raw,
    }


def _scaler_in(records: list[StepRecord]) -> dict[str, float]:
    return {
        "skipped": sum(record.skipped for record in records),
        "finite": sum(math.isfinite(record.loss) for record in records),
        "scale": records[-1].scale_after,
    }


def print_speed() -> None:
    """Print the time of a step in float32 and in float16."""
    device = choose_device()
    model = MNISTClassifier().to(device)
    x, y = torch.rand(BATCH_SIZE, 784, device=device), torch.zeros(BATCH_SIZE).long().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    scaler = make_scaler(device.type, torch.float16)
    speed = compare_speed(
        lambda: train_step_fp32(model, x, y, optimizer, cross_entropy),
        lambda: train_step(
            model, x, y, optimizer, scaler, cross_entropy, device.type, torch.float16
        ),
        lambda: synchronize(device),
        time.perf_counter,
        warmup=3,
        iters=10,
    )
    print(f"A step takes {1e3 * speed.a_s:.1f} ms in float32, {1e3 * speed.b_s:.1f} ms in float16")
    print(f"float32 takes {speed.ratio:.2f} times as long.")
    if device.type == "cpu":
        print("Speed on this CPU says nothing about a GPU.")


def main() -> None:
    """Print the report, or what is left to do."""
    if not report_open_todos(__file__):
        print_report()
        print_speed()


if __name__ == "__main__":
    main()
