"""The files of the race: the graphs, and the list that says what each one is."""

import hashlib
import json
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import onnx

from lesson_code.accounting import linear_layers_training_flop
from lesson_code.benchmarks.race import HIDDEN_WIDTHS, classifier
from lesson_site.race import FOLDER, LIST
from lesson_site.race.export import OPSET, OptimizerName, export_product, export_step

LEARNING_RATES: dict[OptimizerName, float] = {"sgd": 0.1, "adam": 1e-3}
# Everything that has a say in the bytes.
EXPORTERS = ("torch", "onnx", "onnxscript", "onnx-ir")

Entry = dict[str, Any]


def write_graphs(folder: Path = FOLDER) -> Iterator[Path]:
    """Export every graph into ``folder``, then the list of them; gives each file once written."""
    folder.mkdir(parents=True, exist_ok=True)
    entries = []
    for name, optimizer, hidden in races():
        data = export_step(classifier(*hidden), optimizer, LEARNING_RATES[optimizer])
        entries.append({**step_facts(optimizer, hidden), **_file_facts(name, data)})
        yield _write(folder / f"{name}.onnx", data)
    data = export_product()
    entries.append({"kind": "product", **_file_facts("product", data)})
    yield _write(folder / "product.onnx", data)

    yield _write(folder / LIST, _list_of(entries).encode())


def races() -> Iterator[tuple[str, OptimizerName, tuple[int, int]]]:
    """Name, optimizer and hidden widths of every training step in the race."""
    for optimizer in LEARNING_RATES:
        for first, second in HIDDEN_WIDTHS:
            yield f"{optimizer}-{first}-{second}", optimizer, (first, second)


def installed() -> dict[str, str]:
    """The versions of ``EXPORTERS`` here, without the build, which makes no difference."""
    return {name: version(name).partition("+")[0] for name in EXPORTERS}


def step_facts(optimizer: OptimizerName, hidden: tuple[int, int]) -> Entry:
    """What the list says of a training step besides its file."""
    widths = [784, *hidden, 10]
    return {
        "kind": "training step",
        "optimizer": optimizer,
        "learning_rate": LEARNING_RATES[optimizer],
        "widths": widths,
        "flop_per_sample": linear_layers_training_flop(widths, samples=1),
    }


def _file_facts(name: str, data: bytes) -> Entry:
    graph = onnx.load_from_string(data).graph
    return {
        "name": name,
        "file": f"{name}.onnx",
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "inputs": [_value(value) for value in graph.input],
        "outputs": [_value(value) for value in graph.output],
    }


def _value(value: onnx.ValueInfoProto) -> Entry:
    """A tensor's name, type and shape; sizes that only the caller knows are words."""
    kind = value.type.tensor_type
    return {
        "name": value.name,
        "type": str(onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)),
        "shape": [size.dim_param or size.dim_value for size in kind.shape.dim],
    }


def _list_of(entries: list[Entry]) -> str:
    """The list as JSON, a line for each graph."""
    head = json.dumps({"opset": OPSET, "exported_with": installed()})
    graphs = ",\n".join(json.dumps(entry) for entry in entries)
    return f'{head[:-1]}, "graphs": [\n{graphs}\n]}}\n'


def _write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path
