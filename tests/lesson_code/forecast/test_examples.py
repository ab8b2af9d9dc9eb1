"""The examples of the command are counted, and a shell outside of the counter is refused."""

import pytest
import torch

from lesson_code.forecast import examples
from lesson_code.forecast.counter import count_step
from lesson_code.forecast.shells import ReadsValuesError, Shell


def test_gpt2_is_counted(any_weights: None) -> None:
    """Products of 8 texts of 1,024 tokens take at least 6 operations a parameter and token."""
    model, optimizer, loss_function, batch = examples.gpt2()
    parameters = sum(parameter.numel() for parameter in model.parameters())

    step = count_step(model, optimizer, loss_function, batch)

    assert 6 * parameters * 8 * 1024 < sum(step.flop.values()) < 9 * parameters * 8 * 1024


def test_a_shell_outside_of_the_counter_is_refused() -> None:
    """There nothing could say what an operation costs."""
    shell = Shell(torch.empty(2, device="meta"))

    with pytest.raises(ReadsValuesError, match="outside the counter"):
        shell + 1
