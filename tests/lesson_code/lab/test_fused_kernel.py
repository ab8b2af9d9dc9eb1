"""relu(x · y + x) as an operation of one's own: values, gradients and shapes."""

import importlib.util
import math
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch
from torch.testing._internal.optests import OpCheckError

from graders.checks import WrongAnswerError
from lesson_code.lab import fused_check, fused_kernel
from lesson_code.lab.fused_kernel import Operation, fused_pytorch, in_pytorch
from tests.building import REPOSITORY
from tests.warm import Parent

CPU = torch.device("cpu")
NO_TRITON = "Triton is not installed; PyTorch's builds for GPUs on Linux have it"
INTERPRETED = """
import warnings
warnings.simplefilter("ignore")
import torch
from torch.testing._internal.optests import OpCheckError
from lesson_code.lab.fused_check import examine
from lesson_code.lab.fused_kernel import fused_triton, in_pytorch
torch.set_num_threads(1)
print("largest difference:", examine(fused_triton, torch.device("cpu")))
pair = [torch.randn(3, 700).requires_grad_() for _ in range(2)]
print(sorted(set(torch.library.opcheck(fused_triton, pair).values())))
"""


class StandIn:
    """Triton as far as the kernel needs it: one memory, and addresses that are numbers."""

    def __init__(self) -> None:
        self.memory = torch.empty(0)
        self.program = 0
        self.language = SimpleNamespace(
            constexpr=int,
            program_id=lambda _: self.program,
            arange=torch.arange,
            load=lambda at, mask: self.memory[at.where(mask, 0)].where(mask, torch.nan),
            store=self.store,
            where=torch.where,
        )

    def store(self, at: torch.Tensor, values: torch.Tensor, mask: torch.Tensor) -> None:
        """What the mask leaves out stays."""
        self.memory[at[mask]] = values[mask]

    def jit(self, function: Callable[..., None]) -> "StandIn":
        """Keep the kernel; it is started by its grid."""
        self.function = function
        return self

    def __getitem__(self, grid: tuple[int]) -> Callable[..., None]:
        def run(
            x: torch.Tensor, y: torch.Tensor, out: torch.Tensor, n: int, **settings: Any
        ) -> None:
            self.memory = torch.cat([x.flatten(), y.flatten(), torch.full((n,), torch.inf)])
            for self.program in range(grid[0]):
                self.function(0, n, 2 * n, n, settings["BLOCK"])
            out.copy_(self.memory[2 * n :].reshape(out.shape))

        return run


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the kernel's lines here, whether Triton is installed or not."""
    triton: Any = ModuleType("triton")
    there = StandIn()
    triton.jit, triton.language = there.jit, there.language
    monkeypatch.setitem(sys.modules, "triton", triton)
    monkeypatch.setitem(sys.modules, "triton.language", triton.language)
    monkeypatch.delitem(sys.modules, "lesson_code.lab.triton_kernel", raising=False)
    package = sys.modules["lesson_code.lab"]
    monkeypatch.delattr(package, "triton_kernel", raising=False)


@pytest.fixture(autouse=True)
def forget_compiled(one_thread: None) -> None:
    """Compile afresh: what was compiled for one operation must not count for the next."""
    torch.compiler.reset()


def test_the_kernel_masks_what_lies_beyond_the_end(
    stand_in: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Line by line, 3 programs of 8 elements give 19 right ones and touch nothing else."""
    monkeypatch.setattr(fused_kernel, "BLOCK", 8)
    x, y = torch.randn(2, 19)
    x[4] = torch.nan

    made = fused_kernel.in_triton(x, y)

    torch.testing.assert_close(made, in_pytorch(x, y), rtol=0, atol=0, equal_nan=True)
    sys.modules.pop("lesson_code.lab.triton_kernel")


@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason=NO_TRITON)
def test_the_triton_kernel_is_exact_in_tritons_interpreter(warm: Parent) -> None:
    """The registered kernel trains and compiles, and its values are PyTorch's, bit for bit."""
    environment = {**os.environ, "TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": ""}

    ran = warm.run([sys.executable, "-c", INTERPRETED], REPOSITORY, environment)

    assert 0 == ran.returncode, ran.stderr
    assert ["largest difference: 0.0", "['SUCCESS']"] == ran.stdout.splitlines()


def test_the_operation_passes_its_own_examination() -> None:
    """With PyTorch inside there is nothing to find."""
    assert 0.0 == fused_check.examine(fused_pytorch, CPU)


def test_the_derivative_is_what_autograd_finds() -> None:
    """Where relu's input is zero or NaN too."""
    x = torch.tensor([1.0, -1.0, 0.0, 2.0, torch.nan])
    y = torch.tensor([3.0, 3.0, 3.0, -1.0, 1.0])
    pairs = [(x.clone().requires_grad_(), y.clone().requires_grad_()) for _ in range(2)]

    for way, pair in zip((in_pytorch, fused_pytorch), pairs, strict=True):
        way(*pair).sum().backward()

    for expected, made in zip(*pairs, strict=True):
        torch.testing.assert_close(made.grad, expected.grad, equal_nan=True)


def test_shapes_that_differ_are_refused() -> None:
    """A kernel would read beyond the end of the smaller one."""
    with pytest.raises(ValueError, match=r"x is \(2, 3\) and y is \(3,\)"):
        fused_pytorch(torch.ones(2, 3), torch.ones(3))


def without_the_tail(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The last block is forgotten, as it is not a whole one."""
    out = torch.zeros_like(x)
    whole = x.numel() // 1024 * 1024
    out.flatten()[:whole] = in_pytorch(x, y).flatten()[:whole]
    return out


def without_nan(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """C's fmaxf does this."""
    return torch.fmax(x * y + x, torch.zeros(()))


def in_the_order_of_memory(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Reads the elements as they lie, whatever their strides say."""
    stored = x.t().contiguous() if not x.is_contiguous() else x
    other = y.t().contiguous() if not y.is_contiguous() else y
    return in_pytorch(stored, other).reshape(x.shape)


def without_derivative() -> Operation:
    """Registered, and nothing more."""
    made: Operation = torch.library.custom_op("lesson::untaught", _plain, mutates_args=())
    return made


def without_plus_one() -> Operation:
    """The derivative of x * y alone."""
    made = torch.library.custom_op("lesson::wrongly_taught", _plain, mutates_args=())
    torch.library.register_fake("lesson::wrongly_taught", fused_kernel.like_x)

    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x, y = ctx.saved_tensors
        through_relu = gradient * (x * y + x > 0)
        return through_relu * y, through_relu * x

    torch.library.register_autograd(
        "lesson::wrongly_taught", backward, setup_context=fused_kernel.keep_inputs
    )
    return made  # type: ignore[return-value]


def without_shape() -> Operation:
    """No compiler can trace it."""
    made = torch.library.custom_op("lesson::shapeless", _plain, mutates_args=())
    torch.library.register_autograd(
        "lesson::shapeless", fused_kernel.backward, setup_context=fused_kernel.keep_inputs
    )
    return made  # type: ignore[return-value]


def _plain(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return in_pytorch(x, y).contiguous()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: without_the_tail, "is each element written once"),
        (lambda: without_nan, "NaN to stay NaN"),
        (lambda: in_the_order_of_memory, "a transposed input"),
        (lambda: torch.no_grad()(in_pytorch), "register the derivative"),
        (without_plus_one, "derive again"),
    ],
)
def test_a_wrong_operation_is_told_by_its_fault(make: Any, message: str) -> None:
    """Each fault has a check that finds it, and a hint."""
    with pytest.raises(WrongAnswerError, match=message):
        fused_check.examine(make(), CPU)


@pytest.mark.parametrize(
    ("make", "missing"),
    [(without_derivative, "register_autograd"), (without_shape, "fake")],
)
def test_what_is_not_registered_is_told_in_one_line(
    make: Callable[[], Operation], missing: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the examination itself stumbles over is a failure too."""
    assert not fused_check.told("mine", make, CPU)

    [line] = capsys.readouterr().out.splitlines()
    assert line.startswith("mine: FAIL: ")
    assert missing in line.lower()


def test_a_file_of_ones_own_is_examined(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command grades the function `fused` of a file."""
    names = ("right", "wrong", "unregistered", "empty")
    right, wrong, unregistered, empty = (tmp_path / f"{name}.py" for name in names)
    right.write_text("from lesson_code.lab.fused_kernel import fused_pytorch as fused\n")
    wrong.write_text("def fused(x, y):\n    return (x * y + x).abs()\n")
    unregistered.write_text("from lesson_code.lab.fused_kernel import in_pytorch as fused\n")
    empty.write_text("")

    ends = [fused_check.main([str(path)]) for path in (right, wrong, unregistered, empty)]

    said = capsys.readouterr()
    assert [0, 1, 1, 2] == ends
    assert "right.py: PASS, largest difference to PyTorch 0\n" in said.out
    assert "wrong.py: FAIL: expected the values of PyTorch, got" in said.out
    assert "unregistered.py: FAIL: expected a registered operation, got a function" in said.out
    assert "empty.py defines no operation fused" in said.err
    assert 2 == fused_check.main([str(tmp_path / "missing.py")])


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")
def test_pytorchs_examiner_wants_inputs_with_a_gradient_and_compares_none() -> None:
    """It finds a derivative that is missing, if it is told to look, and none that is wrong."""
    wrong, missing = without_plus_one(), without_derivative()
    torch.library.register_fake("lesson::untaught", fused_kernel.like_x)
    plain = torch.randn(2, 3, 4).unbind()
    trained = [tensor.clone().requires_grad_() for tensor in plain]

    assert {"SUCCESS"} == set(torch.library.opcheck(missing, plain).values())
    assert {"SUCCESS"} == set(torch.library.opcheck(wrong, trained).values())
    with pytest.raises(OpCheckError, match="register_autograd"):
        torch.library.opcheck(missing, trained)
    with pytest.raises(ValueError, match="op must be instance of"):
        torch.library.opcheck(in_pytorch, plain)


def test_all_that_cannot_run_here_says_why(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without interpreter, compiler and GPU only PyTorch is left, and that is no failure."""
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr(fused_check, "choose_device", lambda: CPU)
    monkeypatch.setitem(sys.modules, "triton", None)

    assert 0 == fused_check.main([])

    assert [
        "PyTorch: PASS, largest difference to PyTorch 0",
        "Triton: SKIPPED: Triton is not installed",
        "C++: SKIPPED: no C++ compiler is installed",
        "CUDA C++: SKIPPED: needs a CUDA GPU",
    ] == capsys.readouterr().out.splitlines()


def test_triton_on_a_cpu_wants_its_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason says what to write before the command."""
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    monkeypatch.setattr(fused_kernel, "find_spec", lambda name: name)

    with pytest.raises(fused_kernel.UnavailableError, match="TRITON_INTERPRET=1 before"):
        fused_kernel.triton_operation(CPU)
    assert fused_kernel.fused_triton is fused_kernel.triton_operation(torch.device("cuda"))


def test_one_operation_keeps_two_tensors_and_three_keep_three(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The result of relu need not be kept, as the inputs say it."""
    fused_kernel.print_kept_for_backward()

    assert [48, 32] == [int(line.split()[-2]) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.gpu
def test_the_triton_kernel_is_fit_for_training_on_a_gpu() -> None:
    """There a product and a sum may be rounded once, so the last bit may differ."""
    gpu = torch.device("cuda")

    difference = fused_check.examine(fused_kernel.triton_operation(gpu), gpu)

    assert difference < 1e-5  # a unit in the last place is 1.9e-6 from 16 on
    assert not math.isnan(difference)
