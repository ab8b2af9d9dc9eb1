"""What the tests of the benchmarks share."""

from collections.abc import Iterator

import pytest
import torch


@pytest.fixture(autouse=True)
def _float32_switches() -> Iterator[None]:
    """The older switch for TF32 leaves "ieee" where nobody had said anything; undo that."""
    yield
    products = torch.backends.cuda.matmul
    if products.fp32_precision != "none":
        products.fp32_precision = "none"
