"""One training, made faster one idea at a time.

Every rung trains the same model on the same 60,000 images with Adam at 1e-3 and batches of 64; what
changes is how the work reaches the processor and, on a GPU from ``autocast`` on, the format of its
products. A rung is a function that sets a training up and returns it; each differs from the one
before it in a few lines.

Shapes: N images in all, B in a batch; an image is (1, 28, 28), float32, normalised.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise, zip_longest

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

from lesson_code.data import Sample
from lesson_code.models import MNISTClassifier

BATCH_SIZE = 64
LEARNING_RATE = 1e-3
SEED = 0


@dataclass(frozen=True)
class Data:
    """The training images twice: as files are read, one by one, and prepared beforehand.

    Attributes:
        dataset: Opens and normalises an image whenever it is asked for.
        images: All of them, (N, 1, 28, 28), float32, on the CPU.
        labels: Their digits, (N,), int64, on the CPU.
    """

    dataset: Dataset[Sample]
    images: torch.Tensor
    labels: torch.Tensor


@dataclass(frozen=True)
class Training:
    """A rung that is set up.

    Attributes:
        epoch: Trains on every image once and returns the average loss of a sample.
        scores: The ten scores of each image: (B, 1, 28, 28) -> (B, 10).
    """

    epoch: Callable[[], float]
    scores: Callable[[torch.Tensor], torch.Tensor]


Rung = Callable[[Data, torch.device], Training]
"""Sets a training up on a device; no step is made yet."""


# --8<-- [start:textbook]
def textbook(data: Data, device: torch.device) -> Training:
    """Images opened and normalised one by one, in the process that trains."""
    model = MNISTClassifier().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    loader = DataLoader(data.dataset, BATCH_SIZE, shuffle=True)

    def epoch() -> float:
        total = 0.0
        for images, labels in loader:
            images, labels = images.to(device), labels.to(device)
            loss = F.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(labels)
        return total / len(data.labels)

    return Training(epoch, model)


# --8<-- [end:textbook]


# --8<-- [start:pinned]
def pinned(data: Data, device: torch.device, workers: int = 4) -> Training:
    """Other processes prepare the images, in memory from which a GPU can copy by itself."""
    model = MNISTClassifier().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    loader = DataLoader(
        data.dataset,
        BATCH_SIZE,
        shuffle=True,
        num_workers=workers,
        persistent_workers=workers > 0,
        pin_memory=device.type == "cuda",
    )

    def epoch() -> float:
        total = 0.0
        for images, labels in loader:
            images = images.to(device, non_blocking=True)
            labels = labels.to(device, non_blocking=True)
            loss = F.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(labels)
        return total / len(data.labels)

    return Training(epoch, model)


# --8<-- [end:pinned]


# --8<-- [start:resident]
def resident(data: Data, device: torch.device) -> Training:
    """All images prepared beforehand and kept on the device."""
    model = MNISTClassifier().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    all_images, all_labels = data.images.to(device), data.labels.to(device)

    def epoch() -> float:
        total = torch.zeros((), device=device)
        for chosen in torch.randperm(len(all_labels), device=device).split(BATCH_SIZE):
            images, labels = all_images[chosen], all_labels[chosen]
            loss = F.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.detach() * len(labels)
        return total.item() / len(data.labels)

    return Training(epoch, model)


# --8<-- [end:resident]


# --8<-- [start:fused]
def fused(data: Data, device: torch.device) -> Training:
    """One launch updates all weights."""
    model = MNISTClassifier().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE, fused=True)
    all_images, all_labels = data.images.to(device), data.labels.to(device)

    def epoch() -> float:
        total = torch.zeros((), device=device)
        for chosen in torch.randperm(len(all_labels), device=device).split(BATCH_SIZE):
            images, labels = all_images[chosen], all_labels[chosen]
            loss = F.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.detach() * len(labels)
        return total.item() / len(data.labels)

    return Training(epoch, model)


# --8<-- [end:fused]


# --8<-- [start:autocast]
def autocast(data: Data, device: torch.device) -> Training:
    """Matrix products in bfloat16."""
    model = MNISTClassifier().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE, fused=True)
    all_images, all_labels = data.images.to(device), data.labels.to(device)

    def epoch() -> float:
        total = torch.zeros((), device=device)
        for chosen in torch.randperm(len(all_labels), device=device).split(BATCH_SIZE):
            images, labels = all_images[chosen], all_labels[chosen]
            with torch.amp.autocast(device.type, dtype=torch.bfloat16):
                loss = F.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.detach() * len(labels)
        return total.item() / len(data.labels)

    return Training(epoch, model)


# --8<-- [end:autocast]


# --8<-- [start:compiled]
def compiled(data: Data, device: torch.device) -> Training:
    """Forward and backward pass compiled into fewer, larger kernels."""
    model = MNISTClassifier().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE, fused=True)
    all_images, all_labels = data.images.to(device), data.labels.to(device)

    @torch.compile(dynamic=False)  # one version for 64 images, one for the last 32
    def loss_of(images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        with half_precision(device):
            return F.cross_entropy(model(images), labels)

    def epoch() -> float:
        total = torch.zeros((), device=device)
        for chosen in torch.randperm(len(all_labels), device=device).split(BATCH_SIZE):
            images, labels = all_images[chosen], all_labels[chosen]
            loss = loss_of(images, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.detach() * len(labels)
        return total.item() / len(data.labels)

    return Training(epoch, model)


# --8<-- [end:compiled]


# --8<-- [start:half_precision]
def half_precision(device: torch.device) -> torch.amp.autocast:
    """Autocast to bfloat16 on a GPU; on a CPU, where that need not be faster, float32 stays."""
    return torch.amp.autocast(device.type, dtype=torch.bfloat16, enabled=device.type == "cuda")


# --8<-- [end:half_precision]


# --8<-- [start:graph]
def graph(data: Data, device: torch.device, compile: bool = True) -> Training:
    """The whole step recorded once, and launched as one."""
    model = MNISTClassifier().to(device)
    optimizer = torch.optim.Adam(
        model.parameters(), lr=LEARNING_RATE, fused=True, capturable=device.type == "cuda"
    )
    all_images, all_labels = data.images.to(device), data.labels.to(device)
    total = torch.zeros((), device=device)

    @torch.compile(dynamic=False, disable=not compile)
    def loss_of(images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        with half_precision(device):
            return F.cross_entropy(model(images), labels)

    def step(chosen: torch.Tensor) -> None:
        images, labels = all_images[chosen], all_labels[chosen]
        loss = loss_of(images, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total.add_(loss.detach() * len(labels))

    state = partial(training_state, model, optimizer, total)
    last = len(all_labels) % BATCH_SIZE or BATCH_SIZE
    places = {size: torch.arange(size, device=device) for size in {BATCH_SIZE, last}}
    replays = {
        size: replayable(partial(step, place), state, device) for size, place in places.items()
    }

    def epoch() -> float:
        total.zero_()
        for chosen in torch.randperm(len(all_labels), device=device).split(BATCH_SIZE):
            places[len(chosen)].copy_(chosen)
            replays[len(chosen)]()
        return total.item() / len(data.labels)

    return Training(epoch, model)


# --8<-- [end:graph]


# --8<-- [start:record]
@dataclass(frozen=True)
class Replay:
    """A graph with the work that it recorded, which keeps the tensors that the graph reads."""

    recording: torch.cuda.CUDAGraph
    work: Callable[[], None]

    def __call__(self) -> None:
        """Launch the whole graph."""
        self.recording.replay()


def record(
    work: Callable[[], None], state: Callable[[], Iterable[torch.Tensor]]
) -> Callable[[], None]:
    """Record everything that ``work`` launches on the GPU, as one graph to be launched at once.

    Args:
        work: Reads and writes tensors that stay where they are.
        state: Lists the tensors that it changes; what it makes itself, from zero, comes last.

    Returns:
        The replay: it does the same work again, with what the tensors hold by then.
    """
    before = [tensor.detach().clone() for tensor in state()]
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):  # a rehearsal: kernels are loaded, memory is found
            work()
    torch.cuda.current_stream().wait_stream(stream)

    recording = torch.cuda.CUDAGraph()
    with torch.cuda.graph(recording):
        work()

    with torch.no_grad():  # the rehearsal has trained a little; take that back
        for old, tensor in zip_longest(before, state()):
            tensor.zero_() if old is None else tensor.copy_(old)
    return Replay(recording, work)


# --8<-- [end:record]


def replayable(
    work: Callable[[], None],
    state: Callable[[], Iterable[torch.Tensor]],
    device: torch.device,
) -> Callable[[], None]:
    """``record`` on a GPU; on a CPU there is nothing to record, and the replay is the work."""
    return record(work, state) if device.type == "cuda" else work


def training_state(
    model: nn.Module, optimizer: torch.optim.Optimizer, total: torch.Tensor
) -> Iterator[torch.Tensor]:
    """Everything that a training step changes: what is there first, what it makes at the end."""
    yield total
    yield from model.parameters()
    for parameter in model.parameters():
        yield from (value for value in optimizer.state[parameter].values())


# --8<-- [start:folded]
WIDTHS = (784, 256, 128, 10)
PAD = 8  # GPUs multiply fastest when every side is a multiple of eight


def folded_shapes() -> list[tuple[int, int]]:
    """Rows and columns of each layer's weights with the bias as one more column, and padding."""
    sides = [width + PAD for width in WIDTHS[:-1]] + [WIDTHS[-1] + 6]
    return [(rows, columns) for columns, rows in pairwise(sides)]


# --8<-- [end:folded]


class Folded:
    """The classifier as one vector: weights, biases and padding of all three layers.

    An image gets a 785th pixel that is always one, so the bias is a column of the weights like any
    other. A row of the first two layers hands the one on: its bias is one, the rest of it zero, and
    it is never trained. The padding is zero and stays zero, since its gradient is zero. So the
    scores, the gradients and Adam's steps are those of ``MNISTClassifier``.
    """

    def __init__(self, model: MNISTClassifier, dtype: torch.dtype = torch.float32) -> None:
        """Take over the weights of ``model``, on its device.

        Args:
            model: Gives the starting weights.
            dtype: In what the matrix products are done; the weights themselves stay float32.
        """
        weight = model.fc1.weight
        self.dtype = dtype
        self.shapes = folded_shapes()
        sizes = [rows * columns for rows, columns in self.shapes]
        self.vector = torch.zeros(sum(sizes), device=weight.device, dtype=weight.dtype)
        self.trained = torch.zeros_like(self.vector)
        self.average = torch.zeros_like(self.vector)
        self.square = torch.zeros_like(self.vector)
        self.steps = torch.zeros((), device=weight.device, dtype=weight.dtype)
        layers = (model.fc1, model.fc2, model.fc3)
        weights, trained = self.matrices(self.vector), self.matrices(self.trained)
        with torch.no_grad():
            for index, (layer, matrix, mask) in enumerate(
                zip(layers, weights, trained, strict=True)
            ):
                outputs, inputs = layer.weight.shape
                matrix[:outputs, :inputs] = layer.weight
                matrix[:outputs, inputs] = layer.bias
                mask[:outputs, : inputs + 1] = 1
                if index < 2:
                    matrix[outputs, inputs] = 1

    def matrices(self, vector: torch.Tensor) -> list[torch.Tensor]:
        """A vector of this length as the three layers' matrices, sharing its memory."""
        sizes = [rows * columns for rows, columns in self.shapes]
        parts = vector.split(sizes)
        return [part.view(shape) for part, shape in zip(parts, self.shapes, strict=True)]

    def fold(self, images: torch.Tensor) -> torch.Tensor:
        """Images with their 785th pixel and padding: (B, 1, 28, 28) -> (B, 792)."""
        flat = images.flatten(1)
        ones = flat.new_zeros(len(flat), PAD)
        ones[:, 0] = 1
        return torch.cat([flat, ones], dim=1).to(self.dtype)

    def scores(self, images: torch.Tensor) -> torch.Tensor:
        """The ten scores of each image: (B, 1, 28, 28) -> (B, 10), float32."""
        w1, w2, w3 = self.matrices(self.vector.to(self.dtype))
        hidden = torch.relu(torch.relu(self.fold(images) @ w1.T) @ w2.T)
        return (hidden @ w3.T)[:, :10].float()

    # --8<-- [start:step_by_hand]
    def step(self, x: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """One training step without autograd; returns the batch's summed loss.

        Args:
            x: Folded images, (B, 792).
            labels: Their digits, (B,).
        """
        w1, w2, w3 = self.matrices(self.vector.to(self.dtype))
        h1 = torch.relu(x @ w1.T)
        h2 = torch.relu(h1 @ w2.T)
        log_p = torch.log_softmax((h2 @ w3.T)[:, :10].to(self.vector.dtype), dim=1)
        right = F.one_hot(labels, 10)

        d3 = F.pad((log_p.exp() - right) / len(labels), (0, 6)).to(self.dtype)
        d2 = (d3 @ w3) * (h2 > 0)
        d1 = (d2 @ w2) * (h1 > 0)
        gradient = torch.cat([(d1.T @ x).view(-1), (d2.T @ h1).view(-1), (d3.T @ h2).view(-1)])
        gradient = gradient * self.trained  # float32 again

        self.steps += 1
        self.average.lerp_(gradient, 0.1)
        self.square.lerp_(gradient * gradient, 0.001)
        average = self.average / (1 - 0.9**self.steps)
        square = self.square / (1 - 0.999**self.steps)
        self.vector.sub_(LEARNING_RATE * average / (square.sqrt() + 1e-8))
        return -(log_p * right).sum()

    # --8<-- [end:step_by_hand]


# --8<-- [start:whole_epoch]
def whole_epoch(data: Data, device: torch.device, compile: bool = True) -> Training:
    """A step written by hand, and all steps of an epoch launched as one."""
    folded = Folded(MNISTClassifier().to(device), working_format(device))
    all_images, all_labels = folded.fold(data.images.to(device)), data.labels.to(device)
    order, total = torch.arange(len(all_labels), device=device), torch.zeros((), device=device)

    @torch.compile(dynamic=False, disable=not compile)
    def step(chosen: torch.Tensor) -> None:
        total.add_(folded.step(all_images[chosen], all_labels[chosen]))

    def all_steps() -> None:
        for chosen in order.split(BATCH_SIZE):
            step(chosen)

    def state() -> Iterable[torch.Tensor]:
        return total, folded.vector, folded.average, folded.square, folded.steps

    with torch.no_grad():
        replay = replayable(all_steps, state, device)

    @torch.no_grad()
    def epoch() -> float:
        total.zero_()
        order.copy_(torch.randperm(len(order), device=device))
        replay()
        return total.item() / len(data.labels)

    return Training(epoch, folded.scores)


# --8<-- [end:whole_epoch]


def working_format(device: torch.device) -> torch.dtype:
    """In what the hand-written step multiplies: bfloat16 on a GPU, float32 on a CPU."""
    return torch.bfloat16 if device.type == "cuda" else torch.float32
