"""The larger sites that the build is timed on, and what counts as out of proportion."""

from pathlib import Path

import pytest
from mkdocs.utils.yaml import yaml_load

from results import result_file
from tests import grown
from tests.building import REPOSITORY


@pytest.mark.parametrize(
    ("seconds", "steep"),
    [
        (lambda n: 9.0 + 0.05 * n, False),
        (lambda n: 9.0 + 0.05 * n + 0.00005 * n**2, True),
        (lambda n: 9.0 + 0.01 * n * n.bit_length(), False),
        (lambda _: 9.0, False),
    ],
    ids=["in proportion", "with the square", "with the logarithm", "not at all"],
)
def test_what_grows_with_the_square_is_out_of_proportion(seconds: object, steep: bool) -> None:
    """A thousand pages more, at fifty milliseconds each."""
    assert callable(seconds)
    over = grown.beyond_proportion(*map(seconds, (0, 500, 1000)))

    assert steep == (over > grown.MARGIN)


def test_added_files_are_good_and_of_ten_machines(tmp_path: Path) -> None:
    """Each would be taken in beside the measured ones."""
    (tmp_path / "benchmarks" / "results").mkdir(parents=True)

    grown.add_files(tmp_path, 12)

    files = sorted((tmp_path / "benchmarks" / "results").rglob("*.json"))
    assert 12 == len(files)
    assert 10 == len({result_file.read(file)["provenance"]["gpu"] for file in files})


def test_added_pages_are_in_the_navigation(tmp_path: Path) -> None:
    """And nothing else of the settings is another one."""
    folder = tmp_path / "docs" / "foundations"
    folder.mkdir(parents=True)
    for name in grown.COPIED:
        (folder / f"{name}.md").write_text(f"# {name}\n")
    settings = tmp_path / "mkdocs.yml"
    settings.write_text((REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8"), encoding="utf-8")
    before = yaml_load(settings.read_text(encoding="utf-8"))["nav"]

    grown.add_pages(tmp_path, 45)

    *same, added = yaml_load(settings.read_text(encoding="utf-8"))["nav"]
    assert before == same
    parts = [part for of in added["More"] for part in of.values()]
    assert [20, 20, 5] == [len(part) for part in parts]
    pages = [path for part in parts for of in part for path in of.values()]
    assert all((tmp_path / "docs" / page).is_file() for page in pages)
