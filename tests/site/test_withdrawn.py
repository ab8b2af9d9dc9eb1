"""Pages do not refer to a course that is not here, nor speak in pictures that were withdrawn."""

import re
import tomllib
from pathlib import Path

import pytest

from tests.building import REPOSITORY

DOCS = REPOSITORY / "docs"
WITHDRAWN = tomllib.loads(Path(__file__).with_name("withdrawn.toml").read_text(encoding="utf-8"))[
    "withdrawn"
]
NOT_OURS = {"vendor", "licences", "race", "mnist_subset", "recorded", "data"}


def published() -> list[Path]:
    """The files whose words readers see: pages, notebooks, shown code, and texts of instruments."""
    folders = [DOCS, DOCS / "code"]  # the second one is a link, which a search does not follow
    found = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    kinds = {".md", ".py", ".ipynb", ".json", ".js", ".svg"}
    return [path for path in found if path.suffix in kinds and not NOT_OURS & set(path.parts)]


@pytest.mark.parametrize("reference", WITHDRAWN, ids=[entry["pattern"] for entry in WITHDRAWN])
def test_what_was_withdrawn_stays_away(reference: dict[str, str]) -> None:
    """Each pattern finds the sentence for which it was made, and nothing that is published."""
    pattern = re.compile(reference["pattern"], re.IGNORECASE)
    folder = DOCS / reference.get("within", "")

    found = [
        f"{path.relative_to(DOCS)}: {match.group()}"
        for path in published()
        if path.is_relative_to(folder)
        for match in pattern.finditer(path.read_text(encoding="utf-8"))
    ]

    assert pattern.search(reference["said"])
    assert [] == found


def test_all_kinds_of_published_words_are_searched() -> None:
    """A page, the notebook, shown code and the mission's texts are among the files."""
    names = {path.relative_to(DOCS).as_posix() for path in published()}

    assert {
        "gpu-training/index.md",
        "notebooks/2-3-2-gpu-training.ipynb",
        "code/devices.py",
        "assets/mission/memory-mfu.json",
    } <= names
