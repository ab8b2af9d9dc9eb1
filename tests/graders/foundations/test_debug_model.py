"""Step 4: the starter holds six defects, and the checker reports exactly those that are left."""

import contextlib
import io
import itertools
import re
import runpy
import warnings
from collections.abc import Iterable
from pathlib import Path

import pytest

from graders.checks import checks_in
from graders.foundations import step_4
from graders.judging import judge
from lesson_code.foundations.lab.layout import starter
from tests.graders.kept import lay_out, no_traces, remembered_code

SLOW = ("notes_six_repairs", "runs_to_its_end")
# What mends each defect: text of the starter, and what takes its place.
REPAIRS = {
    "D1": (("def __init__(self) -> None:\n", "{}        super().__init__()\n"),),
    "D2": (
        ("self.layers = [", "self.layers = nn.ModuleList(["),
        ("nn.Linear(HIDDEN, CLASSES),\n        ]", "nn.Linear(HIDDEN, CLASSES),\n        ])"),
    ),
    "D3": (("nn.MSELoss()", "nn.CrossEntropyLoss()"),),
    "D4": (("    loss = criterion(", "    optimizer.zero_grad()\n{}"),),
    "D5": (("    logits = model(features)\n", "    model.eval()\n{}"),),
    "D6": (("def evaluate(", "@torch.no_grad()\n{}"),),
}
TESTS = {
    "D1": "is_a_module",
    "D2": "registers_all_layers uses_all_layers",
    "D3": "takes_labels",
    "D4": "resets_before_backward",
    "D5": "validates_in_evaluation_mode",
    "D6": "validates_without_gradients",
}
ALL = frozenset(REPAIRS)


def broken(defects: Iterable[str]) -> str:
    """The starter's script with only these defects left."""
    source = starter("debug_model.py")
    for defect in ALL - set(defects):
        for old, new in REPAIRS[defect]:
            source = source.replace(old, new.format(old) if "{}" in new else new)
    return source


def run(source: str, folder: Path) -> tuple[str, str, list[str]]:
    """Run a version as a program: what it printed, its error, and what it warned of."""
    (folder / "debug_model.py").write_text(source, encoding="utf-8")
    output = io.StringIO()
    with contextlib.redirect_stdout(output), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            runpy.run_path(str(folder / "debug_model.py"), run_name="__main__")
        except SystemExit as leaving:
            error = "" if leaving.code == 0 else str(leaving.code)
        except Exception as problem:
            error = f"{type(problem).__name__}: {problem}"
    return output.getvalue(), error, [str(warning.message) for warning in caught]


def losses_in(output: str) -> list[float]:
    """The printed losses."""
    return [float(loss) for loss in re.findall(r"loss ([\d.]+)", output)]


def passes_in(output: str) -> list[str]:
    """The five printed accuracies."""
    return re.findall(r"\d\.\d{4}", output.split("passes:")[1])


def reported(source: str, folder: Path) -> set[str]:
    """The checks that fail on a version; note and program are left to tests of their own."""
    answer = step_4.opened(lay_out("foundations.step_4", source, folder))
    checks = [check for check in checks_in(step_4) if check.run.__name__ not in SLOW]
    with no_traces(), remembered_code():
        return {c.run.__name__ for c in checks if judge(c, answer, folder).state != "passed"}


def test_each_repair_touches_its_own_place() -> None:
    """The starter has the text of each defect once, so that an edit reaches nothing else."""
    source = starter("debug_model.py")

    assert [1] * 7 == [source.count(old) for edits in REPAIRS.values() for old, _ in edits]


@pytest.mark.parametrize("size", range(len(REPAIRS) + 1))
def test_the_report_is_what_is_planted(size: int, tmp_path: Path) -> None:
    """Whatever defects are left, alone or together, exactly those are reported."""
    subsets = [frozenset(names) for names in itertools.combinations(REPAIRS, size)]
    planted = [{name for defect in subset for name in TESTS[defect].split()} for subset in subsets]

    assert planted == [reported(broken(subset), tmp_path) for subset in subsets]


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize(
    ("left", "printed", "stops_with"),
    [
        ("D1 D2 D3 D4 D5 D6", "", "no attribute '_parameters'"),
        ("D1 D3 D4 D5 D6", "", "before Module.__init__() call"),
        ("D2 D3 D4 D5 D6", "parameter tensors: 0", "empty parameter list"),
        ("D3 D4 D5 D6", "parameter tensors: 4", "must match the size"),
    ],
)
def test_the_first_three_stop_the_script(
    left: str, printed: str, stops_with: str, tmp_path: Path
) -> None:
    """Constructor, registration and loss each end the run with PyTorch's own words."""
    output, error, warned = run(broken(left.split()), tmp_path)

    assert printed in output
    assert stops_with in error
    assert (left[:2] == "D3") == any("different to the input size" in text for text in warned)


@pytest.mark.usefixtures("one_thread")
def test_the_fourth_shows_in_the_losses(tmp_path: Path) -> None:
    """Without a reset the loss falls first and then climbs; with it, it falls to the end."""
    sick, healthy = (
        losses_in(run(broken(left), tmp_path)[0]) for left in (("D4", "D5", "D6"), ("D5", "D6"))
    )

    assert sick[-1] > sick[0] > min(sick[:5])
    assert healthy[-1] < 0.2


@pytest.mark.usefixtures("one_thread")
def test_the_last_two_leave_the_losses_alone(tmp_path: Path) -> None:
    """The fifth shows in passes that disagree, the sixth only in the graph."""
    fifth, sixth, whole = (run(broken(left), tmp_path)[0] for left in (("D5", "D6"), ("D6",), ()))

    assert losses_in(fifth) == losses_in(sixth) == losses_in(whole)
    assert len(set(passes_in(fifth))) > 1
    assert [1, 1] == [len(set(passes_in(output))) for output in (sixth, whole)]
    assert "carry a graph: True" in sixth
    assert "carry a graph: False" in whole
    assert float(passes_in(whole)[0]) >= 0.95
