"""One measured thing: its raw samples, where they were taken, and what they say together."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from results.summary import Estimate, Summary, ratio, summarise

SUMMARY = ("median", "smallest", "largest", "spread", "noisy")
OPTIONAL = (
    *("warmups", "loops", "device_samples", "seed", "loss", "settings", "amount", "outcome"),
)


@dataclass(frozen=True)
class Entry:
    """What a result file keeps of one measured thing.

    Attributes:
        unit: Of the samples: ``s``, ``percent``, ``epochs``, ``bytes``, ``samples`` or ``plain``.
        device: Where it ran: ``cpu``, ``cuda`` or, in a browser, ``webgpu``.
        samples: Raw values.
        at: The sizes and arms at which it was measured, such as ``{"width": 256, "batch": 64}``;
            the case that measures it declares them.
        warmups: Untimed runs before the samples, in seconds.
        loops: How often the work ran within one sample; 0 if nobody counted.
        device_samples: The samples by the device's own events.
        seed: What every random draw started from.
        loss: What the timed training returned last.
        settings: What a reader needs to know to repeat it.
        amount: What one run works through: FLOP, bytes or samples; 0 if it does not say.
        outcome: What the timed work reached, such as an accuracy.
    """

    unit: str
    device: str
    samples: tuple[float, ...]
    at: Mapping[str, Any] = field(default_factory=dict)
    warmups: tuple[float, ...] = ()
    loops: int = 0
    device_samples: tuple[float, ...] = ()
    seed: int | None = None
    loss: float | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    amount: float = 0.0
    outcome: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def summary(self) -> Summary:
        """What the samples say together."""
        return summarise(self.samples)

    @property
    def median(self) -> float:
        """The middle sample."""
        return self.summary.median

    @property
    def smallest(self) -> float:
        """The smallest sample."""
        return self.summary.smallest

    @property
    def largest(self) -> float:
        """The largest sample."""
        return self.summary.largest

    @property
    def spread(self) -> float:
        """The distance between the first and the third quartile."""
        return self.summary.spread

    @property
    def noisy(self) -> bool:
        """Whether the middle half of the samples spreads over more than 15 % of their median."""
        return self.summary.noisy

    def estimate(self, statistic: str = "median") -> Estimate:
        """One statistic of the samples, and how far it can be trusted."""
        of, value = self.summary, getattr(self, statistic)
        return Estimate(value, of.spread, of.noisy, len(self.samples), of.smallest, of.largest)

    def rate(self) -> Estimate | None:
        """What it works through in a second; None if it does not say how much that is."""
        if not self.amount or not self.median:
            return None
        return ratio(Estimate(self.amount), self.estimate())

    def to_json(self) -> dict[str, Any]:
        """As a result file has it: with its summary, and without what it does not have."""
        kept = {name: getattr(self, name) for name in OPTIONAL}
        return {
            "unit": self.unit,
            "device": self.device,
            **{name: getattr(self, name) for name in SUMMARY},
            "samples": list(self.samples),
            **{
                name: list(value) if isinstance(value, tuple) else value
                for name, value in kept.items()
                if value is not None and (value or name in ("seed", "loss"))
            },
        }


def read_entry(content: Mapping[str, Any], at: Mapping[str, Any] | None = None) -> Entry:
    """The entry that a result file holds.

    Args:
        content: The checked JSON of one entry; its summary follows from its samples.
        at: The sizes and arms that its case declares for it.
    """
    fields = {name: content[name] for name in OPTIONAL if name in content}
    return entry(content["samples"], content["unit"], device=content["device"], at=at, **fields)


def entry(
    samples: Iterable[float],
    unit: str,
    *,
    device: str,
    at: Mapping[str, Any] | None = None,
    warmups: Iterable[float] = (),
    loops: int = 0,
    device_samples: Iterable[float] = (),
    seed: int | None = None,
    loss: float | None = None,
    settings: Mapping[str, Any] | None = None,
    amount: float | None = None,
    outcome: Mapping[str, float] | None = None,
) -> Entry:
    """An entry of any numbers; see ``Entry`` for what each is.

    Raises:
        ValueError: If there is no sample.
    """
    values = tuple(map(float, samples))
    if not values:
        raise ValueError("there is no sample to summarise")
    return Entry(
        unit,
        device,
        values,
        at or {},
        tuple(warmups),
        loops,
        tuple(device_samples),
        seed,
        loss,
        settings or {},
        float(amount or 0),
        outcome or {},
    )
