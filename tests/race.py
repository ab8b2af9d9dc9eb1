"""What the race in the page trains on, drawn here as ``race/data.js`` draws it, bit by bit."""

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from lesson_code.benchmarks.race import classifier
from lesson_code.data import PIXEL_MEAN, PIXEL_STD

SEED = 36
IMAGES = 4096
SIDE = 28
STREAMS = {"labels": 1001, "shifts": 1002, "pixels": 1003, "left": 1004, "scales": 1005}
BARS = (
    *((8, 4, 20, 7), (8, 4, 11, 15), (17, 4, 20, 15), (8, 12, 20, 15)),
    *((8, 12, 11, 24), (17, 12, 20, 24), (8, 21, 20, 24)),
)
LIT = (
    *("1110111", "0010010", "1011101", "1011011", "0111010"),
    *("1101011", "1101111", "1010010", "1111111", "1111011"),
)
SHIFT = 3

Floats = NDArray[np.float32]
State = dict[str, Floats]


def random_numbers(seed: int, count: int) -> NDArray[np.float64]:
    """The first numbers of Mulberry32, without its lowest eight bits."""
    with np.errstate(over="ignore"):  # all of it is meant modulo 2^32
        state = np.uint32(seed) + np.arange(1, count + 1, dtype=np.uint32) * np.uint32(0x6D2B79F5)
        mixed = (state ^ (state >> 15)) * (state | 1)
        mixed = (mixed + (mixed ^ (mixed >> 7)) * (mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >> 14)) >> 8) / 2.0**24


def uniform(seed: int, count: int, low: float, high: float) -> Floats:
    """Numbers between two bounds."""
    return (low + (high - low) * random_numbers(seed, count)).astype(np.float32)


def first_state(graph: dict[str, Any], seed: int = SEED) -> State:
    """What a training step of ``graphs.json`` begins with."""
    state = {}
    bound = 0.0
    for index, value in enumerate(graph["inputs"][:-2]):
        shape, count = value["shape"], math.prod(value["shape"])
        numbers = np.zeros(count, np.float32)
        if value["name"].startswith("fc"):
            if value["name"].endswith(".weight"):
                bound = 1 / math.sqrt(shape[1])
            numbers = uniform(seed + index, count, -bound, bound)
        state[value["name"]] = numbers.reshape(shape)
    return state


def digits(count: int = IMAGES, seed: int = SEED) -> tuple[Floats, NDArray[np.int32]]:
    """Images (N, 1, 28, 28) and labels (N,)."""
    labels = np.floor(10 * random_numbers(seed + STREAMS["labels"], count)).astype(np.int32)
    moves = (2 * SHIFT + 1) * random_numbers(seed + STREAMS["shifts"], 2 * count)
    right, down = (np.floor(moves).astype(int) - SHIFT).reshape(count, 2).T
    grey = random_numbers(seed + STREAMS["pixels"], count * SIDE**2).reshape(count, SIDE, SIDE)
    shapes = np.stack([_shape(lit) for lit in LIT])
    lit = np.stack(
        [
            np.roll(shapes[label], (y, x), (0, 1))
            for label, y, x in zip(labels, down, right, strict=True)
        ]
    )
    pixels = np.where(lit, 0.5 + 0.5 * grey, 0.1 * grey)
    return ((pixels - PIXEL_MEAN) / PIXEL_STD).astype(np.float32)[:, None], labels


def _shape(lit: str) -> NDArray[np.bool_]:
    shape = np.zeros((SIDE, SIDE), bool)
    for on, (left, top, right, bottom) in zip(lit, BARS, strict=True):
        if on == "1":
            shape[top:bottom, left:right] = True
    return shape


def matrices(n: int, seed: int = SEED) -> tuple[Floats, Floats]:
    """The two matrices of a product."""
    left = uniform(seed + STREAMS["left"], n * n, -1, 1).reshape(n, n)
    scales = uniform(seed + STREAMS["scales"], n, 0.5, 2).astype(np.float64)
    both = np.bitwise_count(np.arange(n)[:, None] & np.arange(n))
    size = (scales / math.sqrt(n))[:, None] / scales
    return left, np.where(both % 2, -size, size).astype(np.float32)


def model_of(graph: dict[str, Any], state: State) -> nn.Module:
    """PyTorch's model with the weights of a state."""
    model = classifier(*graph["widths"][1:-1])
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.copy_(torch.from_numpy(state[name]))
    return model


def batches(size: int, count: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """The batches that the race's blocks take, in their order."""
    images, labels = digits()
    starts = [step % (IMAGES // size) * size for step in range(count)]
    return [
        (
            torch.from_numpy(images[start : start + size]),
            torch.from_numpy(labels[start : start + size].astype(np.int64)),
        )
        for start in starts
    ]
