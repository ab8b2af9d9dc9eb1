"""Overwrites the only file that there is."""

# fails: 4.7
# says: expected the file of epoch 1 when saving epoch 2 failed in the middle, got a damaged file


def save_state(
    path: Path,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    scaler: torch.amp.GradScaler,
    epoch: int,
    order: torch.Generator,
) -> None:
    on_gpu = next(model.parameters()).is_cuda
    state = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "scaler_state_dict": scaler.state_dict(),
        "epoch": epoch,
        "order": order.get_state(),
        "random": torch.get_rng_state(),
        "random_cuda": torch.cuda.get_rng_state() if on_gpu else None,
    }
    torch.save(state, path)
