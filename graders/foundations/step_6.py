"""Step 6: the readiness note is complete. Whether it is right, the learner judges."""

import re

from graders.checks import require, todo
from graders.folder import Folder

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

opened = Folder


def open_headings(note: str) -> list[str]:
    """The headings without a text of their own, or with a placeholder left in it."""
    text = re.sub(r"<!--.*?-->", "", note, flags=re.DOTALL)
    pieces = re.split(r"^##\s+(.+?)\s*$", text, flags=re.MULTILINE)
    written = dict(zip(pieces[1::2], pieces[2::2], strict=True))
    return [
        heading
        for heading in HEADINGS
        if not re.search(r"\w", written.get(heading, "")) or PLACEHOLDER in written[heading]
    ]


@todo("6.1", "every heading of the note has its text")
def is_complete(answer: Folder) -> None:
    """There are eight headings, and something is written under each."""
    left = open_headings(answer.read(NOTE))
    if left == list(HEADINGS):
        raise NotImplementedError("TODO 6.1")
    require(
        not left,
        "a text under every heading",
        f"nothing, or a {PLACEHOLDER} that is left, under: {', '.join(left)}",
        "write what you saw; reread Lab, Step 6",
    )
