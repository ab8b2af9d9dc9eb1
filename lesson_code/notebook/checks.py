"""The verification cells of the companion notebook: what holds in a learner's answer, and what not.

Each check also runs on a machine without a GPU, where most mistakes leave no trace in the result;
so it calls the learner's functions on small practice batches and watches them.

Shapes: images are (B, 1, 28, 28), float32; labels are (B,), int64.
"""

import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from torch import nn

from lesson_code.gpu_training.training import evaluate
from lesson_code.models import MNISTClassifier
from lesson_code.notebook.blanks import Finding
from lesson_code.notebook.watching import Batch, WatchedLoader, watch_training


# --8<-- [start:check_1]
def check_1(
    train_on_device: Callable[..., Any],
    device: torch.device,
    model: nn.Module,
    losses: Sequence[float],
    batches: Sequence[Batch],
) -> list[Finding]:
    """What holds in exercise 1: the function, and what it returned when it was really run."""
    loader = WatchedLoader(batches)
    practice = watch_training(lambda: train_on_device(loader, 1), MNISTClassifier)
    practised = practice.result[1] if practice.result else None
    placed = any(module is practised for module in practice.moved_modules)
    images = [image for image, _ in loader.dealt]
    labels = [label for _, label in loader.dealt]
    best = "cuda" if torch.cuda.is_available() else "cpu"
    where = {parameter.device.type for parameter in model.parameters()}
    return [
        runs_through(practice.error),
        Finding(
            "your device line asks whether there is a GPU",
            practice.asked_for_gpu and device.type == best,
            f"device is {device}; let torch.cuda.is_available() decide, and fall back to the CPU",
        ),
        Finding(
            f"the model was placed, and its parameters are on the {best}",
            placed and where == {best},
            "after you build the model, call model.to(device) on a line of its own",
        ),
        _batch_moved("images", images),
        _batch_moved("labels", labels),
        Finding(
            "the loss of the last epoch lies below the first one",
            losses[-1] < losses[0],
            f"the losses are {', '.join(f'{loss:.4f}' for loss in losses)}; use two epochs or "
            "more, and look whether backward() and optimizer.step() are still in the loop",
        ),
    ]


def runs_through(error: str) -> Finding:
    """That a learner's code survived the practice batches."""
    return Finding("your code runs on the practice batches", not error, f"it stopped with {error}")


def _batch_moved(name: str, tensors: Sequence[Any]) -> Finding:
    if any(tensor.used and tensor.moved for tensor in tensors):
        advice = f"the moved {name} are thrown away: .to() returns a new tensor, so assign it"
    else:
        advice = f"{name} meet the model where the loader left them; move them inside the loop"
    dealt = len(tensors) > 0
    return Finding(
        f"the {name} of every batch go to the device before they are used",
        dealt and not any(tensor.used or not tensor.moved for tensor in tensors),
        advice,
    )


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
                "epoch counts from zero, and loss is a plain number",
                stored["epoch"] == epochs - 1 and type(stored["loss"]) is float,
                f"epoch is {stored['epoch']!r} and should be {epochs - 1}; "
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
        findings.append(_same_answers(rebuild(load_on_cpu(path)), trained, images))
    return findings


def _loading(stored: dict[str, Any], load_on_cpu: Callable[[Path], Any]) -> list[Finding]:
    """Whether a file from a machine with a GPU would load on the CPU, and safely."""
    asked: list[dict[str, Any]] = []
    original = torch.load

    def load(*args: Any, **kwargs: Any) -> Any:
        asked.append(kwargs)
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
        except Exception as error:  # whatever loading may raise
            problem = f"it stops with: {str(error).strip().splitlines()[0]}"
    return [
        Finding(
            "a checkpoint written on a GPU loads on the CPU",
            not problem,
            f"{problem}; give torch.load the argument map_location",
        ),
        Finding(
            "the file is opened with weights_only=True",
            bool(asked) and all(kwargs.get("weights_only") is True for kwargs in asked),
            "a checkpoint of tensors and numbers opens the safe way; say so with weights_only=True",
        ),
    ]


def _same_answers(rebuilt: nn.Module, trained: nn.Module, images: torch.Tensor) -> Finding:
    device = next(trained.parameters()).device
    rebuilt.eval()
    trained.eval()
    with torch.no_grad():
        before, after = trained(images.to(device)).cpu(), rebuilt(images)
    close = torch.allclose(before, after, atol=1e-4, rtol=1e-4)
    same_classes = torch.equal(before.argmax(dim=1), after.argmax(dim=1))
    # Two devices add in another order; one and the same gives every bit again.
    same = torch.equal(before, after) or (device.type != "cpu" and close and same_classes)
    return Finding(
        "the rebuilt model gives the same answers on the CPU",
        same and {parameter.device.type for parameter in rebuilt.parameters()} == {"cpu"},
        "load checkpoint['model_state_dict'] into the fresh model before you return it",
    )


# --8<-- [end:check_2]


# --8<-- [start:check_3]
def check_3(train_mixed: Callable[..., Any], batches: Sequence[Batch]) -> list[Finding]:
    """What holds in exercise 3: the function, with mixed precision on and off, on the CPU."""
    cpu = torch.device("cpu")
    mixed = watch_training(lambda: train_mixed(batches, cpu, True, 1), MNISTClassifier)
    plain = watch_training(lambda: train_mixed(batches, cpu, False, 1), MNISTClassifier)
    events = mixed.events
    steps = len(batches)
    backward = [event for event in events if event.startswith("backward")]
    return [
        runs_through(mixed.error or plain.error),
        Finding(
            "under autocast the logits are float16",
            _all_logits(mixed.events, "float16"),
            "put the forward pass under torch.autocast(device_type=device.type, "
            "dtype=torch.float16, enabled=use_amp)",
        ),
        Finding(
            "the loss is float32",
            {"loss float32"} == {event for event in mixed.events if event.startswith("loss")},
            "compute the loss inside autocast too: from there it comes out in float32",
        ),
        Finding(
            "backward runs after autocast has ended",
            bool(backward) and set(backward) == {"backward"},
            "end the with block after the loss; backward chooses the types of forward by itself",
        ),
        Finding(
            "the loss is scaled before backward",
            events.count("scaler scale") == steps,
            "call backward() on scaler.scale(loss), in every step",
        ),
        Finding(
            "the scaler takes every step",
            events.count("scaler step") == steps
            and events.count("optimizer step") <= events.count("scaler step"),
            "scaler.step(optimizer) takes the place of optimizer.step(): it divides the gradients "
            "by the scale first, and skips the step if one of them is infinite",
        ),
        Finding(
            "the scaler's factor is updated after every step",
            events.count("scaler update") == steps,
            "call scaler.update() once, at the end of each step",
        ),
        Finding(
            "with use_amp off nothing of it happens",
            _all_logits(plain.events, "float32")
            and not any(event.startswith("scaler") for event in plain.events)
            and not plain.warnings,
            "give both helpers enabled=use_amp, so that the same loop runs in float32",
        ),
    ]


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
    never_right = [(images[:1], (labels[:1] + 1) % 10)]
    with tempfile.TemporaryDirectory() as folder:
        practice = watch_training(
            lambda: portable_training(training, never_right, 3, Path(folder) / "best.pth"),
            MNISTClassifier,
        )
    logits = [event.split()[1:] for event in practice.events if event.startswith("logits")]
    validated = [mode for _, mode, rows in logits if rows == "1"]
    trained = [mode for _, mode, rows in logits if rows in ("16", "12")]
    used_amp = {"float16"} == {dtype for dtype, _, rows in logits if rows in ("16", "12")}
    gpu = torch.cuda.is_available()
    return [
        runs_through(practice.error),
        Finding(
            "each epoch trains on every batch, in training mode",
            trained == ["train"] * 6,
            "call model.train() at the start of every epoch; evaluate() leaves it in eval mode",
        ),
        Finding(
            "each epoch validates, in evaluation mode",
            validated == ["eval"] * 3,
            "measure the accuracy with model.eval() and on the validation loader",
        ),
        Finding(
            "mixed precision is on with a GPU, and only there",
            used_amp == gpu and not practice.warnings,
            practice.warnings[0] if practice.warnings else "pass enabled=use_amp to both helpers",
        ),
        Finding(
            "the best model is saved at once, and again only when it got better",
            len(practice.saved) == 1 and practice.saved[0].get("epoch") == 0,
            f"with an accuracy of 0 in three epochs it was saved {len(practice.saved)} times "
            "instead of once; start below 0, and compare with > before you update the best",
        ),
        *_best_file(path, validation_loader),
    ]


def _best_file(path: Path, validation_loader: Iterable[Batch]) -> list[Finding]:
    """Whether the checkpoint opens anywhere and says of itself what is true."""
    try:
        stored = torch.load(path, map_location="cpu", weights_only=True)
        model = MNISTClassifier()
        model.load_state_dict(stored["model_state_dict"])
        accuracy = stored["accuracy"]
        said = f"{accuracy:.2f} %"
    except FileNotFoundError:
        return [Finding(f"{path} exists", False, "save the best model to the path that you get")]
    except Exception as error:  # a wrong dictionary fails in many ways
        advice = f"it stops with {type(error).__name__}: {str(error).strip().splitlines()[0]}"
        return [Finding("the best checkpoint loads on the CPU", False, advice)]
    _, measured = evaluate(model, validation_loader, torch.device("cpu"))
    return [
        Finding(
            "the best checkpoint, loaded on the CPU, is as accurate as it says",
            isinstance(accuracy, float) and abs(measured - accuracy) <= 0.1,
            f"it says {said}, and on the validation images it reaches {measured:.2f} %; "
            "store the accuracy of the model that you save, in percent",
        )
    ]


# --8<-- [end:check_4]
