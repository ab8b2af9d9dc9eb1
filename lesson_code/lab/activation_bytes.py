"""Bytes that layers keep for backward, and the types of what training keeps besides.

Shapes: B is the batch size, L the length of a sequence, H the width, a the attention heads.
"""

from contextlib import nullcontext
from unittest.mock import patch

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn import functional as F
from torch.nn.functional import cross_entropy

from lesson_code.lab.autocast_table import autocast_anyway
from lesson_code.lab.models import TinyCNN
from lesson_code.lab.state_bytes import Precision, state_bytes
from lesson_code.models import MNISTClassifier
from lesson_code.saved_tensors import SavedBytes

WIDTH, HEADS = 256, 4
LENGTHS = (128, 512, 1024)


def measured_state(precision: Precision) -> dict[str, int]:
    """Train one linear layer for a step, and add up what it leaves, in bytes."""
    layer = nn.Linear(64, 64, bias=False)
    batch = torch.randn(8, 64)
    if precision == "all 16 bit":
        layer, batch = layer.half(), batch.half()
    optimizer = torch.optim.Adam(layer.parameters())
    with torch.autocast("cpu", torch.bfloat16, enabled=precision == "autocast"):
        loss = layer(batch).sum()
    loss.backward()
    optimizer.step()

    weight, gradient, state = layer.weight, layer.weight.grad, optimizer.state[layer.weight]
    assert gradient is not None
    return {
        "weights": weight.nbytes,
        "gradients": gradient.nbytes,
        "optimizer": state["exp_avg"].nbytes + state["exp_avg_sq"].nbytes,
    }


def print_state() -> dict[str, dict[str, float]]:
    """Print the bytes per parameter of each part, measured, beside what the formulas say."""
    print("bytes per parameter, Adam")
    print(f"{'':14}{'weights':>10}{'gradients':>12}{'m and v':>10}{'formula':>10}")
    found: dict[str, dict[str, float]] = {}
    precisions: tuple[Precision, ...] = ("float32", "autocast", "all 16 bit")
    for precision in precisions:
        parts = {name: size / 64**2 for name, size in measured_state(precision).items()}
        formula = state_bytes(1, precision, "Adam")
        total = formula.weights + formula.gradients + formula.optimizer
        cells = f"{parts['weights']:>10.0f}{parts['gradients']:>12.0f}{parts['optimizer']:>10.0f}"
        print(f"{precision:14}{cells}{total:>10}")
        found[precision] = parts
    return found


# --8<-- [start:group]
def print_convolution_group() -> None:
    """Count what a convolution, a batch norm and a ReLU keep for backward."""
    group = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU())
    images = torch.randn(8, 3, 28, 28)
    meter = SavedBytes(group, images)
    with meter:
        maps = group(images)  # (B, C, H, W)
    statistics = 2 * 16 * 4  # mean and deviation of each channel
    print("values in one map, B · C · H · W:", maps.numel())
    print("bytes saved, without statistics: ", meter.total() - statistics)
    print("bytes per value:                 ", (meter.total() - statistics) / maps.numel())


# --8<-- [end:group]


# --8<-- [start:block]
class Block(nn.Module):
    """A transformer block that normalises first, without dropout."""

    def __init__(self, width: int, heads: int, fused: bool) -> None:
        super().__init__()
        self.heads, self.fused = heads, fused
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.widen, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(B, L, H) -> (B, L, H)."""
        x = x + self.out(self.attention(self.qkv(self.norm1(x))))
        return x + self.narrow(F.gelu(self.widen(self.norm2(x))))

    def attention(self, qkv: torch.Tensor) -> torch.Tensor:
        """(B, L, 3 H) -> (B, L, H); by hand it keeps L · L numbers for each head."""
        q, k, v = qkv.unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        if self.fused:
            mixed = F.scaled_dot_product_attention(q, k, v)
        else:
            scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5  # (B, a, L, L)
            mixed = scores.softmax(dim=-1) @ v
        return mixed.transpose(1, 2).flatten(2)


# --8<-- [end:block]


def gpu_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """The fused kernel that a GPU takes; without one, PyTorch would write attention out."""
    if q.dtype == torch.float32:
        efficient = torch.ops.aten._scaled_dot_product_efficient_attention
        mixed: torch.Tensor = efficient(q, k, v, None, compute_log_sumexp=True)[0]
    else:
        mixed = torch.ops.aten._scaled_dot_product_flash_attention(q, k, v)[0]
    return mixed


def block_bytes(length: int, fused: bool, autocast: bool) -> float:
    """Bytes that one more sequence makes a block keep for backward, per L · H.

    Fake tensors on a GPU that need not be there: autocast has another list of types on a CPU. The
    16-bit copies of the weights do not grow with the batch, so that they drop out.
    """

    def saved(sequences: int) -> int:
        x = torch.randn(sequences, length, WIDTH, requires_grad=True)
        meter = SavedBytes(block)
        with meter, autocast_anyway("cuda", torch.bfloat16) if autocast else nullcontext():
            out = block(x)
        total = meter.total()
        del out  # until here it kept them alive
        return total

    on_a_gpu = patch.object(F, "scaled_dot_product_attention", gpu_attention)
    with FakeTensorMode(), torch.device("cuda"), on_a_gpu:
        block = Block(WIDTH, HEADS, fused)
        return (saved(2) - saved(1)) / (length * WIDTH)


def published_block_bytes(length: int) -> float:
    """Korthikanti et al. (2022): 16 bit, dropout, attention by hand; per B · L · H."""
    return 34 + 5 * HEADS * length / WIDTH


def print_block() -> dict[str, dict[str, float]]:
    """Print what a transformer block keeps on a GPU at three lengths.

    Returns:
        Of each way the bytes per B · L · H at each length.
    """
    ways = {
        "float32, fused": (True, False),
        "float32, by hand": (False, False),
        "autocast, fused": (True, True),
        "autocast, by hand": (False, True),
    }
    found = {}
    print("bytes saved on a GPU for each of the B · L · H values; H = 256, a = 4")
    print(f"{'':20}" + "".join(f"{f'L = {length}':>10}" for length in LENGTHS))
    for name, (fused, autocast) in ways.items():
        row = {str(length): block_bytes(length, fused, autocast) for length in LENGTHS}
        print(f"{name:20}" + "".join(f"{size:>10.1f}" for size in row.values()))
        found[name] = row
    row = {str(length): published_block_bytes(length) for length in LENGTHS}
    print(f"{'published formula':20}" + "".join(f"{size:>10.1f}" for size in row.values()))
    return found


def small_model_bytes(model: nn.Module, batch_size: int, autocast: bool) -> int:
    """Bytes that a forward pass on digits, with its loss, keeps for backward."""
    images, labels = torch.randn(batch_size, 1, 28, 28), torch.randint(10, (batch_size,))
    meter = SavedBytes(model)
    with meter, torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        loss = cross_entropy(model(images), labels)
    saved = meter.total()
    del loss  # until here it kept them alive
    return saved


def print_small_models() -> dict[str, dict[str, list[int]]]:
    """Print for two small models what autocast saves at three batch sizes.

    Returns:
        Of each model and batch size the bytes in float32 and under autocast.
    """
    models = {"784-256-128-10": MNISTClassifier(), "two convolutions": TinyCNN()}
    print(f"{'bytes saved':20}{'batch':>7}{'float32':>14}{'autocast':>14}{'ratio':>8}")
    found: dict[str, dict[str, list[int]]] = {}
    for name, model in models.items():
        found[name] = {}
        for size in (32, 64, 128):
            saved = [small_model_bytes(model, size, autocast) for autocast in (False, True)]
            cells = "".join(f"{n:>14,}" for n in saved)
            print(f"{name:20}{size:>7}{cells}{saved[0] / saved[1]:>8.2f}")
            found[name][str(size)] = saved
    return found
