"""What the browser checks a design ledger, the file of a decision, with.

The checks themselves are in docs/assets/elements/mission/decision.js.
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
from lesson_site.mission.sentences import ISSUES, read

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


def issue_texts() -> dict[str, str]:
    """What to say with each code; their order is the order of a list of issues."""
    limits = bounds()
    numbers = {
        "largest_bytes": f"{LARGEST_BYTES:,}",
        "most_levels": f"{MOST_LEVELS}",
        "largest_mfu": f"{limits['mfu']}",
        "smallest_total": f"{limits['laptop_smallest_gb']:.2f}",
    }
    [section] = read(ISSUES, numbers).values()
    return section.texts


def rules() -> dict[str, Any]:
    """What the browser checks with, for the payload."""
    issues = issue_texts().items()
    severity = {"E": "error", "W": "warning"}
    return {
        "schema": schema(),
        "issues": [[code, severity[code[0]], text] for code, text in issues],
        "bounds": bounds(),
        "codes": CODES,
        "belongs": BELONGS,
    }
