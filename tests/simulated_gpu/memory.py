"""The memory of the simulated GPU: a counter with a cap."""

import weakref

import torch

TOTAL_BYTES = 16_000_000_000
BLOCK_BYTES = 512  # PyTorch hands memory out in multiples of this


class Memory:
    """What storages hold, and the most that they held at once.

    Attributes:
        now: Bytes.
        peak: The most since it was last reset.
        fraction: The share of all memory that may be taken.
    """

    def __init__(self) -> None:
        self.now = 0
        self.peak = 0
        self.fraction = 1.0
        self._held: dict[int, weakref.ref[torch.UntypedStorage]] = {}

    def __contains__(self, storage: torch.UntypedStorage) -> bool:
        return storage._cdata in self._held

    def take(self, storage: torch.UntypedStorage) -> None:
        """Count a storage until it is gone; one that is counted already is not counted again.

        Raises:
            OutOfMemoryError: If it does not fit.
        """
        key = storage._cdata
        if key in self._held:
            return
        count = -(-storage.nbytes() // BLOCK_BYTES) * BLOCK_BYTES
        if self.now + count > self.fraction * TOTAL_BYTES:
            raise torch.OutOfMemoryError(f"CUDA out of memory. Tried to allocate {count} bytes.")
        self.now += count
        self.peak = max(self.peak, self.now)

        def gone(_: object) -> None:
            del self._held[key]
            self.now -= count

        self._held[key] = weakref.ref(storage, gone)

    def stats(self, device: int) -> dict[str, dict[str, dict[str, int]]]:
        """What ``torch.cuda.memory_stats`` is made of."""
        now = {"current": self.now, "peak": self.peak, "allocated": 0, "freed": 0}
        return {f"{name}_bytes": {"all": now} for name in ("allocated", "reserved", "active")}

    def reset_peak(self, device: int) -> None:
        """Forget the most."""
        self.peak = self.now

    def cap(self, fraction: float, device: int) -> None:
        """Let only so much be taken from now on."""
        self.fraction = fraction


MEMORY = Memory()
