"""What is missing in a readiness note. Completeness is looked at; quality is the learner's."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .fingerprints import shared_part
from .points import Finding

HEADINGS = (
    "Verdict",
    "Run under review",
    "Evidence",
    "Debugging checks",
    "Validation versus training",
    "Checkpoint",
    "Bugs fixed",
    "Risks at larger scale",
)
FIELDS = {"Model": "model", "Loss": "loss", "Optimizer": "optimizer", "Device path": "device"}
PLACEHOLDERS = r"TO[D]O|TBD|<fill"
ACCURACY_TOLERANCE = 0.0006
CHECKS, RISKS, WORDS, LARGEST_OVERLAP = 3, 2, 150, 0.03
NAMED, CHECKED, DIFFERS, SAVED, RISKY, OWN = (
    "model, loss, optimizer and device path are named",
    "there are at least three concrete checks",
    "how validation differs from training is said",
    "the checkpoint's contents are named, and whether it can resume",
    "there are at least two risks for a larger data set",
    "the observations are your own, and no text of the pages",
)


@dataclass(frozen=True)
class Evidence:
    """What the script left behind, and what the pages say.

    Attributes:
        metrics: The metrics file of Step 3.
        checkpoint: The checkpoint of Step 3.
        pages: The packed fingerprints of the pages.
    """

    metrics: dict[str, Any]
    checkpoint: dict[str, Any]
    pages: Path


def findings(note: str, evidence: Evidence) -> dict[str, list[Finding]]:
    """What is missing, by the point that it leaves open."""
    text = re.sub(r"<!--.*?-->", "", note, flags=re.DOTALL)
    parts = _parts(text)
    return {
        NAMED: _run_under_review(parts["Run under review"], evidence.metrics),
        CHECKED: _debugging_checks(parts["Debugging checks"]),
        DIFFERS: _difference(parts["Validation versus training"]),
        SAVED: _checkpoint(parts["Checkpoint"], evidence.checkpoint),
        RISKY: _risks(parts["Risks at larger scale"]),
        OWN: [
            *_verdict(parts["Verdict"]),
            *_observed(parts["Evidence"], evidence.metrics),
            *_bugs(parts["Bugs fixed"]),
            *_whole(text, evidence.pages),
        ],
    }


def _parts(text: str) -> dict[str, str]:
    pieces = re.split(r"^##\s+(.+?)\s*$", text, flags=re.MULTILINE)
    found = dict(zip(pieces[1::2], pieces[2::2], strict=True))
    return {heading: found.get(heading, "").strip() for heading in HEADINGS}


def _items(text: str) -> list[str]:
    """The outermost items of a list, each with the lines and the items that belong to it."""
    starts = re.findall(r"^([ \t]*)(?:[-*+]|\d+[.)])\s+\S", text, flags=re.MULTILINE)
    outermost = min(starts, key=len, default="")
    item = rf"^{outermost} ?(?:[-*+]|\d+[.)])\s+(?=\S)"
    return re.split(item, text, flags=re.MULTILINE)[1:]


def _run_under_review(text: str, metrics: dict[str, Any]) -> list[Finding]:
    found = []
    for field, key in FIELDS.items():
        line = re.search(rf"^\W*{field}\W*:(.*)$", text, re.MULTILINE | re.IGNORECASE)
        recorded = str(metrics.get(key, "nothing"))
        written = line[1].strip(" *") if line else ""
        if recorded.lower() not in written.lower():
            shown = f"the note has {written!r}, the metrics file of Step 3 has {recorded!r}"
            found.append(Finding(f"{field}: the note does not name what ran", shown))
    return found


def _debugging_checks(text: str) -> list[Finding]:
    items = _items(text)
    concrete = [item for item in items if re.search(r"\d|[\"“`'].{3,}[\"”`']", item)]
    if len(concrete) < CHECKS:
        shown = f"{len(concrete)} of {len(items)} items have a number or quoted output"
        return [Finding("fewer than three checks with what was seen", shown)]
    return [
        Finding("a check does not say what was seen", f"no number or quotation in: {first_line}")
        for first_line in (item.strip().splitlines()[0] for item in items if item not in concrete)
    ]


def _difference(text: str) -> list[Finding]:
    lower = text.lower()
    topics = {
        "evaluation mode": bool(re.search(r"\beval|dropout", lower)),
        "gradient tracking": bool(re.search(r"grad|inference_mode", lower)),
    }
    return [
        Finding(f"Validation versus training says nothing of {topic}", "no such word in it")
        for topic, mentioned in topics.items()
        if not mentioned
    ]


def _checkpoint(text: str, checkpoint: dict[str, Any]) -> list[Finding]:
    found = []
    missing = [key for key in checkpoint if key not in text]
    if missing or not checkpoint:
        shown = (
            f"not named: {', '.join(missing)}" if checkpoint else "there is no checkpoint of Step 3"
        )
        found.append(Finding("the note does not name every key of the checkpoint", shown))
    resume = re.search(r"supports resume\W*:\W*(yes|no)\b", text, re.IGNORECASE)
    if not resume:
        found.append(Finding("the note does not say whether resuming works", "no yes or no"))
    elif resume[1].lower() == "yes" and not checkpoint.get("optimizer_state_dict"):
        found.append(Finding("the note says yes to resuming", "no optimizer state in the file"))
    return found


def _risks(text: str) -> list[Finding]:
    count = len([item for item in _items(text) if not re.match(PLACEHOLDERS, item)])
    return [Finding("fewer than two risks", f"found {count}")] if count < RISKS else []


def _verdict(text: str) -> list[Finding]:
    if re.search(r"\b(not )?ready\b", text, re.IGNORECASE):
        return []
    return [Finding("there is no verdict", "neither `ready` nor `not ready` is there")]


def _observed(text: str, metrics: dict[str, Any]) -> list[Finding]:
    best = max((epoch["validation_accuracy"] for epoch in metrics.get("epochs", [])), default=None)
    numbers = [
        float(number) / (100 if percent else 1)
        for number, percent in re.findall(r"(\d+\.\d+)(\s*(?:%|per ?cent))?", text)
    ]
    if best is not None and any(abs(number - best) <= ACCURACY_TOLERANCE for number in numbers):
        return []
    recorded = "nothing" if best is None else f"{best:.4f}"
    shown = f"the metrics file of Step 3 has {recorded}, the note {numbers or 'no number'}"
    return [Finding("the best validation accuracy is not in the evidence", shown)]


def _bugs(text: str) -> list[Finding]:
    return [] if text else [Finding("Bugs fixed is empty", "no word under the heading")]


def _whole(text: str, pages: Path) -> list[Finding]:
    found = []
    left = re.findall(PLACEHOLDERS, text)
    if left:
        found.append(Finding("a placeholder is left", f"found {', '.join(sorted(set(left)))}"))
    words = len(re.sub(r"^##.*$", "", text, flags=re.MULTILINE).split())
    if words < WORDS:
        found.append(Finding(f"the note has fewer than {WORDS} words", f"it has {words}"))
    overlap = shared_part(text, pages)
    if overlap >= LARGEST_OVERLAP:
        shown = f"{overlap:.0%} of its runs of eight words stand in the module's pages"
        found.append(Finding("part of the note is text of the pages", shown))
    return found
