"""Tensors: shape, dtype and device, and what is refused where they do not fit.

A machine without a GPU has a second device as well: ``meta``, on which tensors have a shape and a
dtype but no values. It stands in for the GPU here, in operations that refuse to mix devices; not
all of them do.
"""

import re
import textwrap
from collections.abc import Callable, Mapping

import numpy as np
import torch
from torch import nn
from torch.nn import functional

Attempts = Mapping[str, Callable[[], torch.Tensor]]

# What PyTorch 2.11 and 2.15 word differently.
REWORDED = re.compile(r" (?:target dtype|scalar type) .*")


def first_surprise() -> None:
    """Feed a batch of images to a layer that wants rows of 784 numbers.

    Raises:
        RuntimeError: Always, and with a number that stands nowhere in this code.
    """
    # --8<-- [start:first_surprise]
    images = torch.rand(64, 1, 28, 28)
    layer = nn.Linear(784, 128)
    layer(images)
    # --8<-- [end:first_surprise]


def print_first_surprise() -> None:
    """Print what the linear layer says about a batch of images."""
    try:
        first_surprise()
    except RuntimeError as error:
        print(f"layer(images)\n    {_message(error)}")


# --8<-- [start:metadata]
def print_metadata() -> None:
    """Print what there is to know about a batch before anything is computed with it."""
    images = torch.rand(64, 1, 28, 28)
    labels = torch.randint(0, 10, (64,))
    for name, tensor in (("images", images), ("labels", labels)):
        shape = tuple(tensor.shape)
        print(name, shape, tensor.dtype, tensor.device, f"{tensor.requires_grad=}")
    rows = images.flatten(start_dim=1)
    print("rows", tuple(rows.shape))


# --8<-- [end:metadata]


# --8<-- [start:flattenings]
def flattenings() -> Attempts:
    """Ways to make rows of images, some of which do not; named by their code."""
    layer = nn.Linear(784, 10)
    image = torch.rand(1, 28, 28)
    images = torch.rand(64, 1, 28, 28)
    permuted = torch.rand(64, 28, 28, 3).permute(0, 3, 1, 2)
    return {
        "layer(image.flatten())": lambda: layer(image.flatten()),
        "layer(images.flatten())": lambda: layer(images.flatten()),
        "layer(images.flatten(start_dim=1))": lambda: layer(images.flatten(start_dim=1)),
        "permuted.view(64, -1)": lambda: permuted.view(64, -1),
        "permuted.flatten(start_dim=1)": lambda: permuted.flatten(start_dim=1),
    }


# --8<-- [end:flattenings]


def print_flattenings() -> None:
    """Print what becomes of each way to flatten."""
    _print_results(flattenings())


# --8<-- [start:sharing]
def print_sharing() -> None:
    """Print who sees a change: the array, the tensor made from it, and the copy."""
    array = np.array([1, 2, 3], dtype=np.float32)
    shared = torch.from_numpy(array)
    array[0] = 99
    print(f"array[0] = 99    from_numpy {shared.tolist()}")

    copy = torch.tensor(array)
    array[1] = -5
    print(f"array[1] = -5    from_numpy {shared.tolist()}  tensor {copy.tolist()}")

    shared[2] = 7
    print(f"shared[2] = 7    array      {array.tolist()}")

    also_shared = torch.as_tensor(array)
    array[0] = 1
    print(f"array[0] = 1     as_tensor  {also_shared.tolist()}")


# --8<-- [end:sharing]


def print_formats() -> None:
    """Print the limits of the number formats of TB3."""
    print(f"{'':10}{'bytes':>5}{'smallest normal':>17}{'largest':>13}{'step above 1':>14}")
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        facts = torch.finfo(dtype)
        print(
            f"{str(dtype).removeprefix('torch.'):10}{facts.bits // 8:>5}"
            f"{facts.smallest_normal:>17.2g}{facts.max:>13.5g}{facts.eps:>14.2g}"
        )


def label_attempts() -> Attempts:
    """Losses of the same four examples, their labels written in six ways."""
    # --8<-- [start:label_attempts]
    logits = torch.randn(4, 3, generator=torch.Generator().manual_seed(0))
    labels = torch.tensor([0, 2, 1, 2])  # int64
    one_hot = functional.one_hot(labels, 3)  # int64 too
    return {
        "labels": lambda: functional.cross_entropy(logits, labels),
        "labels.byte()": lambda: functional.cross_entropy(logits, labels.byte()),
        "labels.int()": lambda: functional.cross_entropy(logits, labels.int()),
        "labels.float()": lambda: functional.cross_entropy(logits, labels.float()),
        "one_hot": lambda: functional.cross_entropy(logits, one_hot),
        "one_hot.float()": lambda: functional.cross_entropy(logits, one_hot.float()),
    }
    # --8<-- [end:label_attempts]


def input_attempts() -> Attempts:
    """What a float32 layer makes of numbers that are none of its kind."""
    layer = nn.Linear(784, 10)
    pixels = torch.randint(0, 256, (64, 784), dtype=torch.uint8)
    doubles = torch.from_numpy(np.zeros((64, 784)))
    return {
        "layer(pixels)": lambda: layer(pixels),
        "layer(pixels.float() / 255)": lambda: layer(pixels.float() / 255),
        "layer(torch.from_numpy(array))": lambda: layer(doubles),
        "layer(torch.from_numpy(array).float())": lambda: layer(doubles.float()),
        "labels.requires_grad_()": lambda: torch.tensor([0, 2, 1, 2]).requires_grad_(),
    }


def print_label_attempts() -> None:
    """Print which labels cross-entropy takes, and what it says about the others."""
    _print_results(label_attempts())


def print_input_attempts() -> None:
    """Print which numbers a layer takes, and what it says about the others."""
    _print_results(input_attempts())


# --8<-- [start:on_device]
def print_on_device() -> None:
    """Make two tensors where they are needed, and multiply them there."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    features = torch.randn(32, 128, device=device)
    weights = torch.randn(128, 10, device=device)
    scores = features @ weights
    print(tuple(scores.shape), scores.device)


# --8<-- [end:on_device]


# --8<-- [start:offsets]
class FreshOffset(nn.Module):
    """Makes its tensor in every call, where PyTorch makes tensors by default."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Works while ``x`` is on the CPU."""
        return x + torch.zeros(4)


class MatchingOffset(nn.Module):
    """Makes its tensor in every call, where the input is."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Works on any device, and in the input's dtype."""
        return x + torch.zeros_like(x)


class OffsetInBuffer(nn.Module):
    """Makes its tensor once, and registers it."""

    offset: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("offset", torch.zeros(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Works wherever model and ``x`` are together."""
        return x + self.offset


# --8<-- [end:offsets]


def device_attempts(device: torch.device) -> Attempts:
    """Meetings of tensors on ``device`` with tensors that may have stayed on the CPU."""
    x = torch.rand(3, 4)
    labels = torch.tensor([0, 1, 1])
    there = x.to(device)
    model = nn.Linear(4, 2).to(device)
    return {
        "FreshOffset().to(device)(there)": lambda: FreshOffset().to(device)(there),
        "MatchingOffset().to(device)(there)": lambda: MatchingOffset().to(device)(there),
        "OffsetInBuffer().to(device)(there)": lambda: OffsetInBuffer().to(device)(there),
        "model(x)": lambda: model(x),
        "model(there)": lambda: model(there),
        "cross_entropy(model(there), labels)": lambda: functional.cross_entropy(
            model(there), labels
        ),
        "there * torch.tensor(2.0)": lambda: there * torch.tensor(2.0),
    }


def print_device_attempts() -> None:
    """Print which meetings work, on the GPU if there is one and else on the meta device."""
    device = torch.device("cuda:0" if torch.cuda.is_available() else "meta")
    print(f"device: {device}\n")
    _print_results(device_attempts(device))


# --8<-- [start:unnoticed]
def unnoticed_meetings(device: torch.device) -> Attempts:
    """Meetings with CPU tensors that a GPU refuses and ``meta`` lets pass."""
    images, words, rows = torch.rand(2, 1, 8, 8), torch.tensor([1, 2]), torch.rand(3, 4)
    convolution = nn.Conv2d(1, 4, kernel_size=3, device=device)
    embedding = nn.Embedding(5, 3, device=device)
    weights = torch.rand(4, 2, device=device)
    return {
        "convolution(images)": lambda: convolution(images),
        "embedding(words)": lambda: embedding(words),
        "rows @ weights": lambda: rows @ weights,
    }


# --8<-- [end:unnoticed]


def print_unnoticed() -> None:
    """Print what ``meta`` answers, and from which device, where a GPU would refuse."""
    for code, attempt in unnoticed_meetings(torch.device("meta")).items():
        result = attempt()
        print(f"{code:21}shape {tuple(result.shape)!s:15}on {result.device}")


# --8<-- [start:zeros_like]
def print_zeros_like() -> None:
    """Print what ``zeros_like`` inherits, and what two other ways to make zeros do."""
    x = torch.rand(8, 16, requires_grad=True)
    zeros = torch.zeros_like(x)
    print(tuple(zeros.shape), zeros.dtype, zeros.device, f"{zeros.requires_grad=}")

    print("\nlike           zeros_like     new_zeros      zeros(device=like.device)")
    for like in (x, x.half(), x.long()):
        made = torch.zeros_like(like), like.new_zeros(8, 16), torch.zeros(8, 16, device=like.device)
        print(*(f"{tensor.dtype!s:14}" for tensor in (like, *made)))


# --8<-- [end:zeros_like]


# --8<-- [start:moving]
def print_moving() -> None:
    """Print what ``.to`` returns for a tensor and for a model, and what the optimizer holds."""
    x = torch.rand(3, 4)
    print(f"x.to(torch.float64) is x           {x.to(torch.float64) is x}")
    print(f"x.to(x.device) is x                {x.to(x.device) is x}")

    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    returned = model.to(torch.float64)
    held = optimizer.param_groups[0]["params"][0]
    print(f"model.to(torch.float64) is model   {returned is model}")
    print(f"optimizer holds model.weight       {held is model.weight}, now {held.dtype}")


# --8<-- [end:moving]


def result_of(attempt: Callable[[], torch.Tensor]) -> str:
    """What an attempt gave: its value or shape, or the type and message of its error."""
    try:
        result = attempt()
    except RuntimeError as error:
        return _message(error)
    return f"{result.item():.4f}" if result.dim() == 0 else f"shape {tuple(result.shape)}"


def _message(error: RuntimeError) -> str:
    """The error's type and its message, without the words that depend on PyTorch's version."""
    stable = REWORDED.sub(" …", str(error).removeprefix("addmm: "))
    return f"{type(error).__name__}: {stable}"


def _print_results(attempts: Attempts) -> None:
    for code, attempt in attempts.items():
        print(code)
        print(
            textwrap.fill(result_of(attempt), 80, initial_indent="    ", subsequent_indent="    ")
        )
