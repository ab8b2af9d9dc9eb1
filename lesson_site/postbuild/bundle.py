"""What readers download as one archive: notebooks, labs, what measures a GPU, and the forecast."""

import io
import os
import zipfile
from pathlib import Path

from graders.blanks import emptied
from lesson_code.foundations.lab import layout
from lesson_code.lab.todos import stub
from lesson_site.files import write_whole
from lesson_site.sections import read_section

NOTEBOOK = Path("notebooks/2-3-2-gpu-training.ipynb")
ARCHIVE = Path("notebooks/gpu-training-notebook.zip")
SUBSET = Path("lesson_code/mnist_subset")
LAB_PAGE = Path("foundations/lab/index.html")
LAB_ARCHIVE = Path("foundations/foundations-lab.zip")
EXERCISES_PAGE = Path("lab/index.html")
EXERCISES_ARCHIVE = Path("lab/gpu-lab.zip")
EXERCISES_FOLDER = "gpu-lab"
EXERCISES = Path("lesson_code/lab/solution")  # whose blanks are emptied
MEASURING_NOTEBOOK = Path("notebooks/measure-your-gpu.ipynb")
MEASURING_ARCHIVE = Path("notebooks/gpu-measuring.zip")
MEASURING_PACKAGES = ("benchmarks", "lesson_code", "results")
NO_CODE = ("__pycache__", "benchmarks/results/", "benchmarks/contributed/", "/recorded/", ".lock")
FORECAST_PAGE = Path("benchmarks/forecast/index.html")
FORECAST_ARCHIVE = Path("benchmarks/forecast-your-gpu.zip")
FORECAST_FOLDER = "forecast-your-gpu"
FORECAST_NEEDS = ("__init__.py", "devices.py", "models.py", "timing.py", "mission/*.py")
OWN_MODEL = "forecast/own_model.py:training"  # what readers put their own in the place of
EARLIEST = (1980, 1, 1, 0, 0, 0)  # of every member, so that equal content gives equal bytes


def pack_notebook(site: Path, subset: Path = SUBSET) -> Path | None:
    """Write the notebook's archive into ``site``, if the site has the notebook.

    Args:
        site: The folder of the built site.
        subset: The folder with the digits, from the repository's root.

    Returns:
        Its path; None if there is nothing to pack.
    """
    if not (site / NOTEBOOK).is_file():
        return None
    members = {NOTEBOOK.name: (site / NOTEBOOK).read_bytes()}
    members |= {f"{subset.name}/{path.name}": path.read_bytes() for path in subset.iterdir()}
    return _pack(members, site / ARCHIVE)


def pack_lab(site: Path) -> Path | None:
    """Write the foundations' lab into ``site``, if the site has its page.

    It unpacks to one folder with what learners write, what they are given, what grades it, and
    digits laid out for use without a network.

    Args:
        site: The folder of the built site.

    Returns:
        Its path; None if there is nothing to pack.
    """
    if not (site / LAB_PAGE).is_file():
        return None
    members = {f"{layout.FOLDER}/{name}": content for name, content in layout.files().items()}
    return _pack(members, site / LAB_ARCHIVE)


def pack_exercises(site: Path, package: Path = SUBSET.parent) -> Path | None:
    """Write the archive of the lab into ``site``, if the site has it.

    It unpacks to one folder with the four exercises, the package that they import, and the one that
    grades them: in that folder, `python -m lesson_code.lab check 1 01_gpu_basics.py` works.

    Args:
        site: The folder of the built site.
        package: The folder of ``lesson_code``, from the repository's root.

    Returns:
        Its path; None if there is nothing to pack.
    """
    if not (site / EXERCISES_PAGE).is_file():
        return None
    graders = package.parent / "graders"
    files = [*package.rglob("*.py"), *graders.rglob("*.py"), *(package / SUBSET.name).iterdir()]
    members = {
        f"{EXERCISES_FOLDER}/{path.relative_to(package.parent).as_posix()}": path.read_bytes()
        for path in files
    }
    members |= {
        f"{EXERCISES_FOLDER}/{path.name}": emptied(path.read_text(encoding="utf-8"), stub).encode()
        for path in (package.parent / EXERCISES).glob("*.py")
    }
    return _pack(members, site / EXERCISES_ARCHIVE)


def pack_measuring(site: Path, repository: Path = Path()) -> Path | None:
    """Write the archive of the notebook that measures a GPU, if the site has that notebook.

    The site's copy of the notebook learns where the archive will lie, if the build knows that.

    Args:
        site: The folder of the built site.
        repository: Where the packages are.

    Returns:
        Its path; None if there is nothing to pack.
    """
    if not (site / MEASURING_NOTEBOOK).is_file():
        return None
    address = os.environ.get("SITE_URL", "")
    if address:
        known = f'"ADDRESS = \\"{address.rstrip("/")}/{MEASURING_ARCHIVE}\\"'
        notebook = (site / MEASURING_NOTEBOOK).read_text(encoding="utf-8")
        write_whole(site / MEASURING_NOTEBOOK, notebook.replace('"ADDRESS = \\"\\"', known))
    files = {
        path.relative_to(repository).as_posix(): path
        for package in MEASURING_PACKAGES
        for path in (repository / package).rglob("*")
        if path.is_file()
    }
    members = {
        f"{MEASURING_ARCHIVE.stem}/{name}": path.read_bytes()
        for name, path in files.items()
        if not any(part in name for part in NO_CODE)
    }
    return _pack(members, site / MEASURING_ARCHIVE)


def pack_forecast(site: Path, package: Path = SUBSET.parent) -> Path | None:
    """Write the archive of the forecast's command into ``site``, if the site has its page.

    It unpacks to one folder with the shown model and the code that counts: in that folder,
    `python -m lesson_code.forecast my_model:training` works.

    Args:
        site: The folder of the built site.
        package: The folder of ``lesson_code``, from the repository's root.

    Returns:
        Its path; None if there is nothing to pack.
    """
    if not (site / FORECAST_PAGE).is_file():
        return None
    files = [path for pattern in FORECAST_NEEDS for path in package.glob(pattern)]
    files += [path for path in (package / "forecast").iterdir() if path.suffix in (".py", ".toml")]
    members = {
        f"{FORECAST_FOLDER}/lesson_code/{path.relative_to(package).as_posix()}": path.read_bytes()
        for path in files
    }
    shown = read_section(OWN_MODEL, package).text
    members[f"{FORECAST_FOLDER}/my_model.py"] = f"{shown}\n".encode()
    return _pack(members, site / FORECAST_ARCHIVE)


def _pack(members: dict[str, bytes], archive: Path) -> Path:
    archived = io.BytesIO()
    with zipfile.ZipFile(archived, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in sorted(members.items()):
            member = zipfile.ZipInfo(name, EARLIEST)
            packed.writestr(member, content, zipfile.ZIP_DEFLATED)
    return write_whole(archive, archived.getvalue())
