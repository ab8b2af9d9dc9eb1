"""What ``schema.json`` says about a value: the first thing that is wrong with it, in words.

The few keywords that our schema uses are checked here: a GPU machine on which nothing can be
installed has no library for it, and the site's build has no second to spare for one.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

SCHEMA = Path(__file__).with_name("schema.json")
TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
    "number": (int, float),
}
# Rules that look at one value: for values of which type, and when they are kept.
RULES: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "const": ("any", lambda value, wanted: value == wanted),
    "enum": ("any", lambda value, wanted: value in wanted),
    "required": ("object", lambda value, wanted: all(name in value for name in wanted)),
    "minProperties": ("object", lambda value, wanted: len(value) >= wanted),
    "maxProperties": ("object", lambda value, wanted: len(value) <= wanted),
    "minItems": ("array", lambda value, wanted: len(value) >= wanted),
    "maxItems": ("array", lambda value, wanted: len(value) <= wanted),
    "minLength": ("string", lambda value, wanted: len(value) >= wanted),
    "maxLength": ("string", lambda value, wanted: len(value) <= wanted),
    "pattern": ("string", lambda value, wanted: re.search(wanted, value) is not None),
    "minimum": ("number", lambda value, wanted: value >= wanted),
    "exclusiveMinimum": ("number", lambda value, wanted: value > wanted),
    "maximum": ("number", lambda value, wanted: value <= wanted),
}
LIMITS = {
    "minimum": "at least",
    "exclusiveMinimum": "above",
    "maximum": "at most",
}


@dataclass(frozen=True)
class Problem:
    """A rule of the schema that a value breaks.

    Attributes:
        place: The keys and indices that lead to the value.
        rule: The schema's keyword.
        schema: The part of the schema that has the rule.
        value: What is there.
    """

    place: tuple[str | int, ...]
    rule: str
    schema: dict[str, Any]
    value: Any

    def __str__(self) -> str:
        """One sentence without its end: where, and what is wrong there."""
        return f"at {where(*self.place)}: {_words(self.rule, self.schema, self.value)}"


def first_problem(value: Any) -> Problem | None:
    """The first rule that ``value`` breaks, in the schema's order, or None."""
    return next(_problems(value, _read()), None)


def where(*place: str | int) -> str:
    """A place in a file, as keys and indices with dots between them."""
    steps = (
        str(step) if re.fullmatch(r"[\w.-]{1,120}", str(step)) else shown(step) for step in place
    )
    return ".".join(steps) or "the top"


def shown(value: Any) -> str:
    """A value for a message: on one line, and short."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    text = ascii(value) if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _words(rule: str, schema: dict[str, Any], value: Any) -> str:
    wanted = schema[rule]
    if rule == "type":
        names = [wanted] if isinstance(wanted, str) else wanted
        return f"{shown(value)} stands where {' or '.join(names)} should"
    if rule == "required":
        return f"{next(name for name in wanted if name not in value)} is missing"
    if rule == "additionalProperties":
        name = next(name for name in value if name not in schema["properties"])
        return f"nothing is known about {shown(name)}"
    if rule in LIMITS:
        return f"{shown(value)} is there, and it must be {LIMITS[rule]} {wanted:g}"
    if rule in ("minItems", "minProperties", "minLength"):
        return "it is empty"
    if rule in ("maxItems", "maxProperties"):
        return f"it holds more than {wanted:,} things"
    if rule == "maxLength":
        return f"{shown(value)} has more than {wanted} characters"
    if rule == "oneOf":
        both = "both" if "entries" in value else "neither"
        return f"it has {both} of entries and a reason why it was skipped"
    if rule in ("enum", "const"):
        known = ", ".join(wanted) if rule == "enum" else wanted
        return f"{shown(value)} is there, and it must be one of {known}"
    return f"{shown(value)} is not {schema['description']}"


@cache
def _read() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return content


def _problems(
    value: Any, schema: dict[str, Any], place: tuple[str | int, ...] = ()
) -> Iterator[Problem]:
    """Every rule that ``value`` breaks, by the keywords in ``schema.json`` and no others."""
    for rule, wanted in schema.items():
        if rule == "$ref":
            yield from _problems(value, _read()["$defs"][wanted.rpartition("/")[2]], place)
        elif rule == "properties" and isinstance(value, dict):
            for name in (name for name in wanted if name in value):
                yield from _problems(value[name], wanted[name], (*place, name))
        elif rule == "additionalProperties" and wanted and isinstance(value, dict):
            for name in (name for name in value if name not in schema.get("properties", {})):
                yield from _problems(value[name], wanted, (*place, name))
        elif rule == "propertyNames" and isinstance(value, dict):
            for name in value:
                yield from _problems(name, wanted, place)
        elif rule == "items" and isinstance(value, list):
            for index, item in enumerate(value):
                yield from _problems(item, wanted, (*place, index))
        elif not _obeys(value, rule, wanted, schema):
            yield Problem(place, rule, schema, value)


def _obeys(value: Any, rule: str, wanted: Any, schema: dict[str, Any]) -> bool:
    """Whether a rule that looks at one value only is kept; a rule for another type always is."""
    if rule == "type":
        return any(_is(value, name) for name in ([wanted] if isinstance(wanted, str) else wanted))
    if rule == "oneOf":
        return sum(next(_problems(value, one), None) is None for one in wanted) == 1
    if rule == "additionalProperties" and isinstance(value, dict):
        return bool(wanted) or all(name in schema["properties"] for name in value)
    kind, obeys = RULES.get(rule, ("any", lambda *_: True))
    return not _is(value, kind) or obeys(value, wanted)


def _is(value: Any, kind: str) -> bool:
    """Whether a value is of one of JSON's types, ``integer``, or ``any``."""
    if kind == "any":
        return True
    if kind == "integer":
        return _is(value, "number") and value == int(value)
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, TYPES[kind])
