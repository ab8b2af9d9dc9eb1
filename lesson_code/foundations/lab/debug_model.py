"""Step 4: a small classifier that is broken in six places. Find each by what it does.

Run it with `.venv/bin/python debug_model.py`. Write down what you see, mend one thing, run again.

Shapes: features are (N, 20), float32; labels are (N,), int64; logits are (N, 4).
"""

import sys

import torch
from torch import nn

FEATURES, HIDDEN, CLASSES = 20, 32, 4
TRAINING_ROWS, VALIDATION_ROWS = 640, 400
CENTRE_SCALE = 0.9
CENTRES_SEED, TRAINING_SEED, VALIDATION_SEED, MODEL_SEED = 123, 0, 1, 0
BATCH_SIZE, EPOCHS, LEARNING_RATE = 64, 20, 0.1
VALIDATION_PASSES = 5


class TinyClassifier(nn.Module):
    """20 features in, 4 logits out, with dropout after the hidden layer."""

    def __init__(self) -> None:
        # BLANK 4.7: make it a module
        super().__init__()
        # END
        # BLANK 4.2: register the layers
        self.layers = nn.ModuleList(
            [
                nn.Linear(FEATURES, HIDDEN),
                nn.ReLU(),
                nn.Dropout(0.5),
                nn.Linear(HIDDEN, CLASSES),
            ]
        )
        # INSTEAD
        # self.layers = [
        #     nn.Linear(FEATURES, HIDDEN),
        #     nn.ReLU(),
        #     nn.Dropout(0.5),
        #     nn.Linear(HIDDEN, CLASSES),
        # ]
        # END

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Map features to logits."""
        for layer in self.layers:
            features = layer(features)
        return features


def build_criterion() -> nn.Module:
    """The loss between logits (N, 4) and labels (N,)."""
    # BLANK 4.3: take the loss for labels
    return nn.CrossEntropyLoss()
    # INSTEAD
    # return nn.MSELoss()
    # END


def build_optimizer(model: nn.Module) -> torch.optim.Optimizer:
    """Plain SGD over everything that the model registers."""
    return torch.optim.SGD(model.parameters(), lr=LEARNING_RATE)


def training_step(
    model: nn.Module,
    criterion: nn.Module,
    optimizer: torch.optim.Optimizer,
    features: torch.Tensor,
    labels: torch.Tensor,
) -> float:
    """Learn from one batch and return its loss."""
    loss = criterion(model(features), labels)
    # BLANK 4.4: reset the gradients
    optimizer.zero_grad()
    # END
    loss.backward()
    optimizer.step()
    return float(loss.detach())


def evaluate(
    model: nn.Module, features: torch.Tensor, labels: torch.Tensor
) -> tuple[float, torch.Tensor]:
    """The accuracy on data that the model does not learn from, and the logits."""
    # BLANK 4.5: validate without dropout and graph
    model.eval()
    with torch.no_grad():
        logits = model(features)
    # INSTEAD
    # logits = model(features)
    # END
    accuracy = (logits.argmax(dim=1) == labels).float().mean()
    return float(accuracy), logits


def fit(
    model: nn.Module,
    criterion: nn.Module,
    optimizer: torch.optim.Optimizer,
    features: torch.Tensor,
    labels: torch.Tensor,
    epochs: int = EPOCHS,
) -> list[float]:
    """Train for some epochs and return the mean loss of each."""
    order = torch.Generator().manual_seed(MODEL_SEED)
    losses = []
    for _ in range(epochs):
        model.train()
        batches = torch.randperm(len(features), generator=order).split(BATCH_SIZE)
        total = 0.0
        for rows in batches:
            batch = features[rows], labels[rows]
            total += training_step(model, criterion, optimizer, *batch) * len(rows)
        losses.append(total / len(features))
    return losses


def make_rows(count: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Draw rows around four centres, which are the same for every seed."""
    centres_generator = torch.Generator().manual_seed(CENTRES_SEED)
    centres = CENTRE_SCALE * torch.randn(CLASSES, FEATURES, generator=centres_generator)
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(CLASSES, (count,), generator=generator)
    return centres[labels] + torch.randn(count, FEATURES, generator=generator), labels


def main() -> int:
    """Train, validate five times, and print what there is to see."""
    training = make_rows(TRAINING_ROWS, TRAINING_SEED)
    validation = make_rows(VALIDATION_ROWS, VALIDATION_SEED)
    torch.manual_seed(MODEL_SEED)
    model = TinyClassifier()
    print(f"parameter tensors: {len(list(model.parameters()))}", flush=True)
    losses = fit(model, build_criterion(), build_optimizer(model), *training)
    for epoch, loss in enumerate(losses, start=1):
        print(f"epoch {epoch:2}: loss {loss:.4f}")
    passes = [evaluate(model, *validation) for _ in range(VALIDATION_PASSES)]
    print("five validation passes:", *(f"{accuracy:.4f}" for accuracy, _ in passes))
    print(f"validation logits carry a graph: {passes[-1][1].requires_grad}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
