"""What readers run after a snippet is code like any other: each such function runs, and prints."""

import importlib

import pytest

from tests.runnable_snippets import Shown, runnable


@pytest.mark.parametrize("snippet", runnable(), ids=lambda snippet: snippet.target)
def test_what_is_run_after_a_snippet_prints(
    snippet: Shown, capsys: pytest.CaptureFixture[str]
) -> None:
    """The section to run is the whole of a function that bears its name."""
    file = snippet.target.partition(":")[0].removesuffix(".py")
    module = importlib.import_module(f"lesson_code.{file.replace('/', '.')}")

    getattr(module, str(snippet.run))()

    assert capsys.readouterr().out
