"""Leaves the form open, and gets the reentrant one."""

# fails: 3.4
# says: expected an output that carries a graph, although x requires no grad


def checkpointed_forward(blocks, x):
    for block in blocks:
        x = checkpoint(block, x)
    return x
