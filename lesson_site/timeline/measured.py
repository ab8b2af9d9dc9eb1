"""The loops that were measured on a CPU beside what the timeline says of them, as a table."""

from collections.abc import Sequence
from html import escape

from results.quantities import in_words, rounded, write
from results.timeline_measured import Measured, read_measured

HEAD = ("Workers", "Measured", "Simulated", "Simulated ÷ measured")
WAYS = {"sleep": "waiting", "work": "working"}
RIGHT = 1.3  # a loop that is off by less is called right


def measured_table() -> str:
    """What was found in a sentence, every loop, and where and when it was measured."""
    measured, provenance = read_measured()
    cores = provenance["cores"]
    rows, last = [], ""
    for one in measured:
        title = title_of(one)
        if title != last:
            rows.append(f'<tr><th colspan="4" scope="rowgroup">{escape(title)}</th></tr>')
            last = title
        rows.append(_row(one, cores))
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in HEAD)
    caption = "Steps a second of the lesson’s loop on a CPU"
    return (
        f'<div class="timeline-measured"><p data-kind="measured">{escape(finding(measured, cores))}'
        f'</p><div class="results-scroll" tabindex="0" role="region" aria-label="{caption}">'
        f'<table class="results-table"><caption>{caption}</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
        f'<p class="memory-source">{escape(source(provenance))}</p></div>'
    )


def title_of(one: Measured) -> str:
    """What the loader does for a batch."""
    setting = one.setting
    return (
        f"{setting.batch:,} images, prepared by {write(setting.load, 's')} of "
        f"{WAYS[setting.images]}"
    )


def _row(one: Measured, cores: int) -> str:
    more = " (more than cores)" if one.setting.workers > cores else ""
    rates = [rounded(1 / seconds, 0.01 / seconds) for seconds in (one.seconds, one.simulated)]
    return (
        f'<tr><th scope="row">{one.setting.workers}{more}</th>'
        f'<td data-kind="measured">{rates[0]}</td><td data-kind="forecast">{rates[1]}</td>'
        f"<td>{one.seconds / one.simulated:.2f}</td></tr>"
    )


def finding(measured: Sequence[Measured], cores: int) -> str:
    """How many loops it is right about, and how far it is off where workers share cores."""
    known = [one for one in measured if one.setting.workers <= cores]
    others = [one for one in measured if one.setting.workers > cores]
    right = sum(one.error <= RIGHT for one in known)
    worst = max(one.error for one in known)
    said = (
        f"{right} of {len(known)} loops lie within {RIGHT} times what the timeline says, the worst "
        f"within {worst:.2f}."
    )
    if others:
        said += (
            f" In {in_words(len(others))} more the loader has more workers than the machine has "
            f"cores; the timeline knows no cores, and is off by up to "
            f"{max(one.error for one in others):.2f}."
        )
    return said


def source(provenance: dict[str, object]) -> str:
    """Where and when it was measured, and how."""
    return (
        f"{provenance['processor']}, {provenance['cores']} cores, PyTorch "
        f"{str(provenance['torch']).partition('+')[0]} with one thread, {provenance['date']}; of "
        "each part and each loop the fastest of seven samples. Other programs ran on the machine, "
        "and ours went first."
    )
