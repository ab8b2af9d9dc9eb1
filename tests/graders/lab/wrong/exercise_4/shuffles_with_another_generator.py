"""The loader shuffles with the global generator, the run keeps another."""

# fails: 4.1
# says: run.order


def start_run(options: Options) -> Run:
    if options.device == "cuda" and not torch.cuda.is_available():
        raise InputError("--device cuda: PyTorch finds no GPU here; leave it out, or say cpu")
    device = choose_device() if options.device == "auto" else torch.device(options.device)
    float32_switches(options.precision, device)
    dtype = DTYPES[options.precision]

    torch.manual_seed(options.seed)
    model = build_model().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler(device.type, enabled=dtype == torch.float16)

    limit = options.limit_batches and options.limit_batches * options.batch_size
    order = torch.Generator().manual_seed(options.seed)
    loader = partial(
        DataLoader,
        batch_size=options.batch_size,
        num_workers=options.workers,
        pin_memory=device.type == "cuda",
    )
    training, test = build_data(limit)
    train_loader = loader(training, shuffle=True)
    return Run(device, dtype, model, optimizer, scaler, train_loader, loader(test), order)
