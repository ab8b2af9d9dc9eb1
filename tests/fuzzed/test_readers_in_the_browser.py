"""Whatever a file says, the page's reader takes it in or says in one sentence why not."""

import json
import subprocess

import pytest
from hypothesis import strategies as st

from tests import node
from tests.building import REPOSITORY
from tests.fuzzed.by_chance import EXAMPLES, by_chance
from tests.fuzzed.damage import damaged

TOGETHER = 100  # texts that one start of Node reads
VERDICTS = """
import { readFileSync } from "node:fs";
const { module, read, texts } = JSON.parse(readFileSync(0, "utf8"));
const reader = (await import(module))[read];
const verdict = (text) => {
  try {
    reader(text);
    return ["", ""];
  } catch (problem) {
    return [problem.constructor.name, problem.message];
  }
};
process.stdout.write(JSON.stringify(texts.map(verdict)));
"""
STEP = {
    **{"batch": 64, "format": "float32", "channels_last": False, "flop": {"float32": 1e9}},
    **{"bytes": 100_000_000, "convolution_bytes": 10_000_000, "launches": 73, "operations": 60},
    **{"weight_bytes": 1_000_000, "peak_bytes": 5_000_000},
}
FORECAST = {
    **{"format": "gpu-training.forecast", "version": 1, "model": "mine:net", "torch": "2.15.0"},
    "steps": [STEP, STEP | {"format": "float16"}],
    "measured": {"machine": "Laptop", "batch": 64, "format": "float32", "seconds": 0.02},
}
RECORD = {
    **{"format": "gpu-training.record", "version": 1, "exported": "2026-11-22T12:00:00.000Z"},
    "kept": {
        "gpu-training.checks.v1": {
            "steps": {"kind": "number", "value": 7, "text": "7", "at": "2026-11-22T12:00:00.000Z"}
        },
        "gpu-training.progress.v1": {
            "gpu-training/loop/": {"title": "The loop", "at": "2026-11-22T12:00:00.000Z"}
        },
        "gpu-training.tasks.v1": {"lab-1": {"done": True, "at": "2026-11-22T12:00:00.000Z"}},
    },
}
READERS = {
    "forecast/own-file.js": ("readOwn", "OwnFileError", FORECAST),
    "record-file.js": ("readExport", "RecordError", RECORD),
}


def verdicts(file: str, texts: list[str]) -> list[tuple[str, str]]:
    """What the page's reader throws at each text: an error's name and message, or nothing."""
    module = (REPOSITORY / "docs/assets/elements" / file).as_uri()
    done = subprocess.run(
        [node.executable(), "--input-type=module", "--eval", VERDICTS],
        input=json.dumps({"module": module, "read": READERS[file][0], "texts": texts}),
        capture_output=True,
        text=True,
        check=True,
    )
    return [tuple(verdict) for verdict in json.loads(done.stdout)]


@pytest.mark.parametrize("file", READERS)
def test_a_damaged_file_is_read_or_refused(file: str) -> None:
    """No other error than the reader's own leaves it, and that one is a sentence."""
    _, refusal, content = READERS[file]
    texts = st.lists(damaged(json.dumps(content, indent=1)), min_size=TOGETHER, max_size=TOGETHER)

    @by_chance(texts, examples=max(2, EXAMPLES // TOGETHER))
    def read(texts: list[str]) -> None:
        for text, (name, said) in zip(texts, verdicts(file, texts), strict=True):
            assert name in ("", refusal), text
            assert bool(name) == bool(said.strip())
            assert "\n" not in said

    read()


@pytest.mark.parametrize("file", READERS)
def test_a_sound_file_is_read(file: str) -> None:
    """What is damaged here could be read before."""
    assert [("", "")] == verdicts(file, [json.dumps(READERS[file][2])])
