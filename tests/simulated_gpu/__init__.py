"""A GPU that is not there, so that what needs one runs before one is found.

``pytest -p tests.simulated_gpu -m gpu`` runs every test that needs a GPU, and every part of every
benchmark, on tensors with real values that lie on the CPU and say that they lie on ``cuda:0``. They
refuse to meet tensors of the CPU, count memory and obey its cap, and have events and graphs;
PyTorch's own Python stays in place, so a wrong argument is refused as on a real GPU. Times and
TF32 mean nothing here, autocast follows the CPU's list, and nothing runs in kernels of a GPU.

``not_carried.toml`` names what it cannot carry, with the reason. It is tried all the same, unless a
CPU would be long at it, and fails if it passes.
"""

import os
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
NOT_CARRIED = HERE / "not_carried.toml"
THERE = pytest.StashKey[set[str]]()


def pytest_configure() -> None:
    """Put the GPU there before any test asks for one, and into every Python that a test starts."""
    import torch  # noqa: F401  (first, as a child of another such process installs it right after)

    from tests.simulated_gpu.machine import install

    install()
    places = [HERE / "children", HERE.parents[1], os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(map(str, places))


@pytest.hookimpl(tryfirst=True)  # before any is left out
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Expect what is not carried to fail; what passes all the same fails, and so is noticed.

    A group that says ``run = false`` is left out.
    """
    names = {item: item.nodeid.removeprefix("tests/") for item in items}
    config.stash[THERE] = set(names.values())
    for item, name in names.items():
        group = not_carried().get(name)
        if group:
            run = group.get("run", True)
            item.add_marker(pytest.mark.xfail(reason=group["reason"], strict=True, run=run))


@pytest.fixture(autouse=True)
def _one_short_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """Times mean nothing, so nothing is repeated until the clock can read it."""
    from benchmarks import method

    monkeypatch.setattr(method.measure, "__defaults__", (1, 1, 0.0))


@cache
def not_carried() -> dict[str, dict[str, Any]]:
    """The group of each test that is not carried, by what pytest calls it below ``tests``."""
    content = tomllib.loads(NOT_CARRIED.read_text(encoding="utf-8"))
    return {test: group for group in content["group"] for test in group["tests"]}
