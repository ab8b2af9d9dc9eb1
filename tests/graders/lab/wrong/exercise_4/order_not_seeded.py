"""Leaves the generator that shuffles as it comes, whatever --seed says."""

# fails: 4.1
# says: another one for another seed, got the same one for both seeds

_right = start_run


def start_run(options: Options) -> Run:
    run = _right(options)
    run.order.manual_seed(0)
    return run
