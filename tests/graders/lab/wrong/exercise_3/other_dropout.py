"""Does not restore the random state, so that backward sees other masks."""

# fails: 3.4
# says: expected the gradients of plain_forward, bit for bit, got a difference of


def checkpointed_forward(blocks, x):
    for block in blocks:
        x = checkpoint(block, x, use_reentrant=False, preserve_rng_state=False)
    return x
