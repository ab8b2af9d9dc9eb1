"""Counting what needs no measurement: parameters, batches and bytes.

Standard library only: the site computes the figures on its pages with these functions.
"""

from itertools import pairwise

FLOAT32_BYTES = 4


def linear_layers_parameters(widths: list[int]) -> int:
    """Trainable values of a chain of linear layers with bias.

    Args:
        widths: Units of each layer, the inputs first: ``[784, 256, 128, 10]``.

    Raises:
        ValueError: If there are fewer than two widths or one is below one.
    """
    if len(widths) < 2 or min(widths) < 1:
        raise ValueError(f"widths must be two or more numbers of at least 1, got {widths}")
    return sum((inputs + 1) * outputs for inputs, outputs in pairwise(widths))


def residual_network_parameters(channels: list[int], classes: int) -> int:
    """Trainable values of ``SmallResNet``: residual blocks, then a linear layer with bias.

    A block has a 3 × 3 convolution that changes the channels and one that keeps them, a 1 × 1
    convolution beside them, and two norms with a factor and a sum for each channel.

    Args:
        channels: Of the image, then of each block's result: ``[1, 32, 64, 128]``.
        classes: Scores of the last layer.
    """
    blocks = sum(10 * i * o + 9 * o * o + 4 * o for i, o in pairwise(channels))
    return blocks + linear_layers_parameters([channels[-1], classes])


def linear_layers_bytes(widths: list[int], bytes_per_element: int = FLOAT32_BYTES) -> int:
    """Memory of those layers' weights and biases, in bytes.

    Args:
        widths: As for ``linear_layers_parameters``.
        bytes_per_element: Storage of one value, in bytes; 4 for float32.
    """
    return linear_layers_parameters(widths) * bytes_per_element


def linear_layers_training_flop(widths: list[int], samples: int) -> int:
    """Floating-point operations that training a chain of linear layers on samples cannot avoid.

    Two for each weight forward, two for its gradient, and two to hand the gradient on to the layer
    before, which the first layer has no use for. Biases and activations are left out.

    Args:
        widths: As for ``linear_layers_parameters``.
        samples: How many samples go through, forward and backward.
    """
    weights = [inputs * outputs for inputs, outputs in pairwise(widths)]
    return samples * (6 * sum(weights) - 2 * weights[0])


def dataset_bytes(
    samples: int, values_per_sample: int, bytes_per_element: int = FLOAT32_BYTES
) -> int:
    """Memory of a whole data set as one tensor, labels left out, in bytes.

    Args:
        samples: Samples in the set.
        values_per_sample: Values of one sample; 784 for an MNIST image.
        bytes_per_element: Storage of one value, in bytes; 4 for float32.

    Raises:
        ValueError: If an argument is negative.
    """
    if min(samples, values_per_sample, bytes_per_element) < 0:
        raise ValueError("samples, values_per_sample and bytes_per_element must not be negative")
    return samples * values_per_sample * bytes_per_element


def batches_per_epoch(samples: int, batch_size: int) -> int:
    """Batches that a loader makes of a data set, a smaller last one included.

    Raises:
        ValueError: If ``samples`` is negative or ``batch_size`` below one.
    """
    if samples < 0 or batch_size < 1:
        raise ValueError(
            f"samples must be at least 0 and batch_size at least 1, got {samples} and {batch_size}"
        )
    return -(-samples // batch_size)


def last_batch_size(samples: int, batch_size: int) -> int:
    """Samples in the last batch of an epoch; a full batch when nothing is left over.

    Raises:
        ValueError: As ``batches_per_epoch``.
    """
    batches = batches_per_epoch(samples, batch_size)
    return samples - (batches - 1) * batch_size if batches else 0


def transformer_training_flop(parameters: float, tokens: float) -> float:
    """Floating-point operations of training a transformer: six for each parameter and token.

    Two forward and four backward; attention's own products are left out. Source: Kaplan et al.,
    Scaling Laws for Neural Language Models (2020), section 2.1.
    """
    return 6 * parameters * tokens


def sustained_flop_per_s(flop: float, device_s: float) -> float:
    """Operations per second of each device, if ``flop`` took so many seconds of devices in all."""
    return flop / device_s


def sustained_share(flop: float, device_s: float, peak_flop_per_s: float) -> float:
    """That rate as a share of what a device can do at most."""
    return sustained_flop_per_s(flop, device_s) / peak_flop_per_s


def device_days(flop: float, flop_per_s: float) -> float:
    """Days that one device needs for ``flop`` at a steady rate."""
    return flop / flop_per_s / (24 * 3600)


def device_years(flop: float, flop_per_s: float) -> float:
    """Years of 365.25 days that one device needs for ``flop`` at a steady rate."""
    return device_days(flop, flop_per_s) / 365.25


def cpu_peak_flop_per_s(cores: int, clock_hz: float, units: int, lanes: int) -> float:
    """The most that a CPU's vector units can do, each fused multiply-add counted as two.

    Args:
        cores: Cores.
        clock_hz: Clock in hertz.
        units: Fused multiply-add units of a core.
        lanes: Numbers that a unit works on at once; 8 float32 numbers for 256 bits.
    """
    return cores * clock_hz * units * lanes * 2


def model_flop_per_s(flop_per_sample: float, samples_per_s: float) -> float:
    """The arithmetic of a model that becomes progress in a second."""
    return flop_per_sample * samples_per_s


def model_flop_utilisation(
    flop_per_sample: float, samples_per_s: float, peak_flop_per_s: float
) -> float:
    """That arithmetic as a share of what the device can do at most."""
    return model_flop_per_s(flop_per_sample, samples_per_s) / peak_flop_per_s


def ring_all_reduce_bytes(gradient_bytes: float, processes: int) -> float:
    """What each process sends so that all have the mean of their gradients, in bytes.

    In a ring the gradients are cut into as many parts as there are processes. In one round of
    processes - 1 steps each part is added up, in a second round its sum is passed on, and in each
    step every process sends one part to its neighbour.

    Args:
        gradient_bytes: The gradients of one process; the size of the float32 weights.
        processes: Processes in the ring.

    Raises:
        ValueError: If there is no process.
    """
    if processes < 1:
        raise ValueError(f"a ring has at least one process, got {processes}")
    return 2 * (processes - 1) / processes * gradient_bytes
