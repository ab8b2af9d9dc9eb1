"""The same step on this machine's GPU, in every format that is asked for."""

from collections.abc import Callable, Collection
from statistics import median

import torch

from lesson_code.devices import device_name, float32_products
from lesson_code.forecast.refusal import RefusedError
from lesson_code.forecast.report import OnGPU
from lesson_code.forecast.training import Training, said
from lesson_code.timing import time_repeatedly

SHORT = {"bfloat16": torch.bfloat16, "float16": torch.float16}
REPETITIONS, WARM_UP = 20, 5


def measure_gpu(
    build: Callable[[], Training],
    sizes: Collection[int],
    formats: Collection[str],
    channels_last: bool,
    gpu: torch.device,
) -> list[OnGPU]:
    """Time a step of each batch in each format, and ask for its most memory.

    Args:
        build: Makes the training, anew for each step.
        sizes: Samples of the batches.
        formats: Of ``cards.FORMATS``; 16 bits by autocast, float16 with a scaler.
        channels_last: Whether the channels of a pixel lie side by side.
        gpu: Where it runs.

    Raises:
        RefusedError: If the step fails for another reason than memory.
    """
    return [
        _timed(build(), size, format, channels_last, gpu) for size in sizes for format in formats
    ]


def _timed(
    training: Training, size: int, format: str, channels_last: bool, gpu: torch.device
) -> OnGPU:
    cuda = gpu.type == "cuda"
    try:
        training.model.to(gpu)
        *inputs, targets = (tensor.to(gpu) for tensor in training.of_size(size))
        if channels_last:
            last = torch.channels_last
            training.model.to(memory_format=last)
            inputs = [t.to(memory_format=last) if t.dim() == 4 else t for t in inputs]
        scaler = torch.amp.GradScaler(gpu.type, enabled=format == "float16")

        def step() -> None:
            training.optimizer.zero_grad()
            with torch.autocast(gpu.type, SHORT.get(format), enabled=format in SHORT):
                loss = training.loss_function(training.model(*inputs), targets)
            scaler.scale(loss).backward()
            scaler.step(training.optimizer)
            scaler.update()

        if cuda:
            torch.cuda.reset_peak_memory_stats(gpu)
        with float32_products(format == "tf32"):
            seconds = median(time_repeatedly(step, gpu, REPETITIONS, WARM_UP))
    except torch.OutOfMemoryError:
        return OnGPU(device_name(gpu), size, format, None, 0)
    except Exception as problem:
        raise RefusedError(f"the step fails on this GPU, {said(problem)}") from problem
    peak = torch.cuda.max_memory_allocated(gpu) if cuda else 0
    return OnGPU(device_name(gpu), size, format, seconds, peak)
