"""What pages load when asked: compared with the lock file, and done without if need be."""

import base64
import gzip
import hashlib
import io
import json
import re
import tarfile
from collections.abc import Iterable
from pathlib import Path

import pytest

from lesson_site import vendor
from lesson_site.npm import PackageError
from lesson_site.vendor import (
    CHECKED_BY,
    CHECKER,
    CHECKER_MODULES,
    COMPLETE,
    EDITOR,
    FOLDER,
    LOCK,
    MEMBERS,
    ONNXRUNTIME,
    PACKAGES,
    PATIENCE_S,
    PYODIDE,
    RACE_BUILDS,
    compressed_kb,
    main,
    race_download_mb,
)

CONTENT = b"export const nothing = {};" * 200
REPOSITORY = Path(__file__).parents[2]
WORKER, SESSION = (REPOSITORY / CHECKED_BY[name] for name in (PYODIDE, ONNXRUNTIME))


def pinned(name: str, members: Iterable[str], root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose lock file pins the archive that npm fetches, and that has such files."""
    made = root / "package.tgz"
    with tarfile.open(made, "w:gz") as packed:
        for path in members:
            member = tarfile.TarInfo(f"package/{path}")
            member.size = len(CONTENT)
            packed.addfile(member, io.BytesIO(CONTENT))
    digest = base64.b64encode(hashlib.sha512(made.read_bytes()).digest()).decode()
    pin = {"version": "9.9.9", "integrity": f"sha512-{digest}"}
    lock = {"packages": {f"node_modules/{PACKAGES[name]}": pin}}
    (root / LOCK).write_text(json.dumps(lock), encoding="utf-8")
    monkeypatch.setattr(vendor, "download", lambda *_: made)
    return root


def sums_of_the_race(text: str) -> tuple[dict[str, str], list[int]]:
    """What its module expects: a checksum of each file, and the programs' lengths."""
    lengths = re.findall(r"^ +([\d_]{5,}),$", text, re.MULTILINE)
    sums = dict(re.findall(r'"(ort[\w.-]+)",\s*"([0-9a-f]{64})"', text))
    return sums, [int(length) for length in lengths]


def sums_of_python(text: str) -> dict[str, tuple[str, int]]:
    """What the worker expects: checksum and length of each file."""
    listed = re.findall(r'"([\w.-]+)": \["sha256-([\w+/=]+)", ([\d_]+)\]', text)
    return {name: (integrity, int(count)) for name, integrity, count in listed}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository that pins a library of several modules."""
    return pinned(CHECKER, MEMBERS[CHECKER].values(), tmp_path, monkeypatch)


def test_the_pinned_library_is_laid_into_the_folder(root: Path) -> None:
    """It arrives byte for byte, and its size is what a server sends compressed."""
    path = vendor.vendor(CHECKER, root)

    assert root / FOLDER / CHECKER == path
    assert {CONTENT} == {file.read_bytes() for file in path.iterdir()}
    assert sorted(MEMBERS[CHECKER]) == sorted(file.name for file in path.iterdir())
    assert 1 == compressed_kb(CHECKER, root)  # of 36 kB


def test_modules_in_folders_stay_in_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They import each other by their places; the size is that of all."""
    root = pinned(EDITOR, MEMBERS[EDITOR].values(), tmp_path, monkeypatch)

    folder = vendor.vendor(EDITOR, root)

    files = [path for path in folder.rglob("*") if path.is_file()]
    assert set(MEMBERS[EDITOR]) == {path.relative_to(folder).as_posix() for path in files}
    each = len(gzip.compress(CONTENT, compresslevel=6))
    assert round(each * len(files) / 1000) == compressed_kb(EDITOR, root)


def test_another_archive_than_the_pinned_one_is_refused(root: Path) -> None:
    """A registry that answers with something else changes nothing."""
    text = (root / LOCK).read_text(encoding="utf-8")
    (root / LOCK).write_text(text.replace("sha512-", "sha512-A"), encoding="utf-8")

    with pytest.raises(PackageError, match=r"is not what package-lock\.json pins"):
        vendor.vendor(CHECKER, root)

    assert not (root / FOLDER).exists()


def test_a_library_that_is_not_there_has_no_size(tmp_path: Path) -> None:
    """Pages then show no button."""
    assert compressed_kb(CHECKER, tmp_path) is None


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

    code = main([])

    said = capsys.readouterr().err.splitlines()
    assert 0 == code
    assert not (root / FOLDER / COMPLETE).exists()
    assert len(PACKAGES) == len(said)
    assert said[0].startswith(
        f"note: the site goes without {CHECKER}: npm could not fetch @cfworker"
    )


def test_large_programs_are_packed_alike_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For hosts that compress nothing; what a press downloads is known of each build."""
    root = pinned(ONNXRUNTIME, MEMBERS[ONNXRUNTIME].values(), tmp_path, monkeypatch)
    nothing = [race_download_mb(build, root) for build in RACE_BUILDS]

    folder = vendor.vendor(ONNXRUNTIME, root)
    first = {path.name: path.read_bytes() for path in folder.iterdir()}
    monkeypatch.setattr("time.time", lambda: 4e9)
    vendor.vendor(ONNXRUNTIME, root)

    assert {path.name: path.read_bytes() for path in folder.iterdir()} == first
    assert set(MEMBERS[ONNXRUNTIME]) == set(first)
    for name, content in first.items():
        assert CONTENT == (gzip.decompress(content) if name.endswith(".gz") else content)
    assert [None, None] == nothing
    assert [0.0, 0.0] == [race_download_mb(build, root) for build in RACE_BUILDS]
    assert compressed_kb(ONNXRUNTIME, root) == 0


def test_the_race_accepts_what_is_there_and_nothing_else() -> None:
    """The checksums in its module are those of the files that it loads; so is the version."""
    folder = REPOSITORY / FOLDER / ONNXRUNTIME
    assert folder.is_dir(), "run `python -m lesson_site.vendor`"
    text = SESSION.read_text(encoding="utf-8")
    sums, lengths = sums_of_the_race(text)
    lock = json.loads((REPOSITORY / LOCK).read_text(encoding="utf-8"))

    contents = {
        path.name: gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        for path in folder.iterdir()
    }

    assert {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()} == sums
    programs = [contents[files[-1]] for files in RACE_BUILDS.values()]
    assert [len(program) for program in programs] == lengths
    version = lock["packages"][f"node_modules/{PACKAGES[ONNXRUNTIME]}"]["version"]
    assert f'ENGINE = "onnxruntime-web {version}"' in text


def test_no_file_is_too_large_for_a_host() -> None:
    """Some static hosts take no file over 25 MiB; a button names the size of its download."""
    folder = REPOSITORY / FOLDER
    sizes = {path: path.stat().st_size for path in folder.rglob("*") if path.is_file()}
    jspi, asyncify = (race_download_mb(build, REPOSITORY) for build in RACE_BUILDS)

    assert [] == [path for path, size in sizes.items() if size > 25 * 2**20]
    assert jspi is not None
    assert asyncify is not None
    assert 3 < jspi < asyncify < 8


def test_all_libraries_share_one_patience(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a registry never answers, the first one waits, and the others hardly do."""
    monkeypatch.chdir(root)
    clock = iter([0.0, 1.0, *[500.0] * 9])
    monkeypatch.setattr(vendor.time, "monotonic", lambda: next(clock))
    given: list[float] = []

    def wait(name: str, *, patience_s: float) -> Path:
        given.append(patience_s)
        raise PackageError("npm did not fetch it")

    monkeypatch.setattr(vendor, "vendor", wait)

    main([])

    assert [PATIENCE_S - 1, *[1.0] * (len(PACKAGES) - 1)] == given


def test_the_checker_brings_every_module_that_it_imports() -> None:
    """A new version of the package that needs another one is noticed here, not in a browser."""
    folder = REPOSITORY / "node_modules" / PACKAGES[CHECKER] / "dist" / "esm"
    texts = [(folder / f"{module}.js").read_text(encoding="utf-8") for module in CHECKER_MODULES]
    imported = {name for text in texts for name in re.findall(r"from '\./([\w-]+)\.js'", text)}

    assert imported <= set(CHECKER_MODULES)


def test_the_editor_brings_every_module_that_it_imports() -> None:
    """A new version whose parts have other names is noticed here, not in a browser."""
    folder = REPOSITORY / FOLDER / EDITOR
    assert folder.is_dir(), "run `python -m lesson_site.vendor`"
    missing = [
        (path.name, imported)
        for path in folder.rglob("*.js")
        for imported in re.findall(r'from "(\.[^"]+)"', path.read_text(encoding="utf-8"))
        if not (path.parent / imported).is_file()
    ]

    assert [] == missing


def test_the_worker_knows_the_files_of_python() -> None:
    """Their checksums, and their bytes, by which it tells how far the download is."""
    folder = REPOSITORY / FOLDER / PYODIDE
    assert folder.is_dir(), "run `python -m lesson_site.vendor`"

    known = sums_of_python(WORKER.read_text(encoding="utf-8"))

    contents = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert known == {
        name: (base64.b64encode(hashlib.sha256(content).digest()).decode(), len(content))
        for name, content in contents.items()
    }


def test_make_learns_whether_all_are_there(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file that the Makefile waits for is written once nothing is missing, and not before."""
    monkeypatch.chdir(root)
    monkeypatch.setattr(vendor, "PACKAGES", {CHECKER: PACKAGES[CHECKER]})
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")

    main([])

    assert (root / FOLDER / COMPLETE).is_file()
    assert f"VENDORED = {FOLDER.as_posix()}/{COMPLETE}\n" in makefile


def test_a_new_version_gets_its_checksums_by_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of every file, and the version; nothing else of the modules changes."""
    digest = hashlib.sha256(CONTENT)
    for name, module in CHECKED_BY.items():
        pinned(name, MEMBERS[name].values(), tmp_path, monkeypatch)
        (tmp_path / module).parent.mkdir(parents=True)
        (tmp_path / module).write_bytes((REPOSITORY / module).read_bytes())
        vendor.vendor(name, tmp_path)
        vendor.renew(name, tmp_path)

    race, worker = ((tmp_path / CHECKED_BY[name]).read_text() for name in (ONNXRUNTIME, PYODIDE))
    encoded = base64.b64encode(digest.digest()).decode()
    assert dict.fromkeys(MEMBERS[PYODIDE], (encoded, len(CONTENT))) == sums_of_python(worker)
    expected = dict.fromkeys(MEMBERS[ONNXRUNTIME], digest.hexdigest())
    assert (expected, [len(CONTENT)] * 2) == sums_of_the_race(race)
    assert 'ENGINE = "onnxruntime-web 9.9.9"' in race
    before = SESSION.read_text(encoding="utf-8").splitlines()
    changed = sum(a != b for a, b in zip(before, race.splitlines(), strict=True))
    assert 1 + len(MEMBERS[ONNXRUNTIME]) + len(RACE_BUILDS) == changed


def test_the_checksums_in_the_modules_are_those_of_the_command(tmp_path: Path) -> None:
    """Renewing what is pinned changes nothing."""
    for module in CHECKED_BY.values():
        (tmp_path / module).parent.mkdir(parents=True)
        (tmp_path / module).write_bytes((REPOSITORY / module).read_bytes())
    (tmp_path / LOCK).write_bytes((REPOSITORY / LOCK).read_bytes())
    (tmp_path / FOLDER).symlink_to(REPOSITORY / FOLDER)

    for name, module in CHECKED_BY.items():
        assert (REPOSITORY / module).read_bytes() == vendor.renew(name, tmp_path).read_bytes()
