"""Never runs the backward pass, where the price is paid."""

# fails: 3.5
# says: expected 2 runs of each block with checkpointed_forward, got 1


def compare_checkpointing(make_blocks, x):
    costs = []
    for forward in (plain_forward, checkpointed_forward):
        blocks, runs = make_blocks(), []
        for block in blocks:
            block.register_forward_pre_hook(lambda *_, runs=runs: runs.append(1))
        meter = SavedBytes(blocks)
        with meter:
            output = forward(blocks, x)
        saved = meter.total()
        costs.append(Cost(saved, len(runs) // len(blocks)))
    return tuple(costs)
