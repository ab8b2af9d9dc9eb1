"""What twenty kept losses hold: with and without a backward pass, and with ``retain_graph``."""

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from lesson_code.saved_tensors import SavedBytes

BATCHES = 20


# --8<-- [start:bytes_kept]
def bytes_kept(
    backward: bool = False,
    retain_graph: bool = False,
    add_up: bool = False,
    detach: bool = False,
    gradients: bool = True,
) -> int:
    """Bytes of saved tensors that are alive after 20 batches, with the losses kept."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10))
    losses: list[torch.Tensor] = []
    meter = SavedBytes(model)
    with meter, torch.set_grad_enabled(gradients):
        for _ in range(BATCHES):
            x, y = torch.randn(32, 64), torch.randint(10, (32,))
            loss = cross_entropy(model(x), y)
            if backward:
                loss.backward(retain_graph=retain_graph)
            losses.append(loss.detach() if detach else loss)
        if add_up:  # one number; its graph reaches back to the first batch
            losses = [torch.stack(losses).sum()]
    del loss  # what is alive now is held by the list alone
    return meter.total()


# --8<-- [end:bytes_kept]

WAYS = {
    "training": {
        "append(loss)": {"backward": True},
        "append(loss), retain_graph": {"backward": True, "retain_graph": True},
    },
    "validation, gradients on": {
        "append(loss)": {},
        "total += loss": {"add_up": True},
        "append(loss.detach())": {"detach": True},
    },
    "validation under no_grad": {"append(loss)": {"gradients": False}},
}


def print_bytes_kept() -> dict[str, dict[str, int]]:
    """Print what each way of keeping the losses holds.

    Returns:
        For each situation and way the bytes.
    """
    found = {
        situation: {way: bytes_kept(**settings) for way, settings in ways.items()}
        for situation, ways in WAYS.items()
    }
    print(f"{'after 20 batches of 32':28}{'bytes':>9}")
    for situation, ways in found.items():
        print(situation)
        for way, size in ways.items():
            print(f"  {way:26}{size:>9,}")
    return found
