"""A CUDA GPU that is pretended: tensors stay on the CPU, and say that they are on it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import MagicMock, patch

import torch
from torch.overrides import TorchFunctionMode

CPU, CUDA = torch.device("cpu"), torch.device("cuda")
TENSOR: Any = torch.Tensor
DEVICE, IS_CUDA = TENSOR.device.__get__, TENSOR.is_cuda.__get__  # what asking for them calls
MOVES = (torch.Tensor.to, torch.Tensor.cuda)
NAMING = (
    torch.device,
    torch._C._nn._parse_to,
)  # they place nothing; a module's `to` asks the latter
COMPARISONS = {"eq", "ne", "__eq__", "__ne__"}  # of methods and functions alike


class OnCuda(TorchFunctionMode):
    """Lets tensors say that they are on CUDA, and notes which are moved there.

    Attributes:
        moved: The shapes of those that were.
        fetched: The shapes of those that were moved to the CPU.
        compared: The shapes of those of which each number was compared with that of another.
    """

    def __init__(self) -> None:
        super().__init__()
        self.moved: list[tuple[int, ...]] = []
        self.fetched: list[tuple[int, ...]] = []
        self.compared: list[tuple[int, ...]] = []

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Call the function with the CPU in the place of CUDA."""
        if func == DEVICE:
            return CUDA
        if func == IS_CUDA:
            return True
        given = [*args[1:], *(kwargs or {}).values()]
        if func is torch.Tensor.cuda or (func in MOVES and any(map(is_cuda, given))):
            self.moved.append(tuple(args[0].shape))
        if func is torch.Tensor.cuda:
            return args[0]
        if func in NAMING:
            return func(*args, **(kwargs or {}))
        if func is torch.Tensor.cpu or (func is torch.Tensor.to and any(map(is_cpu, given))):
            self.fetched.append(tuple(args[0].shape))
        if getattr(func, "__name__", "") in COMPARISONS:
            both = [tuple(value.shape) for value in args if isinstance(value, torch.Tensor)]
            self.compared += both[:1] if both[1:] == both[:1] else []
        named = {name: placed(value) for name, value in (kwargs or {}).items()}
        return func(*map(placed, args), **named)


def is_cuda(value: object) -> bool:
    """Whether it is a CUDA device, or the name of one."""
    name = str(value) if isinstance(value, (str, torch.device)) else ""
    return name.startswith("cuda")


def is_cpu(value: object) -> bool:
    """Whether it is the CPU, or its name."""
    return isinstance(value, (str, torch.device)) and str(value) == "cpu"


def placed(value: Any) -> Any:
    """The CPU in the place of a CUDA device."""
    return CPU if is_cuda(value) else value


@contextmanager
def pretended_cuda(synchronize: Callable[..., None] = lambda *_: None) -> Iterator[OnCuda]:
    """One CUDA GPU, whatever the machine has; each way to wait for it calls ours."""
    stream = MagicMock()
    stream.synchronize = synchronize
    with (
        patch("torch.cuda.is_available", return_value=True),
        patch("torch.cuda.device_count", return_value=1),
        patch("torch.cuda.synchronize", synchronize),
        patch("torch.cuda.current_stream", return_value=stream),
        OnCuda() as mode,
    ):
        yield mode
