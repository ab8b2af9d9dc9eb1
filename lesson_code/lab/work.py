"""How much arithmetic a training asks for, counted by PyTorch."""

import math

# --8<-- [start:count]
import torch
from torch.utils.flop_counter import FlopCounterMode
from torchvision.models import resnet50


def resnet50_flop() -> tuple[int, int, int]:
    """Parameters, and the operations of one image: forward, and forward with backward.

    Nothing is computed: on the ``meta`` device tensors have a shape and no numbers.
    """
    with torch.device("meta"):
        model, image = resnet50(), torch.zeros(1, 3, 224, 224)
    with FlopCounterMode(display=False) as forward:
        scores = model(image)
    with FlopCounterMode(display=False) as backward:
        scores.sum().backward()
    both = forward.get_total_flops() + backward.get_total_flops()
    return sum(p.numel() for p in model.parameters()), forward.get_total_flops(), both


# --8<-- [end:count]

IMAGENET_IMAGES, EPOCHS, BATCH_SIZE = 1_281_167, 90, 256


def print_resnet50_work() -> dict[str, float]:
    """What 90 epochs of ImageNet ask of a ResNet-50, for one image and in all."""
    parameters, forward, both = resnet50_flop()
    images = EPOCHS * IMAGENET_IMAGES
    steps = EPOCHS * math.ceil(IMAGENET_IMAGES / BATCH_SIZE)  # the last batch may be smaller
    print(f"parameters                 {parameters:>14,}")
    print(f"forward, one image         {forward / 1e9:>14.2f} GFLOP")
    print(f"forward and backward       {both / 1e9:>14.2f} GFLOP")
    print(f"images in {EPOCHS} epochs        {images:>14,}")
    print(f"steps of {BATCH_SIZE} images        {steps:>14,}")
    print(f"in all                     {images * both:>14.2e} FLOP")
    return {
        "parameters": parameters,
        "forward_flop": forward,
        "step_flop": both,
        "images": images,
        "steps": steps,
        "total_flop": images * both,
    }
