"""The time of a training step on a card, forecast from what the step is made of.

Standard library only: pages show these sections, and run them in a browser.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from lesson_code.forecast.cards import Card

# --8<-- [start:constants]
ARITHMETIC_SHARE = 0.80  # of a card's peak, which the best matrix products reach
BANDWIDTH_SHARE = 0.85  # of its memory's bandwidth, which copies reach
MEMORY_SHARE = 0.91  # of what its driver reports, which tensors fill before none is left
BAND = 1.5  # how far arithmetic and traffic may be off on most cards, as a factor both ways
GAIN_BAND = 1.5  # how far a gain of one format over another may be off on the same card


class Host(NamedTuple):
    """Seconds in which a computer asks its GPU for one kernel: from, about and to."""

    low: float = 10e-6
    likely: float = 25e-6  # as many times the lowest as the highest is of it
    high: float = 62e-6  # the longest that was published, of software of 2021


HOST = Host()


# --8<-- [end:constants]


def try_constants() -> None:
    """The host, at its fastest and its slowest."""
    # --8<-- [start:try_constants]
    print(1 / HOST.high, 1 / HOST.low)
    # --8<-- [end:try_constants]


# --8<-- [start:step]
@dataclass(frozen=True)
class Step:
    """What a training step is made of, as the counter counts it.

    Attributes:
        format: What its large products are computed in: float32, tf32, bfloat16 or float16.
        flop: Floating-point operations of products and convolutions, by the format of their inputs.
        bytes: What all operations read and write.
        convolution_bytes: The part of it that convolutions read and write.
        launches: Kernels that the host asks the GPU for.
        operations: Operations of PyTorch behind them.
        weight_bytes: Memory of parameters and buffers.
        peak_bytes: The most memory that its tensors hold at once.
        channels_last: Whether the channels of a pixel lie side by side.
    """

    format: str
    flop: Mapping[str, int]
    bytes: int
    convolution_bytes: int
    launches: int
    operations: int
    weight_bytes: int
    peak_bytes: int
    channels_last: bool = False


# --8<-- [end:step]


def try_step() -> None:
    """How many bytes a kernel moves."""
    # --8<-- [start:try_step]
    step = Step("float32", {"float32": 90_000_000}, 30_000_000, 0, 27, 27, 0, 5_000_000)
    print(step.bytes / step.launches)
    # --8<-- [end:try_step]


@dataclass(frozen=True)
class Forecast:
    """Seconds of a step: about, at least and at most, and the three parts that it comes from."""

    time: float
    low: float
    high: float
    arithmetic: float
    traffic: float
    launches: float

    @property
    def binds(self) -> str:
        """Which part decides: arithmetic, traffic or launches."""
        if self.launches > self.arithmetic + self.traffic:
            return "launches"
        return "arithmetic" if self.arithmetic > self.traffic else "traffic"


# --8<-- [start:time]
def forecast(step: Step, card: Card, host: Host = HOST) -> Forecast:
    """The time of ``step`` on ``card``: of the GPU's work or of the host's, whichever is longer.

    Raises:
        ValueError: If the card has no units for the step's format.
    """
    at_peak = sum(flop / peak_of(card, step, format) for format, flop in step.flop.items())
    arithmetic = at_peak / ARITHMETIC_SHARE
    traffic = bytes_moved(step, card) / (BANDWIDTH_SHARE * card.bandwidth)
    work = arithmetic + traffic
    low, likely, high = (step.launches * cost for cost in host)
    band = card.band or BAND
    return Forecast(
        time=max(work, likely),
        low=max(work / band, low),
        high=max(work * band, high),
        arithmetic=arithmetic,
        traffic=traffic,
        launches=likely,
    )


# --8<-- [end:time]


def try_time() -> None:
    """A forecast for a card with round numbers."""
    # --8<-- [start:try_time]
    step = Step("float32", {"float32": 90_000_000}, 30_000_000, 0, 27, 27, 0, 0)
    card = Card("mine", "my card", 16 * 2**30, 320e9, {"float32": 8.1e12}, {})
    print(forecast(step, card))
    print(forecast(step, card).binds)
    # --8<-- [end:try_time]


def peak_of(card: Card, step: Step, format: str) -> float:
    """Operations in a second on inputs of ``format``; float32 ones may be computed in TF32."""
    tf32 = format == "float32" and step.format == "tf32" and "tf32" in card.peak
    runs_in = "tf32" if tf32 else format
    if runs_in not in card.peak:
        raise ValueError(f"{card.name} has no units for {runs_in}; it has {', '.join(card.peak)}")
    return card.peak[runs_in]


# --8<-- [start:layout]
def bytes_moved(step: Step, card: Card) -> float:
    """Bytes that the step moves; tensor cores first bring convolutions into their own layout."""
    converted = not step.channels_last and uses_tensor_cores(step, card)
    return step.bytes + converted * step.convolution_bytes


def uses_tensor_cores(step: Step, card: Card) -> bool:
    """Whether the card has faster units for the step's format than for float32."""
    return card.peak.get(step.format, 0.0) > card.peak["float32"]


# --8<-- [end:layout]


def try_layout() -> None:
    """The bytes of a step on a card."""
    # --8<-- [start:try_layout]
    step = Step("float32", {"float32": 90_000_000}, 30_000_000, 0, 27, 27, 0, 5_000_000)
    card = Card("mine", "my card", 16 * 2**30, 320e9, {"float32": 8.1e12, "float16": 65e12}, {})
    print(bytes_moved(step, card))
    # --8<-- [end:try_layout]


# --8<-- [start:memory]
def memory_fits(step: Step, card: Card) -> bool:
    """Whether the tensors of the step fit into the card's memory."""
    return step.peak_bytes <= MEMORY_SHARE * card.memory_bytes


# --8<-- [end:memory]


def try_memory() -> None:
    """Whether a step fits."""
    # --8<-- [start:try_memory]
    step = Step("float32", {"float32": 90_000_000}, 30_000_000, 0, 27, 27, 0, 5_000_000)
    card = Card("mine", "my card", 16 * 2**30, 320e9, {"float32": 8.1e12, "float16": 65e12}, {})
    print(memory_fits(step, card))
    # --8<-- [end:try_memory]
