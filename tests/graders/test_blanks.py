"""An annotated source is a solution and what a learner starts from, in one."""

import re

import pytest

from graders.blanks import Blank, BlankError, blanks_of, emptied, filled

SOURCE = '''\
"""An exercise."""


# --8<-- [start:step]
def step(loss):
    """One step."""
    clear()
    # BLANK 2.3: scale the loss
    #: Look up scale.
    #:
    #: And backward.
    scaled = scale(loss)
    scaled.backward()
    # INSTEAD
    # loss.backward()
    #
    # if loss:
    #     stop()
    # END
    return loss


# OURS
def scale(loss):
    return 1024 * loss


# END
# --8<-- [end:step]


def last():
    # BLANK 2.4: say nothing
    pass
    # END
'''
LEARNERS = '''\
"""An exercise."""


def step(loss):
    """One step."""
    clear()
    # Look up scale.
    #
    # And backward.
    todo(2.3, scale the loss)
    loss.backward()

    if loss:
        stop()
    return loss


def last():
    todo(2.4, say nothing)
'''
SOLUTION = '''\
"""An exercise."""


def step(loss):
    """One step."""
    clear()
    scaled = scale(loss)
    scaled.backward()
    return loss


def scale(loss):
    return 1024 * loss


def last():
    pass
'''


def _stub(name: str, task: str) -> str:
    return f"todo({name}, {task})"


def test_a_learner_gets_hints_stubs_and_what_is_instead() -> None:
    """No line of the solution, no helper of it and no mark is left."""
    assert LEARNERS == emptied(SOURCE, _stub)


def test_the_solution_has_no_marks() -> None:
    """Nor hints, nor what a learner has instead."""
    assert SOLUTION == filled(SOURCE)


@pytest.mark.parametrize("text", ["", "a = 1\n", "a = 1", "\n\n# END of it\na = 1\n\n\n\nb = 2\n"])
def test_a_file_without_marks_stays_as_it_is(text: str) -> None:
    """To the last empty line."""
    assert text == emptied(text, _stub) == filled(text)


def test_blanks_are_listed_with_all_that_belongs_to_them() -> None:
    """Their indentation is taken off."""
    expected = Blank(
        name="2.3",
        task="scale the loss",
        hints=("# Look up scale.", "#", "# And backward."),
        solution=("scaled = scale(loss)", "scaled.backward()"),
        instead=("loss.backward()", "", "if loss:", "    stop()"),
        line=8,
    )

    first, second = blanks_of(SOURCE)
    assert expected == first
    assert Blank("2.4", "say nothing", (), ("pass",), (), 33) == second


def test_a_todo_may_have_two_blanks() -> None:
    """Their tasks tell them apart."""
    text = "# BLANK 1: save\na = 1\n# END\n# BLANK 1: load\na = 2\n# END\n"

    assert ["save", "load"] == [blank.task for blank in blanks_of(text)]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a = 1\n# BLANK 1: go\nb = 2\n", "line 2: what begins here has no `# END`"),
        ("# OURS\nb = 2\n", "line 1: what begins here has no `# END`"),
        ("# BLANK 1: go\n# BLANK 2: on\n# END\n", "line 2: what begins in line 1 has no `# END`"),
        ("# BLANK 1: go\n# OURS\n# END\n# END\n", "line 2: what begins in line 1 has no `# END`"),
        ("a = 1\n    # END\n", "line 2: `# END` has no beginning"),
        ("# INSTEAD\n", "line 1: `# INSTEAD` has no beginning"),
        ("# OURS\n# INSTEAD\n# END\n", "line 2: `# INSTEAD` can't be here"),
        ("# BLANK 1: go\n# INSTEAD\n# INSTEAD\n# END\n", "line 3: `# INSTEAD` can't be here"),
        ("# BLANK 1: go\n# INSTEAD\na = 1\n# END\n", "line 3: what is INSTEAD is behind a `#`"),
        ("# BLANK\n# END\n", "line 1: a blank begins with `# BLANK NAME: TASK`"),
        ("# BLANK 1.1 choose\n# END\n", "line 1: a blank begins with `# BLANK NAME: TASK`"),
        (2 * "# BLANK 1: go\n# END\n", "line 3: blank '1: go' is in line 1 already"),
    ],
)
def test_marks_that_do_not_fit_are_named(text: str, says: str) -> None:
    """By their line, whatever is asked of the source."""
    for ask in (blanks_of, filled, lambda text: emptied(text, _stub)):
        with pytest.raises(BlankError, match=re.escape(says)):
            ask(text)
