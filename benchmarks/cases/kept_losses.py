"""GPU memory held by kept validation losses: with their graphs, detached, and as floats.

Validation with gradients switched on by mistake, 20 batches of 512. A loss with its graph keeps
every activation of its batch alive; PyTorch's own counter of allocated memory says how much.
"""

from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import nn

from benchmarks.cases import Part, Plan
from results.cases import Family, names_of
from results.entry import Entry, entry

INPUTS, HIDDEN, CLASSES = 256, 2048, 10
BATCH_SIZE = 512
BATCHES = 20
SEED = 0
Keep = Callable[[torch.Tensor], object]
WAYS: dict[str, Keep] = {
    "with_graph": lambda loss: loss,
    "detached": torch.Tensor.detach,
    "floats": torch.Tensor.item,
}
NETWORK = f"a {INPUTS}-{HIDDEN}-{HIDDEN}-{CLASSES} network"
HELD = f"GPU memory held by {NETWORK} and {BATCHES} validation losses kept"
FAMILIES = (
    *(
        Family(f"cuda_{way}", f"{HELD} {kept}", unit="megabytes", device="cuda")
        for way, kept in zip(WAYS, ("with their graphs", "detached", "as floats"), strict=True)
    ),
    Family(
        "cuda_with_graph_per_batch",
        f"GPU memory that each further validation batch of {BATCH_SIZE} holds when its loss is "
        "kept with its graph",
        unit="megabytes",
        device="cuda",
    ),
)
ENTRIES = names_of(FAMILIES)


def parts(plan: Plan) -> Iterator[Part]:
    """One part, and none without a GPU: only there memory is counted."""
    if plan.gpu:
        yield Part("validation", partial(_compare, plan, plan.gpu), expected_s=2)


def _compare(plan: Plan, gpu: torch.device) -> dict[str, Entry]:
    settings = {
        "layers": [INPUTS, HIDDEN, HIDDEN, CLASSES],
        "batch_size": BATCH_SIZE,
        "batches": BATCHES,
    }
    held: dict[str, list[float]] = {name: [] for name in ENTRIES}
    held_bytes(gpu, torch.Tensor.item, batches=1)  # libraries take their workspaces once
    for _ in range(plan.repetitions):
        for way, keep in WAYS.items():
            held[f"cuda_{way}"].append(held_bytes(gpu, keep, BATCHES))
        one = held_bytes(gpu, WAYS["with_graph"], batches=1)
        growth = (held["cuda_with_graph"][-1] - one) / (BATCHES - 1)
        held["cuda_with_graph_per_batch"].append(growth)
    return {
        name: entry(samples, "bytes", device=gpu.type, seed=SEED, settings=settings)
        for name, samples in held.items()
    }


def held_bytes(device: torch.device, keep: Keep, batches: int) -> float:
    """Bytes that the model, its batch and what was kept of every loss occupy together."""
    before = _allocated_bytes(device)
    torch.manual_seed(SEED)
    model = nn.Sequential(
        nn.Linear(INPUTS, HIDDEN),
        nn.ReLU(),
        nn.Linear(HIDDEN, HIDDEN),
        nn.ReLU(),
        nn.Linear(HIDDEN, CLASSES),
    ).to(device)
    features = torch.randn(BATCH_SIZE, INPUTS).to(device)
    labels = torch.randint(CLASSES, (BATCH_SIZE,)).to(device)
    criterion = nn.CrossEntropyLoss()
    kept = [keep(criterion(model(features), labels)) for _ in range(batches)]
    held = _allocated_bytes(device) - before
    del kept
    return float(held)


def _allocated_bytes(device: torch.device) -> int:
    """What all tensors on the device hold now."""
    return torch.cuda.memory_allocated(device)
