"""One epoch of a model with 500 parameters: 100 samples, and 200, in batches of 32.

On a GPU twice: with each batch sent over as the lesson's loop does it, and with all batches there
already. The difference is the trip; what is left is the fixed cost of a step.
"""

from collections.abc import Iterator
from functools import partial

import torch
from torch import nn

from benchmarks.cases import Part, Plan
from benchmarks.method import Arm, measure
from lesson_code.gpu_training.training import Batch, train_one_epoch
from lesson_code.models import TinyClassifier
from results.cases import Family, names_of
from results.entry import Entry

SIZES = (100, 200)
BATCH_SIZE = 32
SEED = 0
FAMILIES = tuple(
    Family(
        f"samples_{{samples}}.{arm}",
        f"one epoch of the tiny model on {{samples}} samples {where}",
        {"samples": SIZES},
        device=device,
    )
    for arm, device, where in (
        ("cpu", "cpu", "on the CPU"),
        ("cuda", "cuda", "on the GPU, each batch sent over"),
        ("cuda_resident", "cuda", "on the GPU, all batches there already"),
    )
)
NEEDS = ("mnist_epoch",)
ENTRIES = names_of(FAMILIES)


def parts(plan: Plan) -> Iterator[Part]:
    """Each size, on every device."""
    for samples in SIZES:
        yield Part(f"samples_{samples}", partial(_compare, plan, samples), expected_s=1)


def _compare(plan: Plan, samples: int) -> dict[str, Entry]:
    arms = {}
    for name, device in plan.devices.items():
        arms[f"samples_{samples}.{name}"] = _arm(samples, device, resident=False)
        if name == "cuda":
            arms[f"samples_{samples}.cuda_resident"] = _arm(samples, device, resident=True)
    return measure(arms, plan.repetitions, warmups=3)


def _arm(samples: int, device: torch.device, resident: bool) -> Arm:
    torch.manual_seed(SEED)
    model = TinyClassifier().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()
    batches = _batches(samples)
    if resident:
        batches = [(features.to(device), labels.to(device)) for features, labels in batches]

    def epoch() -> float:
        return train_one_epoch(model, batches, optimizer, criterion, device)

    settings = {"samples": samples, "batch_size": BATCH_SIZE, "data_on_device": resident}
    return Arm(epoch, device, settings, SEED, amount=samples)


def _batches(samples: int) -> list[Batch]:
    """Made-up samples of four classes: features (B, 26) float32 and labels (B,) int64."""
    generator = torch.Generator().manual_seed(SEED)
    features = torch.randn(samples, 26, generator=generator)
    labels = torch.randint(4, (samples,), generator=generator)
    return list(
        zip(torch.split(features, BATCH_SIZE), torch.split(labels, BATCH_SIZE), strict=True)
    )
