"""Several processes train as one, and what happens when something is forgotten."""

import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed import constants
from torch.nn.parallel import DistributedDataParallel

from lesson_code.accounting import linear_layers_bytes, ring_all_reduce_bytes
from lesson_code.lab import data_parallel
from lesson_code.lab.data_parallel import Options, Report, distance, tell
from tests.building import REPOSITORY
from tests.warm import Parent

CPU = torch.device("cpu")
TORCHRUN = (sys.executable, "-m", "torch.distributed.run", "--standalone")
ONE = replace(Options(), batch=64)
SMALL = Options(samples=65, batch=8, epochs=2)
# Forks, so it must not have used PyTorch's threads: a process of its own.
# In `gradient` one is the input: 1 in one process and 3 in the other, or 2 in both once exchanged.
# `Shared` does by hand what SyncBatchNorm does on GPUs, with a backward pass that adds up as well.
FORGETTING = """
import json, tempfile, warnings
from contextlib import nullcontext
import torch
import torch.distributed as dist
from dataclasses import replace
from torch.multiprocessing.spawn import start_processes
from torch.nn.parallel import DistributedDataParallel
from unittest.mock import patch
from lesson_code.lab import data_parallel
from lesson_code.lab.data_parallel import Options, distance, in_processes, process_group
warnings.simplefilter("ignore")
torch.set_num_threads(1)

def gradient(around_forward, around_backward):
    model = DistributedDataParallel(torch.nn.Linear(1, 1, bias=False))
    with model.no_sync() if around_forward else nullcontext():
        loss = model(torch.full((1, 1), 1.0 + 2 * dist.get_rank())).sum()
    with model.no_sync() if around_backward else nullcontext():
        loss.backward()
    return model.module.weight.grad.item()

def without_sync(rank, folder):
    meeting = f"file://{folder}/meeting"
    with process_group(torch.device("cpu"), init_method=meeting, rank=rank, world_size=2):
        mine = [gradient(False, False), gradient(False, True), gradient(True, True)]
        everybodys = [None, None]
        dist.all_gather_object(everybodys, mine)
        if rank == 0:
            with open(f"{folder}/gradients", "w") as file:
                json.dump(everybodys, file)

class Total(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        total = x.clone()
        dist.all_reduce(total)
        return total

    backward = forward

class Shared(torch.nn.BatchNorm1d):
    def forward(self, x):
        means = torch.stack([x.mean(0), x.square().mean(0)])
        mean, square = Total.apply(means) / dist.get_world_size()
        scale = (square - mean.square() + self.eps).rsqrt()
        return (x - mean) * scale * self.weight + self.bias

def apart(options):
    [alone] = in_processes(1, replace(options, batch=16))
    return distance(in_processes(2, options)[0], alone)

small = Options(samples=65, batch=8)
[alone] = in_processes(1, replace(small, batch=16))
found = {}
for name, changed in {
    "nothing": {},
    "set_epoch": {"set_epoch": False},
    "sampler": {"sampler": False},
    "join": {"leftover": "join"},
}.items():
    reports = in_processes(2, replace(small, **changed))
    found[name] = {
        "epochs": [report.epochs for report in reports],
        "equal": torch.equal(reports[0].parameters, reports[1].parameters),
        "distance": distance(reports[0], alone),
    }
with tempfile.TemporaryDirectory() as folder:
    start_processes(without_sync, (folder,), nprocs=2, start_method="fork")
    found["gradients"] = json.load(open(f"{folder}/gradients"))
even = replace(small, samples=64)
found["norms"] = {norm: apart(replace(even, norm=norm)) for norm in ("none", "layer", "batch")}
with patch.object(torch.nn, "BatchNorm1d", Shared):
    found["norms"]["shared"] = apart(replace(even, norm="batch"))

digits, classifier = data_parallel.synthetic_digits, data_parallel.classifier
def double_digits(*counts):
    return [t.double() if t.is_floating_point() else t for t in digits(*counts)]

def adam(parameters, lr):
    return torch.optim.Adam(parameters, lr=0.001)

with patch.object(torch.optim, "SGD", adam):
    found["adam"] = {"float32": apart(even)}
    with (
        patch.object(data_parallel, "synthetic_digits", double_digits),
        patch.object(data_parallel, "classifier", lambda norm: classifier(norm).double()),
    ):
        found["adam"]["float64"] = apart(even)
print(json.dumps(found))
"""


def torchrun(warm: Parent, processes: int, *options: str, **environment: str) -> list[str]:
    """What the script prints when torchrun starts it; torchrun itself is a fork."""
    command = [*TORCHRUN, f"--nproc-per-node={processes}"]
    command += ["-m", "lesson_code.lab.data_parallel", *options]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **environment}
    ran = warm.run(command, cwd=REPOSITORY, env=environment)
    assert 0 == ran.returncode, ran.stderr
    return ran.stdout.splitlines()


def alone(tmp_path: Path, options: Options) -> Report:
    """The training in a group of one, here."""
    meeting = f"file://{tmp_path}/meeting"
    with data_parallel.process_group(CPU, init_method=meeting, rank=0, world_size=1):
        [report] = data_parallel.everybodys(data_parallel.train(options, CPU))
    return report


@pytest.fixture(scope="module")
def forgetting(warm: Parent) -> dict[str, Any]:
    """What two processes did after each mistake."""
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    ran = warm.run([sys.executable, "-c", FORGETTING], cwd=REPOSITORY, env=environment)
    assert 0 == ran.returncode, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def test_two_processes_give_the_weights_of_one(
    tmp_path: Path, one_thread: None, warm: Parent
) -> None:
    """Started by torchrun, both ranks end bit-equal, and one process with both batches is near."""
    one, two = tmp_path / "one.pt", tmp_path / "two.pt"
    single = alone(tmp_path, ONE)
    torch.save(single.parameters, one)

    said = torchrun(warm, 2, "--save", str(two), "--compare", str(one), CUDA_VISIBLE_DEVICES="")

    assert "2 processes, gloo, cpu" == said[0]
    assert "weights of all ranks equal, bit for bit: yes" == said[-2]
    assert float(said[-1].rpartition(" ")[2]) <= 1e-6
    checksums = {line.partition("checksum ")[2] for line in said if line.startswith("rank ")}
    assert 1 == len(checksums)
    assert (torch.load(two) - single.parameters).abs().max() <= 1e-6


def test_two_forked_processes_give_the_weights_of_one(forgetting: dict[str, Any]) -> None:
    """With one sample left over, two processes are right only where nothing is repeated."""
    assert forgetting["nothing"]["equal"]
    assert forgetting["nothing"]["distance"] > 1e-3
    assert forgetting["join"]["equal"]
    assert forgetting["join"]["distance"] <= 1e-6
    assert [[33, 33], [32, 32]] == [
        [len(epoch) for epoch in epochs] for epochs in forgetting["join"]["epochs"]
    ]


def test_two_processes_do_as_one_where_each_sample_is_looked_at_alone(
    forgetting: dict[str, Any],
) -> None:
    """A layer norm changes nothing; a batch norm does, unless its mean is that of all ranks."""
    norms = forgetting["norms"]

    assert max(norms["none"], norms["layer"], norms["shared"]) <= 1e-6
    assert norms["batch"] > 1e-3


def test_adam_makes_more_of_rounding_and_float64_less(forgetting: dict[str, Any]) -> None:
    """A right run with Adam is further than the limit for SGD from one process, in float32."""
    assert 1e-6 < forgetting["adam"]["float32"] < 1e-3
    assert forgetting["adam"]["float64"] < 1e-12


def test_an_unused_parameter_stops_the_next_step_unless_it_is_looked_for(tmp_path: Path) -> None:
    """Its gradient never comes, so the exchange of the first step is never complete."""

    class Skips(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.used, self.skipped = nn.Linear(2, 1), nn.Linear(2, 1)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.used(x)

    meeting, x = f"file://{tmp_path}/meeting", torch.ones(1, 2)
    with data_parallel.process_group(CPU, init_method=meeting, rank=0, world_size=1):
        looks = DistributedDataParallel(Skips(), find_unused_parameters=True)
        for _ in range(2):
            looks(x).sum().backward()
        model = DistributedDataParallel(Skips())
        model(x).sum().backward()
        with pytest.raises(RuntimeError, match="Expected to have finished reduction in the prior"):
            model(x)


def test_a_group_waits_for_half_an_hour_with_gloo_and_for_ten_minutes_with_nccl() -> None:
    """PyTorch's defaults, if nobody says another timeout."""
    assert 30 * 60 == constants.default_pg_timeout.total_seconds()
    if nccl := constants.default_pg_nccl_timeout:  # a build for CPUs has none
        assert 10 * 60 == nccl.total_seconds()


def test_sync_batch_norm_takes_the_place_of_batch_norm_and_refuses_the_cpu(tmp_path: Path) -> None:
    """It is for GPUs alone, so what shares a mean on the CPU has to be written by hand."""
    model = nn.SyncBatchNorm.convert_sync_batchnorm(data_parallel.classifier("batch"))
    meeting = f"file://{tmp_path}/meeting"

    with data_parallel.process_group(CPU, init_method=meeting, rank=0, world_size=1):
        assert [nn.SyncBatchNorm] == [
            type(m) for m in model.modules() if "Norm" in type(m).__name__
        ]
        with pytest.raises(ValueError, match="SyncBatchNorm expected input tensor to be on GPU"):
            model(torch.ones(2, 1, 28, 28))


def test_without_set_epoch_every_epoch_has_the_same_order(forgetting: dict[str, Any]) -> None:
    """The samples are shared out all the same, and the ranks agree: only the order tells."""
    forgotten = forgetting["set_epoch"]

    assert forgotten["equal"]
    assert all(first == second for first, second in forgotten["epochs"])
    assert all(first != second for first, second in forgetting["nothing"]["epochs"])
    assert forgotten["distance"] > 1e-3


def test_without_a_sampler_every_rank_takes_all_samples(forgetting: dict[str, Any]) -> None:
    """Twice the work for each epoch, and the ranks still agree."""
    forgotten = forgetting["sampler"]

    assert forgotten["equal"]
    assert all(
        list(range(65)) == sorted(epoch) for epochs in forgotten["epochs"] for epoch in epochs
    )
    assert forgotten["distance"] > 1e-2


def test_no_sync_exchanges_once_for_each_step(tmp_path: Path, one_thread: None) -> None:
    """Accumulating four batches takes a quarter of the exchanges and gives the same weights."""
    accumulate = replace(SMALL, samples=64, accumulate=4)
    often = alone(tmp_path, replace(accumulate, no_sync=False))

    seldom = alone(tmp_path, accumulate)

    gradient_bytes = linear_layers_bytes([784, 256, 128, 10])
    assert [gradient_bytes] * 4 == seldom.exchanges
    assert [gradient_bytes] * 16 == often.exchanges
    assert distance(often, seldom) <= 1e-6


def test_no_sync_around_backward_alone_does_nothing(forgetting: dict[str, Any]) -> None:
    """The forward pass decides whether gradients are exchanged; it has to be inside as well."""
    assert [[2, 2, 1], [2, 2, 3]] == forgetting["gradients"]


def test_the_wrapper_renames_the_weights_and_the_model_in_it_does_not(tmp_path: Path) -> None:
    """The plain model refuses the wrapper's names, and takes those of the model inside."""
    plain = data_parallel.classifier("batch")
    file = tmp_path / "weights.pt"
    meeting = f"file://{tmp_path}/meeting"
    with data_parallel.process_group(CPU, init_method=meeting, rank=0, world_size=1):
        wrapped = DistributedDataParallel(data_parallel.classifier("batch"))

        assert [f"module.{name}" for name in plain.state_dict()] == list(wrapped.state_dict())
        with pytest.raises(RuntimeError, match=r'(?s)Missing key.*Unexpected key.*"module\.'):
            plain.load_state_dict(wrapped.state_dict())

        torch.save(wrapped.module.state_dict(), file)
    plain.load_state_dict(torch.load(file, map_location=CPU))

    for name, tensor in wrapped.module.state_dict().items():
        assert torch.equal(tensor, plain.state_dict()[name])


@pytest.mark.parametrize("leftover", ["repeat", "drop", "join"])
def test_a_group_of_one_has_nothing_left_over(
    tmp_path: Path, one_thread: None, leftover: Any
) -> None:
    """Alone, every way to share takes each sample once."""
    report = alone(tmp_path, replace(SMALL, epochs=1, leftover=leftover))

    assert list(range(65)) == sorted(report.epochs[0])


def test_a_group_of_one_without_a_sampler_shuffles(tmp_path: Path, one_thread: None) -> None:
    """The loader's own order is a new one in each epoch."""
    first, second = alone(tmp_path, replace(SMALL, sampler=False)).epochs

    assert list(range(65)) == sorted(first) == sorted(second)
    assert first != second


def test_the_wrapper_no_longer_takes_broadcast_buffers_in_silence() -> None:
    """From PyTorch 2.13 on, its documentation says which argument took its place."""
    new = "forward_sync_buffers" in DistributedDataParallel.__init__.__annotations__

    assert new == (torch.__version__ >= "2.13")


def test_dataparallel_itself_recommends_the_other_one() -> None:
    """Its own documentation sends the reader on, even for one machine."""
    said = " ".join(str(torch.nn.DataParallel.__doc__).split())

    assert "recommended to use :class:`~torch.nn.parallel.DistributedDataParallel`" in said
    assert "even if there is only a single node" in said


def test_unequal_ranks_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    """A difference in one bit is said aloud, and so is a sample that was taken twice."""
    weights = torch.ones(3)
    other = weights.clone()
    other[1] = torch.nextafter(other[1], torch.tensor(2.0))

    tell([Report([[0, 1]], [], weights), Report([[1, 2]], [], other)], samples=4)

    said = capsys.readouterr().out.splitlines()
    assert "epoch 0: 4 samples taken, 3 of 4 different, a new order" == said[0]
    assert "weights of all ranks equal, bit for bit: NO" == said[-1]


@pytest.mark.parametrize(("gpus", "device"), [(2, "cuda:1"), (1, "cpu"), (0, "cpu")])
def test_each_process_has_a_gpu_of_its_own_or_none_has(
    monkeypatch: pytest.MonkeyPatch, gpus: int, device: str
) -> None:
    """Two processes on one GPU would not measure two GPUs, and NCCL refuses them."""
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)

    assert torch.device(device) == data_parallel.own_device(1, processes=2)


def test_gpus_talk_through_nccl(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process takes its GPU first, and then meets the others."""
    said: list[Any] = []
    monkeypatch.setattr(torch.cuda, "set_device", said.append)
    monkeypatch.setattr(dist, "init_process_group", lambda *a, **k: said.append((a, k)))
    monkeypatch.setattr(dist, "destroy_process_group", lambda: said.append("left"))
    gpu = torch.device("cuda", 1)

    with data_parallel.process_group(gpu):
        said.append("inside")

    assert [gpu, (("nccl",), {"device_id": gpu}), "inside", "left"] == said


@pytest.mark.parametrize(
    ("system", "interface"), [("linux", "lo"), ("darwin", "lo0"), ("win32", None)]
)
def test_on_the_cpu_they_meet_on_the_loopback_where_its_name_is_known(
    monkeypatch: pytest.MonkeyPatch, system: str, interface: str | None
) -> None:
    """A name that a system does not have ends gloo, so none is set where it is not known."""
    environment: dict[str, str] = {}
    monkeypatch.setattr(os, "environ", environment)
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(dist, "init_process_group", lambda *_: None)
    monkeypatch.setattr(dist, "destroy_process_group", lambda: None)

    with data_parallel.process_group(CPU):
        assert interface == environment.get("GLOO_SOCKET_IFNAME")


def test_the_group_is_left_only_if_all_went_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """With NCCL, leaving waits for exchanges that will never end, and hides the error."""
    left = []
    monkeypatch.setattr(dist, "init_process_group", lambda *_: None)
    monkeypatch.setattr(dist, "destroy_process_group", lambda: left.append("left"))

    with pytest.raises(ZeroDivisionError), data_parallel.process_group(CPU):
        raise ZeroDivisionError
    assert [] == left

    with data_parallel.process_group(CPU):
        pass
    assert ["left"] == left


FAILING = """
import sys
from unittest.mock import patch
from lesson_code.lab import data_parallel

def train(options, device):
    if data_parallel.dist.get_rank() == 1:
        raise ValueError("rank 1 has run out of memory")
    return []

with patch.object(data_parallel, "train", train):
    sys.exit(data_parallel.main([]))
"""


def test_torchrun_notices_a_process_that_ends_with_an_error(tmp_path: Path, warm: Parent) -> None:
    """Rank 0 waits in an exchange; rank 1 prints its error and ends, and then all do."""
    script = tmp_path / "failing.py"
    script.write_text(FAILING, encoding="utf-8")
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    environment["PYTHONPATH"] = str(REPOSITORY)

    ran = warm.run([*TORCHRUN, "--nproc-per-node=2", str(script)], REPOSITORY, environment)

    assert 0 != ran.returncode
    assert "ValueError: rank 1 has run out of memory" in ran.stderr


def test_a_chosen_interface_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has named an interface keeps it."""
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "eth0")
    monkeypatch.setattr(dist, "init_process_group", lambda *_: None)
    monkeypatch.setattr(dist, "destroy_process_group", lambda: None)

    with data_parallel.process_group(CPU):
        assert "eth0" == os.environ["GLOO_SOCKET_IFNAME"]


@pytest.mark.parametrize(
    ("processes", "chosen", "threads"), [(1, None, "None"), (2, None, "1"), (2, "3", "3")]
)
def test_torchrun_gives_each_of_several_processes_one_thread_unless_told(
    warm: Parent, processes: int, chosen: str | None, threads: str
) -> None:
    """It says so, and leaves alone a process that has no other, and a number that was chosen."""
    environment = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"}
    if chosen:
        environment["OMP_NUM_THREADS"] = chosen
    program = "import os; os.write(1, f\"{os.environ.get('OMP_NUM_THREADS')} \".encode())"
    command = [*TORCHRUN, f"--nproc-per-node={processes}", "--no-python", sys.executable]

    ran = warm.run([*command, "-c", program], cwd=REPOSITORY, env=environment)

    assert 0 == ran.returncode, ran.stderr
    assert [threads] * processes == ran.stdout.split()
    assert ("OMP_NUM_THREADS" in ran.stderr) == (threads == "1")


def test_without_torchrun_the_command_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Called by hand, it ends with a sentence."""
    monkeypatch.delenv("RANK", raising=False)

    assert 2 == data_parallel.main([])
    assert "torchrun --standalone --nproc-per-node=2" in capsys.readouterr().err


def test_leftover_batches_are_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """16 batches are no multiple of 3, and their gradients would leak into the next epoch."""
    for name in ("RANK", "LOCAL_RANK"):
        monkeypatch.setenv(name, "0")
    for name in ("WORLD_SIZE", "LOCAL_WORLD_SIZE"):
        monkeypatch.setenv(name, "2")

    assert 2 == data_parallel.main(["--accumulate", "3"])
    assert "16 batches are no multiple" in capsys.readouterr().err


def test_a_ring_sends_nearly_twice_the_gradients() -> None:
    """Nothing alone, once the gradients between two, and less than twice among many."""
    sent = [ring_all_reduce_bytes(1000, processes) for processes in (1, 2, 4, 1000)]

    assert [0, 1000, 1500, 1998] == sent
    with pytest.raises(ValueError, match="at least one process, got 0"):
        ring_all_reduce_bytes(1000, 0)


def test_a_ring_step_by_step_sends_what_the_formula_says() -> None:
    """Four neighbours pass parts on until all have every sum; the parts are counted."""
    count = 4
    parts = torch.arange(count * count, dtype=torch.float32).reshape(count, count)
    totals, sent = parts.sum(0), 0
    for step in range(2 * (count - 1)):
        before = parts.clone()
        for sender in range(count):
            part, receiver = (sender - step) % count, (sender + 1) % count
            received = before[sender, part]
            adding = step < count - 1
            parts[receiver, part] = before[receiver, part] + received if adding else received
            sent += sender == 0

    assert torch.equal(totals.expand(count, count), parts)
    assert sent == ring_all_reduce_bytes(count, count)


@pytest.mark.gpu
def test_one_gpu_trains_through_nccl(warm: Parent) -> None:
    """The same command takes the GPU where there is one for each process."""
    said = torchrun(warm, 1, "--batch", "64")

    assert "1 process, nccl, cuda" == said[0]
    assert said[-1].endswith("yes")
