"""What was once taught and is wrong or dangerous stands nowhere in the foundations."""

import re

import pytest

from tests.building import REPOSITORY

FOLDERS = ("docs/foundations", "lesson_code/foundations")
FILES = [
    path
    for folder in FOLDERS
    for path in sorted((REPOSITORY / folder).rglob("*"))
    if path.suffix in (".md", ".py")
]


@pytest.mark.parametrize(
    ("wrong", "lines_that_explain_it"),
    [
        (r"torch\.cuda\.amp", 1),  # the old names, where they are called old
        (r"retain_graph", 0),
        (r"\.venv/bin/python -m venv", 0),
        (r"torch\.load\((?![^)]*weights_only=True)", 0),
        (r"torch\.cuda\.manual_seed", 0),
        (r"weights_only=False", 0),
        (r"best_accuracy = 0", 0),
    ],
)
def test_old_advice_is_not_given(wrong: str, lines_that_explain_it: int) -> None:
    """No page, module or solution has it, but for the line that explains it."""
    assert len(FILES) > 30
    found = [
        f"{path.name}: {line.strip()}"
        for path in FILES
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(wrong, line)
    ]

    assert lines_that_explain_it == len(found), found
