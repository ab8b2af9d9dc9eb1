"""Count the examples' steps on PyTorch's own fake CUDA tensors, and print what was counted.

It runs with the stand-in driver of this folder, so that backward finds a GPU to speak of.
"""

import json
import os
import sys
from typing import Any
from unittest.mock import patch

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

from lesson_code.forecast import counter, examples
from lesson_code.forecast.counter import StepCounter, tensors_of

CUDA = torch.device("cuda", 0)


class OnFakeCuda(StepCounter):
    """The same counter above PyTorch's own tensors without values."""

    def __init__(self) -> None:
        super().__init__()
        del self._mode_key  # PyTorch's own mode is there besides

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Count what the fake mode below computes."""
        result = func(*args, **(kwargs or {}))
        for tensor in tensors_of(result):
            if tensor.device == CUDA:
                self.hold_storage(tensor.untyped_storage())
        if self.counting:
            self.count(func, args, kwargs or {}, result)
        return result


def place(model: nn.Module) -> dict[nn.Parameter, nn.Parameter]:
    """Put a model's tensors on the GPU, and say what took the place of which parameter."""
    moved: dict[nn.Parameter, nn.Parameter] = {}
    for module in model.modules():
        for name, parameter in module.named_parameters(recurse=False):
            if parameter not in moved:
                there = torch.empty(parameter.shape, dtype=parameter.dtype, device=CUDA)
                moved[parameter] = nn.Parameter(there)
            module._parameters[name] = moved[parameter]
        for name, buffer in module.named_buffers(recurse=False):
            module._buffers[name] = torch.empty(buffer.shape, dtype=buffer.dtype, device=CUDA)
    return moved


def count(name: str, format: str) -> dict[str, Any]:
    """One example in one format."""
    made = OnFakeCuda()
    with FakeTensorMode(allow_non_fake_inputs=True), made:
        model, optimizer, loss, batch = getattr(examples, name)()
        moved = place(model)
        for group in optimizer.param_groups:
            group["params"] = [moved[parameter] for parameter in group["params"]]
            group["foreach"] = True
        batch = [torch.empty(t.shape, dtype=t.dtype, device=CUDA) for t in batch]
        for made.counting in (False, True):
            made.peak_bytes = made.held_bytes
            optimizer.zero_grad()
            with torch.autocast("cuda", getattr(torch, format), format != "float32"):
                value = loss(model(*batch[:-1]), batch[-1])
            value.backward()
            optimizer.step()
            del value
    return {
        "flop": made.flop,
        "bytes": made.bytes,
        "convolution_bytes": made.convolution_bytes,
        "launches": made.launches,
        "operations": made.operations,
        "peak_bytes": made.peak_bytes,
    }


def main() -> None:
    """Print a line of JSON for each argument such as ``mnist:bfloat16``."""
    assert torch.cuda.device_count()
    quiet = [name for name in vars(nn.init) if name.endswith("_") and not name.startswith("_")]
    for name in quiet:  # random values are asked of a generator, and there is none
        setattr(nn.init, name, lambda tensor, *_, **__: tensor)
    with (
        patch.object(counter, "META", CUDA),
        patch("torch._subclasses.fake_tensor.init_gpu_context"),
    ):
        for argument in sys.argv[1:]:
            print(json.dumps(count(*argument.split(":"))), flush=True)
    os._exit(0)  # some versions of PyTorch wait for the driver at the end


if __name__ == "__main__":
    main()
