"""Names the loop's variable in a lambda, which by the time of backward is the last block."""

# fails: 3.4
# says: expected the gradients of plain_forward, bit for bit


def checkpointed_forward(blocks, x):
    for block in blocks:
        x = checkpoint(lambda t: block(t), x, use_reentrant=False)
    return x
