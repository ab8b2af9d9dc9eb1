"""The saved-bytes meter: what graphs keep for their backward passes, and for how long.

Operations that autograd records save the tensors that their derivatives need. The meter watches
them through PyTorch's own hooks and can be read at any time: right after a forward pass it says
what backward will need, later on what something still keeps alive.
"""

# --8<-- [start:meter]
import weakref
from collections import Counter
from typing import Self

import torch
from torch import nn


class Saved:
    """A tensor that a graph holds; this holder goes when the graph lets go of it."""

    def __init__(self, tensor: torch.Tensor) -> None:
        # The tensor itself points at its graph: a circle, which would look like a leak.
        self.tensor = tensor.detach()


class SavedBytes(torch.autograd.graph.saved_tensors_hooks):
    """Counts the bytes that graphs recorded inside ``with`` keep alive.

    Args:
        left_out: Modules, whose parameters and buffers do not count, and inputs.
    """

    def __init__(self, *left_out: nn.Module | torch.Tensor) -> None:
        super().__init__(self._hold, lambda saved: saved.tensor)
        self._alive: weakref.WeakSet[Saved] = weakref.WeakSet()
        # Storages, not only their addresses: these are not given to others meanwhile.
        self._left_out: dict[int, torch.UntypedStorage] = {}
        for item in left_out:
            if isinstance(item, nn.Module):
                tensors = [*item.parameters(), *item.buffers()]
            else:
                tensors = [item]
            self._left_out |= {_address(t): t.untyped_storage() for t in tensors}

    def __enter__(self) -> Self:  # type: ignore[override]
        super().__enter__()
        return self

    def _hold(self, tensor: torch.Tensor) -> Saved:
        saved = Saved(tensor)
        self._alive.add(saved)
        return saved

    def by_dtype(self) -> Counter[torch.dtype]:
        """Bytes alive now for each dtype; tensors that share a storage count once."""
        tensors = {_address(saved.tensor): saved.tensor for saved in self._alive}
        count: Counter[torch.dtype] = Counter()
        for address in tensors.keys() - self._left_out.keys():
            count[tensors[address].dtype] += tensors[address].untyped_storage().nbytes()
        return count

    def total(self) -> int:
        """Bytes alive now."""
        return self.by_dtype().total()


def _address(tensor: torch.Tensor) -> int:
    """The same for all tensors that share their memory, on any device."""
    address: int = tensor.untyped_storage()._cdata
    return address


# --8<-- [end:meter]
