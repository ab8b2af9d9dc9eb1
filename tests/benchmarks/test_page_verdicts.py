"""The page *Compare your machine* and Python judge a result file alike, as far as the page can."""

import base64
import copy
import json
import random
import re
import subprocess
from pathlib import Path
from typing import Any

from results import result_file
from results.result_file import BadResultError
from tests import node
from tests.benchmarks.made_up import good, raced
from tests.results.test_result_file import DAMAGE, RAW, WITH_GPU, damaged, places

REPOSITORY = Path(__file__).parents[2]
CHANGED = 400
# What only the catalogue tells, which the page does not have; and what only the page asks for.
PYTHON_ALONE = (
    "no case has this name|has no such entry|unit: it is measured in|more than any machine"
    "|at figures"
)
PAGE_ALONE = "--quick|holds no figures|is known to this site"
VERDICTS = """
import { readFileSync } from "node:fs";
import { validate } from "./node_modules/@cfworker/json-schema/dist/esm/validate.js";
import { readResult } from "./docs/assets/elements/result-file.js";
const schema = JSON.parse(readFileSync("results/schema.json", "utf8"));
const { known, files } = JSON.parse(readFileSync(0, "utf8"));
const tools = { schema, validate, known: new Set(known) };
const verdict = (file) => {
  try {
    readResult(new Uint8Array(Buffer.from(file, "base64")), tools);
    return "";
  } catch (problem) {
    return `${problem.name === "Error" ? "" : problem.name}: ${problem.message}`;
  }
};
process.stdout.write(JSON.stringify(files.map(verdict)));
"""


def on_the_page(files: list[bytes], known: list[str]) -> list[str]:
    """What the page says of each file; empty where it takes it."""
    given = {"known": known, "files": [base64.b64encode(file).decode() for file in files]}
    done = subprocess.run(
        [node.executable(), "--input-type=module", "--eval", VERDICTS],
        input=json.dumps(given),
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    verdicts: list[str] = json.loads(done.stdout)
    return verdicts


def in_python(file: bytes, path: Path) -> str:
    """What Python says of it; empty where it is good."""
    path.write_bytes(file)
    try:
        result_file.read(path)
    except BadResultError as problem:
        return str(problem)
    return ""


ODD: list[Any] = [
    *(None, True, 0, 1, -1, 0.5, 2.0, 1e-12, 1e19, 3, "", "s", "cuda", "cpu", "x" * 130, "a\nb"),
    *("2026-02-31", "2026-11-21", "2099-01-01", "2026-11-21T23:59Z", "2026-11-21T24:00Z"),
    *("\u202e", "<b>", [], {}, [0.5], {"a": 1}),
]


def changed(seed: int) -> bytes:
    """A good file with one to three things gone, replaced, scaled or doubled, and at times cut."""
    draw = random.Random(seed)
    content = copy.deepcopy(draw.choice([good(), raced(), WITH_GPU]))
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        *way, last = draw.choice(list(places(content)))
        parent: Any = content
        for step in way:
            parent = parent[step]
        kind = draw.random()
        if kind < 0.2:
            del parent[last]
        elif kind < 0.5 and isinstance(parent[last], int | float):
            parent[last] *= draw.choice([1000, 0.001, 1.0 + 1e-12, 1.01])
        else:
            parent[last] = draw.choice(ODD)
    raw = json.dumps(content).encode()
    return raw[: draw.randrange(len(raw))] if draw.random() < 0.05 else raw


def test_the_page_takes_every_file_that_is_here() -> None:
    """With all of their figures known."""
    files = [path.read_bytes() for path in sorted(result_file.FOLDER.glob("*/*.json"))]
    known = [name for file in files for name in json.loads(file)["figures"]]

    assert [""] * len(files) == on_the_page(files, known)


def test_page_and_python_judge_files_alike(tmp_path: Path) -> None:
    """Whatever one of them refuses the other does, but for reasons that only one can know."""
    files = {kind: damaged(kind) for kind in [*DAMAGE, *RAW]}
    files |= {"good": json.dumps(good()).encode(), "raced": json.dumps(raced()).encode()}
    files |= {f"changed {seed}": changed(seed) for seed in range(CHANGED)}
    known = [*good()["figures"], *raced()["figures"], *WITH_GPU["figures"]]

    said = dict(zip(files, on_the_page(list(files.values()), known), strict=True))
    found = {name: in_python(file, tmp_path / "a.json") for name, file in files.items()}

    assert "" == said["good"] == said["raced"] == found["good"] == found["raced"]
    taken = {name: found[name] for name in files if not said[name] and found[name]}
    refused = {name: said[name] for name in files if said[name] and not found[name]}
    assert {} == {n: why for n, why in taken.items() if not re.search(PYTHON_ALONE, why)}
    assert {} == {n: why for n, why in refused.items() if not re.search(PAGE_ALONE, why)}
    assert CHANGED / 10 < sum(map(bool, said.values())) < len(files)
    assert not [why for why in said.values() if re.search("Instance|undefined|NaN:|TypeError", why)]
