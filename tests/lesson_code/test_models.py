"""The shared models have the sizes and shapes that the pages state."""

import torch
from torch import nn

from lesson_code.models import MNISTClassifier, TinyClassifier, parameter_count


def test_mnist_classifier_has_235146_parameters() -> None:
    """The layers 784-256-128-10 hold 235,146 values, 940,584 bytes in float32."""
    model = MNISTClassifier()

    layers = [
        (layer.in_features, layer.out_features) for layer in (model.fc1, model.fc2, model.fc3)
    ]

    assert layers == [(784, 256), (256, 128), (128, 10)]
    assert parameter_count(model) == 235_146
    assert sum(p.numel() * p.element_size() for p in model.parameters()) == 940_584


def test_mnist_classifier_gives_ten_raw_scores_an_image(device: torch.device) -> None:
    """A batch of images becomes a batch of ten scores that no softmax has touched."""
    model = MNISTClassifier().to(device)

    scores = model(torch.rand(3, 1, 28, 28, device=device))

    assert scores.shape == (3, 10)
    assert not torch.allclose(scores.sum(dim=1), torch.ones(3, device=device))


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
