"""Blanks, findings and predictions speak in one sentence."""

import pytest

from lesson_code.notebook.blanks import Finding, NotYetError, fill_in, recall, report


def test_an_empty_blank_names_itself() -> None:
    """The message has the blank's name, its task, and what to do."""
    with pytest.raises(NotYetError, match=r"^Blank 1a is still empty\. Your task: move it\. Write"):
        fill_in("1a", "move it")


def test_jupyter_shows_the_sentence_alone() -> None:
    """In place of a traceback stands what the error says."""
    assert ["✗ Not yet."] == NotYetError("Not yet.")._render_traceback_()


def test_a_report_lists_what_holds_and_advises_on_the_rest(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Every finding has a line, and one that does not hold has its advice below it."""
    findings = [Finding("it moves", True, "push"), Finding("it trains", False, "call backward()")]

    with pytest.raises(NotYetError, match="Exercise 2: 1 of 2 points do not hold yet"):
        report(2, findings)

    assert "✓ it moves\n✗ it trains\n  → call backward()\n" == capsys.readouterr().out


def test_a_report_without_complaint_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    """Its last line says that everything holds."""
    report(3, [Finding("it moves", True, "push")])

    assert "✓ it moves\nExercise 3: everything holds.\n" == capsys.readouterr().out


@pytest.mark.parametrize(
    ("prediction", "said"),
    [
        ("twice as fast", "twice as fast"),
        (" ", "nothing yet; a guess first makes the result stick"),
    ],
)
def test_a_prediction_returns(
    prediction: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was guessed stands above the result; nothing guessed is said, too."""
    recall(prediction)

    assert f"You predicted: {said}\n\n" == capsys.readouterr().out
