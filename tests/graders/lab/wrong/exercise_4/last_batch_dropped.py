"""Drops the last batch of each epoch, because it is smaller."""

# fails: 4.1
# says: expected training batches that hold all

_right = start_run


def start_run(options: Options) -> Run:
    run = _right(options)
    data, workers = run.train_loader.dataset, run.train_loader.num_workers
    loader = DataLoader(
        data,
        options.batch_size,
        shuffle=True,
        drop_last=True,
        generator=run.order,
        num_workers=workers,
    )
    return replace(run, train_loader=loader)
