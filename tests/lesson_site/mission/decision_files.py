"""The files that the design ledger's checks are tested with, in Node and Chromium."""

import json
from pathlib import Path
from typing import Any

FIXTURES = json.loads(Path(__file__).with_name("decision_files.json").read_text(encoding="utf-8"))
FILES: dict[str, dict[str, Any]] = FIXTURES["files"]
CASES: dict[str, dict[str, Any]] = {case["name"]: case for case in FIXTURES["cases"]}


def file_of(case: dict[str, Any]) -> bytes:
    """The bytes of a case's file."""
    if "hex" in case:
        return bytes.fromhex(case["hex"])
    if "text" in case:
        return str(case["text"] * case.get("times", 1)).encode()
    ledger = _merged(FILES[case["of"]], case["change"])
    kept = {key: part for key, part in ledger.items() if key not in case.get("drop", [])}
    return json.dumps(kept).encode()


def _merged(value: Any, change: dict[str, Any]) -> dict[str, Any]:
    """A value with some of its fields changed, also inside."""
    fields = value if isinstance(value, dict) else {}
    changed = {
        key: _merged(fields.get(key), part) if isinstance(part, dict) and part else part
        for key, part in change.items()
    }
    return {**fields, **changed}
