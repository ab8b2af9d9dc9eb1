"""Registration: what a module knows about its parts, and what becomes of parts it doesn't know of.

Shapes: images are (B, 1, 28, 28), float32; labels are (B,), int64; B is the batch size.
"""

import textwrap
from collections.abc import Callable, Iterable
from statistics import median

# --8<-- [start:digit_classifier]
import torch
from torch import nn


class DigitClassifier(nn.Module):
    """A layer of hidden units and a layer of classes, with dropout between them."""

    def __init__(self, inputs: int = 784, hidden: int = 128, classes: int = 10) -> None:
        super().__init__()  # before anything is assigned
        self.fc1 = nn.Linear(inputs, hidden)
        self.activation = nn.ReLU()
        self.dropout = nn.Dropout(0.2)
        self.fc2 = nn.Linear(hidden, classes)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Raw logits (B, classes) of images (B, 1, 28, 28)."""
        pixels = torch.flatten(images, start_dim=1)  # (B, 784)
        return self.fc2(self.dropout(self.activation(self.fc1(pixels))))


# --8<-- [end:digit_classifier]

EXAMPLES = 12  # few enough to know by heart
STEPS = 200
SEEDS = range(10)
Container = Callable[[list[nn.Linear]], Iterable[nn.Module]]


# --8<-- [start:broken]
class NoInit(nn.Module):
    """Assigns a layer to an attribute of a module that isn't one yet."""

    def __init__(self) -> None:
        self.fc1 = nn.Linear(784, 128)


class ListWithoutInit(nn.Module):
    """Assigns nothing that PyTorch would notice."""

    def __init__(self) -> None:
        self.layers = [nn.Linear(784, 10)]


class PlainList(nn.Module):
    """Begins rightly, and keeps all its layers in a list."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = [nn.Linear(784, 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, 10)]

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Raw logits (B, 10) of images (B, 1, 28, 28)."""
        values = torch.flatten(images, start_dim=1)
        for layer in self.layers:
            values = layer(values)
        return values


# --8<-- [end:broken]


def failure_of(action: Callable[[], object]) -> str:
    """Type and first line of what ``action`` raises, or the words "no error"."""
    try:
        action()
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"
    return "no error"


def _print_failures(title: str, actions: dict[str, Callable[[], object]]) -> None:
    """Print what each action raises, under a title; long messages go on in the next line."""
    print(title)
    for name, action in actions.items():
        text = f"  {name:26}{failure_of(action)}"
        print(textwrap.fill(text, 72, subsequent_indent=" " * 28, break_long_words=False))


def print_loud_failures() -> None:
    """Print where each of the three broken classes stops."""
    images = torch.rand(32, 1, 28, 28, generator=torch.Generator().manual_seed(0))
    _print_failures("no super().__init__(), a layer as attribute", {"NoInit()": NoInit})

    unready = ListWithoutInit()
    actions: dict[str, Callable[[], object]] = {
        "ListWithoutInit()": ListWithoutInit,
        "model(images)": lambda: unready(images),
        "list(model.parameters())": lambda: list(unready.parameters()),
        "print(model)": lambda: repr(unready),
        "model.to(device)": lambda: unready.to("cpu"),
        "model.eval()": unready.eval,
    }
    _print_failures("\nno super().__init__(), layers in a list", actions)

    model = PlainList()
    actions = {
        "model(images)": lambda: model(images),
        "Adam(model.parameters())": lambda: torch.optim.Adam(model.parameters()),
    }
    _print_failures("\nsuper().__init__() called, all layers in a list", actions)
    print(f"  {'parameters':26}{len(list(model.parameters()))}")
    print(f"  {'entries in state_dict()':26}{len(model.state_dict())}")
    torch.manual_seed(0)
    model.eval()
    print(f"  {'two passes after eval()':26}equal: {torch.equal(model(images), model(images))}")
    model.double()
    print(f"  {'layers[0] after .double()':26}{model.layers[0].weight.dtype}")


# --8<-- [start:three_layers]
class ThreeLayers(nn.Module):
    """Two hidden layers in a container, ``list`` or ``nn.ModuleList``, and a head."""

    def __init__(self, container: Container) -> None:
        super().__init__()
        self.hidden = container([nn.Linear(4, 8), nn.Linear(8, 8)])
        self.head = nn.Linear(8, 3)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Raw logits (B, 3) of features (B, 4)."""
        for layer in self.hidden:
            features = torch.relu(layer(features))
        return self.head(features)


def memorise(model: ThreeLayers, features: torch.Tensor, labels: torch.Tensor) -> float:
    """Train on one batch and nothing else; give its loss after the last step."""
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = criterion(model(features), labels)
        loss.backward()
        optimizer.step()
    return loss.item()


# --8<-- [end:three_layers]


def memorise_twelve(container: Container, seed: int) -> dict[str, float]:
    """Let a fresh network learn twelve random examples by heart, and look at its first layer.

    Args:
        container: What holds the hidden layers.
        seed: Fixes the weights and the examples.

    Returns:
        ``loss`` after the last step, the largest ``change`` of a weight of the first hidden layer,
        and the norms of the last gradients: ``hidden_gradient`` of that layer, ``head_gradient``.
    """
    torch.manual_seed(seed)
    model = ThreeLayers(container)
    features, labels = torch.randn(EXAMPLES, 4), torch.randint(3, (EXAMPLES,))
    first = next(iter(model.hidden)).get_parameter("weight")
    before = first.detach().clone()

    loss = memorise(model, features, labels)

    return {
        "loss": loss,
        "change": (first.detach() - before).abs().max().item(),
        "hidden_gradient": _gradient_norm(first),
        "head_gradient": _gradient_norm(model.get_parameter("head.weight")),
    }


def _gradient_norm(parameter: nn.Parameter) -> float:
    assert parameter.grad is not None
    return parameter.grad.norm().item()


def print_silent_failure() -> dict[str, dict[str, float]]:
    """Print what a list and a ModuleList make of the same training, over ten seeds.

    Returns:
        For ``registered`` and ``hidden``: smallest, largest and median final loss, the median
        norms of the two last gradients and the largest change of a hidden weight.
    """
    containers: dict[str, Container] = {"registered": nn.ModuleList, "hidden": list}
    arms = {}
    for name, container in containers.items():
        runs = [memorise_twelve(container, seed) for seed in SEEDS]
        losses = [run["loss"] for run in runs]
        arms[name] = {
            "tensors": len(list(ThreeLayers(container).parameters())),
            "smallest_loss": min(losses),
            "largest_loss": max(losses),
            "median_loss": median(losses),
            "hidden_gradient": median(run["hidden_gradient"] for run in runs),
            "head_gradient": median(run["head_gradient"] for run in runs),
            "change": max(run["change"] for run in runs),
        }
    rows = {
        "tensors in the optimizer": ("tensors", ".0f"),
        "largest change of a hidden weight": ("change", ".1f"),
        "gradient norm, hidden[0], at the end": ("hidden_gradient", ".2f"),
        "gradient norm, head, at the end": ("head_gradient", ".2f"),
        "final loss, smallest of ten runs": ("smallest_loss", ".2f"),
        "final loss, largest of ten runs": ("largest_loss", ".2f"),
    }
    print(f"{'hidden layers in a':38}{'ModuleList':>12}{'list':>10}")
    for title, (key, digits) in rows.items():
        registered, hidden = (format(arm[key], digits) for arm in arms.values())
        print(f"{title:38}{registered:>12}{hidden:>10}")
    return arms


# --8<-- [start:registered_stack]
class RegisteredStack(nn.Module):
    """As many equal layers as you ask for, each of them registered."""

    def __init__(self, width: int = 32, depth: int = 3) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Features (B, width) to features (B, width)."""
        for layer in self.layers:
            features = torch.relu(layer(features))
        return features


# --8<-- [end:registered_stack]


def print_registered_stack() -> None:
    """Print what is registered, and what happens to those who call the ModuleList itself."""
    model = RegisteredStack()
    features = torch.rand(5, 32)
    print(f"parameter tensors  {len(list(model.parameters()))}")
    print(f"parameters         {sum(p.numel() for p in model.parameters()):,}")
    print(f"model(features)    {tuple(model(features).shape)}")
    print(failure_of(lambda: model.layers(features)))


# --8<-- [start:inspect]
def list_parameters(model: nn.Module) -> None:
    """Print every registered parameter, and how many values they hold."""
    for name, parameter in model.named_parameters():
        state = "trainable" if parameter.requires_grad else "frozen"
        print(f"{name:12}{tuple(parameter.shape)!s:13}{state}")
    print(f"{'total':12}{sum(p.numel() for p in model.parameters())}")


# --8<-- [end:inspect]


def print_digit_classifier() -> None:
    """Print the model and what is registered in it."""
    model = DigitClassifier()
    print(model)
    print(f"parameter tensors: {len(list(model.parameters()))}")


def print_inspection() -> None:
    """Print the parameters of the classifier, and of the network that hides two layers."""
    print("DigitClassifier()")
    list_parameters(DigitClassifier())
    print("\nThreeLayers(list)")
    list_parameters(ThreeLayers(list))


# --8<-- [start:sequential]
def digit_sequential() -> nn.Sequential:
    """The same layers as ``DigitClassifier``, one after the other and without names."""
    return nn.Sequential(
        nn.Flatten(),
        nn.Linear(784, 128),
        nn.ReLU(),
        nn.Dropout(0.2),
        nn.Linear(128, 10),
    )


# --8<-- [end:sequential]


def print_sequential() -> None:
    """Print the parameters of the nameless network, and how the class takes its checkpoint."""
    model = digit_sequential()
    list_parameters(model)
    print("\nDigitClassifier().load_state_dict(model.state_dict())")
    try:
        DigitClassifier().load_state_dict(model.state_dict())
    except RuntimeError as error:
        for line in f"{type(error).__name__}: {error}".splitlines():
            print(textwrap.fill(line.strip(), 72, subsequent_indent="    "))
