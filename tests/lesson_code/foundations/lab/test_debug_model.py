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

from tests.lesson_code.foundations.lab.workspace import SOLUTIONS, STARTER, check, solved_folder

STARTER_FILE = STARTER / "debug_model.py"
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
    "D1": "test_initialised",
    "D2": "test_registered",
    "D3": "test_loss",
    "D4": "test_reset",
    "D5": "test_evaluation_mode",
    "D6": "test_gradients_off",
    "collateral": "test_training_mode_returns",
}
LEFT_OFF = "    model.eval()\n    torch.set_grad_enabled(False)\n"
ALL = frozenset(REPAIRS)


def broken(defects: Iterable[str]) -> str:
    """The starter's script with only these defects left."""
    source = STARTER_FILE.read_text(encoding="utf-8")
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


def reported(source: str, workspace: Path) -> frozenset[str]:
    """The checks that fail on a version; the run as a program is left to tests of its own."""
    (workspace / "debug_model.py").write_text(source, encoding="utf-8")
    return check("4", workspace, "-k", "not program and not note").failed


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which everything else is solved."""
    return solved_folder(tmp_path_factory.mktemp("step-4"))


def test_each_repair_touches_its_own_place() -> None:
    """The starter has the text of each defect once, so that an edit reaches nothing else."""
    source = STARTER_FILE.read_text(encoding="utf-8")

    assert [1] * 7 == [source.count(old) for edits in REPAIRS.values() for old, _ in edits]


@pytest.mark.parametrize("size", range(len(REPAIRS) + 1))
def test_the_report_is_what_is_planted(size: int, workspace: Path) -> None:
    """Whatever defects are left, alone or together, exactly those are reported."""
    subsets = [frozenset(names) for names in itertools.combinations(REPAIRS, size)]
    planted = [{TESTS[defect] for defect in subset} for subset in subsets]

    assert planted == [set(reported(broken(subset), workspace)) for subset in subsets]


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


def changed(source: str, *edits: tuple[str, str]) -> str:
    """A version with further edits, each of which must find its place."""
    for old, new in edits:
        assert source.count(old) == 1
        source = source.replace(old, new)
    return source


LAYERS = "self.layers = nn.ModuleList(["
CLOSED = "nn.Linear(HIDDEN, CLASSES),\n        ])"
ZERO = "    optimizer.zero_grad()\n"
STEP = "    optimizer.step()\n"
BACKWARD = "    loss.backward()\n"
ACCEPTED = {
    "Sequential": [
        (LAYERS, "self.layers = nn.Sequential("),
        (CLOSED, "nn.Linear(HIDDEN, CLASSES))"),
    ],
    "model.zero_grad": [(ZERO, "    model.zero_grad()\n")],
    "zero after the step": [(ZERO, ""), (STEP, STEP + ZERO)],
    "inference_mode": [("@torch.no_grad()", "@torch.inference_mode()")],
    "train(False)": [("model.eval()", "model.train(False)")],
}
REJECTED = {
    "zero between backward and step": ([(ZERO, ""), (BACKWARD, BACKWARD + ZERO)], "D4"),
    "step before backward": ([(STEP, ""), (BACKWARD, STEP + BACKWARD)], "D4"),
    "half of the layers": (
        [
            (
                LAYERS,
                "self.first = nn.Linear(FEATURES, HIDDEN)\n        self.layers = [self.first,",
            ),
            ("            nn.Linear(FEATURES, HIDDEN),\n", ""),
            (CLOSED, "nn.Linear(HIDDEN, CLASSES)]"),
        ],
        "D2",
    ),
    "gradients left off": ([("@torch.no_grad()\n", ""), ("    model.eval()\n", LEFT_OFF)], "D6"),
    "one-hot MSE": ([("return nn.CrossEntropyLoss()", "return OneHot()")], "D3"),
    "no return to training": ([("        model.train()\n", "")], "collateral"),
}
ONE_HOT = """class OneHot(nn.MSELoss):
    def forward(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return super().forward(logits, nn.functional.one_hot(labels, CLASSES).float())


"""


@pytest.mark.parametrize("name", ACCEPTED)
def test_another_right_repair_is_accepted(name: str, workspace: Path) -> None:
    """There is more than one way to mend a thing."""
    assert set() == reported(changed(broken(()), *ACCEPTED[name]), workspace)


@pytest.mark.parametrize("name", REJECTED)
def test_a_wrong_repair_is_named(name: str, workspace: Path) -> None:
    """What looks like a repair and is none is reported as the defect that it leaves."""
    edits, defect = REJECTED[name]
    source = changed(broken(()), *edits, ("class TinyClassifier", ONE_HOT + "class TinyClassifier"))

    assert {TESTS[defect]} == reported(source, workspace)


def test_half_a_registration_is_counted(workspace: Path) -> None:
    """The report says how many tensors are registered."""
    edits, _ = REJECTED["half of the layers"]
    (workspace / "debug_model.py").write_text(changed(broken(()), *edits), encoding="utf-8")

    assert "2 of 4 parameter tensors" in check("4", workspace, "-k", "registered").text


@pytest.mark.parametrize(
    ("change", "state", "said"),
    [
        ((": ", ":\n  "), "passed", ""),
        (("RuntimeError after a warning about sizes [64] and [64, 4]", ""), "open", "Repair 3"),
        (("the layers are in a ModuleList", "<fill>"), "open", "Repair 2"),
    ],
)
def test_a_note_has_its_entries(
    change: tuple[str, str], state: str, said: str, workspace: Path
) -> None:
    """A field may go on over lines; what is empty or a placeholder leaves its entry open."""
    note = (SOLUTIONS / "debugging-note.md").read_text(encoding="utf-8")
    assert change[0] in note
    (workspace / "debugging-note.md").write_text(note.replace(*change), encoding="utf-8")

    checked = check("4", workspace, "-k", "note")

    assert state in checked.states.values()
    assert said in checked.text.partition("not so:")[2]
