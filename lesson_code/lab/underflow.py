"""A deep and narrow network whose first layer gets gradients that are too small for float16."""

import torch
from torch import nn
from torch.nn.functional import cross_entropy

ARMS = {
    "unscaled": (torch.float16, 1.0),
    "scaled_a_little": (torch.float16, 2.0**8),
    "scaled": (torch.float16, 2.0**16),
    "bfloat16": (torch.bfloat16, 1.0),
}


# --8<-- [start:net]
class UnderflowNet(nn.Module):
    """Linear layers with ReLU between them: (B, 784) to (B, 10)."""

    def __init__(self, depth: int = 12, width: int = 128) -> None:
        """Make ``depth`` linear layers, all but the last one ``width`` wide."""
        super().__init__()
        self.first = nn.Sequential(nn.Linear(784, width), nn.ReLU())
        middle = ((nn.Linear(width, width), nn.ReLU()) for _ in range(depth - 2))
        self.rest = nn.Sequential(*(part for pair in middle for part in pair))
        self.rest.append(nn.Linear(width, 10))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Give the logits."""
        logits: torch.Tensor = self.rest(self.first(x))
        return logits


# --8<-- [end:net]


# --8<-- [start:gradients]
def gradients(
    net: UnderflowNet,
    images: torch.Tensor,
    labels: torch.Tensor,
    dtype: torch.dtype,
    scale: float,
) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """The gradients at layer 1's output and at all parameters, unscaled."""
    with torch.autocast("cpu", dtype, enabled=dtype != torch.float32):
        hidden = net.first(images)
        loss = cross_entropy(net.rest(hidden), labels)
    found = torch.autograd.grad(loss * scale, [hidden, *net.parameters()])
    at_hidden, *at_parameters = (gradient.float() / scale for gradient in found)
    return at_hidden, at_parameters


def lost_share(exact: torch.Tensor, found: torch.Tensor) -> float:
    """Of the entries that are not zero in ``exact``, the share that is."""
    return (found[exact != 0] == 0).float().mean().item()


# --8<-- [end:gradients]


def losses_of(depth: int, width: int, batch: int) -> dict[str, dict[str, float]]:
    """Compare the gradients of each arm with those in float32, on random images and labels.

    Returns:
        For each arm the share ``lost`` at layer 1's output, and two errors, that of the gradient of
        layer 1's weight, ``first_error``, and that of the whole net, ``error``: the length of the
        difference as a share of the length of the float32 gradient.
    """
    torch.manual_seed(0)
    net = UnderflowNet(depth, width)
    data = torch.randn(batch, 784), torch.randint(10, (batch,))
    exact, exact_net = gradients(net, *data, torch.float32, 1.0)
    found = {}
    for name, (dtype, scale) in ARMS.items():
        hidden, whole_net = gradients(net, *data, dtype, scale)
        found[name] = {
            "lost": lost_share(exact, hidden),
            "first_error": _error(exact_net[:1], whole_net[:1]),
            "error": _error(exact_net, whole_net),
        }
    return found


def _error(exact: list[torch.Tensor], found: list[torch.Tensor]) -> float:
    right, seen = (torch.cat([part.flatten() for part in parts]) for parts in (exact, found))
    return float((seen - right).norm() / right.norm())


def print_underflow() -> dict[str, dict[str, dict[str, float]]]:
    """Print what a deep network loses at a large batch, and a shallow one at a small batch.

    Returns:
        ``"deep"`` and ``"shallow"``, each as ``losses_of`` gives it.
    """
    deep = losses_of(depth=12, width=128, batch=1024)
    shallow = losses_of(depth=6, width=256, batch=32)
    print(f"{'':20}{'lost at':>10}{'error of gradients':>22}")
    print(f"{'type, scale':20}{'layer 1':>10}{'layer 1':>11}{'whole net':>11}")
    for title, found in (
        ("12 layers of 128, batches of 1,024", deep),
        ("6 layers of 256, batches of 32", shallow),
    ):
        print(title)
        for name, arm in found.items():
            errors = f"{arm['first_error']:>11.1%}{arm['error']:>11.1%}"
            print(f"  {_label(*ARMS[name]):18}{arm['lost']:>10.1%}{errors}")
    return {"deep": deep, "shallow": shallow}


def _label(dtype: torch.dtype, scale: float) -> str:
    return f"{str(dtype).removeprefix('torch.')}, {scale:,.0f}"
