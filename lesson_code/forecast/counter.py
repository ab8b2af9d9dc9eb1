"""What a training step costs on a GPU, counted on a machine without one.

The step runs on shells: tensors with a shape and a format and without values. Every operation that
PyTorch asks for passes a counter, which notes what a GPU would have to do for it.
"""

import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map_only
from torch.utils.flop_counter import conv_flop_count, flop_registry

from lesson_code.forecast.formula import Step
from lesson_code.forecast.shells import (
    META,
    ReadsValuesError,
    Shell,
    exchange,
    like_a_gpu,
)

AUTOCAST = {"bfloat16": torch.bfloat16, "float16": torch.float16}
BLOCK = 512  # PyTorch's allocator on a GPU hands out multiples of it, in bytes
# Of a table, which comes first, they read the rows that are asked for.
LOOK_UP = {"embedding", "gather", "index", "index_select"}
TENSORS_A_LAUNCH = 110  # one launch of a foreach operation takes about so many


# --8<-- [start:counter]
class StepCounter(TorchDispatchMode):
    """Runs each operation on what the shells wrap, and notes its cost while it is counting."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        # In the place of PyTorch's own mode for such tensors: a GPU's name then starts no driver.
        self._mode_key = torch._C._TorchDispatchModeKey.FAKE
        self.counting = False
        self.flop: Counter[str] = Counter()
        self.bytes = self.convolution_bytes = self.launches = self.operations = 0
        self.held: dict[int, weakref.ref[torch.UntypedStorage]] = {}
        self.held_bytes = self.peak_bytes = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Every operation comes here, below autograd and autocast."""
        func, kwargs = _on_meta(func, args, kwargs or {})
        shells = {id(t.inside): t for t in tree_leaves((args, kwargs)) if isinstance(t, Shell)}
        if func is torch.ops.aten._local_scalar_dense.default and shells:
            raise ReadsValuesError("the step reads a value of a tensor")
        inner_args, inner_kwargs = tree_map_only(Shell, lambda t: t.inside, (args, kwargs))
        try:
            result = func(*inner_args, **inner_kwargs)
        except NotImplementedError:
            if not changes_in_place(func):
                raise ReadsValuesError(f"the result of {func} depends on values") from None
            result = None

        def wrap(tensor: torch.Tensor) -> torch.Tensor:
            if tensor.device != META:
                return tensor  # a number on the host, such as an optimizer's step
            known = shells.get(id(tensor))
            return self.hold(Shell(tensor)) if known is None else known

        wrapped = tree_map_only(torch.Tensor, wrap, result)
        if self.counting:
            self.count(func, inner_args, inner_kwargs, result)
        return wrapped

    def hold(self, shell: Shell) -> Shell:
        """Add the memory of a tensor until nothing uses it any more."""
        self.hold_storage(shell.inside.untyped_storage())
        return shell

    def hold_storage(self, storage: torch.UntypedStorage) -> None:
        """The same for what one or more tensors share."""
        key = storage._cdata
        if key not in self.held:
            size = in_blocks(storage.nbytes())

            def release(_: object) -> None:
                del self.held[key]
                self.held_bytes -= size

            self.held[key] = weakref.ref(storage, release)
            self.held_bytes += size
            self.peak_bytes = max(self.peak_bytes, self.held_bytes)

    def count(self, func: Any, args: Any, kwargs: dict[str, Any], result: Any) -> None:
        """Add what a GPU would do for one operation; views and empty tensors cost nothing."""
        name = func._schema.name.removeprefix("aten::")
        arguments = {argument.name: argument for argument in func._schema.arguments}
        values = dict(zip(arguments, args, strict=False)) | kwargs
        known = {t.untyped_storage()._cdata for t in tensors_of(values) if t.device == META}
        read = {of: value for of, value in values.items() if not arguments[of].is_out}
        given = [t for t in tensors_of(read) if t.device == META]
        made = [t for t in tensors_of(result) if t.untyped_storage()._cdata not in known]
        made = [t for t in made if t.device == META]
        changed = [
            value
            for of, value in values.items()
            if arguments[of].alias_info is not None and arguments[of].alias_info.is_write
        ]
        if (not made and not (changed and given)) or "empty" in name:
            return
        moved, launches = size_of(given) + size_of(made) + size_of(tensors_of(changed)), 1
        if name == "convolution_backward":
            moved, launches = backward_of_convolution(args, made)
        elif "batch_norm" in name:  # the statistics need a pass of their own
            moved += size_of(tensors_of(args[: 2 if "backward" in name else 1]))
        elif name in LOOK_UP:
            moved = size_of(given[1:]) + 2 * size_of(made)
        elif name.startswith(("_foreach", "_fused", "_amp_foreach")):
            launches = -(-len(given) // TENSORS_A_LAUNCH)
        if flop := flop_of(func, args, kwargs, result):
            self.flop[format_of(given)] += flop
        self.operations += 1
        self.launches += launches
        self.bytes += moved
        self.convolution_bytes += moved * name.startswith("convolution")


# --8<-- [end:counter]


def sums_of(counter: StepCounter, format: str, weight_bytes: int, channels_last: bool) -> Step:
    """What a counter has counted, as the formula takes it.

    Args:
        counter: What has counted.
        format: In which it multiplied.
        weight_bytes: Bytes of the weights.
        channels_last: Whether images and weights lay channel by channel within a pixel.
    """
    return Step(
        format=format,
        flop=dict(counter.flop),
        bytes=counter.bytes,
        convolution_bytes=counter.convolution_bytes,
        launches=counter.launches,
        operations=counter.operations,
        weight_bytes=weight_bytes,
        peak_bytes=counter.peak_bytes,
        channels_last=channels_last,
    )


def _on_meta(func: Any, args: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The same operation with the shells' device for a GPU's; to send a shell there is nothing."""
    device = kwargs.get("device")
    if device is None or device.type != "cuda":
        return func, kwargs
    sent = func is torch.ops.aten._to_copy.default and isinstance(args[0], Shell)
    if sent and kwargs.get("dtype") in (None, args[0].dtype):
        return torch.ops.aten.alias.default, {}
    return func, kwargs | {"device": META}


def changes_in_place(func: Any) -> bool:
    """Whether it is an optimizer's fused update, some of which know no tensors without values."""
    name = func._schema.name.removeprefix("aten::")
    return bool(name.startswith("_fused") and name.endswith("_"))


def tensors_of(tree: Any) -> list[torch.Tensor]:
    """The tensors in nested arguments or results."""
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def in_blocks(size: int) -> int:
    """What the allocator hands out for so many bytes."""
    return -(-size // BLOCK) * BLOCK


def size_of(tensors: Sequence[torch.Tensor]) -> int:
    """Their values, in bytes."""
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def flop_of(func: Any, args: Any, kwargs: dict[str, Any], result: Any) -> int:
    """Floating-point operations of a product or a convolution; of anything else none.

    A gradient of a convolution costs what its forward pass costs. PyTorch's own formula gives more
    where the channels are in groups: 65 forward passes for both gradients of 64 groups, not two.
    """
    if func._schema.name == "aten::convolution_backward":
        gradient, inputs, weight = (list(tensor.shape) for tensor in args[:3])
        wants_inputs, wants_weight, _ = args[-1]
        forward = conv_flop_count(inputs, weight, gradient, transposed=args[7])
        return (wants_inputs + wants_weight) * forward
    formula = flop_registry.get(func._overloadpacket)
    return formula(*args, **kwargs, out_val=result) if formula else 0


def format_of(tensors: Sequence[torch.Tensor]) -> str:
    """The narrowest floating-point format among them, in which a product is computed."""
    formats = [tensor.dtype for tensor in tensors if tensor.dtype.is_floating_point]
    narrowest = min(formats, key=lambda dtype: dtype.itemsize, default=torch.float32)
    return str(narrowest).removeprefix("torch.")


def backward_of_convolution(args: Any, made: Sequence[torch.Tensor]) -> tuple[int, int]:
    """Bytes and launches: one kernel for each gradient that is wanted."""
    gradient, inputs, weight = args[:3]
    wants_inputs, wants_weight, wants_bias = args[-1]
    launches = wants_inputs + wants_weight + wants_bias
    read = launches * size_of([gradient])
    read += wants_inputs * size_of([weight]) + wants_weight * size_of([inputs])
    return read + size_of(made), launches


def as_on_a_gpu(optimizer: torch.optim.Optimizer) -> None:
    """Update all of its weights in one operation, where nothing else is chosen, as on a GPU."""
    for group in optimizer.param_groups:
        if "foreach" in group and group["foreach"] is None and not group.get("fused"):
            group["foreach"] = True


# --8<-- [start:count]
def count_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    loss_function: Callable[..., torch.Tensor],
    batch: Sequence[torch.Tensor],
    format: str = "float32",
    channels_last: bool = False,
    counter: StepCounter | None = None,
) -> Step:
    """Count a training step: the second one, when the optimizer has its state.

    The model and the optimizer are used up: their tensors lose their values.

    Args:
        model: What learns.
        optimizer: Of its parameters; it has made no step yet.
        loss_function: Called with the model's output and the targets.
        batch: The model's inputs and, last, the targets.
        format: ``float32``, or the format of autocast: ``bfloat16`` or ``float16``.
        channels_last: Whether images and weights lie channel by channel within a pixel.
        counter: What counts, where somebody wants to know more than the sums.

    Raises:
        ReadsValuesError: If the step reads a value of a tensor.
    """
    if channels_last:
        model = model.to(memory_format=torch.channels_last)
    as_on_a_gpu(optimizer)
    counter = counter or StepCounter()
    modules = [model, loss_function] if isinstance(loss_function, nn.Module) else [model]
    for module in model.modules():
        if isinstance(module, nn.RNNBase):  # a shell can't take the place of what it points to
            module._flat_weight_refs = [None for _ in module._flat_weight_refs]
    tensors = [t for module in modules for t in (*module.parameters(), *module.buffers())]
    for tensor in {id(t): t for t in tensors}.values():
        exchange(tensor)
        counter.hold(tensor)  # type: ignore[arg-type]
    weight_bytes = counter.held_bytes
    inputs = [counter.hold(_shell_of(tensor, channels_last)) for tensor in batch]
    scaler = _Scaler("cpu", enabled=format == "float16")
    with like_a_gpu(), counter:
        for counter.counting in (False, True):
            counter.peak_bytes = counter.held_bytes
            _step(model, optimizer, loss_function, inputs, AUTOCAST.get(format), scaler)
    return sums_of(counter, format, weight_bytes, channels_last)


def _step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    loss_function: Callable[..., torch.Tensor],
    batch: Sequence[torch.Tensor],
    autocast: torch.dtype | None,
    scaler: torch.amp.GradScaler,
) -> None:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=autocast, enabled=autocast is not None):
        loss = loss_function(model(*batch[:-1]), batch[-1])
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()


# --8<-- [end:count]


def _shell_of(tensor: torch.Tensor, channels_last: bool) -> Shell:
    inside = torch.empty_like(tensor, device=META)
    if channels_last and tensor.dim() == 4:
        inside = inside.to(memory_format=torch.channels_last)
    return Shell(inside)


class _Scaler(torch.amp.GradScaler):
    """A loss scaler that makes every step; a real one first reads whether it may."""

    def _maybe_opt_step(self, optimizer: torch.optim.Optimizer, *_: Any, **__: Any) -> float | None:
        return optimizer.step()
