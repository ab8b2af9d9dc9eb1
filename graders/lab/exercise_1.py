"""Exercise 1: placing tensors and models. Without a GPU, ``meta`` plays the other device.

The ``meta`` device has shapes and types but no data, and the operations that are asked of it here
refuse to mix it with the CPU, as they refuse a GPU; not every operation does.
"""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self
from unittest.mock import patch

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from graders.checks import require, todo

CPU, META = torch.device("cpu"), torch.device("meta")


@todo("1.1", "choose a device")
def chooses_what_can_be_used(answer: Any) -> None:
    """CUDA if a GPU is found, else the CPU; a preference wins."""
    for available, expected in ((False, "cpu"), (True, "cuda")):
        with pretended_cuda(available):
            found = answer.pick_device()
            _require_device(found)
            preferred = answer.pick_device(prefer="cpu")
            _require_device(preferred)
        require(
            found.type == expected,
            f"{expected!r} when torch.cuda.is_available() is {available}",
            f"{found.type!r}",
            "ask whether a GPU is found now; what PyTorch was built for is another question",
        )
        require(
            preferred.type == "cpu",
            'the CPU when it is asked for with prefer="cpu"',
            repr(str(preferred)),
            "a preference comes before everything else",
        )
    other = answer.pick_device(prefer="meta")
    _require_device(other)
    require(
        other.type == "meta",
        'the meta device when it is asked for with prefer="meta"',
        repr(str(other)),
        "a preference may name any device, with CUDA or without",
    )


@contextmanager
def pretended_cuda(available: bool) -> Iterator[None]:
    """Let PyTorch say that there is one CUDA GPU, or none, whatever the machine has."""
    with (
        patch("torch.cuda.is_available", return_value=available),
        patch("torch.cuda.device_count", return_value=int(available)),
        patch("torch.cuda.current_device", return_value=0),
    ):
        yield


def _require_device(found: object) -> None:
    require(
        isinstance(found, torch.device),
        "a torch.device",
        repr(found),
        "wrap the name, as in torch.device(name)",
    )


class Recorder(TorchDispatchMode):
    """Notes which operators run, and on which device their results are."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.events: list[tuple[str, str]] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Run the operator, and note it."""
        result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor):
            self.events.append((str(func), result.device.type))
        return result


@todo("1.2", "create a tensor on the device")
def creates_it_there(answer: Any) -> None:
    """The factory itself runs on the device: nothing is made elsewhere and copied."""
    for shape in ((3, 5), tuple(random.sample(range(2, 9), random.choice((1, 3))))):
        with Recorder() as recorder:
            made = answer.make_on_device(shape, META)
        require(
            isinstance(made, torch.Tensor) and tuple(made.shape) == shape,
            f"a tensor of shape {shape}",
            f"shape {tuple(made.shape)}" if isinstance(made, torch.Tensor) else repr(made),
            "pass the shape on to the function that makes the numbers",
        )
    require(
        made.device == META,
        "a tensor on the device that was asked for",
        f"one on {made.device}",
        "functions that make tensors take the device as an argument",
    )
    elsewhere = [name for name, where in recorder.events if where != "meta"]
    require(
        not elsewhere,
        "numbers that are made on the device",
        f"numbers made on the CPU by {', '.join(elsewhere)} and copied",
        "tell the function that makes the numbers where to make them",
    )
    require(
        torch.ones(()).device == CPU,
        "other new tensors to be made where they were before",
        f"them on {torch.ones(()).device}",
        "tell the one call where to make its numbers, and not all of PyTorch",
    )
    state = torch.get_rng_state()
    values = answer.make_on_device((64,), CPU)
    require(
        isinstance(values, torch.Tensor) and values.device == CPU,
        "a tensor on the CPU when the device is the CPU",
        f"one on {values.device}" if isinstance(values, torch.Tensor) else repr(values),
        "take the device that is given",
    )
    require(
        not torch.equal(state, torch.get_rng_state()) and len(values.unique()) > 1,
        "random numbers",
        f"numbers that PyTorch did not draw, such as {values.flatten()[:1].tolist()}",
        "torch.rand makes random numbers",
    )


@todo("1.3", "move a tensor")
def moves_a_tensor(answer: Any) -> None:
    """What comes back is on the device, and what went in stays where it was."""
    tensor = torch.arange(6.0)
    moved = answer.move_tensor(tensor, META)
    require(
        isinstance(moved, torch.Tensor) and moved.device == META,
        "the moved tensor as the result",
        "nothing"
        if moved is None
        else f"a tensor on {moved.device}"
        if isinstance(moved, torch.Tensor)
        else repr(moved),
        "moving a tensor makes a new one; the old one does not change",
    )
    require(
        tensor.device.type == "cpu" and moved.shape == tensor.shape,
        "the tensor that was given to stay as it was",
        f"it is on {tensor.device} now",
        "do not change what was given",
    )
    whole = torch.arange(6)
    kept = answer.move_tensor(whole, CPU)
    require(
        isinstance(kept, torch.Tensor) and kept.dtype == whole.dtype and torch.equal(kept, whole),
        f"the same numbers as before, {whole}",
        f"{kept}, of type {getattr(kept, 'dtype', type(kept).__name__)}",
        "moving copies the numbers and changes nothing about them",
    )


@todo("1.4", "move a model")
def moves_a_model(answer: Any) -> None:
    """Every parameter and buffer moves, and the model stays the same object."""
    for model in (answer.SmallModel(), nn.Linear(2, 2)):
        moved = answer.move_model(model, META)
        require(
            moved is model,
            "the same model as the result",
            "nothing" if moved is None else "another object",
            "a model moves in place and is returned",
        )
        left = [name for name, tensor in _tensors(model) if tensor.device != META]
        require(
            not left,
            f"all parameters and buffers of {type(model).__name__} on the device",
            f"{', '.join(left)} still on the CPU",
            "one call on the model moves all of them",
        )
    model = answer.SmallModel()
    before = {name: tensor.clone() for name, tensor in _tensors(model)}
    answer.move_model(model, CPU)
    changed = [
        name
        for name, tensor in _tensors(model)
        if tensor.dtype != before[name].dtype or not torch.equal(tensor, before[name])
    ]
    require(
        not changed,
        "the same numbers in the model as before",
        f"others in {', '.join(changed)}",
        "moving copies the numbers and changes nothing about them",
    )


# --8<-- [start:misplaced]
@todo("1.5", "find what is in the wrong place")
def finds_the_misplaced(answer: Any) -> None:
    """Exactly the names of what is elsewhere, parameters and buffers."""
    model = answer.SmallModel()
    model.hidden.to(META)
    _require_names(
        answer.misplaced(model, META), _names(model, "norm", "head"), "a half-moved model"
    )
    model = answer.SmallModel()
    model.norm.running_mean = model.norm.running_mean.to(META)
    _require_names(
        answer.misplaced(model, CPU),
        ["norm.running_mean"],
        "a model of which one buffer is elsewhere",
    )
    model = nn.Linear(2, 2)
    model.register_buffer("mask", torch.ones(2, device=META), persistent=False)
    _require_names(answer.misplaced(model, CPU), ["mask"], "a buffer that is not saved")


@todo("1.5", "find what is in the wrong place")
def knows_that_cuda_is_cuda_0(answer: Any) -> None:
    """A tensor that was sent to "cuda" says cuda:0, and is where it should be."""
    _require_names(
        answer.misplaced(_OnFirstGPU(), "cuda"), [], 'a model on cuda:0, asked for "cuda"'
    )
    _require_names(
        answer.misplaced(_OnFirstGPU(), "cuda:0"), [], 'a model on cuda:0, asked for "cuda:0"'
    )
    names = [name for name, _ in _OnFirstGPU().named_parameters()]
    _require_names(answer.misplaced(_OnFirstGPU(), "cuda:1"), names, "a model on the other GPU")


def _require_names(found: Any, expected: list[str], what: str) -> None:
    require(
        isinstance(found, list) and all(isinstance(name, str) for name in found),
        f"a list of names for {what}",
        repr(found),
        "collect the names, and return the list",
    )
    require(
        sorted(found) == sorted(expected),
        f"{expected or 'no names'} for {what}",
        f"{found or 'no names'}",
        "look at every parameter and buffer; a device with a number has the type of one without",
    )


# --8<-- [end:misplaced]


class _Placed(nn.Parameter):
    """A parameter that says it is on the first GPU, which need not exist."""

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        return torch.device("cuda", 0)

    def detach(self) -> Self:
        """What a ``state_dict`` has of it says so, too."""
        return self


class _OnFirstGPU(nn.Module):
    """A model whose parameters say that they are on the first GPU."""

    def __init__(self) -> None:
        super().__init__()
        self.weight, self.bias = _Placed(torch.ones(2)), _Placed(torch.ones(2))


class _Counting(nn.Module):
    """A linear layer that counts its calls, ends a retry without end, and once held stays.

    Attributes:
        moves: How often somebody tried to move or convert it, once held.
        error: What its last call raised.
    """

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 2)
        self.calls = self.moves = 0
        self.held = False
        self.error: RuntimeError | None = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        if self.calls > 20:
            raise SystemExit("the model was called more than 20 times")
        try:
            output: torch.Tensor = self.layer(x)
        except RuntimeError as error:
            self.error = error
            raise
        return output

    def _apply(self, *args: Any, **options: Any) -> Self:
        """What every way to move a module calls."""
        self.moves += self.held
        if self.held:
            return self
        return super()._apply(*args, **options)  # type: ignore[no-untyped-call]


@todo("1.6", "survive a device mismatch")
def moves_the_input_once(answer: Any) -> None:
    """The input follows the model, which stays."""
    model = _Counting().to(META)
    model.held = True
    try:
        output = answer.forward_safely(model, torch.ones(3, 4))
    except SystemExit:
        output = None
    except RuntimeError:
        if not model.moves:
            raise
        output = None
    require(
        model.calls <= 2,
        "at most two calls of the model",
        "more than 20" if model.calls > 20 else f"{model.calls}",
        "try once more, not for ever",
    )
    require(
        model.moves == 0 and model.layer.weight.device == META,
        "the model to stay on its device",
        "a call that moves it",
        "the input is small and the model may be large; move the input",
    )
    require(
        isinstance(output, torch.Tensor) and output.device == META,
        "the output, on the model's device",
        "nothing" if output is None else f"{getattr(output, 'device', output)}",
        "return what the second call gives",
    )
    require(
        output.requires_grad,
        "an output that gradients can flow back from",
        "one without a graph",
        "train with it: call the model as it is",
    )


@todo("1.6", "survive a device mismatch")
def lets_other_errors_out(answer: Any) -> None:
    """A wrong shape is no mismatch: its error comes out, after one call."""
    model = _Counting()
    try:
        answer.forward_safely(model, torch.ones(3, 5))
    except NotImplementedError:
        raise  # a TODO, and a RuntimeError too
    except RuntimeError as found:
        error = "the error" if found is model.error else f"another one, {found}"
    except SystemExit:
        error = "a retry without end"
    else:
        error = "no error"
    require(
        error == "the error",
        "the RuntimeError of an input with the wrong shape to come out",
        error,
        "re-raise whatever is no device mismatch",
    )
    require(
        model.calls == 1,
        "one call of the model when only the shape is wrong",
        f"{model.calls} calls",
        "compare the device of the input with the model's before you try again",
    )


class _Shift(nn.Module):
    """Has a buffer, and no parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.mean: torch.Tensor
        self.register_buffer("mean", torch.zeros(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x - self.mean


class _Refusing(nn.Module):
    """Has no tensors, and an error that sounds like a mismatch."""

    def forward(self, _: torch.Tensor) -> torch.Tensor:
        raise RuntimeError("Expected all tensors to be on the same device, but they are not")


@todo("1.6", "survive a device mismatch")
def needs_no_parameters(answer: Any) -> None:
    """Buffers have a device, too, and a model without tensors is nowhere else."""
    x = torch.ones(3, 4)
    try:
        output = answer.forward_safely(_Shift().to(META), x)
        found = f"one on {getattr(output, 'device', output)}"
    except (StopIteration, IndexError) as problem:
        found = f"a {type(problem).__name__}"
    require(
        found == "one on meta",
        "the output on meta of a model there that has a buffer and no parameter",
        found,
        "parameters are not all that a model has on a device",
    )
    try:
        answer.forward_safely(_Refusing(), x)
        found = "no error"
    except NotImplementedError:
        raise  # a TODO, and a RuntimeError too
    except (RuntimeError, StopIteration, IndexError) as problem:
        found = f"a {type(problem).__name__}"
    require(
        found == "a RuntimeError",
        "the RuntimeError of a model without parameters and buffers to come out",
        found,
        "with no tensor in the model there is no other device, whatever the message says",
    )


@todo("1.6", "on a GPU", gpu=True)
def works_on_a_gpu(answer: Any) -> None:
    """The real thing: placed on cuda:0, and a real mismatch is survived."""
    device = answer.pick_device()
    model = answer.move_model(answer.SmallModel(), device)
    require(
        answer.misplaced(model, device) == [] and answer.make_on_device((2, 20), device).is_cuda,
        "the model and a new tensor on the GPU",
        f"misplaced: {answer.misplaced(model, device)}",
        "compare types, and numbers only where both devices have one",
    )
    output = answer.forward_safely(model, torch.ones(2, 20))
    require(
        output.is_cuda, "the output of a CPU input on the GPU", str(output.device), "move the input"
    )


def _tensors(model: nn.Module) -> list[tuple[str, torch.Tensor]]:
    return [*model.named_parameters(), *model.named_buffers()]


def _names(model: nn.Module, *parts: str) -> list[str]:
    return [name for name, _ in _tensors(model) if name.split(".")[0] in parts]
