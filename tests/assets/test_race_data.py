"""What the race trains on is the same in the page and in Python."""

import hashlib
import json
import subprocess

import numpy as np
from numpy.typing import NDArray

from lesson_site.race import FOLDER, LIST
from tests.building import REPOSITORY
from tests.node import executable
from tests.race import SEED, digits, first_state, matrices

GRAPHS = json.loads((REPOSITORY / FOLDER / LIST).read_text(encoding="utf-8"))["graphs"]
GRAPH = next(graph for graph in GRAPHS if graph["name"] == "adam-256-128")
SIZES = (2, 128, 512)  # the square root of the first and the last is no fraction of two
DRAW = """
import { createHash } from "node:crypto";
import { SEED, digits, firstState, matrices } from "./docs/assets/elements/race/data.js";
const sum = (numbers) => createHash("sha256").update(new Uint8Array(numbers.buffer)).digest("hex");
const [inputs, sizes] = JSON.parse(process.argv[1]);
const { images, labels } = digits();
const drawn = [...firstState(inputs), images, labels, ...sizes.flatMap((n) => matrices(n))];
console.log(JSON.stringify([SEED, ...drawn.map(sum)]));
"""


def checksum(numbers: NDArray[np.generic]) -> str:
    """SHA-256 of an array's bytes."""
    return hashlib.sha256(np.ascontiguousarray(numbers).tobytes()).hexdigest()


def test_weights_digits_and_matrices_are_the_same_to_the_last_bit() -> None:
    """Every number that data.js draws is the one that the tests' own code draws."""
    asked = json.dumps([GRAPH["inputs"][:-2], SIZES])
    command = [executable(), "--input-type=module", "--eval", DRAW, asked]

    said = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)

    drawn = [*first_state(GRAPH).values(), *digits(), *(m for n in SIZES for m in matrices(n))]
    assert [SEED, *map(checksum, drawn)] == json.loads(said.stdout)


def test_digits_are_spread_and_look_like_digits() -> None:
    """Every digit occurs about as often, in the range of the lesson's normalised pixels."""
    images, labels = digits()

    assert (4096, 1, 28, 28) == images.shape
    assert 350 < np.bincount(labels, minlength=10).min()
    assert -0.4243 < images.min() < -0.42
    assert 2.82 < images.max() < 2.8216


def test_a_matrix_is_its_own_inverse() -> None:
    """So products stay as large as they are, however many are chained."""
    left, right = matrices(256)

    assert np.abs(right.astype(np.float64) @ right - np.eye(256)).max() < 1e-6
    assert np.abs(right).min() > 0
    assert 1.1 < np.sqrt(np.mean((left @ right) ** 2) / np.mean(left**2)) < 2
