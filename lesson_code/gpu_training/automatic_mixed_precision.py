"""Who computes in what: the formats inside one training step, and autocast's own choices."""

# mypy: disable-error-code="union-attr"
# To the type checker `.grad` may be None; after a backward pass it never is.

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from lesson_code.devices import choose_device
from lesson_code.models import MNISTClassifier


# --8<-- [start:clipped_step]
def clipped_step(
    loss: torch.Tensor,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    scaler: torch.amp.GradScaler,
) -> None:
    """The end of a training step whose gradients are clipped to a length of 1."""
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)  # the true size first, then the limit
    nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    scaler.step(optimizer)  # does not divide a second time
    scaler.update()


# --8<-- [end:clipped_step]


def formats_in_one_step(device: torch.device, use_amp: bool) -> dict[str, torch.dtype]:
    """Train on one batch and note the format of everything that takes part."""
    model = MNISTClassifier().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    images = torch.rand(64, 1, 28, 28, device=device)
    labels = torch.randint(10, (64,), device=device)
    seen: dict[str, torch.dtype] = {}

    def watch(_layer: nn.Module, _inputs: object, output: torch.Tensor) -> None:
        seen["output of a linear layer"] = output.dtype
        output.register_hook(note_gradient)

    def note_gradient(gradient: torch.Tensor) -> None:
        seen["gradient between two layers"] = gradient.dtype

    model.fc2.register_forward_hook(watch)
    with torch.amp.autocast(device.type, dtype=torch.float16, enabled=use_amp):
        loss = cross_entropy(model(images), labels)
    seen["loss"] = loss.dtype
    loss.backward()
    optimizer.step()
    weight = model.fc2.weight
    seen["gradient of the weights"] = weight.grad.dtype
    seen["Adam's averages"] = optimizer.state[weight]["exp_avg"].dtype
    seen["weights"] = weight.dtype
    return seen


def print_who_computes_in_what() -> dict[str, dict[str, str]]:
    """Print the formats in one plain step and in one step under autocast.

    Returns:
        ``"plain"`` and ``"mixed"``: for each thing that takes part, the name of its format.
    """
    device = choose_device()
    plain = {what: _name(f) for what, f in formats_in_one_step(device, use_amp=False).items()}
    mixed = {what: _name(f) for what, f in formats_in_one_step(device, use_amp=True).items()}
    print(f"{'':30}{'plain step':>14}{'under autocast':>18}")
    for what, plain_format in plain.items():
        print(f"{what:30}{plain_format:>14}{mixed[what]:>18}")
    return {"plain": plain, "mixed": mixed}


def print_default_dtypes() -> dict[str, str]:
    """Print what autocast chooses when no format is named, and that it takes one that is.

    Returns:
        The default format for each device type.
    """
    defaults = {kind: _name(torch.get_autocast_dtype(kind)) for kind in ("cuda", "cpu")}
    with torch.amp.autocast("cpu", dtype=torch.float16):
        output = nn.Linear(2, 2)(torch.rand(1, 2))
    lines = {f'autocast("{kind}")': name for kind, name in defaults.items()}
    lines['autocast("cpu", dtype=torch.float16)'] = _name(output.dtype)
    for call, name in lines.items():
        print(f"{call:40}{name:>10}")
    return defaults


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
