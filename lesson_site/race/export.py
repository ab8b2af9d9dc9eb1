"""Compile the lesson's own training step, the optimizer included, to one ONNX graph.

``train_step`` runs once while PyTorch writes down what it does; nothing of it is written again
here. Some of the names used are PyTorch's private ones, so the files are committed, and a test
exports them again with the version that ``graphs.json`` names.
"""

from collections.abc import Callable
from typing import Any, Literal
from unittest import mock

import onnx
import torch
import torch.optim.adam as adam_module
from torch import Tensor, nn
from torch._decomp import get_decompositions
from torch.export import Dim
from torch.func import functionalize
from torch.fx import GraphModule
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn.utils.stateless import _reparametrize_module

from lesson_code.benchmarks.race import train_step

OptimizerName = Literal["sgd", "adam"]
State = dict[str, Tensor]

OPSET = 18
IR_VERSION = 10
IMAGE = (1, 28, 28)
# Tracing takes sizes that are equal for one and the same size: this one is no width of a model.
TRACED_BATCH = 7
MOST_SAMPLES = 65536

aten = torch.ops.aten


def export_step(model: nn.Module, optimizer: OptimizerName, learning_rate: float) -> bytes:
    """One training step as an ONNX file: state and batch go in, new state and loss come out.

    Args:
        model: Takes images (B, 1, 28, 28), float32; its weights do not get into the file.
        optimizer: ``"sgd"`` or ``"adam"``, each with PyTorch's defaults.
        learning_rate: Becomes a constant of the graph.
    """
    state = fresh_state(model, optimizer)
    images = torch.rand(TRACED_BATCH, *IMAGE)
    labels = torch.zeros(TRACED_BATCH, dtype=torch.int32)
    inputs = (*state.values(), images, labels)

    graph = _trace(_pure_step(model, list(state), learning_rate), inputs)
    batch = {0: Dim("batch", min=2, max=MOST_SAMPLES)}
    with torch.no_grad():
        exported = torch.export.export(
            graph, inputs, dynamic_shapes=[*(None for _ in state), batch, batch]
        )
        program = torch.onnx.export(
            exported,
            input_names=[*state, "images", "labels"],
            output_names=[*(f"new.{name}" for name in state), "loss"],
            dynamo=True,
            opset_version=OPSET,
            verbose=False,
        )
    assert program is not None  # as it is whenever ``dynamo`` is set
    return _file(program.model_proto)


def export_product() -> bytes:
    """A product of two float32 matrices of any sizes that fit, as an ONNX file."""
    matrices = {"a": ("m", "k"), "b": ("k", "n"), "product": ("m", "n")}
    a, b, product = (
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
        for name, shape in matrices.items()
    )
    node = onnx.helper.make_node("MatMul", ["a", "b"], ["product"])
    graph = onnx.helper.make_graph([node], "product", [a, b], [product])
    opset = onnx.helper.make_opsetid("", OPSET)
    return _file(onnx.helper.make_model(graph, opset_imports=[opset], ir_version=IR_VERSION))


def fresh_state(model: nn.Module, optimizer: OptimizerName) -> State:
    """What a step reads and renews, by name: weights, and for Adam its two averages and its count.

    All are zero, as only shapes matter here. Each is a tensor of its own: what occurs twice would
    become one input, and a graph whose averages are one agrees with PyTorch for one step only.
    """
    weights = dict(model.named_parameters())
    state = {name: torch.zeros_like(weight) for name, weight in weights.items()}
    if optimizer == "adam":
        for average in ("exp_avg", "exp_avg_sq"):
            for name, weight in weights.items():
                state[f"{average}.{name}"] = torch.zeros_like(weight)
        state["step"] = torch.zeros(())
    return state


def _pure_step(
    model: nn.Module, names: list[str], learning_rate: float
) -> Callable[..., tuple[Tensor, ...]]:
    """``train_step`` as a function of tensors alone: it changes copies, and returns them."""

    def step(*inputs: Tensor) -> tuple[Tensor, ...]:
        *values, images, labels = inputs
        state = {name: value.clone() for name, value in zip(names, values, strict=True)}
        weights = {
            name: state[name].detach().requires_grad_() for name, _ in model.named_parameters()
        }
        with _reparametrize_module(model, weights):
            optimizer = _optimizer(weights, state, learning_rate)
            loss = train_step(model, nn.CrossEntropyLoss(), optimizer, images, labels.long())
        return *state.values(), loss.detach()

    return step


def _optimizer(weights: State, state: State, learning_rate: float) -> torch.optim.Optimizer:
    """The optimizer to which ``state`` belongs, as it is between two steps."""
    if "step" not in state:
        return torch.optim.SGD(weights.values(), lr=learning_rate, foreach=False)
    # Not capturable, Adam would ask for the value of its count, which a trace does not have.
    adam = torch.optim.Adam(weights.values(), lr=learning_rate, foreach=False, capturable=True)
    # Every weight raises a count of its own; the first one's is what the step returns.
    counts = [state["step"], *(state["step"].clone() for _ in range(len(weights) - 1))]
    for (name, weight), count in zip(weights.items(), counts, strict=True):
        averages = {average: state[f"{average}.{name}"] for average in ("exp_avg", "exp_avg_sq")}
        adam.state[weight] = {"step": count, **averages}
    return adam


def _trace(step: Callable[..., Any], inputs: tuple[Tensor, ...]) -> GraphModule:
    """``step`` as a graph of pure operations for batches of any size.

    Twice, since the pass that turns updates in place into results does not know
    ``requires_grad_``: the first trace has no such call left.
    """
    # Adam accepts ``capturable`` on GPUs alone; a trace on the CPU is the same.
    places = mock.patch.object(
        adam_module, "_get_capturable_supported_devices", return_value=["cpu"]
    )
    with places:
        graph = make_fx(step, tracing_mode="symbolic", _allow_non_fake_inputs=True)(*inputs)
    for node in reversed(list(graph.graph.nodes)):
        if "record_function" in str(node.target):  # the optimizer's marks for the profiler
            graph.graph.erase_node(node)
    graph.recompile()

    with torch.no_grad():
        graph = make_fx(
            functionalize(graph),
            decomposition_table=_decompositions(),
            tracing_mode="symbolic",
            _allow_non_fake_inputs=True,
        )(*inputs)
    _join_conversions(graph)
    return graph


def _join_conversions(graph: GraphModule) -> None:
    """Make int32 to int64 to float32 one conversion: GPUs in browsers know no int64."""
    conversion = aten._to_copy.default
    for node in graph.graph.nodes:
        if node.target is conversion and node.args[0].target is conversion:
            node.replace_input_with(node.args[0], node.args[0].args[0])
    graph.graph.eliminate_dead_code()
    graph.recompile()


def _decompositions() -> dict[Any, Callable[..., Any]]:
    """What the operations that ONNX lacks are made of: PyTorch's rules, and ours for the loss.

    PyTorch's rules for the loss pick scores by whole-number labels. A browser's GPU cannot, and
    each step would wait for two copies to the CPU and back; so labels are compared as float32.
    """
    rules = get_decompositions(
        [
            aten.threshold_backward,
            aten._log_softmax,
            aten._log_softmax_backward_data,
            aten.detach,
            aten.lerp,
            aten.lerp_,
            aten.addcdiv,
            aten.addcdiv_,
            aten.addcmul,
            aten.addcmul_,
        ]
    )
    ours: dict[Any, Callable[..., Any]] = {
        aten.nll_loss_forward.default: _loss,
        aten.nll_loss_backward.default: _loss_backward,
    }
    return {**rules, **ours}


def _loss(
    scores: Tensor, labels: Tensor, weight: Tensor | None, reduction: int, _ignored: int
) -> tuple[Tensor, Tensor]:
    """The mean over a batch of the right class's negated logarithmic score."""
    assert weight is None
    assert reduction == 1  # the mean
    loss = -(scores * _one_hot(labels, scores)).sum(1).mean()
    return loss, torch.ones_like(loss)


def _loss_backward(
    gradient: Tensor,
    scores: Tensor,
    labels: Tensor,
    _weight: Tensor | None,
    _reduction: int,
    _ignored: int,
    _total: Tensor,
) -> Tensor:
    """What ``_loss`` hands back to ``scores``."""
    return _one_hot(labels, scores) * (-gradient / scores.shape[0])


def _one_hot(labels: Tensor, scores: Tensor) -> Tensor:
    """One where a column of ``scores`` is the row's label, zero elsewhere."""
    classes = torch.arange(scores.shape[1], dtype=torch.float32)
    return (labels.to(torch.float32).unsqueeze(1) == classes).to(scores.dtype)


def _file(model: onnx.ModelProto) -> bytes:
    """The bytes of a checked model, without traces of the machine that exported it.

    What goes are the lines of Python behind each node, nine tenths of the file; the shapes in
    between, which every reader infers; and the build of PyTorch, as in ``+cpu``.
    """
    graph = model.graph
    del graph.value_info[:]
    for part in (model, graph, *graph.node, *graph.input, *graph.output, *graph.initializer):
        del part.metadata_props[:]
        part.ClearField("doc_string")
    for value in (*graph.input, *graph.output):
        for size in value.type.tensor_type.shape.dim:
            if size.dim_param.startswith("s"):  # a symbol of the trace: only the batch has one
                size.dim_param = "batch"
    model.producer_version = model.producer_version.partition("+")[0]
    onnx.checker.check_model(model, full_check=True)
    return model.SerializeToString(deterministic=True)
