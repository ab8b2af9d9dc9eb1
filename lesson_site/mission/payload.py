"""The data of the mission's page: one file that the browser reads, and selects rows of.

``python -m lesson_site mission`` writes it; a test compares the file with what is built.
"""

import hashlib
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from lesson_code.mission.constants import LEDGER_AXIS_GB, MODEL_VERSION, TARGET_UTILISATION
from lesson_code.mission.fit import device_budget_bytes
from lesson_code.mission.memory import to_gb
from lesson_site.files import write_whole
from lesson_site.mission.controls import COMPONENTS, REGIME_OF, STATE_NAMES, controls, pairs
from lesson_site.mission.decision import rules
from lesson_site.mission.drawn import analyzer, predictions, terms, ticks
from lesson_site.mission.reflections import reflections
from lesson_site.mission.rows import laptop_rows, ledger_rows, pipeline_rows
from lesson_site.mission.sentences import files, messages
from results.store import open_store

SCHEMA_VERSION = 1
FILE = Path("docs/assets/mission/memory-mfu.json")


def build_payload() -> dict[str, Any]:
    """Everything that the instruments show; two calls give equal bytes in ``payload_text``."""
    payload = {
        "schema_version": SCHEMA_VERSION,
        "model_version": MODEL_VERSION,
        "units": "GB=1e9 B",
        "controls": controls(),
        "components": pairs(COMPONENTS),
        "state_names": STATE_NAMES,
        "regimes": REGIME_OF,
        "budgets": {
            device: {
                "bytes": device_budget_bytes(device),
                "gb": f"{to_gb(device_budget_bytes(device)):.1f}",
            }
            for device in ("node", "laptop")
        },
        "axis_default": LEDGER_AXIS_GB[0],
        "target": f"{100 * TARGET_UTILISATION:.1f}",
        "analyzer": analyzer(),
        "messages": messages(),
        "predictions": predictions(),
        "reflections": reflections(),
        "ticks": ticks(),
        "terms": terms(),
        "ledger": ledger_rows(),
        "pipeline": pipeline_rows(),
        "laptop": laptop_rows(),
        "decision": rules(),
    }
    payload["checksum"] = hashlib.sha256(_canonical(payload).encode()).hexdigest()
    return payload


def payload_text() -> str:
    """The file: keys sorted, a line for each row, so that a change shows which rows it moved."""
    return _text(open_store(), *(path.read_bytes() for path in files()))


@lru_cache(maxsize=1)  # a page has many parts, and each asks whether the file is up to date
def _text(*_: object) -> str:
    """The same for what the numbers and sentences are now."""
    payload = build_payload()
    lines = []
    for key in sorted(payload):
        value = payload[key]
        if key in ("ledger", "pipeline", "laptop"):
            rows = ",\n".join(
                f"{_canonical(name)}:{_canonical(value[name])}" for name in sorted(value)
            )
            lines.append(f"{_canonical(key)}:{{\n{rows}\n}}")
        else:
            lines.append(f"{_canonical(key)}:{_canonical(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def write_payload(file: Path = FILE) -> Path:
    """Write the file, and say where it is."""
    file.parent.mkdir(parents=True, exist_ok=True)
    return write_whole(file, payload_text())


def _canonical(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
