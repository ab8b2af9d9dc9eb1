"""The models that the page offers."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Model:
    """A model whose step was counted at several batch sizes.

    Attributes:
        name: What a list calls it.
        things: What a batch consists of.
        steps: How its counted steps are named, with ``{batch}`` to fill in.
        networks: What published points call it.
    """

    name: str
    things: str
    steps: str
    networks: tuple[str, ...] = ()


MODELS = {
    "mnist": Model("the lesson’s MNIST classifier", "images", "mnist_{batch}"),
    "resnet": Model("the small residual network", "images", "resnet_{batch}"),
    "large": Model("four layers of 4,096", "images", "large_{batch}"),
    "resnet50": Model("ResNet-50", "photographs", "resnet50_{batch}", ("resnet50",)),
    "gpt2": Model(
        "GPT-2 small, 1,024 tokens", "texts", "gpt2_{batch}_selective", ("gpt2_nanogpt",)
    ),
}
