"""Runs the block as ever, and checkpoints a function that does nothing."""

# fails: 3.4
# says: bytes saved for 8 blocks, the input of each, got 851,968


def checkpointed_forward(blocks, x):
    for block in blocks:
        x = checkpoint(lambda t: t, block(x), use_reentrant=False)
    return x
