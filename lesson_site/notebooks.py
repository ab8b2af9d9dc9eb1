"""Building the companion notebook: one source, a learner's version with blanks and a solution.

The source is a Python file in jupytext's percent format. In its code cells

    # --8<-- "lesson_code/data.py:normalise"       puts a section of tested code in this place
    # RECORDED figure.name other.name              becomes a dictionary RECORDED of those figures
    # BLANK 1a: the task                           begins what a learner writes; graders/blanks.py
                                                   explains this mark and those that belong to it

and in its text

    [[figure.name]]                                a figure, as on pages
    {{ solution 1 }}                               what belongs into the blanks of exercise 1
    {{ output track/module:function }}             what a snippet printed when it was recorded
    {{ reading minutes }}                          an estimate of the time to read and to write

jupytext, nbformat, nbclient and the site's own tools are imported where they are needed: the site
does without the first three, and the tests of a GPU machine without all of them.
"""

import base64
import datetime
import io
import json
import math
import os
import platform
import re
import tempfile
import time
from pathlib import Path
from typing import Any, Literal

from graders.blanks import Blank, BlankError, blanks_of, emptied, filled
from lesson_site.files import write_whole
from lesson_site.sections import SectionError, read_section
from results import recorded
from results.store import open_store

FOLDER = Path("docs/notebooks")
SOURCE = FOLDER / "2-3-2-gpu-training.py"
LEARNER = FOLDER / "2-3-2-gpu-training.ipynb"
SOLUTION = FOLDER / "2-3-2-gpu-training-solution.ipynb"
MEASURING = FOLDER / "measure-your-gpu.py"
MEASURING_NOTEBOOK = MEASURING.with_suffix(".ipynb")
COMMAND = "python -m lesson_site notebook"

MINUTES_PER_BLANK = 1.5
SECONDS_PER_CELL = 7200

INCLUDED = re.compile(r'^# --8<-- "(?P<target>[\w/.-]+:[\w-]+)"$', re.MULTILINE)
RECORDED = re.compile(r"^# RECORDED (?P<names>.+)$", re.MULTILINE)
FOR_CHECKERS = re.compile(r"  # (?:type: ignore|noqa)\b.*$", re.MULTILINE)
FIGURE = re.compile(r"\[\[([^\[\]\s]+)\]\]")
DIRECTIVE = re.compile(r"\{\{ (?P<what>\w+) (?P<argument>\S+) \}\}")

Version = Literal["learner", "solution"]


class NotebookError(ValueError):
    """A source or a notebook that can't be used; the message says where and what to do."""


def included_sections(source: Path = SOURCE) -> dict[str, int]:
    """Every section that the source puts into its cells, and the line that says so."""
    text = _read(source)
    return {
        match["target"]: text.count("\n", 0, match.start()) + 1 for match in INCLUDED.finditer(text)
    }


def build(version: Version, source: Path = SOURCE) -> dict[str, Any]:
    """One version of the notebook, without outputs, as the JSON of its file.

    Raises:
        NotebookError: If the source names a section, a figure or a directive that does not exist,
            or a blank has no end.
    """
    import jupytext

    text = _read(source)
    try:
        blanks = blanks_of(text)
        own = filled(text) if version == "solution" else emptied(text, _stub)
    except BlankError as problem:
        raise NotebookError(f"{source}, {problem}") from None
    cells = []
    built: dict[str, Any]
    for number, cell in enumerate(jupytext.reads(own, fmt="py:percent").cells):
        if cell.cell_type == "markdown":
            content = _text(cell.source, version, blanks, text)
            built = {"cell_type": "markdown", "metadata": {}, "source": content}
        else:
            content = INCLUDED.sub(_section, RECORDED.sub(_recorded, cell.source))
            built = {
                "cell_type": "code",
                "execution_count": None,
                "metadata": dict(cell.metadata),
                "outputs": [],
                "source": content.rstrip("\n"),
            }
        cells.append({**built, "id": f"cell-{number:02}"})
    return {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def execute(notebook: dict[str, Any], folder: Path, parameters: str = "") -> dict[str, Any]:
    """The notebook with the outputs of a run from top to bottom, and where and when that was.

    Args:
        notebook: What ``build`` gave.
        folder: Where it runs; it writes files there.
        parameters: Lines of code that run after the cell of parameters.

    Raises:
        nbclient.exceptions.CellExecutionError: If a cell fails.
    """
    import nbformat
    from nbclient import NotebookClient

    running = nbformat.from_dict(json.loads(json.dumps(notebook)))
    place = next(i for i, cell in enumerate(running.cells) if "parameters" in _tags(cell)) + 1
    if parameters:
        running.cells.insert(place, nbformat.v4.new_code_cell(parameters))
    client = NotebookClient(
        running,
        timeout=SECONDS_PER_CELL,
        resources={"metadata": {"path": str(folder)}},
        record_timing=False,
    )
    start = time.monotonic()
    client.execute()
    seconds = time.monotonic() - start
    if parameters:
        del running.cells[place]
    result = _joined(json.loads(nbformat.writes(running)))
    result["metadata"] = {**notebook["metadata"], "lesson": _provenance(folder, seconds)}
    for number, cell in enumerate(c for c in result["cells"] if c["cell_type"] == "code"):
        cell["execution_count"] = number + 1
        cell["outputs"] = _without_noise(cell["outputs"])
    return result


def rebuild(run: bool, data: Path) -> list[Path]:
    """Write both versions anew, and the notebook that measures a GPU.

    Args:
        run: Whether to execute the solution; if not, it keeps its outputs.
        data: The folder in which ``MNIST/raw`` lies, for that run.

    Raises:
        NotebookError: If the solution's code has changed since it was executed, and ``run`` is off;
            the learner's version is written all the same.
    """
    write(build("learner", MEASURING), MEASURING_NOTEBOOK)
    write(build("learner"), LEARNER)
    solution = build("solution")
    if run:
        with tempfile.TemporaryDirectory() as folder:
            parameters = f'DATA, DATA_FOLDER = "full", {str(data.resolve())!r}'
            solution = execute(solution, Path(folder), parameters)
    else:
        solution = _with_outputs_of(solution, read(SOLUTION))
    write(solution, SOLUTION)
    return [MEASURING_NOTEBOOK, LEARNER, SOLUTION]


def _with_outputs_of(built: dict[str, Any], old: dict[str, Any]) -> dict[str, Any]:
    if code_of(built) != code_of(old):
        raise NotebookError(
            f"the code of {SOLUTION} has changed since it ran; "
            f"execute it with `{COMMAND} --execute`"
        )
    ran = iter([cell for cell in old["cells"] if cell["cell_type"] == "code"])
    cells = [
        {**cell, **{k: v for k, v in next(ran).items() if k in ("outputs", "execution_count")}}
        if cell["cell_type"] == "code"
        else cell
        for cell in built["cells"]
    ]
    metadata = {**built["metadata"], "lesson": old["metadata"]["lesson"]}
    return {**built, "cells": cells, "metadata": metadata}


def write(notebook: dict[str, Any], path: Path) -> None:
    """Save a notebook, whole or not at all."""
    content = json.dumps(_split(notebook), indent=1, ensure_ascii=False, sort_keys=True)
    write_whole(path, content + "\n")


def read(path: Path) -> dict[str, Any]:
    """A notebook's JSON.

    Raises:
        NotebookError: If it is not there or damaged.
    """
    try:
        return _joined(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise NotebookError(f"{path} is missing; build it with `{COMMAND} --execute`") from None
    except (ValueError, LookupError, TypeError, AttributeError, OSError) as problem:
        raise NotebookError(f"{path} is damaged ({problem}); build it again") from None


def _joined(notebook: dict[str, Any]) -> dict[str, Any]:
    """The same with every text in one piece; files hold it as a list of lines."""
    cells = []
    for cell in notebook["cells"]:
        joined = {**cell, "source": "".join(cell["source"])}
        if cell["cell_type"] == "code":
            joined["outputs"] = [
                {**output, "text": "".join(output["text"])} if "text" in output else output
                for output in cell["outputs"]
            ]
        cells.append(joined)
    return {**notebook, "cells": cells}


def _split(notebook: dict[str, Any]) -> dict[str, Any]:
    """The same as a file holds it: a changed line is one line in a diff."""
    cells = []
    for cell in notebook["cells"]:
        split = {**cell, "source": cell["source"].splitlines(keepends=True)}
        if cell["cell_type"] == "code":
            split["outputs"] = [
                {**output, "text": output["text"].splitlines(keepends=True)}
                if "text" in output
                else output
                for output in cell["outputs"]
            ]
        cells.append(split)
    return {**notebook, "cells": cells}


def without_outputs(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook as it was built, before it ran."""
    cells = [
        {**cell, "outputs": [], "execution_count": None} if cell["cell_type"] == "code" else cell
        for cell in notebook["cells"]
    ]
    metadata = {name: value for name, value in notebook["metadata"].items() if name != "lesson"}
    return {**notebook, "cells": cells, "metadata": metadata}


def code_of(notebook: dict[str, Any]) -> list[str]:
    """The source of its code cells."""
    return [cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "code"]


def _read(source: Path) -> str:
    try:
        return source.read_text(encoding="utf-8")
    except OSError as problem:
        raise NotebookError(f"can't read {source}: {problem.strerror}") from None


def _stub(name: str, task: str) -> str:
    """The call that names a blank until it is filled."""
    return f"fill_in({json.dumps(name)}, {json.dumps(task)})"


def _section(match: re.Match[str]) -> str:
    try:
        text = read_section(match["target"], Path()).text
    except SectionError as problem:
        raise NotebookError(f"{SOURCE}: {problem}") from None
    return FOR_CHECKERS.sub("", text)


def _recorded(match: re.Match[str]) -> str:
    """A dictionary of recorded figures; None for what has not been measured."""
    lines = []
    for name in match["names"].split():
        figure = open_store().figure(name)
        value = {"value": figure.value, "text": figure.text, "where": figure.source}
        lines.append(f"    {name!r}: {value if figure.known else None!r},")
    return "\n".join(["RECORDED = {", *lines, "}"])


def _text(text: str, version: Version, blanks: list[Blank], source: str) -> str:
    def directive(match: re.Match[str]) -> str:
        what, argument = match["what"], match["argument"]
        if what == "solution":
            return _solution(blanks, argument) if version == "learner" else ""
        if what == "output":
            recording = recorded.read(argument)
            if recording is None:
                raise NotebookError(f"{SOURCE}: nothing is recorded for {argument}")
            return f"```text\n{recording.shown.rstrip()}\n```"
        if what == "reading":
            return str(_minutes(source, blanks))
        raise NotebookError(f"{SOURCE}: there is no directive {{{{ {what} {argument} }}}}")

    named = FIGURE.sub(lambda match: open_store().figure(match[1]).text, text)
    return re.sub(r"\n{3,}", "\n\n", DIRECTIVE.sub(directive, named))


def _solution(blanks: list[Blank], exercise: str) -> str:
    """The filled blanks of an exercise, as one block of code."""
    own = [blank for blank in blanks if re.match(rf"{exercise}(?!\d)", blank.name)]
    if not own:
        raise NotebookError(f"{SOURCE}: exercise {exercise} has no blanks")
    named = len(own) > 1
    blocks = ["\n".join([f"# {blank.name}"] * named + [*blank.solution]).rstrip() for blank in own]
    return "```python\n" + "\n\n".join(blocks) + "\n```"


def minutes(source: Path = SOURCE) -> int:
    """What the notebook says that it takes to read and to write.

    Raises:
        NotebookError: If its source can't be used.
    """
    text = _read(source)
    try:
        return _minutes(text, blanks_of(text))
    except BlankError as problem:
        raise NotebookError(f"{source}, {problem}") from None


def _minutes(source: str, blanks: list[Blank]) -> int:
    """To read the text and to fill the blanks, rounded up to five minutes: an estimate."""
    from lesson_site.reading_time import WORDS_PER_MINUTE

    text = "\n".join(line for line in source.splitlines() if line.startswith("# "))
    reading = len(re.findall(r"\w+", text)) / WORDS_PER_MINUTE
    lines = sum(len(blank.solution) for blank in blanks)
    return 5 * math.ceil((reading + MINUTES_PER_BLANK * len(blanks) + lines / 4) / 5)


def _tags(cell: Any) -> list[str]:
    tags: list[str] = cell["metadata"].get("tags", [])
    return tags


def _without_noise(outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What a reader wants to see: neighbouring pieces of print joined, no repr of a chart."""
    result: list[dict[str, Any]] = []
    for output in outputs:
        if output["output_type"] == "stream" and output["name"] == "stderr":
            continue
        if output["output_type"] == "stream" and result and result[-1].get("name") == "stdout":
            result[-1]["text"] += output["text"]
            continue
        output.pop("execution_count", None)
        if "data" in output and "image/png" in output["data"]:
            output["data"] = {"image/png": _smaller(output["data"]["image/png"])}
        result.append(output)
    return result


def _smaller(png: str) -> str:
    """A drawing, in base64, with few colours: a third of the bytes and no visible difference."""
    from PIL import Image

    packed = io.BytesIO()
    with Image.open(io.BytesIO(base64.b64decode(png))) as image:
        image.convert("RGB").quantize(32, dither=Image.Dither.NONE).save(
            packed, "PNG", optimize=True
        )
    return base64.b64encode(packed.getvalue()).decode("ascii")


def _provenance(folder: Path, seconds: float) -> dict[str, Any]:
    """Where the notebook ran; the machine's own words are in the file that it wrote."""
    provenance: dict[str, Any] = {
        "date": datetime.date.today().isoformat(),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "seconds": round(seconds, 1),
    }
    timings = folder / "gpu-training-timings.json"
    if timings.exists():
        machine = json.loads(timings.read_text(encoding="utf-8"))["provenance"]
        kept = ("processor", "gpu", "threads", "torch")
        provenance |= {name: machine[name] for name in kept}
    return provenance
