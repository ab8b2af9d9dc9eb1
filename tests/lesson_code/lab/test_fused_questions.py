"""An answer on the kernel's page: the operation could keep its result instead of y."""

import sys

import pytest
import torch

from lesson_code.lab.fused_kernel import in_pytorch


def _by_the_result(
    x: torch.Tensor, result: torch.Tensor, gradient: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The gradients of x and y, from x and the result alone."""
    through_relu = gradient.masked_fill(result == 0, 0.0)
    return through_relu * torch.where(result == 0, 0.0, result / x), through_relu * x


def test_the_result_gives_both_gradients_up_to_rounding() -> None:
    """Where relu is open the slope y + 1 is a quotient; where it is shut, both are zero."""
    torch.manual_seed(0)
    x, y = (torch.randn(1000).requires_grad_() for _ in range(2))
    with torch.no_grad():
        x[:10] = 0.0
    result = in_pytorch(x, y)
    gradient = torch.randn(1000)
    result.backward(gradient)
    of_x, of_y = _by_the_result(x.detach(), result.detach(), gradient)

    torch.testing.assert_close(x.grad, of_x)
    torch.testing.assert_close(y.grad, of_y)
    assert not torch.equal(x.grad, of_x)


def test_the_result_is_as_large_as_y_and_fails_where_it_overflowed() -> None:
    """No byte is saved, and an infinite result has no quotient to give."""
    x, y = torch.tensor([3e38]).requires_grad_(), torch.tensor([2.0])
    result = in_pytorch(x, y)
    result.sum().backward()
    of_x, _ = _by_the_result(x.detach(), result.detach(), torch.ones(1))

    assert y.nbytes == result.nbytes
    assert 3.0 == x.grad
    assert of_x.isinf().all()


def test_one_rounding_and_two_differ_by_many_bits_where_product_and_sum_cancel() -> None:
    """Hundreds of units in the last place of a small result; absolutely it is next to nothing."""
    generator = torch.Generator().manual_seed(0)
    x = torch.rand(10_000, generator=generator) + 0.5
    y = (torch.rand(10_000, generator=generator) - 0.5) / 500 - 1
    two = x * y + x
    once = (x.double() * y.double() + x.double()).float()
    unit = once.abs().nextafter(torch.tensor(torch.inf)) - once.abs()

    assert 100 < ((two - once).abs() / unit).median()
    assert (two - once).abs().max() < 1e-6


@pytest.mark.skipif(sys.platform != "linux", reason="Linux counts the pages that it clears")
def test_a_large_new_tensor_is_memory_that_the_system_clears() -> None:
    """Every page of it, three times for three kernels, and none where memory is there already."""
    import resource

    def pages() -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

    x, y = torch.ones(2, 2**24).unbind()  # as large as what is measured
    into = torch.zeros_like(x)
    fresh, reused = [], []
    for _ in range(2):
        before = pages()
        torch.add(x, y)
        made = pages()
        torch.add(x, y, out=into)
        fresh.append(made - before)
        reused.append(pages() - made)
    before = pages()
    in_pytorch(x, y)

    huge_pages = x.nbytes // 2**21  # the fewest
    assert huge_pages <= fresh[-1]
    assert 2 * fresh[-1] < pages() - before
    assert 2 * reused[-1] < fresh[-1]
