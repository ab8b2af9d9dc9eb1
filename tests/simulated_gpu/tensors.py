"""Tensors with real values on the CPU that say they lie on a GPU.

C++ sees a tensor of the CPU, so autograd, the optimizers and every operation work as they do there;
Python sees ``cuda:0``. Each operation comes through ``dispatch``, which refuses tensors of two
devices as a GPU does. What names a device, such as ``to`` or ``torch.zeros``, comes through
``Placement`` before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from tests.simulated_gpu.memory import MEMORY

GPU = torch.device("cuda", 0)
CPU = torch.device("cpu")
aten = torch.ops.aten
COPIES = {aten.copy_.default, aten._to_copy.default}
# Their indices may lie on the CPU.
INDEXING = {
    aten.index.Tensor,
    aten._unsafe_index.Tensor,
    aten.index_put.default,
    aten.index_put_.default,
    aten._index_put_impl_.default,
}
# A GPU sums them in float32 too; a CPU takes minutes where its processor has no 16-bit products.
PRODUCTS = {
    aten.mm.default,
    aten.addmm.default,
    aten.bmm.default,
    aten.convolution.default,
    aten.convolution_backward.default,
}
TWO_DEVICES = (
    "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and "
    "cpu! (when checking argument in method wrapper_CUDA_{})"
)
ON_ANOTHER_DEVICE = (
    "indices should be either on cpu or on the same device as the indexed tensor (cpu)"
)
# What a CUDA graph is recording: each operation with its arguments and what it gave.
recording: list[tuple[Any, Any, Any, Any]] | None = None


class SimulatedTensor(torch.Tensor):
    """A tensor of the CPU that says it lies on ``cuda:0``."""

    _cpu: torch.Tensor
    in_graph: bool  # a CUDA graph made it, and has it for as long as it lives
    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, data: torch.Tensor) -> SimulatedTensor:
        """The values of ``data``, whose storage counts as memory of the GPU from now on.

        Raises:
            OutOfMemoryError: If it does not fit.
        """
        data = data.detach()
        MEMORY.take(data.untyped_storage())
        made = torch.Tensor._make_subclass(cls, data, False)
        made._cpu = data
        made.in_graph = recording is not None
        return made

    @property
    def device(self) -> torch.device:
        return GPU

    @property
    def is_cuda(self) -> bool:
        return True

    @property
    def is_cpu(self) -> bool:
        return False

    def get_device(self) -> int:
        return 0

    def __deepcopy__(self, memo: dict[int, Any]) -> SimulatedTensor:
        copied = SimulatedTensor(self._cpu.clone()).requires_grad_(self.requires_grad)
        if getattr(self, "_is_param", False):
            copied._is_param = True
        memo[id(self)] = copied
        return copied

    def __reduce_ex__(self, protocol: int) -> Any:
        return self._cpu.requires_grad_(self.requires_grad).__reduce_ex__(protocol)

    @classmethod
    def __torch_dispatch__(
        cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        return dispatch(func, args, kwargs or {})


def dispatch(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Compute on the CPU, and say that the result lies on the GPU if an argument does.

    Raises:
        RuntimeError: If tensors of both devices meet in it.
    """
    tensors = list(tensors_in((args, tuple(kwargs.values()))))
    there = [tensor for tensor in tensors if isinstance(tensor, SimulatedTensor)]
    here = [tensor for tensor in tensors if not isinstance(tensor, SimulatedTensor)]
    _refuse_two_devices(func, args, there, here)
    asked = kwargs.get("device")
    plain = {name: each(_value, x) for name, x in kwargs.items() if name != "pin_memory"}
    if asked is not None:
        plain["device"] = CPU
    values = each(_value, args)
    if func in PRODUCTS and args[0].dtype == torch.float16:
        result = each(_in(torch.float16), func(*each(_in(torch.float32), values), **plain))
    else:
        result = func(*values, **plain)
    stays = asked is not None and torch.device(asked).type == "cpu"
    if func is aten._local_scalar_dense.default or (
        func is aten.copy_.default and not isinstance(args[0], SimulatedTensor)
    ):
        return result
    if stays and not (func is aten._to_copy.default and there):
        return result
    known = {id(tensor._cpu): tensor for tensor in there} | {id(tensor): tensor for tensor in here}

    def placed(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor) or isinstance(leaf, SimulatedTensor):
            return leaf
        return known.get(id(leaf)) if id(leaf) in known else SimulatedTensor(leaf)

    result = each(placed, result)
    if recording is not None:
        recording.append((func, args, kwargs, result))
    return result


def _refuse_two_devices(
    func: Any, args: tuple[Any, ...], there: list[torch.Tensor], here: list[torch.Tensor]
) -> None:
    if not there or func in COPIES:
        return
    if func in INDEXING:
        if not isinstance(args[0], SimulatedTensor):
            raise RuntimeError(ON_ANOTHER_DEVICE)
    elif any(tensor.dim() > 0 for tensor in here):  # a number may lie anywhere
        raise RuntimeError(TWO_DEVICES.format(func.name().split("::")[-1]))


def each(function: Callable[[Any], Any], value: Any) -> Any:
    """What ``function`` makes of a value, or of each value in a tuple or a list."""
    if isinstance(value, tuple | list):
        return type(value)([each(function, part) for part in value])
    return function(value)


def _in(dtype: torch.dtype) -> Callable[[Any], Any]:
    """A function that gives a tensor in that format, and anything else as it is."""
    return lambda value: value.to(dtype) if isinstance(value, torch.Tensor) else value


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """Every tensor in tuples and lists."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, tuple | list):
        for part in value:
            yield from tensors_in(part)


def _value(leaf: Any) -> Any:
    return leaf._cpu if isinstance(leaf, SimulatedTensor) else leaf


class _Copy(torch.autograd.Function):
    """A copy to the other device, whose gradient comes back."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, dtype: Any, layout: Any) -> torch.Tensor:
        ctx.dtype, ctx.came_from_gpu = x.dtype, isinstance(x, SimulatedTensor)
        kept = torch.preserve_format if layout is None else layout
        copied = _value(x).detach().to(dtype=dtype or x.dtype, copy=True, memory_format=kept)
        return copied if ctx.came_from_gpu else SimulatedTensor(copied)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        copied = _value(gradient.detach()).to(ctx.dtype, copy=True)
        return SimulatedTensor(copied) if ctx.came_from_gpu else copied, None, None


def names_gpu(device: Any) -> bool:
    """Whether a device, its name or its number means the GPU.

    Raises:
        RuntimeError: If it means a second one.
    """
    if device is None:
        return False
    found = torch.device("cuda", device) if isinstance(device, int) else torch.device(device)
    if found.type == "cuda" and found.index not in (None, 0):
        raise RuntimeError("CUDA error: invalid device ordinal")
    return found.type == "cuda"


class Placement(TorchFunctionMode):
    """Does on the CPU what names the GPU, and says that the result lies there."""

    def __torch_function__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs = dict(kwargs or {})
        first = args[0] if args else None
        method = METHODS.get(getattr(func, "__name__", ""))
        if method and isinstance(first, torch.Tensor):
            return method(func, *args, **kwargs)
        _refuse_generator(kwargs, args)
        if kwargs.get("device") is None:
            return func(*args, **kwargs)
        inputs = tuple(map(_value, args))
        if not names_gpu(kwargs["device"]):
            return func(*inputs, **kwargs)
        needs_gradient = kwargs.pop("requires_grad", False)
        made = SimulatedTensor(func(*inputs, **{**kwargs, "device": CPU}))
        return made.requires_grad_(needs_gradient)


def _refuse_generator(kwargs: dict[str, Any], args: tuple[Any, ...]) -> None:
    generator = kwargs.get("generator")
    if generator is None:
        return
    there = names_gpu(kwargs.get("device")) or any(isinstance(x, SimulatedTensor) for x in args)
    expected = "cuda" if there else "cpu"
    if generator.device.type != expected:
        raise RuntimeError(
            f"Expected a '{expected}' device type for generator but found '{generator.device.type}'"
        )


def _to(func: Any, x: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    if args and isinstance(args[0], torch.Tensor):
        args = (args[0].device, args[0].dtype, *args[1:])
    asked = {name: value for name, value in kwargs.items() if name != "copy"}
    device, dtype, _, layout = torch._C._nn._parse_to(*args, **asked)
    is_there, goes_there = isinstance(x, SimulatedTensor), names_gpu(device)
    if goes_there and is_there:  # C++ would take it to a driver
        kept = {} if layout is None else {"memory_format": layout}
        return func(x, dtype or x.dtype, copy=kwargs.get("copy", False), **kept)
    if goes_there or (is_there and device == CPU):
        return _Copy.apply(x, dtype, layout)
    return func(_value(x) if device is not None else x, *args, **kwargs)


def _numpy(func: Any, x: torch.Tensor, **kwargs: Any) -> Any:
    if isinstance(x, SimulatedTensor):
        raise TypeError(
            "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor "
            "to host memory first."
        )
    return func(x, **kwargs)


def _attention(func: Any, query: torch.Tensor, key: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
    """With the mask that C++ would make on the CPU, where it is asked for."""
    if isinstance(query, SimulatedTensor) and kwargs.pop("is_causal", False):
        ones = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool)
        kwargs["attn_mask"] = SimulatedTensor(ones.tril())
    return func(query, key, *args, **kwargs)


def _one_hot(func: Any, x: torch.Tensor, classes: int = -1) -> torch.Tensor:
    """With the row of numbers that C++ would make on the CPU."""
    if not isinstance(x, SimulatedTensor):
        return func(x, classes)
    return (x.unsqueeze(-1) == SimulatedTensor(torch.arange(classes))).long()


METHODS: dict[str, Callable[..., Any]] = {
    "to": _to,
    "cuda": lambda func, x, *_, **__: _to(torch.Tensor.to, x, GPU),
    "cpu": lambda func, x, **_: _to(torch.Tensor.to, x, CPU),
    "numpy": _numpy,
    "tolist": lambda func, x: func(_value(x)),
    "record_stream": lambda *_: None,
    "one_hot": _one_hot,
    "scaled_dot_product_attention": _attention,
}


def pin_memory(x: torch.Tensor, device: Any = None) -> torch.Tensor:
    """A copy that says it is pinned.

    Raises:
        RuntimeError: If it lies on the GPU.
    """
    if isinstance(x, SimulatedTensor):
        raise RuntimeError(
            "cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned"
        )
    pinned = x.clone()
    pinned._is_pinned = True  # type: ignore[attr-defined]
    return pinned


def is_pinned(x: torch.Tensor, device: Any = None) -> bool:
    """Whether ``pin_memory`` gave it."""
    return getattr(x, "_is_pinned", False)
