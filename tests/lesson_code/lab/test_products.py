"""One product, written three times."""

import torch

from lesson_code.lab.products import of_indexed_tensors, of_lists, of_tensors


def test_all_three_give_the_same_product() -> None:
    """They differ in speed alone."""
    a, b = torch.rand(2, 5, 5).unbind()

    expected = a @ b
    torch.testing.assert_close(expected, of_tensors(a, b))
    torch.testing.assert_close(expected, of_indexed_tensors(a, b))
    torch.testing.assert_close(expected, torch.tensor(of_lists(a.tolist(), b.tolist())))
