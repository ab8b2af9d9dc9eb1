"""Lay the browser libraries that pages load when asked into ``docs/assets/vendor``.

They come as npm packages in the versions of ``package-lock.json``, and are compared with its
checksums. Git ignores the folder; the build copies it into the site like everything in
``docs/assets``. Without it the site is whole, but for what the libraries would add.
"""

import argparse
import base64
import gzip
import hashlib
import json
import re
import sys
import tempfile
import time
from functools import lru_cache
from pathlib import Path

from lesson_site.files import write_whole
from lesson_site.npm import PackageError, download, member
from lesson_site.remembered import remembered

FOLDER = Path("docs/assets/vendor")
LOCK = Path("package-lock.json")
# docs/assets/licences has the licence of each, as most of the packages lack its text.
# Checks a learner's result file, and builds no code to do so, which our policy would stop.
CHECKER = "json-schema"
# Colours the code that readers change in the page, in a text area as browsers know it.
EDITOR = "prism-code-editor"
# Python itself, for the snippets that readers run in the page.
PYODIDE = "pyodide"
# Runs the training steps of the race, on the reader's CPU and GPU.
ONNXRUNTIME = "onnxruntime"
PACKAGES = {
    CHECKER: "@cfworker/json-schema",
    EDITOR: "prism-code-editor",
    PYODIDE: "pyodide",
    ONNXRUNTIME: "onnxruntime-web",  # 33 MB, so the last one
}
# What a package of several modules gives to the folder of its name: those that its first one needs.
CHECKER_MODULES = (
    *("deep-compare-strict", "dereference", "format", "pointer", "ucs2-length"),
    "validate",
)
# The editor, its layout, Python's grammar, and what these import.
EDITOR_FILES = (
    *("index.js", "layout.css", "prism/languages/python.js"),
    *("core-BIWFpCIO.js", "core-Dr0o9A-8.js", "patterns-DSInPV_c.js"),
)
# What a browser loads for the race: the API, the loader, and the program itself. One of the two
# builds, as browsers differ in how WebAssembly may wait for a GPU. Each has both racers inside.
RACE_BUILDS = {
    build: (
        f"ort.{api}.min.mjs",
        f"ort-wasm-simd-threaded.{build}.mjs",
        f"ort-wasm-simd-threaded.{build}.wasm.gz",
    )
    for build, api in (("jspi", "jspi"), ("asyncify", "webgpu"))
}
# A file that ends so is packed here: some hosts compress nothing, some take no file over 25 MiB.
PACKED = ".wasm.gz"
MEMBERS = {
    CHECKER: {
        "package.json": "package.json",  # says who wrote it, and under which licence
        **{f"{module}.js": f"dist/esm/{module}.js" for module in CHECKER_MODULES},
    },
    EDITOR: {file: f"dist/{file}" for file in EDITOR_FILES},
    PYODIDE: {
        name: name
        for name in (
            *("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm"),
            *("pyodide-lock.json", "python_stdlib.zip"),
        )
    },
    ONNXRUNTIME: {
        name: f"dist/{name.removesuffix('.gz')}" for files in RACE_BUILDS.values() for name in files
    },
}
# The modules that compare what a browser loads with checksums, unpacked.
CHECKED_BY = {
    PYODIDE: Path("docs/assets/elements/run/worker.js"),
    ONNXRUNTIME: Path("docs/assets/elements/race/ort-session.js"),
}
COMPLETE = ".complete"  # make takes it as the sign that all of them are there
PATIENCE_S = 180.0  # `make serve` waits that long at most where no registry answers


def vendor(name: str, root: Path = Path(), patience_s: float = PATIENCE_S) -> Path:
    """Fetch one library, and lay it into the folder once it is known to be the right one.

    Args:
        name: Its folder, a key of ``PACKAGES``.
        root: The repository.
        patience_s: How long it may take to come.

    Raises:
        PackageError: If it can't be had, or is not what the lock file pins.
    """
    package = PACKAGES[name]
    pin = pin_of(package, root)
    with tempfile.TemporaryDirectory() as folder:
        archive = download(f"{package}@{pin['version']}", Path(folder), patience_s)
        if pin["integrity"] != _integrity(archive.read_bytes()):
            raise PackageError(
                f"{archive.name} is not what {LOCK} pins (its SHA-512 differs); ask another mirror"
            )
        contents = {
            file: _as_laid(file, member(archive, f"package/{path}"))
            for file, path in MEMBERS[name].items()
        }
    target = root / FOLDER / name
    for file, content in contents.items():
        (target / file).parent.mkdir(parents=True, exist_ok=True)
        write_whole(target / file, content)
    return target


def renew(name: str, root: Path = Path()) -> Path:
    """Write the checksums and lengths of a library that was laid into the module that checks them.

    Args:
        name: Its folder, a key of ``CHECKED_BY``.
        root: The repository.

    Returns:
        The module.
    """
    module = root / CHECKED_BY[name]
    text = module.read_text(encoding="utf-8")
    for path in (root / FOLDER / name).iterdir():
        content = path.read_bytes()
        content = gzip.decompress(content) if path.name.endswith(PACKED) else content
        digest, file = hashlib.sha256(content), re.escape(path.name)
        base64_digest = base64.b64encode(digest.digest()).decode()
        for pattern, value in (
            (rf'("{file}": \["sha256-)[\w+/=]+', base64_digest),
            (rf'("{file}": \["sha256-[\w+/=]+", )[\d_]+', f"{len(content):_}"),
            (rf'("{file}",\s*")[0-9a-f]{{64}}', digest.hexdigest()),
            (rf'("{file}",\s*"[0-9a-f]{{64}}",\s+)[\d_]+', f"{len(content):_}"),
        ):
            text = re.sub(pattern, rf"\g<1>{value}", text)
    version = pin_of(PACKAGES[name], root)["version"]
    text = re.sub(rf'("{PACKAGES[name]} )[\w.-]+(")', rf"\g<1>{version}\g<2>", text)
    write_whole(module, text.encode())
    return module


def pin_of(package: str, root: Path = Path()) -> dict[str, str]:
    """What the lock file says of a package."""
    pinned = json.loads((root / LOCK).read_text(encoding="utf-8"))["packages"]
    pin: dict[str, str] = pinned[f"node_modules/{package}"]
    return pin


def _as_laid(file: str, content: bytes) -> bytes:
    """What the folder gets; packing depends on nothing but the content."""
    return gzip.compress(content, compresslevel=9, mtime=0) if file.endswith(PACKED) else content


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
    files = sorted(file for file in path.rglob("*") if file.is_file())
    return round(sum(map(_transfer_bytes, files)) / 1000)


def _transfer_bytes(file: Path) -> int:
    if file.suffix == ".gz":
        return file.stat().st_size
    state = file.stat()
    question = ["compressed", str(file.resolve()), state.st_size, state.st_mtime_ns]
    size = remembered(question, lambda: len(gzip.compress(file.read_bytes(), compresslevel=6)))
    return int(size)


def race_download_mb(build: str, root: Path = Path()) -> float | None:
    """What the race's first press downloads of its library, in MB with one decimal.

    Args:
        build: A key of ``RACE_BUILDS``.
        root: The repository.

    Returns:
        The size; None if the library is not there.
    """
    files = [root / FOLDER / ONNXRUNTIME / name for name in RACE_BUILDS[build]]
    if not all(file.is_file() for file in files):
        return None
    return _race_download_mb(tuple(files), sum(file.stat().st_mtime_ns for file in files))


@lru_cache  # as above
def _race_download_mb(files: tuple[Path, ...], changed: int) -> float:
    return round(sum(map(_transfer_bytes, files)) / 1e6, 1)


def _integrity(content: bytes) -> str:
    """The checksum in the form of a lock file."""
    return f"sha512-{base64.b64encode(hashlib.sha512(content).digest()).decode()}"


def main(arguments: list[str] | None = None) -> int:
    """Fetch every library; one that can't be had is named, and the site does without it."""
    parser = argparse.ArgumentParser(prog="python -m lesson_site.vendor", description=main.__doc__)
    parser.add_argument(
        "--renew",
        action="store_true",
        help="also write their checksums into the modules that check them in browsers",
    )
    parsed = parser.parse_args(arguments)
    complete = True
    end = time.monotonic() + PATIENCE_S
    for name in PACKAGES:
        try:
            path = vendor(name, patience_s=max(1.0, end - time.monotonic()))
        except (PackageError, OSError) as problem:
            complete = False
            print(f"note: the site goes without {name}: {problem}", file=sys.stderr)
        else:
            print(f"{path}: {compressed_kb(name)} kB compressed, loaded only when asked for")
            if parsed.renew and name in CHECKED_BY:
                print(renew(name))
    if complete:
        (FOLDER / COMPLETE).touch()
    return 0


if __name__ == "__main__":
    sys.exit(main())
