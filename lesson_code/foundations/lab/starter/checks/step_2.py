"""Step 2: four gradients, predicted, reset and accumulated."""

from types import ModuleType
from typing import Any

import pytest

from .points import Finding, OpenPointError, load, part_of, point, require

EXPECTED = {
    "sum": [1.0, 1.0, 1.0],
    "squares": [2.0, 4.0, 6.0],
    "mean": [1 / 3, 1 / 3, 1 / 3],
    "max": [0.0, 0.0, 1.0],
}
ACCUMULATED = [
    [1.0, 1.0, 1.0],
    [3.0, 5.0, 7.0],
    [10 / 3, 16 / 3, 22 / 3],
    [10 / 3, 16 / 3, 25 / 3],
]
TOLERANCE = 1e-6
COMPUTED_TOLERANCE = 1e-5  # in float32, after four sums
WORDS = 15
ACCUMULATION = "Part 2, “Gradients add up”"
PREDICTED = point("each gradient is predicted before it is computed", "Lab, Step 2")
RESET = point("the gradients are reset between the expressions", ACCUMULATION)
SHOWN = point("accumulation is shown on purpose, and the reset is back afterwards", ACCUMULATION)


@pytest.fixture
def script() -> ModuleType:
    """The learner's script, imported afresh."""
    return load("explore_gradients.py")


def close(found: Any, expected: list[float], tolerance: float) -> bool:
    """Whether three numbers are the expected ones."""
    try:
        numbers = [float(number) for number in found]
    except (TypeError, ValueError):
        return False
    return len(numbers) == len(expected) and all(
        abs(number - right) <= tolerance for number, right in zip(numbers, expected, strict=True)
    )


@PREDICTED
def test_predictions(script: ModuleType) -> None:
    """All four are predicted, and agree with what backward gives."""
    predictions = part_of(script, "PREDICTIONS")
    missing = [name for name in EXPECTED if predictions.get(name) is None]
    require(not missing, "not everything is predicted yet", f"still None: {', '.join(missing)}")
    wrong = [
        Finding(
            f"the prediction for {name} differs",
            f"predicted {predictions[name]!r}; three numbers are compared to {TOLERANCE:f}",
        )
        for name, expected in EXPECTED.items()
        if not close(predictions[name], expected, TOLERANCE)
    ]
    if wrong:
        raise OpenPointError(*wrong)


@PREDICTED
def test_refuses(script: ModuleType) -> None:
    """Without a prediction nothing is computed."""
    for name in EXPECTED:
        predictions = {other: [0.0, 0.0, 0.0] for other in EXPECTED} | {name: None}
        part_of(script, "PREDICTIONS").update(predictions)
        try:
            found = part_of(script, "gradient_of")(name)
        except NotImplementedError:
            raise
        except Exception as refused:
            said = str(refused)
            require(name in said, "the refusal does not say what is missing", f"it says {said!r}")
        else:
            raise OpenPointError(
                Finding(f"{name} is computed without a prediction", f"gives {found}")
            )


@RESET
@pytest.mark.parametrize("order", [tuple(EXPECTED), tuple(reversed(EXPECTED))], ids=str)
def test_reset(script: ModuleType, order: tuple[str, ...]) -> None:
    """Each gradient is the same whatever came before."""
    part_of(script, "PREDICTIONS").update(EXPECTED)
    wrong = []
    for name in order:
        found = part_of(script, "gradient_of")(name)
        if not close(found, EXPECTED[name], COMPUTED_TOLERANCE):
            wrong.append(
                Finding(
                    f"the gradient of {name} is not that of {name} alone",
                    f"asked in the order {', '.join(order)}, gradient_of({name!r}) gives {found}",
                )
            )
    if wrong:
        raise OpenPointError(*wrong)


@point("why `max` is sparse is explained", "Part 2, “What a node keeps”")
def test_explained(script: ModuleType) -> None:
    """There is an explanation of some length; whether it is good, the learner decides."""
    words = len(str(part_of(script, "WHY_MAX_IS_SPARSE")).split())
    require(words >= WORDS, f"the explanation has fewer than {WORDS} words", f"it has {words}")


@SHOWN
def test_accumulation(script: ModuleType) -> None:
    """The four sums without a reset are right, and the next single gradient is clean."""
    part_of(script, "PREDICTIONS").update(EXPECTED)
    found = list(part_of(script, "accumulate_without_reset")())
    require(
        len(found) == len(ACCUMULATED)
        and all(
            close(row, right, COMPUTED_TOLERANCE)
            for row, right in zip(found, ACCUMULATED, strict=True)
        ),
        "the four running sums are not what x.grad holds without a reset",
        f"accumulate_without_reset() gives {found}",
    )
    again = part_of(script, "gradient_of")("sum")
    require(
        close(again, EXPECTED["sum"], COMPUTED_TOLERANCE),
        "after the accumulation the reset is gone",
        f"gradient_of('sum') gives {again}",
    )
