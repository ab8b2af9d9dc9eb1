"""What is counted without a GPU is what PyTorch does on one.

PyTorch's own fake CUDA tensors say what it would do, and need a driver for that: a stand-in, which
is compiled where a C compiler is. What they said is kept, so that every machine compares with it.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from lesson_code.forecast.training import builder, count
from tests.lesson_code.forecast.stand_in import machine

OTHER_PYTORCH = 0.05  # by which what is counted may differ from what another PyTorch does
SEED = 1e-3  # of the peak: on a GPU, fused attention keeps the seed of its dropout


def counted(name: str) -> dict[str, Any]:
    """A step of ``machine.STEPS`` as the counter counts it."""
    example, _, format = name.partition(":")
    build = builder(f"lesson_code.forecast.examples:{example}")
    return asdict(count(build, build().batch_size, format))


@pytest.mark.uncounted
@pytest.mark.parametrize("name", machine.STEPS)
def test_the_same_is_counted(name: str, any_weights: None) -> None:
    """Arithmetic, traffic, launches, operations and the peak are those on fake CUDA tensors."""
    kept = machine.kept()
    allowed = 0 if kept["torch"] == machine.torch_version() else OTHER_PYTORCH
    expected = kept["steps"][name]

    step = counted(name)

    peak, flop = expected.pop("peak_bytes"), expected.pop("flop")
    assert flop == pytest.approx(step["flop"], rel=allowed)
    assert expected == pytest.approx({what: step[what] for what in expected}, rel=allowed)
    assert peak == pytest.approx(step["peak_bytes"], rel=max(SEED, allowed))


@pytest.mark.skipif(
    machine.kept()["torch"] != machine.torch_version(),
    reason="another PyTorch may have other operations; keep those of the newest",
)
def test_what_is_kept_is_what_pytorch_does(tmp_path: Path) -> None:
    """Counted again on fake CUDA tensors, every step is as it is kept."""
    try:
        again = machine.count(machine.STEPS, tmp_path)
    except machine.NoCompilerError as missing:
        pytest.skip(f"{missing}; the kept counts are compared all the same")

    assert machine.kept()["steps"] == again
