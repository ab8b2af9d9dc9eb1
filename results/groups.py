"""Cases whose numbers are set beside each other, so that they have to come from one file.

Standard library only: the job, the site and its tests share it.
"""

TOGETHER = (
    ("tiny_epoch", "mnist_epoch"),
    ("ladder", "matmul", "copies"),
    ("mixed_precision", "cnn_step", "checkpointing", "accumulation", "transformer_memory"),
    ("fused_elementwise", "compiled_step"),
)


def group_of(case: str) -> tuple[str, ...]:
    """The cases that a case is compared with and itself; itself alone if there are none."""
    return next((group for group in TOGETHER if case in group), (case,))
