"""Plausible wrong answers, each put into its blank, and the sentence with which it is caught."""

import textwrap

import pytest

from lesson_code.data import SUBSET_FOLDER
from tests.lesson_code.notebook.companion import Companion

LOOP = """\
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = MNISTClassifier()
model.to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
use_amp = device.type == "cuda"
scaler = torch.amp.GradScaler(device.type, enabled=use_amp)
best = -1.0
for epoch in range(epochs):
    model.train()
    for images, labels in train_loader:
        images, labels = images.to(device), labels.to(device)
        optimizer.zero_grad()
        with torch.autocast(device_type=device.type, dtype=torch.float16, enabled=use_amp):
            loss = criterion(model(images), labels)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    _, accuracy = evaluate(model, validation_loader, device)
    if accuracy > best:
        best = accuracy
        state = {"epoch": epoch, "model_state_dict": model.state_dict(), "accuracy": accuracy}
        state |= {"optimizer_state_dict": optimizer.state_dict(), "loss": loss.item()}
        torch.save(state, path)
"""
EVALUATION = "    _, accuracy = evaluate(model, validation_loader, device)\n"
IN_TRAINING_MODE = """\
    correct = sum(
        int((model(images).argmax(dim=1) == labels).sum()) for images, labels in validation_loader
    )
    accuracy = 100 * correct / sum(len(labels) for _, labels in validation_loader)
"""
AUTOCAST = "with torch.autocast(device_type=device.type, dtype=torch.float16, enabled=use_amp):\n"
FORWARD = "    outputs = model(images)\n    loss = criterion(outputs, labels)\n"


def saved(*entries: str) -> str:
    """Code that saves a dictionary of these entries; without a name an entry is as it should be."""
    right = {
        "epoch": '"epoch": epoch',
        "model_state_dict": '"model_state_dict": model.state_dict()',
        "optimizer_state_dict": '"optimizer_state_dict": optimizer.state_dict()',
        "loss": '"loss": loss',
    }
    return f"torch.save({{{', '.join(right.get(entry, entry) for entry in entries)}}}, path)"


def loop(before: str, after: str) -> str:
    """The right script with one thing changed."""
    assert before in LOOP
    return LOOP.replace(before, after)


WRONG = {
    "1: nothing of the batch moved": (1, {"1c": "pass"}, "images meet the model"),
    "1: labels left behind": (1, {"1c": "images = images.to(device)"}, "labels meet the model"),
    "1: moved and thrown away": (
        1,
        {"1c": "images.to(device), labels.to(device)"},
        "assign it",
    ),
    "1: model left behind": (1, {"1b": "pass"}, "call model.to(device)"),
    "1: the CPU for everybody": (
        1,
        {"1a": 'device = torch.device("cpu")'},
        "let torch.cuda.is_available() decide",
    ),
    "2: optimizer forgotten": (
        2,
        {"2a": saved("epoch", "model_state_dict", "loss")},
        "missing: optimizer_state_dict",
    ),
    "2: weights in the optimizer's place": (
        2,
        {
            "2a": saved(
                "epoch", "model_state_dict", '"optimizer_state_dict": model.state_dict()', "loss"
            )
        },
        "save optimizer.state_dict()",
    ),
    "2: epochs counted from one": (
        2,
        {"2a": saved('"epoch": epoch + 1', "model_state_dict", "optimizer_state_dict", "loss")},
        "epoch is 2 and should be 1",
    ),
    "2: loss as a tensor": (
        2,
        {
            "2a": saved(
                "epoch", "model_state_dict", "optimizer_state_dict", '"loss": torch.tensor(loss)'
            )
        },
        "loss is a Tensor and should be a float",
    ),
    "2: loss as a NumPy number": (
        2,
        {
            "2a": saved(
                "epoch", "model_state_dict", "optimizer_state_dict", '"loss": np.float64(loss)'
            )
        },
        "keep tensors and plain numbers",
    ),
    "2: a whole model in the file": (
        2,
        {"2a": saved("epoch", '"model_state_dict": model', "optimizer_state_dict", "loss")},
        "keep tensors and plain numbers",
    ),
    "2: no map_location": (
        2,
        {"2b": "checkpoint = torch.load(path, weights_only=True)"},
        "give torch.load the argument map_location",
    ),
    "2: opened the unsafe way": (
        2,
        {"2b": 'checkpoint = torch.load(path, map_location="cpu", weights_only=False)'},
        "say so with weights_only=True",
    ),
    "2: nothing saved": (2, {"2a": "pass"}, "save the dictionary to the path that you get"),
    "2: the loader returns the weights alone": (
        2,
        {
            "2b": 'checkpoint = torch.load(path, map_location="cpu", weights_only=True)'
            '["model_state_dict"]'
        },
        "it stops with",
    ),
    "2: weights never loaded": (2, {"2c": "pass"}, "into the fresh model before you return it"),
    "3: nothing changed": (
        3,
        {
            "3a": "pass",
            "3b": FORWARD.replace("    ", ""),
            "3c": "loss.backward()",
            "3d": "optimizer.step()",
            "3e": "pass",
        },
        "put the forward pass under torch.autocast",
    ),
    "3: backward under autocast": (
        3,
        {"3b": f"{AUTOCAST}{FORWARD}    scaler.scale(loss).backward()", "3c": "pass"},
        "end the with block after the loss",
    ),
    "3: loss outside autocast": (
        3,
        {"3b": f"{AUTOCAST}    outputs = model(images)\nloss = criterion(outputs, labels)"},
        "compute the loss inside autocast too",
    ),
    "3: cuda whatever the device": (
        3,
        {"3b": AUTOCAST.replace("device.type", '"cuda"') + FORWARD},
        "put the forward pass under torch.autocast(device_type=device.type",
    ),
    "3: autocast without enabled": (
        3,
        {"3b": AUTOCAST.replace(", enabled=use_amp", "") + FORWARD},
        "give both helpers enabled=use_amp",
    ),
    "3: scaler without enabled": (
        3,
        {"3a": "scaler = torch.amp.GradScaler(device.type)"},
        "give both helpers enabled=use_amp",
    ),
    "3: loss not scaled": (3, {"3c": "loss.backward()"}, "call backward() on scaler.scale(loss)"),
    "3: the optimizer steps by itself": (
        3,
        {"3d": "optimizer.step()"},
        "takes the place of optimizer.step()",
    ),
    "3: both of them step": (
        3,
        {"3d": "scaler.step(optimizer)\noptimizer.step()"},
        "takes the place of optimizer.step()",
    ),
    "3: update forgotten": (3, {"3e": "pass"}, "call scaler.update() once"),
    "4: written again for an equal epoch": (4, {"4": loop("> best", ">= best")}, "3 times"),
    "4: best begins at zero": (4, {"4": loop("best = -1.0", "best = 0.0")}, "start below 0"),
    "4: compared after the update": (
        4,
        {"4": loop("    if accuracy > best:\n        best = accuracy\n", "    if False:\n")},
        "portable_best.pth exists",
    ),
    "4: accuracy in training mode": (
        4,
        {"4": loop(EVALUATION, IN_TRAINING_MODE)},
        "measure the accuracy with model.eval()",
    ),
    "4: training mode only once": (
        4,
        {"4": loop("    model.train()\n", "").replace("best = -1.0", "best = -1.0\nmodel.train()")},
        "evaluate() leaves it in eval mode",
    ),
    "4: accuracy as a part of one": (
        4,
        {"4": loop('"accuracy": accuracy', '"accuracy": accuracy / 100')},
        "in percent",
    ),
    "4: accuracy on the training images": (
        4,
        {"4": loop("evaluate(model, validation_loader", "evaluate(model, train_loader")},
        "on the validation loader",
    ),
    "4: mixed precision everywhere": (
        4,
        {"4": loop('use_amp = device.type == "cuda"', "use_amp = True")},
        "pass enabled=use_amp",
    ),
    "4: a scaler for a GPU that is not there": (
        4,
        {"4": loop("GradScaler(device.type, enabled=use_amp)", 'GradScaler("cuda")')},
        "CUDA is not available",
    ),
    "4: no weights in the file": (
        4,
        {"4": loop('"model_state_dict": model.state_dict(), ', "")},
        "it stops with KeyError",
    ),
}


# The same in other words: a check that stops a right answer would be worse than none.
RIGHT = {
    "1: a condition": (
        1,
        {
            "1a": 'if torch.cuda.is_available():\n    device = torch.device("cuda")\nelse:\n'
            '    device = torch.device("cpu")'
        },
    ),
    "1: whatever accelerator": (
        1,
        {
            "1a": "device = torch.accelerator.current_accelerator(check_available=True)\n"
            'device = device or torch.device("cpu")'
        },
    ),
    "1: the model assigned": (1, {"1b": "model = model.to(device)"}),
    "1: one after the other": (
        1,
        {
            "1c": "images = images.to(device, non_blocking=True)\n"
            "labels = labels.to(device=device)\nassert len(train_loader) and labels.size(0)"
        },
    ),
    "2: a string for the device": (
        2,
        {"2b": 'checkpoint = torch.load(path, map_location="cpu", weights_only=True)'},
    ),
    "3: through torch.amp": (
        3,
        {"3b": AUTOCAST.replace("torch.autocast(device_type=", "torch.amp.autocast(") + FORWARD},
    ),
    "3: gradients clipped": (
        3,
        {
            "3d": "scaler.unscale_(optimizer)\n"
            "nn.utils.clip_grad_norm_(model.parameters(), 1.0)\nscaler.step(optimizer)"
        },
    ),
    "4: an evaluation of one's own": (
        4,
        {
            "4": loop(
                EVALUATION,
                "    model.eval()\n    with torch.inference_mode():\n"
                + textwrap.indent(IN_TRAINING_MODE, "    "),
            )
        },
    ),
}


@pytest.fixture(scope="module")
def companion(tmp_path_factory: pytest.TempPathFactory) -> Companion:
    """The notebook, run up to the first exercise, where it finds the digits of the lesson."""
    folder = tmp_path_factory.mktemp("companion")
    (folder / "mnist_subset").symlink_to(SUBSET_FOLDER)
    return Companion(folder)


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_the_right_answers_pass(companion: Companion, number: int, one_thread: None) -> None:
    """Each check says that everything holds for the solution."""
    printed = companion.exercise(number, {})

    assert f"Exercise {number}: everything holds." in printed
    assert "✗" not in printed


@pytest.mark.parametrize("name", RIGHT)
def test_another_right_answer_passes(companion: Companion, name: str, one_thread: None) -> None:
    """What works is accepted, however it is written."""
    number, answers = RIGHT[name]

    printed = companion.exercise(number, answers)

    assert f"Exercise {number}: everything holds." in printed


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_answer_is_caught(companion: Companion, name: str, one_thread: None) -> None:
    """The check stops with one sentence, and an arrow above it says what to do."""
    number, answers, advice = WRONG[name]

    with pytest.raises(companion.module.NotYetError, match=f"Exercise {number}: ") as caught:
        companion.exercise(number, answers)

    printed = "\n".join(caught.value.__notes__)
    arrows = [line for line in printed.splitlines() if line.startswith("  → ")]
    said = "\n".join([*arrows, *(line for line in printed.splitlines() if line[0] == "✗")])
    assert advice in said
