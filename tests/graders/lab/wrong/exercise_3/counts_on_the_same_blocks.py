"""Takes the same blocks twice, where the hooks of the first run count again."""

# fails: 3.5
# says: take new blocks for each way


def compare_checkpointing(
    make_blocks: Callable[[], nn.Sequential], x: torch.Tensor
) -> tuple[Cost, Cost]:
    blocks = make_blocks()
    costs, runs = [], []
    for forward in (plain_forward, checkpointed_forward):
        blocks[0].register_forward_pre_hook(lambda *_: runs.append(1))
        meter = SavedBytes(blocks)
        with meter:
            output = forward(blocks, x)
        saved = meter.total()
        output.sum().backward()
        costs.append(Cost(saved, len(runs)))
    return costs[0], costs[1]
