"""The controls of the instruments: their values in order, what each is called, where they start."""

from collections.abc import Mapping
from typing import Any

from lesson_code.mission.constants import LAPTOP_BATCHES, LEDGER_BATCHES
from lesson_site.mission.rows import PIPELINE_BATCHES, TENSOR_EFFECTS

# What the reader sees beside each value; a batch speaks for itself.
OPTIMIZER = {"sgd": "SGD", "momentum": "Momentum", "adam": "Adam"}
BOOKKEEPING = {"autocast": "PyTorch autocast", "zero": "16-bit weights + FP32 master (ZeRO)"}
RECOMPUTE = {
    "none": "Store everything",
    "selective": "Selective",
    "full": "Full recomputation",
}
PRECISION = {
    "fp32": "FP32 (4 bytes)",
    "mixed": "Mixed (16-bit compute, FP32 kept)",
    "fp16": "FP16 (2 bytes everywhere)",
}
# What a regime is called where a table has a column or a row for each.
REGIME_NAMES = {
    "fp32": "FP32",
    "autocast": "Autocast",
    "zero_mixed": "ZeRO-mixed",
    "pure16": "Pure 16-bit",
}
COMPONENTS = {
    "params": "Parameters",
    "grads": "Gradients",
    "master": "FP32 master copy",
    "state1": "Optimizer state 1",  # the browser names it by the optimizer, see STATE_NAMES
    "state2": "Optimizer state 2",
    "copies": "16-bit weight copies",
    "activations": "Activations",
}
STATE_NAMES = {
    "sgd": ("Momentum buffer", "Adam state v"),  # 0 GB both: these are the names of what is missing
    "momentum": ("Momentum buffer", "Adam state v"),
    "adam": ("Adam state m", "Adam state v"),
}
DEVICE = {
    "node": "Training Node, H100 80 GB",
    "laptop": "Laptop GPU, RTX 4060 8 GB",
}
TENSOR_NAMES = ("Not modelled", "Tensor cores also halve compute time")
# The regime that precision and bookkeeping name together.
REGIME_OF = {
    "fp32": {"autocast": "fp32", "zero": "fp32"},
    "mixed": {"autocast": "autocast", "zero": "zero_mixed"},
    "fp16": {"autocast": "pure16", "zero": "pure16"},
}


def _batches(batches: tuple[int, ...]) -> dict[str, str]:
    return {str(batch): f"batch {batch}" for batch in batches}


def pairs(labels: Mapping[str, str]) -> list[list[str]]:
    """Values and labels as lists: the payload's keys are sorted, and these have an order."""
    return [[value, label] for value, label in labels.items()]


def controls() -> dict[str, Any]:
    """For each instrument its controls: values with their labels, in order, and the default."""
    return {
        "ledger": {
            "device": {"values": pairs(DEVICE), "default": "node"},
            "optimizer": {"values": pairs(OPTIMIZER), "default": "sgd"},
            "precision": {"values": pairs(PRECISION), "default": "fp32"},
            "bookkeeping": {"values": pairs(BOOKKEEPING), "default": "autocast"},
            "recompute": {"values": pairs(RECOMPUTE), "default": "none"},
            "batch": {"values": pairs(_batches(LEDGER_BATCHES)), "default": "1"},
        },
        "pipeline": {
            "prefetch": {"values": pairs({"0": "Off", "1": "On"}), "default": "0"},
            "mixed": {"values": pairs({"0": "FP32", "1": "Mixed"}), "default": "0"},
            "checkpointing": {"values": pairs({"0": "Off", "1": "On"}), "default": "0"},
            "batch": {"values": pairs(_batches(PIPELINE_BATCHES)), "default": "32"},
            "tensor_effect": {
                "values": pairs(dict(zip(map(str, TENSOR_EFFECTS), TENSOR_NAMES, strict=True))),
                "default": "1",
            },
        },
        "laptop": {
            "precision": {"values": pairs(PRECISION), "default": "fp32"},
            "bookkeeping": {"values": pairs(BOOKKEEPING), "default": "autocast"},
            "optimizer": {
                "values": pairs(dict(reversed(OPTIMIZER.items()))),
                "default": "adam",
            },
            "recompute": {"values": pairs(RECOMPUTE), "default": "none"},
            "batch": {"values": pairs(_batches(LAPTOP_BATCHES)), "default": "4"},
        },
    }
