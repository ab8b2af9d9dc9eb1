"""Never looks at the loader first."""

# fails: 4.6
# says: expected 'data' for 30 ms to load


def limiting_resource(load_s: float, compute_s: float, doubled_s: float) -> str:
    if doubled_s < 1.5 * compute_s:
        return "launches"
    return "data" if load_s > compute_s else "computation"
