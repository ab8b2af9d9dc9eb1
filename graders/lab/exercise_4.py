"""Exercise 4: a training script, part by part; nothing here needs a GPU unless it says so.

Batches that refuse to be used where they are show what was moved, a probe shows in which format a
model computed, and a device with a clock turned by hand shows what a timing is worth.
"""

import contextlib
import copy
import importlib
import io
import itertools
import json
import math
import os
import random
import tempfile
import time
import timeit
from collections.abc import Iterator, Sequence
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.nn.utils import parameters_to_vector
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.data import DataLoader, SequentialSampler, TensorDataset

from graders.answers import place_in
from graders.checks import WrongAnswerError, advise, require, todo
from graders.lab.exercise_1 import pretended_cuda
from graders.lab.exercise_2 import (
    Probe,
    is_for_the_cpu,
    require_backward_outside,
    require_loss_inside,
)
from graders.lab.exercise_3 import LAYOUTS, accumulation_error
from lesson_code.benchmarks.how_we_measure import Clockwork
from lesson_code.gpu_training.device_aware_checkpoints import cuda_tags
from lesson_code.gpu_training.portable_settings import InputError
from lesson_code.lab.tf32 import keeping_switches
from lesson_code.lab.todos import open_todos
from lesson_code.lab.unplaced import Batch, NotPlacedError, UnplacedLoader
from lesson_code.saved_tensors import SavedBytes

# Judges a part of an answer against the same part done right. Its name begins with a digit.
SOLUTION: Any = importlib.import_module("lesson_code.lab.solution.04_accelerated_training")

CPU, SECOND_GPU = torch.device("cpu"), torch.device("cuda", 1)
FLOAT32, BFLOAT16, FLOAT16 = torch.float32, torch.bfloat16, torch.float16
SCALE = 1024.0
USUAL_SPEEDUP = 3.0  # of a GPU; a small one beside a large CPU gains less
LAUNCH_S = 0.00002
CLOCKS = ("time", "monotonic", "perf_counter")


def _off() -> torch.amp.GradScaler:
    return torch.amp.GradScaler("cpu", enabled=False)


def _batches(sizes: Sequence[int]) -> list[Batch]:
    """Batches for a ``Probe``: eight features, four classes."""
    generator = torch.Generator().manual_seed(3)
    return [
        (torch.randn(n, 8, generator=generator), torch.randint(4, (n,), generator=generator))
        for n in sizes
    ]


def _probe() -> Probe:
    torch.manual_seed(1)
    return Probe()


def _sgd(model: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.SGD(model.parameters(), lr=0.5)


def _row(model: nn.Module) -> torch.Tensor:
    return parameters_to_vector(model.parameters()).detach().clone()


def _name(dtype: torch.dtype | None) -> str:
    return "nothing" if dtype is None else str(dtype).removeprefix("torch.")


@todo("4.1", "set the run up")
def sets_up_what_was_asked_for(answer: Any) -> None:
    """Types, scaler, sizes and loaders follow the options."""
    for precision, dtype in SOLUTION.DTYPES.items():
        run = _start(answer, "--precision", precision, "--batch-size", "32")
        require(
            run.dtype == dtype and run.device == CPU,
            f"a run in {_name(dtype)} on the CPU for --precision {precision} --device cpu",
            f"{_name(run.dtype)} on {run.device}",
            "DTYPES has the type of every precision",
        )
        stored = {p.dtype for p in run.model.parameters()}
        require(
            stored == {FLOAT32},
            f"weights that are stored in float32 for --precision {precision}",
            f"weights in {', '.join(map(_name, stored))}",
            "precision is what the run computes in; updates need weights of full precision",
        )
        require(
            run.scaler.is_enabled() == (dtype == FLOAT16),
            f"a scaler that is {'on' if dtype == FLOAT16 else 'off'} for {precision}",
            "one that is on" if run.scaler.is_enabled() else "one that is off",
            "float16 alone is short of range; and the scaler wants to know the device's type",
        )
        require(
            not run.scaler.is_enabled() or is_for_the_cpu(run.scaler),
            "a scaler for the CPU in a run on the CPU",
            "one for something else",
            "the scaler wants to know the type of the device, which is a word",
        )
    sizes = [len(y) for _, y in run.train_loader]
    require(
        sizes == [32, 32, 32],
        "three training batches of 32 for --batch-size 32 --limit-batches 3",
        f"batches of {sizes}" if len(sizes) < 9 else f"{len(sizes)} batches",
        "the data are limited in samples, the option counts batches",
    )
    for loader, data, what in zip(
        (run.train_loader, run.test_loader),
        SOLUTION.build_data(96),
        ("training", "test"),
        strict=True,
    ):
        images = torch.stack([loader.dataset[i][0] for i in range(10)])
        require(
            torch.equal(images, data.tensors[0][:10]),
            f"the {what} data in the loader of the {what} data",
            "other images",
            "build_data returns the training data and then the test data",
        )
    whole = _start(answer, "--batch-size", "64", "--workers", "1", limit="94")
    dealt, samples = 64 * len(whole.train_loader), len(whole.train_loader.dataset)
    require(
        dealt >= samples,
        f"training batches that hold all {samples:,} samples",
        f"batches that hold {dealt:,}",
        "the last batch may be smaller; keep it",
    )
    unlimited = answer.start_run(answer.read_options(["--device", "cpu"]))
    dealt, samples = len(unlimited.train_loader.dataset), len(SOLUTION.build_data()[0])
    require(
        dealt == samples,
        f"all {samples:,} samples for training without --limit-batches",
        f"{dealt:,}",
        "without the option it is None",
    )
    require(
        whole.train_loader.num_workers == 1,
        "one worker for the training data with --workers 1",
        whole.train_loader.num_workers,
        "a loader takes the number of its workers",
    )
    require(
        not run.train_loader.pin_memory and not run.test_loader.pin_memory,
        "loaders that do not pin memory for a run on the CPU",
        "pin_memory=True",
        "pinned memory speeds up copies to a GPU and nothing else",
    )
    inside = {id(p) for group in run.optimizer.param_groups for p in group["params"]}
    require(
        inside == {id(p) for p in run.model.parameters()},
        "an optimizer that holds the parameters of the run's model",
        "one that holds others",
        "make the optimizer from the model that you return, after it was moved",
    )


@todo("4.1", "set the run up")
def can_be_repeated(answer: Any) -> None:
    """The seed fixes the weights, and the run's generator fixes the order of the batches."""
    runs = [_start(answer, "--seed", "7") for _ in range(2)]
    other = _start(answer, "--seed", "8")
    rows = [_row(run.model) for run in (*runs, other)]
    require(
        torch.equal(rows[0], rows[1]) and not torch.equal(rows[0], rows[2]),
        "the same first weights for the same seed, and others for another seed",
        "others" if not torch.equal(rows[0], rows[1]) else "the same ones for both seeds",
        "seed PyTorch before the model is made",
    )
    states = [r.order.get_state() for r in (*runs, other)]
    require(
        torch.equal(states[0], states[1]) and not torch.equal(states[0], states[2]),
        "the same order of batches for the same seed, and another one for another seed",
        "others" if not torch.equal(states[0], states[1]) else "the same one for both seeds",
        "seed the generator that shuffles, too",
    )
    run = runs[0]
    orders = []
    for seed in (5, 5, 6):
        run.order.manual_seed(seed)
        orders.append(torch.cat([y for _, y in run.train_loader]).tolist())
    require(
        orders[0] == orders[1] != orders[2],
        "training batches that are shuffled by the run's own generator, run.order",
        "the same order always" if orders[1] == orders[2] else "another order each time",
        "the loader shuffles with the generator that it is given",
    )
    require(
        isinstance(run.test_loader.sampler, SequentialSampler),
        "test batches in their own order",
        type(run.test_loader.sampler).__name__,
        "shuffling the test data changes nothing that anybody wants to know",
    )


@todo("4.1", "set the run up")
def refuses_a_gpu_that_is_not_there(answer: Any) -> None:
    """``--device cuda`` without a GPU is something that the caller can put right."""
    with patch("torch.cuda.is_available", return_value=False):
        automatic = answer.start_run(_options(answer, "--device", "auto")).device
        refused = False
        try:
            answer.start_run(_options(answer, "--device", "cuda"))
        except InputError as refusal:
            found = str(refusal)
            refused = "cuda" in found.lower() and "\n" not in found
        except (RuntimeError, AssertionError) as problem:
            found = f"a {type(problem).__name__} from PyTorch"
        else:
            found = "a run all the same"
    require(
        automatic == CPU,
        "the CPU for --device auto without a GPU",
        str(automatic),
        "ask whether a GPU is found now",
    )
    require(
        refused,
        "an InputError in one line that names --device cuda, where there is no GPU",
        found,
        "look before PyTorch does, and say what is wrong and what to do",
    )


@todo("4.1", "set the run up")
def takes_a_gpu_that_is_there(answer: Any) -> None:
    """Where a GPU is found, the option decides; the model stays where it can be."""
    for device, precision in (
        ("auto", "fp32"),
        ("auto", "fp16"),
        ("cuda", "tf32"),
        ("cpu", "fp32"),
    ):
        what = f"--device {device} --precision {precision} where a GPU is found"
        model = _probe()
        options = _options(answer, "--device", device, "--precision", precision)
        with (
            pretended_cuda(True),
            keeping_switches(),
            patch.object(answer, "build_model", lambda model=model: model),
            patch.object(model, "to", lambda *_, model=model, **__: model),
            patch.object(model, "cuda", lambda *_, model=model: model),
        ):
            try:
                run = answer.start_run(options)
            except InputError as refusal:
                require(False, f"a run for {what}", str(refusal), "ask whether a GPU is found now")
            except (RuntimeError, AssertionError):  # it really asked for the GPU
                continue
        _require_run_where_a_gpu_is(run, "cpu" if device == "cpu" else "cuda", precision, what)


def _require_run_where_a_gpu_is(run: Any, kind: str, precision: str, what: str) -> None:
    require(
        run.device.type == kind,
        f"a run on {kind} for {what}",
        f"one on {run.device}",
        "the option comes first; for auto, ask whether a GPU is found now",
    )
    require(
        run.scaler.is_enabled() == (precision == "fp16"),
        f"a scaler that is {'on' if precision == 'fp16' else 'off'} for {what}",
        "one that is on" if run.scaler.is_enabled() else "one that is off",
        "float16 alone is short of range; and the scaler wants to know the device's type",
    )
    require(
        not run.scaler.is_enabled() or not is_for_the_cpu(run.scaler),
        f"a scaler for the GPU for {what}",
        "one for the CPU",
        "the scaler wants to know the device's type",
    )


def _options(answer: Any, *arguments: str, limit: str = "3") -> Any:
    return answer.read_options(["--limit-batches", limit, *arguments])


def _start(answer: Any, *arguments: str, limit: str = "3") -> Any:
    run = answer.start_run(_options(answer, "--device", "cpu", *arguments, limit=limit))
    require(
        isinstance(run, answer.Run),
        "a Run as the result",
        "nothing" if run is None else type(run).__name__,
        "the class Run in your file says what belongs into it",
    )
    return run


# --8<-- [start:moves]
@todo("4.2", "train on any device")
def moves_each_batch_once(answer: Any) -> None:
    """Inputs and targets are moved before anything touches them, each of them once."""
    loader = UnplacedLoader(_batches([8, 8, 5]), CPU)
    model = _probe()
    try:
        answer.train_one_epoch(model, loader, _sgd(model), _off(), cross_entropy, CPU, FLOAT32)
    except NotPlacedError as problem:
        raise WrongAnswerError(
            f"expected inputs and targets that go to the device first, got: {problem}"
            f"{place_in(problem, Path(answer.__file__))}"
        ) from problem
    moves = [tensor.moves for pair in loader.dealt for tensor in pair]
    require(
        moves == [1] * 6,
        "one move for each of three inputs and three targets",
        f"{moves}",
        "keep what .to(device) returns, and use it from there on",
    )


# --8<-- [end:moves]


@todo("4.2", "train on any device")
def trains_as_the_plain_loop_does(answer: Any) -> None:
    """Float32 on the CPU: the weights and the mean loss of a loop without any of this."""
    batches = _batches([16, 16, 16, 3])
    model, right = _probe(), _probe()
    model.eval()  # as after an evaluation
    for p in model.parameters():
        p.grad = torch.ones_like(p)  # as after a step
    modes: list[bool] = []
    model.register_forward_hook(lambda m, *_: modes.append(m.training))
    expected = SOLUTION.train_one_epoch(
        right, batches, _sgd(right), _off(), cross_entropy, CPU, FLOAT32
    )
    found = answer.train_one_epoch(model, batches, _sgd(model), _off(), cross_entropy, CPU, FLOAT32)
    require(
        all(modes),
        "a model in training mode",
        "one in evaluation mode",
        "an evaluation may have come before",
    )
    _require_weights(model, right, 1e-5, "an epoch in float32 with one step for each batch")
    require(
        isinstance(found, float),
        "the mean loss as a float",
        "nothing" if found is None else f"a {type(found).__name__}",
        "take the number out of the tensor, once, at the end",
    )
    require(
        math.isclose(found, expected, rel_tol=1e-5),
        f"{expected:.5f}, the mean loss of a sample",
        f"{found:.5f}",
        "the last batch has 3 samples and the others 16; weigh the losses by them",
    )


@todo("4.2", "train on any device")
def accumulates(answer: Any) -> None:
    """The weights of large batches, also where the last group or the last batch is smaller."""

    def accumulate(
        model: nn.Module, batches: list[Batch], optimizer: Any, loss_fn: Any, k: int
    ) -> int:
        answer.train_one_epoch(model, batches, optimizer, _off(), loss_fn, CPU, FLOAT32, k)
        return 0

    for name, (sizes, wanted) in LAYOUTS.items():
        error, steps, _ = accumulation_error(accumulate, sizes)
        require(
            steps == wanted,
            f"{wanted} optimizer steps for {name} with accum_steps=4",
            steps,
            "one step for each group, and what is left over is a group as well",
        )
        require(
            error < 1e-5,
            f"the weights that large batches give, for {name} with accum_steps=4",
            f"weights that are off by {error:.2f} of the update",
            "the gradient of a group is the mean over its samples, no more and no less",
        )
    batches = _batches([16, 16, 16, 3])
    losses = []
    for module in (SOLUTION, answer):
        model = _probe()
        arguments = (batches, _sgd(model), _off(), cross_entropy, CPU, FLOAT32, 2)
        losses.append(module.train_one_epoch(model, *arguments))
    require(
        math.isclose(losses[1], losses[0], rel_tol=1e-5),
        f"{losses[0]:.5f}, the mean loss of a sample with accum_steps=2",
        f"{losses[1]:.5f}",
        "what goes backward is a share of the loss; the mean takes the loss itself",
    )


class _Readings(TorchDispatchMode):
    """Counts how often a number is taken out of a tensor: a GPU would be waited for each time."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.count = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Run the operator, and count it if it hands a number to Python."""
        self.count += func is torch.ops.aten._local_scalar_dense.default
        return func(*args, **(kwargs or {}))


@todo("4.2", "train on any device")
def does_not_wait_in_each_step(answer: Any) -> None:
    """Reading the loss in every step is right, and slow on a GPU: advice, no failure."""
    model, batches = _probe(), _batches([4] * 8)
    with _Readings() as readings:
        answer.train_one_epoch(model, batches, _sgd(model), _off(), cross_entropy, CPU, FLOAT32)
    if readings.count >= len(batches):
        advise(
            f"an epoch of {len(batches)} batches takes {readings.count} numbers out of tensors, "
            "and a GPU is waited for each time; add the losses up on the device, detached, and "
            "read the sum once"
        )


@todo("4.3", "train in 16 bits")
def computes_in_the_type(answer: Any) -> None:
    """Forward pass and loss under autocast in the type that was asked for, backward outside."""
    for dtype in (BFLOAT16, FLOAT16, FLOAT32):
        model, batches = _probe(), _batches([8, 8])
        scaler = torch.amp.GradScaler("cpu", init_scale=SCALE, enabled=dtype == FLOAT16)
        answer.train_one_epoch(model, batches, _sgd(model), scaler, model.loss, CPU, dtype)
        seen = model.seen
        require(
            seen.computed_in == dtype and seen.weights_in == FLOAT32,
            f"a model that computes in {_name(dtype)} with weights in float32",
            f"one that computes in {_name(seen.computed_in)} with {_name(seen.weights_in)} weights",
            "give the autocast region the device's type and the dtype; float32 needs no region",
        )
        if dtype != FLOAT32:
            require_loss_inside(seen)
        require_backward_outside(seen)


@todo("4.3", "train in 16 bits")
def steps_through_the_scaler(answer: Any) -> None:
    """Good steps change the weights as they should, bad ones not at all, and the scale follows."""
    batches = _batches([16] * 4)
    batches[2][0][0, 0] = math.inf
    for count, k, what in (
        (2, 1, "two steps in float16"),
        (3, 1, "two good steps in float16 and one with an infinity"),
        (2, 2, "one step in float16 from two batches"),
    ):
        models, scales = [], []
        for module in (answer, SOLUTION):
            model = _probe()
            scaler = torch.amp.GradScaler("cpu", init_scale=SCALE, growth_interval=2)
            module.train_one_epoch(
                model, batches[:count], _sgd(model), scaler, cross_entropy, CPU, FLOAT16, k
            )
            models.append(model)
            scales.append(scaler.get_scale())
        _require_weights(models[0], models[1], 1e-2, what)
        require(
            scales[0] == scales[1],
            f"a scale of {scales[1]:,.0f} after {what} (it was {SCALE:,.0f}, and grows after two)",
            f"{scales[0]:,.0f}",
            "the scaler adapts when it is told that the step is over, each time",
        )


def _require_weights(found: nn.Module, right: nn.Module, bound: float, what: str) -> None:
    """Require that both have moved the same way from the first weights of a probe."""
    start, there, wanted = _row(_probe()), _row(found), _row(right)
    off = ((there - wanted).norm() / (wanted - start).norm()).item()
    words = "NaN in the weights" if off != off else f"weights that are off by {off:,.3g} of that"
    require(
        off <= bound,
        f"the weights of {what}, moved by {(wanted - start).norm():.3f}",
        words,
        "clear the gradients, weigh the loss by its share of the samples, and let the scaler scale "
        "it, step and update, in this order",
    )


@todo("4.3", "evaluate in the same type")
def evaluates_without_a_trace(answer: Any) -> None:
    """Evaluation mode, no graph, autocast; and everything as before when it is done."""
    for training, dtype in ((True, BFLOAT16), (False, FLOAT16), (True, FLOAT32)):
        model = _probe().train(training)
        meter = SavedBytes(model)
        seen: list[tuple[bool, int]] = []  # training mode, and bytes kept so far

        def look(
            module: nn.Module,
            *_: Any,
            seen: list[tuple[bool, int]] = seen,
            meter: SavedBytes = meter,
        ) -> None:
            seen.append((module.training, meter.total()))

        model.register_forward_hook(look)
        with meter:
            answer.evaluate(model, UnplacedLoader(_batches([8, 8]), CPU), CPU, dtype)
        kept = max((count for _, count in seen), default=0)
        require(
            not any(mode for mode, _ in seen),
            "a model in evaluation mode",
            "one in training mode",
            "dropout and batch norm do other things while training",
        )
        require(
            kept == 0,
            "an evaluation that keeps nothing for a backward pass",
            f"{kept:,} bytes kept for one that never comes",
            "tell PyTorch that no graph is wanted",
        )
        require(
            torch.is_grad_enabled(),
            "gradients that are recorded again after the evaluation",
            "a switch that stays off",
            "a with block puts the switch back",
        )
        require(
            model.training == training,
            f"a model that is left in {'training' if training else 'evaluation'} mode, as it came",
            "the other mode",
            "note the mode before you change it",
        )
        require(
            model.seen.computed_in == dtype,
            f"a model that computes in {_name(dtype)} when that is the dtype",
            _name(model.seen.computed_in),
            "evaluate in the type in which you trained",
        )


@todo("4.3", "evaluate in the same type")
def draws_nothing(answer: Any) -> None:
    """A loader without a generator of its own draws from PyTorch's, also if it does not shuffle."""
    loader = DataLoader(TensorDataset(*_batches([24])[0]), 8)
    model = _probe()
    before = torch.get_rng_state()
    answer.evaluate(model, loader, CPU, FLOAT32)
    require(
        torch.equal(torch.get_rng_state(), before),
        "PyTorch's random state as it was before the evaluation",
        "another",
        "each pass through a loader draws a seed from it, and so does the next epoch's order, and "
        "on a CPU its dropout",
    )


@todo("4.3", "evaluate in the same type")
def counts_samples(answer: Any) -> None:
    """The accuracy of all samples, not the mean of the batches' accuracies."""
    model = _probe()
    batches = [(x, model(x).argmax(1)) for x, _ in _batches([20, 20, 4])]
    batches[2] = (batches[2][0], (batches[2][1] + 1) % 4)  # all wrong, in the short batch
    found = answer.evaluate(model, batches, CPU, FLOAT32)
    expected = 40 / 44
    require(
        isinstance(found, float) and math.isclose(found, expected, rel_tol=1e-5),
        f"{expected:.4f}, which is 40 of 44 samples, as a float",
        f"{found:.4f}" if isinstance(found, int | float) else repr(found),
        "count samples; the mean of batch accuracies gives a short batch too much weight, and "
        "percent are for people",
    )


@todo("4.3", "on a GPU", gpu=True)
def trains_on_a_gpu(answer: Any) -> None:
    """Every precision, with pinned batches that are moved while the GPU works."""
    for precision in SOLUTION.DTYPES:
        run = _start_on_gpu(answer, precision)
        loss = answer.train_one_epoch(
            run.model,
            run.train_loader,
            run.optimizer,
            run.scaler,
            cross_entropy,
            run.device,
            run.dtype,
        )
        accuracy = answer.evaluate(run.model, run.test_loader, run.device, run.dtype)
        require(
            math.isfinite(loss) and 0 <= accuracy <= 1,
            f"a finite loss and an accuracy from 0 to 1 with --precision {precision}",
            f"{loss} and {accuracy}",
            "look at the scale of each step",
        )
        require(
            run.train_loader.pin_memory and all(p.is_cuda for p in run.model.parameters()),
            "a model on the GPU, and a loader that pins its batches",
            f"{next(run.model.parameters()).device}, pin_memory={run.train_loader.pin_memory}",
            "copies to a GPU are quick from pinned memory",
        )


def _start_on_gpu(answer: Any, precision: str) -> Any:
    with keeping_switches():
        options = _options(answer, "--device", "cuda", "--precision", precision)
        return answer.start_run(options)


@todo("4.4", "measure memory")
def says_that_a_cpu_keeps_no_count(answer: Any) -> None:
    """On a CPU the step runs once and every number is None, whatever the machine has."""
    for available in (False, True):
        calls: list[int] = []
        with patch("torch.cuda.is_available", return_value=available):
            found = answer.profile_memory(lambda calls=calls: calls.append(1), CPU)
        require(
            found == dict.fromkeys(SOLUTION.MEMORY),
            f"None for each of {', '.join(SOLUTION.MEMORY)} on the CPU",
            repr(found),
            "a number that nobody measured is no zero",
        )
        require(
            len(calls) == 1,
            "one call of the step",
            f"{len(calls)} calls",
            "the step belongs to the run, with or without a count",
        )


class _Books:
    """What PyTorch's books say of the second of two GPUs; the first one is never used.

    Who ran before the step has left a higher mark than it will.
    """

    def __init__(self) -> None:
        self.allocated, self.peak, self.reserved = random.sample(range(2**20, 2**21), 3)
        self.peak += 2**26
        self.reserved += 2**27
        self.before, self.calls = self.allocated, 0

    def step(self) -> None:
        """Take much, give back most, and keep a bit."""
        self.calls += 1
        self.peak = max(self.peak, self.allocated + 2**24)
        self.allocated += 2**22

    def reset(self, device: Any) -> None:
        """Let the highest mark be what is taken now."""
        if self._is_here(device):
            self.peak = self.allocated

    def read(self, device: Any = None) -> dict[str, Any]:
        """As ``torch.cuda.memory_stats_as_nested_dict`` does."""
        here = self._is_here(device)
        allocated = {"current": self.allocated * here, "peak": self.peak * here}
        reserved = {"current": self.reserved * here, "peak": (self.reserved + 2**23) * here}
        return {"allocated_bytes": {"all": allocated}, "reserved_bytes": {"all": reserved}}

    @staticmethod
    def _is_here(device: Any) -> bool:
        return device is not None and torch.device(device).index == SECOND_GPU.index


@todo("4.4", "measure memory")
def reads_the_books_of_a_gpu(answer: Any) -> None:
    """With books in the place of a GPU's: what is taken, the step's own peak, what is held."""
    books = _Books()
    with (
        pretended_cuda(True),
        patch("torch.cuda.synchronize"),
        patch("torch.cuda.memory.memory_stats_as_nested_dict", books.read),
        patch("torch._C._cuda_resetPeakMemoryStats", books.reset, create=True),
    ):
        try:
            found = answer.profile_memory(books.step, SECOND_GPU)
        except (RuntimeError, AssertionError):  # it really asked for the GPU
            return
    require(books.calls == 1, "one call of the step", f"{books.calls} calls", "run it once")
    right = {
        "allocated_bytes": (books.before + 2**22, "in tensors after the step"),
        "peak_bytes": (books.before + 2**24, "at the most during the step"),
        "reserved_bytes": (books.reserved, "held from the driver"),
    }
    require(
        isinstance(found, dict) and found.keys() == right.keys(),
        f"numbers for {', '.join(right)} on a GPU",
        repr(found),
        "the docstring names the keys",
    )
    for key, (bytes_, what) in right.items():
        require(
            found[key] == bytes_,
            f"{bytes_:,} bytes as {key!r} where so much is {what}, on {SECOND_GPU}",
            repr(found[key]),
            "PyTorch keeps several counts; which one, of which device, and since when",
        )


@todo("4.4", "on a GPU", gpu=True)
def forgets_the_peak_before(answer: Any) -> None:
    """The peak is the step's own."""
    device = torch.device("cuda", torch.cuda.current_device())
    before = torch.cuda.memory_allocated(device)
    big = torch.empty(2**26, dtype=torch.uint8, device=device)
    del big
    found = answer.profile_memory(
        lambda: torch.empty(2**22, dtype=torch.uint8, device=device), device
    )
    require(
        2**22 <= found["peak_bytes"] - before < 2**24,
        "about 4 MiB more than before as the peak of a step that needs them",
        f"{(found['peak_bytes'] - before) / 2**20:.0f} MiB",
        "the highest mark belongs to whatever ran since it was reset",
    )


@todo("4.5", "compare configurations")
def reads_the_clock_properly(answer: Any) -> None:
    """On a device whose truth is known: three steps of 50, 20 and 100 milliseconds."""
    for warmup, iters, repeats, launch_s in (
        (2, 10, 5, LAUNCH_S),
        (2, 10, 1, LAUNCH_S),
        (1, 5, 3, LAUNCH_S),
        (2, 1, 3, 0.01),
    ):
        _require_true_readings(answer, warmup, iters, repeats, launch_s)


def _require_true_readings(
    answer: Any, warmup: int, iters: int, repeats: int, asking_s: float
) -> None:
    device = Clockwork(launch_s=asking_s, first_s=0.0)
    launch_s = asking_s / iters
    calls: dict[float, int] = {}
    device.launch(1.0)  # somebody else's work is still in the queue
    work_s = {"slow": 0.05, "quick": 0.02, "slowest": 0.1}
    configs = [
        answer.Config(name, _step(device, seconds, calls), samples=64, peak_bytes=number)
        for number, (name, seconds) in enumerate(work_s.items(), 1)
    ]
    rows = answer.run_benchmark(
        configs, device.wait, device.clock, warmup=warmup, iters=iters, repeats=repeats
    )
    names = [getattr(row, "name", "?") for row in rows or []]
    require(
        names == list(work_s),
        f"a Row for each of {', '.join(work_s)}, in this order",
        ", ".join(names) or "none",
        "the first row is what the others are compared with",
    )
    for row, seconds, number in zip(rows, work_s.values(), (1, 2, 3), strict=True):
        true_s = seconds + launch_s  # launches follow each other; the first of them shows
        _require_close(row.seconds, true_s, f"{1e3 * true_s:.3f} ms", 1e3, " ms", row.name)
        _require_close(row.samples_per_s, 64 / true_s, "64 samples in that time", 1, "", row.name)
        ratio = (work_s["slow"] + launch_s) / true_s
        _require_close(row.speedup, ratio, f"{ratio:.3f} times the first", 1, "", row.name)
        require(
            row.peak_bytes == number,
            "the peak that was measured before, in the row",
            row.peak_bytes,
            "pass it on",
        )
        require(
            calls[seconds] == warmup + repeats * iters,
            f"{warmup + repeats * iters} calls of {row.name!r} with warmup={warmup}, "
            f"iters={iters} and repeats={repeats}",
            calls[seconds],
            "the docstring says what the three numbers count",
        )


@todo("4.5", "compare configurations")
def is_fair_to_all(answer: Any) -> None:
    """A device that is half as fast from the third of five rounds on is so for each step."""
    device, calls = Clockwork(launch_s=0.0, first_s=0.0), itertools.count()
    warmup, iters, repeats = 1, 2, 5
    work_s = {"slow": 0.05, "quick": 0.02}

    def step(seconds: float) -> None:
        slow = next(calls) >= len(work_s) * (warmup + 2 * iters)
        device.launch(2 * seconds if slow else seconds)

    configs = [answer.Config(name, partial(step, s), samples=64) for name, s in work_s.items()]
    rows = answer.run_benchmark(configs, device.wait, device.clock, warmup, iters, repeats)
    for row, (name, seconds) in zip(rows, work_s.items(), strict=True):
        require(
            math.isclose(row.seconds, 2 * seconds, rel_tol=1e-3),
            f"{2e3 * seconds:.3f} ms for {name!r}, on a device that takes {1e3 * seconds:.0f} ms "
            "in two rounds and twice as long in the three after them",
            f"{1e3 * row.seconds:.3f} ms",
            "what is a round, in which order are the steps asked, and which round counts",
        )


def _step(device: Clockwork, seconds: float, calls: dict[float, int]) -> Any:
    """A step of which the first call takes longer, a later one much, and one a bit less."""
    extra = iter([0.5, *[0.0] * 14, -0.01, *[0.0] * 9, 1.0])

    def step() -> None:
        calls[seconds] = calls.get(seconds, 0) + 1
        device.launch(seconds + next(extra, 0.0))

    return step


def _require_close(
    found: float, right: float, words: str, factor: float, unit: str, name: str
) -> None:
    require(
        math.isclose(found, right, rel_tol=1e-3),
        f"{words} for {name!r}, whose truth is known",
        f"{factor * found:.3f}{unit}",
        "warm up, wait, start the clock, run, wait, stop, divide by the calls; then the median, "
        "and how many times as fast as the first",
    )


@todo("4.6", "name what limits the run")
def names_the_limit(answer: Any) -> None:
    """Each of three kinds of run, one that is two of them, and drawn ones near the borders."""
    step = random.uniform(0.01, 1.0)
    for times, expected in (
        ((0.030, 0.002, 0.0021), "data"),
        ((0.030, 0.002, 0.004), "data"),
        ((0.001, 0.002, 0.0021), "launches"),
        ((0.019, 0.020, 0.022), "launches"),
        ((0.001, 0.200, 0.390), "computation"),
        ((0.150, 0.200, 0.310), "computation"),
        ((1.1 * step, step, 1.9 * step), "data"),
        ((0.9 * step, step, 1.4 * step), "launches"),
        ((0.9 * step, step, 1.6 * step), "computation"),
        ((0.250, 0.250, 0.500), "computation"),
        ((0.125, 0.250, 0.375), "computation"),
    ):
        found = answer.limiting_resource(*times)
        load, compute, doubled = (f"{1e3 * t:g} ms" for t in times)
        require(
            found == expected,
            f"{expected!r} for {load} to load, {compute} to compute and {doubled} for twice as "
            "many samples",
            repr(found),
            "compare loading with computing first, then a batch with one twice as large",
        )


@todo("4.6", "on a GPU", gpu=True)
def computes_much_on_the_gpu(answer: Any) -> None:
    """ResNet-18 on images of 224 x 224 pixels: on the GPU, and timed against the CPU beside it."""
    from torchvision.models import resnet18

    threads = torch.get_num_threads()
    torch.set_num_threads(os.cpu_count() or 1)  # a CPU that may use all it has
    configs = []
    for device in (CPU, torch.device("cuda")):
        torch.manual_seed(0)
        model = resnet18(num_classes=10).to(device)
        batch = torch.randn(8, 3, 224, 224, device=device), torch.arange(8, device=device)
        train = partial(answer.train_one_epoch, model, [batch], _sgd(model), _off(), cross_entropy)
        step = partial(train, device, FLOAT32)
        configs.append(answer.Config(device.type, step, samples=8))
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    try:
        rows = answer.run_benchmark(configs, torch.cuda.synchronize, time.perf_counter, 2, 1, 3)
    finally:
        torch.set_num_threads(threads)
    weights = sum(p.nbytes for p in model.parameters())
    _require_on_the_gpu(torch.cuda.max_memory_allocated() - before, weights, rows[1].speedup)


def _require_on_the_gpu(taken: int, weights: int, speedup: float) -> None:
    """A step's gradients alone take what the weights take; its speed is the machine's affair."""
    require(
        taken >= weights,
        f"a step that takes {weights:,} bytes and more of the GPU, for its gradients",
        f"{taken:,}",
        "is the step on the GPU really",
    )
    if speedup < USUAL_SPEEDUP:
        advise(
            f"this GPU is {speedup:.1f} times as fast as the CPU for ResNet-18; that can be true "
            "of a small card beside a large processor, or something else uses the GPU"
        )


class _Training:
    """Something small that trains with everything that has a memory."""

    def __init__(self, seed: int, dtype: torch.dtype = FLOAT16) -> None:
        torch.manual_seed(seed)
        self.model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 4))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.02)
        enabled = dtype == FLOAT16
        self.scaler = torch.amp.GradScaler("cpu", growth_interval=3, enabled=enabled)
        self.dtype = dtype
        self.order = torch.Generator().manual_seed(seed)
        data = TensorDataset(*_batches([24])[0])
        self.loader = DataLoader(data, 8, shuffle=True, generator=self.order)

    def epochs(self, count: int) -> None:
        """Train, in the way of the solution."""
        for _ in range(count):
            SOLUTION.train_one_epoch(
                self.model,
                self.loader,
                self.optimizer,
                self.scaler,
                cross_entropy,
                CPU,
                self.dtype,
            )

    def save(self, answer: Any, path: Path, epoch: int) -> None:
        """With the answer's function."""
        answer.save_state(path, self.model, self.optimizer, self.scaler, epoch, self.order)

    def load(self, answer: Any, path: Path) -> Any:
        """With the answer's function."""
        return answer.load_state(path, self.model, self.optimizer, self.scaler, self.order)

    def memory(self) -> dict[str, Any]:
        """All that decides how it goes on, by a name for it."""
        return {
            "the model's weights": copy.deepcopy(self.model.state_dict()),
            "the optimizer's state": copy.deepcopy(self.optimizer.state_dict()),
            "the scaler's state": self.scaler.state_dict(),
            "the state of the generator that shuffles": self.order.get_state(),
            "PyTorch's global random state": torch.get_rng_state(),
        }


@contextlib.contextmanager
def _file() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "run.pt"


@todo("4.7", "save and resume")
def goes_on_bit_for_bit(answer: Any) -> None:
    """Two epochs, a file, and two more epochs are four epochs, to the last bit."""
    for dtype in (FLOAT16, BFLOAT16):
        whole = _Training(seed=0, dtype=dtype)
        whole.scaler.scale(torch.ones(()))  # makes its scale
        if whole.scaler.is_enabled():
            whole.scaler.update(512.0)
        whole.epochs(2)
        with _file() as path:
            whole.save(answer, path, 2)
            saved = whole.memory()
            whole.epochs(2)
            resumed = _Training(seed=99, dtype=dtype)
            epoch = resumed.load(answer, path)
        for what, value in resumed.memory().items():
            require(
                _same(value, saved[what]),
                f"{what} as saved, for a run in {_name(dtype)}",
                "another",
                'save and restore it; load_scaler_state looks for "scaler_state_dict" in the file'
                if "scaler" in what
                else "save and restore everything that the next epoch depends on",
            )
        require(epoch == 2, "2, the epochs done, as the result of load_state", epoch, "save it too")
        resumed.epochs(2)
        require(
            _same(resumed.memory(), whole.memory()),
            f"the same bits as four epochs without a pause, in {_name(dtype)}",
            "others",
            "something that the next epochs depend on was not saved",
        )


def _same(a: Any, b: Any) -> bool:
    """Whether two values, nested or not, hold the same bits."""
    if isinstance(a, torch.Tensor):
        return isinstance(b, torch.Tensor) and torch.equal(a, b)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    return bool(a == b)


@todo("4.7", "save and resume")
def keeps_the_old_file_until_the_new_one_is_whole(answer: Any) -> None:
    """A disk that fills up in the middle of saving costs the new state and not the old one."""

    def fill_up(_: Any, target: Any, *__: Any, **___: Any) -> None:
        if hasattr(target, "write"):
            target.write(b"half")
        else:
            Path(target).write_bytes(b"half")
        raise OSError("no space left on device")

    training = _Training(seed=0)
    with _file() as path:
        training.save(answer, path, 1)
        with patch("torch.save", fill_up), contextlib.suppress(Exception):
            training.save(answer, path, 2)
        try:
            epoch = _Training(seed=1).load(answer, path)
        except Exception:  # of any kind: the file is damaged
            epoch = "a damaged file"
    require(
        epoch == 1,
        "the file of epoch 1 when saving epoch 2 failed in the middle",
        epoch,
        "write under another name, and rename when all of it is there",
    )


@todo("4.7", "save and resume")
def loads_what_a_gpu_has_saved(answer: Any) -> None:
    """A file whose tensors say that they are from a GPU is loaded by a run on the CPU."""
    if torch.cuda.is_available():
        return  # here it finds its GPU
    saved, epoch = _Training(seed=0), random.randint(3, 40)
    with _file() as path:
        with cuda_tags():
            saved.save(answer, path, epoch)
        resumed = _Training(seed=1)
        try:
            found = str(resumed.load(answer, path))
        except RuntimeError as problem:
            found = f"a {type(problem).__name__}"
    require(
        found == str(epoch) and torch.equal(_row(saved.model), _row(resumed.model)),
        f"the weights of a run on a GPU, and {epoch}, the epochs that it did",
        found,
        "a file says where its tensors were; map them to a device that is there",
    )


_went_off: list[str] = []


def _go_off() -> dict[str, Any]:
    _went_off.append("boom")
    return {}


class _Bomb:
    def __reduce__(self) -> tuple[Any, tuple[()]]:
        return _go_off, ()


@todo("4.7", "save and resume")
def runs_no_code_from_a_file(answer: Any) -> None:
    """A file that carries code does not get to run it."""
    _went_off.clear()
    with _file() as path:
        torch.save({"model": _Bomb()}, path)
        with contextlib.suppress(Exception):
            _Training(seed=0).load(answer, path)
    require(
        not _went_off,
        "a file that can't run code",
        "code of the file that ran while it was loaded",
        "torch.load takes an argument that lets weights through and nothing else",
    )


@todo("4.7", "on a GPU", gpu=True)
def resumes_on_a_gpu(answer: Any) -> None:
    """A run on a GPU is saved, and comes back on a GPU and on a CPU."""
    runs = [_start_on_gpu(answer, "fp16") for _ in range(2)]
    with _file() as path:
        for run in runs[:1]:
            SOLUTION.train_run(run, _options(answer, "--epochs", "1"))
            saved = torch.cuda.get_rng_state()
            answer.save_state(path, run.model, run.optimizer, run.scaler, 1, run.order)
        for run in (runs[1], _start(answer)):
            torch.rand(8, device="cuda")  # another random state
            epoch = answer.load_state(path, run.model, run.optimizer, run.scaler, run.order)
            same = torch.equal(_row(run.model).cpu(), _row(runs[0].model).cpu())
            require(
                epoch == 1 and same,
                f"the weights of the GPU's run on {run.device.type}, and 1",
                f"{'the same' if same else 'other'} weights and {epoch}",
                "map the tensors to where the model is; generators want their state on the CPU",
            )
            require(
                run.device.type == "cpu" or torch.equal(torch.cuda.get_rng_state(), saved),
                "the GPU's random state as saved",
                "another",
                "a GPU has a generator of its own, which dropout draws from",
            )
        on_cpu, run = _start(answer, "--seed", "5"), _start_on_gpu(answer, "fp16")
        answer.save_state(path, on_cpu.model, on_cpu.optimizer, on_cpu.scaler, 3, on_cpu.order)
        epoch = answer.load_state(path, run.model, run.optimizer, run.scaler, run.order)
        same = torch.equal(_row(run.model).cpu(), _row(on_cpu.model))
        require(
            epoch == 3 and same,
            "the weights of a run on the CPU, loaded on a GPU, and 3",
            f"{'the same' if same else 'other'} weights and {epoch}",
            "a run on the CPU has no random state of a GPU to save",
        )


@todo("4.8", "train what is missing")
def trains_the_epochs_that_are_missing(answer: Any) -> None:
    """With stand-ins for the parts: which epochs are trained, evaluated, saved and reported."""
    many = random.randint(5, 7)
    for exists, resume, done, epochs in (
        (False, False, 0, 4),
        (False, True, 0, 4),
        (True, True, 2, 4),
        (True, True, random.randint(3, 4), many),
        (True, True, many, many),
    ):
        with _file() as path:
            if exists:
                path.touch()
            given = ("--epochs", str(epochs), "--accum-steps", "2", "--device", "cpu")
            options = answer.replace(_options(answer, *given), resume=path if resume else None)
            what = f"{epochs} epochs{f', of which {done} are in the file' if exists else ''}"
            _require_history(answer, options, done, what)


class HandTurnedClock:
    """A clock that stands still unless somebody turns it.

    Attributes:
        now: What it shows, in seconds.
    """

    def __init__(self) -> None:
        self.now = random.uniform(1000.0, 2000.0)

    def __call__(self) -> float:
        """Read it."""
        return self.now

    def nanoseconds(self) -> int:
        """Read it in units of a billionth of a second."""
        return round(1e9 * self.now)


@contextlib.contextmanager
def turned_by_hand(answer: Any) -> Iterator[HandTurnedClock]:
    """One clock in the place of all of Python's, under whatever name an answer imported them."""
    clock = HandTurnedClock()
    clocks = {getattr(time, name): clock for name in CLOCKS}
    clocks |= {getattr(time, f"{name}_ns"): clock.nanoseconds for name in CLOCKS}
    with contextlib.ExitStack() as stack:
        for place in (time, timeit, answer):
            for name, reading in list(vars(place).items()):
                if callable(reading) and any(reading is known for known in clocks):
                    stack.enter_context(patch.object(place, name, clocks[reading]))
        yield clock


def _require_history(answer: Any, options: Any, done: int, what: str) -> None:
    training = _Training(seed=0)
    parts = training.model, training.optimizer, training.scaler
    loader: DataLoader[Any] = DataLoader(TensorDataset(*_batches([8])[0]))
    run = answer.Run(CPU, FLOAT16, *parts, training.loader, loader, training.order)
    calls: dict[str, list[dict[str, Any]]] = {}

    def stand_in(name: str, result: Any) -> Any:
        names = signature(getattr(SOLUTION, name))

        def call(*args: Any, **kwargs: Any) -> Any:
            bound = names.bind(*args, **kwargs)
            bound.apply_defaults()
            calls.setdefault(name, []).append(bound.arguments)
            clock.now += takes_s[name]
            return result

        return patch.object(answer, name, call)

    loss, accuracy = random.uniform(0.2, 0.9), random.uniform(0.2, 0.9)
    results = {"train_one_epoch": loss, "evaluate": accuracy, "save_state": None}
    results["load_state"] = done
    takes_s = {name: random.uniform(1.0, 100.0) for name in results}
    with contextlib.ExitStack() as stack:
        clock = stack.enter_context(turned_by_hand(answer))
        for name, result in results.items():
            stack.enter_context(stand_in(name, result))
        history = answer.train_run(run, options)
    require(
        isinstance(history, list) and all(isinstance(record, dict) for record in history),
        "a list with a dictionary for each epoch",
        repr(history),
        "collect a record of each epoch, and return them all",
    )
    wanted = list(range(done + 1, options.epochs + 1))
    epochs = [record.get("epoch") for record in history]
    require(
        epochs == wanted and len(calls.get("train_one_epoch", [])) == len(wanted),
        f"records of epochs {wanted} for {what}",
        f"{epochs} after {len(calls.get('train_one_epoch', []))} trained epochs",
        "--epochs counts from the very beginning; go on where the file ends",
    )
    require(
        all(
            (record.get("loss"), record.get("accuracy")) == (loss, accuracy)
            and isinstance(record.get("seconds"), float)
            for record in history
        ),
        'the epoch\'s "loss" and "accuracy", and its "seconds" as a float, in each record',
        str(history[:1]),
        "keep what training and evaluating return, and read the clock around the training",
    )
    seconds = [record["seconds"] for record in history]
    require(
        all(math.isclose(found, takes_s["train_one_epoch"], rel_tol=1e-6) for found in seconds),
        f"{takes_s['train_one_epoch']:.3f} s for each epoch, without the seconds of evaluation",
        str([round(found, 3) for found in seconds]),
        "start it before you train, and stop the clock before you evaluate and save",
    )
    require(
        all(
            (call["accum_steps"], call["dtype"], call["loader"]) == (2, FLOAT16, training.loader)
            for call in calls.get("train_one_epoch", [])
        )
        and all(call["loader"] is loader for call in calls.get("evaluate", [])),
        "training with the run's type, the training data and --accum-steps 2, then the test data",
        "something else",
        "_epoch in your file passes all of this on",
    )
    saved = [call["epoch"] for call in calls.get("save_state", [])]
    require(
        saved == (wanted if options.resume else []),
        f"states saved after epochs {wanted if options.resume else []} for {what}",
        f"after {saved}",
        "save after each epoch when --resume names a file, and never otherwise",
    )
    exists = bool(options.resume and options.resume.exists())
    loads = calls.get("load_state", [])
    require(
        len(loads) == exists,
        f"{int(exists)} loaded files for {what}",
        len(loads),
        "load once, if --resume names a file that exists",
    )
    for call in (*loads, *calls.get("save_state", [])):
        require(
            Path(call["path"]) == options.resume,
            "the file that --resume names, to load from and to save to",
            f"a file called {Path(call['path']).name!r}",
            "pass the path of the options on",
        )
        own = {
            **dict(zip(("model", "optimizer", "scaler"), parts, strict=True)),
            "order": run.order,
        }
        strange = [name for name, part in own.items() if call[name] is not part]
        require(
            not strange,
            "the run's own model, optimizer, scaler and order, loaded and saved",
            f"another {', '.join(strange)}",
            "pass the parts of the run on",
        )


@todo("4.8", "train what is missing")
def reports_in_json(answer: Any) -> None:
    """The whole script, for five batches on the CPU."""
    if open_todos(answer.__file__):
        raise NotImplementedError("TODO 4.8: the script needs all of its parts")
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        status = answer.main(["--device", "cpu", "--limit-batches", "5", "--json"])
    require(status == 0, "exit code 0", status, "main is given; did you change it")
    try:
        report = json.loads(printed.getvalue())
    except ValueError:
        report = {}
    wanted = {"device", "precision", "seed", "torch", "history", "accuracy", "rows"}
    require(
        report.keys() >= wanted,
        "one line of JSON on standard output",
        repr(printed.getvalue()[:60]),
        "let no part of the script print anything else",
    )
    require(
        0 <= report["accuracy"] <= 1 and len(report["history"]) == 2,
        "two epochs, and an accuracy between 0 and 1",
        f"{len(report['history'])} and {report['accuracy']}",
        "percent are for people",
    )
