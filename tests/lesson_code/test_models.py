"""The shared models have the sizes and shapes that the pages state."""

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, Subset

from lesson_code.data import load_mnist
from lesson_code.gpu_training.training import evaluate, train_one_epoch
from lesson_code.models import MNISTClassifier, SmallResNet, TinyClassifier, parameter_count


def test_mnist_classifier_has_235146_parameters() -> None:
    """The layers 784-256-128-10 hold 235,146 values, 940,584 bytes in float32."""
    model = MNISTClassifier()

    layers = [
        (layer.in_features, layer.out_features) for layer in (model.fc1, model.fc2, model.fc3)
    ]

    assert layers == [(784, 256), (256, 128), (128, 10)]
    assert parameter_count(model) == 235_146
    assert sum(p.numel() * p.element_size() for p in model.parameters()) == 940_584


@pytest.mark.parametrize("build", [MNISTClassifier, SmallResNet])
def test_an_image_gets_ten_raw_scores(build: type[nn.Module], device: torch.device) -> None:
    """A batch of images becomes a batch of ten scores that no softmax has touched."""
    model = build().to(device)

    scores = model(torch.rand(3, 1, 28, 28, device=device))

    assert scores.shape == (3, 10)
    assert not torch.allclose(scores.sum(dim=1), torch.ones(3, device=device))


def test_small_resnet_shrinks_images_and_grows_channels() -> None:
    """28 pixels, 14 and 7; 32 channels, 64 and 128."""
    x, shapes = torch.rand(2, 1, 28, 28), []
    for stage in SmallResNet().stages:
        x = stage(x)
        shapes.append(tuple(x.shape))

    assert [(2, 32, 28, 28), (2, 64, 14, 14), (2, 128, 7, 7)] == shapes


def test_a_residual_block_adds_what_came_in() -> None:
    """Where its second norm gives nothing, the shortcut alone is left."""
    block = SmallResNet().stages[0]
    nn.init.zeros_(block.norm2.weight)
    images = torch.rand(2, 1, 28, 28)

    assert torch.equal(torch.relu(block.shortcut(images)), block(images))


def test_small_resnet_learns_digits(one_thread: None) -> None:
    """One look at 1,000 digits, and it knows at least 60 of 100 others; it knew 10 by luck."""
    digits = Subset(load_mnist(train=True, source="subset"), range(1000))
    others = Subset(load_mnist(train=False, source="subset"), range(200))
    model, device = SmallResNet(), torch.device("cpu")
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    train_one_epoch(model, DataLoader(digits, 16), optimizer, nn.CrossEntropyLoss(), device)
    _, accuracy = evaluate(model, DataLoader(others, 100), device)

    assert 60 <= accuracy


def test_tiny_classifier_has_500_parameters() -> None:
    """The model of the slow-GPU check has exactly 500 parameters and four scores."""
    model = TinyClassifier()

    scores = model(torch.rand(32, 26))

    assert parameter_count(model) == 500
    assert scores.shape == (32, 4)


def test_parameter_count_leaves_out_what_is_not_trained() -> None:
    """Frozen parameters do not count."""
    layer = nn.Linear(3, 2)
    layer.bias.requires_grad_(False)

    count = parameter_count(layer)

    assert count == 6
