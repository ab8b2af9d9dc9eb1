"""The JavaScript of the pages: its pure modules under Node's test runner, its types under tsc."""

import subprocess
from pathlib import Path

import pytest
import tree_sitter_javascript
from tree_sitter import Language, Parser

from lesson_site.postbuild.comments import without_comments
from lesson_site.postbuild.minify import SCRIPTS, minify_js
from tests.node import executable

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def node() -> str:
    """Node from the path, or the one that pip supplies."""
    return executable()


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


def words(script: str) -> list[str]:
    """What a script consists of besides comments and the space between; it parses."""
    parsed = Parser(Language(tree_sitter_javascript.language())).parse(script.encode())
    assert not parsed.root_node.has_error
    waiting, found = [parsed.root_node], []
    while waiting:
        node = waiting.pop()
        if node.type != "comment":
            waiting += reversed(node.children)
            found += [] if node.children else [node.text.decode()]
    return found


def test_a_script_says_the_same_without_its_comments() -> None:
    """The same words in the same order, what only looks like a comment stays, and it gets short."""
    docs = REPOSITORY / "docs"
    scripts = sorted(path for pattern in SCRIPTS for path in docs.glob(pattern))

    assert len(scripts) > 40
    for path in scripts:
        script = path.read_text(encoding="utf-8")
        bare = without_comments(script)
        short = minify_js(script, module=True)
        assert words(script) == words(bare), path.name
        assert words(short), path.name
        assert len(script) > len(bare) > len(short)
