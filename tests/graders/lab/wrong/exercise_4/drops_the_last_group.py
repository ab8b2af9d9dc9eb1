"""Steps after every fourth batch, and forgets what is left over."""

# fails: 4.2
# says: expected 3 optimizer steps for 10 batches of 32 with accum_steps=4, got 2


def train_one_epoch(model, loader, optimizer, scaler, loss_fn, device, dtype, accum_steps=1):
    model.train()
    total, seen = torch.zeros((), device=device), 0
    optimizer.zero_grad()
    for i, (inputs, targets) in enumerate(loader):
        x, y = inputs.to(device), targets.to(device)
        with torch.autocast(device.type, dtype, enabled=dtype != torch.float32):
            loss = loss_fn(model(x), y)
        scaler.scale(loss / accum_steps).backward()
        if (i + 1) % accum_steps == 0:
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
        total += loss.detach() * len(y)
        seen += len(y)
    return total.item() / seen
