"""What the notebook's checks see, at their edges: other devices, and code that stops."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from graders import notebook
from graders.checks import NotYetError, WrongAnswerError
from graders.watching import Watch, WatchedLoader, tensors_in
from lesson_code.models import MNISTClassifier


@pytest.fixture
def batches() -> list[Any]:
    """Two batches of made-up digits, of different sizes."""
    return notebook.practice_batches([16, 12])


@pytest.fixture
def accelerator(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch says that there is an accelerator; all stays on the CPU."""
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)


def test_what_stops_the_code_is_noted() -> None:
    """The watch ends all the same."""
    run = Watch(MNISTClassifier).run(lambda: 1 / 0)

    assert isinstance(run.problem, ZeroDivisionError)


def test_an_empty_blank_is_not_noted_but_told() -> None:
    """It is no mistake."""

    def empty() -> None:
        raise NotYetError("empty")

    with pytest.raises(NotYetError, match="empty"):
        Watch(MNISTClassifier).run(empty)


def test_events_come_in_order(batches: list[Any]) -> None:
    """Forward, loss, backward, and gradients of before that nobody cleared."""

    def code() -> None:
        model, criterion = MNISTClassifier(), torch.nn.CrossEntropyLoss()
        for images, labels in batches:
            criterion(model(images), labels).backward()

    run = Watch(MNISTClassifier).run(code)

    assert [
        "logits float32 train 16",
        "loss float32",
        "backward",
        "logits float32 train 12",
        "loss float32",
        "backward on old gradients",
    ] == run.events


def test_what_a_pretended_gpu_cannot_do_is_no_mistake(batches: list[Any]) -> None:
    """Then the run on this machine decides."""

    def code(loader: WatchedLoader) -> None:
        torch.Generator(device="cuda" if torch.cuda.is_available() else "cpu")
        for images, _ in loader:
            images + 1

    practice = notebook.Practice(code, batches)

    assert not practice.pretended
    assert practice.takes_gpu


def test_where_the_loop_computes_on_a_gpu_nothing_is_pretended(batches: list[Any]) -> None:
    """Two devices that meet stop by themselves there, so that is not looked for."""

    def code(loader: WatchedLoader) -> None:
        model = MNISTClassifier().to("meta")  # a device that every machine has
        for images, labels in loader:
            images + torch.ones(28)
            model(images.to("meta")), labels.to("meta")

    practice = notebook.Practice(code, batches)

    assert not practice.pretended
    practice.require_moved()


def test_a_model_that_comes_back_elsewhere_is_named() -> None:
    """A checkpoint opens on the CPU, and so does the model that is made from it."""
    with pytest.raises(WrongAnswerError, match="expected a model on the CPU, got meta"):
        notebook.require_on_cpu(MNISTClassifier().to("meta"))


@pytest.mark.parametrize("tens", [[0, 0, 0], [1, 4, 2]])
def test_every_model_has_the_accuracy_that_is_scheduled(tens: list[int]) -> None:
    """Whatever its weights are."""
    loader = notebook.ScheduledLoader(tens)
    found = []
    for _ in tens:
        loader.run.events += ["backward"] * len(notebook.BATCHES)
        found.append(notebook.evaluate(MNISTClassifier(), loader, torch.device("cpu"))[1])

    assert notebook.accuracies(tens) == found


def test_an_accelerator_may_see_another_digit_in_one_image(
    tmp_path: Any, accelerator: None
) -> None:
    """One image in half precision is not a wrong accuracy; two are."""
    images, labels = notebook.practice_batches([16])[0]
    model = MNISTClassifier().eval()
    right = int((model(images).argmax(dim=1) == labels).sum())
    answer = torch.nn.Module()
    answer.validation_loader = DataLoader(TensorDataset(images, labels), batch_size=16)
    answer.best_path = tmp_path / "best.pth"
    rest = {"epoch": 0, "optimizer_state_dict": {}, "loss": 1.0}

    for more in (1, 2):
        accuracy = 100 * (right + more) / 16
        torch.save(
            rest | {"model_state_dict": model.state_dict(), "accuracy": accuracy}, answer.best_path
        )
        if more == 1:
            notebook.is_as_accurate_as_it_says(answer)

    with pytest.raises(WrongAnswerError, match="which its model reaches"):
        notebook.is_as_accurate_as_it_says(answer)


def test_tensors_are_found_in_lists_too() -> None:
    """As `torch.cat` and `torch.stack` get them."""
    a, b, c = torch.ones(3)

    assert [a, b, c] == list(tensors_in((a, [b, (c, "text")], 1)))


def test_of_a_file_nothing_is_known_of_its_run() -> None:
    """What ran in a notebook's own cells is judged there alone."""
    notebook.require_run(SimpleNamespace())

    with pytest.raises(notebook.CannotJudgeError):
        notebook.require_run(SimpleNamespace(FROM_FILE=True))


def test_a_gpu_that_rounds_to_tf32_has_the_same_answers(tmp_path: Path) -> None:
    """The operands lose 13 bits there, which is no other model; other weights are one."""
    torch.manual_seed(0)
    model = MNISTClassifier().requires_grad_(False)
    for parameter in model.parameters():
        parameter *= 4  # as large logits as training gives
    before = model.state_dict()
    stored = {"epoch": 1, "optimizer_state_dict": {}, "loss": 1.0, "model_state_dict": before}
    torch.save(stored, tmp_path / "gpu_checkpoint.pth")
    images = torch.randn(16, 1, 28, 28).as_subclass(StaysHere)

    def answer(trained: MNISTClassifier) -> SimpleNamespace:
        return SimpleNamespace(
            checkpoint_path=tmp_path / "gpu_checkpoint.pth",
            CHECKPOINT_EPOCHS=2,
            test_loader=[(images, None)],
            trained=trained,
            load_on_cpu=torch.load,
            rebuild=lambda checkpoint: loaded(MNISTClassifier(), checkpoint["model_state_dict"]),
        )

    rounded = {name: tf32(weights) for name, weights in before.items()}
    notebook.carries_the_trained_model(answer(loaded(OnAGPU(), rounded)))
    with pytest.raises(WrongAnswerError, match="answer as the trained one"):
        notebook.carries_the_trained_model(answer(OnAGPU()))


class StaysHere(torch.Tensor):
    """A batch that no device gets."""

    def to(self, *_: Any, **__: Any) -> Self:
        """The same."""
        return self


class OnAGPU(MNISTClassifier):
    """A model that says that it is on a GPU."""

    def parameters(self, recurse: bool = True) -> Iterator[Any]:  # noqa: ARG002
        """One of them, as far as anybody asks."""
        yield SimpleNamespace(device=SimpleNamespace(type="cuda"))


def loaded(model: MNISTClassifier, weights: dict[str, torch.Tensor]) -> MNISTClassifier:
    """The model with these weights."""
    model.load_state_dict(weights)
    return model


def tf32(weights: torch.Tensor) -> torch.Tensor:
    """What is left of them with ten bits behind the point, rounded to the nearest."""
    return ((weights.view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32)
