"""Counts the evaluation and the saving as training time."""

# fails: 4.8
# says: stop the clock before you evaluate and save


def train_run(run: Run, options: Options) -> list[dict[str, float]]:
    done = 0
    if options.resume and options.resume.exists():
        done = load_state(options.resume, run.model, run.optimizer, run.scaler, run.order)
    history = []
    for epoch in range(done + 1, options.epochs + 1):
        start = time.perf_counter()
        loss = _epoch(run, options)
        accuracy = evaluate(run.model, run.test_loader, run.device, run.dtype)
        if options.resume:
            save_state(options.resume, run.model, run.optimizer, run.scaler, epoch, run.order)
        synchronize(run.device)
        seconds = time.perf_counter() - start
        history.append({"epoch": epoch, "loss": loss, "accuracy": accuracy, "seconds": seconds})
    return history
