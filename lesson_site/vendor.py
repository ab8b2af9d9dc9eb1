"""Lay the browser libraries that pages load when asked into ``docs/assets/vendor``.

They come as npm packages in the versions of ``package-lock.json``, and are compared with its
checksums. Git ignores the folder; the build copies it into the site like everything in
``docs/assets``. Without it the site is whole, but for what the libraries would add.
"""

import base64
import gzip
import hashlib
import json
import sys
import tempfile
from functools import lru_cache
from pathlib import Path

from lesson_site.npm import PackageError, download, member

FOLDER = Path("docs/assets/vendor")
LOCK = Path("package-lock.json")
# The smallest of Plotly's bundles: bars and lines, and a heat map is made of bars.
PLOTLY = "plotly-basic.min.js"
# Checks a learner's result file, and builds no code to do so, which our policy would stop.
CHECKER = "json-schema"
# Python itself, for the snippets that readers run in the page.
PYODIDE = "pyodide"
PACKAGES = {
    PLOTLY: "plotly.js-basic-dist-min",
    CHECKER: "@cfworker/json-schema",
    PYODIDE: "pyodide",
}
# What a package of several modules gives to the folder of its name: those that its first one needs.
CHECKER_MODULES = (
    *("deep-compare-strict", "dereference", "format", "pointer", "ucs2-length"),
    "validate",
)
MEMBERS = {
    CHECKER: {
        "package.json": "package.json",  # says who wrote it, and under which licence
        **{f"{module}.js": f"dist/esm/{module}.js" for module in CHECKER_MODULES},
    },
    # docs/assets/licences/pyodide.txt has the licence, which the package lacks.
    PYODIDE: {
        name: name
        for name in (
            *("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm"),
            *("pyodide-lock.json", "python_stdlib.zip"),
        )
    },
}
COMPLETE = ".complete"  # make takes it as the sign that all of them are there
PATIENCE_S = 60.0  # `make serve` waits that long at most where no registry answers


def vendor(name: str, root: Path = Path()) -> Path:
    """Fetch one library, and lay it into the folder once it is known to be the right one.

    Args:
        name: Its file or folder, a key of ``PACKAGES``.
        root: The repository.

    Raises:
        PackageError: If it can't be had, or is not what the lock file pins.
    """
    package = PACKAGES[name]
    pinned = json.loads((root / LOCK).read_text(encoding="utf-8"))["packages"]
    pin = pinned[f"node_modules/{package}"]
    with tempfile.TemporaryDirectory() as folder:
        archive = download(f"{package}@{pin['version']}", Path(folder), PATIENCE_S)
        if pin["integrity"] != _integrity(archive.read_bytes()):
            raise PackageError(
                f"{archive.name} is not what {LOCK} pins (its SHA-512 differs); ask another mirror"
            )
        wanted = MEMBERS.get(name, {"": name})
        contents = {file: member(archive, f"package/{path}") for file, path in wanted.items()}
    target = root / FOLDER / name
    for file, content in contents.items():
        _write(target / file if file else target, content)
    return target


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_bytes(content)
    partial.replace(path)


def compressed_kb(name: str, root: Path = Path()) -> int | None:
    """What a reader downloads for a library, in units of 1,000 bytes; None if it is not there."""
    path = root / FOLDER / name
    try:
        state = path.stat()
    except OSError:
        return None
    return _compressed_kb(path, state.st_mtime_ns)


@lru_cache  # a new date of the file is a new key
def _compressed_kb(path: Path, changed: int) -> int:
    files = [path] if path.is_file() else sorted(path.iterdir())
    return round(sum(len(gzip.compress(f.read_bytes(), compresslevel=6)) for f in files) / 1000)


def _integrity(content: bytes) -> str:
    """The checksum in the form of a lock file."""
    return f"sha512-{base64.b64encode(hashlib.sha512(content).digest()).decode()}"


def main() -> int:
    """Fetch every library; one that can't be had is named, and the site does without it."""
    complete = True
    for name in PACKAGES:
        try:
            path = vendor(name)
        except (PackageError, OSError) as problem:
            complete = False
            print(f"note: the site goes without {name}: {problem}", file=sys.stderr)
        else:
            print(f"{path}: {compressed_kb(name)} kB compressed, loaded only when asked for")
    if complete:
        (FOLDER / COMPLETE).touch()
    return 0


if __name__ == "__main__":
    sys.exit(main())
