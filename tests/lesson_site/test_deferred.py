"""What converts notebooks is imported for a notebook that has changed, and for nothing else."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lesson_site.deferred import defer, drop_of_others
from tests.building import REPOSITORY

MODULE = "a_module_of_test_deferred"
AS_MKDOCS = """
import sys
from lesson_site.notebook_pages import makeExtension
makeExtension()
from mkdocs_jupyter.plugin import Plugin, convert
print("nbconvert" in sys.modules)
convert.nb2html
print("nbconvert" in sys.modules)
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A module that leaves a file beside it whenever it is imported."""
    text = "from pathlib import Path\nPath(__file__).with_suffix('.ran').touch()\nNAME = 'value'\n"
    (tmp_path / f"{MODULE}.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield MODULE
    sys.modules.pop(MODULE, None)


def test_a_deferred_module_is_imported_when_asked(module: str, tmp_path: Path) -> None:
    """Its import runs nothing; its first name does, once, and then it is the module itself."""
    defer(module)
    deferred = __import__(module)
    assert not (tmp_path / f"{module}.ran").exists()

    assert "value" == deferred.NAME
    assert (tmp_path / f"{module}.ran").exists()
    assert "value" == sys.modules[module].__dict__["NAME"]


def test_a_missing_name_is_missing(module: str) -> None:
    """As of any module."""
    defer(module)

    with pytest.raises(AttributeError, match="no attribute 'OTHER'"):
        _ = __import__(module).OTHER


def test_an_imported_module_stays() -> None:
    """Anyone who has it goes on with it."""
    defer("pathlib")

    assert Path is sys.modules["pathlib"].Path


def test_mkdocs_jupyter_is_loaded_without_nbconvert() -> None:
    """As MkDocs loads it, after the Markdown extensions; a conversion brings the rest."""
    ran = subprocess.run(
        [sys.executable, "-c", AS_MKDOCS],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )

    assert "False\nTrue\n" == ran.stdout, ran.stderr


def test_what_other_versions_converted_is_dropped(tmp_path: Path) -> None:
    """Of the same versions it is kept."""
    kept = tmp_path / "kept"
    drop_of_others(kept, "mkdocs-jupyter 1\n")
    (kept / "page.json").touch()

    drop_of_others(kept, "mkdocs-jupyter 1\n")
    assert (kept / "page.json").exists()

    drop_of_others(kept, "mkdocs-jupyter 2\n")
    assert not (kept / "page.json").exists()
    drop_of_others(kept, "mkdocs-jupyter 2\n")


def test_a_folder_that_cannot_be_written_is_no_harm(tmp_path: Path) -> None:
    """A build in a read-only checkout converts anew."""
    (tmp_path / "kept").touch()

    drop_of_others(tmp_path / "kept", "mkdocs-jupyter 1\n")

    assert (tmp_path / "kept").is_file()
