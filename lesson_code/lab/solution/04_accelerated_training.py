"""Exercise 4: the digit classifier as a script that trains on any device, in any number format.

What it reports, with your machine's numbers in place of the dots:

    epoch 1: loss …, accuracy …, … s

    configuration    s/epoch   samples/s   speed-up   peak memory   accuracy
    cpu fp32           …           …          1.00     no count        …
    cpu bf16           …           …           …       no count        …
    limited by: …

Shapes: B is the batch size.
"""

import argparse
import contextlib
import itertools
import json
import platform
import re
import statistics
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from io import StringIO
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from lesson_code.data import as_tensors, load_mnist
from lesson_code.devices import choose_device, device_name, synchronize
from lesson_code.gpu_training.device_aware_checkpoints import load_scaler_state
from lesson_code.gpu_training.portable_files import (
    load_untrusted,
    refusing_unfit,
    save_atomically,
)
from lesson_code.gpu_training.portable_settings import InputError, Parser, whole_number
from lesson_code.lab.todos import report_open_todos
from lesson_code.models import MNISTClassifier

Batch = tuple[torch.Tensor, torch.Tensor]
DTYPES = {
    "fp32": torch.float32,
    "tf32": torch.float32,  # stored as float32; the GPU rounds inside products
    "bf16": torch.bfloat16,
    "fp16": torch.float16,
}
MEMORY = ("allocated_bytes", "peak_bytes", "reserved_bytes")


@dataclass(frozen=True)
class Options:
    """What the command line says; ``--help`` explains every field."""

    device: str
    precision: str
    batch_size: int
    accum_steps: int
    epochs: int
    limit_batches: int | None
    resume: Path | None
    benchmark: bool
    workers: int
    seed: int
    json: bool


@dataclass
class Run:
    """What learns, where, in which type, and from what.

    Attributes:
        order: Shuffles the training batches; the training loader's own generator.
    """

    device: torch.device
    dtype: torch.dtype
    model: nn.Module
    optimizer: torch.optim.Optimizer
    scaler: torch.amp.GradScaler
    train_loader: DataLoader[Any]
    test_loader: DataLoader[Any]
    order: torch.Generator


@dataclass(frozen=True)
class Config:
    """Something to time.

    Attributes:
        name: What its row is called.
        step: What is timed, without arguments.
        samples: How many samples one call of it works through.
        peak_bytes: The most memory that it holds, if the device keeps count.
    """

    name: str
    step: Callable[[], object]
    samples: int
    peak_bytes: int | None = None


@dataclass(frozen=True)
class Row:
    """What came of timing it; ``speedup`` is the first row's seconds divided by this one's."""

    name: str
    seconds: float
    samples_per_s: float
    speedup: float
    peak_bytes: int | None


def read_options(arguments: list[str] | None) -> Options:
    """The command line as options."""
    parser = Parser(description="Train the digit classifier on any device, in any number format.")
    add = parser.add_argument
    add("--device", choices=("auto", "cpu", "cuda"), default="auto", help="where to compute")
    add("--precision", choices=tuple(DTYPES), default="fp32", help="the type to compute in")
    add("--batch-size", type=whole_number(1), default=64, help="samples in a batch; %(default)s")
    add("--accum-steps", type=whole_number(1), default=1, help="batches for each step; %(default)s")
    add("--epochs", type=whole_number(1), default=2, help="times through the data; %(default)s")
    add("--limit-batches", type=whole_number(1), help="use so many batches of the data only")
    add("--resume", type=Path, metavar="FILE", help="go on from this file, and keep the run there")
    add("--benchmark", action="store_true", help="compare with float32 on the CPU afterwards")
    add("--workers", type=whole_number(0), default=0, help="processes that load; %(default)s")
    add("--seed", type=whole_number(0), default=0, help="fixes every random draw; %(default)s")
    add("--json", action="store_true", help="report in one line of JSON")
    return Options(**vars(parser.parse_args(arguments)))


def build_model() -> nn.Module:
    """The digit classifier, (B, 1, 28, 28) to (B, 10)."""
    return MNISTClassifier()


@cache
def build_data(limit: int | None = None) -> tuple[TensorDataset, TensorDataset]:
    """The digits that ship with the lesson, for training and test; at most ``limit`` of each."""
    with contextlib.redirect_stdout(sys.stderr):  # stdout is for the report
        parts = [as_tensors(load_mnist(train=train, source="subset")) for train in (True, False)]
    training, test = (TensorDataset(images[:limit], labels[:limit]) for images, labels in parts)
    return training, test


def float32_switches(precision: str, device: torch.device) -> dict[str, str]:
    """Set how a GPU may round float32 products, and say what holds now."""
    cuda, cudnn = torch.backends.cuda, torch.backends.cudnn
    places = {"matmul": cuda.matmul, "conv": cudnn.conv, "rnn": cudnn.rnn}  # type: ignore[attr-defined]
    if device.type == "cuda":
        for place in places.values():
            place.fp32_precision = "tf32" if precision == "tf32" else "ieee"
    return {name: place.fp32_precision for name, place in places.items()}


def start_run(options: Options) -> Run:
    """A fresh run: everything seeded, and the model on its device before its optimizer is made.

    The scaler is enabled for fp16 only. The training loader shuffles with a generator of its own,
    seeded too, and pins its batches only if they go to a GPU.

    Raises:
        InputError: For ``--device cuda`` where there is no GPU.
    """
    # BLANK 4.1: set the run up
    #: Choose the device first; "auto" means the GPU where there is one. Then build everything in
    #: the order in which it depends on each other: seed, model, optimizer, scaler, data, loaders.
    #: --limit-batches counts batches, and build_data counts samples.
    #: Look up: InputError, float32_switches above, torch.amp.GradScaler,
    #: torch.utils.data.DataLoader.
    # --8<-- [start:start_run]
    if options.device == "cuda" and not torch.cuda.is_available():
        raise InputError("--device cuda: PyTorch finds no GPU here; leave it out, or say cpu")
    device = choose_device() if options.device == "auto" else torch.device(options.device)
    float32_switches(options.precision, device)
    dtype = DTYPES[options.precision]

    torch.manual_seed(options.seed)
    model = build_model().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler(device.type, enabled=dtype == torch.float16)

    limit = options.limit_batches and options.limit_batches * options.batch_size
    order = torch.Generator().manual_seed(options.seed)
    loader = partial(
        DataLoader,
        batch_size=options.batch_size,
        num_workers=options.workers,
        pin_memory=device.type == "cuda",
    )
    training, test = build_data(limit)
    train_loader = loader(training, shuffle=True, generator=order)
    return Run(device, dtype, model, optimizer, scaler, train_loader, loader(test), order)
    # --8<-- [end:start_run]
    # END


def plain_epoch(
    model: nn.Module,
    loader: Iterable[Batch],
    optimizer: torch.optim.Optimizer,
    loss_fn: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
) -> float:
    """One epoch on the CPU in float32; returns the mean loss of the batches."""
    model.train()
    losses = []
    for x, y in loader:
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return statistics.mean(losses)


def train_one_epoch(
    model: nn.Module,
    loader: Iterable[Batch],
    optimizer: torch.optim.Optimizer,
    scaler: torch.amp.GradScaler,
    loss_fn: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    device: torch.device,
    dtype: torch.dtype,
    accum_steps: int = 1,
) -> float:
    """Train on every batch once; the model is on the device already.

    Args:
        model: What learns.
        loader: Gives batches of inputs and targets, which lie on the CPU.
        optimizer: Holds the model's parameters.
        scaler: Scales losses if it is enabled; works with it disabled as well.
        loss_fn: The mean loss of the samples of a batch.
        device: Where to compute.
        dtype: What autocast computes in; float32 switches it off.
        accum_steps: How many batches share one optimizer step. Every sample of them counts the
            same, and the last group may be smaller.

    Returns:
        The mean loss of a sample.
    """
    # BLANK 4.2: train on any device
    #: Begin with plain_epoch. Move every tensor of a batch, then put forward pass and loss under
    #: autocast, and let the scaler do the rest. A group of batches shares one step: how much does
    #: a loss of 8 samples count beside a loss of 32? Mind what makes the host wait for the device.
    #: Look up: torch.Tensor.to and its non_blocking, torch.autocast, torch.amp.GradScaler.
    # --8<-- [start:train_one_epoch]
    model.train()
    mixed = dtype != torch.float32
    total, seen = torch.zeros((), device=device), 0  # read once, at the end
    batches = iter(loader)
    while group := list(itertools.islice(batches, accum_steps)):  # the last may be smaller
        samples = sum(len(y) for _, y in group)
        optimizer.zero_grad()
        for inputs, targets in group:
            x = inputs.to(device, non_blocking=True)
            y = targets.to(device, non_blocking=True)
            with torch.autocast(device.type, dtype, enabled=mixed):
                loss = loss_fn(model(x), y)
            scaler.scale(loss * (len(y) / samples)).backward()
            total += loss.detach() * len(y)
        scaler.step(optimizer)
        scaler.update()
        seen += samples
    return total.item() / seen
    # --8<-- [end:train_one_epoch]
    # END


def plain_accuracy(model: nn.Module, loader: Iterable[Batch]) -> float:
    """The share of samples that the model gets right, on the CPU in float32."""
    model.eval()
    with torch.no_grad():
        hits = [model(x).argmax(dim=1) == y for x, y in loader]
    return torch.cat(hits).float().mean().item()


def evaluate(
    model: nn.Module, loader: Iterable[Batch], device: torch.device, dtype: torch.dtype
) -> float:
    """The share of samples that the model gets right, from 0 to 1.

    Computes in the type in which it was trained, records no graph, and leaves the model in the
    mode in which it came, and PyTorch's random state as it was.
    """
    # BLANK 4.3: evaluate in the same type
    #: Begin with plain_accuracy. What has to be as it was when you are done, and what is the mean
    #: of two accuracies worth if one batch is smaller?
    #: Look up: torch.nn.Module.train, torch.no_grad, torch.autocast, torch.get_rng_state.
    # --8<-- [start:evaluate]
    was_training = model.training
    random_state = torch.get_rng_state()  # a loader draws from it, shuffled or not
    model.eval()
    right, seen = torch.zeros((), dtype=torch.int64, device=device), 0
    with torch.no_grad(), torch.autocast(device.type, dtype, enabled=dtype != torch.float32):
        for inputs, targets in loader:
            x, y = inputs.to(device, non_blocking=True), targets.to(device, non_blocking=True)
            right += (model(x).argmax(dim=1) == y).sum()
            seen += len(y)
    model.train(was_training)
    torch.set_rng_state(random_state)
    return right.item() / seen
    # --8<-- [end:evaluate]
    # END


def profile_memory(step: Callable[[], object], device: torch.device) -> dict[str, int | None]:
    """Run the step once, and say what the device's memory held.

    Returns:
        The keys of ``MEMORY``: bytes in tensors afterwards, the most during the step, and what
        PyTorch holds from the driver. All None on a device that keeps no count.
    """
    # BLANK 4.4: measure memory
    #: The device that you are given decides, not the machine. The highest mark belongs to whatever
    #: ran since it was last reset, and a GPU may still be at work when the step returns.
    #: Look up: torch.cuda.reset_peak_memory_stats, max_memory_allocated, memory_reserved.
    # --8<-- [start:profile_memory]
    if device.type != "cuda":
        step()
        return dict.fromkeys(MEMORY)
    torch.cuda.reset_peak_memory_stats(device)  # else it tells of whatever ran before
    step()
    synchronize(device)
    return {
        "allocated_bytes": torch.cuda.memory_allocated(device),
        "peak_bytes": torch.cuda.max_memory_allocated(device),
        "reserved_bytes": torch.cuda.memory_reserved(device),
    }
    # --8<-- [end:profile_memory]
    # END


def run_benchmark(
    configs: Sequence[Config],
    sync: Callable[[], None],
    clock: Callable[[], float],
    warmup: int = 1,
    iters: int = 1,
    repeats: int = 5,
) -> list[Row]:
    """Time each step properly, and compare it with the first one.

    Args:
        configs: What to time; their rows come in the same order.
        sync: Waits until the device has finished.
        clock: The time now, in seconds.
        warmup: Calls of each step before it is timed.
        iters: Calls between starting the clock and stopping it.
        repeats: How many rounds of that, each with all steps in turn; the median counts.
    """
    # BLANK 4.5: compare configurations
    #: Four things make a timing true: a warm-up, waiting on both sides of the clock, division by
    #: what ran in between, and repetition. A fifth makes a comparison fair: taking turns, since a
    #: machine may slow down meanwhile. Use the clock that you are given; it may be a made-up one.
    #: Look up: statistics.median.
    # --8<-- [start:run_benchmark]
    for config in configs:
        for _ in range(warmup):
            config.step()
    samples: list[list[float]] = [[] for _ in configs]
    for _ in range(repeats):  # in turn, so that a machine that slows down slows all of them
        for config, found in zip(configs, samples, strict=True):
            sync()
            start = clock()
            for _ in range(iters):
                config.step()
            sync()
            found.append((clock() - start) / iters)
    seconds = [statistics.median(found) for found in samples]
    return [
        Row(config.name, own, config.samples / own, seconds[0] / own, config.peak_bytes)
        for config, own in zip(configs, seconds, strict=True)
    ]
    # --8<-- [end:run_benchmark]
    # END


def limiting_resource(load_s: float, compute_s: float, doubled_s: float) -> str:
    """What limits a run: ``"data"``, ``"launches"`` or ``"computation"``.

    Args:
        load_s: Seconds that the loader takes for one batch.
        compute_s: Seconds of one training step on a batch that lies on the device already.
        doubled_s: The same with a batch twice as large.

    Returns:
        Data, if a batch takes longer to load than to compute. Else launches, if twice the samples
        take less than 1.5 times as long: most of the time is a fixed cost, of launches or of
        kernels that are too small to fill the device. Else computation, which means arithmetic or
        the memory's bandwidth.
    """
    # BLANK 4.6: name what limits the run
    #: Three measurements, two comparisons. Read the docstring as a decision table.
    # --8<-- [start:limiting_resource]
    if load_s > compute_s:
        return "data"
    return "launches" if doubled_s < 1.5 * compute_s else "computation"
    # --8<-- [end:limiting_resource]
    # END


def save_state(
    path: Path,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    scaler: torch.amp.GradScaler,
    epoch: int,
    order: torch.Generator,
) -> None:
    """Save all that the next epoch depends on, after ``epoch`` epochs.

    A call that is interrupted leaves the file as it was before.
    """
    # BLANK 4.7: save a run
    #: What would be different tomorrow if you forgot it? Think of everything that remembers:
    #: weights, moments, the scale, and every generator that draws the next random number.
    #: Look up: state_dict, torch.get_rng_state, torch.Generator.get_state, save_atomically.
    # --8<-- [start:save_state]
    on_gpu = next(model.parameters()).is_cuda
    state = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "scaler_state_dict": scaler.state_dict(),
        "epoch": epoch,
        "order": order.get_state(),
        "random": torch.get_rng_state(),
        "random_cuda": torch.cuda.get_rng_state() if on_gpu else None,
    }
    save_atomically(state, path)  # a temporary name first, then renamed
    # --8<-- [end:save_state]
    # END


def load_state(
    path: Path,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    scaler: torch.amp.GradScaler,
    order: torch.Generator,
) -> int:
    """Bring a fresh run to where the saved one stood, and return how many epochs that were.

    The model is on its device already, which need not be the one that the file comes from. A file
    that holds more than tensors and plain values is refused.
    """
    # BLANK 4.7: resume a run
    #: The mirror image of save_state. The file may come from another device, and a generator's
    #: state must lie on the CPU. So should Adam's step counter: on a GPU each step waits for it.
    #: A scaler that is switched off has no state to give; load_scaler_state takes all that the
    #: file holds, and looks under "scaler_state_dict".
    #: Look up: load_untrusted, load_scaler_state, torch.set_rng_state.
    # --8<-- [start:load_state]
    state = load_untrusted(path, torch.device("cpu"))  # with weights_only=True
    model.load_state_dict(state["model"])  # values move to the parameters' device
    optimizer.load_state_dict(state["optimizer"])  # moments too; Adam's step counter stays
    load_scaler_state(scaler, state)  # only into an enabled one
    order.set_state(state["order"])
    torch.set_rng_state(state["random"])
    if next(model.parameters()).is_cuda and state["random_cuda"] is not None:
        torch.cuda.set_rng_state(state["random_cuda"])
    epoch: int = state["epoch"]
    return epoch
    # --8<-- [end:load_state]
    # END


def train_run(run: Run, options: Options) -> list[dict[str, float]]:
    """Train the epochs that are missing from ``options.epochs``.

    With ``options.resume``, go on from that file if it exists, and save to it after each epoch.

    Returns:
        For each epoch trained now: its number from 1 as "epoch", "loss", "accuracy" on the test
        data, and the "seconds" that training took, without evaluation and saving.
    """
    # BLANK 4.8: train what is missing
    #: Resume if there is something to resume from, then train, evaluate and save, epoch by epoch.
    #: A clock says nothing about a GPU that nobody waited for.
    #: Look up: _epoch below, synchronize, time.perf_counter.
    # --8<-- [start:train_run]
    parts = run.model, run.optimizer, run.scaler
    done = 0
    if options.resume and options.resume.exists():
        done = load_state(options.resume, *parts, run.order)
    history = []
    for epoch in range(done + 1, options.epochs + 1):
        start = time.perf_counter()
        loss = _epoch(run, options)
        synchronize(run.device)
        seconds = time.perf_counter() - start
        accuracy = evaluate(run.model, run.test_loader, run.device, run.dtype)
        if options.resume:
            save_state(options.resume, *parts, epoch, run.order)
        history.append({"epoch": epoch, "loss": loss, "accuracy": accuracy, "seconds": seconds})
    return history
    # --8<-- [end:train_run]
    # END


def _epoch(run: Run, options: Options, loader: Iterable[Batch] | None = None) -> float:
    """Train once on the run's data, or on what is given instead."""
    return train_one_epoch(
        run.model,
        run.train_loader if loader is None else loader,
        run.optimizer,
        run.scaler,
        nn.functional.cross_entropy,
        run.device,
        run.dtype,
        options.accum_steps,
    )


def compare(options: Options) -> list[dict[str, Any]]:
    """Time an epoch of this run, and of plainer ones before it: on the CPU, in float32."""
    device = start_run(options).device
    wanted = [("cpu", "fp32"), (device.type, "fp32"), (device.type, options.precision)]
    kinds = [replace(options, device=d, precision=p) for d, p in dict.fromkeys(wanted)]
    peaks = [_peak_bytes(kind) for kind in kinds]
    runs = [start_run(kind) for kind in kinds]
    configs = []
    for kind, run, peak in zip(kinds, runs, peaks, strict=True):

        def epoch(kind: Options = kind, run: Run = run) -> None:
            float32_switches(kind.precision, run.device)  # another step may have set them
            _epoch(run, kind)

        samples = len(run.train_loader.dataset)  # type: ignore[arg-type]
        configs.append(Config(f"{run.device.type} {kind.precision}", epoch, samples, peak))
    rows = run_benchmark(configs, lambda: synchronize(device), time.perf_counter)
    return [
        asdict(row) | {"accuracy": evaluate(run.model, run.test_loader, run.device, run.dtype)}
        for row, run in zip(rows, runs, strict=True)
    ]


def _peak_bytes(options: Options) -> int | None:
    """Of an epoch of a run of its own, which is gone afterwards."""
    run = start_run(options)
    _epoch(run, options)  # the optimizer makes its state in the first step
    return profile_memory(lambda: _epoch(run, options), run.device)["peak_bytes"]


def find_limit(options: Options) -> str:
    """Time loading and computing apart, and say which of them limits the run."""
    run = start_run(options)
    images, labels = (part.to(run.device) for part in next(iter(run.train_loader)))
    once, twice = [(images, labels)], [(torch.cat([images] * 2), torch.cat([labels] * 2))]
    configs = [
        Config("load", lambda: deque(run.train_loader, maxlen=0), len(run.train_loader)),
        Config("compute", lambda: _epoch(run, options, once), 1),
        Config("doubled", lambda: _epoch(run, options, twice), 1),
    ]
    rows = run_benchmark(configs, lambda: synchronize(run.device), time.perf_counter, warmup=3)
    return limiting_resource(*(1 / row.samples_per_s for row in rows))


def refuse_unfit_file(options: Options) -> None:
    """Try the file of ``--resume`` on a run of its own, before anything is trained.

    Raises:
        InputError: If it is damaged, or belongs to something else.
    """
    if options.resume and options.resume.exists():
        trial = start_run(options)
        with refusing_unfit(options.resume, "--resume"):
            load_state(options.resume, trial.model, trial.optimizer, trial.scaler, trial.order)


def carry_out(options: Options) -> dict[str, Any]:
    """Train, compare if asked to, and say what came of it and under which conditions."""
    refuse_unfit_file(options)
    run = start_run(options)
    switches = float32_switches(options.precision, run.device)
    history = train_run(run, options)
    accuracy = evaluate(run.model, run.test_loader, run.device, run.dtype)
    return {
        "device": run.device.type,
        "device_name": device_name(run.device),
        "precision": options.precision,
        "float32": switches,
        "seed": options.seed,
        "batch_size": options.batch_size,
        "accum_steps": options.accum_steps,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "history": history,
        "accuracy": accuracy,
        "rows": compare(options) if options.benchmark else [],
        "limited_by": find_limit(options) if options.benchmark else None,
    }


def print_lines(report: dict[str, Any]) -> None:
    """The report for a person."""
    for epoch in report["history"]:
        print(
            f"epoch {epoch['epoch']}: loss {epoch['loss']:.3f}, "
            f"accuracy {epoch['accuracy']:.3f}, {epoch['seconds']:.2f} s"
        )
    if not report["history"]:
        print(f"nothing left to train: accuracy {report['accuracy']:.3f}")
    if not report["rows"]:
        return
    print("\nconfiguration    s/epoch   samples/s   speed-up   peak memory   accuracy")
    for row in report["rows"]:
        peak = "no count" if row["peak_bytes"] is None else f"{row['peak_bytes'] / 1e6:.1f} MB"
        print(
            f"{row['name']:13} {row['seconds']:10.3f} {row['samples_per_s']:11,.0f} "
            f"{row['speedup']:10.2f} {peak:>13} {row['accuracy']:10.3f}"
        )
    print(f"limited by: {report['limited_by']}")


def first_run(options: Options) -> None:
    """What works before anything is done: one epoch in float32 on the CPU, whatever is asked."""
    torch.manual_seed(options.seed)
    model = build_model()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    training, test = build_data()
    loss = plain_epoch(
        model, DataLoader(training, 64, shuffle=True), optimizer, nn.functional.cross_entropy
    )
    accuracy = plain_accuracy(model, DataLoader(test, 64))
    print(f"Until then, on the CPU in float32: loss {loss:.3f}, accuracy {accuracy:.3f}")


def main(arguments: list[str] | None = None) -> int:
    """Train as the command line asks.

    Returns:
        0 if all is well, 2 for something that the caller can put right, 130 for Ctrl-C.
    """
    options = read_options(arguments)
    if report_open_todos(__file__):
        first_run(options)
        return 0
    try:
        report = carry_out(options)
    except InputError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        kept = options.resume if options.resume and options.resume.exists() else "no file"
        print(f"stopped: {kept} has the run so far", file=sys.stderr)
        return 130
    if options.json:
        print(json.dumps(report))
    else:
        print_lines(report)
    return 0


def print_report() -> None:
    """A report in bfloat16, with dots for what differs from machine to machine."""
    with contextlib.redirect_stdout(StringIO()) as report:
        main(["--device", "cpu", "--precision", "bf16", "--limit-batches", "20", "--benchmark"])
    training, _, table = report.getvalue().partition("\n\n")
    print(re.sub(r"[\d.]+ s$", "… s", training, flags=re.MULTILINE), end="\n\n")
    table = re.sub(r"(?<= )[\d.,]+(?=\s)", lambda number: f"{'…':>{len(number[0])}}", table)
    print(re.sub(r"(?<=limited by: ).+", "…", table), end="")


if __name__ == "__main__":
    sys.exit(main())
