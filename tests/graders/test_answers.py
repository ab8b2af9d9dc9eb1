"""Every kept answer is judged as it should be, and a table that says nothing is refused."""

from pathlib import Path
from runpy import run_path
from typing import Any

import pytest
import torch
from torch.utils.data import Subset
from torchvision import datasets, transforms

from graders.answers import load
from graders.checks import checks_in, unit
from graders.outcome import Outcome
from tests.graders.kept import (
    COSTLY,
    LEARNS,
    SLOW,
    SOURCES,
    STEP_3,
    KeptAnswer,
    KeptAnswerError,
    answers_in,
    asked,
    changed,
    contradiction,
    digits,
    kept,
    outcomes,
    remembered_code,
    remembered_digits,
)
from tests.graders.reach import CALLED, ELSEWHERE, differing, marked

UNIT = "lab.exercise_1"


UNCOUNTED = {True: (), False: (pytest.mark.uncounted,)}


@pytest.mark.parametrize(
    "answer", [pytest.param(a, marks=UNCOUNTED[a.counted], id=str(a)) for a in kept()]
)
def test_a_kept_answer_is_judged_as_it_should_be(answer: KeptAnswer, tmp_path: Path) -> None:
    """The TODOs that it gets wrong fail with the right words, and all others pass.

    Who is right gets no advice but the one that is named.
    """
    found = outcomes(answer.unit, answer.write(tmp_path), without=answer.unasked())
    assert "" == contradiction(answer, found)


@pytest.mark.parametrize(
    ("fails", "says", "advises", "said"),
    [
        (["1.2"], "random", "", ""),
        (["1.3"], "random", "", "fails is ['1.3'], and ['1.2'] fail"),
        ([], "", "", "fails is [], and ['1.2'] fail"),
        (["1.2"], "rndom", "", "no report has 'rndom' in it"),
        (["1.2"], "random", "quicker", "no advice has 'quicker' in it"),
    ],
)
def test_a_table_that_says_something_else_than_the_checks_is_named(
    fails: list[str], says: str, advises: str, said: str
) -> None:
    """With its file, and with what is reported, from which `says` can be taken."""
    passed, wrong = Outcome("1.1", "", "passed"), Outcome("1.2", "", "wrong", "no random one")
    answer = KeptAnswer(UNIT, "mine", "Why.", frozenset(fails), says, advises, ())

    problem = contradiction(answer, [passed, wrong])

    assert said in problem
    assert bool(said) == ("answers/lab.exercise_1.toml, [mine]: " in problem)
    assert bool(said) == ("1.2: no random one" in problem)


def test_a_right_answer_that_is_advised_is_named() -> None:
    """Unless its table has the advice."""
    advised = [Outcome("1.1", "", "passed", advice=("it can be shorter",))]

    problem, none = (
        contradiction(KeptAnswer(UNIT, "mine", "Why.", frozenset(), "", advises, ()), advised)
        for advises in ("", "shorter")
    )

    assert "a right answer is advised ['it can be shorter']; give it `advises`" in problem
    assert "" == none


@pytest.mark.parametrize("of", SOURCES)
def test_kept_answers_are_told_apart(of: str) -> None:
    """They name TODOs that exist, and no two are the same file."""
    answers = kept(of)
    todos = {check.todo for check in checks_in(unit(of))}

    assert {} == {str(a): a.fails - todos for a in answers if a.fails - todos}
    assert len(answers) == len({answer.text() for answer in answers})


@pytest.mark.parametrize("of", SOURCES)
def test_what_is_not_asked_passes(of: str, tmp_path: Path) -> None:
    """Asked all the same, of the wrong answer of which the most is left out."""
    slow = {*SLOW, LEARNS[0]}
    answer = max((a for a in kept(of) if a.fails), key=lambda a: len(a.unasked()))
    left = [c for c in checks_in(unit(of)) if c.run.__name__ in answer.unasked() - slow]

    found = asked(of, answer.write(tmp_path), left)

    assert len(left) == len(found)
    assert {o.state for o in found} <= {"passed", "cannot be judged here"}, found


def test_costly_checks_are_checks() -> None:
    """Each has a name that Step 3 knows."""
    assert {check.run.__name__ for check in checks_in(unit(STEP_3))} > COSTLY


OPTIMIZER = "(model.parameters(), lr=LEARNING_RATE)"  # in a blank of TODO 3.5
LIMIT = "range(min(limit, len(part)))"  # in a function that learners write as they like


@pytest.mark.parametrize(
    ("fails", "old", "costly", "cheap"),
    [
        ((), OPTIMIZER, True, True),
        (("3.5",), OPTIMIZER, False, True),
        (("3.4", "3.5"), OPTIMIZER, True, True),
        (("3.4",), OPTIMIZER, True, True),
        (("3.10",), LIMIT, True, False),
        (("3.10",), "LARGEST_FALL = 0.05", True, True),
    ],
    ids=["right", "elsewhere", "fails", "only fails", "shared", "in no function"],
)
def test_a_check_is_asked_where_a_change_can_reach_it(
    fails: tuple[str, ...], old: str, costly: bool, cheap: bool
) -> None:
    """That of 3.4 runs the script, and is costly; one of 3.5 makes model and optimizer alone."""
    answer = KeptAnswer(STEP_3, "mine", "Why.", frozenset(fails), "", "", ((old, "1"),))

    left_out = answer.unasked()

    assert costly == ("saves_improvements" not in left_out)
    assert cheap == ("optimizes_the_model" not in left_out)
    assert {*SLOW, LEARNS[0]} <= left_out


CODE = '''
def f():
    """Said."""
    return 1

class A:
    @cache
    def f(self):
        @wraps(f)
        def inner(): return 2
        return inner()

x = f
def g(): return 2
'''


@pytest.mark.parametrize(
    ("old", "new", "differs"),
    [
        ("Said.", "Told.", {"f"}),
        ("return 1", "return 3", {"f"}),
        ("(): return 2\n        return inner()", "(): return 3\n        return inner()", {"A.f"}),
        ("return inner()", "return inner()\n\n    b = 1", {ELSEWHERE}),
        ("return inner()", "return inner()\n\n    def b(self): ...", {"A.b", ELSEWHERE}),
        ("(self)", "(self, b=1)", {ELSEWHERE}),
        ("def g(): return 2", "def g(): return 3", {"g", ELSEWHERE}),
        ("@cache", "@once", {ELSEWHERE}),
        ("x = f", "x = g", {ELSEWHERE}),
        ("return 1", "return (", {"f", "A.f", "g", ELSEWHERE}),
    ],
)
def test_a_difference_is_in_the_body_of_a_function_or_elsewhere(
    old: str, new: str, differs: set[str]
) -> None:
    """Whatever runs when the file is imported is elsewhere."""
    assert 1 == CODE.count(old)
    assert differs == differing(CODE, CODE.replace(old, new))


def test_a_marked_source_notes_what_is_called() -> None:
    """And does what it did."""
    names: dict[str, Any] = {"cache": lambda f: f, "wraps": lambda _: lambda f: f}
    exec(marked(CODE.partition("def g")[0]), names)
    CALLED.clear()

    assert (2, "Said.") == (names["A"]().f(), names["f"].__doc__)
    assert {"A.f"} == CALLED


def test_a_remembered_digit_is_what_torchvision_makes() -> None:
    """Whatever was asked before, and who writes into it; what draws at random is never kept."""
    steps = [transforms.ToTensor(), transforms.Normalize((0.1,), (0.3,))]
    made = [datasets.MNIST(digits().name, True, transforms.Compose(s)) for s in (steps[:1], steps)]
    noisy = transforms.Compose([*steps, transforms.RandomErasing(p=1.0)])
    drawn = datasets.MNIST(digits().name, True, noisy)

    with remembered_digits():
        made[0][5][0].fill_(7.0)
        found = [(data[5], data[5], *Subset(data, [5]).__getitems__([0])) for data in made]
        erased = drawn[5][0], drawn[5][0]

    for data, seen in zip(made, found, strict=True):
        assert all(data[5][1] == label and torch.equal(data[5][0], image) for image, label in seen)
    assert not torch.equal(*erased)


class Turned(datasets.MNIST):
    """Digits of an answer's own kind."""

    def __getitem__(self, index: int) -> Any:
        """Another label."""
        image, label = super().__getitem__(index)
        return image, 9 - label


def test_a_digit_is_made_again_where_its_data_set_has_changed() -> None:
    """Its images, its labels, what is done to them, or all that one gets."""
    made = [datasets.MNIST(digits().name, True, transforms.ToTensor()) for _ in range(4)]
    made[3].__class__ = Turned

    with remembered_digits():
        before = [Subset(data, [5]).__getitems__([0])[0] for data in made]
        made[0].data[5] = 255
        made[1].targets = 9 - made[1].targets
        made[2].transform = transforms.Compose([transforms.ToTensor(), lambda image: 1 - image])
        after = [Subset(data, [5]).__getitems__([0])[0] for data in made]

    image, label = before[0]
    assert [label, 9 - label, label, 9 - label] == [found for _, found in after]
    right = (torch.ones_like(image), image, 1 - image, image)
    assert all(torch.equal(a, b) for a, (b, _) in zip(right, after, strict=True))


def test_a_changed_file_is_compiled_again(tmp_path: Path) -> None:
    """Imported or run, whatever was remembered of it; one that stays is compiled once."""
    path, found = tmp_path / "written.py", []

    with remembered_code():
        for code in ("a = 1", "a = 2", "a = 2"):
            path.write_text(f"{code}\ndef f(): ...\n", encoding="utf-8")
            found.append((vars(load(path)), run_path(str(path))))

    assert [(1, 1), (2, 2), (2, 2)] == [(one["a"], two["a"]) for one, two in found]
    assert 2 == len({id(names["f"].__code__) for pair in found for names in pair})


def _answer(*changes: tuple[str, str]) -> KeptAnswer:
    return KeptAnswer(UNIT, "mine", "Why.", frozenset(), "", "", changes)


def test_changes_are_made_where_they_belong() -> None:
    """In any order; what one puts in is not looked through for the next."""
    answer = _answer(("d", "a"), ("b\n", "d\nd\n"))

    assert "a\nd\nd\nc\na\n" == changed("a\nb\nc\nd\n", answer)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ([("x", "y")], "the solution has 0 of 'x'"),
        ([("a", "y")], "the solution has 2 of 'a'"),
        ([("ab", "y"), ("b\n", "z")], "'ab' overlaps what follows"),
        ([("b", "y"), ("b", "z")], "'b' overlaps what follows"),
    ],
)
def test_a_change_without_a_place_of_its_own_is_refused(
    changes: list[tuple[str, str]], says: str
) -> None:
    """It would change something else, or nothing."""
    with pytest.raises(KeptAnswerError, match=says):
        changed("ab\na\n", _answer(*changes))


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ('why = ""\nfails = []\nold = "a"', "the keys ['new'] are missing"),
        (
            'why = ""\nfails = []\nold = "a"\nnew = ""\nsay = ""',
            "the keys ['say'] are too many",
        ),
        (
            'why = ""\nfails = ["1"]\nold = "a"\nnew = ""',
            "the keys ['says'] are missing",
        ),
        (
            'why = ""\nfails = ["1"]\nsays = "wrong"\nold = "a"\nnew = ""',
            "'says' has to be 6 letters of a report at least",
        ),
        ('why = ""\nfails = []\nold = "a"\nnew = "a"', "a change has the same 'old' and 'new'"),
        (
            'why = ""\nfails = []\n[[mine.change]]\nold = "a"',
            "each change has the keys 'old' and 'new'",
        ),
    ],
)
def test_a_table_that_says_too_little_or_too_much_is_refused(
    table: str, says: str, tmp_path: Path
) -> None:
    """By its file and its name."""
    path = tmp_path / f"{UNIT}.toml"
    path.write_text(f"[mine]\n{table}\n", encoding="utf-8")

    with pytest.raises(KeptAnswerError) as refused:
        list(answers_in(path))

    assert f"{UNIT}.toml, [mine]: {says}" == str(refused.value)


def test_a_file_of_no_unit_is_refused(tmp_path: Path) -> None:
    """It would never be read against a solution."""
    path = tmp_path / "lab.exercise_5.toml"
    path.touch()

    with pytest.raises(KeptAnswerError, match=r"'lab\.exercise_5' is not a unit"):
        list(answers_in(path))
