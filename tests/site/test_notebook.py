"""The companion notebook runs as a reader runs it, and its pages lead to it."""

import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from nbclient.exceptions import CellExecutionError
from selectolax.lexbor import LexborHTMLParser

from lesson_site import notebooks
from results import result_file
from tests.building import REPOSITORY, build
from tests.graders.notebook.companion import PARAMETERS, Companion, cells
from tests.site.conftest import Copy

FEW = f"{PARAMETERS}\nimport torch; torch.set_num_threads(1)"
SUBSET = REPOSITORY / "lesson_code" / "mnist_subset"


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """The solution, executed in a folder with the lesson's digits, and that folder."""
    folder = tmp_path_factory.mktemp("ran")
    (folder / "mnist_subset").symlink_to(SUBSET)
    return notebooks.execute(notebooks.build("solution"), folder, FEW), folder


def printed_by(notebook: dict[str, Any]) -> str:
    """Everything that its cells printed."""
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return "".join(output.get("text", "") for cell in code for output in cell["outputs"])


def test_the_solution_runs_from_top_to_bottom(ran: tuple[dict[str, Any], Path]) -> None:
    """Without network and GPU all four checks hold, and it says what it used and skipped."""
    printed = printed_by(ran[0])

    assert "data: a tenth of MNIST, real digits" in printed
    assert ["1", "2", "3", "4"] == re.findall(r"Exercise (\d): everything holds", printed)
    assert "✗" not in printed


@pytest.mark.skipif("__import__('torch').cuda.is_available()")
def test_without_a_gpu_comparisons_say_that_they_were_skipped(
    ran: tuple[dict[str, Any], Path],
) -> None:
    """Both say what they would show, and the loader's share is there all the same."""
    printed = printed_by(ran[0])

    assert 2 == printed.count("Comparison skipped: no GPU here. It would show")
    assert re.search(r"The loader alone takes \d+% of your CPU epoch", printed)
    assert "as the float32 run, to the last digit" in printed
    assert "ANOTHER" not in printed


def test_every_training_run_has_a_banner(ran: tuple[dict[str, Any], Path]) -> None:
    """Outputs can be told apart."""
    banners = re.findall(r"^--- (.+?)(?:,.*)? ---$", printed_by(ran[0]), re.MULTILINE)

    expected = ["CPU run", "your run", "training on cpu", "float32 run", "mixed precision run"]
    assert [*expected, "portable run"] == banners


def test_exactly_the_saved_epochs_are_marked(ran: tuple[dict[str, Any], Path]) -> None:
    """A marked line is one whose accuracy lies above all before."""
    run = printed_by(ran[0]).split("--- portable run ---")[1].split("device:")[0]
    lines = re.findall(r"validation accuracy ([\d.]+) %(  <- best)?", run)

    best, expected = -1.0, []
    for accuracy, _ in lines:
        expected.append(float(accuracy) > best)
        best = max(best, float(accuracy))
    assert lines
    assert expected == [bool(mark) for _, mark in lines]


def test_the_timings_are_a_result_file_of_this_site(ran: tuple[dict[str, Any], Path]) -> None:
    """The strict reader takes it; its figures are those that the catalogue computes."""
    result = result_file.read(ran[1] / "gpu-training-timings.json")

    assert {"notebook.cpu_rate", "notebook.loader_pass_rate"} <= set(result["figures"])
    known = result_file.with_figures(result)["figures"]
    assert all(known[name] == figure for name, figure in result["figures"].items())


def test_it_says_the_same_as_the_recorded_run(ran: tuple[dict[str, Any], Path]) -> None:
    """What the page shows of the checks is what a run prints today."""
    recorded = printed_by(notebooks.read(REPOSITORY / notebooks.SOLUTION))

    claims = re.findall(r"^[✓✗] .+$", printed_by(ran[0]), re.MULTILINE)
    assert re.findall(r"^[✓✗] .+$", recorded, re.MULTILINE) == claims


def test_the_learner_stops_at_the_first_blank(tmp_path: Path) -> None:
    """The message is one line with the blank's name and task."""
    (tmp_path / "mnist_subset").symlink_to(SUBSET)

    with pytest.raises(CellExecutionError) as stopped:
        notebooks.execute(notebooks.build("learner"), tmp_path, FEW)

    assert "NotYetError" == stopped.value.ename
    assert stopped.value.evalue.startswith("Blank 1a is still empty. Your task: name the device")
    assert "\n✗ Blank 1a is still empty." in stopped.value.traceback
    assert "Traceback (most recent call last)" not in stopped.value.traceback


def test_made_up_patterns_write_no_timings(tmp_path: Path) -> None:
    """Their loader decodes nothing, so the last cell says why there is no file."""
    companion = Companion(tmp_path, 'DATA = "synthetic"')
    companion.run("cpu_seconds, loader_pass = [1.0, 1.1], 0.5")
    last = next(code for _, code in reversed(cells(tmp_path)) if "timings_path" in code)

    assert "Nothing written: made-up patterns need no decoding" in companion.run(last)
    assert not (tmp_path / "gpu-training-timings.json").exists()


def test_the_page_offers_both_versions(built_site: Path) -> None:
    """Both files and the archive are in the site, the learner's as it is in the repository."""
    folder = built_site / "notebooks"
    page = (folder / "index.html").read_text(encoding="utf-8")
    links = re.findall(r'<a class="md-button[^"]*"[^>]*href="([^"]+)"', page)
    links += re.findall(r'href="([^"]+)"[^>]*class="md-button', page)

    archive = zipfile.ZipFile(folder / "gpu-training-notebook.zip")
    learner = (REPOSITORY / notebooks.LEARNER).read_bytes()
    assert learner == (folder / notebooks.LEARNER.name).read_bytes()
    assert learner == archive.read(notebooks.LEARNER.name)
    assert 5 == sum(name.startswith("mnist_subset/") for name in archive.namelist())
    assert {notebooks.LEARNER.name, notebooks.SOLUTION.name, "gpu-training-notebook.zip"} == {
        link.split("/")[-1] for link in links
    }


def test_the_archive_is_enough(built_site: Path, tmp_path: Path) -> None:
    """Unpacked anywhere, the notebook finds real digits beside it."""
    zipfile.ZipFile(built_site / "notebooks" / "gpu-training-notebook.zip").extractall(tmp_path)
    companion = Companion(tmp_path)

    assert "a tenth of MNIST, real digits" == companion.module.which


def test_the_lesson_leads_to_the_notebook(built_site: Path) -> None:
    """Section 15 links to its page."""
    page = (built_site / "gpu-training" / "practice" / "index.html").read_text(encoding="utf-8")

    assert 'href="../../notebooks/"' in page


NOTEBOOK_PAGE = """# 1. First { #first }

[open in Colab: a.ipynb]

```console
[clone this project]
$ make live
```
"""
COLAB = (
    "https://colab.research.google.com/github/some-body/les.son/blob/main/docs/notebooks/a.ipynb"
)


@pytest.mark.parametrize(
    ("repository", "links", "commands"),
    [
        ("", [], ["$ make live"]),
        (
            "some-body/les.son",
            [COLAB],
            ["$ git clone https://github.com/some-body/les.son", "$ cd les.son", "$ make live"],
        ),
    ],
)
def test_colab_and_a_clone_are_offered_where_the_public_address_is_known(
    copy: Copy,
    monkeypatch: pytest.MonkeyPatch,
    repository: str,
    links: list[str],
    commands: list[str],
) -> None:
    """No link can be dead: without the address there is none."""
    monkeypatch.setenv("LESSON_REPOSITORY", repository)
    copy.write("docs/tiny/01-first.md", NOTEBOOK_PAGE)

    built = build(copy.root / "site", at=copy.root)

    assert not built.returncode, built.stderr
    page = LexborHTMLParser(
        (copy.root / "site/tiny/01-first/index.html").read_text(encoding="utf-8")
    )
    found = [link.attributes["href"] for link in page.css("article a.md-button")]
    shown = page.css_first("article pre code")
    assert links == found
    assert shown is not None
    assert commands == shown.text().splitlines()


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("[notebook: none.ipynb]", "is missing; build it with"),
        ("[notebook: unexecuted.ipynb]", "it has not been executed"),
        ('[notebook: small.ipynb from "A" to "B"]', "no cell begins with the heading 'B'"),
    ],
)
def test_a_page_without_its_notebook_stops_the_build(copy: Copy, line: str, problem: str) -> None:
    """The sentence names page, notebook and what to do."""
    cells = [{"cell_type": "markdown", "metadata": {}, "source": "## A"}]
    small = {"cells": cells, "metadata": {"lesson": {}}, "nbformat": 4, "nbformat_minor": 5}
    copy.write("docs/notebooks/small.ipynb", json.dumps(small))
    copy.write("docs/notebooks/unexecuted.ipynb", json.dumps({**small, "metadata": {}}))
    copy.write("docs/tiny/01-first.md", f"# 1. First {{ #first }}\n\n{line}\n")

    built = build(copy.root / "site", at=copy.root)

    assert built.returncode
    assert problem in built.stderr
    assert "docs/tiny/01-first.md" in built.stderr


def test_an_address_that_is_none_stops_the_build(
    copy: Copy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says how to write it."""
    monkeypatch.setenv("LESSON_REPOSITORY", "https://somewhere")
    copy.write("docs/tiny/01-first.md", NOTEBOOK_PAGE)

    built = build(copy.root / "site", at=copy.root)

    assert built.returncode
    assert "write it as owner/name" in built.stderr
