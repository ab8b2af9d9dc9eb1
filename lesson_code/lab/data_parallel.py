"""Train one model in several processes, each with its own share of every batch.

    torchrun --standalone --nproc-per-node=2 -m lesson_code.lab.data_parallel

With as many GPUs as processes, each process takes one and they talk through NCCL; otherwise all of
them share the CPU and talk through gloo. `--help` lists what can be forgotten, to see what happens.
On Windows it needs WSL: torchrun does not start with PyTorch's builds for Windows.
"""

import argparse
import os
import pickle
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook
from torch.distributed.algorithms.join import Join
from torch.multiprocessing.spawn import start_processes
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from lesson_code.accounting import batches_per_epoch
from lesson_code.data import synthetic_digits
from lesson_code.devices import one_thread
from lesson_code.models import MNISTClassifier

SEED = 0
LOOPBACKS = {"linux": "lo", "darwin": "lo0"}  # elsewhere gloo chooses


@dataclass(frozen=True)
class Options:
    """What is trained, and what is forgotten.

    Attributes:
        epochs: Times through the data.
        samples: Samples in the data set.
        batch: Samples of a batch in each process.
        sampler: Whether each process gets its own share of the data.
        set_epoch: Whether the sampler is told which epoch it is.
        leftover: What becomes of samples that can't be dealt out evenly: the sampler repeats some,
            drops them, or deals them out unevenly, for processes that ``Join``.
        accumulate: Batches of each process to an optimizer step; an epoch is a multiple of it.
        no_sync: Whether gradients are exchanged only before an optimizer step.
        norm: What follows the first layer.
    """

    epochs: int = 2
    samples: int = 1024
    batch: int = 32
    sampler: bool = True
    set_epoch: bool = True
    leftover: Literal["repeat", "drop", "join"] = "repeat"
    accumulate: int = 1
    no_sync: bool = True
    norm: Literal["none", "layer", "batch"] = "none"


@dataclass(frozen=True)
class Report:
    """What one process did.

    Attributes:
        epochs: The numbers of its samples in each epoch, in their order.
        exchanges: Bytes of each exchange of gradients that it took part in.
        parameters: All weights at the end, one after the other, float32, on the CPU.
    """

    epochs: list[list[int]]
    exchanges: list[int]
    parameters: torch.Tensor

    @property
    def checksum(self) -> float:
        """The sum of the weights' sizes."""
        return self.parameters.double().abs().sum().item()


# --8<-- [start:process_group]
@contextmanager
def process_group(device: torch.device, **meeting: Any) -> Iterator[None]:
    """Be one of several processes until the block ends.

    Args:
        device: Where this process computes.
        meeting: How they find each other, if torchrun has not said so.
    """
    if device.type == "cuda":
        torch.cuda.set_device(device)
        dist.init_process_group("nccl", device_id=device, **meeting)
    else:
        if loopback := LOOPBACKS.get(sys.platform):  # they share a machine
            os.environ.setdefault("GLOO_SOCKET_IFNAME", loopback)
        dist.init_process_group("gloo", **meeting)
    yield
    dist.destroy_process_group()  # not after an error: on GPUs it may wait for ever then


# --8<-- [end:process_group]


# --8<-- [start:shares]
def shares(options: Options) -> tuple[DataLoader[Any], DistributedSampler[Any] | None]:
    """Batches of images, labels and the samples' numbers, for this process alone."""
    images, labels, *_ = synthetic_digits(options.samples, 0)
    data = TensorDataset(images, labels, torch.arange(options.samples))
    if not options.sampler:
        return DataLoader(data, options.batch, shuffle=True), None
    deal = EachOnce if options.leftover == "join" else DistributedSampler
    drop = options.leftover == "drop"
    sampler: DistributedSampler[Any] = deal(data, seed=SEED, drop_last=drop)
    return DataLoader(data, options.batch, sampler=sampler), sampler


# --8<-- [end:shares]


# --8<-- [start:each_once]
class EachOnce(DistributedSampler[Any]):
    """Repeats nothing and drops nothing: some ranks may get one sample more."""

    def __iter__(self) -> Iterator[int]:
        generator = torch.Generator().manual_seed(self.seed + self.epoch)
        samples = len(self.dataset)  # type: ignore[arg-type]
        order = torch.randperm(samples, generator=generator)
        return iter(order[self.rank :: self.num_replicas].tolist())


# --8<-- [end:each_once]


def classifier(norm: str) -> nn.Module:
    """The digit classifier, with a norm behind its first layer or without."""
    model = MNISTClassifier()
    if norm != "none":
        kind = {"layer": nn.LayerNorm, "batch": nn.BatchNorm1d}[norm]
        first = nn.Sequential(model.fc1, kind(model.fc1.out_features))
        model.fc1 = first  # type: ignore[assignment]
    return model


# --8<-- [start:train]
def train(options: Options, device: torch.device) -> Report:
    """Train together with the other processes of the group."""
    loader, sampler = shares(options)
    torch.manual_seed(SEED + dist.get_rank())  # other weights in each
    model = DistributedDataParallel(classifier(options.norm).to(device))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    exchanges: list[int] = []
    uneven = options.leftover == "join"
    if not uneven:
        model.register_comm_hook(exchanges, counted_exchange)

    epochs = []
    for epoch in range(options.epochs):
        if sampler is not None and options.set_epoch:
            sampler.set_epoch(epoch)
        seen: list[int] = []
        with Join([model], divide_by_initial_world_size=False) if uneven else nullcontext():
            for index, (images, labels, numbers) in enumerate(loader, start=1):
                step = index % options.accumulate == 0
                with nullcontext() if step or not options.no_sync else model.no_sync():
                    loss = cross_entropy(model(images.to(device)), labels.to(device))
                    (loss / options.accumulate).backward()
                if step:
                    optimizer.step()
                    optimizer.zero_grad()
                seen += numbers.tolist()
        epochs.append(seen)
    parameters = torch.cat([p.detach().flatten() for p in model.parameters()])
    return Report(epochs, exchanges, parameters.cpu())


# --8<-- [end:train]


def counted_exchange(
    exchanges: list[int],
    bucket: dist.GradBucket,  # it asks for this annotation
) -> torch.futures.Future[torch.Tensor]:
    """What the wrapper does by itself with gradients that are ready, and a note of it."""
    exchanges.append(bucket.buffer().nbytes)
    everybody: Any = dist.group.WORLD
    return allreduce_hook(everybody, bucket)


def everybodys(report: Report) -> list[Report]:
    """The reports of all processes, by rank."""
    reports: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(reports, report)
    return reports


def tell(reports: list[Report], samples: int) -> None:
    """Print what a run has to be asked."""
    for epoch, orders in enumerate(zip(*(report.epochs for report in reports), strict=True)):
        every = [number for order in orders for number in order]
        again = epoch > 0 and [r.epochs[epoch - 1] for r in reports] == list(orders)
        print(
            f"epoch {epoch}: {len(every):,} samples taken, "
            f"{len(set(every)):,} of {samples:,} different, "
            f"{'the old order' if again else 'a new order'}"
        )
    for rank, report in enumerate(reports):
        print(f"rank {rank}: checksum {report.checksum:.6f}")
    first, *others = (report.parameters for report in reports)
    equal = all(torch.equal(first, other) for other in others)
    print(f"weights of all ranks equal, bit for bit: {'yes' if equal else 'NO'}")


def main(arguments: list[str] | None = None) -> int:
    """Be one of the processes that torchrun starts."""
    parser = argparse.ArgumentParser(prog="lesson_code.lab.data_parallel")
    standard = Options()
    for name in ("epochs", "samples", "batch", "accumulate"):
        parser.add_argument(f"--{name}", type=int, default=getattr(standard, name))
    parser.add_argument("--leftover", choices=("repeat", "drop", "join"), default="repeat")
    parser.add_argument("--norm", choices=("none", "layer", "batch"), default="none")
    for name in ("sampler", "set-epoch"):
        action = argparse.BooleanOptionalAction
        parser.add_argument(f"--{name}", action=action, default=True, help="--no-… forgets it")
    parser.add_argument(
        "--sync-always", dest="no_sync", action="store_false", help="exchange after every batch"
    )
    parser.add_argument("--save", type=Path, help="file for the weights")
    parser.add_argument("--compare", type=Path, help="such a file, of another run")
    chosen = vars(parser.parse_args(arguments))
    save, compare = chosen.pop("save"), chosen.pop("compare")
    options = Options(**chosen)
    if "RANK" not in os.environ:
        command = "torchrun --standalone --nproc-per-node=2 -m lesson_code.lab.data_parallel"
        print(f"error: start it with `{command}`", file=sys.stderr)
        return 2
    processes = int(os.environ["WORLD_SIZE"])
    batches = batches_per_epoch(options.samples, options.batch * processes)
    if batches % options.accumulate:
        print(f"error: {batches} batches are no multiple of --accumulate", file=sys.stderr)
        return 2
    device = own_device(int(os.environ["LOCAL_RANK"]), int(os.environ["LOCAL_WORLD_SIZE"]))
    with process_group(device):
        reports = everybodys(train(options, device))
        if dist.get_rank() == 0:
            print(
                f"{processes} process{'es' * (processes > 1)}, {dist.get_backend()}, {device.type}"
            )
            tell(reports, options.samples)
            if compare:
                apart = (reports[0].parameters - torch.load(compare)).abs().max().item()
                print(f"largest difference to {compare}: {apart:.1e}")
            if save:
                torch.save(reports[0].parameters, save)
    return 0


def own_device(rank: int, processes: int) -> torch.device:
    """A GPU for each process, or the CPU for all of them."""
    alone = torch.cuda.device_count() >= processes
    return torch.device("cuda", rank) if alone else torch.device("cpu")


def in_processes(count: int, options: Options) -> list[Report]:
    """The same on the CPU without torchrun, in processes forked from this one.

    Call it before any backward pass and before anything asks CUDA, its count of GPUs included: a
    fork has neither autograd's threads nor a driver that works, and its own backward pass fails.
    Nor may this process have worked with several threads: a fork waits for them for ever.
    """
    import torch._dynamo  # noqa: F401  # the wrapper's constructor does, in each process: seconds

    with TemporaryDirectory() as folder:
        start_processes(_forked, (count, options, folder), nprocs=count, start_method="fork")
        reports: list[Report] = pickle.loads((Path(folder) / "reports").read_bytes())
        return reports


def _forked(rank: int, count: int, options: Options, folder: str) -> None:
    meeting = f"file://{folder}/meeting"
    with process_group(torch.device("cpu"), init_method=meeting, rank=rank, world_size=count):
        reports = everybodys(train(options, torch.device("cpu")))
    if rank == 0:
        (Path(folder) / "reports").write_bytes(pickle.dumps(reports))


def distance(one: Report, other: Report) -> float:
    """The largest difference of a weight."""
    return (one.parameters - other.parameters).abs().max().item()


@one_thread()
def print_two_processes() -> None:
    """Two processes, then one with batches of twice the size."""
    options = Options()
    together = in_processes(2, options)
    [alone] = in_processes(1, replace(options, batch=2 * options.batch))
    tell(together, options.samples)
    near = "yes" if distance(together[0], alone) < 1e-6 else "NO"
    print(f"within 0.000001 of one process with batches of 64: {near}")


SMALL = Options(samples=256, batch=8)


@one_thread()
def print_forgotten() -> None:
    """What a run looks like after each of the two mistakes."""
    mistakes = {
        "nothing": SMALL,
        "set_epoch": replace(SMALL, set_epoch=False),
        "the sampler": replace(SMALL, sampler=False),
    }
    [alone] = in_processes(1, replace(SMALL, batch=2 * SMALL.batch))
    for forgotten, options in mistakes.items():
        print(f"forgotten: {forgotten}")
        reports = in_processes(2, options)
        tell(reports, options.samples)
        print(f"distance to one process: {distance(reports[0], alone):.4f}\n")


@one_thread()
def print_norms() -> None:
    """Two processes and one, with a norm behind the first layer."""
    print("norm    distance to one process")
    for norm in ("none", "layer", "batch"):
        options = replace(SMALL, norm=norm)
        [alone] = in_processes(1, replace(options, batch=2 * SMALL.batch))
        [report, _] = in_processes(2, options)
        print(f"{norm:5}   {distance(report, alone):>23.3f}")


@one_thread()
def print_leftovers() -> None:
    """One sample more than two processes can share evenly, in three ways."""
    options = replace(SMALL, samples=SMALL.samples + 1)
    [alone] = in_processes(1, replace(options, batch=2 * SMALL.batch))
    print("leftover   batches of each   samples taken   distance to one process")
    for leftover in ("repeat", "drop", "join"):
        reports = in_processes(2, replace(options, leftover=leftover))
        taken = [len(report.epochs[0]) for report in reports]
        batches = " and ".join(str(batches_per_epoch(n, SMALL.batch)) for n in taken)
        apart = distance(reports[0], alone)
        print(f"{leftover:10} {batches:>15}   {sum(taken):>13}   {apart:>23.4f}")


@one_thread()
def print_exchanges() -> None:
    """Four batches to an optimizer step, with an exchange after each of them or one for all."""
    accumulate = replace(SMALL, accumulate=4)
    last, [each, *_] = (
        in_processes(2, replace(accumulate, no_sync=no_sync)) for no_sync in (True, False)
    )
    print("no_sync   exchanges   bytes of gradients")
    for used, report in (("no", each), ("yes", last[0])):
        print(f"{used:7}   {len(report.exchanges):>9}   {sum(report.exchanges):>18,}")
    near = "yes" if distance(last[0], each) < 1e-6 else "NO"
    print(f"weights within 0.000001 of each other: {near}")


if __name__ == "__main__":
    sys.exit(main())
