"""Uses checkpoint_sequential, which runs its last segment without a checkpoint."""

# fails: 3.4
# says: the last one too


def checkpointed_forward(blocks, x):
    from torch.utils.checkpoint import checkpoint_sequential

    return checkpoint_sequential(blocks, len(blocks), x, use_reentrant=False)
