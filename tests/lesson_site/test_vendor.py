"""What pages load when asked: compared with the lock file, and done without if need be."""

import base64
import hashlib
import io
import json
import re
import tarfile
from pathlib import Path

import pytest

from lesson_site import vendor
from lesson_site.npm import PackageError
from lesson_site.vendor import (
    CHECKER,
    CHECKER_MODULES,
    COMPLETE,
    FOLDER,
    LOCK,
    MEMBERS,
    PACKAGES,
    PLOTLY,
    compressed_kb,
    main,
)

CONTENT = b"window.Plotly = {};" * 200
REPOSITORY = Path(__file__).parents[2]


def archive(folder: Path) -> Path:
    """An npm package with the library in it."""
    path = folder / "plotly.tgz"
    with tarfile.open(path, "w:gz") as packed:
        member = tarfile.TarInfo(f"package/{PLOTLY}")
        member.size = len(CONTENT)
        packed.addfile(member, io.BytesIO(CONTENT))
    return path


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose lock file pins the archive that npm fetches."""
    made = archive(tmp_path)
    digest = base64.b64encode(hashlib.sha512(made.read_bytes()).digest()).decode()
    pin = {"version": "9.9.9", "integrity": f"sha512-{digest}"}
    lock = {"packages": {f"node_modules/{PACKAGES[PLOTLY]}": pin}}
    (tmp_path / LOCK).write_text(json.dumps(lock), encoding="utf-8")
    monkeypatch.setattr(vendor, "download", lambda *_: made)
    return tmp_path


def test_the_pinned_library_is_laid_into_the_folder(root: Path) -> None:
    """It arrives byte for byte, and its size is what a server sends compressed."""
    path = vendor.vendor(PLOTLY, root)

    assert root / FOLDER / PLOTLY == path
    assert CONTENT == path.read_bytes()
    assert [PLOTLY] == [file.name for file in path.parent.iterdir()]
    assert 0 == compressed_kb(PLOTLY, root)  # 60 bytes of 3,800


def test_another_archive_than_the_pinned_one_is_refused(root: Path) -> None:
    """A registry that answers with something else changes nothing."""
    text = (root / LOCK).read_text(encoding="utf-8")
    (root / LOCK).write_text(text.replace("sha512-", "sha512-A"), encoding="utf-8")

    with pytest.raises(PackageError, match=r"is not what package-lock\.json pins"):
        vendor.vendor(PLOTLY, root)

    assert not (root / FOLDER).exists()


def test_a_library_that_is_not_there_has_no_size(tmp_path: Path) -> None:
    """Pages then show no button."""
    assert compressed_kb(PLOTLY, tmp_path) is None


def test_without_a_registry_the_site_goes_on(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What can't be fetched is one line for each library, and no failure."""

    def refuse(package: str, folder: Path, patience_s: float) -> Path:
        raise PackageError(f"npm could not fetch {package}")

    monkeypatch.setattr(vendor, "download", refuse)
    monkeypatch.chdir(root)
    lock = json.loads((REPOSITORY / LOCK).read_text(encoding="utf-8"))
    (root / LOCK).write_text(json.dumps(lock), encoding="utf-8")

    code = main()

    said = capsys.readouterr().err.splitlines()
    assert 0 == code
    assert not (root / FOLDER / COMPLETE).exists()
    assert len(PACKAGES) == len(said)
    assert said[0].startswith(f"note: the site goes without {PLOTLY}: npm could not fetch plotly")


def test_a_library_of_several_modules_fills_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its files arrive under the names that pages load, and together they have a size."""
    made = tmp_path / "checker.tgz"
    with tarfile.open(made, "w:gz") as packed:
        for name in MEMBERS[CHECKER].values():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(CONTENT)
            packed.addfile(member, io.BytesIO(CONTENT))
    digest = base64.b64encode(hashlib.sha512(made.read_bytes()).digest()).decode()
    pin = {"version": "9.9.9", "integrity": f"sha512-{digest}"}
    lock = {"packages": {f"node_modules/{PACKAGES[CHECKER]}": pin}}
    (tmp_path / LOCK).write_text(json.dumps(lock), encoding="utf-8")
    monkeypatch.setattr(vendor, "download", lambda *_: made)

    path = vendor.vendor(CHECKER, tmp_path)

    assert sorted(MEMBERS[CHECKER]) == sorted(file.name for file in path.iterdir())
    assert compressed_kb(CHECKER, tmp_path) is not None


def test_the_checker_brings_every_module_that_it_imports() -> None:
    """A new version of the package that needs another one is noticed here, not in a browser."""
    folder = REPOSITORY / "node_modules" / PACKAGES[CHECKER] / "dist" / "esm"
    texts = [(folder / f"{module}.js").read_text(encoding="utf-8") for module in CHECKER_MODULES]
    imported = {name for text in texts for name in re.findall(r"from '\./([\w-]+)\.js'", text)}

    assert imported <= set(CHECKER_MODULES)


def test_make_learns_whether_all_are_there(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file that the Makefile waits for is written once nothing is missing, and not before."""
    monkeypatch.chdir(root)
    monkeypatch.setattr(vendor, "PACKAGES", {PLOTLY: PACKAGES[PLOTLY]})
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")

    main()

    assert (root / FOLDER / COMPLETE).is_file()
    assert f"VENDORED = {FOLDER.as_posix()}/{COMPLETE}\n" in makefile
