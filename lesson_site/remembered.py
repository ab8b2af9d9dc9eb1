"""What takes long to work out and seldom changes is kept from one build to the next."""

import hashlib
import json
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

FOLDER = Path("build/remembered")


def remembered(question: object, answer: Callable[[], Any]) -> Any:
    """The answer to a question that was asked before, or what ``answer`` gives now.

    Args:
        question: Everything that the answer depends on, as JSON can write it.
        answer: Works it out; what it gives can be written as JSON, and comes back as JSON reads it.
    """
    asked = json.dumps(question, sort_keys=True)
    file = FOLDER / f"{hashlib.sha256(asked.encode()).hexdigest()}.json"
    with suppress(OSError, ValueError, KeyError, TypeError):
        kept = json.loads(file.read_text(encoding="utf-8"))
        if kept["question"] == asked:
            return kept["answer"]
    found = answer()
    with suppress(OSError):  # a folder that cannot be written costs time, and nothing else
        FOLDER.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=FOLDER, delete=False, encoding="utf-8") as new:
            json.dump({"question": asked, "answer": found}, new)
        Path(new.name).replace(file)
    return found
