"""The whole of it in one script: data, model, device, loop, evaluation, checkpoint, clock.

The section ``script`` is the body of a function so that importing this module trains nothing.
Pasted into an empty file or notebook cell, it runs as it is; a test does that.
"""

import contextlib
import tempfile

from lesson_code.data import lay_out_subset


def train_evaluate_and_save() -> None:
    """Run the script: reads or downloads ``./data``, writes ``./checkpoint.pth``, prints."""
    # --8<-- [start:script]
    import time

    import torch
    from torch import nn
    from torch.utils.data import DataLoader, random_split
    from torchvision import datasets, transforms

    epochs = 3
    torch.manual_seed(42)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    prepare = transforms.Compose(
        [transforms.ToTensor(), transforms.Normalize((0.1307,), (0.3081,))]
    )
    known = datasets.MNIST("./data", train=True, download=True, transform=prepare)
    test = datasets.MNIST("./data", train=False, download=True, transform=prepare)
    held_out = len(known) // 12  # 5,000 of 60,000, to choose the best epoch
    training, validation = random_split(
        known, [len(known) - held_out, held_out], torch.Generator().manual_seed(42)
    )
    train_loader = DataLoader(training, batch_size=64, shuffle=True)
    validation_loader = DataLoader(validation, batch_size=64)
    test_loader = DataLoader(test, batch_size=64)

    class MNISTClassifier(nn.Module):
        """Three linear layers from 784 pixels to ten digit scores."""

        def __init__(self) -> None:
            super().__init__()
            self.flatten = nn.Flatten()
            self.fc1 = nn.Linear(784, 256)
            self.fc2 = nn.Linear(256, 128)
            self.fc3 = nn.Linear(128, 10)
            self.relu = nn.ReLU()

        def forward(self, images: torch.Tensor) -> torch.Tensor:
            x = self.flatten(images)  # (B, 1, 28, 28) -> (B, 784)
            x = self.relu(self.fc1(x))  # (B, 256)
            x = self.relu(self.fc2(x))  # (B, 128)
            return self.fc3(x)  # (B, 10), raw scores

    @torch.no_grad()
    def accuracy_on(loader: DataLoader[tuple[torch.Tensor, int]]) -> float:
        """Share of right answers, in percent."""
        model.eval()
        correct, seen = 0, 0
        for images, labels in loader:
            images, labels = images.to(device), labels.to(device)
            correct += (model(images).argmax(dim=1) == labels).sum().item()
            seen += len(labels)
        return 100 * correct / seen

    def clock() -> float:
        """Seconds, read when the GPU has finished what it was given."""
        if device.type == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter()

    model = MNISTClassifier()
    model.to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()
    print(f"device: {device}, {len(training):,} training images")
    best_accuracy = -1.0
    start = clock()

    for epoch in range(epochs):
        model.train()
        epoch_start = clock()
        total_loss, seen = 0.0, 0
        for images, labels in train_loader:
            images, labels = images.to(device), labels.to(device)
            optimizer.zero_grad()
            outputs = model(images)
            loss = criterion(outputs, labels)
            loss.backward()
            optimizer.step()
            total_loss += loss.item() * len(labels)
            seen += len(labels)
        epoch_s = clock() - epoch_start
        accuracy = accuracy_on(validation_loader)
        is_best = accuracy > best_accuracy
        if is_best:
            best_accuracy = accuracy
            checkpoint = {
                "epoch": epoch,
                "model_state_dict": model.state_dict(),
                "optimizer_state_dict": optimizer.state_dict(),
                "loss": total_loss / seen,  # plain numbers, so that safe loading works
                "accuracy": accuracy,
            }
            torch.save(checkpoint, "checkpoint.pth")
        print(
            f"epoch {epoch + 1}: loss {total_loss / seen:.4f}, "
            f"accuracy {accuracy:.2f} %, {epoch_s:.1f} s{', saved' if is_best else ''}"
        )
    print(f"total: {clock() - start:.1f} s")

    # weights_only=True lets tensors and plain values through, and is meant to stop all else.
    best = torch.load("checkpoint.pth", map_location="cpu", weights_only=True)
    model.load_state_dict(best["model_state_dict"])
    print(f"best: epoch {best['epoch'] + 1}, test accuracy {accuracy_on(test_loader):.2f} %")
    # --8<-- [end:script]


def print_training_run() -> None:
    """Print what the script prints, on the part of MNIST that ships with the lesson."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        lay_out_subset("data")
        train_evaluate_and_save()
