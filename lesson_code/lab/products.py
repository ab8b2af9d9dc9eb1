"""The product of two matrices, written three times. Shapes: all matrices are (n, n)."""

import torch


# --8<-- [start:lists]
def of_lists(a: list[list[float]], b: list[list[float]]) -> list[list[float]]:
    """Three loops over Python numbers."""
    n = len(a)
    c = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            for k in range(n):
                c[i][j] += a[i][k] * b[k][j]
    return c


# --8<-- [end:lists]


# --8<-- [start:indexed]
def of_indexed_tensors(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The same loops over tensors: every index makes a tensor of its own."""
    n = len(a)
    c = torch.zeros(n, n)
    for i in range(n):
        for j in range(n):
            for k in range(n):
                c[i, j] += a[i, k] * b[k, j]
    return c


# --8<-- [end:indexed]


# --8<-- [start:library]
def of_tensors(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """One call into a library that was tuned for this."""
    return a @ b


# --8<-- [end:library]
