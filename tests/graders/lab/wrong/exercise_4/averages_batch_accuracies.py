"""The mean of the batches' accuracies gives a short batch too much weight."""

# fails: 4.3
# says: expected 0.9091, which is 40 of 44 samples, as a float, got 0.6667


def evaluate(model, loader, device, dtype):
    was_training = model.training
    model.eval()
    accuracies = []
    with torch.no_grad(), torch.autocast(device.type, dtype, enabled=dtype != torch.float32):
        for inputs, targets in loader:
            x, y = inputs.to(device), targets.to(device)
            accuracies.append((model(x).argmax(dim=1) == y).float().mean())
    model.train(was_training)
    return torch.stack(accuracies).mean().item()
