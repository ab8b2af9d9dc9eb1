"""The verification cells of the companion notebook: what holds in a learner's answer, and what not.

Each check also runs on a machine without a GPU, where most mistakes leave no trace in the result;
so it calls the learner's functions on small practice batches and watches them, where it matters a
second time with a GPU that is pretended.

Shapes: images are (B, 1, 28, 28), float32; labels are (B,), int64.
"""

import math
import re
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from torch import nn

from lesson_code.gpu_training.training import evaluate
from lesson_code.models import MNISTClassifier
from lesson_code.notebook.blanks import Finding, NotYetError
from lesson_code.notebook.watching import (
    Batch,
    Helper,
    Watched,
    WatchedLoader,
    in_one_line,
    watch_training,
)


# --8<-- [start:check_1]
def check_1(
    train_on_device: Callable[..., Any],
    device: torch.device,
    model: nn.Module | None,
    losses: Sequence[float],
    batches: Sequence[Batch],
) -> list[Finding]:
    """What holds in exercise 1: the function, and what it returned when it was really run."""
    practice = Practice(lambda loader: train_on_device(loader, 1), batches)
    if practice.error:
        return [runs_through(practice.error)]
    if model is None:
        advice = "run the cell of exercise 1 once more, and let it come to its end"
        return [runs_through(""), Finding("your function has trained your model", False, advice)]
    placed = any(module is practice.seen.result[1] for module in practice.seen.moved_modules)
    where = {parameter.device.type for parameter in model.parameters()}
    return [
        runs_through(""),
        Finding(
            "your device line asks whether there is a GPU",
            practice.takes_gpu and device.type in best_devices(),
            f"device is {device}; let torch.cuda.is_available() decide, and fall back to the CPU",
        ),
        Finding(
            f"the model was placed, and its parameters are on the {device.type}",
            placed and where == {device.type},
            "after you build the model, call model.to(device) on a line of its own",
        ),
        practice.moved("images", 0),
        practice.moved("labels", 1),
        _learned(losses),
    ]


def _learned(losses: Sequence[float]) -> Finding:
    """Whether the loss fell: from epoch to epoch, or in a single one below that of a guess."""
    guess = math.log(10)  # of a model that gives each of ten digits the same chance
    alone = len(losses) == 1
    return Finding(
        f"the loss lies below {guess:.2f}, that of a guess among ten digits"
        if alone
        else "the loss of the last epoch lies below the first one",
        losses[-1] < (guess if alone else losses[0]),
        f"the losses are {', '.join(f'{loss:.4f}' for loss in losses)}; "
        "look whether backward() and optimizer.step() are still in the loop",
    )


class Practice:
    """A learner's loop on practice batches; without a GPU a second time, with one pretended.

    Attributes:
        real: What happened on this machine.
        seen: What happened where a GPU was at hand, as far as the loop came there.
        loader: What dealt the batches then.
        pretended: Whether that GPU was pretended.
        error: What stopped the loop on this machine; empty if nothing did.
        takes_gpu: Whether it asked for a GPU, and went to the one that it was told of.
    """

    def __init__(self, code: Callable[[WatchedLoader], Any], batches: Sequence[Batch]) -> None:
        """``code`` gets a loader that deals out the batches."""
        self.loader = WatchedLoader(batches)
        self.real = self.seen = watch_training(lambda: code(self.loader), MNISTClassifier)
        self.error = self.real.error
        self.pretended = False
        self.takes_gpu = self.real.asked_for_gpu and self.real.devices <= best_devices()
        if self.error or torch.accelerator.is_available():
            return
        loader = WatchedLoader(batches)
        ahead = watch_training(lambda: code(loader), MNISTClassifier, pretend=True)
        if ahead.error:  # a pretended GPU can't do everything that a real one can
            return
        self.takes_gpu = self.takes_gpu and bool(ahead.sent)
        if ahead.sent:
            self.seen, self.loader, self.pretended = ahead, loader, True

    def moved(self, name: str, part: int) -> Finding:
        """That images (part 0) or labels (part 1) were moved before they met anything."""
        notes = [batch[part].notes for batch in self.loader.dealt]
        if torch.accelerator.is_available():  # it stops by itself where two devices meet
            notes = [note - {"used"} for note in notes]
        thrown_away = any({"used", "moved"} <= note for note in notes)
        return Finding(
            f"the {name} of every batch go to the device before they are used",
            bool(notes) and all(note == {"moved"} for note in notes),
            f"the moved {name} are thrown away: .to() returns a new tensor, so assign it"
            if thrown_away
            else f"{name} meet the model where the loader left them; move them to the device "
            "inside the loop",
        )


def runs_through(error: str) -> Finding:
    """That a learner's code survived the practice batches."""
    return Finding("your code runs on the practice batches", not error, f"it stopped with {error}")


def best_devices() -> set[str]:
    """The kinds of devices that are the best here: the GPU, or the CPU where there is none."""
    accelerator = torch.accelerator.current_accelerator(check_available=True)
    best = {"cuda" if torch.cuda.is_available() else "cpu"}
    return best if accelerator is None else {*best, accelerator.type}


# --8<-- [end:check_1]


# --8<-- [start:check_2]
def check_2(
    path: Path,
    epochs: int,
    load_on_cpu: Callable[[Path], dict[str, Any]],
    rebuild: Callable[[dict[str, Any]], nn.Module],
    trained: nn.Module,
    images: torch.Tensor,
) -> list[Finding]:
    """What holds in exercise 2: the file, what loads it, and the model rebuilt from it."""
    try:
        stored = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        return [Finding(f"{path} exists", False, "save the dictionary to the path that you get")]
    except OSError as problem:
        advice = f"{problem.strerror}; move what is there away, and run the cell of exercise 2"
        return [Finding(f"{path} is a file that can be read", False, advice)]
    except Exception:  # the safe loader names many reasons
        advice = "keep tensors and plain numbers: state_dict() of both, and no object of your own"
        return [Finding("the file opens with weights_only=True", False, advice)]
    wanted = {"epoch", "model_state_dict", "optimizer_state_dict", "loss"}
    keys = set(stored) if isinstance(stored, dict) else set()
    findings = [
        Finding(
            "the four keys are there, and no other",
            keys == wanted,
            f"missing: {', '.join(sorted(wanted - keys)) or 'none'}; "
            f"not asked for: {', '.join(sorted(map(str, keys - wanted))) or 'none'}",
        )
    ]
    if keys >= wanted:
        state = stored["optimizer_state_dict"]
        momenta = state.get("state", {}) if isinstance(state, dict) else {}
        findings += [
            Finding(
                "epoch counts from zero",
                stored["epoch"] == epochs - 1,
                f"epoch is {stored['epoch']!r} and should be {epochs - 1}",
            ),
            Finding(
                "loss is a plain number",
                type(stored["loss"]) is float,
                f"loss is a {type(stored['loss']).__name__} and should be a float",
            ),
            Finding(
                "Adam's memory of every parameter is in the file",
                len(momenta) == len(list(trained.parameters())),
                "save optimizer.state_dict(), after training; without it Adam starts anew",
            ),
        ]
        findings += _loading(stored, load_on_cpu)
    if all(finding.holds for finding in findings):
        findings.append(_same_answers(rebuild, load_on_cpu(path), trained, images))
    return findings


def _loading(stored: dict[str, Any], load_on_cpu: Callable[[Path], Any]) -> list[Finding]:
    """Whether a file from a machine with a GPU would load on the CPU, and safely."""
    asked: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
    original = torch.load

    def load(*args: Any, **kwargs: Any) -> Any:
        asked.append((args, kwargs))
        return original(*args, **kwargs)

    with tempfile.TemporaryDirectory() as folder, patch.object(torch, "load", load):
        elsewhere = Path(folder) / "from_a_gpu.pth"
        # What a file says whose tensors lay on a GPU; so the mistake shows without one.
        with patch("torch.serialization.location_tag", lambda _: "cuda:0"):
            torch.save(stored, elsewhere)
        try:
            loaded = load_on_cpu(elsewhere)
            tensors = loaded["model_state_dict"].values()
            there = {tensor.device.type for tensor in tensors}
            problem = "" if there == {"cpu"} else f"its tensors arrive on {', '.join(there)}"
        except NotYetError as empty:
            return [Finding("a checkpoint written on a GPU loads on the CPU", False, str(empty))]
        except Exception as error:  # whatever loading may raise
            problem = f"it stops with {in_one_line(error)}"
    overruled = any(len(args) > 1 or "map_location" in kwargs for args, kwargs in asked)
    advice = "let torch.load bring the tensors to the CPU, and name the whole dictionary checkpoint"
    return [
        Finding(
            "a checkpoint written on a GPU loads on the CPU",
            not problem,
            f"{problem}; {advice if overruled else 'give torch.load the argument map_location'}",
        ),
        Finding(
            "the file is opened with weights_only=True",
            bool(asked) and all(kwargs.get("weights_only") is True for _, kwargs in asked),
            "a checkpoint of tensors and numbers opens the safe way; say so with weights_only=True",
        ),
    ]


def _same_answers(
    rebuild: Callable[[dict[str, Any]], Any],
    checkpoint: dict[str, Any],
    trained: nn.Module,
    images: torch.Tensor,
) -> Finding:
    """Whether the model that comes back computes what the trained one does."""
    claim = "the rebuilt model gives the same answers on the CPU"
    weights = 'model.load_state_dict(checkpoint["model_state_dict"])'
    try:
        rebuilt = rebuild(checkpoint)
    except NotYetError as empty:
        return Finding(claim, False, str(empty))
    except Exception as error:  # a wrong dictionary fails in many ways
        advice = f"rebuilding stops with {type(error).__name__}; write {weights}"
        return Finding(claim, False, advice)
    if not isinstance(rebuilt, nn.Module):
        came = type(rebuilt).__name__
        advice = f"{came} comes back and no model: load_state_dict() changes the model in place"
        return Finding(claim, False, f"{advice}, so write {weights} without an assignment")
    there = {parameter.device.type for parameter in rebuilt.parameters()}
    if there != {"cpu"}:
        return Finding(claim, False, f"it is on {', '.join(there)}; leave it on the CPU")
    device = next(trained.parameters()).device
    rebuilt.eval()
    trained.eval()
    with torch.no_grad():
        before, after = trained(images.to(device)).cpu(), rebuilt(images)
    close = torch.allclose(before, after, atol=1e-4, rtol=1e-4)
    same_classes = torch.equal(before.argmax(dim=1), after.argmax(dim=1))
    # Two devices add in another order; one and the same gives every bit again.
    same = torch.equal(before, after) or (device.type != "cpu" and close and same_classes)
    advice = f"it gives others: write {weights} before you return the fresh model"
    return Finding(claim, same, advice)


# --8<-- [end:check_2]


# --8<-- [start:check_3]
def check_3(train_mixed: Callable[..., Any], batches: Sequence[Batch]) -> list[Finding]:
    """What holds in exercise 3: the function, with mixed precision on and off, on the CPU."""
    cpu = torch.device("cpu")
    loader = WatchedLoader(batches)
    mixed = watch_training(lambda: train_mixed(loader, cpu, True, 1), MNISTClassifier)
    plain = watch_training(lambda: train_mixed(loader, cpu, False, 1), MNISTClassifier)
    stopped = mixed.error or plain.error
    findings = [
        *_under_autocast(mixed.events),
        _scaler_fits(mixed.scalers),
        *_scaling(mixed.events, len(batches), bool(mixed.error)),
    ]
    if plain.events:
        findings.append(_switched_off(plain))
    if stopped:  # what does not hold up to there; the rest did not come
        early = [] if mixed.events else findings
        findings = [finding for finding in findings if not finding.holds and finding not in early]
    else:
        findings.append(
            Finding(
                "the loss that you report is not scaled",
                _same_size(mixed.result, plain.result),
                "scaler.scale(loss).backward() leaves loss as it is; give the scaled one no name",
            )
        )
    return [runs_through(stopped), *findings]


def _under_autocast(events: Sequence[str]) -> list[Finding]:
    """Whether forward pass and loss stand under autocast, and backward does not."""
    backward = [event for event in events if event.startswith("backward")]
    return [
        Finding(
            "under autocast the logits are float16",
            _all_logits(events, "float16"),
            "put the forward pass under torch.autocast(device_type=device.type, "
            "dtype=torch.float16, enabled=use_amp)",
        ),
        Finding(
            "the loss is float32",
            {"loss float32"} == {event for event in events if event.startswith("loss")},
            "compute the loss inside autocast too: from there it comes out in float32",
        ),
        Finding(
            "backward runs after autocast has ended",
            bool(backward) and not any("inside autocast" in event for event in backward),
            "end the with block after the loss; backward chooses the types of forward by itself",
        ),
    ]


def _scaling(events: Sequence[str], batches: int, stopped: bool) -> list[Finding]:
    """Whether the scaler does its three things in every step, or in every one that was finished."""
    backward = [event for event in events if event.startswith("backward")]
    steps = len(backward) - 1 if stopped else batches

    def in_every_step(what: str) -> bool:
        count = events.count(f"scaler {what}")
        return count >= steps if stopped else count == steps

    return [
        Finding(
            "the loss is scaled before backward",
            in_every_step("scale")
            and all(event.startswith("backward scaled") for event in backward),
            "call backward() on scaler.scale(loss), in every step",
        ),
        Finding(
            "the scaler takes every step",
            in_every_step("step") and events.count("optimizer step") <= events.count("scaler step"),
            "scaler.step(optimizer) takes the place of optimizer.step(): it divides the gradients "
            "by the scale first, and skips the step if one of them is infinite",
        ),
        Finding(
            "the scaler's factor is updated after every step",
            in_every_step("update"),
            "call scaler.update() once, at the end of each step",
        ),
    ]


def _switched_off(plain: Watched) -> Finding:
    """Whether the same loop stays in float32 with use_amp off."""
    helpers = [*plain.scalers, *filter(None, plain.trained_under)]
    return Finding(
        "with use_amp off nothing of it happens",
        _all_logits(plain.events, "float32")
        and not plain.warnings
        and not any(helper.enabled for helper in helpers),
        "give both helpers enabled=use_amp, so that the same loop runs in float32",
    )


def _scaler_fits(scalers: Sequence[Helper]) -> Finding:
    """That there is a scaler for the CPU, on which the practice runs, and that it is on."""
    wrong = [helper for helper in scalers if helper.device != "cpu" or not helper.enabled]
    came = "".join(
        f"yours is for {helper.device!r}{'' if helper.enabled else ' and off'}, "
        "whatever the function gets; "
        for helper in wrong[:1]
    )
    return Finding(
        "the scaler is made for the device that trains, and on with use_amp",
        bool(scalers) and not wrong,
        f"{came}give it the device: torch.amp.GradScaler(device.type, enabled=use_amp)",
    )


def _same_size(mixed: tuple[Any, ...], plain: tuple[Any, ...]) -> bool:
    """Whether two runs report losses of about the same size: a scaled one is 65,536 times it."""
    return bool(mixed[1][-1] < 100 * plain[1][-1])


def _all_logits(events: Iterable[str], dtype: str) -> bool:
    """Whether every forward pass in training gave logits of that type; False if there was none."""
    found = {
        event.split()[1] for event in events if event.startswith("logits") and "train" in event
    }
    return found == {dtype}


# --8<-- [end:check_3]


# --8<-- [start:check_4]
def check_4(
    portable_training: Callable[..., Any],
    path: Path,
    validation_loader: Iterable[Batch],
    batch: Batch,
) -> list[Finding]:
    """What holds in exercise 4: the script on practice batches, and the file that it really wrote.

    The practice validation has one image with a wrong label: the accuracy stays 0 in every epoch.
    """
    images, labels = batch
    training = [(images[:16], labels[:16]), (images[16:28], labels[16:28])]
    never_right = WatchedLoader([(images[:1], (labels[:1] + 1) % 10)])
    with tempfile.TemporaryDirectory() as folder:
        best = Path(folder) / "best.pth"
        practice = Practice(
            lambda loader: portable_training(loader, never_right, 3, best), training
        )
    findings = [runs_through(practice.error)]
    if not practice.error:
        findings += [
            *_placing(practice),
            *_mixed_precision(practice),
            *_epochs(practice.real, best),
            *_printout(practice.real),
        ]
    return [*findings, *_best_file(path, validation_loader, practice.real)]


def _placing(practice: Practice) -> list[Finding]:
    """Whether device, model and batches are where they should be."""
    # A model that is built under torch.device(...) needs no move.
    placed = "empty" in practice.seen.sent or practice.seen.devices <= best_devices() - {"cpu"}
    placed |= any(isinstance(module, MNISTClassifier) for module in practice.seen.moved_modules)
    return [
        Finding(
            "your code asks whether there is a GPU, and goes there if there is one",
            practice.takes_gpu,
            "let torch.cuda.is_available() decide in the function, fall back to the CPU, and use "
            "the answer for model and batches",
        ),
        Finding(
            "the model goes to the device",
            placed,
            "after you build the model, call model.to(device)",
        ),
        practice.moved("images", 0),
        practice.moved("labels", 1),
    ]


def _epochs(real: Watched, best: Path) -> list[Finding]:
    """Whether three epochs trained on two batches each, validated, and saved what was best."""
    logits = [event.split()[1:] for event in real.events if event.startswith("logits")]
    validated = [mode for _, mode, rows in logits if rows == "1"]
    trained = [mode for _, mode, rows in logits if rows in ("16", "12")]
    # The scaler may skip the optimizer's step, and a branch for the CPU may do without it.
    steps = max(real.events.count(f"{what} step") for what in ("scaler", "optimizer"))
    findings = [
        Finding(
            "each epoch trains on every batch, in training mode",
            trained.count("train") == 6,
            "call model.train() at the start of every epoch, since evaluate() leaves it in eval "
            "mode; and train on all of train_loader",
        ),
        Finding(
            "every batch makes the optimizer take a step",
            steps >= 6,
            f"6 batches made {steps} steps; after backward call scaler.step(optimizer)",
        ),
        Finding(
            "each epoch validates, in evaluation mode",
            len(validated) >= 3 and set(validated) == {"eval"},
            "measure the accuracy with model.eval() and on the validation loader",
        ),
    ]
    return findings + (_savings(real, best) if validated else [])


def _mixed_precision(practice: Practice) -> list[Finding]:
    """Whether autocast and scaler are there, on with a GPU and only there, and at work."""
    claim = "mixed precision is on with a GPU, and only there"
    seen, real = practice.seen, practice.real
    with_gpu = practice.pretended or "cuda" in seen.devices
    autocasts = [helper for helper in seen.trained_under if helper and helper.enabled >= with_gpu]
    scalers = [helper for helper in seen.scalers if helper.enabled >= with_gpu]
    scaled = scalers or {"bfloat16"} == {helper.dtype for helper in autocasts}  # it needs none
    missing = [] if len(autocasts) == len(seen.trained_under) else ["torch.autocast(...)"]
    missing += [] if scaled else ["torch.amp.GradScaler(...)"]
    if missing:
        advice = (
            f"where there is a GPU, no {' and no '.join(missing)} is at work; "
            "make both for device.type, and pass enabled=use_amp"
        )
        return [Finding(claim, False, advice)]
    made = [*real.scalers, *filter(None, real.trained_under)]
    on_cpu = real.devices == {"cpu"} and any(helper.enabled for helper in made)
    elsewhere = with_gpu and any(helper.device != "cuda" for helper in (*scalers, *autocasts))
    advice = "make both helpers for device.type, and pass enabled=use_amp, on with a GPU alone"
    if real.warnings:
        advice = real.warnings[0]
    findings = [Finding(claim, not (on_cpu or elsewhere or real.warnings), advice)]
    counts = [seen.events.count(f"scaler {name}") for name in ("scale", "step", "update")]
    if scalers:
        findings.append(
            Finding(
                "the scaler scales the loss, takes the step and updates its factor",
                counts == [6, 6, 6],
                f"in 6 steps scale was called {counts[0]}, step {counts[1]} and update {counts[2]} "
                "times: scaler.scale(loss).backward(), scaler.step(optimizer), scaler.update()",
            )
        )
    return findings


def _savings(real: Watched, best: Path) -> list[Finding]:
    """Whether three epochs of equal accuracy were saved once, and which."""
    saved = [entries for place, entries in real.saved if place == str(best)]
    saved = saved or [entries for _, entries in real.saved]
    findings = [
        Finding(
            "the best model is saved at once, and again only when it got better",
            len(saved) == 1,
            f"with an accuracy of 0 in three epochs it was saved {len(saved)} times "
            "instead of once; start below 0, and compare with > before you update the best",
        )
    ]
    if saved:
        epoch = saved[0].get("epoch", "missing")
        findings.append(
            Finding(
                "the epochs in the file count from zero",
                epoch == 0 and type(epoch) is int,
                f"after the first epoch its epoch is {epoch} and should be 0; save what "
                "range(epochs) gives, as a plain number",
            )
        )
    return findings


def _printout(real: Watched) -> list[Finding]:
    """Whether three epochs, of which only the first one was saved, are reported as asked."""
    # What came first, then by turns a line with a loss and what came after it.
    start, *rest = re.split(r"^(.*(?<![\d.])\d+\.\d{4}(?!\d).*)$", real.printed, flags=re.MULTILINE)
    epochs, after = rest[::2], rest[1::2]
    devices = real.devices | ({"gpu"} if real.devices - {"cpu"} else set())

    def names_device(text: str) -> bool:
        return any(device in text.lower() for device in devices)

    wordings = [re.sub(r"\d+", "0", "".join(both)) for both in zip(epochs, after, strict=True)]
    report = [line for line in "".join(after[-1:]).splitlines() if re.search(r"\S", line)]
    numbers = [line for line in report if re.search(r"\d", line) and not names_device(line)]
    return [
        Finding(
            "it says at the start where it runs, and whether mixed precision is on",
            names_device(start) and bool(re.search("precision|amp|autocast|16", start.lower())),
            f"before the first epoch print the device, {' or '.join(sorted(real.devices))} here, "
            "and whether mixed precision is on",
        ),
        Finding(
            "each epoch prints its number out of the total, its loss and its accuracy",
            len(epochs) == 3 and all(_tells(line, number) for number, line in enumerate(epochs)),
            "print a line such as 'epoch 1 of 3: loss 2.3026, accuracy 0.00 %', with four decimals "
            "and with two",
        ),
        Finding(
            "an epoch that was saved has a mark",
            len(wordings) > 1 and wordings[0] != wordings[1],
            "of three equal epochs the first is saved; put a word into its line, and into no other",
        ),
        Finding(
            "at the end it prints device, seconds and best accuracy",
            any(map(names_device, report)) and len(numbers) >= 2,
            "print three lines after the last epoch: the device, the seconds, the best accuracy",
        ),
    ]


def _tells(line: str, epoch: int) -> bool:
    """Whether a line has the number of an epoch out of three, and an accuracy; 0 is the first."""
    whole = set(re.findall(r"(?<![\d.])\d+(?!\.?\d)", line))
    accuracy = re.search(r"(?<![\d.])\d+\.\d{2}(?!\d)", line)
    return "3" in whole and bool({str(epoch), str(epoch + 1)} & whole) and accuracy is not None


def _best_file(path: Path, validation_loader: Iterable[Batch], real: Watched) -> list[Finding]:
    """Whether the checkpoint opens anywhere, is complete, and says of itself what is true."""
    try:
        stored = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        return [Finding(f"{path} exists", False, "save the best model to the path that you get")]
    except Exception:  # the safe loader names many reasons
        advice = "keep tensors and plain numbers: state_dict() of both, and float() of a metric"
        return [Finding("the best checkpoint opens with weights_only=True", False, advice)]
    wanted = {"epoch", "model_state_dict", "optimizer_state_dict", "loss", "accuracy"}
    keys = set(stored) if isinstance(stored, dict) else set()
    findings = [
        Finding(
            "the best checkpoint has its five keys, and no other",
            keys == wanted,
            f"missing: {', '.join(sorted(wanted - keys)) or 'none'}; "
            f"not asked for: {', '.join(sorted(map(str, keys - wanted))) or 'none'}",
        )
    ]
    numbers = {name: stored[name] for name in ("loss", "accuracy") if name in keys}
    types = {name: type(number).__name__ for name, number in numbers.items()}
    if numbers:
        came = ", ".join(f"{name} is a {kind}" for name, kind in types.items())
        findings.append(
            Finding(
                "loss and accuracy are plain numbers",
                set(types.values()) == {"float"},
                f"{came}; make each a float with float() or .item()",
            )
        )
    if "optimizer_state_dict" in keys:
        state = stored["optimizer_state_dict"]
        whole = isinstance(state, dict) and {"state", "param_groups"} <= set(state)
        keeps = any(_has_memory(optimizer) for optimizer in real.optimizers)
        findings.append(
            Finding(
                "the optimizer's memory is in the best checkpoint",
                whole and (bool(state["state"]) or not keeps),
                "save optimizer.state_dict() of the optimizer that takes the steps",
            )
        )
    if "model_state_dict" in keys and types.get("accuracy") == "float":
        findings.append(_as_accurate(stored, validation_loader))
    return findings


def _has_memory(optimizer: torch.optim.Optimizer) -> bool:
    """Whether the optimizer remembers anything of a step; plain SGD does not."""
    states = optimizer.state.values()
    return any(value is not None for state in states for value in state.values())


def _as_accurate(stored: dict[str, Any], validation_loader: Iterable[Batch]) -> Finding:
    """Whether the saved model reaches the accuracy that the checkpoint names."""
    claim = "the best checkpoint, loaded on the CPU, is as accurate as it says"
    model = MNISTClassifier()
    try:
        model.load_state_dict(stored["model_state_dict"])
    except Exception as error:  # a wrong dictionary fails in many ways
        advice = f"its weights do not load ({type(error).__name__}); save model.state_dict()"
        return Finding(claim, False, advice)
    _, measured = evaluate(model, validation_loader, torch.device("cpu"))
    near = 0.1
    if torch.accelerator.is_available():  # in half precision, one image may look like another digit
        near = max(near, 150 / sum(len(labels) for _, labels in validation_loader))
    return Finding(
        claim,
        abs(measured - stored["accuracy"]) <= near,
        f"it says {stored['accuracy']:.2f} %, and on the validation images it reaches "
        f"{measured:.2f} %; store the accuracy of the model that you save, in percent",
    )


# --8<-- [end:check_4]
