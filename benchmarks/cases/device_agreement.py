"""How far the losses of the same tiny run on the CPU and on a GPU lie apart.

20 steps of the tiny model from the same weights on the same batches, for several seeds. The sums
of the two devices are added in another order, so that the last bits differ.
"""

from collections.abc import Iterator, Sequence
from functools import partial

import torch
from torch import nn

from benchmarks.cases import Part, Plan
from lesson_code.devices import float32_products
from lesson_code.gpu_training.training import train_one_epoch
from lesson_code.models import TinyClassifier
from results.cases import Family, names_of
from results.entry import Entry, entry

STEPS = 20
BATCH_SIZE = 32
# Differences below this count as this: float32 numbers near one lie so far apart, and an entry
# must be above zero. The true largest one is in the outcome.
RESOLUTION = torch.finfo(torch.float32).eps
FAMILIES = (
    Family(
        "cuda_largest_difference",
        f"how far the losses of {STEPS} training steps of the tiny model lie apart on CPU and GPU, "
        "median over seeds",
        unit="plain",
        device="cuda",
        figure="device_agreement.largest_difference",
    ),
)
ENTRIES = names_of(FAMILIES)


def parts(plan: Plan) -> Iterator[Part]:
    """One part, and none without a GPU: there is nothing to compare with."""
    if plan.gpu:
        yield Part("losses", partial(_compare, plan, plan.gpu), expected_s=1)


def _compare(plan: Plan, gpu: torch.device) -> dict[str, Entry]:
    seeds = range(plan.repetitions)
    with float32_products(tf32=False):
        differences = [
            largest_difference(losses(plan.cpu, seed), losses(gpu, seed)) for seed in seeds
        ]
    settings = {
        "steps": STEPS,
        "batch_size": BATCH_SIZE,
        "optimizer": "Adam, lr 1e-3",
        "seeds": list(seeds),
        "tf32": False,
        "differences_below_count_as": RESOLUTION,
    }
    return {
        "cuda_largest_difference": entry(
            [max(difference, RESOLUTION) for difference in differences],
            "plain",
            device=gpu.type,
            settings=settings,
            outcome={"largest_difference": max(differences)},
        )
    }


def losses(device: torch.device, seed: int) -> list[float]:
    """The loss of every step of a run whose weights and batches come from the CPU."""
    torch.manual_seed(seed)
    model = TinyClassifier().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()
    features = torch.randn(STEPS, BATCH_SIZE, 26)
    labels = torch.randint(4, (STEPS, BATCH_SIZE))
    return [
        train_one_epoch(model, [batch], optimizer, criterion, device)
        for batch in zip(features, labels, strict=True)
    ]


def largest_difference(first: Sequence[float], second: Sequence[float]) -> float:
    """How far two runs lie apart at the step where they do most."""
    return max(abs(a - b) for a, b in zip(first, second, strict=True))
