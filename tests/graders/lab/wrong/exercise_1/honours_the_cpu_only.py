"""Knows one preference, the CPU."""

# fails: 1.1
# says: expected the meta device when it is asked for


def pick_device(prefer: str | None = None) -> torch.device:
    if prefer == "cpu":
        return torch.device("cpu")
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
