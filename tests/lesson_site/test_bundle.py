"""The archives that readers download hold what they need, and nothing more."""

import json
import shutil
import sys
import zipfile
from pathlib import Path

import pytest

from lesson_code.foundations.lab import layout
from lesson_site.postbuild.bundle import (
    EXERCISES_PAGE,
    FORECAST_PAGE,
    LAB_PAGE,
    MEASURING_NOTEBOOK,
    NOTEBOOK,
    pack_exercises,
    pack_forecast,
    pack_lab,
    pack_measuring,
    pack_notebook,
)
from tests.building import REPOSITORY
from tests.warm import Parent

SUBSET = REPOSITORY / "lesson_code" / "mnist_subset"


def site_with(page: Path, folder: Path) -> Path:
    """A site that has one file."""
    (folder / page).parent.mkdir(parents=True)
    (folder / page).write_text("there")
    return folder


def test_the_notebook_comes_with_its_digits(tmp_path: Path) -> None:
    """The notebook's archive holds the notebook and the subset beside it."""
    archive = pack_notebook(site_with(NOTEBOOK, tmp_path), SUBSET)

    assert archive is not None
    names = set(zipfile.ZipFile(archive).namelist())
    assert {NOTEBOOK.name} | {f"mnist_subset/{path.name}" for path in SUBSET.iterdir()} == names


def test_the_lab_unpacks_to_its_folder(tmp_path: Path) -> None:
    """The lab's archive holds what learners write and are given, what grades it, and digits."""
    archive = pack_lab(site_with(LAB_PAGE, tmp_path))

    assert archive is not None
    names = set(zipfile.ZipFile(archive).namelist())
    digits = {f"{layout.FOLDER}/digits/MNIST/raw/{path.stem}" for path in SUBSET.glob("*.gz")}
    given = {*layout.WRITTEN, *layout.NOTES, *layout.GIVEN, "graders/child.py"}
    assert digits | {f"{layout.FOLDER}/{name}" for name in given} <= names


def test_the_exercises_are_graded_where_they_are_unpacked(tmp_path: Path, warm: Parent) -> None:
    """Nothing of this repository is needed beside the archive of the lab."""
    archive = pack_exercises(site_with(EXERCISES_PAGE, tmp_path), REPOSITORY / "lesson_code")
    assert archive is not None
    zipfile.ZipFile(archive).extractall(tmp_path)
    folder = tmp_path / "gpu-lab"

    command = [sys.executable, "-m", "lesson_code.lab", "check", "1", "01_gpu_basics.py"]
    done = warm.run(command, cwd=folder)

    assert 1 == done.returncode
    assert "TODO 1.1 choose a device: NOT DONE YET" in done.stdout
    assert "6 not done yet" in done.stdout


def test_the_measuring_archive_is_enough_to_measure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warm: Parent
) -> None:
    """Unpacked anywhere, it lists the cases; the notebook knows the address if the build does."""
    site = site_with(MEASURING_NOTEBOOK, tmp_path)
    shutil.copy(REPOSITORY / "docs" / MEASURING_NOTEBOOK, site / MEASURING_NOTEBOOK)
    monkeypatch.setenv("SITE_URL", "https://lesson.example/gpu/")

    archive = pack_measuring(site, REPOSITORY)
    assert archive is not None
    zipfile.ZipFile(archive).extractall(tmp_path)
    command = [sys.executable, "-m", "benchmarks", "list"]
    done = warm.run(command, cwd=tmp_path / archive.stem)

    assert 0 == done.returncode, done.stderr
    assert "launches: " in done.stdout
    assert not list((tmp_path / archive.stem / "benchmarks").glob("*/*/*.json"))
    notebook = (site / MEASURING_NOTEBOOK).read_text(encoding="utf-8")
    assert "https://lesson.example/gpu/notebooks/gpu-measuring.zip" in notebook
    assert archive.stat().st_size < 3_000_000


@pytest.mark.parametrize("target", ["my_model:training", "lesson_code.forecast.examples:resnet50"])
def test_the_forecast_runs_where_it_is_unpacked(tmp_path: Path, target: str, warm: Parent) -> None:
    """The shown model and the examples are forecast with nothing of this repository beside."""
    archive = pack_forecast(site_with(FORECAST_PAGE, tmp_path), REPOSITORY / "lesson_code")
    assert archive is not None
    zipfile.ZipFile(archive).extractall(tmp_path)

    command = [sys.executable, "-m", "lesson_code.forecast", target, "--json", "forecast.json"]
    folder = tmp_path / "forecast-your-gpu"
    done = warm.run(command, cwd=folder)

    assert 0 == done.returncode, done.stderr
    content = json.loads((folder / "forecast.json").read_text(encoding="utf-8"))
    assert target == content["model"]
    assert 1 == len(content["steps"])


def test_equal_content_gives_equal_bytes(tmp_path: Path) -> None:
    """Packing twice changes nothing, so that a second pass over the site does not either."""
    site = site_with(LAB_PAGE, tmp_path)
    first = pack_lab(site)
    assert first is not None
    content = first.read_bytes()

    again = pack_lab(site)

    assert again is not None
    assert content == again.read_bytes()


def test_a_site_without_them_gets_no_archive(tmp_path: Path) -> None:
    """A made-up site has neither notebook nor labs."""
    assert None is pack_notebook(tmp_path, SUBSET)
    assert None is pack_lab(tmp_path)
    assert None is pack_measuring(tmp_path, REPOSITORY)
    assert None is pack_forecast(tmp_path, REPOSITORY / "lesson_code")
    assert None is pack_exercises(tmp_path, REPOSITORY / "lesson_code")
