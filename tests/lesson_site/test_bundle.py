"""The archives that readers download hold what they need, and nothing more."""

import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from lesson_code.foundations.lab import layout
from lesson_code.lab.__main__ import FILES
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
RUN_IN_A_COPY = re.compile(r"python my-lab/(\w+\.py)")
STRANGER = """
import runpy, sys
sys.path.pop(0)
sys.meta_path[:] = [finder for finder in sys.meta_path if not finder.find_spec("lesson_code", None)]
sys.path.insert(0, sys.argv[1])
sys.argv = sys.argv[2:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""  # as `python FILE` does where this project is not installed; FILE's folder comes first


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


@pytest.fixture
def unpacked(tmp_path: Path) -> Path:
    """The folder that the lab's archive unpacks to."""
    archive = pack_exercises(site_with(EXERCISES_PAGE, tmp_path), REPOSITORY / "lesson_code")
    assert archive is not None
    zipfile.ZipFile(archive).extractall(tmp_path)
    return tmp_path / "gpu-lab"


def test_the_exercises_are_graded_where_they_are_unpacked(unpacked: Path, warm: Parent) -> None:
    """Nothing of this repository is needed beside the archive of the lab."""
    command = [sys.executable, "-m", "lesson_code.lab", "check", "1", "01_gpu_basics.py"]
    done = warm.run(command, cwd=unpacked)

    assert 1 == done.returncode
    assert "TODO 1.1 choose a device: NOT DONE YET" in done.stdout
    assert "6 not done yet" in done.stdout


def _runs_where_we_are_not_installed(
    script: str, folder: Path, warm: Parent
) -> subprocess.CompletedProcess[str]:
    home = str((folder / script).parent)
    return warm.run([sys.executable, "-c", STRANGER, home, script], cwd=folder)


@pytest.mark.parametrize("exercise", FILES)
def test_the_exercises_run_where_they_are_unpacked(
    exercise: int, unpacked: Path, warm: Parent
) -> None:
    """The file that the page runs, without the folder's name, as the page says of the archive."""
    page = (REPOSITORY / f"docs/lab/exercise-{exercise}.md").read_text(encoding="utf-8")

    assert {FILES[exercise]} == set(RUN_IN_A_COPY.findall(page))
    done = _runs_where_we_are_not_installed(FILES[exercise], unpacked, warm)
    assert 0 == done.returncode, done.stderr
    assert done.stdout.startswith(f"Still to do:\n  TODO {exercise}.")


def test_an_exercise_that_lies_elsewhere_does_not_find_what_it_imports(
    unpacked: Path, warm: Parent
) -> None:
    """So `start` makes no second folder where the exercises lie ready."""
    (unpacked / "my-lab").mkdir()
    shutil.copy(unpacked / FILES[1], unpacked / "my-lab")

    lost = _runs_where_we_are_not_installed(f"my-lab/{FILES[1]}", unpacked, warm)
    refused = warm.run([sys.executable, "-m", "lesson_code.lab", "start", "new"], cwd=unpacked)

    assert "No module named 'lesson_code'" in lost.stderr
    assert 2 == refused.returncode
    assert f"the exercises are in {unpacked.resolve()} already" in refused.stderr
    assert not (unpacked / "new").exists()


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
