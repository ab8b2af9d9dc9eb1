"""The foundations' lab: starters that say what is missing, solutions that pass, notes."""

import re
from pathlib import Path

import pytest

from graders.checks import checks_in, unit
from graders.foundations import step_4, step_6
from graders.foundations.step_3 import is_printed, opened
from graders.judging import judge
from graders.outcome import Outcome
from lesson_code.foundations.lab import layout
from tests.graders.kept import SOURCES, kept_answer, lay_out, outcomes

UNITS = [name for name in SOURCES if name.startswith("foundations.")]
STEP_3 = "foundations.step_3"
SLOW_3 = ("prints_losses", "learns")


def solved(of: str, folder: Path) -> Path:
    """A folder in which everything is solved."""
    return lay_out(of, SOURCES[of].read_text(encoding="utf-8"), folder)


def by_number(found: list[Outcome]) -> dict[str, Outcome]:
    """Outcomes by their TODOs."""
    return {outcome.todo: outcome for outcome in found}


@pytest.mark.parametrize("of", UNITS)
def test_the_solution_passes(of: str, tmp_path: Path) -> None:
    """Everything, as a program too."""
    found = outcomes(of, solved(of, tmp_path), seed=19)

    assert {"passed"} == {o.state for o in found}, found
    assert not any(o.advice for o in found)


@pytest.mark.parametrize("of", UNITS)
def test_the_starter_passes_nothing(of: str, tmp_path: Path) -> None:
    """It is not done yet; only what is broken in Step 4 is wrong, in whole sentences."""
    folder = lay_out(of, layout.starter(SOURCES[of].name), tmp_path)
    for note in layout.NOTES:
        (folder / note).write_bytes((layout.LAB / note).read_bytes())

    found = outcomes(of, folder)

    states = {o.state for o in found}
    assert states == ({"wrong", "not done yet"} if of.endswith("4") else {"not done yet"}), found
    for outcome in found:
        assert "Traceback" not in outcome.says
        assert not outcome.says or re.fullmatch(r"expected .*, got .* \(.*\)", outcome.says)


def test_without_digits_nothing_counts_as_passed(tmp_path: Path) -> None:
    """What needs them can't be judged, and says why; what needs none is."""
    folder = solved(STEP_3, tmp_path)
    (folder / "digits").unlink()

    found = by_number(outcomes(STEP_3, folder))

    assert "wrong" == found["3.1"].state
    assert ("cannot be judged here", "MNIST is missing, so the script cannot train") == (
        found["3.11"].state,
        found["3.11"].says,
    )
    assert "passed" == found["3.8"].state


@pytest.mark.parametrize(
    "shown",
    [
        *(f"{0.94186:.{digits}f}" for digits in range(2, 9)),
        *("0.94186", "9.4186e-01", "tensor(0.9419)", "loss=0.94,", f"{0.94186 + 4e-8:.8f}"),
    ],
)
def test_a_loss_is_printed_with_two_decimals_or_more(shown: str) -> None:
    """However many digits, and whatever is beside them."""
    assert is_printed(0.94186, f"epoch 1: {shown} after 12.5 s")


@pytest.mark.parametrize("shown", ["0.9", "1", "0.95", "0.9418", "0.9421", "10.9419", "no loss"])
def test_another_number_is_not_the_loss(shown: str) -> None:
    """Neither is one with too few digits, or one whose last digits are not the loss's."""
    assert not is_printed(0.94186, f"epoch 1: {shown}")


def test_the_zeros_that_round_leaves_out_are_not_missed() -> None:
    """``round(loss, 2)`` prints 0.9 for 0.9003."""
    assert is_printed(0.9003, str(round(0.9003, 2)))


def test_weights_without_a_seed_are_noticed_whatever_was_asked_before(tmp_path: Path) -> None:
    """Each check begins from one seed, and a run that several look at is made in the first."""
    path = kept_answer(STEP_3, "weights_without_a_seed").write(tmp_path)
    script = opened(path)
    asked = {check.run.__name__: check for check in checks_in(unit(STEP_3))}

    assert "passed" == judge(asked["takes_cross_entropy"], script, path).state
    assert "wrong" == judge(asked["shuffles"], script, path).state


def test_changed_digits_are_noticed(tmp_path: Path) -> None:
    """A file of the right name and other content is named."""
    folder = solved(STEP_3, tmp_path)
    raw = folder / "data" / "MNIST" / "raw"
    raw.mkdir(parents=True)
    for path in (folder / "digits" / "MNIST" / "raw").iterdir():
        (raw / path.name).write_bytes(path.read_bytes())
    (raw / "t10k-labels-idx1-ubyte").write_bytes(b"no labels")

    found = by_number(outcomes(STEP_3, folder, without=SLOW_3))

    assert "expected t10k-labels-idx1-ubyte as it was published" in found["3.1"].says


@pytest.mark.parametrize(
    ("change", "lacking"),
    [
        (("as it was", "as it\n  was"), ""),
        (("- Evidence: as it was\n", "- Evidence:\n"), "Repair 1"),
        (("- Change: as it was", "- Change: <…>"), "Repair 1"),
        (("## Repair 6", "## Something else\n\n## Repair 6"), ""),
        (("## Repair 6", "Repair 6"), "none"),
    ],
)
def test_a_debugging_note_has_its_entries(
    change: tuple[str, str], lacking: str, tmp_path: Path
) -> None:
    """A field may go on over lines; what is empty or a placeholder leaves its entry open."""
    of = "foundations.step_4"
    folder = solved(of, tmp_path)
    note = (folder / step_4.NOTE).read_text(encoding="utf-8")
    (folder / step_4.NOTE).write_text(note.replace(*change, 1), encoding="utf-8")

    found = by_number(outcomes(of, folder, without=("runs_to_its_end",)))["4.1"]

    assert ("wrong" if lacking else "passed") == found.state
    assert lacking in found.says


def test_the_readiness_note_is_empty_at_first() -> None:
    """All eight headings are open, those with a list of fields too."""
    template = (layout.LAB / step_6.NOTE).read_text(encoding="utf-8")

    assert list(step_6.HEADINGS) == step_6.open_headings(template)


@pytest.mark.parametrize("heading", step_6.HEADINGS)
def test_one_word_under_each_heading_is_enough(heading: str, tmp_path: Path) -> None:
    """No word is looked for and none is refused; an empty heading, or a lost one, is open."""
    words = {name: f"## {name}\n\nYes.\n\n" for name in step_6.HEADINGS}
    whole = "".join(words.values())
    comment = whole.replace(words[heading], f"## {heading}\n\n<!-- Say it. -->\n\n")
    without = whole.replace(words[heading], "")
    states = []
    for note in (whole, comment, without):
        (tmp_path / step_6.NOTE).write_text(note, encoding="utf-8")
        [found] = outcomes("foundations.step_6", tmp_path)
        states.append((found.state, heading in found.says))

    assert [("passed", False), ("wrong", True), ("wrong", True)] == states


def test_times_grow_with_the_size(tmp_path: Path) -> None:
    """The reference counts all repetitions of every size."""
    folder = solved("foundations.step_5", tmp_path)

    from graders.folder import Folder

    result = Folder(folder).run("benchmark_devices.py")

    assert 0 == result.status
    assert ["512", "1024", "2048"] == re.findall(r"size (\d+): CPU [\d.]+ ms", result.output)
