"""mkdocs-jupyter without the seconds that its imports take, unless it has a notebook to convert.

It keeps a converted notebook by its content and its settings, and imports nbconvert and jupytext
all the same. Here both are imported once something is asked of them, and what other versions of
them have converted is not kept.
"""

import sys
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

KEPT = Path("build/notebook-page")  # as mkdocs.yml names it
MAKERS = ("mkdocs-jupyter", "nbconvert", "jupytext", "mistune", "Pygments", "Markdown")


@cache
def spare_conversion() -> None:
    """Once a process: defer what converts notebooks, and drop what other versions converted."""
    defer("jupytext", "mkdocs_jupyter.convert")
    drop_of_others(KEPT, "".join(f"{name} {version(name)}\n" for name in MAKERS))


def defer(*names: str) -> None:
    """Let an import of these modules cost nothing, until somebody takes something from them.

    A module that is imported already stays as it is.
    """
    for name in names:
        sys.modules.setdefault(name, _Deferred(name))


def drop_of_others(kept: Path, versions: str) -> None:
    """Empty a folder of what was made under other versions than these."""
    stamp = kept / "versions"
    with suppress(OSError):  # a folder that nobody can write keeps nothing
        if stamp.is_file() and stamp.read_text(encoding="utf-8") == versions:
            return
        for page in kept.glob("*.json"):
            page.unlink()
        kept.mkdir(parents=True, exist_ok=True)
        stamp.write_text(versions, encoding="utf-8")


class _Deferred(ModuleType):
    """A module that is imported when it is asked for a name."""

    def __getattr__(self, asked: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), asked)
