"""Looks for a GPU, where the device that it was given is a CPU."""

# fails: 4.4
# says: your code stopped with


def profile_memory(step: Callable[[], object], device: torch.device) -> dict[str, int | None]:
    if not torch.cuda.is_available():
        step()
        return dict.fromkeys(MEMORY)
    torch.cuda.reset_peak_memory_stats(device)  # else it tells of whatever ran before
    step()
    synchronize(device)
    return {
        "allocated_bytes": torch.cuda.memory_allocated(device),
        "peak_bytes": torch.cuda.max_memory_allocated(device),
        "reserved_bytes": torch.cuda.memory_reserved(device),
    }
