"""What a GradScaler does: multiply the loss, divide the gradients, skip, and adapt its factor."""

from collections.abc import Iterable

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from lesson_code.data import synthetic_digits
from lesson_code.devices import choose_device
from lesson_code.models import MNISTClassifier


# --8<-- [start:scaled_step]
def scaled_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    scaler: torch.amp.GradScaler,
    images: torch.Tensor,
    labels: torch.Tensor,
) -> None:
    """Train on one batch in mixed precision."""
    optimizer.zero_grad()
    with torch.amp.autocast(images.device.type, dtype=torch.float16):
        loss = cross_entropy(model(images), labels)
    scaler.scale(loss).backward()  # every gradient comes out `factor` times too large
    scaler.step(optimizer)  # divides them; steps only if none is inf or NaN
    scaler.update()  # halves the factor after a skip, doubles it after enough clean steps


# --8<-- [end:scaled_step]


def look_inside_one_step(device: torch.device) -> dict[str, bool | float]:
    """Compare a step with a scaler with one without, both in float32, where nothing is lost.

    Returns:
        ``factor``, how many times as large each gradient is after the backward pass; whether it is
        ``exactly`` that; and whether after the step gradients (``unscaled``) and weights
        (``same_weights``) equal those without a scaler, bit for bit.
    """
    images, labels = (part[:64].to(device) for part in synthetic_digits()[:2])
    plain, plain_optimizer = _model_and_optimizer(device)
    cross_entropy(plain(images), labels).backward()
    plain_optimizer.step()

    model, optimizer = _model_and_optimizer(device)
    scaler = torch.amp.GradScaler(device.type)
    scaler.scale(cross_entropy(model(images), labels)).backward()
    factor = scaler.get_scale()
    exactly = _equal(_gradients(model), _gradients(plain, factor))
    scaler.step(optimizer)
    return {
        "factor": factor,
        "exactly": exactly,
        "unscaled": _equal(_gradients(model), _gradients(plain)),
        "same_weights": _equal(model.parameters(), plain.parameters()),
    }


def adapt_the_factor(
    device: torch.device, first_factor: float, growth_interval: int, steps: int
) -> list[dict[str, bool | float]]:
    """Take some steps with a scaler whose first factor is far too large.

    Returns:
        For each step the ``factor`` with which it was made, whether all gradients were
        ``finite``, whether the weights ``moved``, and the ``next_factor``.
    """
    images, labels = (part.to(device) for part in synthetic_digits()[:2])
    model, optimizer = _model_and_optimizer(device)
    scaler = torch.amp.GradScaler(
        device.type, init_scale=first_factor, growth_interval=growth_interval
    )
    rows: list[dict[str, bool | float]] = []
    for step in range(steps):
        batch = slice(64 * step, 64 * (step + 1))
        before = [p.detach().clone() for p in model.parameters()]
        factor = scaler.get_scale()
        scaled_step(model, optimizer, scaler, images[batch], labels[batch])
        rows.append(
            {
                "factor": factor,
                "finite": all(bool(g.isfinite().all()) for g in _gradients(model)),
                "moved": not _equal(before, model.parameters()),
                "next_factor": scaler.get_scale(),
            }
        )
    return rows


def print_scaler_at_work() -> dict[str, object]:
    """Print one step from inside, then a scaler that finds its factor.

    Returns:
        ``inside``, see ``look_inside_one_step``, and ``steps``, see ``adapt_the_factor``.
    """
    device = choose_device()
    inside = look_inside_one_step(device)
    steps = adapt_the_factor(device, first_factor=2.0**24, growth_interval=3, steps=9)
    print("One step, compared with the same step without a scaler")
    times = f"{inside['factor']:,.0f} times as large, {'exactly' if inside['exactly'] else 'about'}"
    print(f"  {'gradients after the backward pass':36}{times}")
    print(f"  {'gradients after scaler.step':36}{_verdict(inside['unscaled'])}")
    print(f"  {'weights after scaler.step':36}{_verdict(inside['same_weights'])}")
    print("\nNine steps from a factor that is far too large (growth_interval=3)")
    print(f"{'step':>6}{'factor':>13}{'gradients':>14}{'weights':>10}{'next factor':>16}")
    for number, row in enumerate(steps, start=1):
        gradients = "finite" if row["finite"] else "inf or NaN"
        weights = "move" if row["moved"] else "stay"
        print(
            f"{number:>6}{row['factor']:>13,.0f}{gradients:>14}{weights:>10}"
            f"{row['next_factor']:>16,.0f}"
        )
    return {"inside": inside, "steps": steps}


def _verdict(same: bool | float) -> str:
    return "the same, bit for bit" if same else "different"


def _model_and_optimizer(device: torch.device) -> tuple[nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(42)
    model = MNISTClassifier().to(device)
    return model, torch.optim.SGD(model.parameters(), lr=1e-2)


def _gradients(model: nn.Module, times: float = 1.0) -> list[torch.Tensor]:
    return [p.grad * times for p in model.parameters() if p.grad is not None]


def _equal(some: Iterable[torch.Tensor], others: Iterable[torch.Tensor]) -> bool:
    return all(torch.equal(a, b) for a, b in zip(some, others, strict=True))
