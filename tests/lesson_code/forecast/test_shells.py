"""Tensors without values do what a GPU's do: the kernels that it takes, and the layout it has."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import Mock

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from lesson_code.forecast import shells
from lesson_code.forecast.counter import StepCounter
from lesson_code.forecast.shells import ReadsValuesError, Shell, exchange, like_a_gpu

F32, F16, BF16 = torch.float32, torch.float16, torch.bfloat16
FLASH, EFFICIENT = SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION


class Kernels(StepCounter):
    """Keeps what was asked for: the name of each operation, and what it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.counting = True
        self.asked: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def count(self, func: Any, args: Any, kwargs: dict[str, Any], result: Any) -> None:
        """Keep what costs something."""
        before = self.operations
        super().count(func, args, kwargs, result)
        if self.operations > before:
            self.asked.append((func._schema.name.removeprefix("aten::"), args, kwargs))

    @property
    def names(self) -> list[str]:
        """Of the operations."""
        return [name for name, _, _ in self.asked]


@contextmanager
def asked() -> Iterator[Kernels]:
    """Within, operations on shells are a GPU's, and are kept."""
    with like_a_gpu(), Kernels() as kernels:
        yield kernels


def made(*size: int, format: torch.dtype = F32, learns: bool = False) -> torch.Tensor:
    """A tensor on a GPU."""
    return torch.empty(*size, dtype=format, device="cuda", requires_grad=learns)


@pytest.mark.parametrize(
    ("format", "mask", "allowed", "kernel"),
    [
        (F32, None, [FLASH, EFFICIENT], "efficient"),
        (F16, None, [FLASH, EFFICIENT], "flash"),
        (BF16, None, [FLASH, EFFICIENT], "flash"),
        (BF16, BF16, [FLASH, EFFICIENT], "efficient"),
        (BF16, None, [EFFICIENT], "efficient"),
        (BF16, None, [FLASH], "flash"),
    ],
)
def test_attention_is_one_kernel(
    format: torch.dtype, mask: torch.dtype | None, allowed: list[SDPBackend], kernel: str
) -> None:
    """Flash attention in 16 bits without a mask, else the other one; both are told all of it."""
    with asked() as kernels, sdpa_kernel(allowed):
        query, key, value = (made(2, 4, 8, 16, format=format) for _ in range(3))
        allows = made(8, 8, format=mask) if mask else None
        result = F.scaled_dot_product_attention(
            query, key, value, allows, 0.25, is_causal=not mask, scale=0.5
        )

    inside = [tensor.inside for tensor in (query, key, value, allows) if isinstance(tensor, Shell)]
    [(name, args, kwargs)] = kernels.asked
    assert (query.shape, format) == (result.shape, result.dtype)
    assert f"_scaled_dot_product_{kernel}_attention" == name
    assert [*map(id, inside)] == [id(tensor) for tensor in args if isinstance(tensor, torch.Tensor)]
    rest = [what for what in args[3:] if not isinstance(what, torch.Tensor) and what is not None]
    causal = [] if mask else [True]  # said where it is so
    assert [True] * (kernel == "efficient") + [0.25, *causal] == rest
    assert {"scale": 0.5} == kwargs


def test_attention_that_allows_pairs_by_truth_values_is_given_numbers() -> None:
    """In the format of what it mixes, which takes a choice and a cast."""
    with asked() as kernels:
        query = made(2, 4, 8, 16, format=BF16)
        F.scaled_dot_product_attention(query, query, query, made(8, 8, format=torch.bool))

    assert ["where", "_to_copy", "_scaled_dot_product_efficient_attention"] == [
        name for name in kernels.names if name != "scalar_tensor"
    ]
    [(_, chosen, otherwise)] = [args for name, args, _ in kernels.asked if "where" == name]
    assert () == chosen.shape == otherwise.shape
    assert [float("-inf"), 0.0] == [a[0] for name, a, _ in kernels.asked if "scalar_tensor" == name]
    assert BF16 == kernels.asked[-1][1][3].dtype


def test_attention_by_the_book_where_nothing_else_is_allowed() -> None:
    """Two products, and dropout of the probabilities between them."""
    with asked() as kernels, sdpa_kernel(SDPBackend.MATH):
        query, key, value = (made(2, 4, 8, 16) for _ in range(3))
        result = F.scaled_dot_product_attention(
            query, key, value, None, 0.25, is_causal=True, scale=0.5
        )

    of = {name: args for name, args, _ in kernels.asked}
    assert query.shape == result.shape
    assert 2 == kernels.names.count("bmm")
    assert "tril" in of
    assert (0.25, True) == of["native_dropout"][1:]
    assert [0.5**0.5] * 2 == [args[1] for name, args, _ in kernels.asked if "mul" == name]


def test_attention_by_the_book_has_the_mask_that_was_given() -> None:
    """It is added to the scores."""
    with asked() as kernels, sdpa_kernel(SDPBackend.MATH):
        query, mask = made(2, 4, 8, 16), made(8, 8)
        F.scaled_dot_product_attention(query, query, query, mask)

    assert isinstance(mask, Shell)
    assert [id(mask.inside)] == [id(args[1]) for name, args, _ in kernels.asked if "add" == name]


def test_attention_by_the_book_reads_truth_values_itself() -> None:
    """It has numbers of the right format at once, without a cast."""
    with asked() as kernels, sdpa_kernel(SDPBackend.MATH):
        query = made(2, 4, 8, 16, format=BF16)
        F.scaled_dot_product_attention(query, query, query, made(8, 8, format=torch.bool))

    assert (8, 8) not in [args[0].shape for name, args, _ in kernels.asked if "_to_copy" == name]


def test_heads_that_share_keys_and_values_have_copies_of_them() -> None:
    """One for each head, side by side."""
    with asked() as kernels:
        query, key, value = made(2, 6, 10, 16), made(2, 3, 5, 16), made(2, 3, 5, 32)
        F.scaled_dot_product_attention(query, key, value, enable_gqa=True)

    assert ["clone", "clone", "_scaled_dot_product_efficient_attention"] == kernels.names
    copied = [args[0].shape for _, args, _ in kernels.asked[:2]]
    assert [(2, 3, 2, 5, 16), (2, 3, 2, 5, 32)] == copied
    assert [(2, 6, 10, 16), (2, 6, 5, 16), (2, 6, 5, 32)] == [
        tensor.shape for tensor in kernels.asked[-1][1][:3]
    ]


@pytest.mark.parametrize(
    "lacks",
    [
        [],
        ["_fused_rms_norm"],
        ["mish_backward"],
        ["silu_backward"],
        ["_fused_rms_norm", "mish_backward", "silu_backward"],
    ],
)
def test_what_a_pytorch_without_cuda_lacks_takes_its_own_place(
    lacks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dropout, attention and autocast's lists are ours in any case, within and not after it."""
    registered: list[tuple[object, ...]] = []
    entered: list[str] = []

    @contextmanager
    def library(*name_and_kind: str) -> Iterator[Mock]:
        entered.extend(name_and_kind)
        yield Mock(impl=lambda *what: registered.append(what))
        entered.clear()

    @contextmanager
    def autocast() -> Iterator[None]:
        entered.append("autocast")
        yield

    def has_kernel(name: str, key: str) -> bool:
        return "CUDA" == key and name.removeprefix("aten::") not in lacks

    monkeypatch.setattr(torch.library, "_scoped_library", library)
    monkeypatch.setattr(shells, "autocast_without_gpu", autocast)
    monkeypatch.setattr(torch._C, "_dispatch_has_kernel_for_dispatch_key", has_kernel)

    with like_a_gpu():
        assert ["aten", "IMPL", "autocast"] == entered
        keys = {str(name): (function, key) for name, function, key in registered}

    aten = torch.ops.aten
    assert [] == entered
    assert len(keys) == len(registered) == 2 + len(lacks)
    assert "AutogradCUDA" == keys["dropout"][1] == keys["scaled_dot_product_attention"][1]
    assert all((getattr(aten, name), "CUDA") == keys[name] for name in lacks)


@pytest.mark.parametrize(
    ("share", "trains", "expected"),
    [(0.25, True, ["native_dropout"]), (0.0, True, []), (0.25, False, [])],
)
def test_dropout_is_one_kernel_or_none(share: float, trains: bool, expected: list[str]) -> None:
    """It drops the share that was asked for, and nothing outside of training."""
    with asked() as kernels:
        tensor = made(4)
        result = F.dropout(tensor, share, trains)

    assert expected == kernels.names
    assert (result is tensor) == (not expected)
    assert all((share, True) == args[1:] for _, args, _ in kernels.asked)


@pytest.mark.parametrize(
    ("run", "forward", "backward"),
    [
        (F.silu, "silu", "silu_backward"),
        (F.mish, "mish", "mish_backward"),
        (lambda x: F.rms_norm(x, (4,)), "_fused_rms_norm", "_fused_rms_norm_backward"),
    ],
)
def test_what_a_gpu_does_in_one_kernel(
    run: Callable[[torch.Tensor], torch.Tensor], forward: str, backward: str
) -> None:
    """Forward and backward, where without one there would be several."""
    with asked() as kernels:
        run(made(4, 4, learns=True)).sum().backward()

    assert [forward, "sum", "ones_like", backward] == kernels.names


@pytest.mark.parametrize("learns", [False, True])
@pytest.mark.parametrize("kind", [torch.Tensor, nn.Parameter])
@pytest.mark.parametrize("format", [F32, F16])
def test_a_shell_is_like_what_it_takes_the_place_of(
    kind: type, learns: bool, format: torch.dtype
) -> None:
    """In shape, layout, format, and whether it learns; it says that it is on a GPU."""
    tensor = torch.zeros(2, 3, 4, 5, dtype=format).to(memory_format=torch.channels_last)
    strides, before = tensor.stride(), tensor
    if kind is nn.Parameter:
        tensor = before = nn.Parameter(tensor, requires_grad=learns)
    else:
        tensor.requires_grad = learns

    exchange(tensor)

    assert before is tensor
    assert isinstance(tensor, Shell)
    assert isinstance(tensor, nn.Parameter) == (kind is nn.Parameter)
    assert ("cuda", "meta") == (tensor.device.type, tensor.inside.device.type)
    assert 0 == tensor.device.index
    for shell in (tensor, tensor.inside):
        assert ((2, 3, 4, 5), strides, format) == (shell.shape, shell.stride(), shell.dtype)
    assert learns == tensor.requires_grad


def test_a_shell_learns_if_that_is_said() -> None:
    """Otherwise it does not."""
    inside = torch.empty(2, device="meta")

    assert [False, True] == [
        shell.requires_grad for shell in (Shell(inside), Shell(inside, requires_grad=True))
    ]


GPU = torch.device("cuda")
ROW = [1.0, 2.0]


@pytest.mark.parametrize(
    ("send", "format"),
    [
        (lambda x: x.cuda(), F16),
        (lambda x: x.cuda(non_blocking=True), F16),
        (lambda x: x.cuda(device="cuda"), F16),
        (lambda x: x.cuda(GPU, non_blocking=True), F16),
        (lambda x: x.to("cuda"), F16),
        (lambda x: x.to(device=GPU), F16),
        (lambda x: x.to("cuda", F32), F32),
        (lambda _: torch.tensor(ROW, device="cuda"), F32),
        (lambda x: torch.tensor(ROW, dtype=F16, device=x.device), F16),
        (lambda x: torch.as_tensor(ROW, device=x.device), F32),
        (lambda x: torch.as_tensor(x, device="cuda"), F16),
        (lambda x: x.new_tensor(ROW), F16),
        (lambda x: x.new_tensor(ROW, dtype=F32), F32),
        (lambda x: x.new_tensor(ROW, device="cuda"), F16),
        (lambda _: torch.zeros(2, device="cpu").new_tensor(ROW, device="cuda"), F32),
    ],
)
def test_no_driver_is_asked_for_what_is_sent(
    send: Callable[[torch.Tensor], torch.Tensor], format: torch.dtype
) -> None:
    """A GPU without a number is the first one, and values are on it, in the format asked for."""
    with asked():
        sent = send(made(2, format=F16))

    assert isinstance(sent, Shell)
    assert (torch.Size([2]), format) == (sent.shape, sent.dtype)


def test_what_is_there_already_is_not_sent_again() -> None:
    """A row of values is one copy, and what is on the GPU none."""
    with asked() as kernels:
        there = made(2)
        there.to("cuda").cuda()
        torch.as_tensor(there, device="cuda")
        assert [] == kernels.names
        there.new_tensor(ROW)

    assert ["_to_copy"] == kernels.names


def test_what_stays_on_the_host_is_as_ever() -> None:
    """Tensors with values have them still, on the device that is named."""
    with asked():
        row = torch.tensor(ROW)
        rows = [torch.as_tensor(ROW, device="cpu"), row.new_tensor(ROW), row.to("cpu")]

    assert all(one.tolist() == ROW for one in rows)


@pytest.mark.parametrize("read", [Shell.tolist, Shell.numpy])
def test_values_of_a_shell_are_refused(read: Callable[[Shell], object]) -> None:
    """The reason says what the step wants."""
    with pytest.raises(ReadsValuesError, match="values"):
        read(Shell(torch.empty(2, device="meta")))


def test_an_operation_outside_of_the_counter_is_refused_by_name() -> None:
    """There nothing could say what it costs."""
    with pytest.raises(ReadsValuesError, match=r"aten\.add"):
        Shell(torch.empty(2, device="meta")) + 1
