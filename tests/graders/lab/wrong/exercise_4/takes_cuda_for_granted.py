"""Does not ask whether there is a GPU."""

# fails: 4.1
# says: expected an InputError in one line that names --device cuda


def start_run(options: Options) -> Run:
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
    train_loader = loader(training, shuffle=True, generator=order)
    return Run(device, dtype, model, optimizer, scaler, train_loader, loader(test), order)
