"""The memory of training ResNet-50: what backward needs, and what a step holds at its peak.

Fake tensors have shapes and types but no contents, so that a batch of 64 needs neither memory nor
time here. MB are 10**6 bytes. Under autocast, the fake batch norm keeps its statistics in 16 bits
and the real one in 32; that is 0.1 MB of this model.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Literal, cast

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn.functional import cross_entropy
from torch.utils.checkpoint import checkpoint
from torch.utils.flop_counter import FlopCounterMode
from torchvision.models import resnet50

from lesson_code.lab.peak_memory import PeakMemory, peak_memory
from lesson_code.lab.state_bytes import Optimizer
from lesson_code.models import parameter_count
from lesson_code.saved_tensors import SavedBytes

PIXELS, CLASSES = 224, 1000
BATCH_SIZES = (8, 32, 64)
WORKED_BATCH = 32
MEGABYTE = 10**6
PRECISIONS = {"float32": False, "autocast": True}

MakeOptimizer = Callable[[list[nn.Parameter]], torch.optim.Optimizer]
OPTIMIZERS: dict[Optimizer, MakeOptimizer] = {
    "SGD": partial(torch.optim.SGD, lr=0.01, foreach=True),
    "SGD with momentum": partial(torch.optim.SGD, lr=0.01, momentum=0.9, foreach=True),
    "Adam": partial(torch.optim.Adam, foreach=True),
}


@dataclass(frozen=True)
class StepMemory:
    """Bytes of a training step.

    Attributes:
        saved: Kept for backward when forward has just ended, without weights and images.
        peak: What stands when the total is highest.
    """

    saved: int
    peak: PeakMemory


# --8<-- [start:step]
def step_memory(
    batch_size: int,
    autocast: bool = False,
    optimizer: Optimizer = "SGD",
    make_model: Callable[[], nn.Module] = resnet50,
) -> StepMemory:
    """Bytes of one training step, after steps that have filled the optimizer's state."""
    with FakeTensorMode():  # shapes and types without contents: nothing is computed
        model = make_model()
        images, labels = batch_of(batch_size)
        updates = OPTIMIZERS[optimizer](list(model.parameters()))
        fill_state(updates, model)
        meter = SavedBytes(model, images)
        saved = []

        def step() -> None:
            with meter, torch.autocast("cpu", torch.bfloat16, enabled=autocast):
                loss = cross_entropy(model(images), labels)
            saved.append(meter.total())
            loss.backward()
            updates.step()
            updates.zero_grad()

        peak = peak_memory(step, model, updates, images, labels)
    return StepMemory(saved[0], peak)


# --8<-- [end:step]


def batch_of(batch_size: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Made-up images, (B, 3, 224, 224), and labels, (B,), on the current device."""
    return torch.randn(batch_size, 3, PIXELS, PIXELS), torch.randint(CLASSES, (batch_size,))


def fill_state(optimizer: torch.optim.Optimizer, model: nn.Module) -> None:
    """Take a step with zeros as gradients: from now on the optimizer has its state."""
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    optimizer.zero_grad()


def saved_bytes(batch_size: int, autocast: bool) -> int:
    """What a forward pass of ResNet-50 keeps for backward, the images among it."""
    with FakeTensorMode():
        model = resnet50()
        images, labels = batch_of(batch_size)
        meter = SavedBytes(model)
        with meter, torch.autocast("cpu", torch.bfloat16, enabled=autocast):
            loss = cross_entropy(model(images), labels)
        total = meter.total()
        del loss  # until here it kept them alive
    return total


def print_saved_by_batch() -> dict[str, dict[str, int]]:
    """Print what is saved for backward at four batch sizes.

    Returns:
        Of each precision the bytes at each batch size, and ``per_image``: what one more image adds.
    """
    sizes = (1, *BATCH_SIZES)
    print("ResNet-50, 224 x 224: MB saved for backward, the images among them")
    print(f"{'batch':12}" + "".join(f"{size:>10}" for size in sizes) + f"{'one more':>12}")
    found: dict[str, dict[str, int]] = {}
    for precision, autocast in PRECISIONS.items():
        saved = [saved_bytes(size, autocast) for size in sizes]
        one_more = (saved[-1] - saved[0]) // (sizes[-1] - sizes[0])
        print(f"{precision:12}" + "".join(f"{_mb(n):>10}" for n in saved) + f"{_mb(one_more):>12}")
        found[precision] = dict(zip(map(str, sizes), saved, strict=True)) | {"per_image": one_more}
    return found


@dataclass(frozen=True)
class SavedKinds:
    """What ResNet-50 keeps for backward.

    Attributes:
        maps: How many feature maps each kind of layer hands on.
        bytes: Bytes of each kind of saved tensor; they add up to what the meter counts.
    """

    maps: Counter[str]
    bytes: dict[str, int]


def saved_by_kind(batch_size: int, autocast: bool) -> SavedKinds:
    """Tell apart what is saved: the output of each layer that is kept, by the kind of layer."""
    layers = {
        nn.Conv2d: "convolution outputs",
        nn.ReLU: "ReLU outputs",
        nn.MaxPool2d: "max-pool output",
    }
    maps: Counter[str] = Counter()
    size: Counter[str] = Counter()

    def count(layer: nn.Module, _: object, output: torch.Tensor) -> None:
        kind = layers[type(layer)]
        maps[kind] += 1
        size[kind] += output.untyped_storage().nbytes()

    with FakeTensorMode():
        model = resnet50()
        for module in model.modules():
            if type(module) in layers:
                module.register_forward_hook(count)
        images, labels = batch_of(batch_size)
        meter = SavedBytes(model, labels)
        with meter, torch.autocast("cpu", torch.bfloat16, enabled=autocast):
            loss = cross_entropy(model(images), labels)
        by_dtype = meter.by_dtype()
        del loss  # until here it kept them alive
        size["max-pool indices, int64"] = by_dtype[torch.int64]
        size["images"] = images.numel() * (2 if autocast else 4)
        size["weight copies, 16 bit"] = 2 * _cast_weights(model) if autocast else 0
    size["all else"] = by_dtype.total() - size.total()
    return SavedKinds(maps, dict(size))


def _cast_weights(model: nn.Module) -> int:
    """Weights that autocast copies: those of convolutions and linear layers."""
    layers = [m for m in model.modules() if isinstance(m, nn.Conv2d | nn.Linear)]
    return sum(cast(nn.Parameter, layer.weight).numel() for layer in layers)


def print_saved_by_kind() -> dict[str, dict[str, int]]:
    """Print what the saved tensors are, at batch 32.

    Returns:
        Of each precision the bytes of each kind.
    """
    found = {name: saved_by_kind(WORKED_BATCH, autocast) for name, autocast in PRECISIONS.items()}
    print("ResNet-50, batch 32: MB saved for backward")
    print(f"{'':26}{'maps':>6}{'float32':>12}{'autocast':>12}")
    for kind in found["float32"].bytes:
        maps = found["float32"].maps[kind] or ""
        print(f"{kind:26}{maps:>6}" + "".join(f"{_mb(f.bytes[kind]):>12}" for f in found.values()))
    totals = [sum(f.bytes.values()) for f in found.values()]
    print(
        f"{'together':26}{found['float32'].maps.total():>6}"
        + "".join(map("{:>12}".format, map(_mb, totals)))
    )
    return {name: f.bytes for name, f in found.items()}


def print_float32_steps() -> dict[str, object]:
    """Print what a step with Adam holds at its peak, in float32."""
    return _print_steps("float32")


def print_autocast_steps() -> dict[str, object]:
    """Print the same under bfloat16 autocast."""
    return _print_steps("autocast")


def _print_steps(precision: str) -> dict[str, object]:
    """Print a column for each batch size.

    Returns:
        ``parameters``: how many there are; and of each batch size ``saved`` and ``peak``, in bytes.
    """
    steps = {size: step_memory(size, PRECISIONS[precision], "Adam") for size in BATCH_SIZES}
    rows = {
        "parameters": [s.peak.parameters for s in steps.values()],
        "batch-norm buffers": [s.peak.buffers for s in steps.values()],
        "gradients so far": [s.peak.gradients for s in steps.values()],
        "Adam's state": [s.peak.optimizer for s in steps.values()],
        "images and labels": [s.peak.inputs for s in steps.values()],
        "activations": [s.peak.activations for s in steps.values()],
        "temporary": [s.peak.temporary for s in steps.values()],
        "all at the peak": [s.peak.total for s in steps.values()],
    }
    print(f"ResNet-50, {precision}, Adam: MB at the fullest moment of a step")
    print(f"{'batch':20}" + "".join(f"{size:>10}" for size in steps))
    for name, sizes in rows.items():
        print(f"{name:20}" + "".join(f"{_mb(size):>10}" for size in sizes))
    with torch.device("meta"):
        parameters = parameter_count(resnet50())
    found = {str(size): {"saved": s.saved, "peak": asdict(s.peak)} for size, s in steps.items()}
    return {"parameters": parameters, **found}


class Checkpointed(nn.Module):
    """Layers of which only the input is kept; backward runs them again."""

    def __init__(self, layers: nn.Module) -> None:
        super().__init__()
        self.layers = layers

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The same output as the layers give."""
        return checkpoint(self.layers, x, use_reentrant=False)


def checkpointed_resnet50(each: Literal["block", "stage"]) -> nn.Module:
    """ResNet-50 with a checkpoint around each of its 16 blocks, or of its four stages."""
    model = resnet50()
    for name in ("layer1", "layer2", "layer3", "layer4"):
        stage: nn.Sequential = getattr(model, name)
        blocks = nn.Sequential(*map(Checkpointed, stage))
        setattr(model, name, blocks if each == "block" else Checkpointed(stage))
    return model


def step_flop(make_model: Callable[[], nn.Module]) -> int:
    """Floating-point operations of forward and backward for one image; two for a multiply-add."""
    with torch.device("meta"), FlopCounterMode(display=False) as counter:
        images, labels = batch_of(1)
        cross_entropy(make_model()(images), labels).backward()
    return counter.get_total_flops()


def print_checkpointing() -> dict[str, dict[str, int]]:
    """Print memory and work with and without checkpoints, at batch 32 with plain SGD.

    Returns:
        Of each way ``saved`` and ``peak`` in bytes, and ``flop`` for an image.
    """
    ways: dict[str, Callable[[], nn.Module]] = {
        "none": resnet50,
        "each block": partial(checkpointed_resnet50, "block"),
        "each stage": partial(checkpointed_resnet50, "stage"),
    }
    print("ResNet-50, batch 32, float32, SGD")
    print(f"{'checkpoint':14}{'saved, MB':>12}{'peak, MB':>12}{'GFLOP per image':>18}")
    found = {}
    for name, make_model in ways.items():
        step = step_memory(WORKED_BATCH, make_model=make_model)
        flop = step_flop(make_model)
        print(f"{name:14}{_mb(step.saved):>12}{_mb(step.peak.total):>12}{flop / 1e9:>18.2f}")
        found[name.replace(" ", "_")] = {"saved": step.saved, "peak": step.peak.total, "flop": flop}
    return found


def _mb(size: int) -> str:
    return f"{size / MEGABYTE:,.1f}"
