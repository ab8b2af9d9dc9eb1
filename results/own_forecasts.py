"""What our own job measured on a GPU, beside what was forecast for the same step on that card."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lesson_code.forecast.cards import Card, read_cards
from results import forecasts
from results.forecasts import ForecastError, ForecastFigure
from results.store import Result, one_a_machine

# What CUDA keeps for itself is less than a tenth; cards of one name differ by a sixth or more.
MEMORY_OFF = 0.1
# The case and the entry that the job measures, and the counted step and the format behind it
COUNTED = (
    (r"step_sweep:width_(?P<width>\d+)\.batch_(?P<batch>\d+)\.cuda", "sweep_{width}_{batch}"),
    (r"mixed_precision:mnist\.cuda_(?P<format>[a-z0-9]+)", "mnist_64"),
    (r"small_resnet:batch_(?P<batch>\d+)\.cuda_(?P<format>[a-z0-9]+)", "resnet_{batch}"),
    (r"small_resnet:mnist\.cuda", "mnist_64"),
    (r"mixed_precision:large\.cuda_(?P<format>[a-z0-9]+)", "large_1024"),
    (r"cnn_step:batch_(?P<batch>\d+)\.cuda_(?P<format>[a-z0-9]+)", "resnet18_{batch}"),
    (r"resnet_step:batch_(?P<batch>\d+)\.cuda_(?P<format>[a-z0-9]+)", "resnet50_{batch}"),
    (
        r"resnet_step:batch_(?P<batch>\d+)\.cuda_(?P<format>[a-z0-9]+)_channels_last",
        "resnet50_{batch}_channels_last",
    ),
)


@dataclass(frozen=True)
class Own:
    """A step that our job measured and that was forecast.

    Attributes:
        forecast: The forecast for the card on which it ran.
        seconds: The measured time, the median.
        where: The machine, its software and the day.
    """

    forecast: ForecastFigure
    seconds: float
    where: str

    @property
    def step(self) -> str:
        """The step, its format and the card, in words."""
        return self.forecast.what.partition(": ")[2]

    @property
    def network(self) -> str:
        """Network and optimizer, in words."""
        return self.step.partition(", batches")[0]

    @property
    def ratio(self) -> float:
        """The measured time divided by the forecast."""
        return self.seconds / self.forecast.value

    @property
    def late(self) -> bool:
        """Whether it took longer than forecast."""
        return self.ratio > 1

    @property
    def held(self) -> bool:
        """Whether the measured time lies within the forecast's band."""
        return self.forecast.low <= self.seconds <= self.forecast.high


def card_of(provenance: Mapping[str, Any]) -> Card | None:
    """The card of a machine, by the driver's name and its memory; None if it is not offered.

    A driver gives one name to an RTX 3080 with 10 GB and to that with 12, which has other rates.
    """
    details = provenance.get("gpu_details") or {}
    for card in read_cards().values():
        told = details.get("memory_bytes", card.memory_bytes)
        if provenance["gpu"] in card.called and abs(told / card.memory_bytes - 1) < MEMORY_OFF:
            return card
    return None


def own(results: Iterable[Result]) -> list[Own]:
    """Every step of the result files that has a forecast, by machine."""
    found = []
    ran = [result for result in results if result.provenance["gpu"]]
    for case in dict.fromkeys(pattern.partition(":")[0] for pattern, _ in COUNTED):
        for result in one_a_machine(ran, case):
            card = card_of(result.provenance)
            for entry, measured in result.cases.get(case, {}).items():
                if card and (figure := _forecast(f"{case}:{entry}", card)):
                    found.append(Own(figure, measured.median, result.where))
    return sorted(found, key=lambda one: one.where)


def _forecast(target: str, card: Card) -> ForecastFigure | None:
    """What is forecast for an entry, if its step was counted and the card has its format."""
    for pattern, step in COUNTED:
        if match := re.fullmatch(pattern, target):
            format = match.groupdict().get("format", "float32")
            name = f"forecast.{step.format(**match.groupdict())}.{format}.{card.id}.time"
            try:
                return forecasts.figure(name)
            except ForecastError:
                return None
    return None
