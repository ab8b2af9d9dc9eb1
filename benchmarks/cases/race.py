"""The step that races in the page, in PyTorch: the lesson's, over model width and batch size.

``lesson_code/benchmarks/race.py`` has the step and the models. As in the lesson's loop, every batch
is sent to the device within the timed step. Steps follow each other as in training: a sample chains
many of them and waits for the device once, so that a GPU computes while Python launches. The loss
is read after the last sample.

The browser's entries come from no job: a reader races on the page, and saves what came of it.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import nn

from benchmarks.cases import Part, Plan, SkipPartError
from benchmarks.method import Arm, measure
from lesson_code.benchmarks.race import HIDDEN_WIDTHS, classifier, train_step
from lesson_code.devices import float32_products
from lesson_code.timing import time_repeatedly
from results.cases import Family, names_of
from results.entry import Entry

BATCH_SIZES = (16, 64, 256, 1024, 4096)
QUICK_WIDTHS, QUICK_BATCH_SIZES = HIDDEN_WIDTHS[:2], BATCH_SIZES[:2]
PRODUCT_SIZES = (128, 256, 512, 1024, 2048, 4096)
BROWSER = ("browser_cpu", "browser_gpu")
LONGEST_STEP_S = 2.0  # what takes longer is not raced
HOPELESS_S = 20.0  # so long a first step is not only what is done once
SEED = 0
RACERS = {  # where each runs, and how it is called
    "cpu": ("cpu", "PyTorch on the CPU"),
    "cuda": ("cuda", "PyTorch on the GPU"),
    "browser_cpu": ("cpu", "the CPU in the browser"),
    "browser_gpu": ("webgpu", "the GPU in the browser"),
}
FAMILIES = (
    *(
        Family(
            f"width_{{width}}.batch_{{batch}}.{racer}",
            f"samples a second in the race, first hidden layer {{width}} wide, "
            f"batch size {{batch}}: {called}",
            {"width": tuple(first for first, _ in HIDDEN_WIDTHS), "batch": BATCH_SIZES},
            device=device,
            browser=racer in BROWSER,
            figure="",
            rate="samples_per_s",
            rate_figure=f"race.width_{{width}}.batch_{{batch}}.{racer}",
        )
        for racer, (device, called) in RACERS.items()
    ),
    *(
        Family(
            f"product.n_{{n}}.{racer}",
            f"what {RACERS[racer][1]} reaches in a float32 product of two {{n}} × {{n}} matrices",
            {"n": PRODUCT_SIZES},
            device=RACERS[racer][0],
            browser=True,
            figure="",
            rate="flop_per_s",
            rate_figure=f"race.product.n_{{n}}.{racer}",
        )
        for racer in BROWSER
    ),
)
ENTRIES = names_of(FAMILIES)
BROWSER_ENTRIES = names_of(family for family in FAMILIES if family.browser)


def parts(plan: Plan) -> Iterator[Part]:
    """Every width and batch size; the CPU and the GPU take turns within it."""
    for hidden in QUICK_WIDTHS if plan.quick else HIDDEN_WIDTHS:
        for batch_size in QUICK_BATCH_SIZES if plan.quick else BATCH_SIZES:
            yield Part(
                f"width_{hidden[0]}.batch_{batch_size}",
                partial(_compare, plan, hidden, batch_size),
                expected_s=0.5 + 7e-7 * hidden[0] * batch_size,
            )


def _compare(plan: Plan, hidden: tuple[int, int], batch_size: int) -> dict[str, Entry]:
    name = f"width_{hidden[0]}.batch_{batch_size}"
    trainings = {
        f"{name}.{device_name}": _Training(hidden, batch_size, device)
        for device_name, device in plan.devices.items()
    }
    slow = [arm for arm, training in trainings.items() if training.step_s > LONGEST_STEP_S]
    if len(slow) == len(trainings):
        raise SkipPartError(f"a step takes more than {LONGEST_STEP_S:.0f} s on this machine")
    settings: dict[str, Any] = {"width": hidden[0], "batch_size": batch_size}
    if slow:
        settings["too_slow"] = slow
    arms = {arm: t.arm(settings) for arm, t in trainings.items() if arm not in slow}
    entries = measure(arms, plan.repetitions)
    return {arm: replace(entry, loss=trainings[arm].loss) for arm, entry in entries.items()}


class _Training:
    """A model and one batch, which lies on the CPU and goes to the device in every step.

    Attributes:
        device: Where it trains.
        batch_size: Samples of a step.
        step_s: The shorter of its first two steps: the first one pays for what is done once.
    """

    def __init__(self, hidden: tuple[int, int], batch_size: int, device: torch.device) -> None:
        torch.manual_seed(SEED)
        self.device = device
        self.batch_size = batch_size
        self.step = _step(hidden, batch_size, device)
        self._loss = torch.zeros(())
        [self.step_s] = time_repeatedly(self.run, device, repetitions=1, warmup=0)
        if self.step_s <= HOPELESS_S:
            [again_s] = time_repeatedly(self.run, device, repetitions=1, warmup=0)
            self.step_s = min(self.step_s, again_s)

    def run(self) -> None:
        """One step; on a GPU it is only asked for."""
        self._loss = self.step()

    def arm(self, settings: dict[str, Any]) -> Arm:
        """What is timed."""
        float32 = partial(float32_products, tf32=False)
        return Arm(self.run, self.device, settings, SEED, self.batch_size, float32)

    @property
    def loss(self) -> float:
        """The loss of the last step; reading it waits for the device."""
        return float(self._loss)


def _step(
    hidden: tuple[int, int], batch_size: int, device: torch.device
) -> Callable[[], torch.Tensor]:
    model = classifier(*hidden).to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    images = torch.randn(batch_size, 1, 28, 28)
    labels = torch.randint(10, (batch_size,))

    def step() -> torch.Tensor:
        there = images.to(device), labels.to(device)
        return train_step(model, criterion, optimizer, *there).detach()

    return step
