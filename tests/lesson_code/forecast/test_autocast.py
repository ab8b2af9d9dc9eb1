"""The lists of autocast are CUDA's own."""

import tomllib

import torch
from torch import nn

from lesson_code.forecast.autocast import LISTS
from lesson_code.forecast.counter import count_step

# cuDNN's own names, which no model calls, an operation that CUDA's autocast forbids, and a new one
LEFT_OUT = {
    "_cudnn_rnn",
    "binary_cross_entropy",
    "cudnn_convolution",
    "cudnn_convolution_transpose",
    "linalg_matrix_sqrth",
}


def test_every_operation_of_cuda_is_listed() -> None:
    """What this PyTorch registers for CUDA is in a list, and nothing else that it knows."""
    lists = tomllib.loads(LISTS.read_text(encoding="utf-8"))
    ours = [name for names in lists.values() for name in names]
    registered = torch._C._dispatch_get_registrations_for_dispatch_key("AutocastCUDA")
    theirs = {name.removeprefix("aten::") for name in registered if name.startswith("aten::")}

    assert len(ours) == len(set(ours))
    assert theirs - LEFT_OUT <= set(ours)


def test_nothing_stays_behind() -> None:
    """After a count PyTorch is as it was."""
    model = nn.Linear(2, 2)
    before = torch._C._dispatch_get_registrations_for_dispatch_key("AutocastCUDA")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    batch = torch.empty(2, 2), torch.empty(1)
    count_step(model, optimizer, lambda x, _: x.sum(), batch, "bfloat16")

    assert before == torch._C._dispatch_get_registrations_for_dispatch_key("AutocastCUDA")
    assert not torch.is_autocast_enabled("cuda")
