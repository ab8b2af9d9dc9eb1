"""Checks that stop a run early, and probes that prove one simple claim about training each.

Every probe is a function that a learner can call on their own model; the planted faults below show
what each one says when the claim does not hold.

Shapes: B is the batch size.
"""

import contextlib
import io
import math
import os
import re
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import nn
from torch.nn import functional as F

from lesson_code.data import as_tensors, load_mnist
from lesson_code.foundations.modules import failure_of

Step = Callable[[nn.Module, torch.optim.Optimizer, torch.Tensor, torch.Tensor], torch.Tensor]
CPU = torch.device("cpu")
SEEDS = range(3)
LOW_RATE = 0.001


# --8<-- [start:fail_fast]
def assert_training_batch(
    features: torch.Tensor,
    labels: torch.Tensor,
    num_classes: int,
) -> None:
    """Stop at a batch that would train nothing, or something else.

    It is for labels that are int64 indices:
    relax it where yours are bytes or probabilities.
    """
    if len(labels) == 0:
        raise ValueError("the batch is empty")
    if not torch.isfinite(features).all():
        raise ValueError("features hold inf or NaN")
    if labels.dtype != torch.int64:
        raise TypeError(f"labels must be int64, not {labels.dtype}")
    smallest, largest = labels.min().item(), labels.max().item()
    if smallest < 0 or largest >= num_classes:
        raise ValueError(f"labels {smallest} to {largest}, not 0 to {num_classes - 1}")


def assert_loss_is_healthy(loss: torch.Tensor) -> None:
    """Stop before a loss that is no number reaches the weights."""
    if not torch.isfinite(loss):
        raise RuntimeError(f"the loss is {loss.item()}")


# --8<-- [end:fail_fast]


def spoiled_batches() -> dict[str, tuple[torch.Tensor, torch.Tensor]]:
    """Batches of features (B, 4) and labels (B,), each with one thing wrong for ten classes."""
    torch.manual_seed(0)
    features = torch.randn(6, 4)
    labels = torch.arange(6)
    infinite = features.clone()
    infinite[0, 0] = math.inf
    too_large, negative = labels.clone(), labels.clone()
    too_large[0], negative[0] = 10, -1
    return {
        "label 10 of 10 classes": (features, too_large),
        "label -1": (features, negative),
        "every label -100": (features, torch.full((6,), -100)),
        "int32 labels": (features, labels.int()),
        "one infinite feature": (infinite, labels),
        "no example at all": (features[:0], labels[:0]),
    }


def outcome_of(work: Callable[[], object]) -> str:
    """What ``work`` returned or raised, in a word or two."""
    try:
        result = work()
    except (ValueError, TypeError, RuntimeError, IndexError) as error:
        return type(error).__name__
    return f"loss {result}" if isinstance(result, float) else "passes"


def print_spoiled_batches() -> None:
    """Print what each spoiled batch does without and with the check."""
    torch.manual_seed(0)
    model = nn.Linear(4, 10)

    def loss_of(features: torch.Tensor, labels: torch.Tensor) -> float:
        return F.cross_entropy(model(features), labels).item()

    print(f"{'':24}{'PyTorch alone':18}with the check")
    for name, batch in spoiled_batches().items():
        alone = outcome_of(partial(loss_of, *batch))
        checked = outcome_of(partial(assert_training_batch, *batch, num_classes=10))
        print(f"{name:24}{alone:18}{checked}")
    checked = outcome_of(lambda: assert_loss_is_healthy(torch.tensor(math.nan)))
    print(f"{'loss NaN':24}{'goes on':18}{checked}")


# --8<-- [start:bad_label]
def lines_after_a_bad_label(device: torch.device) -> dict[str, Callable[[], object]]:
    """The loss of a label out of range, and two lines without labels."""
    logits = torch.zeros(6, 10, device=device)
    labels = torch.tensor([0, 1, 2, 3, 4, 10], device=device)
    return {
        "F.cross_entropy(logits, labels)": lambda: F.cross_entropy(logits, labels),
        "logits.sum().item()": lambda: logits.sum().item(),
        "torch.ones(1, device=device)": lambda: torch.ones(1, device=device),
    }


# --8<-- [end:bad_label]


def try_a_bad_label(device: str) -> None:
    """Print what each of these lines says; on a GPU the process is of no use afterwards."""
    for line, work in lines_after_a_bad_label(torch.device(device)).items():
        print(f"{line}\n    {failure_of(work)}", flush=True)


def print_bad_label() -> None:
    """Print the same lines from two fresh processes, the second of which waits for the GPU."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    code = f"from {__name__} import try_a_bad_label; try_a_bad_label({device!r})"
    for title, waits in {"# as usual": "0", "# CUDA_LAUNCH_BLOCKING=1": "1"}.items():
        environment = os.environ | {"CUDA_LAUNCH_BLOCKING": waits}
        command = [sys.executable, "-c", code]
        # A process whose GPU is lost may die at its end, after it has said everything.
        child = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False
        )
        print(f"\n{title}\n\n{child.stdout}", end="")
        for said in re.findall(r"Assertion `.+?` failed", child.stderr):  # from the kernel itself
            print(f"on stderr\n    {said}")


# --8<-- [start:training_step]
def training_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    features: torch.Tensor,
    labels: torch.Tensor,
) -> torch.Tensor:
    """The step under test: put your own in its place."""
    optimizer.zero_grad()
    loss = F.cross_entropy(model(features), labels)
    loss.backward()
    optimizer.step()
    return loss


# --8<-- [end:training_step]


# --8<-- [start:overfit_one_batch]
def overfit_one_batch(
    model: nn.Module,
    step: Step,
    features: torch.Tensor,
    labels: torch.Tensor,
    learning_rate: float = 0.05,
    steps: int = 200,
) -> tuple[float, float]:
    """The loss of the first and of the last step on always the same examples."""
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    losses = [step(model, optimizer, features, labels).item() for _ in range(steps)]
    return losses[0], losses[-1]


# --8<-- [end:overfit_one_batch]


def without_reset(
    model: nn.Module, optimizer: torch.optim.Optimizer, features: torch.Tensor, labels: torch.Tensor
) -> torch.Tensor:
    """A step whose gradients add up."""
    loss = F.cross_entropy(model(features), labels)
    loss.backward()
    optimizer.step()
    return loss


def with_softmax_first(
    model: nn.Module, optimizer: torch.optim.Optimizer, features: torch.Tensor, labels: torch.Tensor
) -> torch.Tensor:
    """A step that hands probabilities to a loss that wants logits."""
    optimizer.zero_grad()
    loss = F.cross_entropy(model(features).softmax(dim=1), labels)
    loss.backward()
    optimizer.step()
    return loss


# --8<-- [start:detached_logits]
def with_detached_logits(
    model: nn.Module, optimizer: torch.optim.Optimizer, features: torch.Tensor, labels: torch.Tensor
) -> torch.Tensor:
    """A step whose gradient ends at the logits."""
    optimizer.zero_grad()
    logits = model(features).detach().requires_grad_()
    loss = F.cross_entropy(logits, labels)
    loss.backward()
    optimizer.step()
    return loss


# --8<-- [end:detached_logits]


def with_reshuffled_labels(
    model: nn.Module, optimizer: torch.optim.Optimizer, features: torch.Tensor, labels: torch.Tensor
) -> torch.Tensor:
    """A step that gives the examples other labels each time."""
    return training_step(model, optimizer, features, labels[torch.randperm(len(labels))])


def without_step(
    model: nn.Module, optimizer: torch.optim.Optimizer, features: torch.Tensor, labels: torch.Tensor
) -> torch.Tensor:
    """A step that computes gradients and leaves the weights alone."""
    optimizer.zero_grad()
    loss = F.cross_entropy(model(features), labels)
    loss.backward()
    return loss


STEPS: dict[str, Step] = {
    "healthy": training_step,
    "gradients never reset": without_reset,
    "softmax before the loss": with_softmax_first,
    "logits detached": with_detached_logits,
    "labels reshuffled": with_reshuffled_labels,
    "step never called": without_step,
}


# --8<-- [start:twelve_examples]
def overfit_twelve_examples(step: Step, seed: int, rate: float = 0.05) -> tuple[float, float]:
    """The probe on a 4-16-3 network and twelve random examples."""
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
    return overfit_one_batch(model, step, torch.randn(12, 4), torch.randint(3, (12,)), rate)


# --8<-- [end:twelve_examples]


def overfit_digits(seed: int) -> tuple[float, float]:
    """The probe on 32 real digits and a network with dropout: first and last training loss."""
    with contextlib.redirect_stdout(io.StringIO()):  # it says which data it found
        images, labels = as_tensors(load_mnist(train=True, source="subset"))
    torch.manual_seed(seed)
    model = nn.Sequential(
        nn.Flatten(), nn.Linear(784, 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, 10)
    )
    return overfit_one_batch(model, training_step, images[:32], labels[:32], 0.01, steps=100)


def print_overfit() -> None:
    """Print where the probe begins and ends: healthy, with each fault, and at a low rate."""
    print(f"{f'medians of {len(SEEDS)} seeds':26}first loss  last loss")
    for name, step in STEPS.items():
        first, last = _median_run(step)
        # Without resets the loss swings, and its digits depend on the processor.
        wild = step is without_reset and last > 0.5
        print(f"{name:26}{first:10.2f}{'above 0.5' if wild else f'{last:.4f}':>11}")
    first, last = _median_run(training_step, LOW_RATE)
    print(f"{f'healthy, rate {LOW_RATE}':26}{first:10.2f}{last:11.4f}")
    first, last = overfit_digits(seed=0)
    print(f"{'healthy, 32 MNIST digits':26}{first:10.2f}{last:11.4f}")


def _median_run(step: Step, rate: float = 0.05) -> tuple[float, float]:
    runs = [overfit_twelve_examples(step, seed, rate) for seed in SEEDS]
    first, last = (statistics.median(losses) for losses in zip(*runs, strict=True))
    return first, last


def study_overfit() -> dict[str, list[float]]:
    """Print where the probe ends with five seeds, with a healthy step and with each faulty one."""
    found = {}
    print(f"{'five seeds':26}{'last loss':>18}")
    for name, step in STEPS.items():
        last = [overfit_twelve_examples(step, seed)[1] for seed in range(5)]
        print(f"{name:26}{f'{min(last):.4f} to {max(last):.4f}':>18}")
        found[name] = last
    return found


# --8<-- [start:gradient_norms]
def gradient_norms(model: nn.Module, loss: torch.Tensor) -> dict[str, float | None]:
    """The norm of every trainable tensor's gradient; None where no gradient arrived."""
    model.zero_grad()
    loss.backward()
    return {
        name: None if tensor.grad is None else tensor.grad.norm().item()
        for name, tensor in model.named_parameters()
        if tensor.requires_grad
    }


# --8<-- [end:gradient_norms]


# --8<-- [start:count_tensors]
def count_tensors(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, int]:
    """The tensors that the model wants trained, that the optimizer holds, and both."""
    trainable = {tensor for tensor in model.parameters() if tensor.requires_grad}
    held = {tensor for group in optimizer.param_groups for tensor in group["params"]}
    return {"trainable": len(trainable), "held": len(held), "both": len(trainable & held)}


# --8<-- [end:count_tensors]


class Perceptron(nn.Module):
    """A 4-16-3 network, into which a fault can be built.

    Args:
        fault: ``"dead"`` switches every ReLU off, ``"detached"`` cuts the graph, ``"list"`` hides
            the first layer in a plain list, ``"noise"`` adds randomness that ``eval()`` does not
            stop, ``"mask"`` makes a tensor on the CPU in forward; ``""`` leaves it healthy.
    """

    def __init__(self, fault: str = "", classes: int = 3) -> None:
        super().__init__()
        self.fault = fault
        hidden = nn.Linear(4, 16)
        if fault == "dead":
            nn.init.constant_(hidden.bias, -100.0)
        if fault == "list":
            self.hidden_layers = [hidden]
        else:
            self.hidden = hidden
        self.dropout = nn.Dropout(0.5)
        self.output = nn.Linear(16, classes)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Logits (B, classes) of features (B, 4)."""
        hidden = self.hidden_layers[0] if self.fault == "list" else self.hidden
        x = hidden(features).relu()  # (B, 16)
        if self.fault == "detached":
            x = x.detach()
        if self.fault == "noise":
            x = x + torch.randn_like(x)
        if self.fault == "mask":
            x = x * torch.ones(16)
        logits: torch.Tensor = self.output(self.dropout(x))
        return logits


def twelve_examples() -> tuple[torch.Tensor, torch.Tensor]:
    """Random features (12, 4) and labels (12,) of three classes."""
    generator = torch.Generator().manual_seed(1)
    features = torch.randn(12, 4, generator=generator)
    return features, torch.randint(3, (12,), generator=generator)


def norms_with(fault: str) -> dict[str, float | None]:
    """What the gradient probe says of a network with ``fault``."""
    torch.manual_seed(0)
    model = Perceptron(fault)
    features, labels = twelve_examples()
    return gradient_norms(model, F.cross_entropy(model(features), labels))


def counts() -> dict[str, dict[str, int]]:
    """What the counting probe says of a healthy pair and of three faulty ones."""
    pairs = {}
    for name in ("healthy", "plain list", "frozen afterwards", "optimizer built too early"):
        model = Perceptron("list" if name == "plain list" else "")
        optimizer = torch.optim.Adam(model.parameters())
        if name == "frozen afterwards":
            model.hidden.requires_grad_(False)
        if name == "optimizer built too early":
            model.output = nn.Linear(16, 3)
        pairs[name] = count_tensors(model, optimizer)
    return pairs


def print_gradients_and_counts() -> None:
    """Print what both probes of the wiring say of healthy and of faulty networks."""
    print("gradient norms")
    for name, fault in (("healthy", ""), ("dead ReLU", "dead"), ("detached", "detached")):
        norms = norms_with(fault)
        print(f"  {name}")
        for parameter, norm in norms.items():
            print(f"    {parameter:16}{'no gradient' if norm is None else f'{norm:.2f}'}")
    print(f"\n{'tensors':28}trainable  held  both")
    for name, count in counts().items():
        print(f"  {name:26}{count['trainable']:9}{count['held']:6}{count['both']:6}")


# --8<-- [start:passes_differ_by]
def passes_differ_by(predict: Callable[[], torch.Tensor]) -> float:
    """How far two validation passes over the same examples lie apart."""
    return (predict() - predict()).abs().max().item()


# --8<-- [end:passes_differ_by]


# --8<-- [start:reload_differs_by]
def reload_differs_by(model: nn.Module, fresh: nn.Module, features: torch.Tensor) -> float:
    """How far a fresh model with the saved weights answers from the one that was saved."""
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    # True is meant to let tensors and plain values through, and no code.
    fresh.load_state_dict(torch.load(file, weights_only=True))
    model.eval()
    fresh.eval()
    with torch.no_grad():
        return (model(features) - fresh(features)).abs().max().item()


# --8<-- [end:reload_differs_by]


# --8<-- [start:runs_differ_by]
def tiny_run(model: nn.Module, device: torch.device, steps: int = 20) -> list[float]:
    """The loss of every step; batches come from the CPU, equal for each device."""
    model.to(device).eval()  # dropout off: each device would draw masks of its own
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    generator = torch.Generator().manual_seed(1)
    losses = []
    for _ in range(steps):
        features = torch.randn(12, 4, generator=generator).to(device)
        labels = torch.randint(3, (12,), generator=generator).to(device)
        losses.append(training_step(model, optimizer, features, labels).item())
    return losses


def runs_differ_by(first: Sequence[float], second: Sequence[float]) -> float:
    """How far two runs lie apart at the step where they do most."""
    return max(abs(a - b) for a, b in zip(first, second, strict=True))


# --8<-- [end:runs_differ_by]


def seeded(fault: str = "", classes: int = 3, seed: int = 0) -> Perceptron:
    """A network whose weights the seed decides, in evaluation mode."""
    torch.manual_seed(seed)
    return Perceptron(fault, classes).eval()


def passes_with(fault: str, training: bool = False) -> float:
    """What the probe of two passes says of a network with ``fault``, or left in training mode."""
    model = seeded(fault).train(training)
    features, _ = twelve_examples()
    with torch.no_grad():
        return passes_differ_by(lambda: model(features))


def reload_with(fault: str, classes: int = 3) -> float:
    """What the probe of reloading says of a network with ``fault``, or of another output size."""
    features, _ = twelve_examples()
    return reload_differs_by(seeded(fault), seeded(fault, classes, seed=1), features)


def runs_with(fault: str = "", device: torch.device = CPU, mixed: bool = False) -> float:
    """How far a run with ``fault``, on ``device`` or in bfloat16, is from a healthy one."""
    healthy = tiny_run(seeded(), CPU)
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=mixed):
        other = tiny_run(seeded(fault), device)
    return runs_differ_by(healthy, other)


def forward_with(fault: str, device: torch.device) -> torch.Tensor:
    """The logits (12, 3) of a network with ``fault`` on ``device``."""
    features, _ = twelve_examples()
    logits: torch.Tensor = seeded(fault).to(device)(features.to(device))
    return logits


def print_differences() -> None:
    """Print what the three probes that compare say of healthy and of faulty networks."""
    print("two validation passes differ by")
    _print_differences(
        {
            "healthy": lambda: passes_with(""),
            "left in training mode": lambda: passes_with("", training=True),
            "noise in forward": lambda: passes_with("noise"),
        }
    )
    print("a reloaded model differs by")
    _print_differences(
        {
            "healthy": lambda: reload_with(""),
            "layer in a plain list": lambda: reload_with("list"),
            "another output size": lambda: reload_with("", classes=4),
        }
    )
    print("two tiny runs differ by")
    _print_differences(
        {
            "healthy, CPU twice": runs_with,
            "one in bfloat16": lambda: runs_with(mixed=True),
        }
    )
    print("a forward pass on the meta device")
    for name, fault in {"healthy": "", "mask made on the CPU": "mask"}.items():
        print(f"  {name:26}{outcome_of(partial(forward_with, fault, torch.device('meta')))}")


def _print_differences(probes: dict[str, Callable[[], float]]) -> None:
    for name, probe in probes.items():
        try:
            difference = probe()
        except RuntimeError as error:
            shown = type(error).__name__
        else:
            shown = "0" if difference == 0 else "more than 0.0001" if difference > 1e-4 else "noise"
        print(f"  {name:26}{shown}")
