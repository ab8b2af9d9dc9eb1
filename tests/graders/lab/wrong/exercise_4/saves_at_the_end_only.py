"""Loses everything when the run is stopped."""

# fails: 4.8
# says: expected states saved after epochs [1, 2, 3, 4]


def train_run(run: Run, options: Options) -> list[dict[str, float]]:
    parts = run.model, run.optimizer, run.scaler
    done = 0
    if options.resume and options.resume.exists():
        done = load_state(options.resume, *parts, run.order)
    history = []
    for epoch in range(done + 1, options.epochs + 1):
        start = time.perf_counter()
        loss = _epoch(run, options)
        synchronize(run.device)
        seconds = time.perf_counter() - start
        accuracy = evaluate(run.model, run.test_loader, run.device, run.dtype)
        history.append({"epoch": epoch, "loss": loss, "accuracy": accuracy, "seconds": seconds})
    if options.resume:
        save_state(options.resume, *parts, options.epochs, run.order)
    return history
