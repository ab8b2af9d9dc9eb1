"""The first steps of a loss scale: skipped on purpose, with a loss that looks healthy."""

import torch
from torch import nn
from torch.nn.functional import mse_loss

GOOD_STEPS_TO_DOUBLE = 2000  # GradScaler's default


# --8<-- [start:watched_step]
def watched_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    scaler: torch.amp.GradScaler,
    inputs: torch.Tensor,
    targets: torch.Tensor,
) -> dict[str, float]:
    """Train on one batch, (B, 4) and (B, 1), and note what a log would have shown."""
    scale = scaler.get_scale()
    optimizer.zero_grad()
    with torch.autocast("cpu", torch.float16):
        loss = mse_loss(model(inputs), targets)
    scaler.scale(loss).backward()
    finite = all(p.grad.isfinite().all() for p in model.parameters() if p.grad is not None)
    scaler.step(optimizer)
    scaler.update()
    skipped = scaler.get_scale() < scale
    return {"scale": scale, "loss": loss.item(), "finite": finite, "skipped": skipped}


# --8<-- [end:watched_step]


def first_steps(steps: int, spread: float = 1.0) -> tuple[list[dict[str, float]], float]:
    """Train a layer from four numbers to one on eight samples, with a new scaler.

    Args:
        steps: How many to take.
        spread: How far the targets lie from zero; each is so many times the sum of its inputs.

    Returns:
        What ``watched_step`` gives for each step, and the scale after the last one.
    """
    torch.manual_seed(0)
    model = nn.Linear(4, 1)
    inputs = torch.randn(8, 4)
    targets = spread * inputs.sum(dim=1, keepdim=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    scaler = torch.amp.GradScaler("cpu")
    rows = [watched_step(model, optimizer, scaler, inputs, targets) for _ in range(steps)]
    return rows, scaler.get_scale()


def print_first_steps() -> dict[str, float]:
    """Print the steps at which the scale of a new scaler changes, and those beside them.

    Returns:
        The ``first_scale``, the ``first_loss``, how many steps were ``skipped`` and at which step
        the scale ``doubled``.
    """
    rows, last_scale = first_steps(GOOD_STEPS_TO_DOUBLE + 2)
    scales = [row["scale"] for row in rows] + [last_scale]
    print(f"{'step':>6}{'scale':>9}{'loss':>9}{'gradients':>14}{'optimizer':>12}{'next scale':>13}")
    for number in (1, 2, 3, 4, len(rows) - 1, len(rows)):
        row = rows[number - 1]
        gradients = "finite" if row["finite"] else "inf or NaN"
        optimizer = "skipped" if row["skipped"] else "steps"
        print(
            f"{number:>6,}{row['scale']:>9,.0f}{row['loss']:>9.4f}{gradients:>14}"
            f"{optimizer:>12}{scales[number]:>13,.0f}"
        )
    return {
        "first_scale": scales[0],
        "first_loss": rows[0]["loss"],
        "skipped": sum(row["skipped"] for row in rows),
        "doubled": next(n for n in range(1, len(scales)) if scales[n] > scales[n - 1]),
    }
