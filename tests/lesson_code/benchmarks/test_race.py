"""The race runs the lesson's step on the lesson's model, and nothing that only looks like them."""

import copy
import inspect

import torch
from torch import nn

from lesson_code.benchmarks.race import HIDDEN_WIDTHS, classifier, train_step
from lesson_code.gpu_training.training import train_one_epoch
from lesson_code.models import MNISTClassifier, parameter_count


def code_of(function: object) -> list[str]:
    """The lines of a function, without indentation."""
    return [line.strip() for line in inspect.getsource(function).splitlines()]  # type: ignore[arg-type]


def test_step_is_the_body_of_the_loop_on_the_page() -> None:
    """Its lines between docstring and return are in the lesson's loop, one after the other."""
    step = code_of(train_step)
    body = step[step.index("optimizer.zero_grad()") : -1]
    loop = code_of(train_one_epoch)
    start = loop.index(body[0])

    assert 4 == len(body)
    assert body == loop[start : start + 4]


def test_step_trains_as_the_loop_does() -> None:
    """One batch through the step and through the loop gives the same weights and loss."""
    images, labels = torch.randn(8, 1, 28, 28), torch.arange(8)
    model = classifier(64, 32)
    twin = copy.deepcopy(model)
    criterion = nn.CrossEntropyLoss()
    sgd, its_twin = (torch.optim.SGD(each.parameters(), lr=0.1) for each in (model, twin))
    loss = train_step(model, criterion, sgd, images, labels)
    expected = train_one_epoch(twin, [(images, labels)], its_twin, criterion, torch.device("cpu"))

    assert expected == loss.item()
    assert all(map(torch.equal, twin.parameters(), model.parameters()))


def test_lessons_own_widths_race() -> None:
    """At the second of the widths, the model is the lesson's own."""
    own, raced = MNISTClassifier(), classifier(*HIDDEN_WIDTHS[1])

    assert str(own) == str(raced)
    assert parameter_count(own) == parameter_count(raced)


def test_other_widths_change_the_layers_alone() -> None:
    """A wider model still turns images into ten scores."""
    scores = classifier(1024, 512)(torch.zeros(3, 1, 28, 28))

    assert (3, 10) == scores.shape
