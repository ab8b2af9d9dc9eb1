"""Puts the simulated GPU into every Python that a test starts, as soon as it loads PyTorch."""

import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any


class _AfterTorch(MetaPathFinder):
    """Finds PyTorch once, where it is, and lets the GPU follow it."""

    def find_spec(self, name: str, *_: Any) -> ModuleSpec | None:
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        found = find_spec(name)
        assert found is not None
        assert found.loader is not None
        load = found.loader.exec_module

        def load_and_install(module: ModuleType) -> None:
            load(module)
            from tests.simulated_gpu.machine import install

            install()

        found.loader.exec_module = load_and_install  # type: ignore[method-assign]
        return found


sys.meta_path.insert(0, _AfterTorch())
