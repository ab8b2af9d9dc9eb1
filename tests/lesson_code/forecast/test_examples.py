"""The examples of the command are counted."""

from lesson_code.forecast import examples
from lesson_code.forecast.counter import count_step


def test_gpt2_is_counted(any_weights: None) -> None:
    """Products of 8 texts of 1,024 tokens take at least 6 operations a parameter and token."""
    model, optimizer, loss_function, batch = examples.gpt2()
    parameters = sum(parameter.numel() for parameter in model.parameters())

    step = count_step(model, optimizer, loss_function, batch)

    assert 6 * parameters * 8 * 1024 < sum(step.flop.values()) < 9 * parameters * 8 * 1024
