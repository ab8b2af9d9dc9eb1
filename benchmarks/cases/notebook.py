"""The companion notebook's solution from top to bottom, and the epochs that it times itself.

It runs as a plain script in a process of its own, so a machine needs nothing of Jupyter. The times
of its epochs come from the file that its last cell writes: a learner's own file holds the same.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import torch

from benchmarks.cases import MissingDataError, Part, Plan
from lesson_code.data import full_mnist, lay_out_subset
from results.cases import ON, Family, names_of
from results.entry import Entry, entry, read_entry

NOTEBOOK = Path("docs/notebooks/2-3-2-gpu-training-solution.ipynb")
EPOCHS = {
    "cpu": "an epoch of the notebook on the CPU",
    "cuda": "an epoch of the notebook on the GPU",
    "cuda_float32": "an epoch of the notebook on the GPU in float32, exercise 3",
    "cuda_mixed": "an epoch of the notebook on the GPU in mixed precision",
}
FAMILIES = (
    *(
        Family(
            f"{device}_time",
            f"wall time of the executed solution notebook {on}",
            device=device,
        )
        for device, on in ON.items()
    ),
    *(
        Family(
            f"{epoch}_epoch",
            words,
            device=epoch.partition("_")[0],
            figure=f"notebook.{epoch}_epoch_time",
            rate="samples_per_s",
            counts="images",
            rate_figure=f"notebook.{epoch}_rate",
        )
        for epoch, words in EPOCHS.items()
    ),
    Family(
        "loader_pass",
        "the notebook's loader alone",
        figure="notebook.loader_pass_time",
        rate="samples_per_s",
        counts="images",
        rate_figure="notebook.loader_pass_rate",
    ),
)
ENTRIES = names_of(FAMILIES)
QUICK = "EPOCHS, CHECKPOINT_EPOCHS, PORTABLE_EPOCHS = 2, 1, 1"


def parts(plan: Plan) -> Iterator[Part]:
    """The whole notebook, with the GPU hidden from it, and where there is one once more with it."""
    yield Part("cpu", partial(_run, plan, "cpu"), expected_s=360, cpu_only=True)
    if plan.gpu:
        yield Part("cuda", partial(_run, plan, "cuda"), expected_s=150)


def _run(plan: Plan, device: str) -> dict[str, Entry]:
    """The notebook's wall time, and the epochs if this is the best device of the machine."""
    with tempfile.TemporaryDirectory() as folder:
        data = _data(plan, Path(folder))
        seconds = run_cells(cells(), Path(folder), _parameters(plan, data), device)
        timings = json.loads((Path(folder) / "gpu-training-timings.json").read_text("utf-8"))
    entries = {f"{device}_time": entry([seconds], "s", device=device)}
    if device == "cuda" or not plan.gpu:
        timed = timings["cases"]["notebook"]["epochs"]["entries"]
        entries |= {name: read_entry(content) for name, content in timed.items()}
    return entries


def cells(notebook: Path = NOTEBOOK) -> list[str]:
    """The code of each cell."""
    content = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in content if cell["cell_type"] == "code"]


def run_cells(code: list[str], folder: Path, parameters: str, device: str) -> float:
    """Run cells one after the other as a script in ``folder``; return the seconds.

    Args:
        code: The cells; the first one sets the parameters.
        folder: Where they run and write their files.
        parameters: Lines that follow the first cell and overrule it.
        device: ``"cpu"`` hides the GPU.

    Raises:
        RuntimeError: If a cell fails, with the last line of its traceback.
    """
    script = folder / "notebook.py"
    script.write_text("\n\n".join([code[0], parameters, *code[1:]]), encoding="utf-8")
    environment = {
        **os.environ,
        "MPLBACKEND": "agg",  # draws its chart into nothing
        "OMP_NUM_THREADS": str(torch.get_num_threads()),
        "PYTHONWARNINGS": "ignore",
    }
    if device == "cpu":
        environment["CUDA_VISIBLE_DEVICES"] = ""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, script.name],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - start
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no message"]
        raise RuntimeError(f"the notebook stopped: {lines[-1]}")
    return seconds


def _parameters(plan: Plan, data: Path) -> str:
    source = f'DATA, DATA_FOLDER = "full", {str(data)!r}'
    return f"{source}\n{QUICK}" if plan.quick else source


def _data(plan: Plan, folder: Path) -> Path:
    """Where the notebook finds MNIST; in a quick run the part that ships with the lesson.

    Raises:
        MissingDataError: If the full MNIST is not there and can't be downloaded.
    """
    if plan.quick:
        lay_out_subset(folder / "data")
        return folder / "data"
    if full_mnist(plan.data, train=True) is None:
        raise MissingDataError(f"MNIST is not in {plan.data}; run `make data`")
    return plan.data.resolve()
