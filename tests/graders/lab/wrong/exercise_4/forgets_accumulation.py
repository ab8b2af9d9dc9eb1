"""Takes no notice of --accum-steps."""

# fails: 4.8
# says: training with the run's type, the training data and --accum-steps 2


def train_run(run: Run, options: Options) -> list[dict[str, float]]:
    parts = run.model, run.optimizer, run.scaler
    done = 0
    if options.resume and options.resume.exists():
        done = load_state(options.resume, *parts, run.order)
    history = []
    for epoch in range(done + 1, options.epochs + 1):
        start = time.perf_counter()
        loss = _epoch(run, replace(options, accum_steps=1))
        synchronize(run.device)
        seconds = time.perf_counter() - start
        accuracy = evaluate(run.model, run.test_loader, run.device, run.dtype)
        if options.resume:
            save_state(options.resume, *parts, epoch, run.order)
        history.append({"epoch": epoch, "loss": loss, "accuracy": accuracy, "seconds": seconds})
    return history
