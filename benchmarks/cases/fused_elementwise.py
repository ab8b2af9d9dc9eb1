"""relu(x · y + x) on a large tensor: PyTorch as it is, compiled, and as a kernel by hand.

PyTorch runs three kernels, each of which reads and writes whole tensors; fused into one, two
tensors are read and one is written. The bytes that each way moves are beside its time.
"""

from collections.abc import Iterator
from functools import partial

import torch

from benchmarks.cases import Part, Plan
from benchmarks.cases._fused_kernels import cuda_operation, triton_operation
from benchmarks.compiling import compiler
from benchmarks.method import Arm, measure
from lesson_code.lab.fused_kernel import Operation, in_pytorch
from results.cases import ON, Family, names_of
from results.entry import Entry

ELEMENTS = {"cpu": 2**24, "cuda": 2**26}  # 64 and 256 MiB a tensor, more than caches hold
QUICK_ELEMENTS = {"cpu": 2**16, "cuda": 2**16}
TENSORS_MOVED = {"eager": 3 + 3 + 2, "fused": 3}  # product, sum and relu one by one, or at once
SEED = 0
WORDS = {
    "eager": "PyTorch as it is",
    "compiled": "with torch.compile",
    "triton": "as a Triton kernel",
    "extension": "as a CUDA C++ kernel",
}
FAMILIES = tuple(
    Family(
        f"{device}_{{way}}",
        f"relu(x * y + x) on {ELEMENTS[device] / 1e6:.1f} million float32 numbers {ON[device]}, "
        "{way}",
        {"way": ways},
        device=device,
        words=WORDS,
        rate="bytes_per_s",
    )
    for device, ways in (("cpu", ("eager", "compiled")), ("cuda", tuple(WORDS)))
)
NEEDS = ("compiled_step", "copies")
ENTRIES = names_of(FAMILIES)


def parts(plan: Plan) -> Iterator[Part]:
    """Each device; its ways take turns. The extension is apart: few machines can build it."""
    yield Part("cpu", partial(_on_cpu, plan), expected_s=12, cpu_only=True)
    if plan.gpu:
        yield Part("cuda", partial(_on_gpu, plan, plan.gpu), expected_s=12)
        yield Part("cuda_extension", partial(_extension, plan, plan.gpu), expected_s=5)


def _on_cpu(plan: Plan) -> dict[str, Entry]:
    x, y = _inputs(plan, "cpu", plan.cpu)
    arms = {"cpu_eager": _arm(in_pytorch, x, y), "cpu_compiled": _arm(_compiled(), x, y)}
    with compiler():
        return measure(arms, plan.repetitions, warmups=3)


def _on_gpu(plan: Plan, gpu: torch.device) -> dict[str, Entry]:
    x, y = _inputs(plan, "cuda", gpu)
    arms = {
        "cuda_eager": _arm(in_pytorch, x, y),
        "cuda_compiled": _arm(_compiled(), x, y),
        "cuda_triton": _arm(triton_operation(gpu), x, y),
    }
    with compiler():
        return measure(arms, plan.repetitions, warmups=3)


def _extension(plan: Plan, gpu: torch.device) -> dict[str, Entry]:
    x, y = _inputs(plan, "cuda", gpu)
    return measure({"cuda_extension": _arm(cuda_operation(gpu), x, y)}, plan.repetitions, warmups=3)


def _compiled() -> Operation:
    """The operation, compiled at its first call for the shape that it meets there."""
    compiled: Operation = torch.compile(in_pytorch, dynamic=False)
    return compiled


def _inputs(plan: Plan, name: str, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    elements = (QUICK_ELEMENTS if plan.quick else ELEMENTS)[name]
    generator = torch.Generator(device).manual_seed(SEED)
    x, y = (torch.randn(elements, generator=generator, device=device) for _ in range(2))
    return x, y


def _arm(way: Operation, x: torch.Tensor, y: torch.Tensor) -> Arm:
    moved = TENSORS_MOVED["eager" if way is in_pytorch else "fused"]

    def outcome() -> dict[str, float]:
        """A kernel may round once less than three of them do; more than that is a mistake."""
        return {"largest_difference": float((way(x, y) - in_pytorch(x, y)).abs().max())}

    settings = {"elements": x.numel(), "dtype": "float32", "tensors_moved": moved}
    amount = float(moved * x.numel() * x.element_size())
    return Arm(partial(way, x, y), x.device, settings, SEED, amount, outcome=outcome)
