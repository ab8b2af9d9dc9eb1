"""GPT-2 small trained on 1, 2 and 4 GPUs with DistributedDataParallel.

One process for each GPU, each with its own 8 texts: more GPUs make the batch larger, not the work
of one smaller. In every step the processes add up their gradients; what that costs is what the
time of a step grows by.
"""

import json
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch.multiprocessing.spawn import spawn
from torch.nn.parallel import DistributedDataParallel

from benchmarks.cases import Part, Plan, SkipPartError
from lesson_code.lab.data_parallel import process_group
from lesson_code.mission.gpt2 import GPT2_SMALL, GPT2Config, build, next_token_loss, precision
from lesson_code.timing import time_repeatedly
from results.cases import Family, names_of
from results.entry import Entry, entry

COUNTS = (1, 2, 4)
TEXTS_PER_GPU = 8
QUICK_TEXTS = 2
QUICK = GPT2Config(layers=1, width=32, heads=2, vocabulary=64, context=16)
STEPS = 5  # in each timed sample
SEED = 0
FAMILIES = (
    Family(
        "gpus_{count}.cuda",
        f"a training step of GPT-2 small with {TEXTS_PER_GPU} texts on each GPU, "
        "number of GPUs: {count}",
        {"count": COUNTS},
        device="cuda",
        rate="samples_per_s",
        counts="texts",
    ),
)
ENTRIES = names_of(FAMILIES)


def parts(plan: Plan) -> Iterator[Part]:
    """Each number of GPUs in processes of its own; nothing without a GPU."""
    if plan.gpu:
        for count in COUNTS[:2] if plan.quick else COUNTS:
            yield Part(f"gpus_{count}", partial(_measure, plan, plan.gpu, count), expected_s=15)


def _measure(plan: Plan, gpu: torch.device, count: int) -> dict[str, Entry]:
    there = torch.cuda.device_count() if gpu.type == "cuda" else 2
    if there < count:
        raise SkipPartError(f"it needs {count} GPUs and this machine has {there}")
    texts = QUICK_TEXTS if plan.quick else TEXTS_PER_GPU
    warmups, samples, loss = train_together(
        QUICK if plan.quick else GPT2_SMALL, gpu.type, count, texts, plan.repetitions
    )
    settings: dict[str, Any] = {
        "model": "GPT-2 small",
        "regime": "autocast",
        "gpus": count,
        "samples_per_gpu": texts,
        "steps_per_sample": STEPS,
    }
    made = entry(
        samples,
        "s",
        device=gpu.type,
        warmups=warmups,
        loops=STEPS,
        seed=SEED,
        loss=loss,
        amount=float(count * texts),
        settings=settings,
    )
    return {f"gpus_{count}.cuda": made}


def train_together(
    config: GPT2Config, device_type: str, count: int, texts: int, repetitions: int
) -> tuple[list[float], list[float], float]:
    """Train in ``count`` processes at once.

    Args:
        config: The sizes of the model.
        device_type: ``"cuda"``, one GPU for each process, or ``"cpu"``.
        count: Processes.
        texts: Texts that each of them sees in a step.
        repetitions: Timed samples.

    Returns:
        Seconds of the warm-up steps and of a step in each sample, as the first process timed
        them, and its last loss.

    Raises:
        torch.multiprocessing.ProcessRaisedException: With the first error in any of them.
    """
    with tempfile.TemporaryDirectory() as folder:
        arguments = (config, device_type, count, texts, repetitions, folder)
        spawn(_train, arguments, nprocs=count)
        found = json.loads((Path(folder) / "timed.json").read_text(encoding="utf-8"))
        return found["warmups"], found["samples"], found["loss"]


def _train(
    rank: int,
    config: GPT2Config,
    device_type: str,
    count: int,
    texts: int,
    repetitions: int,
    folder: str,
) -> None:
    """One of the processes. They meet in a file, so that no port has to be free."""
    device = torch.device(f"cuda:{rank}" if device_type == "cuda" else device_type)
    if device.type == "cpu":
        torch.set_num_threads(1)
    meeting = f"file://{folder}/meeting"
    with process_group(device, init_method=meeting, rank=rank, world_size=count):
        found = _timed_training(rank, config, device, texts, repetitions)
    if rank == 0:
        (Path(folder) / "timed.json").write_text(json.dumps(found), encoding="utf-8")


def _timed_training(
    rank: int, config: GPT2Config, device: torch.device, texts: int, repetitions: int
) -> dict[str, Any]:
    torch.manual_seed(SEED)  # the same weights everywhere; DistributedDataParallel makes sure
    model = build(config, "autocast", device, "selective")
    together = DistributedDataParallel(
        model, device_ids=[device] if device.index is not None else None
    )
    optimizer = torch.optim.AdamW(together.parameters(), lr=1e-4)
    generator = torch.Generator().manual_seed(SEED + rank)  # other texts for each
    tokens = torch.randint(config.vocabulary, (texts, config.context), generator=generator)
    tokens = tokens.to(device)
    loss = torch.zeros(())

    def step() -> None:
        nonlocal loss
        with precision("autocast", device):
            loss = next_token_loss(together, tokens, tokens)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    def several_steps() -> None:
        for _ in range(STEPS):
            step()

    warmups = time_repeatedly(step, device, repetitions=3, warmup=0)
    samples = time_repeatedly(several_steps, device, repetitions, warmup=1)
    return {
        "warmups": warmups,
        "samples": [seconds / STEPS for seconds in samples],
        "loss": float(loss.item()),
    }
