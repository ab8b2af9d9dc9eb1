"""Reads the meter when backward has freed everything."""

# fails: 3.5
# says: expected about 851,968 bytes saved by plain_forward, got 0


def compare_checkpointing(make_blocks, x):
    costs = []
    for forward in (plain_forward, checkpointed_forward):
        blocks, runs = make_blocks(), []
        for block in blocks:
            block.register_forward_pre_hook(lambda *_, runs=runs: runs.append(1))
        meter = SavedBytes(blocks)
        with meter:
            output = forward(blocks, x)
        output.sum().backward()
        saved = meter.total()
        costs.append(Cost(saved, len(runs) // len(blocks)))
    return tuple(costs)
