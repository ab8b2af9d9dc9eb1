"""Batches that refuse to be used before they were moved, on a machine without a second device.

Between two tensors on the CPU a forgotten ``.to(device)`` shows nowhere. An ``Unplaced`` is no
tensor: ``.to(device)`` gives the tensor inside, and every other use is an error that names the
operation. ``graders.watching`` looks on and tells afterwards; this one stops the code
where it goes wrong.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import torch

Batch = tuple[torch.Tensor, torch.Tensor]


class NotPlacedError(RuntimeError):
    """A batch was used as it came, or sent to the wrong place; the message says which and how."""


class Unplaced:
    """Stands for a tensor that lies elsewhere; its size, type and device may be asked for.

    Attributes:
        moves: How often it was moved.
    """

    def __init__(self, tensor: torch.Tensor, name: str, device: torch.device) -> None:
        self._tensor, self._name, self._device = tensor, name, device
        self.moves = 0
        self.device = torch.device("meta")  # anywhere but there
        self.shape, self.dtype, self.ndim = tensor.shape, tensor.dtype, tensor.ndim
        self.size, self.dim, self.numel = tensor.size, tensor.dim, tensor.numel

    def __len__(self) -> int:
        return len(self._tensor)

    def to(self, *args: Any, **kwargs: Any) -> torch.Tensor:
        """The tensor itself, if it goes to the right device."""
        places = (str, int, torch.device, torch.Tensor)
        given = [value for value in (*args, *kwargs.values()) if not isinstance(value, bool)]
        if not any(isinstance(value, places) for value in given):
            raise NotPlacedError(f"{self._name} was given no device by .to()")
        try:
            moved = self._tensor.to(*args, **kwargs)
        except (RuntimeError, AssertionError):  # no such device here
            moved = None
        if moved is None or moved.device.type != self._device.type:
            raise NotPlacedError(f"{self._name} was not sent to the device that was given")
        self.moves += 1
        return moved

    def cuda(self, *_: Any, **__: Any) -> torch.Tensor:
        """Refuse: this names one kind of device, whatever was asked for."""
        raise NotPlacedError(f"{self._name} was sent to CUDA by .cuda(), whatever was asked for")

    def __getattr__(self, name: str) -> NoReturn:
        self._refuse(name)

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Refuse every operation that gets one, alone or in a list."""
        values = [*args, *(kwargs or {}).values()]
        lists = [value for value in values if isinstance(value, list | tuple)]
        for value in (*values, *(part for parts in lists for part in parts)):
            if isinstance(value, cls):
                value._refuse(func.__name__)
        return NotImplemented

    def _refuse(self, operation: str) -> NoReturn:
        if self.moves:
            how = "as it was: the result of .to(device) was thrown away"
        else:
            how = "before it was moved with .to(device)"
        raise NotPlacedError(f"{self._name} reached {operation.strip('_')} {how}")


def _refusing(operation: str) -> Callable[..., Any]:
    return lambda self, *_: self._refuse(operation)


for _operation in ("add", "sub", "mul", "truediv", "matmul", "neg", "getitem", "iter", "float"):
    setattr(Unplaced, f"__{_operation}__", _refusing(_operation))  # Python looks on the class


class UnplacedLoader:
    """Deals out batches of inputs and targets, and keeps those that it dealt out last."""

    def __init__(self, batches: Sequence[Batch], device: torch.device) -> None:
        self.batches, self.device = batches, device
        self.dealt: list[tuple[Unplaced, Unplaced]] = []

    def __len__(self) -> int:
        return len(self.batches)

    def __iter__(self) -> Iterator[tuple[Unplaced, Unplaced]]:
        self.dealt = []
        for x, y in self.batches:
            inputs = Unplaced(x, "the input", self.device)
            self.dealt.append((inputs, Unplaced(y, "the target", self.device)))
            yield self.dealt[-1]
