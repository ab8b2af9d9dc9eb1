"""Whatever a file or the browser's storage says, the page takes it in or says why not."""

import base64
import json
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from tests import node
from tests.benchmarks.made_up import good
from tests.fuzzed.by_chance import EXAMPLES, by_chance
from tests.fuzzed.damage import damaged

TOGETHER = 50  # files that one start of Node reads
AT = "2026-11-22T12:00:00.000Z"
POINT: dict[str, Any] = {
    **{"task": {"kind": "step", "width": 256, "batch": 64}, "racer": "browser_gpu"},
    "facts": {
        **{"racer": "browser_gpu", "name": "GPU (WebGPU)", "adapter": "A card", "software": False},
        **{"threads": 2, "build": "jspi", "engine": "e 1"},
    },
    **{"samples": [0.002, 0.0021, 0.0019], "amount": 64, "loops": 8, "readS": 0.1},
    **{"time": {"median": 0.002}, "compared": True, "warmupMs": 150, "value": 1.5, "lasted": 2},
    "at": AT,
}
PRODUCT = POINT | {"task": {"kind": "product", "n": 512}, "value": 0.25}
CHECKS = {
    "adam-extra-memory": {"kind": "choice", "value": 2, "text": "", "at": AT},
    "gpu-compute-share": {"kind": "number", "value": 75, "text": "", "at": AT},
}


def asked(request: dict[str, Any]) -> Any:
    """What `records.mjs` answers."""
    done = subprocess.run(
        [node.executable(), Path(__file__).with_name("records.mjs")],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


@cache
def sound(read: str) -> tuple[Any, ...]:
    """What the reader takes in: the values of one text."""
    match read:
        case "result":
            return (good(),)
        case "race":
            cpu = {"racer": "browser_cpu"}
            return ([POINT, PRODUCT, POINT | cpu | {"facts": POINT["facts"] | cpu}],)
        case "mission":
            return asked({"read": read}), CHECKS
    return (asked({"read": read}),)


def verdicts(read: str, texts: list[bytes]) -> list[list[str]]:
    """What the reader throws at each text: an error's name and message, or nothing."""
    encoded = [base64.b64encode(text).decode() for text in texts]
    return list(asked({"read": read, "texts": encoded, "known": [*good()["figures"]]}))


def encoded(parts: tuple[str, ...]) -> bytes:
    """The bytes of a text, whose parts a zero is between."""
    return "\0".join(parts).encode("utf-8", "surrogatepass")


@pytest.mark.parametrize(
    ("read", "refusal"),
    [("result", "ResultError"), ("ledger", None), ("mission", None), ("race", None)],
)
def test_a_damaged_text_is_read_or_refused(read: str, refusal: str | None) -> None:
    """No other error leaves the reader, and what it takes in can be used."""
    parts = [damaged(json.dumps(value, indent=1)) for value in sound(read)]
    texts = st.lists(st.tuples(*parts).map(encoded), min_size=TOGETHER, max_size=TOGETHER)

    @by_chance(texts, examples=max(2, EXAMPLES // TOGETHER))
    def damage(texts: list[bytes]) -> None:
        for text, (name, said) in zip(texts, verdicts(read, texts), strict=True):
            assert name in ("", refusal), f"{said}: {text!r}"
            assert bool(name) == bool(said.strip())
            assert "\n" not in said

    damage()


@pytest.mark.parametrize("read", ["result", "ledger", "mission", "race"])
def test_a_sound_text_is_read(read: str) -> None:
    """What is damaged here could be read before."""
    text = encoded(tuple(map(json.dumps, sound(read))))

    assert [["", ""]] == verdicts(read, [text])
