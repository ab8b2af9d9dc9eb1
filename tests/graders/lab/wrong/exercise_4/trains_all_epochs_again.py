"""Adds the asked epochs to those of the file."""

# fails: 4.8
# says: expected records of epochs [3, 4] for 4 epochs, of which 2 are in the file


def train_run(run: Run, options: Options) -> list[dict[str, float]]:
    parts = run.model, run.optimizer, run.scaler
    done = 0
    if options.resume and options.resume.exists():
        done = load_state(options.resume, *parts, run.order)
    history = []
    for epoch in range(done + 1, done + options.epochs + 1):
        start = time.perf_counter()
        loss = _epoch(run, options)
        synchronize(run.device)
        seconds = time.perf_counter() - start
        accuracy = evaluate(run.model, run.test_loader, run.device, run.dtype)
        if options.resume:
            save_state(options.resume, *parts, epoch, run.order)
        history.append({"epoch": epoch, "loss": loss, "accuracy": accuracy, "seconds": seconds})
    return history
