"""The notebook together with the digits that ship with the lesson, as one archive to download."""

import zipfile
from pathlib import Path

NOTEBOOK = Path("notebooks/2-3-2-gpu-training.ipynb")
ARCHIVE = Path("notebooks/gpu-training-notebook.zip")
SUBSET = Path("lesson_code/mnist_subset")
EARLIEST = (1980, 1, 1, 0, 0, 0)  # of every member, so that equal content gives equal bytes


def pack_notebook(site: Path, subset: Path = SUBSET) -> Path | None:
    """Write the archive into ``site``, if the site has the notebook.

    Args:
        site: The folder of the built site.
        subset: The folder with the digits, from the repository's root.

    Returns:
        Its path; None if there is nothing to pack.
    """
    if not (site / NOTEBOOK).is_file():
        return None
    members = {NOTEBOOK.name: site / NOTEBOOK}
    members |= {f"{subset.name}/{path.name}": path for path in sorted(subset.iterdir())}
    partial = (site / ARCHIVE).with_suffix(".partial")
    with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in members.items():
            archive.writestr(zipfile.ZipInfo(name, EARLIEST), path.read_bytes())
    return partial.replace(site / ARCHIVE)
