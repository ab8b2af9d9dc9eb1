"""The design ledger of the mission: which files are one, and what to say about those that are not.

The browser checks the same files in the same way, docs/assets/elements/mission/design-ledger.js;
``ledger_schema`` gives it the schema, the sentences and the bounds, and both are tested with the
same files.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, Literal

from lesson_code.mission.fit import device_budget_bytes
from lesson_code.mission.memory import static_bytes, to_gb
from lesson_code.mission.pipeline import pipeline
from lesson_site.mission.rows import PARAMETERS, PIPELINE_BATCHES, SWITCH, laptop_rows

Severity = Literal["error", "warning"]
Steps = tuple[str | int, ...]  # from the top of the file to a value

SCHEMA = Path(__file__).with_name("design-ledger-ch08.v1.schema.json")
CHAPTER = "8"
LARGEST_BYTES = 64 * 1024
MOST_LEVELS = 32  # of brackets in brackets; a design ledger has four
LONGEST_FOUND = 40
LAST_CHAPTER = 99
BELONGS = "This file has the number {chapter}."
EXACT_BELOW = 10**15
DANGEROUS = ("__proto__", "constructor", "prototype")
# RFC 3339, as "format": "date-time" means it.
TIME = (
    "^[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
    "|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|[12][0-9]))"
    r"[Tt](?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|60)(?:\.[0-9]+)?"
    "(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])$"
)
# A failed keyword of the schema, as one of our codes; the other keywords have rules of their own.
CODES = {
    "type": "E_TYPE",
    "pattern": "E_TYPE",
    "format": "E_TYPE",
    "minimum": "E_RANGE",
    "maximum": "E_RANGE",
    "exclusiveMinimum": "E_RANGE",
    "maxItems": "E_RANGE",
}


@dataclass(frozen=True)
class Issue:
    """What is wrong with a file, at one place.

    Attributes:
        code: One of ``issue_texts``.
        path: Where: ``$`` is the whole, ``$.details.laptop_moves[0].n`` a value in it.
        message: What is allowed there, as a sentence.
        severity: An error stops the import, a warning does not.
        found: What stands there, as JSON in ASCII, cut to 40 characters; empty if nothing.
    """

    code: str
    path: str
    message: str
    severity: Severity
    found: str


@cache
def schema() -> dict[str, Any]:
    """The JSON Schema of the file."""
    found: dict[str, Any] = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return found


@cache
def bounds() -> dict[str, Any]:
    """What the checks compare with; numbers of GB, percent and bytes."""
    totals = [row["kept_gb"] for row in laptop_rows().values()]
    largest_mfu = max(
        pipeline(bool(prefetch), bool(mixed), bool(checkpoint), batch).mfu
        for prefetch, mixed, checkpoint, batch in product(SWITCH, SWITCH, SWITCH, PIPELINE_BATCHES)
    )
    return {
        "bytes": LARGEST_BYTES,
        "levels": MOST_LEVELS,
        "found": LONGEST_FOUND,
        # Rounded up, so that none of the instrument's own is above it.
        "mfu": math.ceil(1000 * largest_mfu) / 10,
        "laptop_smallest_gb": min(totals),
        "laptop_budget_gb": to_gb(device_budget_bytes("laptop")),
        "laptop_totals": [f"{total:.2f}" for total in sorted(set(totals))],
        "static_floor_gb": round(to_gb(static_bytes("fp32", "sgd", PARAMETERS)), 2),
        "time": TIME,
        "chapters": LAST_CHAPTER,
        "dangerous": DANGEROUS,
    }


@cache
def issue_texts() -> dict[str, str]:
    """What to say with each code; their order is the order of a list of issues."""
    limits = bounds()
    return {
        "E_SIZE": f"A design ledger has at most {LARGEST_BYTES:,} bytes.",
        "E_JSON": "This is no JSON text: it has to be UTF-8, one object and nothing after it, each "
        f"key once, at most {MOST_LEVELS} brackets deep.",
        "E_TYPE": "The wrong kind of value. Allowed: {allowed}.",
        "E_MISSING": "This key is missing. Allowed: {allowed}.",
        "E_UNKNOWN": "No such key here. Known: {allowed}.",
        "E_CHAPTER": "This page takes the mission’s ledger. Allowed: {allowed}. {other}",
        "E_ENUM": "No such choice; small and capital letters differ. Allowed: {allowed}.",
        "E_RANGE": "Out of range. Allowed: {allowed}.",
        "E_VERSION": "A version that this page does not read. Allowed: {allowed}.",
        "E_FIT": f"A fit has at most the laptop’s {limits['laptop_budget_gb']:.1f} GB.",
        "E_PROTO": "A key that could change how the page works; no design ledger has one.",
        "W_MFU": f"Above {limits['mfu']} %, the largest MFU of this instrument: probably an "
        "accelerator utilisation.",
        "W_FLOOR": "No laptop challenge ends with this figure. The smallest total of a "
        f"configuration is {limits['laptop_smallest_gb']:.2f} GB, and a total of up to "
        f"{limits['laptop_budget_gb']:.1f} GB goes with laptop_fit_achieved: true.",
        "W_OVERWRITE": "The mission is in your design ledger already; this would take its place.",
    }


def ledger_schema() -> dict[str, Any]:
    """What the browser checks with, for the payload."""
    return {
        "schema": schema(),
        "issues": [[code, _severity(code), text] for code, text in issue_texts().items()],
        "bounds": bounds(),
        "codes": CODES,
        "belongs": BELONGS,
    }


def read_ledger(data: bytes, others: Mapping[str, Any] | None = None) -> tuple[Any, list[Issue]]:
    """Read a file.

    Args:
        data: The whole file; a byte-order mark is accepted.
        others: The ledgers that are there already, under their chapters.

    Returns:
        What the file holds, None unless it is JSON; and its issues, those of ``validate_ledger``.
    """
    if len(data) > LARGEST_BYTES:
        return None, [_issue("E_SIZE", (), str(len(data)))]
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None, [_issue("E_JSON", (), "")]
    try:
        value = _parsed(text)
    except ValueError:
        return None, [_issue("E_JSON", (), _cut(_ascii(text.strip())))]
    return value, validate_ledger(value, others)


def validate_ledger(value: Any, others: Mapping[str, Any] | None = None) -> list[Issue]:
    """Everything that is wrong with a parsed file; empty if nothing.

    JSON knows one kind of number, so ``72.0`` is a whole one.

    Args:
        value: What the file holds.
        others: The ledgers that are there already, under their chapters.

    Returns:
        Errors in the order of ``issue_texts``, then by place; warnings only where no error is.
    """
    places = {*_dangerous(value, ()), *_against_schema(value)}
    if not places:
        places = set(_doubts(value, others or {}))
    order = list(issue_texts())
    issues = [_issue(code, steps, _found(value, steps), value) for code, steps in places]
    return sorted(issues, key=lambda issue: (order.index(issue.code), issue.path))


def field_or(ledgers: Mapping[str, Any], name: str, fallback: Any) -> Any:
    """A field of the mission's ledger, for whoever reads it later.

    Args:
        ledgers: The ledgers of all chapters, under their numbers as text.
        name: Which of the fields.
        fallback: What to take if the ledger or the field is missing, or the ledger is no good.
    """
    ledger = ledgers.get(CHAPTER, {})
    good = all(issue.severity == "warning" for issue in validate_ledger(ledger))
    return ledger.get(name, fallback) if good else fallback


def _parsed(text: str) -> Any:
    """JSON, without what parsers differ in: deep nesting, keys that stand twice, lone surrogates.

    Raises:
        ValueError: If it is none.
    """
    depth = 0
    for bracket in re.findall(r"[][{}]", re.sub(r'"[^"\\]*(?:\\.[^"\\]*)*"', "", text)):
        depth += 1 if bracket in "[{" else -1
        if depth > MOST_LEVELS:
            raise ValueError("too deep")
    return json.loads(
        text,
        object_pairs_hook=_once,
        parse_constant=_no_constant,
        parse_int=_number,
        parse_float=_number,
    )


def _number(text: str) -> int | float:
    """As in the browser, which has one kind of number."""
    number = float(text)
    return int(number) if number.is_integer() and abs(number) < EXACT_BELOW else number


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs) or any(re.search("[\ud800-\udfff]", key) for key in found):
        raise ValueError("a key stands twice, or is no text")
    return found


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _against_schema(value: Any) -> Iterator[tuple[str, Steps]]:
    """Codes and places where the value is not as the schema says."""
    from jsonschema import Draft202012Validator, validators

    extend: Any = validators.extend
    strict = extend(Draft202012Validator, {"pattern": _pattern, "format": _format})
    for error in strict(schema()).iter_errors(value):
        steps, rule = tuple(error.absolute_path), error.validator_value
        if error.validator == "required":
            yield from (("E_MISSING", (*steps, key)) for key in rule if key not in error.instance)
        elif error.validator == "additionalProperties":
            yield from (
                ("E_UNKNOWN", (*steps, key))
                for key in error.instance
                if key not in error.schema["properties"] and key not in DANGEROUS
            )
        elif error.validator in ("const", "enum"):
            allowed = rule if error.validator == "enum" else [rule]
            yield _choice_code(error.instance, allowed, steps), steps
        elif error.absolute_schema_path[0] == "allOf":
            yield "E_FIT", steps
        else:
            yield CODES[error.validator], steps


def _choice_code(value: Any, allowed: list[Any], steps: Steps) -> str:
    if _kind(value) not in map(_kind, allowed):
        return "E_TYPE"
    return {"chapter": "E_CHAPTER", "schema_version": "E_VERSION"}.get(str(steps[-1]), "E_ENUM")


def _kind(value: Any) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "number"
    return type(value).__name__


def _pattern(validator: Any, pattern: str, value: Any, _: Any) -> Iterator[Any]:
    """As in the browser: ``$`` is the very end, not also before a line break at the end."""
    from jsonschema import ValidationError

    if isinstance(value, str) and not re.search(pattern.replace("$", r"\Z"), value):
        yield ValidationError("is written otherwise")


def _format(validator: Any, _: str, value: Any, schema: Any) -> Iterator[Any]:
    """The schema's one format is a time; the library checks it only if another package is there."""
    return _pattern(validator, TIME, value, schema)


def _dangerous(value: Any, steps: Steps) -> Iterator[tuple[str, Steps]]:
    """Where keys stand that reach into JavaScript's objects."""
    inside: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        inside = list(value.items())
        yield from (("E_PROTO", (*steps, key)) for key in value if key in DANGEROUS)
    elif isinstance(value, list):
        inside = list(enumerate(value))
    for step, part in inside:
        yield from _dangerous(part, (*steps, step))


def _doubts(value: dict[str, Any], others: Mapping[str, Any]) -> Iterator[tuple[str, Steps]]:
    """Codes and places of what a good file says, and hardly can mean."""
    limits = bounds()
    if value["final_mfu_pct"] > limits["mfu"]:
        yield "W_MFU", ("final_mfu_pct",)
    smallest = Decimal(value["laptop_minimum_memory_gb"])
    two_decimals = smallest.quantize(Decimal("0.01"), ROUND_HALF_UP)
    fits = smallest <= Decimal(limits["laptop_budget_gb"])
    # What is below the smallest total is no total either.
    if str(two_decimals) not in limits["laptop_totals"] or fits != value["laptop_fit_achieved"]:
        yield "W_FLOOR", ("laptop_minimum_memory_gb",)
    if CHAPTER in others:
        yield "W_OVERWRITE", ()


def _issue(code: str, steps: Steps, found: str, value: Any = None) -> Issue:
    blanks = {
        "allowed": _allowed(code, steps),
        "other": _other(value) if code == "E_CHAPTER" else "",
    }
    message = issue_texts()[code].format_map(blanks).strip()
    return Issue(code, _path(steps), message, _severity(code), found)


def _severity(code: str) -> Severity:
    return "error" if code.startswith("E_") else "warning"


def _other(value: Any) -> str:
    chapter = value["chapter"]
    if chapter not in range(1, LAST_CHAPTER + 1):
        return ""
    return BELONGS.format(chapter=int(chapter))


def _allowed(code: str, steps: Steps) -> str:
    """What may stand at a place, as the schema describes it; for an unknown key, the known ones."""
    if code == "E_UNKNOWN":
        return ", ".join(sorted(_rule_at(steps[:-1])["properties"]))
    return str(_rule_at(steps).get("description", ""))


def _rule_at(steps: Steps) -> dict[str, Any]:
    """The part of the schema that rules a place; empty where no rule is."""
    rule = schema()
    for step in steps:
        inside = rule if isinstance(step, int) else rule.get("properties", {})
        rule = inside.get("items" if isinstance(step, int) else step, {})
    return rule


def _found(value: Any, steps: Steps) -> str:
    """What stands at a place; nothing for the whole, and for a key that is missing."""
    for step in steps:
        if isinstance(value, dict) and step not in value:
            return ""
        value = value[step]
    return _cut(_ascii(value)) if steps or not isinstance(value, dict) else ""


def _path(steps: Steps) -> str:
    plain = re.compile("[A-Za-z_][A-Za-z0-9_]{0,39}")
    return "$" + "".join(
        f".{step}" if plain.fullmatch(str(step)) else f"[{_cut(_ascii(step))}]" for step in steps
    )


def _ascii(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_FOUND else f"{text[:LONGEST_FOUND]}…"
