"""The published steps can be counted again, and give what is committed."""

import json
from pathlib import Path

import pytest

from benchmarks import published_steps
from results import points
from results.points import Step

FAST = (
    Step("resnet18_cifar", 32, "float32"),
    Step("bert_base", 4, "float32"),
    Step("bert_large_512", 4, "float16"),
    Step("resnet50_inference", 1, "float16"),
    Step("vit_small", 384, "float16"),
)


@pytest.mark.parametrize("step", FAST, ids=lambda step: step.name)
def test_a_step_counts_as_committed(step: Step) -> None:
    """Another PyTorch may fuse or split an operation; the sums stay."""
    committed = points.counts()[step.name]

    counted = published_steps.count(step)

    assert committed["flop"] == pytest.approx(dict(counted.flop), rel=0.01)
    for name in ("bytes", "convolution_bytes", "launches", "peak_bytes"):
        assert committed[name] == pytest.approx(getattr(counted, name), rel=0.05)


def test_unknown_network(capsys: pytest.CaptureFixture[str]) -> None:
    """One sentence says what may be asked for."""
    assert 2 == published_steps.main(["--only", "perceptron"])
    assert "error: no point in results/points has a network 'perceptron'; take" in (
        capsys.readouterr().err
    )


def test_the_file_has_a_step_a_line(tmp_path: Path) -> None:
    """So that a change shows as the step that changed."""
    path = tmp_path / "counts.json"

    published_steps.write(path, {"a.b1.float32": {"bytes": 1}, "b.b1.float32": {"bytes": 2}})

    assert 4 == len(path.read_text(encoding="utf-8").splitlines())
    assert {"bytes": 2} == json.loads(path.read_text(encoding="utf-8"))["b.b1.float32"]
    assert [path] == list(tmp_path.iterdir())
