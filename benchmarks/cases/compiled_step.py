"""``torch.compile`` on a training step: what the first call costs, and what later ones gain.

The MNIST classifier on every device, and a large network on a GPU. A first call compiles forward
and backward pass with nothing kept from before, neither in memory nor on disk; the compiler itself
is imported and warmed up already. Later steps take turns with plain ones.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import torch
from torch import nn

from benchmarks.cases import Part, Plan
from benchmarks.compiling import compile_something_small, compiler, nothing_compiled_yet
from benchmarks.method import Arm, measure
from lesson_code.gpu_training.training import Batch, train_one_epoch
from lesson_code.models import MNISTClassifier
from lesson_code.timing import time_repeatedly
from results.cases import ON, Family, names_of
from results.entry import Entry, entry

FIRST_CALLS = 2  # each takes seconds
STEPS = 20  # after them, both ways must have learned the same
SEED = 0


def large_network(width: int = 4096) -> nn.Sequential:
    """784 → 4096 → 4096 → 4096 → 10, about 37 million parameters."""
    return nn.Sequential(
        nn.Flatten(),
        nn.Linear(784, width),
        nn.ReLU(),
        nn.Linear(width, width),
        nn.ReLU(),
        nn.Linear(width, width),
        nn.ReLU(),
        nn.Linear(width, 10),
    )


@dataclass(frozen=True)
class Network:
    """A network, and the size of the batches that it is trained on."""

    make: Callable[[], nn.Module]
    batch_size: int


NETWORKS = {"mnist": Network(MNISTClassifier, 64), "large": Network(large_network, 1024)}
MEASURED = (("mnist", "cpu"), ("mnist", "cuda"), ("large", "cuda"))
WORDS = {
    "eager": "PyTorch as it is",
    "compiled": "with torch.compile",
    "mnist": "the MNIST classifier",
    "large": "a 784-4096-4096-4096-10 network",
}
FAMILIES = (
    *(
        Family(
            f"{name}.{device}_{{arm}}",
            f"a training step of {WORDS[name]} at batch size {NETWORKS[name].batch_size} "
            f"{ON[device]}, {{arm}}",
            {"arm": ("eager", "compiled")},
            device=device,
            words=WORDS,
        )
        for name, device in MEASURED
    ),
    *(
        Family(
            f"{name}.{device}_first_call",
            f"the first compiled training step {ON[device]} with nothing compiled before, "
            f"{WORDS[name]}",
            device=device,
        )
        for name, device in MEASURED
    ),
)
ENTRIES = names_of(FAMILIES)


def parts(plan: Plan) -> Iterator[Part]:
    """Each network on each device; the large one on a GPU only."""
    on_cpu = partial(_compare, plan, "mnist", "cpu", plan.cpu)
    yield Part("mnist.cpu", on_cpu, expected_s=20, cpu_only=True)
    if plan.gpu:
        for name in NETWORKS:
            measured = partial(_compare, plan, name, "cuda", plan.gpu)
            yield Part(f"{name}.cuda", measured, expected_s=20)


def _compare(plan: Plan, name: str, device_name: str, device: torch.device) -> dict[str, Entry]:
    network = NETWORKS[name]
    settings = {"batch_size": network.batch_size, "optimizer": "Adam, lr 1e-3"}
    where = f"{name}.{device_name}"
    first_s = []
    with compiler():
        with nothing_compiled_yet():
            warmup_s = _seconds(partial(compile_something_small, device), device)
        for _ in range(0 if plan.quick else FIRST_CALLS - 1):
            with nothing_compiled_yet():
                first_s.append(_seconds(_step(network, device, compiled=True), device))
        with nothing_compiled_yet():
            eager, compiled = (_step(network, device, compiled=way) for way in (False, True))
            first_s.append(_seconds(compiled, device))
            reached = {
                "eager": [eager() for _ in range(STEPS)][-1],
                "compiled": [compiled() for _ in range(STEPS - 1)][-1],
            }
            arms = {
                f"{where}_{way}": Arm(
                    step,
                    device,
                    settings,
                    SEED,
                    amount=network.batch_size,
                    outcome=partial(dict, {f"loss_of_step_{STEPS}": reached[way]}),
                )
                for way, step in (("eager", eager), ("compiled", compiled))
            }
            entries = measure(arms, plan.repetitions)
    entries[f"{where}_first_call"] = entry(
        first_s, "s", device=device.type, warmups=[warmup_s], seed=SEED, settings=settings
    )
    return entries


def _seconds(work: Callable[[], object], device: torch.device) -> float:
    """What one call takes, without a warm-up."""
    [seconds] = time_repeatedly(work, device, repetitions=1, warmup=0)
    return seconds


def _step(network: Network, device: torch.device, compiled: bool) -> Callable[[], float]:
    """A training step on one batch that stays on the device; it returns the loss."""
    torch.manual_seed(SEED)
    model = network.make().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    images = torch.randn(network.batch_size, 1, 28, 28).to(device)  # (B, 1, 28, 28)
    labels = torch.randint(10, (network.batch_size,)).to(device)
    batch: Batch = images, labels
    if compiled:
        model.compile()
    return partial(train_one_epoch, model, [batch], optimizer, nn.CrossEntropyLoss(), device)
