"""Exercise 1: choose a device, place tensors and a model on it, and prove where they are.

What the report says on a machine without a GPU:

    CUDA available: False
    Device: cpu
    GPU name: none (running on the CPU)
    Model on cpu: ✓
    All parameters on cpu: ✓

Shapes: B is the batch size.
"""

from collections.abc import Sequence

import torch
from torch import nn

from lesson_code.lab.todos import report_open_todos


class SmallModel(nn.Module):
    """Two linear layers with a batch norm between, which brings buffers along.

    Maps (B, 20) to (B, 3), float32.
    """

    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(20, 16)
        self.norm = nn.BatchNorm1d(16)
        self.head = nn.Linear(16, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.norm(self.hidden(x)).relu())


# --8<-- [start:pick_device]
def pick_device(prefer: str | None = None) -> torch.device:
    """The device to compute on: the preferred one, else CUDA where a GPU is found, else the CPU."""
    # BLANK 1.1: choose a device
    #: A preference wins. Without one, ask PyTorch whether it finds a GPU now.
    #: Look up: torch.device, torch.cuda.is_available.
    if prefer is not None:
        return torch.device(prefer)
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    # END


# --8<-- [end:pick_device]


# --8<-- [start:make_on_device]
def make_on_device(shape: Sequence[int], device: torch.device) -> torch.Tensor:
    """A tensor of random numbers that is made on the device, not copied there."""
    # BLANK 1.2: create a tensor on the device
    #: Make the random numbers where they are needed: a copy from the CPU costs time and memory.
    #: Look up: the arguments of torch.rand.
    return torch.rand(tuple(shape), device=device)
    # END


# --8<-- [end:make_on_device]


# --8<-- [start:move]
def move_tensor(t: torch.Tensor, device: torch.device) -> torch.Tensor:
    """The tensor on the device; the one that was given stays where it is."""
    # BLANK 1.3: move a tensor
    #: The tensor that you get stays where it is; hand back the one that moved.
    #: Look up: torch.Tensor.to.
    return t.to(device)
    # END


def move_model(model: nn.Module, device: torch.device) -> nn.Module:
    """The same model, with its parameters and buffers on the device."""
    # BLANK 1.4: move a model
    #: Modules move differently from tensors: does the call change the model, or make another?
    #: Look up: torch.nn.Module.to.
    return model.to(device)
    # END


# --8<-- [end:move]


# --8<-- [start:misplaced]
def misplaced(model: nn.Module, device: torch.device | str) -> list[str]:
    """The names of all parameters and buffers that are not on the device.

    A device without a number, such as "cuda", accepts every number of its type.
    """
    # BLANK 1.5: find what is in the wrong place
    #: A model has more tensors than its parameters. And a tensor sent to "cuda" answers "cuda:0".
    #: Look up: named_parameters, named_buffers, torch.device.type and .index.
    wanted = torch.device(device)
    tensors = [*model.named_parameters(), *model.named_buffers()]
    return [name for name, tensor in tensors if not _is_on(tensor.device, wanted)]
    # END


# OURS
def _is_on(found: torch.device, wanted: torch.device) -> bool:
    if found.type != wanted.type:
        return False
    return found.index is None or wanted.index is None or found.index == wanted.index


# END


# --8<-- [end:misplaced]


# --8<-- [start:forward_safely]
def forward_safely(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """The model's output for ``x``; if they are on two devices, ``x`` follows the model, once.

    Every other error of the model comes out as it is.
    """
    # BLANK 1.6: survive a device mismatch
    #: Messages differ between operations, devices and releases, so do not read them.
    #: What tells a mismatch from every other RuntimeError? Try again at most once.
    try:
        return model(x)
    except RuntimeError:
        tensors = [*model.parameters(), *model.buffers()]
        home = tensors[0].device if tensors else x.device
        if x.device == home:
            raise  # whatever it is, it is no mismatch
    return model(x.to(home))
    # END


# --8<-- [end:forward_safely]


def print_report() -> dict[str, str]:
    """Print where everything is, and return the same lines by their labels."""
    device = pick_device()
    model = move_model(SmallModel(), device)
    x = move_tensor(make_on_device((4, 20), torch.device("cpu")), device)
    on_gpu = device.type == "cuda"
    strays = misplaced(model, device)
    output = forward_safely(model, x)
    report = {
        "CUDA available": str(torch.cuda.is_available()),
        "Device": str(x.device),
        "GPU name": torch.cuda.get_device_name(x.device) if on_gpu else "none (running on the CPU)",
        f"Model on {'GPU' if on_gpu else 'cpu'}": "✓" if output.device == x.device else "✗",
        f"All parameters on {device.type}": f"✗ {', '.join(strays)}" if strays else "✓",
    }
    for label, value in report.items():
        print(f"{label}: {value}")
    return report


def main() -> None:
    """Print the report, or what is left to do."""
    if not report_open_todos(__file__):
        print_report()


if __name__ == "__main__":
    main()
