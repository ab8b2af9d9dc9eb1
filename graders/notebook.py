"""The checks of the companion notebook, and the driver's way to open one.

Each check also runs on a machine without a GPU, where most mistakes leave no trace in the result;
so it calls the learner's functions on small practice batches and watches them, where it matters a
second time with a GPU that is pretended. A check of a learner's own run needs the kernel.

Shapes: images are (B, 1, 28, 28), float32; labels are (B,), int64.
"""

import ast
import contextlib
import io
import json
import linecache
import math
import random
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from graders.answers import AnswerError, error_text
from graders.checks import CannotJudgeError, NotYetError, require, todo
from graders.live import fill_in, needs, recall
from graders.watching import Batch, Helper, Watch, WatchedLoader, copied
from lesson_code.devices import synchronize
from lesson_code.gpu_training.training import evaluate, train_one_epoch
from lesson_code.models import MNISTClassifier

# --8<-- [start:practice]
KEYS = {"epoch", "model_state_dict", "optimizer_state_dict", "loss"}


def practice_batches(sizes: Sequence[int]) -> list[Batch]:
    """Made-up images and labels, other ones with each seed."""
    made = torch.Generator().manual_seed(random.randrange(10**6))
    return [
        (
            torch.randn(size, 1, 28, 28, generator=made),
            torch.randint(10, (size,), generator=made),
        )
        for size in sizes
    ]


def best_devices() -> set[str]:
    """The kinds of devices that are the best here: the GPU, or the CPU where there is none."""
    accelerator = torch.accelerator.current_accelerator(check_available=True)
    best = {"cuda" if torch.cuda.is_available() else "cpu"}
    return best if accelerator is None else {*best, accelerator.type}


class Practice:
    """A learner's loop on practice batches; where no GPU took part, again with one pretended.

    Attributes:
        real: What happened on this machine.
        seen: What happened where a GPU was at hand, as far as the loop came there.
        loader: What dealt the batches then.
        pretended: Whether that GPU was pretended.
        takes_gpu: Whether it asked for a GPU, and went to the one that it was told of.
    """

    def __init__(self, code: Callable[[WatchedLoader], Any], batches: Sequence[Batch]) -> None:
        """``code`` gets a loader that deals out the batches.

        Raises:
            Exception: Whatever stops the code on this machine.
        """
        self.loader = WatchedLoader(batches)
        self.real = self.seen = Watch(MNISTClassifier).run(lambda: code(self.loader))
        if self.real.problem:
            raise self.real.problem
        self.pretended = False
        self.takes_gpu = self.real.asked_for_gpu and self.real.devices <= best_devices()
        if torch.cuda.is_available() or self.real.devices - {"cpu"}:
            return
        loader = WatchedLoader(batches)
        ahead = Watch(MNISTClassifier, pretend=True).run(lambda: code(loader))
        if ahead.problem:  # a pretended GPU can't do everything that a real one can
            return
        self.takes_gpu = self.takes_gpu and bool(ahead.sent)
        if ahead.sent:
            self.seen, self.loader, self.pretended = ahead, loader, True

    def require_moved(self) -> None:
        """Go on only if the images and the labels of every batch were moved before their use."""
        for part, name in enumerate(("images", "labels")):
            notes = [batch[part].notes for batch in self.loader.dealt]
            if self.real.devices - {"cpu"}:  # it stops by itself where two devices meet
                notes = [note - {"used"} for note in notes]
            thrown_away = any({"used", "moved"} <= note for note in notes)
            require(
                bool(notes) and all(note == {"moved"} for note in notes),
                f"{name} of every batch on the device before they are used",
                f"{name} that meet the model where the loader left them",
                f"the moved {name} are thrown away: .to() returns a new tensor"
                if thrown_away
                else "look what becomes of a batch inside the loop, before its forward pass",
            )


def require_losses(
    found: object, expected: Sequence[float], what: str, device: str | torch.device = "cpu"
) -> None:
    """Go on only if these are the losses of the float32 loop, an epoch each."""
    near = 1e-4 if torch.device(device).type == "cpu" else 1e-2
    same = (
        isinstance(found, list)
        and len(found) == len(expected)
        and all(isinstance(loss, float) for loss in found)
        and all(map(lambda a, b: math.isclose(a, b, rel_tol=near), found, expected))
    )
    require(
        same,
        f"the losses {', '.join(f'{loss:.4f}' for loss in expected)} of {what}",
        ", ".join(f"{loss:.4f}" if isinstance(loss, float) else repr(loss) for loss in found)
        if isinstance(found, list)
        else repr(found),
        "compare the lines around your blanks with train_one_epoch, one by one",
    )


def float32_losses(answer: Any, batches: Sequence[Batch], epochs: int) -> list[float]:
    """What the loop gives on the CPU, without a GPU and without mixed precision."""
    cpu = torch.device("cpu")
    answer.same_start()
    model = MNISTClassifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion, loader = nn.CrossEntropyLoss(), list(batches)
    return [train_one_epoch(model, loader, optimizer, criterion, cpu) for _ in range(epochs)]


def same_tensors(one: Any, other: Any) -> bool:
    """Whether both are built alike and hold equal tensors and numbers, wherever they lie."""
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return one.dtype == other.dtype and torch.equal(one.detach().cpu(), other.detach().cpu())
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same_tensors(one[k], other[k]) for k in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same_tensors, one, other))
    return type(one) is type(other) and bool(one == other)


@contextmanager
def elsewhere() -> Iterator[Path]:
    """A folder of its own to work in; whatever is written there goes with it."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        yield Path(folder)


def silence() -> Any:
    """A room in which nothing that is printed is seen."""
    return contextlib.redirect_stdout(io.StringIO())


def require_run(answer: Any) -> None:
    """Go on only where the cells have really run."""
    if vars(answer).get("FROM_FILE"):
        raise CannotJudgeError("a file does not say how its run went; the notebook's own cell does")


def require_keys(stored: Any, wanted: set[str]) -> None:
    """Go on only if it is a dictionary with these keys."""
    keys = set(stored) if isinstance(stored, dict) else set()
    require(
        isinstance(stored, dict) and keys == wanted,
        f"a dictionary with the keys {', '.join(sorted(wanted))}",
        f"{type(stored).__name__}; missing: {', '.join(sorted(wanted - keys)) or 'none'}; "
        f"not asked for: {', '.join(sorted(map(str, keys - wanted))) or 'none'}",
        "the text above names the keys",
    )


def opened_safely(path: Path) -> Any:
    """What a file holds, if it is there and opens with the protection on."""
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        require(False, f"a file {path.name}", "none", "save to the path that the function gets")
    except OSError as problem:
        require(False, f"a file {path.name}", str(problem.strerror), "move away what is there")
    except Exception as problem:  # the safe loader names many reasons
        require(
            False,
            f"{path.name} to open with weights_only=True",
            type(problem).__name__,
            "keep tensors and plain numbers in it: the state of both, float() of a metric, and no "
            "object of your own",
        )


def opened_after_run(path: Path) -> Any:
    """What the learner's own run has saved.

    Raises:
        NotYetError: If it has saved nothing.
    """
    if not path.exists():
        raise NotYetError(f"there is no {path} yet; your run has to come to its end and save it")
    return opened_safely(path)


def steps_of(run: Watch) -> list[list[str]]:
    """What happened in each step, from one forward pass to the next.

    Where the code stopped, the last one is left out if there are others.

    Raises:
        Exception: What stopped the code before its first backward.
    """
    steps: list[list[str]] = []
    for event in run.events:
        if event.startswith("logits") and " train " in event:
            steps.append([])
        if steps:
            steps[-1].append(event)
    if run.problem and not any("backward" in event for step in steps for event in step):
        raise run.problem
    return steps[:-1] if run.problem and len(steps) > 1 else steps


def require_order(step: Sequence[str], first: str, second: str) -> None:
    """Go on only if one event came before another one in a step."""
    places = [next((i for i, e in enumerate(step) if e.startswith(w)), -1) for w in (first, second)]
    require(
        -1 not in places and places[0] < places[1],
        f"{first}, then {second}",
        ", ".join(step[1:]),
        "read the order of the five lines again",
    )


# --8<-- [end:practice]


# --8<-- [start:check_1]
def practised_1(answer: Any, sizes: Sequence[int]) -> Practice:
    """The learner's loop on batches of these sizes, and what it did."""
    with small_validation(answer.train_on_device):
        return Practice(lambda loader: answer.train_on_device(loader, 1), practice_batches(sizes))


def small_validation(function: Any) -> Any:
    """For a while the function finds eight made-up images where it would validate on thousands."""
    images, labels = practice_batches([8])[0]
    few = DataLoader(TensorDataset(images, labels), batch_size=8)
    return patch.dict(function.__globals__, validation_loader=few)


@todo("1.1", "the device (blank 1a)")
def chooses_the_device(answer: Any) -> None:
    """The GPU where there is one, the CPU where there is none."""
    practice = practised_1(answer, [8, 5])
    require(
        practice.takes_gpu,
        "a GPU where PyTorch says that there is one, and the CPU where not",
        f"{practice.real.result[0]}, whatever PyTorch says",
        "let the code ask PyTorch, and use the answer",
    )
    require(
        torch.device(practice.real.result[0]).type in best_devices(),
        f"one of {', '.join(sorted(best_devices()))}",
        practice.real.result[0],
        "the device is the first thing that the function returns",
    )


@todo("1.2", "the model (blank 1b)")
def places_the_model(answer: Any) -> None:
    """The model that trains and comes back is the one that was moved."""
    for sizes in ([8, 5], [6]):
        practice = practised_1(answer, sizes)
        _, model, *_ = practice.seen.result
        require(
            any(module is model for module in practice.seen.moved_modules),
            "the model that trains to be placed on the device",
            "a model that stays where it was built",
            "a model is on the CPU until it is told to go elsewhere",
        )
        where = {parameter.device.type for parameter in practice.real.result[1].parameters()}
        require(
            where <= best_devices(),
            f"its parameters on {' or '.join(sorted(best_devices()))}",
            ", ".join(where),
            "model and device have to agree",
        )


@todo("1.3", "the batch (blank 1c)")
def moves_every_batch(answer: Any) -> None:
    """Images and labels of all batches go to the device before they are used."""
    for sizes in ([8, 5], [random.randint(3, 9)] * 3):
        practised_1(answer, sizes).require_moved()


@todo("1.4", "the loop around them")
def still_trains(answer: Any) -> None:
    """It computes what the loop on the CPU does: one epoch, and two with other batches."""
    for sizes, epochs in (([8, 8, 5], 1), ([random.randint(3, 9)] * 2, 2)):
        batches = practice_batches(sizes)
        loader = WatchedLoader(batches)
        with small_validation(answer.train_on_device), silence():
            device, model, losses, seconds = answer.train_on_device(loader, epochs)
        wanted = float32_losses(answer, batches, epochs)
        require_losses(losses, wanted, f"{epochs} epoch(s)", device)
        require(
            isinstance(seconds, list) and len(seconds) == epochs and min(seconds) > 0,
            f"{epochs} time(s) above zero",
            seconds,
            "each epoch has its clock",
        )
        require(isinstance(model, MNISTClassifier), "the model", type(model).__name__, "return it")


@todo("1.5", "your run")
def has_learned(answer: Any) -> None:
    """The losses of the real run fall; one alone is below that of a guess."""
    require_run(answer)
    losses = answer.losses
    if not losses:
        raise NotYetError("your function has trained nothing yet; run the cell of exercise 1")
    guess = math.log(10)  # of a model that gives each of ten digits the same chance
    alone = len(losses) == 1
    require(
        losses[-1] < (guess if alone else losses[0]),
        f"a loss below {guess:.4f}, that of a guess among ten digits"
        if alone
        else "a last epoch with a lower loss than the first",
        ", ".join(f"{loss:.4f}" for loss in losses),
        "look whether gradients and steps are still in the loop",
    )


# --8<-- [end:check_1]


# --8<-- [start:check_2]
def trained_a_little() -> tuple[nn.Module, torch.optim.Optimizer]:
    """A small training of its own, so that its optimizer remembers something."""
    torch.manual_seed(random.randrange(10**6))
    model = MNISTClassifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(random.randint(1, 3)):
        model(torch.randn(4, 1, 28, 28)).square().mean().backward()
        optimizer.step()
    return model, optimizer


def written_by_us(path: Path, from_gpu: bool = True) -> dict[str, Any]:
    """Write a checkpoint, as if its tensors had lain on a GPU, and return what is in it."""
    model, optimizer = trained_a_little()
    content = {
        "epoch": random.randint(0, 9),
        "model_state_dict": model.state_dict(),
        "optimizer_state_dict": optimizer.state_dict(),
        "loss": random.uniform(0.1, 2.0),
    }
    # What a file says whose tensors lay on a GPU; so the mistake shows without one.
    tag = patch("torch.serialization.location_tag", lambda _: "cuda:0")
    with tag if from_gpu else contextlib.nullcontext():
        torch.save(content, path)
    return content


@todo("2.1", "the dictionary (blank 2a)")
def saves_everything(answer: Any) -> None:
    """Two trainings, two files, each with all that its training needs."""
    with elsewhere() as folder:
        for name in ("one.pth", "another.pth"):
            model, optimizer = trained_a_little()
            epoch, loss = random.randint(1, 9), random.uniform(0.1, 2.0)
            answer.save_checkpoint(folder / name, model, optimizer, epoch, loss)
            stored = opened_safely(folder / name)
            require_keys(stored, KEYS)
            require(
                type(stored["epoch"]) is int and stored["epoch"] == epoch,
                f"epoch {epoch}, which the function got",
                repr(stored["epoch"]),
                "epochs count from zero, and the caller has counted",
            )
            require(
                type(stored["loss"]) is float and stored["loss"] == loss,
                f"loss {loss:.4f} as a plain number",
                f"{stored['loss']!r}, a {type(stored['loss']).__name__}",
                "loss should be a float, the one that the function got",
            )
            require(
                same_tensors(stored["model_state_dict"], model.state_dict()),
                "the weights of the model that the function got",
                "others",
                "every tensor of the model is needed",
            )
            require(
                same_tensors(
                    copied(stored["optimizer_state_dict"]), copied(optimizer.state_dict())
                ),
                "Adam's memory of every parameter",
                "something else",
                "without the optimizer's state Adam starts anew",
            )


@todo("2.2", "loading (blank 2b)")
def loads_anywhere(answer: Any) -> None:
    """Two files that say they come from a GPU, each from its own path, with the protection on."""
    asked: list[dict[str, Any]] = []
    original = torch.load

    def load(*args: Any, **kwargs: Any) -> Any:
        asked.append(dict(zip(("f", "map_location"), args, strict=False)) | kwargs)
        return original(*args, **kwargs)

    with elsewhere() as folder, patch.object(torch, "load", load):
        for name in ("one.pth", "another.pth"):
            wanted = written_by_us(folder / name)
            loaded = loaded_from(answer, folder / name, asked)
            require_keys(loaded, KEYS)
            require(
                same_tensors(loaded, wanted),
                f"what the file at the path holds, epoch {wanted['epoch']}",
                f"something else, epoch {loaded['epoch']}",
                "open the path that the function gets",
            )
            tensors = loaded["model_state_dict"].values()
            there = sorted({tensor.device.type for tensor in tensors})
            require(there == ["cpu"], "tensors on the CPU", ", ".join(there), "say where they go")
    require(
        bool(asked) and all(call.get("weights_only") is True for call in asked),
        "the file opened with the protection on, and the code says so",
        "a call that does not say weights_only=True",
        "a checkpoint of tensors and numbers opens the safe way",
    )


def loaded_from(answer: Any, path: Path, asked: Sequence[Mapping[str, Any]]) -> Any:
    """What the learner's function gives for a file that says it comes from a GPU."""
    try:
        return answer.load_on_cpu(path)
    except NotYetError:
        raise
    except Exception as problem:  # whatever loading may raise
        overruled = any(call.get("map_location") is not None for call in asked)
        require(
            False,
            "a checkpoint that was written on a GPU to load on the CPU",
            f"{type(problem).__name__}",
            "the tensors shall arrive on the CPU, and the function returns the whole dictionary"
            if overruled
            else "each tensor goes back to the device that the file names, unless torch.load is "
            "told where to put it",
        )


@todo("2.3", "rebuilding (blank 2c)")
def rebuilds_a_fresh_model(answer: Any) -> None:
    """Two checkpoints give two models, each with the answers of its own training."""
    images = torch.randn(5, 1, 28, 28)
    rebuilt: list[tuple[nn.Module, torch.Tensor]] = []
    for _ in range(2):
        model, optimizer = trained_a_little()
        checkpoint = {
            "epoch": 0,
            "model_state_dict": copied(model.state_dict()),
            "optimizer_state_dict": copied(optimizer.state_dict()),
            "loss": 1.0,
        }
        came = rebuilt_from(answer, checkpoint)
        require(
            isinstance(came, nn.Module),
            "a model",
            f"a {type(came).__name__}",
            "load_state_dict changes a model in place, and what it returns is no model",
        )
        require_on_cpu(came)
        with torch.no_grad():
            rebuilt.append((came, model.eval()(images)))
    require(
        rebuilt[0][0] is not rebuilt[1][0],
        "a fresh model for every checkpoint",
        "the same one twice",
        "the function builds a model of its own",
    )
    for came, answers in rebuilt:
        with torch.no_grad():
            same = torch.equal(came.eval()(images), answers)
        require(
            same,
            "the answers of the model that was saved",
            "others",
            "look which weights the model has when it is returned",
        )


def rebuilt_from(answer: Any, checkpoint: dict[str, Any]) -> Any:
    """What the learner's function makes of a checkpoint."""
    try:
        return answer.rebuild(checkpoint)
    except NotYetError:
        raise
    except Exception as problem:  # a wrong dictionary fails in many ways
        require(
            False,
            "a model with the saved weights",
            type(problem).__name__,
            "the checkpoint has four keys, and the model wants what lies under one of them",
        )


def require_on_cpu(model: nn.Module) -> None:
    """Go on only if all parameters are on the CPU."""
    there = sorted({parameter.device.type for parameter in model.parameters()})
    require(there == ["cpu"], "a model on the CPU", ", ".join(there), "leave it there")


@todo("2.4", "your checkpoint")
def carries_the_trained_model(answer: Any) -> None:
    """The file of the real run has the last epoch, and rebuilt it answers as the trained model."""
    require_run(answer)
    path, epochs = answer.checkpoint_path, answer.CHECKPOINT_EPOCHS
    stored = opened_after_run(path)
    require_keys(stored, KEYS)
    require(
        stored["epoch"] == epochs - 1,
        f"epoch {epochs - 1}, the last of {epochs}",
        stored["epoch"],
        "run the cell of exercise 2 again, to its end",
    )
    images, _ = next(iter(answer.test_loader))
    rebuilt = rebuilt_from(answer, answer.load_on_cpu(path))
    device = next(answer.trained.parameters()).device
    with torch.no_grad():
        before = answer.trained.eval()(images.to(device)).cpu()
        after = rebuilt.eval()(images)
    # One device gives every bit again; two add in another order, and TF32 rounds on one of them.
    close = torch.allclose(before, after, atol=1e-2, rtol=1e-2)
    require(
        torch.equal(before, after) if device.type == "cpu" else close,
        "the rebuilt model to answer as the trained one",
        "other answers",
        "run the cell of exercise 2 again, to its end",
    )


# --8<-- [end:check_2]


# --8<-- [start:check_3]
def mixed_run(answer: Any, use_amp: bool, sizes: Sequence[int], epochs: int) -> Watch:
    """The learner's loop on the CPU, which can do mixed precision too, slowly."""
    loader = WatchedLoader(practice_batches(sizes))
    return Watch(MNISTClassifier).run(
        lambda: answer.train_mixed(loader, torch.device("cpu"), use_amp, epochs)
    )


def situations() -> list[tuple[list[int], int]]:
    """Batches and epochs: one epoch of two batches, and two of three others."""
    return [([8, 5], 1), ([random.randint(3, 9)] * 3, 2)]


def require_in_each(steps: Sequence[Sequence[str]], what: str, hint: str) -> None:
    """Go on only if something happened once in every step."""
    counts = [step.count(what) for step in steps]
    require(
        bool(counts) and set(counts) == {1},
        f"{what} once in each step",
        f"{', '.join(map(str, counts)) or 'no'} times",
        hint,
    )


@todo("3.1", "the scaler (blank 3a)")
def makes_one_scaler(answer: Any) -> None:
    """One for the whole run, for the device that trains, and on only with use_amp."""
    for (sizes, epochs), use_amp in zip(
        (*situations(), ([4], 1)), (True, True, False), strict=True
    ):
        run = mixed_run(answer, use_amp, sizes, epochs)
        steps_of(run)
        require_scaler(run, "cpu", use_amp)
    require_scaler(run_on_gpu(answer, [4, 4]), "cuda", True)


def require_scaler(run: Watch, device: str, on: bool) -> None:
    """Go on only if exactly one scaler was made, as it should be."""
    require(
        len(run.scalers) == 1 or (not on and not run.scalers),
        "one scaler for the whole run",
        f"{len(run.scalers)}",
        "its factor has to survive from step to step",
    )
    for scaler in run.scalers:
        require(
            scaler.device == device,
            f"a scaler for {device!r} where the function trains on it",
            f"one for {scaler.device!r}",
            "the function is told the device",
        )
        require(
            scaler.enabled == on,
            f"a scaler that is {'on' if on else 'off'} with use_amp={on}",
            f"one that is {'on' if scaler.enabled else 'off'}",
            "the function is told whether mixed precision is on",
        )


def run_on_gpu(answer: Any, sizes: Sequence[int]) -> Watch:
    """The learner's loop on a GPU, pretended where there is none."""
    loader = WatchedLoader(practice_batches(sizes))
    run = Watch(MNISTClassifier, pretend=not torch.cuda.is_available())
    return run.run(lambda: answer.train_mixed(loader, torch.device("cuda"), True, 1))


@todo("3.2", "autocast (blank 3b)")
def runs_forward_under_autocast(answer: Any) -> None:
    """Float16 logits, a float32 loss, backward outside; and nothing of it with use_amp off."""
    for sizes, epochs in situations():
        events = [
            event for step in steps_of(mixed_run(answer, True, sizes, epochs)) for event in step
        ]
        for what, wanted, hint in (
            ("logits", "float16", "the forward pass belongs under autocast, for the right device"),
            ("loss", "float32", "compute the loss inside autocast too: it comes out in float32"),
        ):
            types = {event.split()[1] for event in events if event.startswith(f"{what} ")}
            if types == {"bfloat16"}:
                hint = "this exercise asks for float16, which needs the scaler; bfloat16 would not"
            require(types == {wanted}, f"{what} in {wanted}", ", ".join(types) or "none", hint)
        require(
            not any("inside autocast" in event for event in events),
            "backward after autocast has ended",
            "backward inside it",
            "backward chooses the types of forward by itself",
        )
        events = mixed_run(answer, False, sizes, epochs).events
        types = {event.split()[1] for event in events if event.startswith("logits")}
        require(
            types == {"float32"},
            "float32 logits with use_amp off",
            ", ".join(types) or "none",
            "autocast has a switch, and the function is told its position",
        )
    under = run_on_gpu(answer, [4]).trained_under
    require(
        bool(under)
        and all(helper and (helper.device, helper.enabled) == ("cuda", True) for helper in under),
        "autocast for 'cuda' where the function trains on it",
        ", ".join(repr(helper.device) if helper else "none" for helper in under) or "none",
        "the function is told the device",
    )


@todo("3.3", "the scaled backward (blank 3c)")
def scales_before_backward(answer: Any) -> None:
    """In each step the loss is scaled once, and backward begins at the scaled one."""
    for sizes, epochs in situations():
        run = mixed_run(answer, True, sizes, epochs)
        steps = steps_of(run)
        require_in_each(steps, "scaler scale", "the gradients have to come out multiplied")
        backward = [event for step in steps for event in step if event.startswith("backward")]
        require(
            len(backward) == len(steps) and all(b.startswith("backward scaled") for b in backward),
            "backward once in each step, on the scaled loss",
            ", ".join(backward) or "no backward",
            "what the scaler returns is a new tensor",
        )


@todo("3.4", "the step (blank 3d)")
def lets_the_scaler_step(answer: Any) -> None:
    """In each step the scaler steps after backward, and nobody else does."""
    for sizes, epochs in situations():
        steps = steps_of(mixed_run(answer, True, sizes, epochs))
        require_in_each(steps, "scaler step", "the scaler takes the place of the optimizer here")
        for step in steps:
            own = step.count("optimizer step")
            require(
                own <= 1,
                "at most one step of the optimizer, by the scaler",
                f"{own}",
                "the scaler calls the optimizer by itself",
            )
            require_order(step, "backward", "scaler step")


@todo("3.5", "the update (blank 3e)")
def updates_the_factor(answer: Any) -> None:
    """Once in each step, at its end."""
    for sizes, epochs in situations():
        steps = steps_of(mixed_run(answer, True, sizes, epochs))
        require_in_each(steps, "scaler update", "the factor adapts at the end of each step")
        for step in steps:
            require_order(step, "scaler step", "scaler update")


@todo("3.6", "the loop around them")
def changes_nothing_else(answer: Any) -> None:
    """With use_amp off it is the float32 loop; with use_amp on it reports losses of their size."""
    for sizes, epochs in situations():
        batches = practice_batches(sizes)
        wanted = float32_losses(answer, batches, epochs)
        off = watched_loop(answer, batches, epochs, use_amp=False)
        require_losses(off.result[1], wanted, "the float32 loop, with use_amp off")
        _, losses, seconds = watched_loop(answer, batches, epochs, use_amp=True).result
        require(len(seconds) == epochs, f"{epochs} time(s)", len(seconds), "one an epoch")
        require(
            len(losses) == epochs and losses[-1] < 100 * wanted[-1],
            f"losses of about {wanted[-1]:.2f}",
            ", ".join(f"{loss:.2f}" for loss in losses),
            "the scaled loss is for backward alone",
        )


def watched_loop(answer: Any, batches: Sequence[Batch], epochs: int, use_amp: bool) -> Watch:
    """The learner's loop on the CPU, in training mode and with gradients that begin at zero."""
    loader, cpu = WatchedLoader(batches), torch.device("cpu")
    run = Watch(MNISTClassifier).run(lambda: answer.train_mixed(loader, cpu, use_amp, epochs))
    if run.problem:
        raise run.problem
    for event, what in ((" on old gradients", "older gradients"), (" eval ", "evaluation mode")):
        require(
            not any(event in noted for noted in run.events),
            "training mode, and gradients that begin at zero in each step",
            what,
            "compare the lines around your blanks with train_one_epoch, one by one",
        )
    return run


# --8<-- [end:check_3]


# --8<-- [start:check_4]
BATCHES = (16, 12)  # the sizes of the practice batches
PARTS = 40  # an image of the practice validation counts this part
CLOCKS = {"perf_counter": 1.0, "time": 1.0, "monotonic": 1.0, "perf_counter_ns": 10**9}


class ScheduledLoader(DataLoader[Any]):
    """A validation of which every model gets a known share right: other ones in each epoch.

    It deals the same image again and again. Ten of them have the ten labels, so that a model is
    right about one; the others have a label that no model gives, and that a loss leaves out.
    """

    def __init__(self, tens: Sequence[int]) -> None:
        """``tens`` says for each epoch how many times all ten labels are there; at most four."""
        self.tens, self.run = tens, Watch(MNISTClassifier)
        super().__init__(TensorDataset(torch.zeros(PARTS, 1), torch.zeros(PARTS)), batch_size=PARTS)

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        trained = sum(event.startswith("backward") for event in self.run.events)
        tens = self.tens[min(max(trained // len(BATCHES), 1), len(self.tens)) - 1]
        labels = [*range(10)] * tens + [-100] * (PARTS - 10 * tens)
        yield torch.ones(PARTS, 1, 28, 28), torch.tensor(labels)


def accuracies(tens: Sequence[int]) -> list[float]:
    """What an evaluation gives in each epoch, in percent."""
    return [100 * count / PARTS for count in tens]


def best_epochs(tens: Sequence[int]) -> list[int]:
    """The epochs that are better than all before, counted from zero."""
    return [epoch for epoch, count in enumerate(tens) if count > max(tens[:epoch], default=-1)]


def schedules() -> list[list[int]]:
    """Nothing is ever right; and it rises, falls, and rises to the best before the end."""
    low, high = random.sample(range(1, 4), 2)
    low, high = sorted((low, high))
    return [[0, 0, 0], [low, low - 1, high, high, low]]


class Clock:
    """In the place of the module ``time``: it goes on at each backward pass of a run.

    Attributes:
        reads: How often somebody has asked what time it is; each takes a thousandth of a second.
    """

    def __init__(self, run: Watch, step: float) -> None:
        """``step`` is how long a pass seems to take, in seconds."""
        self._run, self._step, self._module, self.reads = run, step, time, 0
        self._begin = random.uniform(10**5, 10**6)

    def __getattr__(self, name: str) -> Any:
        """What the module has, but for its clocks."""
        if name in CLOCKS:
            return lambda: self._now(CLOCKS[name])
        return getattr(self._module, name)

    def _now(self, second: float) -> float:
        """The time, in the type and the unit of a clock."""
        self.reads += 1
        passes = sum(event.startswith("backward") for event in self._run.events)
        now = self._begin + passes * self._step + self.reads / 1000
        return type(second)(now * second)


@contextmanager
def practised_4(answer: Any, validation: ScheduledLoader) -> Iterator[tuple[Watch, Path]]:
    """The script on practice batches, as many epochs as are scheduled, on this machine."""
    loader, epochs = WatchedLoader(practice_batches(BATCHES)), len(validation.tens)
    with elsewhere() as folder:
        best = folder / "best.pth"
        run = validation.run.run(lambda: answer.portable_training(loader, validation, epochs, best))
        if run.problem:
            raise run.problem
        yield run, best


def practised_ahead(answer: Any, epochs: int) -> Practice:
    """The script where a GPU is at hand, pretended if need be."""
    with elsewhere() as folder:
        validation = DataLoader(TensorDataset(torch.ones(1, 1, 28, 28), torch.tensor([-100])))
        return Practice(
            lambda loader: answer.portable_training(
                loader, WatchedLoader(list(validation)), epochs, folder / "best.pth"
            ),
            practice_batches(BATCHES),
        )


@todo("4.1", "device, model and batches")
def places_everything(answer: Any) -> None:
    """All three are where there is a GPU, and on the CPU where there is none."""
    for epochs in (1, 3):
        practice = practised_ahead(answer, epochs)
        require(
            practice.takes_gpu,
            "a GPU where PyTorch says that there is one, and the CPU where not",
            ", ".join(sorted(practice.real.devices)) + ", whatever PyTorch says",
            "ask in the function, and use the answer for model and batches",
        )
        # A model that is built under torch.device(...) needs no move.
        placed = "empty" in practice.seen.sent or practice.seen.devices <= best_devices() - {"cpu"}
        placed |= any(isinstance(module, MNISTClassifier) for module in practice.seen.moved_modules)
        require(
            placed,
            "the model on the device",
            "a model that stays where it was built",
            "a model is on the CPU until it is told to go elsewhere",
        )
        practice.require_moved()


@todo("4.2", "training and validation")
def trains_and_validates(answer: Any) -> None:
    """Each epoch trains on every batch and validates, in the modes that belong to them."""
    for tens in schedules():
        with practised_4(answer, ScheduledLoader(tens)) as (run, _):
            require_training(run, len(tens))


def require_training(run: Watch, epochs: int) -> None:
    """Go on only if each epoch trained and validated."""
    logits = [event.split()[1:] for event in run.events if event.startswith("logits")]
    validated = [mode for _, mode, rows in logits if rows == str(PARTS)]
    trained = [mode for _, mode, rows in logits if rows in map(str, BATCHES)]
    steps, wanted = run.events.count("optimizer step"), epochs * len(BATCHES)
    require(
        trained.count("train") == wanted,
        f"{wanted} batches in training mode in {epochs} epochs",
        f"{trained.count('train')}",
        "evaluation leaves the model in eval mode; and every batch of every epoch counts",
    )
    # The scaler may skip the optimizer's step, and a branch for the CPU may do without it.
    steps = max(steps, run.events.count("scaler step"))
    require(steps >= wanted, f"{wanted} steps", f"{steps}", "each batch ends with a step")
    require(
        not any("on old gradients" in event for event in run.events),
        "gradients that begin at zero in each step",
        "gradients of the step before",
        "they add up until somebody clears them",
    )
    require(
        len(validated) >= epochs and set(validated) == {"eval"},
        f"{epochs} validations in evaluation mode",
        f"{len(validated)}, in the mode(s) {', '.join(sorted(set(validated))) or 'none'}",
        "the accuracy is measured on the validation loader, and the model has a mode for it",
    )


@todo("4.3", "mixed precision")
def uses_mixed_precision_on_a_gpu(answer: Any) -> None:
    """Autocast and one scaler are at work with a GPU, and only there."""
    for epochs in (1, 3):
        require_mixed_precision(practised_ahead(answer, epochs), epochs * len(BATCHES))


def require_mixed_precision(practice: Practice, steps: int) -> None:
    """Go on only if it is on with a GPU, and only there, and the scaler does its three things."""
    seen, real = practice.seen, practice.real
    with_gpu = practice.pretended or "cuda" in seen.devices
    autocasts = [helper for helper in seen.trained_under if helper and helper.enabled >= with_gpu]
    scalers = [helper for helper in seen.scalers if helper.enabled >= with_gpu]
    scaled = scalers or {"bfloat16"} == {helper.dtype for helper in autocasts}  # it needs none
    missing = [] if len(autocasts) == len(seen.trained_under) else ["autocast"]
    missing += [] if scaled else ["scaler"]
    require(
        not missing,
        "mixed precision where there is a GPU",
        f"no {' and no '.join(missing)} at work there",
        "both are made for the device, and switched on by what it is",
    )
    require(not real.warnings, "no warning", " ".join(real.warnings[:1]), "look at the devices")
    made: list[Helper] = [*real.scalers, *filter(None, real.trained_under)]
    on_cpu = real.devices == {"cpu"} and any(helper.enabled for helper in made)
    require(not on_cpu, "all of it off on the CPU", "some of it on", "exercise 3 has the switch")
    elsewhere_made = [h.device for h in (*scalers, *autocasts) if with_gpu and h.device != "cuda"]
    require(
        not elsewhere_made,
        "autocast and scaler for 'cuda' on a GPU",
        f"for {', '.join(map(repr, elsewhere_made[:1]))}",
        "both are told the device's type",
    )
    types = {helper.dtype for helper in autocasts}
    require(
        types <= {"None", "float16", "bfloat16"},  # None is float16 on a GPU
        "autocast in a type of 16 bits",
        ", ".join(sorted(types)),
        "float32 is what the loop had before",
    )
    if not scalers:
        return
    require(len(scalers) == 1, "one scaler for the whole run", len(scalers), "it has to remember")
    counts = [seen.events.count(f"scaler {name}") for name in ("scale", "step", "update")]
    require(
        counts == [steps] * 3,
        f"scale, step and update {steps} times in {steps} steps",
        ", ".join(map(str, counts)),
        "exercise 3 has the three lines",
    )
    for step in steps_of(seen):
        require_order(step, "scaler scale", "backward")
        require_order(step, "backward", "scaler step")
        require_order(step, "scaler step", "scaler update")
        require(
            not any("inside autocast" in event for event in step),
            "backward after autocast has ended",
            "backward inside it",
            "exercise 3 says why",
        )


@todo("4.4", "what is saved")
def saves_the_best(answer: Any) -> None:
    """Only epochs better than all before, with what was measured."""
    for tens in schedules():
        with practised_4(answer, ScheduledLoader(tens)) as (run, best):
            saved = [save for save in run.saved if save.place == str(best)]
            saved = saved or [save for save in run.saved if has_weights(save.content)]
            require_savings(run, saved, tens)
            require(best.exists(), "a file at the path", "none", "save to the path that you get")
            require(
                same_tensors(opened_safely(best), copied(saved[-1].content)),
                "the best epoch in the file",
                "something else",
                "nothing else is saved to the path",
            )


def has_weights(content: Any) -> bool:
    """Whether a dictionary that was saved may be a checkpoint."""
    return isinstance(content, dict) and "epoch" in content


def require_savings(run: Watch, saved: Sequence[Any], tens: Sequence[int]) -> None:
    """Go on only if the right epochs were saved, each with all that belongs to it."""
    wanted = best_epochs(tens)
    shown = ", ".join(f"{accuracy:.1f}" for accuracy in accuracies(tens))
    for save in saved:
        require_keys(save.content, KEYS | {"accuracy"})
    epochs = [save.content["epoch"] for save in saved]
    require(
        len(epochs) == len(wanted),
        f"{len(wanted)} time(s) something saved, with the accuracies {shown}",
        f"{len(epochs)} time(s)",
        "save an epoch that is better than all before, at once; even 0 is better than nothing",
    )
    require(
        epochs == wanted and all(type(epoch) is int for epoch in epochs),
        f"the epochs {wanted} saved, counted from zero, with the accuracies {shown}",
        f"{epochs}",
        "an epoch that is no better than the best is not saved; epochs count from zero",
    )
    for save, epoch in zip(saved, wanted, strict=True):
        require_content(run, save, epoch, accuracies(tens)[epoch])


def require_content(run: Watch, save: Any, epoch: int, accuracy: float) -> None:
    """Go on only if a checkpoint says of its epoch what is true."""
    content = save.content
    for name in ("loss", "accuracy"):
        require(
            type(content[name]) is float,
            f"{name} as a plain number",
            f"a {type(content[name]).__name__}",
            "float() of a metric makes it one",
        )
    require(
        math.isclose(content["accuracy"], accuracy, abs_tol=0.1),
        f"an accuracy of {accuracy:.1f}, in percent",
        f"{content['accuracy']:.3f}",
        "the validation images decide",
    )
    own = run.losses[epoch * len(BATCHES) : (epoch + 1) * len(BATCHES)]
    if len(run.losses) >= (epoch + 1) * len(BATCHES):
        require(
            min(own) - 1e-3 <= content["loss"] <= max(own) + 1e-3,
            f"a loss between {min(own):.4f} and {max(own):.4f}, as its batches had",
            f"{content['loss']:.4f}",
            "the mean over what was trained on",
        )
    require(
        same_tensors(content["model_state_dict"], save.measured),
        "each improvement saved at once, with the weights that were measured",
        "others",
        "save the model's state right after its validation, before the next epoch begins",
    )
    require(
        save.momenta is not None and same_tensors(content["optimizer_state_dict"], save.momenta),
        "the state of the optimizer that takes the steps",
        "something else",
        "a fresh optimizer remembers nothing",
    )


@todo("4.5", "the printout")
def prints_what_is_asked(answer: Any) -> None:
    """Where it runs, a line for each epoch with a mark if it was saved, and three at the end."""
    for tens in schedules():
        validation, step = ScheduledLoader(tens), random.uniform(50, 90)
        clock = Clock(validation.run, step)
        cells = answer.portable_training.__globals__
        with patch.dict(cells, time=clock), practised_4(answer, validation) as (run, _):
            seconds = step * len(tens) * len(BATCHES) if clock.reads else None
            require_printout(run, tens, seconds)
    practice = practised_ahead(answer, 1)
    if practice.pretended:
        require_precision_named(practice.real, practice.seen)


STATES = "on|off|true|false|enabled|disabled|active|inactive|yes|no"
ON = "on|true|enabled|active|yes"
NO = r"\b(no|not|nothing|none|worse|below|unchanged|kept|keeps|skip|skipped)\b|n't"


def parts_of(run: Watch) -> list[str]:
    """What was printed first, then by turns a line with a loss and what came after it."""
    return re.split(r"^(.*(?<![\d.])\d+\.\d{4}(?!\d).*)$", run.printed, flags=re.MULTILINE)


def require_printout(run: Watch, tens: Sequence[int], seconds: float | None) -> None:
    """Go on only if everything that is asked for was printed, and true."""
    start, *rest = parts_of(run)
    lines, after, total = rest[::2], rest[1::2], len(tens)
    devices = run.devices | ({"gpu"} if run.devices - {"cpu"} else set())

    def names_device(text: str) -> bool:
        return any(device in text.lower() for device in devices)

    require(
        names_device(start) and bool(re.search("precision|amp|autocast|16", start.lower())),
        "the device and mixed precision named at the start",
        repr(start.strip()),
        f"before the first epoch say that it runs on {' or '.join(sorted(run.devices))} here, and "
        "whether mixed precision is on",
    )
    require(
        len(lines) == total,
        f"{total} lines with a loss of four decimals",
        f"{len(lines)}",
        "print a line for each epoch, and keep four decimals for the loss",
    )
    for epoch, line in enumerate(lines):
        require_epoch_line(line, epoch, total, accuracies(tens)[epoch])
        require_loss(run, epoch, line)
    require_marks([f"{line}{more}" for line, more in zip(lines, after, strict=True)], tens)
    require_end("".join(after[-1:]), names_device, max(accuracies(tens)), seconds, total)


def require_precision_named(*runs: Watch) -> None:
    """Go on only if the start of each run says whether mixed precision is on in it."""
    starts = [parts_of(run)[0].strip() for run in runs]
    plain = [re.sub(r"a pretended gpu|cpu|cuda(:\d)?|gpu", "", start.lower()) for start in starts]
    is_on = [any(helper and helper.enabled for helper in run.trained_under) for run in runs]
    for text, on in zip(plain, is_on, strict=True):
        words = re.findall(rf"(?:precision|amp|autocast)[^.,;|\n]*\b({STATES})\b", text)
        said_on = bool(words) and re.fullmatch(ON, words[-1]) is not None
        require(
            not words or said_on == on,
            f"mixed precision {'on' if on else 'off'} at the start, as it is",
            " and ".join(map(repr, starts)),
            "say what the switch says",
        )
    require(
        len(set(plain)) == len(set(is_on)) or len(set(is_on)) == 1,
        "a start that says whether mixed precision is on",
        f"{' and '.join(map(repr, starts))}, without a GPU and with one",
        "say what the switch says",
    )


def require_epoch_line(line: str, epoch: int, total: int, accuracy: float) -> None:
    """Go on only if a line has the epoch out of the total, and its accuracy."""
    whole = set(re.findall(r"(?<![\d.])\d+(?!\.?\d)", line))
    percent = re.findall(r"(?<![\d.])\d+\.\d{2}(?!\d)", line)
    require(
        str(total) in whole and bool({str(epoch), str(epoch + 1)} & whole),
        f"epoch {epoch + 1} of {total} in its line",
        repr(line.strip()),
        "print the number out of the total",
    )
    require(
        f"{accuracy:.2f}" in percent,
        f"the accuracy {accuracy:.2f} in its line",
        repr(line.strip()),
        "four decimals for the loss, and two for the accuracy in percent",
    )


def require_loss(run: Watch, epoch: int, line: str) -> None:
    """Go on only if a line has a loss that the batches of its epoch may have on average."""
    own = run.losses[epoch * len(BATCHES) : (epoch + 1) * len(BATCHES)]
    if len(own) < len(BATCHES):  # the learner's criterion is none that is watched
        return
    printed = [float(n) for n in re.findall(r"(?<![\d.])\d+\.\d{4}(?!\d)", line)]
    require(
        any(min(own) - 1e-3 <= number <= max(own) + 1e-3 for number in printed),
        f"a loss between {min(own):.4f} and {max(own):.4f}, as its batches had",
        repr(line.strip()),
        "the mean over what was trained on",
    )


def require_marks(lines: Sequence[str], tens: Sequence[int]) -> None:
    """Go on only if the lines of the epochs that were saved have a mark, and no others."""
    words = [re.sub(r"\d+", "0", line).split() for line in lines]
    words[-1] = re.sub(r"\d+", "0", lines[-1].lstrip("\n").partition("\n")[0]).split()
    best = best_epochs(tens)
    marked = [words[epoch] for epoch in best]
    plain = [words[epoch] for epoch in range(len(tens)) if epoch not in best]
    # A word more on the others is a mark of theirs, unless it says no.
    turned = any(
        not set(of_best) - set(other) and not re.search(NO, " ".join(other).lower())
        for of_best in marked
        for other in plain
    )
    require(
        not turned and not any(of_best in plain for of_best in marked),
        f"a mark on the epochs that were saved, here {best}, and on no other",
        "a mark on the others" if turned and marked[0] not in plain else "lines that look alike",
        "put a word into its line",
    )


def require_end(
    text: str,
    names_device: Callable[[str], bool],
    best: float,
    seconds: float | None,
    epochs: int,
) -> None:
    """Go on only if device, seconds and best accuracy have a line each."""
    report = [line for line in text.splitlines() if re.search(r"\S", line)]
    numbers = [line for line in report if re.search(r"\d", line) and not names_device(line)]
    require(
        any(map(names_device, report)) and len(numbers) >= 2,
        "three lines at the end: device, seconds, best accuracy",
        repr(text.strip()),
        "a line for each, after the last epoch",
    )
    found = [float(n) for line in numbers for n in re.findall(r"-?\d+(?:\.\d+)?", line)]
    require(
        any(math.isclose(number, best, abs_tol=0.06) for number in found),
        f"the best accuracy, {best:.2f}, at the end",
        repr(text.strip()),
        "the best is not always the last",
    )
    lasted = [] if seconds is None else [seconds, seconds / epochs]
    require(
        not lasted or any(took - 1 <= number < took + 2 for took in lasted for number in found),
        "the seconds of the training at the end",
        repr(text.strip()),
        "a clock is read before the first epoch and after the last; their difference is printed",
    )


@todo("4.6", "your best checkpoint")
def is_as_accurate_as_it_says(answer: Any) -> None:
    """The file of the real run opens anywhere, and its model reaches its accuracy."""
    require_run(answer)
    stored = opened_after_run(answer.best_path)
    require_keys(stored, KEYS | {"accuracy"})
    model = MNISTClassifier()
    model.load_state_dict(stored["model_state_dict"])
    _, measured = evaluate(model, answer.validation_loader, torch.device("cpu"))
    near = 0.1
    if torch.accelerator.is_available():  # in half precision, one image may look like another digit
        near = max(near, 150 / sum(len(labels) for _, labels in answer.validation_loader))
    require(
        abs(measured - stored["accuracy"]) <= near,
        f"{measured:.2f} %, which its model reaches on the validation images",
        f"{stored['accuracy']:.2f} %",
        "run the cell of exercise 4 again, to its end",
    )


# --8<-- [end:check_4]


def opened(path: Path) -> Any:
    """What a notebook, or its source in the percent format, defines; nothing is trained.

    Only imports, functions, classes and constants of its cells run. The notebook's own machinery
    is left out, and the data are made up.

    Raises:
        AnswerError: If that fails, in one sentence.
    """
    given = _surroundings()
    answer = SimpleNamespace(**given)
    try:
        whole, cells = _cells(path)
    except (OSError, ValueError, LookupError, TypeError) as problem:
        raise AnswerError(f"{path.name} is not a notebook: {error_text(problem)}") from None
    for code in cells:
        try:
            tree = ast.parse(re.sub(r"^[ \t]*[%!].*$", "", code.text, flags=re.MULTILINE))
        except SyntaxError as problem:
            line = (problem.lineno or 1) + code.line
            raise AnswerError(f"{path.name}, line {line} is not Python: {problem.msg}") from None
        tree.body = [node for node in tree.body if _defines(node, given)]
        ast.increment_lineno(tree, code.line)
        linecache.cache[str(path)] = (len(whole), None, whole.splitlines(keepends=True), str(path))
        try:
            exec(compile(tree, str(path), "exec"), vars(answer))
        except BaseException as problem:  # it may even call sys.exit
            raise AnswerError(f"{path.name} stops with {error_text(problem)}") from None
    return answer


@dataclass(frozen=True)
class _Cell:
    """The text of a cell of code, and how many lines come before it."""

    text: str
    line: int


def _cells(path: Path) -> tuple[str, list[_Cell]]:
    """All code, and the cells that are a learner's to read: neither machinery nor checks."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        text = "".join(
            f"# %% {cell.get('metadata', {}).get('tags', '')}\n{''.join(cell['source'])}\n"
            for cell in json.loads(text)["cells"]
            if cell["cell_type"] == "code"
        )
    cell = r"^# %%(?P<head>.*)\n(?P<text>(?:(?!# %%).*\n?)*?)(?=# %%|\Z)"
    found = re.finditer(cell, text, re.MULTILINE)
    return text, [
        _Cell(match["text"], text.count("\n", 0, match.start("text")))
        for match in found
        if not re.search(r"\[markdown\]|machinery|check-", match["head"])
    ]


def _defines(node: ast.stmt, given: Mapping[str, Any]) -> bool:
    """Whether a statement defines something that is not given, and starts no work."""
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
    constant = isinstance(node, ast.Assign) and not any(
        isinstance(part, ast.Call | ast.Name)
        and not isinstance(getattr(part, "ctx", None), ast.Store)
        for part in ast.walk(node)
    )
    return (isinstance(node, kinds) or constant) and getattr(node, "name", "") not in given


def _surroundings() -> dict[str, Any]:
    """What the cells of a notebook find: its machinery, with data that are made up."""
    few = DataLoader(TensorDataset(torch.rand(8, 1, 28, 28), torch.arange(8)), batch_size=8)
    cpu = torch.device("cpu")
    machinery = (fill_in, needs, recall, NotYetError)
    lesson = (MNISTClassifier, evaluate, train_one_epoch, synchronize)
    return {
        "__name__": "answer",
        "FROM_FILE": True,
        "torch": torch,
        "nn": nn,
        "Path": Path,
        "Batch": Batch,
        **{made.__name__: made for made in (*machinery, *lesson)},
        **dict.fromkeys(("train_loader", "validation_loader", "test_loader"), few),
        "order": torch.Generator(),
        "cpu": cpu,
        "device": cpu,
    }
