"""What an author writes below the first line of a check, read, and refused where it is wrong."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lesson_site.differences import compare
from lesson_site.errors import PageError
from lesson_site.sections import Section, read_section

SLUG = re.compile(r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$")
# Each kind's options besides id and kind; True for those that must be given.
KINDS: dict[str, dict[str, bool]] = {
    "choice": {"choices": True, "right": True},
    "number": {
        "right": True,
        "unit": False,
        "tolerance": False,
        "within": False,
        "replies": False,
    },
    "line": {"code": True, "right": True, "replies": True},
    "match": {"options": True, "rows": True},
    "place": {"code": True, "without": False, "places": True},
    "sentence": {"must": True},
}
# For every kind: a prediction stays, or its answer waits for an element of the page.
MANNERS = ("stays", "waits")
RANGE = re.compile(r"^(?P<least>\S+) to (?P<most>\S+)$")
FEWEST_TICKS, MOST_TICKS = 2, 4
FEWEST_OPTIONS, MOST_OPTIONS = 2, 4


@dataclass(frozen=True)
class Reply:
    """What a learner is told who chose otherwise.

    Attributes:
        to: The choices, lines or the number that it answers, separated by spaces; a range of
            numbers is ``70:95``.
        said: What the learner chose, in Markdown.
        text: The reply, in Markdown.
    """

    to: str
    said: str
    text: str


@dataclass(frozen=True)
class Check:
    """A check whose options are known to be good.

    Attributes:
        title: Its title, plain text.
        id: Its id on the page, under which the learner's prediction is kept.
        kind: ``choice``, ``number``, ``line``, ``match``, ``place`` or ``sentence``.
        attributes: What a prediction is judged by: ``right``, ``unit``, ``tolerance``, ``within``;
            and ``stays`` or ``waits``, empty, where it is so.
        choices: The choices in Markdown, for kinds ``choice`` and ``match``.
        rows: What a choice is made for, in Markdown, for kind ``match``.
        section: The lines to choose from or to place lines between, ``line`` and ``place``.
        missing: The lines to place, for kind ``place``.
        must: What a good sentence says, in Markdown, for kind ``sentence``.
        replies: One for each wrong choice or line, and for the numbers that the author foresaw.
    """

    title: str
    id: str
    kind: str
    attributes: Mapping[str, str]
    choices: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    section: Section | None = None
    missing: tuple[str, ...] = ()
    must: tuple[str, ...] = ()
    replies: tuple[Reply, ...] = ()


def read_check(title: str, options: object) -> Check:
    """Turn what an author wrote into a check.

    Args:
        title: What is behind the bar in the first line.
        options: The lines below it, read as YAML.

    Raises:
        PageError: If an option is missing, unknown or wrong; the message says which and why.
        SectionError: If ``code`` names a section that does not exist.
    """
    if not title:
        raise PageError("needs a title: //// check | Title")
    if not isinstance(options, dict):
        raise PageError("needs its options right below its first line, indented by four spaces")
    identity, kind = options.get("id"), options.get("kind")
    if not isinstance(identity, str) or not SLUG.match(identity):
        raise PageError(f"id is {identity!r}; give one in small letters, like mismatch-error")
    if kind not in KINDS:
        raise PageError(f"kind is {kind!r}; it must be one of {', '.join(KINDS)}")
    known = {"id": True, "kind": True, **KINDS[kind], **dict.fromkeys(MANNERS, False)}
    for name in options:
        if name not in known:
            raise PageError(f"kind {kind} takes no option {name!r}; it takes {', '.join(known)}")
    for name, needed in known.items():
        if needed and name not in options:
            raise PageError(f"kind {kind} needs the option {name!r}")
    manners = [name for name in MANNERS if name in options]
    for name in manners:
        if options[name] is not True:
            raise PageError(f"{name} is {options[name]!r}; write {name}: true, or leave it out")
    read = READERS[kind](options)
    read["attributes"] |= dict.fromkeys(manners, "")
    return Check(title, identity, kind, **read)


def _choice(options: dict[str, Any]) -> dict[str, Any]:
    """The choices, the number of the right one counted from one, and a reply to each other."""
    choices, right = options["choices"], options["right"]
    if not isinstance(choices, list):
        raise PageError("choices must be a list: the right one, and each wrong one with its reply")
    pairs = [_choice_and_reply(choice) for choice in choices]
    texts = tuple(text for text, _ in pairs)
    if len(texts) < 2 or len(set(texts)) < len(texts):
        raise PageError("choices must be at least two, and all different")
    if not isinstance(right, int) or isinstance(right, bool) or not 1 <= right <= len(texts):
        raise PageError(f"right is {right!r}; give the number of a choice, 1 to {len(texts)}")
    if pairs[right - 1][1]:
        raise PageError(
            f"the choice {texts[right - 1]!r} is right and has a reply; the answer is its reply"
        )
    replies = []
    for number, (text, reply) in enumerate(pairs, start=1):
        if number == right:
            continue
        if not reply:
            raise PageError(
                f"the choice {text!r} is wrong and has no reply; say after a colon why it is "
                "tempting and what is wrong with it"
            )
        replies.append(Reply(str(number), text, reply))
    return {
        "attributes": {"right": str(right)},
        "choices": texts,
        "replies": tuple(replies),
    }


def _choice_and_reply(choice: object) -> tuple[str, str]:
    if isinstance(choice, str) and choice.strip():
        return choice, ""
    if isinstance(choice, dict) and len(choice) == 1:
        [(text, reply)] = choice.items()
        if str(text).strip() and isinstance(reply, str) and reply.strip():
            return str(text), reply
    raise PageError(
        f"the choice {choice!r} is neither a text nor a text with its reply; "
        "put texts that contain a colon into quotes"
    )


def _line(options: dict[str, Any]) -> dict[str, Any]:
    """The section, the number of its right line, and a reply to each other line."""
    section = read_section(str(options["code"]))
    right = _number_of(section.lines, options["right"], "right")
    replies = _replies_by_line(section.lines, right, options["replies"])
    numbers = {int(n) for reply in replies for n in reply.to.split()}
    for number, line in enumerate(section.lines, start=1):
        if line.strip() and number != right and number not in numbers:
            raise PageError(f"line {number}, {line.strip()!r}, has no reply; name a part of it")
    return {"attributes": {"right": str(right)}, "section": section, "replies": replies}


def _replies_by_line(lines: Sequence[str], right: int, replies: object) -> tuple[Reply, ...]:
    """Replies by a part of the lines that they are for; a line belongs to the first that fits."""
    result: list[Reply] = []
    taken = {n for n, line in enumerate(lines, start=1) if n == right or not line.strip()}
    for part, reply in _texts("replies", replies).items():
        found = [n for n, line in enumerate(lines, start=1) if part in line and n not in taken]
        if not found:
            raise PageError(f"replies: no line is left that contains {part!r}")
        taken |= set(found)
        said = " and ".join(f"`{lines[n - 1].strip()}`" for n in found)
        result.append(Reply(" ".join(map(str, found)), said, reply))
    return tuple(result)


def _place(options: dict[str, Any]) -> dict[str, Any]:
    """The lines that one section has and the other has not, and the gaps where each may go.

    A gap is counted by the lines before it: 0 is above the first line.
    """
    places = options["places"]
    if not isinstance(places, dict) or not places:
        raise PageError("places must name each line by a part of it")
    whole = read_section(str(options["code"]))
    if "without" in options:
        section = read_section(str(options["without"]))
        lines = compare(section.lines, whole.lines)
        missing = tuple(line.text for line in lines if line.kind == "added")
        if not missing or any(line.kind in ("removed", "moved") for line in lines):
            raise PageError(f"{whole.file} must have all lines of {section.file}, and some more")
    else:
        taken = {_number_of(whole.lines, part, "places") - 1 for part in places}
        missing = tuple(whole.lines[index] for index in sorted(taken))
        section = _without(whole, taken)
    if len(places) != len(missing):
        raise PageError(f"places must name each of the {len(missing)} lines by a part of it")
    gaps: dict[int, list[int]] = {}
    replies = {}
    for part, place in places.items():
        number = _number_of(missing, part, "places")
        if not isinstance(place, dict) or set(place) != {"before", "reply"}:
            raise PageError(f"the place of {part!r} needs before, a list of lines, and reply")
        places_before = place["before"] if isinstance(place["before"], list) else [place["before"]]
        gaps[number] = [_number_of(section.lines, before, "before") - 1 for before in places_before]
        replies[number] = Reply(str(number), f"`{missing[number - 1].strip()}`", place["reply"])
    return {
        "attributes": {"right": json.dumps([gaps[n] for n in sorted(gaps)])},
        "section": section,
        "missing": missing,
        "replies": tuple(replies[number] for number in sorted(replies)),
    }


def _without(section: Section, taken: set[int]) -> Section:
    kept = [index for index in range(len(section.lines)) if index not in taken]
    return replace(
        section,
        lines=tuple(section.lines[index] for index in kept),
        numbers=tuple(section.numbers[index] for index in kept),
    )


def _match(options: dict[str, Any]) -> dict[str, Any]:
    """The rows, what there is to choose for each, and the number of the right one by row."""
    choices, rows = options["options"], options["rows"]
    good = isinstance(choices, list) and all(isinstance(each, str) for each in choices)
    if not good or not FEWEST_OPTIONS <= len(set(choices)) == len(choices) <= MOST_OPTIONS:
        raise PageError(f"options must be {FEWEST_OPTIONS} to {MOST_OPTIONS} different texts")
    if not isinstance(rows, dict) or len(rows) < FEWEST_OPTIONS:
        raise PageError("rows must name at least two, each with what it is and a reply")
    right, replies = [], []
    for number, (row, answer) in enumerate(rows.items(), start=1):
        if not isinstance(answer, dict) or set(answer) != {"is", "reply"}:
            raise PageError(f"the row {row!r} needs is, one of the options, and reply")
        if answer["is"] not in choices:
            raise PageError(f"the row {row!r} is {answer['is']!r}, not one of {', '.join(choices)}")
        right.append(str(choices.index(answer["is"]) + 1))
        replies.append(Reply(str(number), str(row), str(answer["reply"])))
    return {
        "attributes": {"right": " ".join(right)},
        "choices": tuple(choices),
        "rows": tuple(map(str, rows)),
        "replies": tuple(replies),
    }


def _sentence(options: dict[str, Any]) -> dict[str, Any]:
    """What must be in the sentence."""
    must = options["must"]
    good = isinstance(must, list) and all(isinstance(each, str) and each.strip() for each in must)
    if not good or not FEWEST_TICKS <= len(must) <= MOST_TICKS:
        raise PageError(
            f"must is what a good sentence says, {FEWEST_TICKS} to {MOST_TICKS} texts in a list"
        )
    return {"attributes": {}, "must": tuple(must)}


def _number(options: dict[str, Any]) -> dict[str, Any]:
    """``right``, and ``unit``, ``tolerance`` and replies where given."""
    attributes = {"right": str(options["right"])}
    right = _float("right", options["right"])
    tolerance = 0.0
    if "tolerance" in options:
        tolerance = _float("tolerance", options["tolerance"])
        if not 0 < tolerance < 1 or right == 0:
            raise PageError(
                f"tolerance is {tolerance} for the right number {right}; it is a share of that "
                "number: give one between 0 and 1, and none where the right number is 0"
            )
        attributes["tolerance"] = str(tolerance)
    if "unit" in options:
        attributes["unit"] = str(options["unit"])
    if "within" in options:
        least, most = _bounds(options["within"])
        if not least <= right <= most:
            raise PageError(f"right is {right:g}; within allows {least:g} to {most:g}")
        attributes["within"] = f"{least:g} {most:g}"
    return {
        "attributes": attributes,
        "replies": tuple(_replies_to_numbers(options, right, tolerance)),
    }


def _bounds(within: object) -> tuple[float, float]:
    if isinstance(within, list) and len(within) == 2:
        least, most = (_float("within", bound) for bound in within)
        if least < most:
            return least, most
    raise PageError(f"within is {within!r}; give the least and the most, as in [0, 100]")


def _replies_to_numbers(options: dict[str, Any], right: float, tolerance: float) -> Iterator[Reply]:
    if "replies" not in options:
        return
    for number, reply in _texts("replies", options["replies"]).items():
        ends = RANGE.match(number)
        bounds = [_float("replies", end) for end in (ends.groups() if ends else [number])]
        margin = tolerance * abs(right)
        if bounds[0] - margin <= right <= bounds[-1] + margin:
            raise PageError(f"{number} is right, and has a reply; the answer is its reply")
        to = ":".join(map(str, bounds))
        yield Reply(to, f"{number} {options.get('unit', '')}".strip(), reply)


def _texts(name: str, texts: object) -> dict[str, str]:
    if isinstance(texts, dict) and texts:
        read = {str(key): text for key, text in texts.items()}
        if all(isinstance(text, str) and text.strip() for text in read.values()):
            return read
    raise PageError(f"{name} must name what each reply is for: part of a line: its reply")


def _number_of(lines: Sequence[str], part: object, name: str) -> int:
    """The number, from one, of the only line that contains ``part``."""
    text = str(part)
    found = [number for number, line in enumerate(lines, start=1) if text in line]
    if len(found) != 1 or not text.strip():
        raise PageError(
            f"{name} is {text!r}, found in {len(found)} lines of the code; name one line"
        )
    return found[0]


def _float(name: str, value: object) -> float:
    try:
        number = math.nan if isinstance(value, bool) else float(str(value))
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise PageError(f"{name} is {value!r}, which is not a number")
    return number


READERS = {
    "choice": _choice,
    "number": _number,
    "line": _line,
    "match": _match,
    "place": _place,
    "sentence": _sentence,
}
