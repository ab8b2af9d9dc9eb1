"""What a trained network's file, its frozen part and its new head can do to you.

Shapes: images are (B, 1, 28, 28), float32; B is the batch size. Losses are in nats per image.
"""

import torch
from torch import nn
from torch.nn import functional

from lesson_code.foundations.fine_tuning import RATE, DigitReader, few
from lesson_code.foundations.generalising import BATCH_SIZE, train_epoch
from lesson_code.saved_tensors import SavedBytes


def print_loading() -> None:
    """What ``strict=False`` says of four files, for a network with a head of three classes."""
    whole = DigitReader(classes=3).state_dict()
    files = {
        "of three classes": whole,
        "without its head": {name: of for name, of in whole.items() if "head" not in name},
        'with "module." in names': {f"module.{name}": of for name, of in whole.items()},
        "of five classes": DigitReader(classes=5).state_dict(),
    }
    print(f"{'the file is':26}{'missing':>9}{'unexpected':>12}{'error':>16}")
    for name, file in files.items():
        try:
            keys = DigitReader(classes=3).load_state_dict(file, strict=False)
        except RuntimeError:  # every name fits
            missing, unexpected, error = 0, 0, "size mismatch"
        else:
            missing, unexpected = len(keys.missing_keys), len(keys.unexpected_keys)
            error = "none"
        print(f"{name:26}{missing:>9}{unexpected:>12}{error:>16}")


def print_step() -> dict[str, dict[str, int]]:
    """What one step keeps when everything, the head or the first convolution trains."""
    found = {}
    images, labels = torch.rand(BATCH_SIZE, 1, 28, 28), torch.zeros(BATCH_SIZE, dtype=torch.long)
    print(f"{'what trains':20}{'gradients':>11}{'Adam, KiB':>11}{'kept for backward, KiB':>24}")
    for name in ("everything", "head", "first layer"):
        model = DigitReader(classes=5).requires_grad_(False)
        trains = {"everything": model, "head": model.head}.get(name, model.features[0])
        trains.requires_grad_(True)
        model.train()
        optimizer = torch.optim.Adam(trains.parameters())
        with SavedBytes(model, images, labels) as meter:
            loss = functional.cross_entropy(model(images), labels)
        kept = meter.total()
        loss.backward()
        optimizer.step()
        gradients = sum(p.grad is not None for p in model.parameters())
        adam = sum(t.nbytes for of in optimizer.state.values() for t in of.values())
        print(f"{name:20}{gradients:>11}{adam / 1024:>11.1f}{kept / 1024:>24,.0f}")
        found[name.split()[0]] = {"gradients": gradients, "adam": adam, "kept": kept}
    return found


def print_late_head() -> None:
    """How far a new head moves in 20 updates, by when the optimizer was made."""
    data = few(size=4, seed=0)
    print(f"{'the optimizer was made':24}{'first loss':>12}{'last loss':>12}{'head moved':>12}")
    for when in ("before the new head", "after it"):
        torch.manual_seed(0)
        model = DigitReader(classes=5)
        optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
        model.head = nn.Linear(288, 5)
        if when == "after it":
            optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
        first = model.head.weight.detach().clone()
        losses = [train_epoch(model, optimizer, *data) for _ in range(20)]
        moved = (model.head.weight - first).abs().max().item()
        print(f"{when:24}{losses[0]:>12.2f}{losses[-1]:>12.2f}{moved:>12.3f}")
