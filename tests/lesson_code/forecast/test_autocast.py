"""The lists of autocast are CUDA's own, and so is what is done by them."""

import tomllib
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from lesson_code.forecast import autocast as ours
from lesson_code.forecast.autocast import LISTS
from lesson_code.forecast.counter import StepCounter, count_step
from lesson_code.forecast.shells import like_a_gpu

I64, F64, F32 = torch.int64, torch.float64, torch.float32
F16, BF16 = torch.float16, torch.bfloat16

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


@pytest.fixture
def outspoken() -> Iterator[None]:
    """PyTorch warns each time, and not the first time alone."""
    torch.set_warn_always(True)
    yield
    torch.set_warn_always(False)


@pytest.mark.usefixtures("outspoken")
def test_nothing_stays_behind() -> None:
    """A count warns of nothing, and after it PyTorch and Python are as they were."""
    filters = list(warnings.filters)
    with counting(BF16):
        pass
    assert filters == warnings.filters

    model = nn.Linear(2, 2)
    before = torch._C._dispatch_get_registrations_for_dispatch_key("AutocastCUDA")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    batch = torch.empty(2, 2), torch.empty(1)
    count_step(model, optimizer, lambda x, _: x.sum(), batch, "bfloat16")

    assert before == torch._C._dispatch_get_registrations_for_dispatch_key("AutocastCUDA")
    assert not torch.is_autocast_enabled("cuda")


@contextmanager
def counting(autocast: torch.dtype) -> Iterator[StepCounter]:
    """Within, operations on shells are a GPU's with autocast, and are counted."""
    counter = StepCounter()
    counter.counting = True
    with like_a_gpu(), counter, torch.autocast("cuda", autocast):
        yield counter


def square(format: torch.dtype = F32, learns: bool = False) -> torch.Tensor:
    """A matrix on a GPU."""
    return torch.empty(4, 4, dtype=format, device="cuda", requires_grad=learns)


@pytest.mark.parametrize(
    ("run", "given", "autocast", "result", "operations"),
    [
        (torch.mm, (F32, F32), BF16, BF16, 3),
        (torch.mm, (F16, F32), BF16, BF16, 3),
        (torch.mm, (BF16, F32), F16, F16, 3),
        (torch.mm, (F16, F16), F16, F16, 1),
        (torch.mm, (F64, F64), BF16, F64, 1),
        (torch.exp, (F16,), F16, F32, 2),
        (torch.exp, (BF16,), BF16, F32, 2),
        (torch.exp, (F64,), BF16, F64, 1),
        (torch.exp, (I64,), BF16, F32, 1),
        (torch.addcmul, (F16, F16, F32), F16, F32, 3),
        (torch.addcmul, (F16, F16, F16), F16, F16, 1),
        (lambda x, y: torch.tensordot(x, y, 1), (F16, F32), F16, F32, 2),
        (lambda x, y: torch.tensordot(x, y, 1), (F16, F16), F16, F16, 1),
        (torch.sum, (BF16,), BF16, F32, 1),
        (torch.sum, (F16,), F16, F32, 1),
        (torch.sum, (I64,), BF16, I64, 1),
        (torch.sum, (F64,), BF16, F64, 1),
        (lambda x: x.sum(dtype=F16), (BF16,), BF16, F16, 1),
        (lambda x: x.softmax(0), (BF16,), BF16, F32, 2),
        (lambda x: x.softmax(0), (F16,), F16, F32, 1),
        (lambda x: x.softmax(0), (F32,), F16, F32, 1),
        (lambda x: x.softmax(0), (F64,), F16, F64, 1),
        (lambda x: x.softmax(0, dtype=F16), (F16,), F16, F16, 1),
        (lambda x: x.log_softmax(0), (F16,), F16, F32, 1),
        (torch.relu, (F16,), F16, F16, 1),
    ],
)
def test_a_result_has_the_format_that_cuda_gives_it(
    run: Callable[..., torch.Tensor],
    given: tuple[torch.dtype, ...],
    autocast: torch.dtype,
    result: torch.dtype,
    operations: int,
) -> None:
    """After as many operations, casts included, as PyTorch's own fake CUDA tensors take."""
    with counting(autocast) as counter:
        assert result == run(*map(square, given)).dtype

    assert operations == counter.operations


@pytest.mark.parametrize(("learns", "casts"), [(True, 1), (False, 4)])
def test_what_learns_is_cast_once(learns: bool, casts: int) -> None:
    """In a forward pass; in the next one again, since a step has changed it in between."""
    with counting(BF16) as counter:
        weight = square(learns=learns)
        for passes in (1, 2):
            with torch.autocast("cuda", BF16):
                weight @ weight
                weight @ weight

            assert passes * (casts + 2) == counter.operations
            torch.clear_autocast_cache()


def test_what_is_computed_of_weights_is_cast_each_time() -> None:
    """It is not the same in the next layer."""
    with counting(BF16) as counter:
        twice = 2 * square(learns=True)
        twice @ twice.detach().clone()
        twice @ twice.detach().clone()

    assert 1 + 2 * (1 + 2 + 1) == counter.operations


def test_what_has_a_name_reaches_the_operation() -> None:
    """By which dimension it sums; and a target that is a logarithm needs one number less read."""
    read = []
    for log_target in (False, True):
        with counting(BF16) as counter:
            wide = torch.empty(2, 4, device="cuda")
            assert (4,) == torch.linalg.vecdot(wide, wide, dim=0).shape
            F.kl_div(square(), square(), reduction="sum", log_target=log_target)
            read.append(counter.bytes)

    assert 4 * 4 * 4 == read[0] - read[1]


def test_what_this_pytorch_lacks_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An operation of a newer one, or a form of it; the others are cast."""
    file = tmp_path / "autocast.toml"
    file.write_text('wide = ["exp3", "exp.of_newer", "exp"]', encoding="utf-8")
    monkeypatch.setattr(ours, "LISTS", file)

    with counting(BF16):
        assert square(BF16).exp().dtype == F32
