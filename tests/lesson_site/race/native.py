"""Running a graph of the race without a browser, beside PyTorch, on the same batches."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import onnxruntime
import torch
from torch import Tensor, nn

from lesson_code.benchmarks.race import classifier, train_step
from lesson_code.data import synthetic_digits
from lesson_site.race import FOLDER, LIST
from tests.building import REPOSITORY

COMMITTED = REPOSITORY / FOLDER
CONTENT: dict[str, Any] = json.loads((COMMITTED / LIST).read_text(encoding="utf-8"))
GRAPHS: dict[str, dict[str, Any]] = {graph["name"]: graph for graph in CONTENT["graphs"]}
STEPS = {name: graph for name, graph in GRAPHS.items() if graph["kind"] == "training step"}

SGD_WEIGHTS = 1e-6
ADAM_WEIGHTS = 2e-5
LOSSES = 1e-2
# Adam divides a gradient by its own size plus 1e-8; of smaller ones the rounding alone is left.
SMALLEST_GRADIENT = 1e-7
# An input of a ReLU that rounds to the other side of zero moves a row of weights. With this seed,
# twenty SGD steps of the models up to the lesson's widths bring none within 1e-6 of zero. Wider
# models have so many that one always is.
SEED = 34
WIDEST_FOR_WEIGHTS = 256

Arrays = dict[str, np.ndarray[Any, Any]]


@dataclass(frozen=True)
class Difference:
    """The largest differences between a graph and PyTorch, step by step."""

    weights: list[float]
    losses: list[float]

    def acceptable(self, graph: dict[str, Any]) -> bool:
        """Whether the graph trains as PyTorch's optimizer does, but for rounding."""
        bound = ADAM_WEIGHTS if graph["optimizer"] == "adam" else SGD_WEIGHTS
        steady = graph["optimizer"] == "sgd" and graph["widths"][1] <= WIDEST_FOR_WEIGHTS
        weights = self.weights if steady else self.weights[:1]
        return all(one <= bound for one in weights) and all(one <= LOSSES for one in self.losses)


class Step:
    """A training step in a file, with its state between calls."""

    def __init__(self, data: bytes, model: nn.Module) -> None:
        self.session = session(data)
        self.state: Arrays = {
            value.name: np.zeros(value.shape, np.float32)
            for value in self.session.get_inputs()[:-2]
        }
        for name, weight in model.named_parameters():
            self.state[name] = weight.detach().numpy().copy()

    def __call__(self, images: Tensor, labels: Tensor) -> float:
        """Train on a batch and give its loss."""
        batch = {"images": images.numpy(), "labels": labels.int().numpy()}
        *state, loss = self.session.run(None, {**self.state, **batch})
        self.state = dict(zip(self.state, state, strict=True))
        return float(loss)


def session(data: bytes) -> onnxruntime.InferenceSession:
    """A graph, ready to run on one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def compare(data: bytes, graph: dict[str, Any], batch_size: int, steps: int) -> Difference:
    """Train with the file and with PyTorch, from the same weights on the same made-up digits."""
    torch.manual_seed(SEED)
    model = classifier(*graph["widths"][1:-1])
    step = Step(data, model)
    optimizer = optimizer_of(graph, model)
    weights, losses = [], []
    for images, labels in islice(batches(batch_size), steps):
        expected = train_step(model, nn.CrossEntropyLoss(), optimizer, images, labels).item()
        losses.append(abs(expected - step(images, labels)))
        weights.append(_largest_difference(model, step, graph["optimizer"] == "adam"))
    return Difference(weights, losses)


def optimizer_of(graph: dict[str, Any], model: nn.Module) -> torch.optim.Optimizer:
    """PyTorch's optimizer, as the graph has it inside."""
    chosen = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}[graph["optimizer"]]
    return chosen(model.parameters(), lr=graph["learning_rate"])


def _largest_difference(model: nn.Module, step: Step, steady: bool) -> float:
    """Between a model's weights and the state of a graph; if ``steady``, of clear gradients."""
    differences = []
    for name, weight in model.named_parameters():
        difference = (weight.detach() - torch.from_numpy(step.state[name])).abs()
        if steady and weight.grad is not None:
            difference = difference[weight.grad.abs() > SMALLEST_GRADIENT]
        differences.append(difference.flatten())
    return torch.cat(differences).max().item()  # NaN, where there is one


def batches(size: int) -> Iterable[tuple[Tensor, Tensor]]:
    """Batches of made-up digits, 20 of them."""
    images, labels = synthetic_digits(training_size=20 * size, validation_size=1)[:2]
    return zip(images.split(size), labels.split(size), strict=True)
