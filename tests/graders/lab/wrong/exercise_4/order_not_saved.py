"""Deals the batches out in another order after a pause."""

# fails: 4.7
# says: expected the state of the generator that shuffles as saved


def load_state(
    path: Path,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    scaler: torch.amp.GradScaler,
    order: torch.Generator,
) -> int:
    home = next(model.parameters()).device
    state = load_untrusted(path, home)  # with weights_only=True
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    load_scaler_state(scaler, state)  # only into an enabled one
    torch.set_rng_state(state["random"].cpu())
    if home.type == "cuda" and state["random_cuda"] is not None:
        torch.cuda.set_rng_state(state["random_cuda"].cpu())
    epoch: int = state["epoch"]
    return epoch
