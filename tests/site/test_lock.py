"""What the site is built with is known by version and checksum, on every system."""

import re
import tomllib
from importlib.metadata import requires

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.building import REPOSITORY

LOCK = (REPOSITORY / "site-lock.txt").read_text(encoding="utf-8")
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))


def locked() -> list[Requirement]:
    """The lines that name a package."""
    return [
        Requirement(line.removesuffix("\\").strip())
        for line in LOCK.splitlines()
        if not line.startswith((" ", "#"))
    ]


def needed(requirement: Requirement, found: set[str]) -> set[str]:
    """What a requirement brings on this machine, itself included."""
    name = canonicalize_name(requirement.name)
    found.add(name)
    extras = requirement.extras or {""}
    for line in requires(requirement.name) or []:
        more = Requirement(line)
        wanted = not more.marker or any(more.marker.evaluate({"extra": each}) for each in extras)
        if wanted and canonicalize_name(more.name) not in found:
            needed(more, found)
    return found


def test_the_lock_names_what_the_site_needs_and_nothing_else() -> None:
    """On this machine; another system has lines of its own, with its name in their markers."""
    site = PROJECT["project"]["optional-dependencies"]["site"]
    expected = {"setuptools"}  # it builds the repository's own entry
    for line in site:
        needed(Requirement(line), expected)

    here = {each.name for each in locked() if not each.marker or each.marker.evaluate()}

    assert expected == here


def test_each_package_has_one_version_and_a_checksum() -> None:
    """Pip refuses the whole file otherwise; every other line is a checksum of SHA-256."""
    assert all(re.fullmatch(r"==[\w.]+", str(each.specifier)) for each in locked())
    entries = re.split(r"(?m)^(?=\w)", LOCK)[1:]
    assert len(locked()) == len(entries)
    for entry in entries:
        first, *rest = [line.removesuffix("\\").strip() for line in entry.splitlines()]
        assert rest, f"{first} has no checksum; run `make lock`"
        assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", line) for line in rest)


def test_each_version_is_the_one_that_the_tests_run_with() -> None:
    """`constraints.txt` and the lock agree."""
    constraints = (REPOSITORY / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.split("==") for line in constraints if not line.startswith("#"))
    tried = {canonicalize_name(name): version for name, version in pinned.items()}

    other = {
        each.name: str(each.specifier)
        for each in locked()
        if each.name in tried and str(each.specifier) != f"=={tried[each.name]}"
    }

    assert {} == other
    besides = {"appnope", "setuptools"}  # of a Mac, and what builds
    assert besides == {each.name for each in locked() if each.name not in tried}


def test_the_lock_has_lines_for_other_systems() -> None:
    """It was made for all of them, whichever its author has."""
    markers = {each.name: str(each.marker) for each in locked() if each.marker}

    assert 'sys_platform == "darwin"' == markers["appnope"]
    assert re.search(r"-?win32", markers["pexpect"])
