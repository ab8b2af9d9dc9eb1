"""MFU, and what follows from it: throughput, and the time of a whole job.

Model FLOP utilisation is the arithmetic that the model needs, recomputation left out, as a share of
what the devices could have done meanwhile. Source: Chowdhery et al., PaLM (2022), arXiv 2204.02311.
"""

from lesson_code.accounting import model_flop_utilisation
from lesson_code.mission.choices import require_count, require_positive, require_share


def mfu_from_throughput(
    tokens_per_s: float, flop_per_token: float, peak_flop_per_s: float
) -> float:
    """The MFU of a run on one device.

    Args:
        tokens_per_s: Throughput.
        flop_per_token: What the model needs for one token, without recomputation.
        peak_flop_per_s: The device's peak.

    Returns:
        A share, at most 1.

    Raises:
        ValueError: If an argument is not above zero, or the result above 1, which cannot be.
    """
    require_positive("tokens_per_s", tokens_per_s)
    require_positive("flop_per_token", flop_per_token)
    require_positive("peak_flop_per_s", peak_flop_per_s)
    # --8<-- [start:mfu]
    mfu = model_flop_utilisation(flop_per_token, tokens_per_s, peak_flop_per_s)
    require_share("MFU", mfu)
    return mfu
    # --8<-- [end:mfu]


def try_mfu() -> None:
    """The utilisation behind a rate."""
    # --8<-- [start:try_mfu]
    mfu = mfu_from_throughput(tokens_per_s=1200, flop_per_token=1e10, peak_flop_per_s=125e12)
    print(f"{mfu:.1%}")
    # --8<-- [end:try_mfu]


def throughput_for_mfu(mfu: float, flop_per_token: float, peak_flop_per_s: float) -> float:
    """Tokens per second of a run with this MFU on one device.

    Args:
        mfu: A share, above 0 and at most 1.
        flop_per_token: What the model needs for one token, without recomputation.
        peak_flop_per_s: The device's peak.

    Raises:
        ValueError: If an argument is out of its range.
    """
    require_share("MFU", mfu)
    require_positive("flop_per_token", flop_per_token)
    require_positive("peak_flop_per_s", peak_flop_per_s)
    return mfu * peak_flop_per_s / flop_per_token


def iron_law_seconds(ops: float, n_devices: int, peak_flop_per_s: float, eta: float) -> float:
    """Seconds of a whole job, by the Iron Law of training performance.

    Args:
        ops: All operations of the job, in FLOP.
        n_devices: How many devices share it.
        peak_flop_per_s: The peak of each.
        eta: Their MFU, a share, above 0 and at most 1.

    Raises:
        ValueError: If an argument is out of its range.
    """
    require_positive("ops", ops)
    require_count("n_devices", n_devices)
    require_positive("peak_flop_per_s", peak_flop_per_s)
    require_share("eta", eta)
    return ops / (n_devices * peak_flop_per_s * eta)


def host_batch_bytes(batch: int, seq: int, itemsize: int = 8) -> int:
    """Bytes of a batch of tokens, which the host copies to the device.

    Args:
        batch: Texts in a batch.
        seq: Tokens of a text.
        itemsize: Bytes of a token; PyTorch's are int64.

    Raises:
        ValueError: If an argument is no positive whole number.
    """
    for name, value in (("batch", batch), ("seq", seq), ("itemsize", itemsize)):
        require_count(name, value)
    return batch * seq * itemsize
