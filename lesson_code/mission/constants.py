"""Every number of the mission that is not computed, with its source.

"The textbook" is one on machine-learning systems, and its chapter "Model Training". Its
figures are quoted, not vouched for: several contradict each other, which is the mission's subject.
A constant without a source is our own choice; its comment says why.
"""

from dataclasses import dataclass

from lesson_code.accounting import FLOAT32_BYTES
from lesson_code.mission.choices import Component, Device, Optimizer, Recompute, Regime

# Of the model's formulas and constants: a new one whenever a result that they give changes.
# Measurements keep it beside what the model predicted for them.
MODEL_VERSION = "2.0.0"

GB = 10**9  # bytes; all bars, totals and budgets
GIB = 2**30  # bytes; what tools report

ROUNDED_PARAMETERS = 1_500_000_000  # GPT-2 XL in the textbook; exactly it is 1,557,611,200

# Bytes per parameter. Sources: Rajbhandari et al., ZeRO (2019), arXiv 1910.02054, section 3.1, for
# zero_mixed; PyTorch, asked by our tests, for the others: torch.optim makes its state in the type
# of the parameters, and autocast leaves parameters and gradients alone. Copies are made of those
# parameters only that autocast casts. The few bytes of Adam's step counters are left out.
BYTES_PER_PARAMETER: dict[Regime, dict[Component, int]] = {
    "fp32": {
        "params": FLOAT32_BYTES,
        "grads": FLOAT32_BYTES,
        "master": 0,
        "state1": FLOAT32_BYTES,
        "state2": FLOAT32_BYTES,
        "copies": 0,
    },
    "autocast": {
        "params": FLOAT32_BYTES,
        "grads": FLOAT32_BYTES,
        "master": 0,
        "state1": FLOAT32_BYTES,
        "state2": FLOAT32_BYTES,
        "copies": 2,
    },
    "zero_mixed": {
        "params": 2,
        "grads": 2,
        "master": FLOAT32_BYTES,
        "state1": FLOAT32_BYTES,
        "state2": FLOAT32_BYTES,
        "copies": 0,
    },
    "pure16": {"params": 2, "grads": 2, "master": 0, "state1": 2, "state2": 2, "copies": 0},
}
# Values kept for each parameter: Adam's are the first and the second moment.
STATE_VECTORS: dict[Optimizer, int] = {"sgd": 0, "momentum": 1, "adam": 2}


@dataclass(frozen=True)
class ActivationBytes:
    """Bytes that a forward pass keeps; they are bytes already, not to be multiplied by a size.

    S is the length of a text, B the batch size, H the width, A the heads, V the vocabulary.

    Attributes:
        value: For each of the S·B·H values of a layer.
        score: For each of the A·S²·B attention scores of a layer.
        layer_input: For each of the S·B·H values of a layer's input.
        outside_value: For each of S·B·H values outside the layers: embedding, last norm, head.
        logit: For each of the S·B·V scores of the next token.
    """

    value: int
    score: int
    layer_input: int
    outside_value: int
    logit: int


# Source: Korthikanti et al., Reducing Activation Recomputation in Large Transformer Models (2022),
# arXiv 2205.05198, section 4, for zero_mixed. The others follow the same inventory with the types
# that PyTorch 2.15 keeps: under autocast the residual stream, the inputs of the norms, softmax and
# log-softmax stay in float32. Our tests compare them with the tensors that autograd saves.
ACTIVATION_BYTES: dict[Regime, ActivationBytes] = {
    "zero_mixed": ActivationBytes(value=34, score=5, layer_input=2, outside_value=5, logit=4),
    "pure16": ActivationBytes(value=34, score=5, layer_input=2, outside_value=5, logit=2),
    "autocast": ActivationBytes(value=38, score=7, layer_input=4, outside_value=7, logit=6),
    "fp32": ActivationBytes(value=66, score=9, layer_input=4, outside_value=9, logit=4),
}

# Bytes of gradients for each of those scores, at the fullest moment early in backward. In float32
# and in pure 16 bit that of the loss is still there while log-softmax makes its own, two as wide as
# the scores; under autocast the first is in float32, and what log-softmax kept in 16 bits goes as
# the second comes. Our tests count them in PyTorch's backward pass. zero_mixed has a loss in
# float32 as autocast has.
LOGIT_GRADIENT_BYTES: dict[Regime, int] = {
    "zero_mixed": 4,
    "pure16": 2 * 2,
    "autocast": FLOAT32_BYTES,
    "fp32": 2 * FLOAT32_BYTES,
}


@dataclass(frozen=True)
class DeviceMemory:
    """What a device has, and what we plan with.

    Attributes:
        budget_bytes: For training; the rest is left to the CUDA context, the libraries'
            workspaces and fragmentation.
        capacity_bytes: What is sold, in GiB.
        power_w: Nothing is computed from it.
    """

    budget_bytes: int
    capacity_bytes: int
    power_w: int


# Sources: NVIDIA H100 Tensor Core GPU Architecture (2022), SXM; NVIDIA's product page of the
# GeForce RTX 4060 Laptop GPU (2023), which takes at most 115 W. The budgets are our choice.
DEVICES: dict[Device, DeviceMemory] = {
    "node": DeviceMemory(budget_bytes=80 * GB, capacity_bytes=80 * GIB, power_w=700),
    "laptop": DeviceMemory(budget_bytes=8 * GB, capacity_bytes=8 * GIB, power_w=115),
}

# Dense 16-bit tensor peaks in FLOP/s, without sparsity. Sources: NVIDIA Tesla V100 GPU Architecture
# (2017); NVIDIA A100 Tensor Core GPU Architecture (2020); NVIDIA H100 Tensor Core GPU Architecture
# (2022), SXM.
V100_PEAK_FLOP_PER_S = 125e12
A100_PEAK_FLOP_PER_S = 312e12
H100_PEAK_FLOP_PER_S = 989.4e12
V100_FLOAT32_PEAK_FLOP_PER_S = 15.7e12  # without tensor cores

# Where the instruments stop.
REGIMES: tuple[Regime, ...] = ("fp32", "autocast", "zero_mixed", "pure16")
OPTIMIZERS: tuple[Optimizer, ...] = ("sgd", "momentum", "adam")
RECOMPUTATIONS: tuple[Recompute, ...] = ("none", "selective", "full")
LEDGER_BATCHES = (1, 4, 8, 16, 32, 64)
LAPTOP_BATCHES = (4, 2, 1)
LEDGER_AXIS_GB = (100, 200, 400, 800, 1200)
LAPTOP_AXIS_GB = (20, 50, 100)
AXIS_MARGIN = 1.02  # so that the bar does not touch the top

# One iteration of the textbook's baseline, GPT-2 on one GPU at batch 32, in hundredths of it.
BASELINE_BATCH = 32
DATA_UNITS = 40
TRANSFER_UNITS = 25
COMPUTE_UNITS = 35
LOADER_WORKERS = 8  # the textbook's loader
HANDOFF_SHARE = 0.05  # of the iteration; what the textbook's loader still shows with prefetching
MIXED_TRANSFER = 0.5  # the textbook's; under autocast most of them stay in float32
RECOMPUTED_FORWARD = 1 / 3  # of forward and backward: backward takes two forwards
# The textbook says 60-70 % at batch 16-32 and above 90 % at 256. In between, the logit follows a
# straight line over log2 of the batch, rounded to two decimals.
KERNEL_EFFICIENCY = {16: 0.60, 32: 0.70, 64: 0.79, 128: 0.86, 256: 0.91}
# The share of the transfers in which a kernel runs; our calibration. The first makes the baseline
# the textbook's 45 % exactly, the second all three optimisations 84.6 % against its 85 %; at 0.50
# float32 would pass the target without mixed precision.
TRANSFER_BUSY = 0.40
TRANSFER_BUSY_PREFETCHED = 0.48  # where a loader works ahead; nobody measured why

TARGET_UTILISATION = 0.80

# The textbook's figures, quoted beside ours.
CHAPTER_BASELINE_UTILISATION = 0.45
CHAPTER_OPTIMISED_UTILISATION = 0.85
CHAPTER_OPTIMISED_SHARES = (0.05, 0.20, 0.75)  # data, transfers, compute
CHAPTER_TOKENS_PER_S = 1200
CHAPTER_ACTIVATIONS_GB = 65  # float32; batch 32 there, but our formula gives it at batch 3.9
CHAPTER_CHECKPOINTING_SAVING = 4
CHAPTER_STEPS: dict[Optimizer, int | None] = {"sgd": None, "momentum": 150_000, "adam": 50_000}
GPT3_MFU = 0.45
CURRENT_MFU = 0.55

# What the learner is asked. The extra memory that each option of the first question claims, in GB.
PREDICTED_EXTRA_GB = {"A": 0, "B": 3, "C": 12, "D": 24}
FLOOR_ANSWER_GB = (12.0, 12.5)
