"""Six ways to read a clock give the six readings of the lab, exactly."""

import pytest

from lesson_code.lab.timing_mistakes import print_six_methods, readings


@pytest.mark.parametrize(
    ("method", "milliseconds"),
    [
        ("correct", 50.002),
        ("no wait", 0.020),
        ("wait only before", 0.020),
        ("wait only after", 114.996),
        ("no warm-up", 100.002),
        ("not divided", 500.020),
    ],
)
def test_each_method_reads_what_the_lab_says(method: str, milliseconds: float) -> None:
    """A kernel of 50 ms, a launch of 0.02 ms and a first call of 500 ms more fix all of them."""
    assert pytest.approx(milliseconds / 1e3, rel=1e-9) == readings()[method]


def test_the_table_prints_three_decimals(capsys: pytest.CaptureFixture[str]) -> None:
    """Six lines, the correct one first."""
    found = print_six_methods()

    lines = capsys.readouterr().out.splitlines()
    assert list(found) == [line[:18].strip() for line in lines]
    assert "correct              50.002 ms" == lines[0]
