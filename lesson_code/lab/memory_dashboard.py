"""A memory dashboard: bytes alive after every operation, and what grows from step to step.

On a CPU a dispatch mode watches the operations. On a GPU, PyTorch's allocator writes its own
history into a file, a snapshot.

    python -m lesson_code.lab.memory_dashboard my_training.py

watches the first steps of ``steps()`` in that file, a generator that yields after each step.
Shapes: B is the batch size.
"""

import argparse
import gc
import itertools
import pickle
import sys
import tempfile
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.optim import SGD
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from graders.answers import AnswerError, load
from lesson_code.devices import choose_device

STEPS = 4
CHECKED_STEPS = 6
SMALL_BYTES = 300_000  # changes that a small drawing would not show
ALLOWED_BYTES = 1024  # a step may add this much; a kept loss takes 4, an activation far more


# --8<-- [start:curve]
class MemoryCurve(TorchDispatchMode):
    """Follows the memory that operations ask for inside ``with`` until nothing points at it.

    Attributes:
        curve: After each operation its name, and the bytes that were alive.
        marks: At each mark the bytes alive, by operation and shape.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.curve: list[tuple[str, int]] = []
        self.marks: list[Counter[str]] = []
        self._alive: dict[int, tuple[str, int]] = {}  # what asked for it, and how much

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Run the operation, and note the memory of its results that is new."""
        known = {storage._cdata for _, storage in _storages((args, kwargs))} | self._alive.keys()
        result = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__
        for shape, storage in _storages(result):
            address = storage._cdata
            if address not in known:  # a view or an in-place result has its input's memory
                self._alive[address] = (f"{name} {shape}", storage.nbytes())
                weakref.finalize(storage, self._alive.pop, address, None)
        if func.namespace != "profiler":  # these only name what follows
            self.curve.append((name, sum(size for _, size in [*self._alive.values()])))
        return result

    def mark(self) -> None:
        """Note what is alive now, at the end of a step."""
        alive: Counter[str] = Counter()
        for label, size in [*self._alive.values()]:  # any of them may go meanwhile
            alive[label] += size
        self.marks.append(alive)

    def growth(self, since: int = -2) -> Counter[str]:
        """What is alive at the last mark and was not at an earlier one, by its index."""
        return self.marks[-1] - self.marks[since]


def _storages(tree: Any) -> Iterator[tuple[list[int], torch.UntypedStorage]]:
    for leaf in tree_leaves(tree):
        if isinstance(leaf, torch.Tensor):
            yield list(leaf.shape), leaf.untyped_storage()


# --8<-- [end:curve]

Batch = tuple[torch.Tensor, torch.Tensor]
Batches = Iterable[Batch]
Steps = Iterator[None]


# --8<-- [start:loops]
def loop_a(model: nn.Sequential, batches: Batches) -> Steps:
    """Train, and remember the losses."""
    optimizer = SGD(model.parameters(), lr=0.1)
    losses: list[torch.Tensor] = []
    for features, labels in batches:
        optimizer.zero_grad()
        loss = cross_entropy(model(features), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss)
        yield


def loop_b(model: nn.Sequential, batches: Batches) -> Steps:
    """Validate, and remember the losses."""
    model.eval()
    losses: list[torch.Tensor] = []
    for features, labels in batches:
        loss = cross_entropy(model(features), labels)
        losses.append(loss)
        yield


def loop_c(model: nn.Sequential, batches: Batches) -> Steps:
    """Train with graphs that can be used again, and remember the losses."""
    optimizer = SGD(model.parameters(), lr=0.1)
    losses: list[torch.Tensor] = []
    for features, labels in batches:
        optimizer.zero_grad()
        loss = cross_entropy(model(features), labels)
        loss.backward(retain_graph=True)
        optimizer.step()
        losses.append(loss)
        yield


def loop_d(model: nn.Sequential, batches: Batches) -> Steps:
    """Train, and remember what the first ReLU gave."""
    seen: list[torch.Tensor] = []
    model[1].register_forward_hook(lambda _layer, _inputs, out: seen.append(out.detach()))
    optimizer = SGD(model.parameters(), lr=0.1)
    for features, labels in batches:
        optimizer.zero_grad()
        cross_entropy(model(features), labels).backward()
        optimizer.step()
        yield


# --8<-- [end:loops]

Loop = Callable[[nn.Sequential, Batches], Steps]
LOOPS: dict[str, Loop] = {"A": loop_a, "B": loop_b, "C": loop_c, "D": loop_d}


def network(device: torch.device | str = "cpu") -> nn.Sequential:
    """A classifier of (B, 64) features."""
    torch.manual_seed(0)
    model = nn.Sequential(
        *(nn.Linear(64, 256), nn.ReLU()),
        *(nn.Linear(256, 256), nn.ReLU()),
        *(nn.Linear(256, 256), nn.ReLU()),
        nn.Linear(256, 10),
    )
    return model.to(device)


def batch_of(size: int = 512, device: torch.device | str = "cpu") -> Batch:
    """Made-up features (B, 64) and labels (B,)."""
    torch.manual_seed(1)
    return torch.randn(size, 64).to(device), torch.randint(10, (size,)).to(device)


# --8<-- [start:watch]
def watch(steps: Iterable[object]) -> MemoryCurve:
    """Run steps, with a mark after each."""
    with MemoryCurve() as memory:
        for _ in steps:
            memory.mark()
    return memory


# --8<-- [end:watch]


def watch_loop(name: str) -> MemoryCurve:
    """Watch the first steps of one of the loops."""
    return watch(LOOPS[name](network(), [batch_of()] * STEPS))


def print_curve() -> list[dict[str, int | str]]:
    """Print the first step of loop A, wherever the bytes alive change much.

    Returns:
        For three steps of loops A and C, wherever one of them changes: ``step``, ``operation``
        counted from 1 over all steps, its ``name``, and the bytes alive after it in each loop.
    """
    curves = [watch_loop(name).curve for name in ("A", "C")]
    a_step = len(curves[0]) // STEPS
    rows: list[dict[str, int | str]] = []
    last = (0, 0)
    print("loop A, first step: MB alive where they change much")
    for number, ((name, a), (_, c)) in enumerate(zip(*curves, strict=True)):
        changed = (abs(a - last[0]), abs(c - last[1]))
        if max(changed) < SMALL_BYTES or number >= 3 * a_step:
            continue
        if number < a_step and changed[0] >= SMALL_BYTES:
            print(f"  {name:20}{a / 1e6:6.2f}  {'#' * round(a / 50_000)}")
        last = (a, c)
        where: dict[str, int | str] = {"step": number // a_step + 1, "operation": number + 1}
        rows.append(where | {"name": name, "A": a, "C": c})
    return rows


def print_marks() -> dict[str, dict[str, int]]:
    """Print for each loop the bytes alive after each step, and what the last step added.

    Returns:
        Of each loop the bytes after the last step, ``left``, and that it added, ``growth``.
    """
    print("bytes alive" + "".join(f"{f'step {step}':>12}" for step in range(1, STEPS + 1)))
    found = {}
    for name in LOOPS:
        memory = watch_loop(name)
        print(f"loop {name}     " + "".join(f"{mark.total():>12,}" for mark in memory.marks))
        for label, size in memory.growth().most_common():
            print(f"{'':11}  + {size:>9,}  {label}")
        found[f"loop_{name.lower()}"] = {
            "left": memory.marks[-1].total(),
            "growth": memory.growth().total(),
        }
    return found


# --8<-- [start:record]
def record_snapshot(steps: Iterable[object], file: Path) -> None:
    """Let the GPU's allocator note every block that it gives and takes back, until the last step.

    Raises:
        RuntimeError: Without a CUDA GPU, or without a step.
    """
    if not torch.cuda.is_available():
        raise RuntimeError("a memory snapshot needs a CUDA GPU")
    torch.cuda.memory._record_memory_history(stacks="python", max_entries=100_000)
    taken = 0
    try:
        for _ in steps:
            torch.cuda.memory._dump_snapshot(str(file))  # a loop that has ended keeps nothing
            taken += 1
    finally:
        torch.cuda.memory._record_memory_history(enabled=None)
    if not taken:
        raise RuntimeError("steps() has to yield after each step")


# --8<-- [end:record]


# --8<-- [start:read]
def read_snapshot(file: Path) -> list[int]:
    """The bytes alive after each event of a snapshot that you made yourself."""
    with file.open("rb") as opened:
        events = pickle.load(opened)["device_traces"][0]
    signs = {"alloc": 1, "free_completed": -1}
    changes = [signs.get(event["action"], 0) * event["size"] for event in events]
    return list(itertools.accumulate(changes))


# --8<-- [end:read]


def snapshot_of(name: str, device: torch.device | str) -> list[int]:
    """The bytes alive after each event of one of the loops on a GPU.

    A step that nobody records comes first: the first product of a process takes a workspace, and
    keeps it.
    """
    for _ in LOOPS[name](network(device), [batch_of(device=device)]):
        pass
    gc.collect()  # its model may wait for this; gone later, it would count as bytes given back
    steps = LOOPS[name](network(device), [batch_of(device=device)] * STEPS)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "snapshot.pickle")
        record_snapshot(steps, file)
        return read_snapshot(file)


def print_snapshot() -> dict[str, list[tuple[int, int]]]:
    """Record loops A and C on a GPU, and print the peak and what is left of each.

    Returns:
        Of each loop the events that change much, by number, and the bytes alive after them.
    """
    device, curves = choose_device(), {}
    print(f"{'MB alive':10}{'at most':>10}{'at the end':>12}")
    for name in ("A", "C"):
        alive = snapshot_of(name, device)
        print(f"loop {name:5}{max(alive) / 1e6:>10.2f}{alive[-1] / 1e6:>12.2f}")
        curves[name] = [(0, 0)]
        for number, size in enumerate(alive, start=1):
            if abs(size - curves[name][-1][1]) >= SMALL_BYTES:
                curves[name].append((number, size))
    return curves


# --8<-- [start:own]
def steps() -> Steps:
    """A training of yours; here it is loop D, which never ends."""
    yield from loop_d(network(), itertools.repeat(batch_of()))


# --8<-- [end:own]


def print_own() -> int:
    """Print what the check says of it, and return its verdict."""
    return verdict(watch(itertools.islice(steps(), CHECKED_STEPS)))


def main(arguments: list[str] | None = None) -> int:
    """Watch a training of the reader's own.

    Returns:
        0 if its memory stays flat, 1 if it grows, 2 if nothing could be watched.
    """
    parser = argparse.ArgumentParser(prog="python -m lesson_code.lab.memory_dashboard")
    parser.add_argument("file", type=Path, help="has steps(), which yields after each step")
    parser.add_argument("--snapshot", type=Path, help="on a GPU: where to put a snapshot")
    options = parser.parse_args(arguments)
    try:
        steps = itertools.islice(load(options.file).steps(), CHECKED_STEPS)
        if options.snapshot:
            record_snapshot(steps, options.snapshot)
            print(f"Open https://pytorch.org/memory_viz and drop {options.snapshot} on it.")
            return 0
        memory = watch(steps)
    except (AnswerError, AttributeError, RuntimeError) as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    return verdict(memory)


def verdict(memory: MemoryCurve) -> int:
    """Print what each step left, and whether that grows.

    Returns:
        0 if it does not, 1 if it does, 2 if there were too few steps.
    """
    if len(memory.marks) < 3:
        print("error: steps() has to yield three times at least", file=sys.stderr)
        return 2
    for number, mark in enumerate(memory.marks, start=1):
        print(f"step {number}: {mark.total():>12,} bytes alive")
    _, *floors = (mark.total() for mark in memory.marks)  # the first may make what all others use
    some, size = max(1, (len(floors) - 1) // 2), floors[-1] - floors[0]
    risen = min(floors[-some:]) - max(floors[:some])  # one large batch at the end is no leak
    if risen < ALLOWED_BYTES * (len(floors) + 1 - 2 * some):
        print(f"FLAT: {abs(size):,} bytes {'less' if size < 0 else 'more'} than after step 2")
        return 0
    print(f"GROWS: {size:,} bytes more than after step 2, most of them from")
    for label, part in memory.growth(since=1).most_common(3):
        print(f"  {part:>12,}  {label}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
