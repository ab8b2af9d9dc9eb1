"""The list of what the site is made of has a form that tools read, and lacks nothing."""

import base64
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from lesson_site.sbom import LAID_INTO_THE_SITE, NPM_LOCK, PYTHON_LOCK, bill, main
from lesson_site.vendor import PACKAGES
from tests.building import REPOSITORY

VALIDATOR = JsonStrictValidator(SchemaVersion.V1_6)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files from which the list is made."""
    for name in ("pyproject.toml", NPM_LOCK, PYTHON_LOCK):
        shutil.copy(REPOSITORY / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_is_valid() -> None:
    """By CycloneDX's own schema, which takes no unknown key."""
    content = bill(REPOSITORY)

    assert VALIDATOR.validate_str(json.dumps(content)) is None
    assert VALIDATOR.validate_str(json.dumps({**content, "more": 1})) is not None


def test_every_library_of_browsers_is_in_it_with_its_checksum() -> None:
    """What is laid into the site, in the version and with the checksum of the lock."""
    pinned = json.loads((REPOSITORY / NPM_LOCK).read_text(encoding="utf-8"))["packages"]
    content = {each["name"]: each for each in bill(REPOSITORY)["components"]}

    for name in PACKAGES.values():
        pin = pinned[f"node_modules/{name}"]
        assert pin["version"] == content[name]["version"]
        assert "required" == content[name]["scope"]
        [digest] = content[name]["hashes"]
        assert base64.b64decode(pin["integrity"].removeprefix("sha512-")).hex() == digest["content"]
    assert "pkg:npm/%40cfworker/json-schema@4.1.6" == content["@cfworker/json-schema"]["purl"]


def test_every_package_that_builds_the_site_is_in_it() -> None:
    """Each line of the lock; only what lays files into the site is delivered with it."""
    lines = (REPOSITORY / PYTHON_LOCK).read_text(encoding="utf-8").splitlines()
    locked = {line.split()[0] for line in lines if "==" in line and line[0].isalpha()}
    of_python = [
        each for each in bill(REPOSITORY)["components"] if each["purl"].startswith("pkg:pypi/")
    ]

    assert locked == {f"{each['name']}=={each['version']}" for each in of_python}
    delivered = {each["name"] for each in of_python if each["scope"] == "required"}
    assert set(LAID_INTO_THE_SITE) == delivered


def test_the_command_writes_the_same_each_time(repository: Path) -> None:
    """So that a site built again differs in nothing."""
    first, second = Path("first.json"), Path("second.json")

    assert [0, 0] == [main([str(first)]), main([str(second)])]

    assert first.read_bytes() == second.read_bytes()
    assert bill() == json.loads(first.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("name", "change", "sentence"),
    [
        (NPM_LOCK, None, "error: can't read package-lock.json"),
        (NPM_LOCK, lambda text: text[:40], "error: package-lock.json lacks what is needed"),
        (NPM_LOCK, lambda _: '{"packages": {}}', "error: package-lock.json lacks what is needed"),
        (NPM_LOCK, lambda text: text.replace("sha512-", "md5-"), "error: package-lock.json lacks"),
        (PYTHON_LOCK, lambda _: "# nothing", "error: site-lock.txt names no package"),
    ],
    ids=["missing", "cut off", "empty", "other checksums", "no package"],
)
def test_a_damaged_lock_is_named(
    name: str,
    change: Callable[[str], str] | None,
    sentence: str,
    repository: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In one sentence, and nothing is written."""
    lock = repository / name
    content = lock.read_text(encoding="utf-8")
    lock.unlink()
    if change:
        lock.write_text(change(content), encoding="utf-8")

    code = main(["site.json"])

    assert 2 == code
    [said] = capsys.readouterr().err.splitlines()
    assert said.startswith(sentence)
    assert not Path("site.json").exists()


def test_a_site_that_is_not_there_is_named(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is built first."""
    assert 2 == main(["site/sbom.cdx.json"])
    assert capsys.readouterr().err.startswith("error: can't write site/sbom.cdx.json: No such")
