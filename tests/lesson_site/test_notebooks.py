"""The builder of the companion notebook, and what it built."""

import json
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

from graders.blanks import blanks_of
from lesson_site import notebooks
from lesson_site.__main__ import main
from lesson_site.notebooks import (
    LEARNER,
    MEASURING,
    MEASURING_NOTEBOOK,
    SOLUTION,
    SOURCE,
    NotebookError,
)

HEAD = '# %% tags=["parameters"]\nEPOCHS = 3\n\n'
Cells = Callable[..., list[str]]


@pytest.fixture
def cells(tmp_path: Path) -> Cells:
    """What a cell of a small source becomes."""

    def built(text: str, version: notebooks.Version = "learner") -> list[str]:
        source = tmp_path / "source.py"
        source.write_text(HEAD + text, encoding="utf-8")
        return [cell["source"] for cell in notebooks.build(version, source)["cells"][1:]]

    return built


BLANK = """\
# %%
def step(loss):
    # BLANK 3c: scale it
    scaler.scale(loss).backward()
    # INSTEAD
    # loss.backward()
    # END
    return loss
"""


def test_a_blank_is_a_call_for_the_learner(cells: Cells) -> None:
    """It names itself and its task, and what was there before is below it."""
    expected = (
        'def step(loss):\n    fill_in("3c", "scale it")\n    loss.backward()\n    return loss'
    )

    assert [expected] == cells(BLANK)


def test_a_blank_is_filled_in_the_solution(cells: Cells) -> None:
    """No trace of the markers is left."""
    expected = "def step(loss):\n    scaler.scale(loss).backward()\n    return loss"

    assert [expected] == cells(BLANK, "solution")


def test_the_folded_solution_is_what_fills_the_blanks(cells: Cells) -> None:
    """In the learner's version it is code; in the solution it is in the cell itself."""
    text = f"{BLANK}\n# %% [markdown]\n# Look:\n#\n# {{{{ solution 3 }}}}\n"

    assert "Look:\n\n```python\nscaler.scale(loss).backward()\n```" == cells(text)[1]
    assert "Look:" == cells(text, "solution")[1].strip()


def test_a_section_is_written_into_its_cell(cells: Cells) -> None:
    """The text of the module, without what speaks to type checkers."""
    built = cells('# %%\n# --8<-- "lesson_code/gpu_training/training.py:evaluate"\n')

    assert built[0].startswith("@torch.no_grad()\ndef evaluate(")
    assert "# type:" not in "".join(notebooks.code_of(notebooks.build("solution")))


def test_recorded_figures_come_with_their_machine(cells: Cells) -> None:
    """The dictionary holds value, text and source; None stands for what was not measured."""
    built = cells("# %%\n# RECORDED mnist_epoch.cpu mnist_epoch.cuda\n")
    values: dict[str, Any] = {}
    exec(built[0], values)

    recorded = values["RECORDED"]["mnist_epoch.cpu"]
    assert recorded["value"] > 0
    assert {"value", "text", "where"} == set(recorded)
    assert "mnist_epoch.cuda" in values["RECORDED"]


def test_figures_and_outputs_stand_in_the_text(cells: Cells) -> None:
    """The forms of the pages work in cells, too."""
    target = "gpu_training/device_aware_checkpoints:print_loading_without_map_location"

    built = cells(f"# %% [markdown]\n# [[tiny.batches]]\n#\n# {{{{ output {target} }}}}\n")[0]

    assert built.startswith("7\n\n```text\n")
    assert "Attempting to deserialize object on a CUDA device" in built


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("# %%\n# BLANK 1a: move\nx = 1\n", "line 5: what begins here has no `# END`"),
        ('# %%\n# --8<-- "lesson_code/data.py:nothing"\n', "no section 'nothing'"),
        ("# %% [markdown]\n# {{ solution 9 }}\n", "exercise 9 has no blanks"),
        ("# %% [markdown]\n# {{ picture 9 }}\n", "no directive {{ picture 9 }}"),
    ],
)
def test_a_wrong_source_is_refused(cells: Cells, text: str, problem: str) -> None:
    """The sentence says what is wrong."""
    with pytest.raises(NotebookError, match=re.escape(problem)):
        cells(text)


@pytest.mark.parametrize(("version", "path"), [("learner", LEARNER), ("solution", SOLUTION)])
def test_the_notebooks_are_what_their_source_says(version: notebooks.Version, path: Path) -> None:
    """Built again, both are the files of the repository."""
    fresh = notebooks.build(version)

    assert fresh == notebooks.without_outputs(notebooks.read(path)), (
        f"run `{notebooks.COMMAND}`, with --execute if code has changed"
    )


def test_the_measuring_notebook_is_what_its_source_says() -> None:
    """Built again, it is the file of the repository, and it has never run."""
    fresh = notebooks.build("learner", MEASURING)

    assert fresh == notebooks.read(MEASURING_NOTEBOOK), f"run `{notebooks.COMMAND}`"


@pytest.mark.parametrize("path", [LEARNER, SOLUTION, MEASURING_NOTEBOOK])
def test_a_notebook_is_valid_and_clean(path: Path) -> None:
    """It is accepted by nbformat; it is UTF-8 without damaged characters, and names no path."""
    text = path.read_text(encoding="utf-8")

    nbformat.validate(nbformat.reads(text, as_version=4))
    assert not re.search(r"\N{REPLACEMENT CHARACTER}|â€|Ã.|/(?:home|tmp|root|usr)/", text)


def test_the_learner_version_has_no_trace_of_a_run() -> None:
    """No output, no count, no time of execution."""
    cells = json.loads(LEARNER.read_text(encoding="utf-8"))["cells"]

    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    assert not any("execution" in cell["metadata"] for cell in cells)


def test_the_solution_has_run_from_top_to_bottom() -> None:
    """Every cell has its number, none stopped, and the file says where that was."""
    solution = notebooks.read(SOLUTION)
    code = [cell for cell in solution["cells"] if cell["cell_type"] == "code"]

    assert list(range(1, len(code) + 1)) == [cell["execution_count"] for cell in code]
    assert not any(o["output_type"] == "error" for cell in code for o in cell["outputs"])
    assert {"date", "processor", "torch", "seconds"} <= set(solution["metadata"]["lesson"])
    printed = "".join(o.get("text", "") for cell in code for o in cell["outputs"])
    assert [str(n) for n in range(1, 5)] == re.findall(r"Exercise (\d): everything holds", printed)


def test_the_versions_differ_in_the_blanks_alone() -> None:
    """Three, three, five and one: everything else is the same, cell by cell."""
    blanks = blanks_of(SOURCE.read_text(encoding="utf-8"))
    counts = {n: sum(blank.name.startswith(n) for blank in blanks) for n in "1234"}
    learner, solution = (notebooks.code_of(notebooks.build(v)) for v in ("learner", "solution"))

    differing = [a for a, b in zip(learner, solution, strict=True) if a != b]
    assert {"1": 3, "2": 3, "3": 5, "4": 1} == counts
    assert 4 == len(differing)
    assert all("fill_in(" in cell for cell in differing)


def test_no_answer_stands_beside_its_blank() -> None:
    """A task says in words what to write; the code cells of the learner hold no solution."""
    blanks = blanks_of(SOURCE.read_text(encoding="utf-8"))
    exercises = [cell for cell in notebooks.code_of(notebooks.read(LEARNER)) if "fill_in(" in cell]

    for blank in blanks:
        code = [line.strip() for line in blank.solution if "(" in line]
        assert not any(piece in blank.task for piece in code)
    for cell in exercises[1:]:
        for blank in (b for b in blanks if f'fill_in("{b.name}"' in cell):
            assert "\n".join(blank.solution) not in textwrap.dedent(cell)


def test_every_exercise_has_its_parts_in_order() -> None:
    """Level, prediction, the learner's code, check, and a folded solution."""
    source = SOURCE.read_text(encoding="utf-8")
    levels = re.findall(r"^# \*(Supported|Independent):", source, re.MULTILINE)

    assert ["Supported", "Supported", "Supported", "Independent"] == levels
    for number in "1234":
        own = source.split(f"# ## Exercise {number}: ")[1]
        places = [
            own.index(part)
            for part in (
                "**Predict first.**",
                'tags=["prediction"]',
                f'tags=["exercise-{number}"]',
                "# **Check.**",
                f'tags=["check-{number}"]',
                f"<details><summary>Solution of exercise {number}</summary>",
            )
        ]
        assert sorted(places) == places


def test_the_test_images_wait() -> None:
    """They serve one batch of exercise 2 and the end of exercise 4."""
    using = [cell for cell in notebooks.code_of(notebooks.read(SOLUTION)) if "test_loader" in cell]

    defined, compared, evaluated = (cell for cell in using if "def evaluate(" not in cell)
    assert "DataLoader(test_digits" in defined
    assert "next(iter(answer.test_loader))" in compared
    assert "evaluate(best_model, test_loader" in evaluated


def test_takeaways_count_three_and_five_lines() -> None:
    """And the last cell, switched off, removes the checkpoints and nothing else."""
    learner = notebooks.read(LEARNER)["cells"]
    takeaways = next(c["source"] for c in learner if "What you take along" in c["source"])

    assert "**three lines**" in takeaways
    assert "**five lines**" in takeaways
    assert "GPU wins at scale" in takeaways
    assert '# shutil.rmtree("saved_models")' == learner[-1]["source"]


def test_deprecated_calls_stay_out() -> None:
    """Neither the old module nor the attribute that never existed."""
    text = LEARNER.read_text(encoding="utf-8")

    assert "torch.cuda.amp" not in text
    assert not re.search(r"total_mem\b", text)
    assert "time.time()" not in text


def test_changed_code_is_not_shown_with_old_outputs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without --execute the command refuses, and says how to run it; the old file stays."""
    solution = tmp_path / "solution.ipynb"
    old = notebooks.read(SOLUTION)
    notebooks.write({**old, "cells": old["cells"][:-1]}, solution)
    before = solution.read_bytes()
    monkeypatch.setattr(notebooks, "SOLUTION", solution)
    monkeypatch.setattr(notebooks, "LEARNER", tmp_path / "learner.ipynb")

    assert 2 == main(["notebook"])

    assert "has changed since it ran; execute it with" in capsys.readouterr().err
    assert before == solution.read_bytes()


def test_changed_text_keeps_the_outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only code makes a run out of date."""
    solution = tmp_path / "solution.ipynb"
    notebooks.write(notebooks.read(SOLUTION), solution)
    monkeypatch.setattr(notebooks, "SOLUTION", solution)
    monkeypatch.setattr(notebooks, "LEARNER", tmp_path / "learner.ipynb")

    assert 0 == main(["notebook"])

    assert notebooks.read(SOLUTION) == notebooks.read(solution)


@pytest.mark.parametrize("content", ["{", "[]", '{"cells": 3}', '{"cells": [{}]}'])
def test_a_damaged_notebook_says_so(tmp_path: Path, content: str) -> None:
    """One sentence with the file and what to do."""
    path = tmp_path / "broken.ipynb"
    path.write_text(content, encoding="utf-8")

    with pytest.raises(NotebookError, match=r"is damaged .* build it again"):
        notebooks.read(path)


def test_a_missing_notebook_says_how_to_build_it(tmp_path: Path) -> None:
    """The command is in the sentence."""
    with pytest.raises(NotebookError, match="missing; build it with `python -m lesson_site"):
        notebooks.read(tmp_path / "none.ipynb")
