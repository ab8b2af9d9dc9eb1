"""Step 6: the readiness note is complete. Whether it is right, the learner judges."""

import re

from .points import point, read, require

NOTE = "training-readiness.md"
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
PLACEHOLDER = "<fill>"


def open_headings(note: str) -> list[str]:
    """The headings without a text of their own, or with a placeholder left in it."""
    text = re.sub(r"<!--.*?-->", "", note, flags=re.DOTALL)
    pieces = re.split(r"^##\s+(.+?)\s*$", text, flags=re.MULTILINE)
    written = dict(zip(pieces[1::2], pieces[2::2], strict=True))
    return [
        heading
        for heading in HEADINGS
        if not written.get(heading, "").strip() or PLACEHOLDER in written[heading]
    ]


@point("every heading of the note has its text", "Lab, Step 6")
def test_complete() -> None:
    """There are eight headings, and something is written under each."""
    left = open_headings(read(NOTE))
    require(
        not left,
        "the note is not complete",
        f"nothing is written yet, or {PLACEHOLDER} is left, under: {', '.join(left)}",
    )
