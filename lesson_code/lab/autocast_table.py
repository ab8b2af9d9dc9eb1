"""Which operation runs in which type under autocast: the installed PyTorch is asked.

Fake tensors carry a shape, a type and a device, and no numbers. So a machine without a GPU can ask
what autocast would do on one. ``EXPECTED`` says what it did in the releases that were tried.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from textwrap import fill

import torch
import torch.nn.functional as F
from torch._subclasses.fake_tensor import FakeTensorMode

CAST_TO_16 = "cast to 16 bit"
CAST_TO_32 = "cast to float32"
WIDEST = "widest input wins"
KEEPS = "keeps its input's type"
REFUSED = "refused with an error"
NOT_ELIGIBLE = "not eligible, keeps its type"

Shapes = tuple[tuple[int, ...], ...]
VECTOR, MATRIX, MATRICES, IMAGES = (4,), (4, 4), (2, 4, 4), (2, 4, 8, 8)


@dataclass(frozen=True)
class Probe:
    """An operation, and the shapes of the floating-point tensors that it is called with."""

    call: Callable[..., torch.Tensor]
    shapes: Shapes


# --8<-- [start:result_type]
@contextmanager
def autocast_anyway(device: str, dtype: torch.dtype = torch.float16) -> Iterator[None]:
    """Autocast, for CUDA even where there is no GPU."""
    before = torch.is_autocast_enabled(device), torch.get_autocast_dtype(device)
    torch.set_autocast_enabled(device, True)  # torch.autocast("cuda") would find no GPU
    torch.set_autocast_dtype(device, dtype)
    try:
        yield
    finally:
        torch.set_autocast_enabled(device, before[0])
        torch.set_autocast_dtype(device, before[1])
        torch.clear_autocast_cache()  # of weights in 16 bits


def result_type(probe: Probe, device: str, types: list[torch.dtype]) -> torch.dtype:
    """The type that an operation returns, given inputs of these types."""
    with FakeTensorMode(), autocast_anyway(device):
        pairs = zip(probe.shapes, types, strict=True)
        inputs = [torch.ones(shape, dtype=kind, device=device) for shape, kind in pairs]
        return probe.call(*inputs).dtype


# --8<-- [end:result_type]


def _classes(like: torch.Tensor) -> torch.Tensor:
    """Four labels, or four positions, on the device of ``like``."""
    return torch.zeros(4, dtype=torch.int64, device=like.device)


def _batch_norm(images: torch.Tensor) -> torch.Tensor:
    """As the layer does: its parameters and statistics are float32."""
    one, zero = (make(4, device=images.device) for make in (torch.ones, torch.zeros))
    return F.batch_norm(images, zero, one, one, zero, training=True)


def _same_shapes(names: str, module: object, shapes: Shapes) -> dict[str, Probe]:
    return {name: Probe(getattr(module, name), shapes) for name in names.split()}


def _along_a_dimension(names: str, module: object) -> dict[str, Probe]:
    return {name: Probe(partial(getattr(module, name), dim=0), (MATRIX,)) for name in names.split()}


PROBES = {
    # Products of matrices, and what is built of them
    **_same_shapes("matmul mm", torch, (MATRIX, MATRIX)),
    "mv": Probe(torch.mv, (MATRIX, VECTOR)),
    "bmm": Probe(torch.bmm, (MATRICES, MATRICES)),
    "addmm": Probe(torch.addmm, (MATRIX, MATRIX, MATRIX)),
    "addmv": Probe(torch.addmv, (VECTOR, MATRIX, VECTOR)),
    "addr": Probe(torch.addr, (MATRIX, VECTOR, VECTOR)),
    "addbmm": Probe(torch.addbmm, (MATRIX, MATRICES, MATRICES)),
    "baddbmm": Probe(torch.baddbmm, (MATRICES, MATRICES, MATRICES)),
    "multi_dot": Probe(lambda *m: torch.linalg.multi_dot(m), (MATRIX, MATRIX, MATRIX)),
    "einsum": Probe(partial(torch.einsum, "ij,jk->ik"), (MATRIX, MATRIX)),
    "linalg_vecdot": Probe(torch.linalg.vecdot, (MATRIX, MATRIX)),
    "linear": Probe(F.linear, (MATRIX, MATRIX)),
    "conv1d": Probe(F.conv1d, ((2, 4, 8), (4, 4, 3))),
    "conv2d": Probe(F.conv2d, (IMAGES, (4, 4, 3, 3))),
    "conv3d": Probe(F.conv3d, ((2, 4, 8, 8, 8), (4, 4, 3, 3, 3))),
    "conv_transpose1d": Probe(F.conv_transpose1d, ((2, 4, 8), (4, 4, 3))),
    "conv_transpose2d": Probe(F.conv_transpose2d, (IMAGES, (4, 4, 3, 3))),
    "conv_transpose3d": Probe(F.conv_transpose3d, ((2, 4, 8, 8, 8), (4, 4, 3, 3, 3))),
    "conv_tbc": Probe(torch.conv_tbc, ((5, 2, 4), (3, 4, 4), VECTOR)),
    "prelu": Probe(F.prelu, (MATRIX, (1,))),
    "rnn_tanh_cell": Probe(torch.rnn_tanh_cell, ((2, 4), (2, 4), MATRIX, MATRIX)),
    "gru_cell": Probe(torch.gru_cell, ((2, 4), (2, 4), (12, 4), (12, 4), (12,), (12,))),
    "lstm_cell": Probe(
        lambda x, h, c, *weights: torch.lstm_cell(x, (h, c), *weights)[0],
        ((2, 4), (2, 4), (2, 4), (16, 4), (16, 4), (16,), (16,)),
    ),
    "scaled_dot_product_attention": Probe(F.scaled_dot_product_attention, (MATRICES,) * 3),
    # Element by element
    **_same_shapes(
        "exp expm1 log log2 log10 log1p reciprocal rsqrt sinh cosh tan acos asin erfinv "
        "relu sigmoid tanh sqrt cos sum prod norm max amax mean var",
        torch,
        (MATRIX,),
    ),
    **_same_shapes("softplus gelu silu dropout pdist", F, (MATRIX,)),
    "pow": Probe(lambda x: x**2, (MATRIX,)),
    "1/x": Probe(lambda x: 1 / x, (MATRIX,)),
    "+": Probe(torch.add, (MATRIX, MATRIX)),
    "-": Probe(torch.sub, (MATRIX, MATRIX)),
    "*": Probe(torch.mul, (MATRIX, MATRIX)),
    "/": Probe(torch.div, (MATRIX, MATRIX)),
    # Along a dimension
    **_along_a_dimension("cumsum cumprod logsumexp", torch),
    **_along_a_dimension("softmax log_softmax softmin", F),
    # Distances
    **_same_shapes("dist cdist cosine_similarity", torch, (MATRIX, MATRIX)),
    "renorm": Probe(lambda x: torch.renorm(x, 2, 0, 1), (MATRIX,)),
    # Norms of layers
    "layer_norm": Probe(lambda x: F.layer_norm(x, (4,)), (MATRIX,)),
    "group_norm": Probe(lambda x: F.group_norm(x, 2), (IMAGES,)),
    "rms_norm": Probe(lambda x: F.rms_norm(x, (4,)), (MATRIX,)),
    "batch_norm": Probe(_batch_norm, (IMAGES,)),
    # Losses
    **_same_shapes(
        "mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy "
        "binary_cross_entropy_with_logits poisson_nll_loss hinge_embedding_loss "
        "soft_margin_loss",
        F,
        (MATRIX, MATRIX),
    ),
    "kl_div": Probe(partial(F.kl_div, reduction="batchmean"), (MATRIX, MATRIX)),
    "cross_entropy": Probe(lambda x: F.cross_entropy(x, _classes(x)), (MATRIX,)),
    "nll_loss": Probe(lambda x: F.nll_loss(x, _classes(x)), (MATRIX,)),
    "multi_margin_loss": Probe(lambda x: F.multi_margin_loss(x, _classes(x)), (MATRIX,)),
    "margin_ranking_loss": Probe(F.margin_ranking_loss, (VECTOR,) * 3),
    "triplet_margin_loss": Probe(F.triplet_margin_loss, (MATRIX,) * 3),
    "cosine_embedding_loss": Probe(F.cosine_embedding_loss, (MATRIX, MATRIX, VECTOR)),
    # What has several inputs
    **_same_shapes("addcdiv addcmul", torch, (MATRIX,) * 3),
    "atan2": Probe(torch.atan2, (MATRIX, MATRIX)),
    "bilinear": Probe(F.bilinear, (MATRIX, MATRIX, (4, 4, 4))),
    "cross": Probe(partial(torch.cross, dim=1), ((4, 3), (4, 3))),
    **_same_shapes("dot vdot", torch, (VECTOR, VECTOR)),
    "grid_sample": Probe(partial(F.grid_sample, align_corners=False), (IMAGES, (2, 8, 8, 2))),
    "index_put": Probe(lambda x, y: torch.index_put(x, (_classes(x),), y), (VECTOR, VECTOR)),
    "scatter_add": Probe(lambda x, y: torch.scatter_add(x, 0, _classes(x), y), (VECTOR, VECTOR)),
    "tensordot": Probe(partial(torch.tensordot, dims=1), (MATRIX, MATRIX)),
    "cat": Probe(lambda *parts: torch.cat(parts), (MATRIX, MATRIX)),
    # Moving through images and tables
    "interpolate": Probe(partial(F.interpolate, scale_factor=2), (IMAGES,)),
    "max_pool2d": Probe(partial(F.max_pool2d, kernel_size=2), (IMAGES,)),
    "avg_pool2d": Probe(partial(F.avg_pool2d, kernel_size=2), (IMAGES,)),
    "embedding": Probe(lambda table: F.embedding(_classes(table), table), (MATRIX,)),
    # Calls that autocast leaves alone, although it would cast the plain operation
    "x.addmm_(y,z)": Probe(torch.Tensor.addmm_, (MATRIX,) * 3),
    "x.exp_()": Probe(torch.Tensor.exp_, (MATRIX,)),
    "mm(out=)": Probe(lambda x, y: torch.mm(x, y, out=torch.empty_like(x)), (MATRIX, MATRIX)),
    "sum(dtype=)": Probe(lambda x: torch.sum(x, dtype=x.dtype), (MATRIX,)),
    "softmax(dtype=)": Probe(lambda x: torch.softmax(x, 0, dtype=x.dtype), (MATRIX,)),
}

# What was seen with PyTorch 2.11, 2.13 and 2.15: on CUDA, on the CPU, and for which operations.
EXPECTED = {
    (CAST_TO_16, CAST_TO_16): (
        "matmul mm bmm addmm addbmm baddbmm multi_dot einsum linalg_vecdot linear conv1d conv2d "
        "conv3d conv_transpose1d conv_transpose2d conv_transpose3d conv_tbc prelu rnn_tanh_cell "
        "scaled_dot_product_attention"
    ),
    (CAST_TO_16, KEEPS): "mv addmv addr gru_cell lstm_cell",
    (CAST_TO_32, CAST_TO_32): (
        "prod cdist cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss huber_loss kl_div "
        "binary_cross_entropy_with_logits poisson_nll_loss hinge_embedding_loss soft_margin_loss "
        "multi_margin_loss margin_ranking_loss triplet_margin_loss cosine_embedding_loss"
    ),
    (CAST_TO_32, KEEPS): (
        "exp expm1 log log2 log10 log1p pow reciprocal 1/x rsqrt sinh cosh tan acos asin erfinv "
        "softplus sum cumsum cumprod norm logsumexp dist pdist renorm cosine_similarity softmax "
        "log_softmax softmin layer_norm group_norm rms_norm interpolate"
    ),
    (WIDEST, CAST_TO_16): "tensordot",
    (WIDEST, CAST_TO_32): "grid_sample",
    (WIDEST, KEEPS): "addcdiv addcmul atan2 bilinear cross dot vdot index_put scatter_add",
    (KEEPS, KEEPS): (
        "+ - * / relu gelu silu sigmoid tanh sqrt cos dropout max amax mean var max_pool2d "
        "avg_pool2d batch_norm cat embedding"
    ),
    (REFUSED, CAST_TO_32): "binary_cross_entropy",
    (NOT_ELIGIBLE, NOT_ELIGIBLE): "x.addmm_(y,z) x.exp_() mm(out=) sum(dtype=) softmax(dtype=)",
}
# They are on no list, and take the wider type of two by themselves.
PROMOTING = ("+", "-", "*", "/", "cat")
LEFT_ALONE = EXPECTED[NOT_ELIGIBLE, NOT_ELIGIBLE].split()
# Fake tensors cannot enter these everywhere: a build without CUDA has no cuDNN to ask about, and
# PyTorch 2.11 looks for a driver before it computes the cell.
NEED_A_CUDA_BUILD = ("batch_norm", "grid_sample", "gru_cell")
CHANGED_IN_2_12 = ("rms_norm",)  # before, CUDA kept its input's type

SINGLE, HALF = torch.float32, torch.float16
GROUP_OF_TYPES = {(HALF, HALF): CAST_TO_16, (SINGLE, SINGLE): CAST_TO_32, (SINGLE, HALF): KEEPS}


class CannotAskError(RuntimeError):
    """This build of PyTorch cannot run an operation on fake CUDA tensors; the message says why."""


def expected_groups(name: str) -> tuple[str, str]:
    """The groups of an operation on CUDA and on the CPU, as they were seen."""
    return next(groups for groups, names in EXPECTED.items() if name in names.split())


def group_of(name: str, device: str) -> str:
    """Ask the installed PyTorch for the group of an operation.

    Args:
        name: One of ``PROBES``.
        device: ``"cuda"`` or ``"cpu"``.

    Raises:
        CannotAskError: If this build cannot run it without a GPU.
    """
    probe = PROBES[name]
    inputs = len(probe.shapes)
    try:
        from_32 = result_type(probe, device, [SINGLE] * inputs)
        from_16 = result_type(probe, device, [HALF] * inputs)
    except (RuntimeError, AssertionError, AttributeError) as problem:
        if "unsafe to autocast" in str(problem):
            return REFUSED
        if name in NEED_A_CUDA_BUILD:
            raise CannotAskError(f"{name} cannot run on fake CUDA tensors: {problem}") from problem
        raise
    group = GROUP_OF_TYPES[from_32, from_16]
    if group == KEEPS and name in LEFT_ALONE:
        return NOT_ELIGIBLE
    if group == KEEPS and device == "cuda" and inputs > 1 and name not in PROMOTING:
        mixed = result_type(probe, device, [HALF, *[SINGLE] * (inputs - 1)])
        return WIDEST if mixed == SINGLE else KEEPS
    return group


def _groups_to_print(name: str) -> tuple[str, str]:
    try:
        return group_of(name, "cuda"), group_of(name, "cpu")
    except CannotAskError:
        return expected_groups(name)


def print_table() -> None:
    """Print the groups of all operations that behave alike in every release that was tried."""
    table: dict[tuple[str, str], list[str]] = {groups: [] for groups in EXPECTED}
    for name in (name for names in EXPECTED.values() for name in names.split()):
        if name not in CHANGED_IN_2_12:
            shown = f"{name}*" if name in NEED_A_CUDA_BUILD else name
            table.setdefault(_groups_to_print(name), []).append(shown)
    last = ""
    for (cuda, cpu), names in table.items():
        if cuda != last:
            print(f"On CUDA: {cuda}")
        last = cuda
        print(f"  on the CPU: {cpu}")
        print(fill(" ".join(names), 58, initial_indent=" " * 4, subsequent_indent=" " * 4))
    print("* not every build of PyTorch can be asked about it")
