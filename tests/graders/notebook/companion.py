"""The companion notebook's cells, run here one after the other as Python.

Where a cell holds a section of tested code, that code is imported instead: so the runs below prove
the modules, and a test of the builder proves that the cells hold the same text.
"""

import contextlib
import io
import re
import sys
import types
import warnings
from pathlib import Path

from torch.utils.data import DataLoader, Subset

from lesson_site import notebooks
from tests.graders.kept import changed_in_blank, no_traces, remembered_digits

NAME = "companion_cells"
PARAMETERS = 'EPOCHS, CHECKPOINT_EPOCHS, PORTABLE_EPOCHS, DATA = 2, 2, 2, "subset"'


def cells(
    folder: Path, answers: dict[str, str] | None = None, imported: bool = True
) -> list[tuple[list[str], str]]:
    """Tags and code of each cell of the solution, some blanks filled in another way.

    Args:
        folder: Where to write what the cells are built of.
        answers: For blanks, by their names.
        imported: Whether modules stand in for the sections that the cells hold.
    """
    text = notebooks.SOURCE.read_text(encoding="utf-8")
    for name, answer in (answers or {}).items():
        text = changed_in_blank(text, name, "", answer)
    source = folder / "source.py"
    text = notebooks.INCLUDED.sub(_imported, text) if imported else text
    source.write_text(text, encoding="utf-8")
    built = notebooks.build("solution", source)
    return [
        (cell["metadata"].get("tags", []), cell["source"])
        for cell in built["cells"]
        if cell["cell_type"] == "code"
    ]


def _imported(match: re.Match[str]) -> str:
    """What is in the place of a section: everything that its module offers."""
    module = match["target"].partition(".py")[0].replace("/", ".")
    return f"from {module} import *"


class Companion:
    """A running notebook on a few hundred digits."""

    def __init__(self, folder: Path, parameters: str = "", imported: bool = True) -> None:
        """Run everything before the first exercise; the arguments are those of ``cells``."""
        self.module = types.ModuleType(NAME)
        sys.modules[NAME] = self.module  # dataclasses look themselves up there
        self.folder, self.imported = folder, imported
        everything = cells(folder, imported=imported)
        first = next(i for i, (tags, _) in enumerate(everything) if "prediction" in tags)
        for number, (tags, code) in enumerate(everything):
            if number < first or "prediction" in tags:
                self.run(f"{code}\n{PARAMETERS}\n{parameters}" if "parameters" in tags else code)
        names = vars(self.module)
        few = Subset(names["training_digits"], range(320))
        names["train_loader"] = DataLoader(few, 64, shuffle=True, generator=names["order"])
        names["validation_digits"] = Subset(names["validation_digits"], range(128))
        names["validation_loader"] = DataLoader(names["validation_digits"], 64)
        self.run("def accuracy_of(model, loader): return evaluate(model, loader, cpu)[1]")

    def run(self, code: str) -> str:
        """Run a cell in the notebook's folder, and return what it printed."""
        printed = io.StringIO()
        with (
            contextlib.chdir(self.folder),
            contextlib.redirect_stdout(printed),
            warnings.catch_warnings(),
            remembered_digits(),
            no_traces(),
        ):
            warnings.simplefilter("ignore")  # Jupyter shows them and goes on
            try:
                exec(compile(code, "<cell>", "exec"), self.module.__dict__)
            except Exception as problem:
                problem.add_note(printed.getvalue())
                raise
        return printed.getvalue()

    def rest(self, answers: dict[str, str]) -> list[tuple[list[str], str]]:
        """The cells from the first exercise on, as ``cells`` gives them."""
        found = cells(self.folder, answers, self.imported)
        first = next(i for i, (tags, _) in enumerate(found) if "prediction" in tags)
        return [(tags, code) for tags, code in found[first:] if "prediction" not in tags]

    def exercise(self, number: int, answers: dict[str, str]) -> str:
        """Do an exercise with these answers, and return what its check printed."""
        printed = ""
        for tags, code in cells(self.folder, answers, self.imported):
            if f"exercise-{number}" in tags:
                self.run(code)
            if f"check-{number}" in tags:
                printed = self.run(code)
        return printed
