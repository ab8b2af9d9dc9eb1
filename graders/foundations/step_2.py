"""Step 2: four gradients, predicted, reset and accumulated."""

import random
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import ModuleType
from typing import Any
from unittest.mock import patch

import torch

from graders.checks import require, todo
from graders.folder import Folder

SCRIPT = "explore_gradients.py"
X = (1.0, 2.0, 3.0)
EXPECTED = {
    "sum": [1.0, 1.0, 1.0],
    "squares": [2.0, 4.0, 6.0],
    "mean": [1 / 3, 1 / 3, 1 / 3],
    "max": [0.0, 0.0, 1.0],
}
TOLERANCE = 1e-6
COMPUTED_TOLERANCE = 1e-5  # of the largest, in float32, after four sums
WORDS, OTHER_WORDS = 15, 10
ACCUMULATION = "reread Part 2, “Gradients add up”"
AUTOGRAD = ((torch.Tensor, "backward"), (torch.autograd, "backward"), (torch.autograd, "grad"))

Gradients = dict[str, list[float]]


def opened(path: Any) -> Folder:
    """The learner's folder, whose script can be imported."""
    folder = Folder(path)
    folder.load(SCRIPT)
    return folder


def close(found: Any, expected: list[float], tolerance: float = COMPUTED_TOLERANCE) -> bool:
    """Whether three numbers are the expected ones."""
    try:
        numbers = [float(number) for number in found]
    except (TypeError, ValueError):
        return False
    allowed = tolerance * max(1.0, *map(abs, expected))
    return len(numbers) == len(expected) and all(
        abs(number - right) <= allowed for number, right in zip(numbers, expected, strict=True)
    )


def predicting(script: ModuleType, predictions: dict[str, Any]) -> None:
    """Put predictions in the place of the learner's."""
    script.PREDICTIONS.update(predictions)


class Others:
    """Other expressions of x in the place of the four; notes which were asked."""

    def __init__(self) -> None:
        self.powers = dict(zip(EXPECTED, random.sample(range(2, 6), 4), strict=True))
        self.factor = random.randint(2, 9)
        self.asked: list[str] = []

    def gradients(self) -> Gradients:
        """What each gives alone at x = [1, 2, 3]."""
        return {n: [self.factor * p * x ** (p - 1) for x in X] for n, p in self.powers.items()}

    @contextmanager
    def in_place(self, script: ModuleType) -> Iterator[None]:
        """The learner's script with these expressions."""

        def made(name: str) -> Any:
            def expression(x: torch.Tensor) -> torch.Tensor:
                self.asked.append(name)
                return self.factor * (x ** self.powers[name]).sum()

            return expression

        with patch.dict(script.EXPRESSIONS, {name: made(name) for name in EXPECTED}):
            yield


@contextmanager
def autograd_watched() -> Iterator[list[Any]]:
    """Notes each time that gradients are computed."""
    ran: list[Any] = []
    with ExitStack() as stack:
        for owner, name in AUTOGRAD:
            real = getattr(owner, name)

            def noted(*args: Any, _real: Any = real, **named: Any) -> Any:
                ran.append(1)
                return _real(*args, **named)

            stack.enter_context(patch.object(owner, name, noted))
        yield ran


@todo("2.1", "each gradient is predicted before it is computed")
def predicts(answer: Folder) -> None:
    """All four are predicted, and agree with what backward gives."""
    predictions = answer.load(SCRIPT).PREDICTIONS
    missing = [name for name in EXPECTED if predictions.get(name) is None]
    if len(missing) == len(EXPECTED):
        raise NotImplementedError("TODO 2.1")
    require(
        not missing,
        "four predictions",
        f"None for {', '.join(missing)}",
        "take a pencil; reread Lab, Step 2",
    )
    for name, right in EXPECTED.items():
        require(
            close(predictions[name], right, TOLERANCE),
            f"the gradient of {name}, three numbers that are right to {TOLERANCE:f}",
            f"{predictions[name]!r}",
            "how much does the result change with each element alone? reread Lab, Step 2",
        )


@todo("2.1", "each gradient is predicted before it is computed")
def refuses(answer: Folder) -> None:
    """Without a prediction nothing is computed, whichever it is."""
    script, others = answer.load(SCRIPT), Others()
    for name in EXPECTED:
        predicting(script, {other: [0.0, 0.0, 0.0] for other in EXPECTED} | {name: None})
        others.asked.clear()
        found: object = None
        try:
            with others.in_place(script):
                found = script.gradient_of(name)
        except NotImplementedError:
            raise
        except Exception as refused:
            said = str(refused)
            require(
                name in said and not others.asked,
                f"a refusal that names {name!r}, before anything is computed",
                repr(said) + (", after it was computed" if others.asked else ""),
                "require_prediction does this; reread Lab, Step 2",
            )
        else:
            require(
                False,
                f"a refusal, since {name} is not predicted",
                f"{found}",
                "require_prediction does this; reread Lab, Step 2",
            )


@todo("2.2", "the gradients are reset between the expressions")
def resets(answer: Folder) -> None:
    """Each gradient is the same whatever came before."""
    orders = [list(EXPECTED), list(reversed(EXPECTED)), random.sample(list(EXPECTED), 4) * 2]
    for order in orders:
        script = answer.load(SCRIPT)
        predicting(script, EXPECTED)
        for name in order:
            found = script.gradient_of(name)
            require(
                close(found, EXPECTED[name]),
                f"the gradient of {name} alone, asked in the order {', '.join(order)}",
                f"{found}",
                f"what is in x.grad before backward? {ACCUMULATION}",
            )


@todo("2.2", "the gradients are reset between the expressions")
def computes(answer: Folder) -> None:
    """The gradients are computed: not what was predicted, nor what is known by heart."""
    script, others = answer.load(SCRIPT), Others()
    for shift in (random.randint(1, 9), 0):
        predicting(script, {name: [shift - 7.0, 0.5, shift] for name in EXPECTED})
        for name in random.sample(list(EXPECTED), 4):
            found = script.gradient_of(name)
            require(
                close(found, EXPECTED[name]),
                f"what backward computes for {name}, whatever was predicted",
                f"{found} where {script.PREDICTIONS[name]} was predicted",
                "let backward compute it; reread Part 2, “Each run draws its own graph”",
            )
    for name, right in others.gradients().items():
        others.asked.clear()
        with others.in_place(script), autograd_watched() as ran:
            found = script.gradient_of(name)
        require(
            close(found, right) if others.asked else bool(ran),
            f"the gradient of the expression that EXPRESSIONS has for {name}",
            f"{found}",
            "the check put another expression there; let backward compute its gradient; "
            "reread Lab, Step 2",
        )


@todo("2.3", "why `max` is sparse is explained")
def explains(answer: Folder) -> None:
    """There is an explanation of some length; whether it is good, the learner decides."""
    words = str(answer.load(SCRIPT).WHY_MAX_IS_SPARSE).lower().split()
    if not words:
        raise NotImplementedError("TODO 2.3")
    require(
        len(words) >= WORDS and len(set(words)) >= OTHER_WORDS,
        f"{WORDS} words or more, {OTHER_WORDS} of them different",
        f"{len(words)}, {len(set(words))} of them different",
        "which element can change the result? reread Part 2, “What a node keeps”",
    )


@todo("2.4", "accumulation is shown on purpose, and the reset is back afterwards")
def accumulates(answer: Folder) -> None:
    """The four sums without a reset are right, twice, and the next single gradient is clean."""
    script = answer.load(SCRIPT)
    predicting(script, EXPECTED)
    for _ in range(2):
        require_sums(script, EXPECTED)
        name = random.choice(list(EXPECTED))
        again = script.gradient_of(name)
        require(
            close(again, EXPECTED[name]),
            f"the gradient of {name} alone after the sums",
            f"{again}",
            f"the reset has to be back; {ACCUMULATION}",
        )
    others = Others()
    with others.in_place(script), autograd_watched() as ran:
        if answered_by(script, others):
            require_sums(script, others.gradients())
    require(
        len(ran) >= len(EXPECTED) or bool(others.asked),
        "sums that backward makes",
        "sums without one call of it",
        f"let backward add them up in x.grad; {ACCUMULATION}",
    )


def answered_by(script: ModuleType, others: Others) -> bool:
    """Whether the sums ask the expressions that we put there."""
    script.accumulate_without_reset()
    return bool(others.asked)


def require_sums(script: ModuleType, gradients: Gradients) -> None:
    """The running sums have to be those of these gradients."""
    found = list(script.accumulate_without_reset())
    right: list[list[float]] = []
    for gradient in gradients.values():
        before = right[-1] if right else [0.0] * len(gradient)
        right.append([a + b for a, b in zip(before, gradient, strict=True)])
    require(
        len(found) == len(right) and all(map(close, found, right)),
        "the four running sums that x.grad holds without a reset",
        f"{found}",
        f"keep a copy after each backward; {ACCUMULATION}",
    )
