"""The committed graphs: listed truly, free of traces, and training as PyTorch does."""

import hashlib
import json
import re
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from torch import nn

from lesson_code.accounting import linear_layers_training_flop
from lesson_code.benchmarks.race import HIDDEN_WIDTHS, classifier, train_step
from tests.lesson_site.race.native import (
    COMMITTED,
    CONTENT,
    GRAPHS,
    STEPS,
    Step,
    batches,
    compare,
    optimizer_of,
    session,
)

MOST_BYTES = 12_000
# A race starts from them, so their number and their names are what the page counts on.
NAMES = [f"{kind}-{a}-{b}" for kind in ("sgd", "adam") for a, b in HIDDEN_WIDTHS] + ["product"]


def data_of(name: str) -> bytes:
    """The file of a graph."""
    return (COMMITTED / GRAPHS[name]["file"]).read_bytes()


def test_every_file_is_listed() -> None:
    """The folder holds the graphs of the list, and nothing else."""
    files = sorted(path.name for path in COMMITTED.iterdir())

    assert NAMES == list(GRAPHS)
    assert sorted(["graphs.json", *(f"{name}.onnx" for name in NAMES)]) == files


@pytest.mark.parametrize("name", GRAPHS)
def test_list_describes_the_file(name: str) -> None:
    """Size, hash, and the tensors in their order are those of the file; it is a small one."""
    data, graph = data_of(name), GRAPHS[name]
    running = session(data)
    described = [
        [(tensor["name"], tensor["shape"]) for tensor in graph[side]]
        for side in ("inputs", "outputs")
    ]
    model = onnx.load_from_string(data)

    assert len(data) == graph["bytes"] <= MOST_BYTES
    assert hashlib.sha256(data).hexdigest() == graph["sha256"]
    assert described == [
        [(value.name, value.shape) for value in side]
        for side in (running.get_inputs(), running.get_outputs())
    ]
    assert [("", CONTENT["opset"])] == [(each.domain, each.version) for each in model.opset_import]


@pytest.mark.parametrize("name", STEPS)
def test_list_says_what_a_step_takes(name: str) -> None:
    """Every state has its successor at the same place, then comes the loss; the work is counted."""
    graph = STEPS[name]
    *state, images, labels = graph["inputs"]
    *successors, loss = graph["outputs"]
    weights = {name: list(weight.shape) for name, weight in models_weights(graph)}

    assert {"name": "images", "type": "float32", "shape": ["batch", 1, 28, 28]} == images
    assert {"name": "labels", "type": "int32", "shape": ["batch"]} == labels
    assert {"name": "loss", "type": "float32", "shape": []} == loss
    assert [{**each, "name": f"new.{each['name']}"} for each in state] == successors
    assert list(weights.items()) == [(each["name"], each["shape"]) for each in state[:6]]
    assert (6 if graph["optimizer"] == "sgd" else 3 * 6 + 1) == len(state)
    assert linear_layers_training_flop(graph["widths"], 1) == graph["flop_per_sample"]


def models_weights(graph: dict[str, Any]) -> list[tuple[str, torch.nn.Parameter]]:
    """The parameters of the model that a step trains, by name."""
    return list(classifier(*graph["widths"][1:-1]).named_parameters())


@pytest.mark.parametrize("name", GRAPHS)
def test_file_tells_nothing_of_its_machine(name: str) -> None:
    """No path, no file of Python and no build of PyTorch is in the bytes."""
    traces = re.findall(rb"/[\w.-]+/|\\\\|\.py\b|site-packages|\+(?:cpu|cu\d)", data_of(name))

    assert [] == traces


@pytest.mark.parametrize("name", STEPS)
def test_only_the_batch_size_is_a_long_number(name: str) -> None:
    """Browsers' GPUs know no 64-bit whole numbers: what computes with them would leave the GPU."""
    graph = onnx.shape_inference.infer_shapes(onnx.load_from_string(data_of(name))).graph
    long = {
        value.name
        for value in graph.value_info
        if value.type.tensor_type.elem_type == onnx.TensorProto.INT64
    }

    makers = [node.op_type for node in graph.node if long.intersection(node.output)]

    assert ["Shape", "Squeeze"] == makers


@pytest.mark.parametrize("batch_size", [64, 128])
@pytest.mark.parametrize("name", STEPS)
def test_step_agrees_with_pytorch(name: str, batch_size: int) -> None:
    """Weights after the first step, and where rounding lets them after twenty; all losses."""
    difference = compare(data_of(name), STEPS[name], batch_size, steps=20)

    assert 20 == len(difference.weights)
    assert difference.acceptable(STEPS[name]), difference


@pytest.mark.parametrize("name", [name for name in STEPS if name.startswith("adam")])
def test_adams_averages_agree_with_pytorch(name: str) -> None:
    """After a step, they are the gradients that PyTorch computes, and one step is counted."""
    model = classifier(*STEPS[name]["widths"][1:-1])
    step = Step(data_of(name), model)
    adam = optimizer_of(STEPS[name], model)
    images, labels = next(iter(batches(64)))
    train_step(model, nn.CrossEntropyLoss(), adam, images, labels)
    step(images, labels)

    assert 1 == step.state["step"]
    for parameter, weight in model.named_parameters():
        for average, rounding in (("exp_avg", 1e-8), ("exp_avg_sq", 1e-12)):
            expected = adam.state[weight][average].numpy()
            found = step.state[f"{average}.{parameter}"]
            np.testing.assert_allclose(expected, found, rtol=1e-4, atol=rounding)


@pytest.mark.parametrize("name", ["sgd-256-128", "adam-256-128"])
def test_one_session_takes_any_batch(name: str) -> None:
    """From one image to a thousand, in any order, without loading the graph again."""
    model = classifier(256, 128)
    step = Step(data_of(name), model)
    losses = {size: step(*next(iter(batches(size)))) for size in (64, 2, 7, 1000, 1)}

    assert all(0 < loss < 10 for loss in losses.values()), losses


def test_training_learns() -> None:
    """A hundred steps of the lesson's model bring the loss down to a tenth."""
    step = Step(data_of("sgd-256-128"), classifier(256, 128))
    losses = [step(images, labels) for _ in range(5) for images, labels in batches(64)]

    assert losses[-1] < 0.1 * losses[0]


def test_product_takes_any_sizes() -> None:
    """The product of two matrices is NumPy's."""
    running = session(data_of("product"))
    random = np.random.default_rng(0)
    for m, k, n in ((1, 1, 1), (3, 5, 2), (256, 128, 64)):
        a, b = (random.random(shape, np.float32) for shape in ((m, k), (k, n)))
        (product,) = running.run(None, {"a": a, "b": b})

        np.testing.assert_allclose(a @ b, product, rtol=1e-5)


def test_list_is_small() -> None:
    """The page loads the list before it knows which graph it needs."""
    text = (COMMITTED / "graphs.json").read_text(encoding="utf-8")

    assert len(text) < 20_000
    assert CONTENT == json.loads(text)
