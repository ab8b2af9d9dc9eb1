"""List what the built site is made of, as a software bill of materials in CycloneDX's form.

Of npm are the libraries that browsers load, of Python the packages that build the pages; two of
these lay files of their own into the site. Versions and checksums are those of the lock files.
"""

import argparse
import base64
import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

from lesson_site.files import write_whole

NPM_LOCK, PYTHON_LOCK = "package-lock.json", "site-lock.txt"
SPECIFICATION = "1.6"
LAID_INTO_THE_SITE = ("mkdocs", "mkdocs-material")  # the theme and its search, and the sitemap
LINE = re.compile(r"^(?P<name>[\w.-]+)==(?P<version>[\w.]+)", re.MULTILINE)


class LockError(ValueError):
    """A lock file that can't be read; the message names it and says what to do."""


def bill(root: Path = Path()) -> dict[str, Any]:
    """The bill of materials of the site that is built from a repository.

    Raises:
        LockError: If a file that it rests on is missing or damaged.
    """
    project = tomllib.loads(_text(root / "pyproject.toml"))["project"]
    name, version = project["name"], project["version"]
    own = {
        "type": "application",
        "bom-ref": f"{name}@{version}",
        "name": name,
        "version": version,
        "licenses": [{"license": {"id": project["license"]}}],
    }
    components = [*_of_npm(root), *_of_python(root)]
    return {
        "$schema": f"http://cyclonedx.org/schema/bom-{SPECIFICATION}.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": SPECIFICATION,
        "version": 1,
        "metadata": {"component": own},
        "components": components,
        "dependencies": [
            {"ref": own["bom-ref"], "dependsOn": [each["bom-ref"] for each in components]}
        ],
    }


def _of_npm(root: Path) -> list[dict[str, Any]]:
    try:
        packages = json.loads(_text(root / NPM_LOCK))["packages"]
        return [
            _component(
                f"pkg:npm/{name.replace('@', '%40')}@{packages[place]['version']}",
                name,
                packages[place]["version"],
                "required",
                hashes=[_sha512(packages[place]["integrity"])],
                licenses=[{"license": {"id": packages[place]["license"]}}],
            )
            for name in sorted(packages[""]["dependencies"])
            for place in [f"node_modules/{name}"]
        ]
    except (KeyError, TypeError, ValueError) as problem:
        if isinstance(problem, LockError):
            raise
        raise LockError(
            f"{NPM_LOCK} lacks what is needed ({problem!r}); write it anew with `npm install`"
        ) from problem


def _of_python(root: Path) -> list[dict[str, Any]]:
    found = LINE.findall(_text(root / PYTHON_LOCK))
    if not found:
        raise LockError(f"{PYTHON_LOCK} names no package; write it anew with `make lock`")
    return [
        _component(
            f"pkg:pypi/{name}@{version}",
            name,
            version,
            "required" if name in LAID_INTO_THE_SITE else "excluded",  # from what is delivered
        )
        for name, version in sorted(found)
    ]


def _component(purl: str, name: str, version: str, scope: str, **more: Any) -> dict[str, Any]:
    kept = {"name": name, "version": version, "purl": purl, "scope": scope}
    return {"type": "library", "bom-ref": purl, **kept, **more}


def _sha512(integrity: str) -> dict[str, str]:
    """A checksum of npm's lock as CycloneDX writes it."""
    kind, _, value = integrity.partition("-")
    if kind != "sha512":
        raise ValueError(f"no SHA-512: {integrity}")
    return {"alg": "SHA-512", "content": base64.b64decode(value, validate=True).hex()}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as problem:
        raise LockError(
            f"can't read {path} ({problem.strerror}); run this in the repository"
        ) from problem


def main(arguments: list[str] | None = None) -> int:
    """Write the bill of materials."""
    parser = argparse.ArgumentParser(prog="python -m lesson_site.sbom", description=__doc__)
    parser.add_argument("file", type=Path, help="where it is written, as in site/sbom.cdx.json")
    file = parser.parse_args(arguments).file
    try:
        write_whole(file, f"{json.dumps(bill(), indent=1)}\n")
    except LockError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    except OSError as problem:
        print(f"error: can't write {file}: {problem.strerror}; build the site", file=sys.stderr)
        return 2
    print(file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
