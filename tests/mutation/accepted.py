"""The survivors that are as good as the solution, each with the reason."""

import json
import tomllib
from functools import cache
from pathlib import Path

from tests.mutation.mutants import Key

EQUIVALENT = Path(__file__).parent / "equivalent"


@cache
def accepted(unit: str) -> dict[Key, str]:
    """Those of a unit: why no check need notice them, by what names a mutant."""
    path = EQUIVALENT / f"{unit}.toml"
    if not path.is_file():
        return {}
    groups = tomllib.loads(path.read_text(encoding="utf-8"))["because"]
    return {
        (function, old, new): group["why"]
        for group in groups
        for function, old, new in group["mutants"]
    }


def as_listed(key: Key) -> str:
    """A mutant as the list holds it, to be copied there."""
    return f"  {json.dumps(key, ensure_ascii=False)},"
