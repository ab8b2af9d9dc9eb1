# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Measure a GPU that you borrow
#
# You have a GPU for some hours, in Colab, on Kaggle or on somebody's machine. This notebook runs the lesson's measurements on it, those that need a GPU and no others.
# What the site's pages lack comes first, and every finished part is saved at once: stop it whenever you like, and keep what is there.
#
# It needs PyTorch, torchvision and NumPy, which Colab and Kaggle have.
# In Colab: *Runtime → Change runtime type → T4 GPU*. On Kaggle: *Settings → Accelerator*.

# %% tags=["parameters"]
MINUTES = 25  # begin nothing that would not end within this time
ONLY_GPU = True  # False measures the CPU too, and alone where there is no GPU
QUICK = False  # True tries everything out in short; the numbers mean nothing then
CASES: list[str] = []  # measure these alone, such as ["launches", "matmul"]; all of them if empty
ADDRESS = ""  # where gpu-measuring.zip lies, if it does not lie beside this notebook

# %% [markdown]
# ## Get the code
#
# From the folder above this notebook, or from the archive `gpu-measuring.zip`, which the page *Compare your machine* has.

# %%
import subprocess
import sys
import urllib.request
import zipfile
from pathlib import Path

ARCHIVE, RESULT = Path("gpu-measuring.zip"), Path("gpu-result.json").resolve()


def find_project() -> Path:
    """The folder that has the benchmarks, unpacked from the archive where it is not there yet."""
    for folder in (Path.cwd(), *Path.cwd().parents, Path("gpu-measuring").resolve()):
        if (folder / "benchmarks" / "cases").is_dir():
            return folder
    if not ARCHIVE.exists():
        if not ADDRESS:
            raise SystemExit(f"Put {ARCHIVE} beside this notebook, or its address into ADDRESS.")
        urllib.request.urlretrieve(ADDRESS, ARCHIVE)
    zipfile.ZipFile(ARCHIVE).extractall()
    return Path("gpu-measuring").resolve()


project = find_project()

# %% [markdown]
# ## Measure
#
# Each line is a part that is in the file. Interrupt the cell to stop; run it again to go on.

# %%
command = [sys.executable, "-m", "benchmarks", "run", "--budget", str(MINUTES)]
command += ["--gpu-only"] if ONLY_GPU else []
command += ["--out", str(RESULT), *(word for name in CASES for word in ("--case", name))]
command += ["--quick"] if QUICK else []
with subprocess.Popen(
    command, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
) as run:
    try:
        for line in run.stdout or ():
            print(line, end="")
    except KeyboardInterrupt:
        run.terminate()
        print("Stopped; what was finished is in the file.")

# %% [markdown]
# ## Take the file along
#
# Drop it on the page *Compare your machine*. Its last part says how you give the file to everybody, under a name of your choice.

# %%
if not RESULT.exists():
    print("Nothing was measured; the lines above say why.")
elif "google.colab" in sys.modules:
    from google.colab import files  # type: ignore[import-not-found]

    files.download(str(RESULT))
else:
    print(f"Your file is {RESULT.name}, beside this notebook.")
