"""Three ways to faster training, and how to see that each one still does the same work.

A clock that waits for the device, one training step for every device and precision, and a compiled
network that must answer like the one that it was made from.

Shapes: B is the batch size.
"""

import contextlib
import io
import statistics
import time
from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional as F

from lesson_code.data import as_tensors, load_mnist
from lesson_code.devices import synchronize as wait_for

CPU = torch.device("cpu")


# --8<-- [start:benchmark]
def benchmark(
    device: torch.device,
    size: int,
    iterations: int,
    *,
    multiply: Callable[[torch.Tensor, torch.Tensor], object] = torch.matmul,
    synchronize: Callable[[torch.device], None] = wait_for,  # on a CPU it does nothing
    clock: Callable[[], float] = time.perf_counter,
) -> list[float]:
    """Seconds of every product of two random (size, size) matrices."""
    left = torch.rand(size, size, device=device)
    right = torch.rand(size, size, device=device)
    for _ in range(3):  # warm-up
        multiply(left, right)

    seconds = []
    for _ in range(iterations):
        synchronize(device)
        start = clock()
        multiply(left, right)
        synchronize(device)
        seconds.append(clock() - start)
    return seconds


# --8<-- [end:benchmark]


# --8<-- [start:compare]
def summary(seconds: list[float], size: int) -> str:
    """The median with the smallest and the largest, and what it means in arithmetic."""
    low, middle, high = min(seconds), statistics.median(seconds), max(seconds)
    flop = 2 * size**3  # a product adds up size products for each of size * size results
    times = f"{1e3 * middle:.2f} ms ({1e3 * low:.2f} to {1e3 * high:.2f})"
    return f"{times}, {flop / middle / 1e9:.0f} GFLOP/s"


def compare_devices(size: int = 1024, iterations: int = 5) -> None:
    """Print what one product takes on each device that this machine has."""
    precision = torch.get_float32_matmul_precision()
    print(f"{torch.get_num_threads()} CPU threads, float32 products: {precision}")
    cpu_s = benchmark(torch.device("cpu"), size, iterations)
    print(f"CPU: {summary(cpu_s, size)}")
    if not torch.cuda.is_available():
        print("CUDA is not available, so there is nothing to compare with")
        return
    gpu_s = benchmark(torch.device("cuda"), size, iterations)
    print(f"GPU: {summary(gpu_s, size)}")
    print(f"ratio: {statistics.median(cpu_s) / statistics.median(gpu_s):.1f}")


# --8<-- [end:compare]


def record_events(iterations: int) -> list[str]:
    """What ``benchmark`` does, in order, seen by stand-ins for product, waiting and clock."""
    events: list[str] = []

    def read_clock() -> float:
        events.append("clock")
        return 0.0

    benchmark(
        CPU,
        2,
        iterations,
        multiply=lambda _left, _right: events.append("product"),
        synchronize=lambda _device: events.append("wait"),
        clock=read_clock,
    )
    return events


def print_order_of_events() -> None:
    """Print the warm-up, then each timed repetition on a line of its own."""
    events = record_events(iterations=2)
    print("warm-up:", " ".join(events[:3]))
    for first in range(3, len(events), 5):
        print("timed:  ", " ".join(events[first : first + 5]))


# --8<-- [start:train_step]
def train_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    scaler: torch.amp.GradScaler,
    features: torch.Tensor,
    labels: torch.Tensor,
    dtype: torch.dtype,
) -> torch.Tensor:
    """One update on any device; float32 switches autocast off."""
    optimizer.zero_grad()
    mixed = dtype != torch.float32
    with torch.autocast(features.device.type, dtype=dtype, enabled=mixed):
        logits = model(features)
        loss = F.cross_entropy(logits, labels)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)  # clipping must see the gradients in their true size
    nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    scaler.step(optimizer)
    scaler.update()
    return loss.detach()


# --8<-- [end:train_step]


# --8<-- [start:set_up]
def set_up(
    device: torch.device, dtype: torch.dtype
) -> tuple[nn.Module, torch.optim.Optimizer, torch.amp.GradScaler]:
    """A 128-256-10 network, with equal weights on every device, and its optimizer."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 10)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler(device.type, enabled=dtype == torch.float16)
    return model, optimizer, scaler


# --8<-- [end:set_up]


def random_batch(device: torch.device, seed: int = 1) -> tuple[torch.Tensor, torch.Tensor]:
    """64 random examples (64, 128), and a label for each."""
    generator = torch.Generator().manual_seed(seed)
    features = torch.randn(64, 128, generator=generator)
    labels = torch.randint(10, (64,), generator=generator)
    return features.to(device), labels.to(device)


def print_one_step() -> dict[str, float]:
    """Take one step on the CPU in float32 and in bfloat16, and print which tensor has which type.

    Returns:
        The loss in each precision.
    """
    features, labels = random_batch(CPU)
    losses = {}
    for name, dtype in (("float32", torch.float32), ("bfloat16", torch.bfloat16)):
        model, optimizer, scaler = set_up(CPU, dtype)
        logits_dtypes: list[torch.dtype] = []
        model.register_forward_hook(lambda _m, _i, out, seen=logits_dtypes: seen.append(out.dtype))
        loss = train_step(model, optimizer, scaler, features, labels, dtype)
        losses[name] = loss.item()
        weight = next(model.parameters())
        assert weight.grad is not None
        types = {
            "logits": logits_dtypes[0],
            "loss": loss.dtype,
            "weights": weight.dtype,
            "gradients": weight.grad.dtype,
        }
        print(f"{name}: loss {loss.item():.4f}, scaler enabled: {scaler.is_enabled()}")
        print("   ", ", ".join(f"{what} {_short(kind)}" for what, kind in types.items()))
    return losses


def _short(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def digits_accuracy(dtype: torch.dtype, seed: int, epochs: int = 3) -> float:
    """Accuracy on the subset's 1,000 test images after training on its 6,000, on the CPU."""
    images, labels = as_tensors(load_mnist(train=True, source="subset"))
    test_images, test_labels = as_tensors(load_mnist(train=False, source="subset"))
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Flatten(), nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler("cpu", enabled=False)
    for _ in range(epochs):
        for chosen in torch.randperm(len(labels)).split(128):
            train_step(model, optimizer, scaler, images[chosen], labels[chosen], dtype)
    with torch.no_grad():
        return (model(test_images).argmax(dim=1) == test_labels).float().mean().item()


def print_digits() -> None:
    """Train on real digits in both precisions and print where they end."""
    with contextlib.redirect_stdout(io.StringIO()):  # the data say which they are
        accuracies = {t: digits_accuracy(t, seed=0) for t in (torch.float32, torch.bfloat16)}
    print("three epochs on 6,000 digits, accuracy on 1,000 others")
    for dtype, accuracy in accuracies.items():
        print(f"{_short(dtype):10}{accuracy:.3f}")


# --8<-- [start:compile]
def answers_of_both() -> tuple[torch.Tensor, torch.Tensor]:
    """Logits (8, 2) of a small network, as it is and compiled."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 2))
    features = torch.randn(8, 32)

    compiled = torch.compile(model)  # nothing is compiled yet
    with torch.no_grad():
        return model(features), compiled(features)  # the compiler starts at this call


# --8<-- [end:compile]


# --8<-- [start:names]
def print_names() -> None:
    """Print what a compiled model calls its weights, and whether the plain one agrees."""
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 2))
    wrapped = torch.compile(model)
    assert isinstance(wrapped, nn.Module)
    print("wrapped: ", *wrapped.state_dict())
    try:
        model.load_state_dict(wrapped.state_dict())
    except RuntimeError as error:
        print(f"    {type(error).__name__}: {str(error).splitlines()[1].strip()}")

    in_place = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 2))
    in_place.compile()  # the module stays what it is
    print("in place:", *in_place.state_dict())
    print("   ", model.load_state_dict(in_place.state_dict()))


# --8<-- [end:names]
