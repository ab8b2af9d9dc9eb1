"""The lesson's own step, counted."""

from lesson_code.forecast.counter import count_step
from lesson_code.forecast.examples import mnist


def print_step() -> dict[str, int]:
    """What the step is made of."""
    model, optimizer, loss_function, batch = mnist()
    step = count_step(model, optimizer, loss_function, batch)
    counts = {
        "operations in products": step.flop["float32"],
        "bytes read and written": step.bytes,
        "launches": step.launches,
        "bytes of tensors at most": step.peak_bytes,
    }
    for what, count in counts.items():
        print(f"{count:11,} {what}")
    return counts
