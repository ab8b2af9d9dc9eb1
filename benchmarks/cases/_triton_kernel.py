"""relu(x · y + x) as one Triton kernel. Importing this needs Triton."""

import triton  # type: ignore[import-untyped,import-not-found,unused-ignore]
import triton.language as tl  # type: ignore[import-untyped,import-not-found,unused-ignore]


@triton.jit  # type: ignore[untyped-decorator,unused-ignore]
def fused(x_ptr, y_ptr, out_ptr, elements, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]  # noqa: N803
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
    tl.store(out_ptr + offsets, tl.maximum(x * y + x, 0.0), mask=inside)
