"""The lesson's MNIST training, made faster one rung at a time, with the accuracy of each.

Every rung trains for the same number of epochs from the same weights. Its first epoch is the
warm-up and is told with the setting up before it: in these two kernels are loaded, compiled and
recorded, and what is compiled finds nothing in the compiler's caches. After that the rungs take
turns, epoch by epoch, with the same seed in each. The test accuracy is the mean over the later
epochs, since a single one moves by some tenths of a point for no reason. A rung that lies more than
0.3 points below the textbook loop is not equal to it.
"""

import contextlib
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from statistics import mean

import torch
from torch.utils.data import Dataset

from benchmarks.cases import IncompletePartError, MissingDataError, Part, Plan, SkipPartError
from benchmarks.compiling import compile_something_small, empty_cache, nothing_compiled_yet
from benchmarks.method import in_turn
from lesson_code.benchmarks import speed_ladder
from lesson_code.benchmarks.speed_ladder import BATCH_SIZE, SEED, Data, Rung, Training
from lesson_code.data import Sample, as_tensors, load_mnist
from lesson_code.devices import synchronize
from results.cases import ON, Family, names_of
from results.entry import Entry, entry

EPOCHS = 6
QUICK_EPOCHS = 3
CPU_RUNGS: dict[str, Rung] = {
    "textbook": speed_ladder.textbook,
    "resident": speed_ladder.resident,
    "fused": speed_ladder.fused,
    "compiled": speed_ladder.compiled,
    "whole_epoch": speed_ladder.whole_epoch,
}
CUDA_RUNGS: dict[str, Rung] = {
    "textbook": speed_ladder.textbook,
    "pinned": speed_ladder.pinned,
    "resident": speed_ladder.resident,
    "fused": speed_ladder.fused,
    "autocast": speed_ladder.autocast,
    "compiled": speed_ladder.compiled,
    "graph": speed_ladder.graph,
    "whole_epoch": speed_ladder.whole_epoch,
}
COMPILED = ("compiled", "graph", "whole_epoch")
WORDS = {
    "textbook": "the textbook loop",
    "pinned": "workers and pinned memory",
    "resident": "all images prepared beforehand",
    "fused": "a fused optimizer",
    "autocast": "bfloat16 autocast",
    "compiled": "torch.compile",
    "graph": "the step as one CUDA graph",
    "whole_epoch": "the whole epoch in one go",
}
FAMILIES = tuple(
    Family(
        f"{device}_{{rung}}{'.' if what else ''}{what}",
        f"{words} {ON[device]}: {{rung}}",
        {"rung": tuple(rungs)},
        unit=unit,
        device=device,
        words=WORDS,
        figure=f"ladder.{device}_{{rung}}{'_' if what else ''}{what}",
        rate="" if what else "samples_per_s",
        counts="" if what else "images",
    )
    for what, words, unit in (
        ("", "one epoch of MNIST", "s"),
        ("accuracy", "test accuracy, mean over the last epochs", "percent"),
        ("first_epoch", "the first epoch, with all that is done once", "s"),
    )
    for device, rungs in (("cpu", CPU_RUNGS), ("cuda", CUDA_RUNGS))
)
NEEDS = ("matmul", "copies")
ENTRIES = names_of(FAMILIES)


def parts(plan: Plan) -> Iterator[Part]:
    """The CPU's rungs, and the GPU's."""
    yield Part("cpu", partial(_climb, plan, "cpu"), expected_s=150, cpu_only=True)
    if plan.gpu:
        yield Part("cuda", partial(_climb, plan, "cuda"), expected_s=150)
    if not _can_compile(plan.cpu):
        yield Part("cpu_compiled", _no_compiler, cpu_only=True)


def _climb(plan: Plan, name: str) -> dict[str, Entry]:
    device = plan.devices[name]
    data, test = _data(plan)
    rungs = CPU_RUNGS if name == "cpu" else CUDA_RUNGS
    compiles = _can_compile(device) and not plan.quick  # it takes longer than all of a quick run
    if not compiles:
        rungs = {rung: build for rung, build in rungs.items() if rung not in COMPILED}
        rungs["whole_epoch"] = partial(speed_ladder.whole_epoch, compile=False)
    climb = Climb(device, test)
    with _compiler_of(device) if compiles else ExitStack() as caches:
        for rung, build in rungs.items():
            if compiles and rung in COMPILED:
                caches.enter_context(empty_cache())
            climb.begin(rung, build, data)
        for number in range(1, QUICK_EPOCHS if plan.quick else EPOCHS):
            climb.one_epoch(number)
    entries = climb.entries(name, data)
    if climb.broken:
        raise IncompletePartError(entries, "; ".join(climb.broken.values()))
    return entries


@contextlib.contextmanager
def _compiler_of(device: torch.device) -> Iterator[ExitStack]:
    """The compiler with nothing in it, imported and started; what it is given ends with it.

    Forgetting everything between two rungs would make the first one compile again in its turns, so
    each gets an empty cache instead.
    """
    with nothing_compiled_yet(), ExitStack() as caches:
        with contextlib.suppress(Exception):  # if nothing can be compiled, the rungs will say so
            compile_something_small(device)
        yield caches


class Climb:
    """Trainings that take turns; one that breaks is put aside, and the others go on."""

    def __init__(self, device: torch.device, test: Data) -> None:
        self.device = device
        self.test = test
        self.trainings: dict[str, Training] = {}
        self.first_s: dict[str, float] = {}
        self.seconds: dict[str, list[float]] = {}
        self.accuracies: dict[str, list[float]] = {}
        self.losses: dict[str, float] = {}
        self.broken: dict[str, str] = {}

    def begin(self, rung: str, build: Rung, data: Data) -> None:
        """Set a rung's training up from the seed that all share, and train for its first epoch."""
        torch.manual_seed(SEED)
        try:
            synchronize(self.device)
            start = time.perf_counter()
            training = build(data, self.device)
            synchronize(self.device)
            set_up_s = time.perf_counter() - start
            self.accuracies[rung] = []
            self.first_s[rung] = set_up_s + self._epoch(rung, training, 0)
        except Exception as problem:  # compilers and drivers raise what they like
            self._put_aside(rung, problem)
        else:
            self.trainings[rung] = training
            self.seconds[rung] = []

    def one_epoch(self, number: int) -> None:
        """Let every rung train for one more epoch, in the order of this round; 1 is the second."""
        for rung, training in in_turn(self.trainings, number):
            try:
                self.seconds[rung].append(self._epoch(rung, training, number))
            except Exception as problem:
                del self.trainings[rung]
                self._put_aside(rung, problem)

    def _epoch(self, rung: str, training: Training, number: int) -> float:
        """The seconds of an epoch, whose loss and accuracy are kept."""
        torch.manual_seed(SEED + number)
        synchronize(self.device)
        start = time.perf_counter()
        self.losses[rung] = training.epoch()
        synchronize(self.device)
        seconds = time.perf_counter() - start
        self.accuracies[rung].append(accuracy(training, self.test, self.device))
        return seconds

    def entries(self, name: str, data: Data) -> dict[str, Entry]:
        """Time, first epoch and test accuracy of every rung that came through."""
        found: dict[str, Entry] = {}
        for rung in self.trainings:
            first_s, later = self.first_s[rung], self.seconds[rung]
            settings = {
                "samples": len(data.labels),
                "batch_size": BATCH_SIZE,
                "epochs": 1 + len(later),
                "optimizer": "Adam, lr 1e-3",
            }
            device = self.device.type
            of = f"{name}_{rung}"
            found[of] = entry(
                later,
                "s",
                device=device,
                warmups=[first_s],
                seed=SEED,
                loss=self.losses[rung],
                amount=float(len(data.labels)),
                settings=settings,
            )
            found[f"{of}.first_epoch"] = entry([first_s], "s", device=device, seed=SEED)
            accuracies = self.accuracies[rung]
            found[f"{of}.accuracy"] = entry(
                [mean(accuracies[1:])],
                "percent",
                device=device,
                seed=SEED,
                settings={**settings, "accuracy_percent_by_epoch": accuracies},
            )
        return found

    def _put_aside(self, rung: str, problem: Exception) -> None:
        first_line = str(problem).strip().partition("\n")[0]
        self.broken[rung] = f"{rung}: {type(problem).__name__}: {first_line}"


@torch.no_grad()
def accuracy(training: Training, test: Data, device: torch.device) -> float:
    """Share of the test images that are recognised, in percent."""
    guesses = training.scores(test.images.to(device)).argmax(dim=1).cpu()
    return 100 * float((guesses == test.labels).double().mean())


def _data(plan: Plan) -> tuple[Data, Data]:
    """Training and test images.

    Raises:
        MissingDataError: If the full MNIST is not there and can't be downloaded.
    """
    source = "subset" if plan.quick else "full"
    try:
        return tuple(_prepared(load_mnist(plan.data, train, source)) for train in (True, False))  # type: ignore[return-value, arg-type]
    except FileNotFoundError as problem:
        raise MissingDataError(str(problem)) from problem


def _prepared(dataset: Dataset[Sample]) -> Data:
    return Data(dataset, *as_tensors(dataset))


def _can_compile(device: torch.device) -> bool:
    """Whether torch.compile finds what it needs: a C++ compiler for the CPU."""
    return device.type == "cuda" or any(map(shutil.which, ("c++", "g++", "clang++")))


def _no_compiler() -> dict[str, Entry]:
    raise SkipPartError("torch.compile needs a C++ compiler here, and there is none")
