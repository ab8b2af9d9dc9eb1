"""Peak memory: what a training step holds at most, before and after each way to save some."""

from collections.abc import Sequence
from dataclasses import dataclass

from lesson_site.charts.base import (
    NOTHING_MEASURED,
    Chart,
    Source,
    measured_together,
    noise_warning,
)
from lesson_site.charts.description import Group, Row, Rows, mark_of
from results.quantities import write
from results.store import Figure, Store

MIXED = ("float32", "float16 autocast")
KEPT = ("All activations kept", "Activation checkpointing")
WAYS = (  # model, what is compared, the peaks' figures, and the steps whose peaks are counted
    (
        "MNIST classifier",
        MIXED,
        ("amp.mnist.cuda_float32_peak", "amp.mnist.cuda_float16_peak"),
        ("mnist_64.float32", "mnist_64.float16"),
    ),
    (
        "Four layers of 4,096",
        MIXED,
        ("amp.large.cuda_float32_peak", "amp.large.cuda_float16_peak"),
        ("large_1024.float32", "large_1024.float16"),
    ),
    (
        "ResNet-18, 128 images",
        MIXED,
        ("cnn_step.batch_128.cuda_float32_peak", "cnn_step.batch_128.cuda_float16_peak"),
        ("resnet18_128.float32", "resnet18_128.float16"),
    ),
    (
        "ResNet-50",
        KEPT,
        ("checkpointing.resnet50.cuda_plain_peak", "checkpointing.resnet50.cuda_checkpointed_peak"),
        ("", ""),
    ),
    (
        "Transformer",
        KEPT,
        (
            "checkpointing.transformer.cuda_plain_peak",
            "checkpointing.transformer.cuda_checkpointed_peak",
        ),
        ("", ""),
    ),
    (
        "GPT-2 small, batch of 4",
        ("float32", "bfloat16 autocast"),
        (
            "transformer_memory.small.b4.fp32.adam.none.cuda_peak",
            "transformer_memory.small.b4.autocast.adam.none.cuda_peak",
        ),
        ("gpt2_4.float32", "gpt2_4.bfloat16"),
    ),
    (
        "GPT-2 small, batch of 4, float32",
        ("All activations kept", "Every block recomputed"),
        (
            "transformer_memory.small.b4.fp32.adam.none.cuda_peak",
            "transformer_memory.small.b4.fp32.adam.full.cuda_peak",
        ),
        ("gpt2_4.float32", "gpt2_4_full.float32"),
    ),
    (
        "ResNet-50, an update from 128 images",
        ("One batch of 128", "Four batches of 32"),
        (
            "accumulation.resnet50.cuda_one_batch_peak",
            "accumulation.resnet50.cuda_accumulated_peak",
        ),
        ("", ""),
    ),
)


@dataclass(frozen=True)
class Saving:
    """A way to save memory, tried on one model.

    Attributes:
        model: The model.
        labels: What is compared, before and after.
        peaks: Bytes held at most, before and after.
    """

    model: str
    labels: tuple[str, str]
    peaks: tuple[Figure, Figure]

    @property
    def percent(self) -> float | None:
        """The part of the first peak that is saved; negative if the second is higher."""
        before, after = (peak.value for peak in self.peaks)
        return None if not before or after is None else 100 * (1 - after / before)


def draw(store: Store) -> Chart:
    """Megabytes at the peak of a step, in pairs."""
    source = measured_together(
        store, "mixed_precision", "cnn_step", "checkpointing", "accumulation", "transformer_memory"
    )
    savings = [
        Saving(model, labels, _peaks(source, names, counted))
        for model, labels, names, counted in WAYS
    ]
    largest = max((peak.value or 0 for saving in savings for peak in saving.peaks), default=0)
    return Chart(
        "Most GPU memory that a training step holds",
        finding(savings),
        Rows(list(map(_group, savings)), "gigabytes" if largest >= 1e9 else "megabytes"),
        ("Model", "How", "Peak memory"),
        [
            (saving.model, label, peak)
            for saving in savings
            for label, peak in zip(saving.labels, saving.peaks, strict=True)
        ],
        source.where,
    )


def _peaks(
    source: Source, names: tuple[str, str], counted: tuple[str, str]
) -> tuple[Figure, Figure]:
    """Two peaks as a GPU measured them, or as they were counted."""
    stand_ins = [f"forecast.{step}.card.memory" if step else "" for step in counted]
    before, after = source.or_forecasts(names, stand_ins)
    return before, after


def _group(saving: Saving) -> Group:
    (before, after), (first, second) = saving.labels, saving.peaks
    return Group(saving.model, [Row(before, 1, mark_of(first)), Row(after, 2, mark_of(second))])


def finding(savings: Sequence[Saving]) -> str:
    """What saves most, and what saves nothing."""
    measured = [(saving.percent, saving) for saving in savings if saving.percent is not None]
    if not measured:
        return NOTHING_MEASURED
    percent, best = max(measured, key=lambda pair: pair[0])
    sentences = ["None of these ways saves memory."]
    if round(percent) > 0:
        share = write(round(percent), "percent")
        sentences = [f"{best.model}: {_small(best.labels[1])} saves most, {share} of the peak."]
        dearer = [s for p, s in measured if round(p) <= 0]
        for saving in dearer:
            sentences.append(f"{saving.model}: {_small(saving.labels[1])} saves nothing.")
    figures = [peak for saving in savings for peak in saving.peaks]
    if any(peak.known and peak.kind == "exact" for peak in figures):
        sentences.append("Counted from the operations of a step, where no GPU has measured it.")
    return " ".join(sentences) + noise_warning(figures)


def _small(label: str) -> str:
    """A label inside a sentence."""
    return label[0].lower() + label[1:]
