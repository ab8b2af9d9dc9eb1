"""An answer on the kernel's page: the operation could keep its result instead of y."""

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
