"""The eight outcomes of the loop with some of its three new lines."""

import pytest

from lesson_code.gpu_training.loop_switches import loop_lines, outcome


@pytest.mark.parametrize(
    ("kept", "expected"),
    [
        ((False, False, False), {"device": "CPU"}),
        ((True, False, False), {"device": "CPU"}),
        ((True, True, True), {"device": "GPU"}),
    ],
)
def test_a_loop_trains_where_everything_is(
    kept: tuple[bool, ...], expected: dict[str, str]
) -> None:
    """Nothing moved or all moved: it trains."""
    assert expected == outcome(kept)


@pytest.mark.parametrize(
    ("kept", "error", "line"),
    [
        ((False, False, True), "NameError", "images, labels = images.to(device)"),
        ((False, True, False), "NameError", "model.to(device)"),
        ((False, True, True), "NameError", "model.to(device)"),
        ((True, False, True), "RuntimeError", "outputs = model(images)"),
        ((True, True, False), "RuntimeError", "outputs = model(images)"),
    ],
)
def test_a_loop_stops_where_two_devices_meet(kept: tuple[bool, ...], error: str, line: str) -> None:
    """The line is the learner's own, not one of PyTorch's."""
    found = outcome(kept)

    assert error == found["error"]
    assert loop_lines()[found["line"] - 1].strip().startswith(line)
