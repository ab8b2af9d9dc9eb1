"""The same training four times, with gradients that are too small for float16 on purpose.

The loss is multiplied by a factor, 2**-20, and the learning rate by its inverse. In exact
arithmetic nothing changes but the size of the gradients, and in float32 nothing changes either:
the losses are the same to the last bit. What then happens to a float16 run comes from float16's
range and from nothing else. The factor stands in for what makes gradients small in large work:
means over very many elements, long chains of layers, samples that are already fitted.

With the factor 1, the control, all four arms learn.

Shapes: images are (N, 1, 28, 28), labels (N,); the data are made up, see ``synthetic_digits``.
"""

import copy
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch.nn.functional import cross_entropy

from lesson_code.data import synthetic_digits
from lesson_code.devices import choose_device, one_thread
from lesson_code.models import MNISTClassifier

CPU = torch.device("cpu")
SHRUNK = 2.0**-20
EPOCHS = 5
BATCH_SIZE = 64
BASE_RATE = 2.0**-5  # times 2**20 is 32768; SGD on float16 weights refuses rates above 65504
LOSS_SCALE = 2.0**16  # GradScaler's first factor


@dataclass(frozen=True)
class Arm:
    """What one of the four runs does in float16.

    Attributes:
        all_float16: Weights, inputs, loss and gradients are float16.
        autocast: Weights stay float32, the matrix products are float16.
        scaler: A GradScaler multiplies the loss and divides the gradients back.
    """

    all_float16: bool = False
    autocast: bool = False
    scaler: bool = False


ARMS = {
    "float32": Arm(),
    "all_float16": Arm(all_float16=True),
    "autocast_without_scaler": Arm(autocast=True),
    "mixed_precision": Arm(autocast=True, scaler=True),
}


@dataclass(frozen=True)
class ArmResult:
    """What became of one run.

    Attributes:
        loss: Average loss of each epoch, before the factor.
        accuracy: Share of right answers on the validation part; guessing gives about 0.1.
        zero_share_first_epoch: Share of the weights' gradients that are exactly zero, epoch one.
        zero_share: The same, whole run.
        changed_share: Share of the weights that ended at another value than they began with.
    """

    loss: list[float]
    accuracy: float
    zero_share_first_epoch: float
    zero_share: float
    changed_share: float


def train_arm(
    arm: Arm, loss_factor: float, device: torch.device, weights_seed: int = 42, order_seed: int = 1
) -> ArmResult:
    """Train a fresh classifier; every arm starts with the same weights and sees the same batches.

    Args:
        arm: What is float16 in this run.
        loss_factor: Multiplies the loss; its inverse multiplies the learning rate.
        device: Where to train.
        weights_seed: Draws the first weights.
        order_seed: Draws the order of the batches.
    """
    torch.manual_seed(weights_seed)
    model = MNISTClassifier().to(device)
    images, labels, *validation = (part.to(device) for part in synthetic_digits())
    if arm.all_float16:
        model.half()
        images, validation[0] = images.half(), validation[0].half()
    first_weights = copy.deepcopy(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=BASE_RATE / loss_factor, momentum=0.9)
    scaler = torch.amp.GradScaler(device.type, enabled=arm.scaler)
    autocast = torch.amp.autocast(device.type, dtype=torch.float16, enabled=arm.autocast)

    order = torch.Generator().manual_seed(order_seed)
    losses, zero_shares = [], []
    for _ in range(EPOCHS):
        batches = torch.randperm(len(images), generator=order).split(BATCH_SIZE)
        total_loss, total_zero_share = 0.0, 0.0
        for batch in batches:
            optimizer.zero_grad()
            with autocast:
                loss = cross_entropy(model(images[batch]), labels[batch])
            scaler.scale(loss * loss_factor).backward()
            scaler.step(optimizer)
            scaler.update()
            total_loss += loss.item() * len(batch)
            total_zero_share += zero_share(p.grad for p in model.parameters())
        losses.append(total_loss / len(images))
        zero_shares.append(total_zero_share / len(batches))

    with torch.no_grad(), autocast:
        right = model(validation[0]).argmax(dim=1) == validation[1]
    moved = (p - q for p, q in zip(model.parameters(), first_weights.parameters(), strict=True))
    return ArmResult(
        loss=losses,
        accuracy=right.float().mean().item(),
        zero_share_first_epoch=zero_shares[0],
        zero_share=sum(zero_shares) / EPOCHS,
        changed_share=1 - zero_share(moved),
    )


def zero_share(tensors: Iterable[torch.Tensor | None]) -> float:
    """Share of exact zeros among all elements of ``tensors``."""
    kept = [tensor for tensor in tensors if tensor is not None]
    zeros = sum(int((tensor == 0).sum()) for tensor in kept)
    return zeros / sum(tensor.numel() for tensor in kept)


def run_demonstration(loss_factor: float, device: torch.device = CPU) -> dict[str, dict[str, Any]]:
    """Train all four arms.

    Args:
        loss_factor: ``SHRUNK`` for gradients below float16's range, 1.0 for the control.
        device: Where to train.

    Returns:
        For each name in ``ARMS`` the fields of ``ArmResult``, ready to be written as JSON.
    """
    with one_thread():
        return {name: asdict(train_arm(arm, loss_factor, device)) for name, arm in ARMS.items()}


def print_demonstration() -> dict[str, dict[str, dict[str, Any]]]:
    """Print what became of the four arms, with tiny gradients and with ordinary ones.

    Returns:
        ``"shrunk"`` and ``"control"``, each as ``run_demonstration`` gives it.
    """
    device = choose_device()
    shrunk = run_demonstration(SHRUNK, device)
    control = run_demonstration(1.0, device)
    print("Gradients made 2^20 times smaller, learning rate 2^20 times larger")
    _print_arms(shrunk)
    print("\nThe control: ordinary gradients, ordinary learning rate")
    _print_arms(control)
    return {"shrunk": shrunk, "control": control}


SEEDS = range(5)


def study_arms() -> dict[str, dict[str, list[dict[str, float]]]]:
    """Print what became of the four arms with other first weights and other orders of the batches.

    Returns:
        Of each arm, with tiny gradients and with ordinary ones, the last loss and the accuracy of
        every seed.
    """
    found: dict[str, dict[str, list[dict[str, float]]]] = {}
    for kind, factor in (("tiny gradients", SHRUNK), ("ordinary gradients", 1.0)):
        print(f"{kind + f', {len(SEEDS)} seeds':28}{'last loss':>18}{'accuracy':>20}{'learnt':>9}")
        found[kind] = {}
        for name, arm in ARMS.items():
            with one_thread():
                runs = [train_arm(arm, factor, CPU, seed, 100 + seed) for seed in SEEDS]
            losses, accuracies = [run.loss[-1] for run in runs], [run.accuracy for run in runs]
            learnt = sum(run.loss[-1] < 0.5 * run.loss[0] for run in runs)
            spread = f"{min(losses):.2f} to {max(losses):.2f}"
            right = f"{min(accuracies):.1%} to {max(accuracies):.1%}"
            print(f"{name.replace('_', ' '):28}{spread:>18}{right:>20}{learnt:>9}")
            found[kind][name] = [
                {"loss": loss, "accuracy": accuracy}
                for loss, accuracy in zip(losses, accuracies, strict=True)
            ]
    return found


def _print_arms(arms: dict[str, dict[str, Any]]) -> None:
    print(f"{'':24}{'loss':>16}{'accuracy':>10}{'gradients':>11}{'weights':>9}")
    print(f"{'':24}{'epoch 1':>8}{'epoch 5':>8}{'':>10}{'zero':>11}{'moved':>9}")
    for name, arm in arms.items():
        print(
            f"{name.replace('_', ' '):24}{arm['loss'][0]:>8.4f}{arm['loss'][-1]:>8.4f}"
            f"{arm['accuracy']:>10.1%}{arm['zero_share']:>11.1%}{arm['changed_share']:>9.1%}"
        )


def adam_in_float16(
    eps: float, steps: int, device: torch.device, seed: int = 42
) -> tuple[float, list[float]]:
    """Train in pure float16 with Adam, at the ordinary size of the loss.

    Returns:
        The loss of the last step, and after each step the share of weights that are inf or NaN.
    """
    torch.manual_seed(seed)
    model = MNISTClassifier().to(device).half()
    images, labels = (part.to(device) for part in synthetic_digits()[:2])
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, eps=eps)
    broken_shares = []
    for step in range(steps):
        batch = slice(step * BATCH_SIZE, (step + 1) * BATCH_SIZE)
        optimizer.zero_grad()
        loss = cross_entropy(model(images[batch].half()), labels[batch])
        loss.backward()
        optimizer.step()
        weights = torch.cat([p.detach().flatten() for p in model.parameters()])
        broken_shares.append(1 - weights.isfinite().float().mean().item())
    return loss.item(), broken_shares


def print_adam_in_float16() -> dict[str, dict[str, float | None]]:
    """Print what Adam does to float16 weights, for its default epsilon and for larger ones.

    Returns:
        For each epsilon the shares of weights that are no number after steps one and two and the
        ``loss`` after one epoch, None where it is NaN.
    """
    print("Adam on float16 weights, one epoch of 32 steps")
    print(f"{'epsilon':>10}{'weights inf or NaN after':>32}{'last loss':>14}")
    print(f"{'':10}{'step 1':>16}{'step 2':>16}")
    data: dict[str, dict[str, float | None]] = {}
    with one_thread():
        for eps in ("1e-8", "1e-7", "1e-4"):
            loss, broken = adam_in_float16(float(eps), steps=32, device=choose_device())
            print(f"{eps:>10}{broken[0]:>16.1%}{broken[1]:>16.1%}{loss:>14.4f}")
            data[eps] = {
                "broken_share_step_1": broken[0],
                "broken_share_step_2": broken[1],
                "loss": loss if loss == loss else None,
            }
    return data


def study_adam_in_float16() -> dict[str, list[float]]:
    """Print how many of five runs with Adam in float16 end with a number, and what they began with.

    Returns:
        For each epsilon the share of weights that are inf or NaN at the end of every seed's run.
    """
    found = {}
    print(f"{'five seeds':>10}{'runs with no weight lost':>28}{'weights lost, worst run':>27}")
    with one_thread():
        for eps in ("1e-8", "1e-7", "1e-4"):
            lost = [adam_in_float16(float(eps), 32, choose_device(), s)[1][-1] for s in SEEDS]
            print(f"{eps:>10}{sum(share == 0 for share in lost):>28}{max(lost):>27.1%}")
            found[eps] = lost
    return found


def zeros_after_unscaling(device: torch.device) -> dict[str, float]:
    """Scale the tiny gradients of a float16 model and divide them back, in two formats.

    Returns:
        The share of exact zeros in the first layer's weight gradient, first batch.
    """
    torch.manual_seed(42)
    single = MNISTClassifier().to(device)
    half = copy.deepcopy(single).half()
    images, labels = (part[:BATCH_SIZE].to(device) for part in synthetic_digits()[:2])

    def weight_gradient(model: MNISTClassifier, scale: float) -> torch.Tensor:
        logits = model(images.to(model.fc1.weight.dtype))
        loss = cross_entropy(logits.float(), labels) * SHRUNK
        return torch.autograd.grad(loss * scale, model.fc1.weight)[0]

    scaled = weight_gradient(half, LOSS_SCALE)
    return {
        "float32, not scaled": zero_share([weight_gradient(single, 1.0)]),
        "float16, not scaled": zero_share([weight_gradient(half, 1.0)]),
        "float16, scaled": zero_share([scaled]),
        "divided in float16": zero_share([scaled / LOSS_SCALE]),
        "divided in float32": zero_share([scaled.float() / LOSS_SCALE]),
    }


def train_with_float16_division(device: torch.device) -> tuple[list[float], float]:
    """Train float16 weights on tiny, scaled gradients that are divided back in float16.

    Returns:
        The average loss of each epoch, before the factor, and the validation accuracy.
    """
    torch.manual_seed(42)
    model = MNISTClassifier().to(device).half()
    images, labels, *validation = (part.to(device) for part in synthetic_digits())
    optimizer = torch.optim.SGD(model.parameters(), lr=BASE_RATE / SHRUNK, momentum=0.9)
    order = torch.Generator().manual_seed(1)
    losses = []
    for _ in range(EPOCHS):
        total_loss = 0.0
        for batch in torch.randperm(len(images), generator=order).split(BATCH_SIZE):
            optimizer.zero_grad()
            loss = cross_entropy(model(images[batch].half()).float(), labels[batch])
            (loss * SHRUNK * LOSS_SCALE).backward()
            for parameter in model.parameters():
                if parameter.grad is not None:
                    parameter.grad /= LOSS_SCALE
            optimizer.step()
            total_loss += loss.item() * len(batch)
        losses.append(total_loss / len(images))
    with torch.no_grad():
        right = model(validation[0].half()).argmax(dim=1) == validation[1]
    return losses, right.float().mean().item()


def print_unscaling_dtype() -> dict[str, Any]:
    """Print what remains of scaled gradients when they are divided in float16 and in float32.

    Returns:
        The ``zero_share`` of each way, and ``loss`` per epoch and ``accuracy`` of a whole run
        with the division in float16.
    """
    device = choose_device()
    with one_thread():
        shares = zeros_after_unscaling(device)
        losses, accuracy = train_with_float16_division(device)
    print("Gradients that are exactly zero (layer 1, first batch, factor 2^-20)")
    for name, share in shares.items():
        print(f"  {name:22}{share:>9.2%}")
    print("Five epochs of float16 weights, divided in float16")
    print(f"  {'loss':22}" + "".join(f"{loss:>9.3f}" for loss in losses))
    print(f"  {'accuracy':22}{accuracy:>9.1%}")
    return {"zero_share": shares, "loss": losses, "accuracy": accuracy}
