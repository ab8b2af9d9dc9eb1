"""Exporting again gives the committed bytes, and a wrong export does not pass for a right one."""

import re
import sys
from math import nan
from pathlib import Path

import onnx
import pytest
import torch
from torch import nn

from lesson_code.benchmarks.race import classifier
from lesson_site import __main__ as command
from lesson_site.race import files
from lesson_site.race.export import OptimizerName, export_product, export_step
from tests.lesson_site.race.native import COMMITTED, CONTENT, GRAPHS, STEPS, Difference, compare

NEEDED = CONTENT["exported_with"]


@pytest.fixture(scope="module")
def exported() -> dict[str, bytes]:
    """The lesson's own widths, exported once more, from other random weights."""
    torch.manual_seed(99)
    return {
        f"{optimizer}-256-128": export_step(classifier(256, 128), optimizer, rate)
        for optimizer, rate in files.LEARNING_RATES.items()
    }


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_export_gives_the_committed_bytes(exported: dict[str, bytes], optimizer: str) -> None:
    """The files are the lesson's code of today; if not, run `python -m lesson_site race`."""
    name = f"{optimizer}-256-128"

    assert_same((COMMITTED / f"{name}.onnx").read_bytes(), exported[name])


def assert_same(committed: bytes, again: bytes) -> None:
    """Byte for byte; with other versions installed, but for the names that they give."""
    here = files.installed()
    if here == NEEDED:
        assert committed == again
        return
    assert renamed(committed) == renamed(again), (
        f"{here} export another graph than {NEEDED} did; run `python -m lesson_site race`, look at "
        "what the tests of the race say, and commit the files"
    )


def renamed(data: bytes) -> bytes:
    """A file that tells nothing of what wrote it: nodes and values are numbered as they occur."""
    model = onnx.load_from_string(data)
    model.producer_version = ""
    graph = model.graph
    names = {value.name: value.name for value in (*graph.input, *graph.output)}
    for node in graph.node:
        node.name = ""
        for values in (node.input, node.output):
            values[:] = [names.setdefault(name, f"value {len(names)}") for name in values]
    constants = [constant for constant in graph.initializer if constant.name in names]
    for constant in constants:
        constant.name = names[constant.name]
    del graph.initializer[:]
    graph.initializer.extend(sorted(constants, key=lambda constant: constant.name))
    return model.SerializeToString(deterministic=True)


@pytest.mark.parametrize("name", STEPS)
def test_widths_are_all_that_differs(name: str) -> None:
    """Each step is the one of the lesson's widths with other sizes: one export proves all."""
    first, second = STEPS[name]["widths"][1:-1]
    model = onnx.load(COMMITTED / f"{STEPS[name]['optimizer']}-256-128.onnx")
    replace_sizes(model.graph, {256: first, 128: second})

    assert (COMMITTED / f"{name}.onnx").read_bytes() == model.SerializeToString(deterministic=True)


def replace_sizes(graph: onnx.GraphProto, sizes: dict[int, int]) -> None:
    """Put other sizes into the shapes of a graph, and into the constants that are shapes."""
    for value in (*graph.input, *graph.output):
        for size in value.type.tensor_type.shape.dim:
            if size.HasField("dim_value"):
                size.dim_value = sizes.get(size.dim_value, size.dim_value)
    for constant in graph.initializer:
        if constant.data_type == onnx.TensorProto.INT64:
            shape = onnx.numpy_helper.to_array(constant).copy()
            shape[:] = [sizes.get(int(size), int(size)) for size in shape]
            constant.raw_data = shape.tobytes()


@pytest.mark.parametrize("read", ["exp_avg", "exp_avg_sq"])
def test_averages_that_are_one_tensor_are_caught(read: str) -> None:
    """An export gives such a graph if a tensor occurs twice in the state: one input is left.

    Its first step is right, since both averages begin with zero; later ones are not.
    """
    graph = STEPS["adam-64-32"]
    model = onnx.load(COMMITTED / "adam-64-32.onnx")
    for node in model.graph.node:
        node.input[:] = [re.sub(r"^exp_avg(_sq)?\.", f"{read}.", name) for name in node.input]
    wrong = model.SerializeToString()

    assert compare(wrong, graph, batch_size=64, steps=1).acceptable(graph)
    assert not compare(wrong, graph, batch_size=64, steps=20).acceptable(graph)


@pytest.mark.parametrize(
    "broken", [Difference([0.0, nan], [0.0, 0.0]), Difference([0.0], [0.0, nan])]
)
def test_no_number_is_no_agreement(broken: Difference) -> None:
    """A training that went to NaN compares as false with every bound."""
    assert not broken.acceptable(STEPS["sgd-64-32"])


def test_product_gives_the_committed_bytes() -> None:
    """The same for the product of matrices."""
    assert_same((COMMITTED / "product.onnx").read_bytes(), export_product())


def test_command_writes_files_and_list(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It fills a folder that was not there, and the list is the committed one."""
    data = {f"{name}.onnx": (COMMITTED / f"{name}.onnx").read_bytes() for name in GRAPHS}

    def made_before(model: nn.Module, optimizer: OptimizerName, learning_rate: float) -> bytes:
        first, second = (next(model.get_submodule(f"fc{i}").parameters()).shape[0] for i in (1, 2))
        return data[f"{optimizer}-{first}-{second}.onnx"]

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(files, "export_step", made_before)
    monkeypatch.setattr(files, "installed", lambda: NEEDED)
    code = command.main(["race"])
    written = {path.name: path.read_bytes() for path in (tmp_path / files.FOLDER).iterdir()}

    assert 0 == code
    assert {**data, files.LIST: (COMMITTED / files.LIST).read_bytes()} == written
    assert len(written) == len(capsys.readouterr().out.splitlines())


def test_command_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the site is built, PyTorch need not be; the command says so in a sentence."""
    monkeypatch.setitem(sys.modules, "lesson_site.race.files", None)
    code = command.main(["race"])

    assert 2 == code
    assert "error: exporting needs PyTorch, ONNX and ONNX Script; run `make test` once, " in (
        capsys.readouterr().err
    )
