"""What the browser checks a design ledger of the mission with: schema, sentences and bounds.

The checks themselves are in docs/assets/elements/mission/design-ledger.js.
"""

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

from lesson_code.mission.fit import device_budget_bytes
from lesson_code.mission.memory import static_bytes, to_gb
from lesson_code.mission.worked import largest_mfu
from lesson_site.mission.rows import PARAMETERS, laptop_rows

SCHEMA = Path(__file__).with_name("design-ledger-ch08.v1.schema.json")
LARGEST_BYTES = 64 * 1024
MOST_LEVELS = 32  # of brackets in brackets; a design ledger has four
LONGEST_FOUND = 40
LAST_CHAPTER = 99
BELONGS = "This file has the number {chapter}."
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


@cache
def schema() -> dict[str, Any]:
    """The JSON Schema of the file."""
    found: dict[str, Any] = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return found


@cache
def bounds() -> dict[str, Any]:
    """What the checks compare with; numbers of GB, percent and bytes."""
    totals = [row["kept_gb"] for row in laptop_rows().values()]
    return {
        "bytes": LARGEST_BYTES,
        "levels": MOST_LEVELS,
        "found": LONGEST_FOUND,
        # Rounded up, so that none of the instrument's own is above it.
        "mfu": math.ceil(1000 * largest_mfu()) / 10,
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


def _severity(code: str) -> str:
    return "error" if code.startswith("E_") else "warning"
