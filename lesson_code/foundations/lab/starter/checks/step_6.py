"""Step 6: the readiness note is complete, and says what the run left behind."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from .points import Finding, OpenPointError, point, read
from .readiness import CHECKED, DIFFERS, NAMED, OWN, RISKY, SAVED, Evidence, findings

NOTE = "training-readiness.md"
METRICS = "metrics.json"
CHECKPOINT = "checkpoints/best.pt"
PAGES = Path(__file__).with_name("page-fingerprints.bin")


@pytest.fixture(scope="session")
def found() -> dict[str, list[Finding]]:
    """What the note lacks, by point."""
    note = read(NOTE)
    metrics: dict[str, Any] = {}
    checkpoint: dict[str, Any] = {}
    if Path(METRICS).is_file() and Path(CHECKPOINT).is_file():
        metrics = json.loads(Path(METRICS).read_text(encoding="utf-8"))
        checkpoint = torch.load(CHECKPOINT, map_location="cpu", weights_only=True)
    return findings(note, Evidence(metrics, checkpoint, PAGES))


def leave_open(found: list[Finding]) -> None:
    """Leave the point open if anything was found."""
    if found:
        raise OpenPointError(*found)


@point(NAMED, "Part 4, “The loop of a whole script”")
def test_named(found: dict[str, list[Finding]]) -> None:
    """The note names what the metrics file recorded."""
    leave_open(found[NAMED])


@point(CHECKED, "Part 5, “Six probes”")
def test_checked(found: dict[str, list[Finding]]) -> None:
    """Each check says what was seen."""
    leave_open(found[CHECKED])


@point(DIFFERS, "Part 2, “Two switches”")
def test_differs(found: dict[str, list[Finding]]) -> None:
    """Both switches are mentioned."""
    leave_open(found[DIFFERS])


@point(SAVED, "Part 4, “A snapshot of all the knobs”")
def test_saved(found: dict[str, list[Finding]]) -> None:
    """The keys of the real file are named."""
    leave_open(found[SAVED])


@point(RISKY, "Part 5, “What an hour costs”")
def test_risks(found: dict[str, list[Finding]]) -> None:
    """There are two risks or more."""
    leave_open(found[RISKY])


@point(OWN, "Lab, Step 6")
def test_own(found: dict[str, list[Finding]]) -> None:
    """Verdict, evidence, repairs and words are the learner's own."""
    leave_open(found[OWN])
