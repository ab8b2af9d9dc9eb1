"""Saves memory by recording nothing."""

# fails: 3.4
# says: so that no block gets a gradient


def checkpointed_forward(blocks, x):
    with torch.no_grad():
        return blocks(x)
