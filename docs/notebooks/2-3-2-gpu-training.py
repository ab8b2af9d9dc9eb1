# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # GPU Training
#
# Move the MNIST loop to the GPU, measure what you gain, carry a checkpoint from one device to another, and train in mixed precision.
#
# - **Exercise 1**, supported: put three lines into the loop, and time it.
# - **Exercise 2**, supported: save on one device, load on another.
# - **Exercise 3**, supported: add mixed precision, five lines.
# - **Exercise 4**, independent: write the portable script that you will carry into every later project.
#
# **Predict the output before you run an exercise.** There is a cell for your guess. A wrong one is the part that you will remember.
#
# A GPU makes the comparisons interesting, and no cell needs one. It has to be one that `torch.cuda` finds, NVIDIA's or AMD's: Apple's and Intel's are left alone. Where there is none, the comparison says that it was skipped and what it would show.
# In Colab: *Runtime → Change runtime type → T4 GPU*.
#
# Computing takes [[notebook.cpu_time]] on the CPU that was measured.
# Reading and writing takes about {{ reading minutes }} minutes; that is an estimate, from the number of words and blanks.

# %% tags=["parameters"]
# Change these if you like: fewer epochs, other data.
EPOCHS = 3  # of each run in exercises 1 and 3
CHECKPOINT_EPOCHS = 5  # exercise 2
PORTABLE_EPOCHS = 10  # exercise 4
DATA = "auto"  # or "full", "subset", "synthetic"
DATA_FOLDER = "data"

# %% [markdown]
# ## Setup
#
# Nothing is installed here. If an import fails, `pip install torch torchvision matplotlib` brings what is missing.

# %%
import contextlib
import datetime
import gzip
import inspect
import io
import json
import linecache
import math
import os
import platform
import random
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import traceback
import urllib.request
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, Self
from unittest.mock import patch

import numpy as np
import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook
from torch.optim.optimizer import register_optimizer_step_pre_hook
from torch.overrides import TorchFunctionMode
from torch.utils.data import DataLoader, Dataset, TensorDataset, random_split
from torchvision import datasets, transforms

SEED = 42
torch.manual_seed(SEED)

print(f"PyTorch {torch.__version__}; CUDA available: {torch.cuda.is_available()}")
if torch.cuda.is_available():
    gpu = torch.cuda.get_device_properties(0)
    print(f"GPU: {gpu.name}, {gpu.total_memory / 1e9:.1f} GB")
else:
    print(
        "No GPU that CUDA knows. Everything runs on the CPU, and comparisons with a GPU are skipped."
    )
    print("In Colab: Runtime → Change runtime type → T4 GPU.")

# %% [markdown]
# The next cell is machinery: blanks that name themselves, checks that watch your code at work, and the search for the digits. Run it; there is no need to read it.

# %% tags=["machinery"] jupyter={"source_hidden": true} cellView="form"
# @title Machinery: run it, and go on
# --8<-- "graders/outcome.py:outcome"

# --8<-- "graders/checks.py:checks"

# --8<-- "graders/answers.py:places"

# --8<-- "graders/judging.py:judging"

# --8<-- "graders/report.py:lines"

# --8<-- "graders/live.py:blanks"

# --8<-- "graders/live.py:live"

# --8<-- "lesson_code/data.py:normalise"

# --8<-- "lesson_code/data.py:split_training_data"

# --8<-- "lesson_code/data.py:full_mnist"

# --8<-- "lesson_code/data.py:lay_out_subset"

# --8<-- "lesson_code/data.py:synthetic_digits"

Digits = tuple[Dataset, Dataset]

# --8<-- "lesson_code/notebook/finding_data.py:find_digits"

Batch = tuple[torch.Tensor, torch.Tensor]

# --8<-- "graders/watching.py:watched_loader"

# --8<-- "graders/watching.py:pretended_gpu"

# --8<-- "graders/watching.py:watch"

# --8<-- "graders/notebook.py:practice"

print("The machinery is in place.")

# %% [markdown]
# ## Data, model, and the two helpers
#
# These are the loaders and the model that you know, defined once and used in every exercise.
# One training image in twelve is set aside for validation. The test images wait until the end of exercise 4.

# %%
(digits, test_digits), which = find_digits(DATA, Path(DATA_FOLDER))
training_digits, validation_digits = split_training_data(digits, SEED)
order = torch.Generator().manual_seed(SEED)  # fixes the order of the training images

train_loader = DataLoader(training_digits, batch_size=64, shuffle=True, generator=order)
validation_loader = DataLoader(validation_digits, batch_size=64)
test_loader = DataLoader(test_digits, batch_size=64)

print(f"data: {which}")
print(
    f"{len(training_digits):,} images for training, {len(validation_digits):,} for validation, "
    f"{len(test_digits):,} for the test"
)
if len(digits) < 60_000:
    print("This is less than the lesson's 60,000, so expect lower accuracies and shorter times.")

# %%
# --8<-- "lesson_code/models.py:mnist_classifier"

print(f"parameters: {sum(p.numel() for p in MNISTClassifier().parameters()):,}")

# %%
# --8<-- "lesson_code/gpu_training/training.py:train_one_epoch"

# --8<-- "lesson_code/gpu_training/training.py:evaluate"

# --8<-- "lesson_code/devices.py:synchronize"


cpu = torch.device("cpu")
device = cpu  # until exercise 1 finds a better one


def same_start() -> None:
    """The same weights and the same order of images for every run that is compared."""
    torch.manual_seed(SEED)
    order.manual_seed(SEED)


def warm_up(device: torch.device) -> None:
    """One throw-away batch: it loads kernels and fills caches before a clock runs."""
    images, labels = next(iter(validation_loader))
    model = MNISTClassifier().to(device)
    nn.functional.cross_entropy(model(images.to(device)), labels.to(device)).backward()


print("train_one_epoch, evaluate, synchronize, same_start and warm_up are defined.")

# %% [markdown]
# ## Exercise 1: move it and time it
#
# *Supported: the loop is there, three places in it are empty.*
#
# **Predict first.** How much faster will a GPU train this small model: twice, five times, ten times? Will it always be faster?

# %% tags=["prediction"]
prediction_1 = ""  # write your guess between the quotes, in your own words

# %% [markdown]
# First the CPU, for reference. Only training is timed; the evaluation stands outside the clock.

# %%
print("--- CPU run ---")
warm_up(cpu)
same_start()
model = MNISTClassifier()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()

cpu_seconds = []
for epoch in range(EPOCHS):
    start = time.perf_counter()
    loss = train_one_epoch(model, train_loader, optimizer, criterion, cpu)
    cpu_seconds.append(time.perf_counter() - start)
    _, accuracy = evaluate(model, validation_loader, cpu)
    print(f"epoch {epoch + 1} of {EPOCHS}: loss {loss:.4f}, validation accuracy {accuracy:.2f} %")
print(f"CPU: {sum(cpu_seconds):.1f} s of training")

# %% [markdown]
# Now yours. The helper hides the loop, so here it stands in full.
# Fill in three places: **1a** the device, **1b** the model, **1c** the batch. Write the device line so that the cell also runs where there is no GPU.


# %% tags=["exercise-1"]
def train_on_device(train_loader, epochs):
    """Train on the best device there is; return it, the model, and each epoch's loss and seconds."""
    # BLANK 1a: name the device with torch.device(...), the GPU if there is one and the CPU if not, and call it device
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    # END
    device = torch.device(device)  # so a name such as "cpu" will do as well

    warm_up(device)
    same_start()
    model = MNISTClassifier()
    # BLANK 1b: bring the model to the device
    model.to(device)
    # END
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()

    losses, seconds = [], []
    for epoch in range(epochs):
        model.train()
        total_loss, seen = 0.0, 0
        synchronize(device)  # whatever the GPU is still doing is not this epoch's work
        start = time.perf_counter()
        for images, labels in train_loader:
            # BLANK 1c: bring images and labels of this batch to the same device
            images, labels = images.to(device), labels.to(device)
            # END
            optimizer.zero_grad()
            loss = criterion(model(images), labels)
            loss.backward()
            optimizer.step()
            total_loss += loss.item() * len(labels)
            seen += len(labels)
        synchronize(device)  # the clock stops when the GPU has finished
        seconds.append(time.perf_counter() - start)
        losses.append(total_loss / seen)
        _, accuracy = evaluate(model, validation_loader, device)
        print(
            f"epoch {epoch + 1} of {epochs}: loss {losses[-1]:.4f}, "
            f"validation accuracy {accuracy:.2f} %"
        )
    return device, model, losses, seconds


print("--- your run ---")
device, trained, losses, device_seconds = cpu, None, [], []  # in case your function stops
device, trained, losses, device_seconds = train_on_device(train_loader, EPOCHS)
print(f"{device}: {sum(device_seconds):.1f} s of training")

# %% [markdown]
# **Check.** It calls your function on small practice batches and watches what happens to them, and where it computes on the CPU, a second time with a GPU that is pretended. So it also finds what goes unnoticed on a CPU. It draws other batches each time; a seed in its last line asks the same again.

# %% tags=["check-1"]
# --8<-- "graders/notebook.py:check_1"

report(1, "train_on_device", globals())

# %% [markdown]
# **Compare.** Beside the two runs, one pass over the loader with no model at all: with this loader, no device takes that part away.

# %%
# --8<-- "lesson_code/gpu_training/practice.py:loader_seconds"

recall(prediction_1)
loader_pass = loader_seconds(train_loader)
cpu_epoch = statistics.median(cpu_seconds)
needs(1, device_seconds)
device_epoch = statistics.median(device_seconds)

print(f"{'':14} {'an epoch':>10} {'speed-up':>10}")
print(f"{'CPU':14} {cpu_epoch:8.2f} s {'1.00':>10}")
if device.type == "cuda":
    print(f"{'GPU':14} {device_epoch:8.2f} s {cpu_epoch / device_epoch:10.2f}")
print(f"{'loader alone':14} {loader_pass:8.2f} s")
share = min(1.0, loader_pass / cpu_epoch)
print(f"\nThe loader alone takes {share:.0%} of your CPU epoch. ", end="")
print(f"With it, an infinitely fast GPU is {1 / share:.1f} times as fast, and no more.")
if device.type != "cuda":
    print("Comparison skipped: no GPU here. It would show the GPU's epoch beside the CPU's.")
elif device_epoch < cpu_epoch:
    print(f"The GPU is {cpu_epoch / device_epoch:.1f} times as fast on this model.")
else:
    print("The GPU is slower: for a model of this size the fixed cost of each step decides.")

# %% [markdown]
# Your timings, beside those of the site's own machines, in images per second:

# %% tags=["machinery"] alt="The same three rows as bars, yours above the recorded ones." jupyter={"source_hidden": true} cellView="form"
# @title Your timings beside the recorded ones
# RECORDED notebook.loader_pass_rate notebook.cpu_rate notebook.cuda_rate

yours = {
    "loader alone": len(training_digits) / loader_pass,
    "CPU": len(training_digits) / cpu_epoch,
}
if device.type == "cuda":
    yours["GPU"] = len(training_digits) / device_epoch
names = dict(zip(RECORDED, ("loader alone", "CPU", "GPU"), strict=True))
for figure, recorded in RECORDED.items():
    name = names[figure]
    mine = f"{yours[name]:,.0f} per second" if name in yours else "skipped, no GPU"
    theirs = f"{recorded['text']} ({recorded['where']})" if recorded else "not measured yet"
    print(f"{name:12} yours: {mine}; recorded: {theirs}")

try:
    import matplotlib.pyplot as plt
except ImportError:
    print("matplotlib is not here, so there is no chart; the lines above say the same.")
else:
    chart, axes = plt.subplots(figsize=(7, 2.6), layout="constrained")
    theirs = [recorded["value"] if recorded else 0 for recorded in RECORDED.values()]
    bars = (("yours", -0.2, "#7b3fe4", [yours.get(name, 0) for name in names.values()]),)
    bars += (("recorded", 0.2, "#8a8f98", theirs),)
    for label, offset, colour, values in bars:
        places = [row + offset for row in range(len(values))]
        drawn = axes.barh(places, values, height=0.36, color=colour, label=label)
        axes.bar_label(drawn, [f"{v:,.0f}" if v else "not measured" for v in values], padding=3)
    axes.set_yticks(range(len(names)), names.values())
    axes.invert_yaxis()
    axes.set_xlabel("images per second; longer is faster")
    axes.margins(x=0.2)
    axes.legend()
    plt.show()

# %% [markdown]
# <details><summary>Solution of exercise 1</summary>
#
# {{ solution 1 }}
#
# The model moves once, each batch moves in the loop.
#
# Why wait for the GPU on both sides of the clock? Python only hands it work and goes ahead. In this loop `loss.item()` already waits in every step, so the second `synchronize` finds nothing to wait for. Keep it: the next loop that you time may have no `.item()`.
#
# What limits the gain is the loader. It opens and normalises every image on the CPU, one by one, while the GPU has nothing to do. The lesson's page *When does a GPU help?* shows the same epoch with the images on the device already.
#
# </details>

# %% [markdown]
# ## Exercise 2: carry a checkpoint across
#
# *Supported: three places are empty.*
#
# **Predict first.** A model is trained and saved on a GPU. Somebody loads the file on a machine that has none, and leaves `map_location` out. What happens?

# %% tags=["prediction"]
prediction_2 = ""  # an error, and which? or a slow model? or nothing at all?

# %% [markdown]
# Fill in **2a** the dictionary and its saving, **2b** the loading, **2c** the rebuilding.
#
# - The dictionary has four keys: `epoch`, `model_state_dict`, `optimizer_state_dict`, `loss`.
# - `map_location` says where the tensors shall arrive; the CPU stands for the other machine.
# - `weights_only=True` opens the file with the protection on. It accepts tensors and plain Python numbers, and here is nothing else.


# %% tags=["exercise-2"]
def save_checkpoint(path, model, optimizer, epoch, loss):
    """Save everything that training needs to go on."""
    # BLANK 2a: build the dictionary with the four keys, and save it to path
    checkpoint = {
        "epoch": epoch,
        "model_state_dict": model.state_dict(),
        "optimizer_state_dict": optimizer.state_dict(),
        "loss": loss,
    }
    torch.save(checkpoint, path)
    # END


def load_on_cpu(path):
    """The dictionary, with every tensor on the CPU."""
    # BLANK 2b: load the file onto the CPU, the safe way, and call the result checkpoint
    checkpoint = torch.load(path, map_location=torch.device("cpu"), weights_only=True)
    # END
    return checkpoint


def rebuild(checkpoint):
    """A fresh model on the CPU with the weights of the checkpoint."""
    model = MNISTClassifier()
    # BLANK 2c: put the saved weights into the model
    model.load_state_dict(checkpoint["model_state_dict"])
    # END
    return model


print(f"--- training on {device}, to have something to save ---")
same_start()
trained = MNISTClassifier()
trained.to(device)
optimizer = torch.optim.Adam(trained.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(CHECKPOINT_EPOCHS):
    loss = train_one_epoch(trained, train_loader, optimizer, criterion, device)
    print(f"epoch {epoch + 1} of {CHECKPOINT_EPOCHS}: loss {loss:.4f}")

checkpoint_path = Path("saved_models") / "gpu_checkpoint.pth"
checkpoint_path.parent.mkdir(exist_ok=True)
checkpoint_path.unlink(missing_ok=True)
save_checkpoint(checkpoint_path, trained, optimizer, epoch, loss)
if checkpoint_path.exists():
    print(f"{checkpoint_path.name}: {checkpoint_path.stat().st_size:,} bytes")

# %% [markdown]
# **Check.** Your three functions get other trainings and other files than yours, some of which say that they come from a GPU. Then your own file is opened, and the rebuilt model gets the first test batch.

# %% tags=["check-2"]
# --8<-- "graders/notebook.py:check_2"

report(2, "save_checkpoint", globals())

checkpoint = load_on_cpu(checkpoint_path)
loaded = rebuild(checkpoint)
print(f"\nread back: epoch {checkpoint['epoch']}, loss {checkpoint['loss']:.4f}")
print(f"trained on {device}, and the loaded model is on {next(loaded.parameters()).device}")
recall(prediction_2)

# %% [markdown]
# <details><summary>Solution of exercise 2</summary>
#
# {{ solution 2 }}
#
# Each tensor in the file carries the name of the device on which it lay. Without `map_location` PyTorch tries to put it back there. On a machine without a GPU it cannot, and stops:
#
# {{ output gpu_training/device_aware_checkpoints:print_loading_without_map_location }}
#
# `map_location` overrules the name. On a machine with a GPU the plain call succeeds, and puts the tensors back on the GPU: there you would not see the mistake.
#
# The epoch that you read back counts from zero, so 4 is the fifth. `weights_only=True` opens the file because there is nothing but tensors and plain numbers in it; convert a metric with `float()` or `.item()` before you save it.
#
# </details>

# %% [markdown]
# ## Exercise 3: add mixed precision
#
# *Supported: the float32 loop is there, five lines change it.*
#
# Autocast computes matrix products in float16, and keeps in float32 what needs the range, the loss for one. The weights stay in float32. The gradients that flow back between the layers are float16, and small ones would become zero; the scaler lifts them above that limit, and takes its factor out again before the step.
#
# The exercise asks for float16, which NVIDIA GPUs since Volta have in hardware, and which needs the scaler. Those since Ampere have bfloat16 too, which has the range of float32 and needs none.
#
# **Predict first.** Will it be noticeably faster for this small model? Will the accuracy change?

# %% tags=["prediction"]
prediction_3 = ""  # faster or not, and the accuracy?

# %% [markdown]
# The reference: float32, on your device.

# %%
print("--- float32 run ---")
mixed_seconds = []  # until your loop returns them
warm_up(device)
same_start()
model = MNISTClassifier()
model.to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
float32_seconds = []
for epoch in range(EPOCHS):
    synchronize(device)
    start = time.perf_counter()
    loss = train_one_epoch(model, train_loader, optimizer, criterion, device)
    synchronize(device)
    float32_seconds.append(time.perf_counter() - start)
    print(f"epoch {epoch + 1} of {EPOCHS}: loss {loss:.4f}")
float32_loss = loss
_, float32_accuracy = evaluate(model, validation_loader, device)
print(f"float32: {sum(float32_seconds):.1f} s, validation accuracy {float32_accuracy:.2f} %")

# %% [markdown]
# Now change the loop. Five lines, three of them new:
#
# - **3a** create the scaler for the device, `enabled` only if `use_amp` is on;
# - **3b** put forward pass and loss under autocast: the device's type, float16, and the same `enabled`;
# - **3c** let the scaler scale the loss, and call backward on that;
# - **3d** let the scaler take the optimizer's step;
# - **3e** let the scaler update its factor.
#
# `use_amp` is on with a GPU and off without one, so that one loop serves both.


# %% tags=["exercise-3"]
def train_mixed(train_loader, device, use_amp, epochs):
    """Train in mixed precision if use_amp is on; return the model, and each epoch's loss and seconds."""
    same_start()
    model = MNISTClassifier()
    model.to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()
    # BLANK 3a: create the scaler, for this device and enabled only if use_amp is on
    scaler = torch.amp.GradScaler(device.type, enabled=use_amp)
    # END

    losses, seconds = [], []
    for epoch in range(epochs):
        model.train()
        total_loss, seen = 0.0, 0
        synchronize(device)
        start = time.perf_counter()
        for images, labels in train_loader:
            images, labels = images.to(device), labels.to(device)
            optimizer.zero_grad()
            # BLANK 3b: open autocast, and indent the next two lines so that they stand under it
            with torch.autocast(device_type=device.type, dtype=torch.float16, enabled=use_amp):
                outputs = model(images)
                loss = criterion(outputs, labels)
            # INSTEAD
            # outputs = model(images)
            # loss = criterion(outputs, labels)
            # END
            # BLANK 3c: scale the loss before backward; change the next line
            scaler.scale(loss).backward()
            # INSTEAD
            # loss.backward()
            # END
            # BLANK 3d: let the scaler take the step; change the next line
            scaler.step(optimizer)
            # INSTEAD
            # optimizer.step()
            # END
            # BLANK 3e: let the scaler update its factor
            scaler.update()
            # END
            total_loss += loss.item() * len(labels)
            seen += len(labels)
        synchronize(device)
        seconds.append(time.perf_counter() - start)
        losses.append(total_loss / seen)
        print(f"epoch {epoch + 1} of {epochs}: loss {losses[-1]:.4f}")
    return model, losses, seconds


use_amp = device.type == "cuda"
print(f"--- mixed precision run, {'on' if use_amp else 'switched off: no GPU'} ---")
model, mixed_losses, mixed_seconds = train_mixed(train_loader, device, use_amp, EPOCHS)
_, mixed_accuracy = evaluate(model, validation_loader, device)
print(f"mixed: {sum(mixed_seconds):.1f} s, validation accuracy {mixed_accuracy:.2f} %")

# %% [markdown]
# **Check.** A CPU can do mixed precision too, slowly. So your function runs there on practice batches, with `use_amp` on and off, and the check looks at every step. Then it runs once more with a GPU, pretended where there is none.

# %% tags=["check-3"]
# --8<-- "graders/notebook.py:check_3"

report(3, "train_mixed", globals())

# %% [markdown]
# **Compare**, in two separate questions: is it as accurate, and is it faster?

# %%
needs(3, mixed_seconds)
recall(prediction_3)
points = mixed_accuracy - float32_accuracy
float32_epoch, mixed_epoch = map(statistics.median, (float32_seconds, mixed_seconds))
print(f"{'':10} {'an epoch':>10} {'accuracy':>10} {'speed-up':>10}")
print(f"{'float32':10} {float32_epoch:8.2f} s {float32_accuracy:8.2f} % {'1.00':>10}")
if use_amp:
    print(
        f"{'mixed':10} {mixed_epoch:8.2f} s {mixed_accuracy:8.2f} % "
        f"{float32_epoch / mixed_epoch:10.2f}"
    )
    equal, faster = abs(points) < 0.5, mixed_epoch < float32_epoch
    print(f"\naccuracy: {points:+.2f} percentage points, ", end="")
    print("essentially equal" if equal else "too far apart; look at your five lines again")
    print("speed: faster" if faster else "speed: not faster, on this model and this GPU")
    if equal and faster:
        print("Both hold: here the speed-up is free.")
else:
    same = mixed_losses[-1] == float32_loss
    print("\nComparison skipped: no GPU here. It would show time and accuracy of mixed precision.")
    print(
        f"With use_amp off your loop ends at {'the same' if same else 'ANOTHER'} loss "
        f"as the float32 run, to the last digit: {mixed_losses[-1]!r}."
    )

# %% [markdown]
# <details><summary>Solution of exercise 3</summary>
#
# {{ solution 3 }}
#
# The scaler multiplies the loss, so by the chain rule every gradient comes out multiplied too, and few of them fall below what float16 can hold. `scaler.step` divides them again and then calls the optimizer; if one of them is infinite, it skips the step, and `update` halves the factor.
#
# For this model the gain may be nothing: its products are small, and the loader sets the pace. The lesson's page *When mixed precision helps* shows models for which it is not, and what mixed precision does to memory.
#
# </details>

# %% [markdown]
# ## Exercise 4: the portable script
#
# *Independent: you write the body.*
#
# 1. Find the device.
# 2. Train on it.
# 3. Use mixed precision on a GPU, and only there: float16 with the scaler, or, on a card that has it in hardware, bfloat16 without one.
# 4. Write checkpoints that load anywhere.
# 5. Keep the best model by validation accuracy.
# 6. Time it, and report.
#
# Say at the start where it runs and whether mixed precision is on. For every epoch print its number out of the total, the loss with four decimals, the accuracy with two, and a mark if this epoch was saved. At the end three lines: device, seconds, best accuracy.
#
# Save a dictionary with five keys to the path that you get: the four of exercise 2, and `accuracy` in percent. Save at once, whenever an epoch is better than all before: a run that is killed keeps what is on disk. Choose by validation accuracy; the test images are for the very end.
#
# **Predict first.** Two epochs reach the same accuracy. Which of them should be in the file?

# %% tags=["prediction"]
prediction_4 = ""  # the earlier one, the later one, or both?


# %% tags=["exercise-4"]
def portable_training(train_loader, validation_loader, epochs, path):
    """Train on whatever is there, and keep the best model in the file at path."""
    # BLANK 4: write the body, from the device to the report
    # 1. the device
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    # 2. the data: the two loaders that you are given

    # 3. model, optimizer, criterion
    model = MNISTClassifier()
    model.to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()

    # 4. mixed precision
    use_amp = device.type == "cuda"
    scaler = torch.amp.GradScaler(device.type, enabled=use_amp)
    print(f"training on {device}, mixed precision {'on' if use_amp else 'off'}")

    # 5. the loop: placement, autocast, validation, saving the best
    best = -1.0
    synchronize(device)
    start = time.perf_counter()
    for epoch in range(epochs):
        model.train()
        total_loss, seen = 0.0, 0
        for images, labels in train_loader:
            images, labels = images.to(device), labels.to(device)
            optimizer.zero_grad()
            with torch.autocast(device_type=device.type, dtype=torch.float16, enabled=use_amp):
                loss = criterion(model(images), labels)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            total_loss += loss.item() * len(labels)
            seen += len(labels)
        _, accuracy = evaluate(model, validation_loader, device)
        is_best = accuracy > best  # decided before best changes
        if is_best:
            best = accuracy
            checkpoint = {
                "epoch": epoch,
                "model_state_dict": model.state_dict(),
                "optimizer_state_dict": optimizer.state_dict(),
                "loss": total_loss / seen,
                "accuracy": accuracy,
            }
            torch.save(checkpoint, path)
        print(
            f"epoch {epoch + 1} of {epochs}: loss {total_loss / seen:.4f}, "
            f"validation accuracy {accuracy:.2f} %{'  <- best' if is_best else ''}"
        )
    synchronize(device)

    # 6. the report
    print(f"device: {device}")
    print(f"time: {time.perf_counter() - start:.1f} s")
    print(f"best validation accuracy: {best:.2f} %")
    # INSTEAD
    # # 1. the device
    #
    # # 2. the data: the two loaders that you are given
    #
    # # 3. model, optimizer, criterion
    #
    # # 4. mixed precision
    #
    # # 5. the loop: placement, autocast, validation, saving the best
    #
    # # 6. the report
    # END


print("--- portable run ---")
best_path = Path("saved_models") / "portable_best.pth"
best_path.parent.mkdir(exist_ok=True)
best_path.unlink(missing_ok=True)
torch.manual_seed(SEED)
portable_training(train_loader, validation_loader, PORTABLE_EPOCHS, best_path)

# %% [markdown]
# **Check.** Your function runs on practice batches with a validation whose accuracy is known before: once it stays at 0, once it rises, falls and rises again. So the check sees when you save, and what you print. Then your own best checkpoint is loaded on the CPU and measured again.

# %% tags=["check-4"]
# --8<-- "graders/notebook.py:check_4"

report(4, "portable_training", globals())

best_checkpoint = torch.load(best_path, map_location="cpu", weights_only=True)
best_model = MNISTClassifier()
best_model.load_state_dict(best_checkpoint["model_state_dict"])
_, test_accuracy = evaluate(best_model, test_loader, cpu)
recall(prediction_4)
print(f"best epoch: {best_checkpoint['epoch'] + 1} of {PORTABLE_EPOCHS}")
print(f"test accuracy, measured once: {test_accuracy:.2f} %")

# %% [markdown]
# <details><summary>Solution of exercise 4</summary>
#
# {{ solution 4 }}
#
# Six rules to keep:
#
# 1. Detect the device once, and pass it on.
# 2. Mixed precision on a GPU alone.
# 3. Scaler and autocast both take `enabled`; switched off they change nothing, bit for bit.
# 4. One loop body, no branch for the device.
# 5. `map_location` whenever you load.
# 6. Synchronise before you read the clock.
#
# The first of two equal epochs belongs in the file: a later one that is no better is no reason to write again.
#
# </details>

# %% [markdown]
# ## What you take along
#
# - The same loop and **three lines**: name the device, move the model, move every batch.
# - Synchronise around a timer, or it measures how fast Python hands out work.
# - `map_location` on every load, and a checkpoint opens anywhere.
# - Mixed precision in **five lines**: scaler, autocast, scaled backward, step, update.
# - GPU wins at scale; below it, fixed costs decide.
# - The portable pattern runs with a CUDA GPU and without one, unchanged.

# %% [markdown]
# ## Take your timings home
#
# The next cell writes your timings of exercises 1 and 3 to a small file. Drop it on the site's page *Compare your machine*, and it shows you beside the recorded machines. The page reads it in your browser; it is sent nowhere.

# %% tags=["machinery"] jupyter={"source_hidden": true} cellView="form"
# @title Write gpu-training-timings.json
# --8<-- "results/summary.py:summary"

# --8<-- "results/quantities.py:rounded"

# --8<-- "lesson_code/devices.py:cpu_name"

# --8<-- "benchmarks/provenance.py:machine"

Result = dict[str, Any]

# --8<-- "benchmarks/notebook.py:timings"

timings = {"cpu_epoch": cpu_seconds, "loader_pass": [loader_pass]}
if device.type == "cuda":
    timings |= {"cuda_epoch": device_seconds, "cuda_float32_epoch": float32_seconds}
    if mixed_seconds:
        timings["cuda_mixed_epoch"] = mixed_seconds
if "digits" in which and "no digits" in which:
    print(
        "Nothing written: made-up patterns need no decoding, so their times compare with nothing."
    )
    print('Run the notebook where it finds MNIST, or with DATA = "full".')
else:
    timings_path = Path("gpu-training-timings.json")
    result = timings_as_result(timings, len(training_digits), which)
    timings_path.write_text(json.dumps(result, indent=1, ensure_ascii=False), encoding="utf-8")
    print(f"{timings_path.name} is written, {timings_path.stat().st_size:,} bytes.")

# %% [markdown]
# ## Clean up
#
# Optional: take the `#` away to remove the checkpoints of exercises 2 and 4.

# %%
# shutil.rmtree("saved_models")
