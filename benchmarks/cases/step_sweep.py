"""One training step over hidden width and batch size, on every device.

784 -> width -> width -> 10, Adam, data already on the device: forward, loss, backward, update.
Where the CPU's time divided by the GPU's crosses one, the GPU begins to pay.
"""

from collections.abc import Iterator
from functools import partial

import torch
from torch import nn

from benchmarks.cases import Part, Plan
from benchmarks.method import Arm, measure
from results.cases import ON, Family, names_of
from results.entry import Entry

WIDTHS = (64, 256, 1024, 4096)
BATCH_SIZES = (16, 64, 256, 1024, 4096)
QUICK_WIDTHS, QUICK_BATCH_SIZES = (64, 256), (16, 64)
SEED = 0
FAMILIES = tuple(
    Family(
        f"width_{{width}}.batch_{{batch}}.{device}",
        f"one training step {on}, hidden width {{width}}, batch size {{batch}}",
        {"width": WIDTHS, "batch": BATCH_SIZES},
        device=device,
    )
    for device, on in ON.items()
)
ENTRIES = names_of(FAMILIES)


def parts(plan: Plan) -> Iterator[Part]:
    """Every cell; the CPU and the GPU take turns within it."""
    for width in QUICK_WIDTHS if plan.quick else WIDTHS:
        for batch_size in QUICK_BATCH_SIZES if plan.quick else BATCH_SIZES:
            yield Part(
                f"width_{width}.batch_{batch_size}",
                partial(_cell, plan, width, batch_size),
                expected_s=1 + 4e-7 * width * batch_size,
            )


def _cell(plan: Plan, width: int, batch_size: int) -> dict[str, Entry]:
    arms = {
        f"width_{width}.batch_{batch_size}.{name}": _arm(width, batch_size, device)
        for name, device in plan.devices.items()
    }
    return measure(arms, plan.repetitions, warmups=3)


def network(width: int) -> nn.Sequential:
    """The model of a cell."""
    return nn.Sequential(
        nn.Linear(784, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 10)
    )


def _arm(width: int, batch_size: int, device: torch.device) -> Arm:
    torch.manual_seed(SEED)
    model = network(width).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()
    generator = torch.Generator().manual_seed(SEED)
    images = torch.randn(batch_size, 784, generator=generator).to(device)
    labels = torch.randint(10, (batch_size,), generator=generator).to(device)

    def step() -> float:
        optimizer.zero_grad()
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
        return float(loss.item())

    settings = {"hidden_width": width, "batch_size": batch_size}
    return Arm(step, device, settings, SEED, amount=batch_size)
