"""What is right among the answers of ``texts/reflections.md``, for the browser."""

import re
from typing import Any

from lesson_code.mission.constants import FLOOR_ANSWER_GB, GB, ROUNDED_PARAMETERS
from lesson_code.mission.memory import static_bytes, to_gb, to_gib
from lesson_site.mission.memory_tables import checkpointing_table, precision_table
from lesson_site.mission.sentences import REFLECTIONS, Section, read
from lesson_site.mission.table import table_data

BLANK = re.compile(r"\[\d\]")
BLANKS = (1, 2, 3)


def reflections() -> dict[str, Any]:
    """Both sentences with blanks, the choice of a fix, and the laptop's two questions."""
    sections = read(REFLECTIONS)
    return {
        "1": _sentence(sections, "Act 1") | {"table": table_data(precision_table())},
        "2": _sentence(sections, "Act 2") | {"table": table_data(checkpointing_table())},
        "choice": _question(sections["The fix"]),
        "quantify": _floor(sections["The floor"])
        | {"why": _question(sections["Why there is a floor"])},
    }


def _sentence(sections: dict[str, Section], act: str) -> dict[str, Any]:
    """A sentence around its blanks, and what follows when all are filled."""
    sentence, *after = sections[act].paragraphs
    return {
        "sentence": BLANK.split(sentence),
        "blanks": [
            _answers(sections[f"{act}, blank {number}"]) | {"label": f"Blank {number}"}
            for number in BLANKS
        ],
        "after": after,
    }


def _answers(section: Section) -> dict[str, Any]:
    """The answers in their order, the one that is ticked, and what is said to each."""
    [right] = section.right
    said = {answer: " ".join(lines) for answer, (_, *lines) in section.items.items()}
    return {
        "options": [[answer, lines[0]] for answer, lines in section.items.items()],
        "right": right,
        "right_says": said.pop(right),
        "wrong_says": said,
    }


def _question(section: Section) -> dict[str, Any]:
    return _answers(section) | {"question": section.paragraphs[0]}


def _floor(section: Section) -> dict[str, Any]:
    """The floor that no move on the laptop lowers."""
    least, most = FLOOR_ANSWER_GB
    return {
        "question": section.paragraphs[0],
        "least": least,
        "most": most,
        # Below what momentum takes, it is what the bar shows: more than the static part.
        "total_below": to_gb(static_bytes("fp32", "momentum", ROUNDED_PARAMETERS)),
        # The same answers in the other unit.
        "gib": [round(to_gib(bound * GB), 2) for bound in FLOOR_ANSWER_GB],
        **{f"{name}_says": text for name, text in section.texts.items()},
    }
