"""Never looks at what was asked for."""

# fails: 1.1
# says: expected the CPU when it is asked for


def pick_device(prefer: str | None = None) -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
