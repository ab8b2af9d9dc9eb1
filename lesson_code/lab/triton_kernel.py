"""relu(x · y + x) as one Triton kernel. Importing this needs Triton."""

# mypy: disable-error-code="untyped-decorator, no-untyped-def"
# ruff: noqa: N803

import triton  # type: ignore[import-untyped,import-not-found,unused-ignore]
import triton.language as tl  # type: ignore[import-untyped,import-not-found,unused-ignore]


# --8<-- [start:kernel]
@triton.jit
def fused(x_ptr, y_ptr, out_ptr, elements, BLOCK: tl.constexpr):
    """Each program reads one block of both inputs once and writes one block of the result.

    Args:
        x_ptr: The first element of x, float32, contiguous.
        y_ptr: The same of y.
        out_ptr: The same of the result.
        elements: How many there are; the last block may reach beyond them.
        BLOCK: Elements of a block, a power of two.
    """
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < elements
    x = tl.load(x_ptr + offsets, mask=inside)
    y = tl.load(y_ptr + offsets, mask=inside)
    result = x * y + x
    result = tl.where(result < 0.0, 0.0, result)  # NaN stays NaN
    tl.store(out_ptr + offsets, result, mask=inside)


# --8<-- [end:kernel]
