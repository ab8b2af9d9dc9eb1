"""Every rung is the same training, and the one written by hand is so to the last step."""

import contextlib
import gc
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
import torch
from torch.nn import functional as F

from lesson_code.benchmarks import speed_ladder
from lesson_code.benchmarks.speed_ladder import (
    BATCH_SIZE,
    LEARNING_RATE,
    Data,
    Folded,
    Rung,
    Training,
    record,
)
from lesson_code.data import load_mnist
from lesson_code.models import MNISTClassifier

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def data() -> Data:
    """Images of the subset, with a last batch of 32 as MNIST has one."""
    dataset = load_mnist("nowhere", True, "subset")
    few = torch.utils.data.Subset(dataset, range(992))
    samples = [few[index] for index in range(len(few))]
    images = torch.stack([image for image, _ in samples])
    labels = torch.tensor([label for _, label in samples])
    return Data(few, images, labels)


def eager(rung: Callable[..., Training]) -> Rung:
    """A rung without the compiler, which takes longer than all of its training here."""

    def build(data: Data, device: torch.device) -> Training:
        return rung(data, device, compile=False)

    return build


def in_this_process(data: Data, device: torch.device) -> Training:
    """The rung with workers, without any: starting them takes longer than the training."""
    return speed_ladder.pinned(data, device, workers=0)


RUNGS: dict[str, Rung] = {
    "textbook": speed_ladder.textbook,
    "pinned": in_this_process,
    "resident": speed_ladder.resident,
    "fused": speed_ladder.fused,
    "autocast": speed_ladder.autocast,
    "graph": eager(speed_ladder.graph),
    "whole_epoch": eager(speed_ladder.whole_epoch),
}


def trained(rung: Rung, data: Data) -> tuple[float, float]:
    """Loss of the third epoch, and accuracy on the training images after it."""
    torch.manual_seed(0)
    training = rung(data, CPU)
    losses = [training.epoch() for _ in range(3)]
    with torch.no_grad():
        right = training.scores(data.images).argmax(dim=1) == data.labels
    return losses[-1], float(right.float().mean())


@pytest.fixture(scope="module")
def textbook(data: Data) -> tuple[float, float]:
    """What the first rung reaches."""
    return trained(RUNGS["textbook"], data)


@pytest.mark.parametrize("name", [name for name in RUNGS if name != "textbook"])
def test_every_rung_learns_as_the_textbook_loop_does(
    name: str, data: Data, textbook: tuple[float, float]
) -> None:
    """After three epochs from the same weights, loss and accuracy are close to the first rung's."""
    loss, accuracy = trained(RUNGS[name], data)

    assert loss == pytest.approx(textbook[0], rel=0.15)
    assert accuracy == pytest.approx(textbook[1], abs=0.03)


def test_resident_fused_and_graph_are_equal_to_the_digit(data: Data) -> None:
    """Batches, arithmetic and order are the same, so the loss is."""
    losses = []
    for name in ("resident", "fused", "graph"):
        torch.manual_seed(0)
        losses.append(RUNGS[name](data, CPU).epoch())

    assert [losses[0]] * 3 == pytest.approx(losses, rel=1e-5)


def test_the_step_by_hand_is_autograd_and_adam(data: Data) -> None:
    """After two epochs, the last batch of each smaller, every weight and bias is the same."""
    torch.manual_seed(1)
    model = MNISTClassifier().double()  # in float32 Adam turns rounding into steps
    folded = Folded(model, torch.float64)
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    batches = torch.arange(992).roll(7).split(BATCH_SIZE)
    for chosen in (*batches, *batches, torch.arange(32)):
        images, labels = data.images[chosen].double(), data.labels[chosen]
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            summed = folded.step(folded.fold(images), labels)

        assert float(summed) == pytest.approx(loss.item() * len(labels), rel=1e-9)
    for layer, weights in zip(
        (model.fc1, model.fc2, model.fc3), folded.matrices(folded.vector), strict=True
    ):
        outputs, inputs = layer.weight.shape
        torch.testing.assert_close(
            weights[:outputs, :inputs], layer.weight.detach(), atol=1e-9, rtol=0
        )
        torch.testing.assert_close(
            weights[:outputs, inputs], layer.bias.detach(), atol=1e-9, rtol=0
        )


def test_what_is_not_trained_stays_as_it_is(data: Data) -> None:
    """The row that hands the one on and the padding are untouched by training."""
    folded = Folded(MNISTClassifier())
    before = folded.vector.clone()
    with torch.no_grad():
        for chosen in torch.arange(992).split(BATCH_SIZE):
            folded.step(folded.fold(data.images[chosen]), data.labels[chosen])
    moved = folded.vector != before

    assert not bool((moved & (folded.trained == 0)).any())
    assert float(moved.sum()) > 0.5 * float(folded.trained.sum())


def test_folded_scores_are_the_models_scores(data: Data) -> None:
    """Folding the biases in changes no score."""
    model = MNISTClassifier()

    with torch.no_grad():
        torch.testing.assert_close(
            model(data.images), Folded(model).scores(data.images), atol=1e-5, rtol=1e-5
        )


def test_all_sides_are_multiples_of_eight() -> None:
    """What the tensor cores want."""
    assert all(side % 8 == 0 for shape in speed_ladder.folded_shapes() for side in shape)


class FakeCuda:
    """What ``record`` asks of ``torch.cuda``, on a CPU; a replay does nothing but count."""

    def __init__(self) -> None:
        self.recording = False
        self.replays = 0

    def wait_stream(self, other: object) -> None:
        """A stream of this fake waits for nothing."""

    def replay(self) -> None:
        """Count the replays."""
        self.replays += 1

    @contextlib.contextmanager
    def capturing(self, _: object) -> Iterator[None]:
        """While this is open, work is recorded."""
        self.recording = True
        yield
        self.recording = False


@pytest.fixture
def fake_cuda(monkeypatch: pytest.MonkeyPatch) -> FakeCuda:
    """``torch.cuda`` with streams and graphs that do nothing."""
    fake = FakeCuda()
    parts: dict[str, Any] = {
        "Stream": lambda: fake,
        "current_stream": lambda: fake,
        "stream": lambda _: contextlib.nullcontext(),
        "CUDAGraph": lambda: fake,
        "graph": fake.capturing,
    }
    for name, part in parts.items():
        monkeypatch.setattr(torch.cuda, name, part)
    return fake


def test_recording_takes_its_rehearsal_back(fake_cuda: FakeCuda) -> None:
    """What there was keeps its value, and what the rehearsal made is zero."""
    weight, made = torch.full((3,), 2.0), list[torch.Tensor]()

    def work() -> None:
        if not made:
            made.append(torch.zeros(3))
        if not fake_cuda.recording:
            weight.add_(1)
            made[0].add_(1)

    replay = record(work, lambda: [weight, *made])
    replay()

    assert fake_cuda.replays == 1
    assert torch.equal(weight, torch.full((3,), 2.0))
    assert torch.equal(made[0], torch.zeros(3))


def test_a_replay_keeps_what_its_graph_reads(fake_cuda: FakeCuda) -> None:
    """A graph has only addresses: a tensor that nothing else keeps must not be freed."""
    images = torch.ones(3)
    kept = weakref.ref(images)

    replay = record(partial(images.add_, 0), lambda: [])
    del images
    gc.collect()

    assert kept() is not None
    del replay


@pytest.mark.parametrize("rung", [speed_ladder.graph, speed_ladder.whole_epoch])
def test_setting_a_recorded_rung_up_trains_nothing(
    rung: Callable[..., Training],
    data: Data,
    fake_cuda: FakeCuda,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What its rehearsals change is listed, and put back: the scores are an untrained model's."""
    monkeypatch.setattr(speed_ladder, "replayable", lambda work, state, _: record(work, state))
    torch.manual_seed(3)
    training = rung(data, CPU, compile=False)
    torch.manual_seed(3)
    untrained = MNISTClassifier()

    with torch.no_grad():
        torch.testing.assert_close(
            untrained(data.images[:9]), training.scores(data.images[:9]), atol=1e-5, rtol=1e-5
        )
    assert training.epoch() == 0  # the fake's replay does nothing
    assert fake_cuda.replays > 0


def test_a_cpu_replays_by_working() -> None:
    """Without a GPU nothing is recorded."""
    calls = list[int]()

    speed_ladder.replayable(lambda: calls.append(1), lambda: [], CPU)()

    assert calls == [1]


def test_training_state_lists_what_a_step_changes(data: Data) -> None:
    """The sum, the weights, and after a step Adam's own tensors, in this order."""
    model = MNISTClassifier()
    optimizer = torch.optim.Adam(model.parameters())
    total = torch.zeros(())
    before = list(speed_ladder.training_state(model, optimizer, total))
    F.cross_entropy(model(data.images[:4]), data.labels[:4]).backward()
    optimizer.step()
    after = list(speed_ladder.training_state(model, optimizer, total))

    assert len(before) == 7
    assert len(after) == 7 + 6 * 3
    assert all(a is b for a, b in zip(before, after, strict=False))


def test_what_is_compiled_is_the_fused_rungs_step(
    data: Data, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a compiler that changes nothing, the loss is equal."""
    monkeypatch.setattr(torch, "compile", lambda **_: lambda function: function)
    losses = []
    for rung in (speed_ladder.fused, speed_ladder.compiled):
        torch.manual_seed(0)
        losses.append(rung(data, CPU).epoch())

    assert losses[0] == pytest.approx(losses[1], rel=1e-6)


@pytest.mark.timeout(240)
def test_compiled_rung_is_the_fused_one_compiled(data: Data) -> None:
    """The compiler changes no result beyond rounding.

    Without a smaller last batch, for which everything would be compiled once more.
    """
    whole = Data(data.dataset, data.images[:960], data.labels[:960])
    losses = []
    for rung in (speed_ladder.fused, speed_ladder.compiled):
        torch.manual_seed(0)
        losses.append(rung(whole, CPU).epoch())

    assert losses[0] == pytest.approx(losses[1], rel=1e-4)


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["autocast", "compiled", "graph", "whole_epoch"])
def test_rungs_of_the_gpu_learn_as_the_textbook_loop_does(name: str, data: Data) -> None:
    """Three epochs on the GPU end near the loss of the plain loop there."""
    device = torch.device("cuda")
    reached = []
    for rung in (speed_ladder.resident, getattr(speed_ladder, name)):
        torch.manual_seed(0)
        training = rung(data, device)
        reached.append([training.epoch() for _ in range(3)][-1])

    assert reached[0] == pytest.approx(reached[1], rel=0.15)
