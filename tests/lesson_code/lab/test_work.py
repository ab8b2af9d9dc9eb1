"""The arithmetic of a ResNet-50."""

import pytest

from lesson_code.lab.work import print_resnet50_work, resnet50_flop


def test_the_operations_of_one_image() -> None:
    """One multiply-add is two operations, and the first layer needs no gradient of its input."""
    assert (25_557_032, 8_178_368_512, 24_299_077_632) == resnet50_flop()


def test_ninety_epochs_of_imagenet() -> None:
    """Images, steps and operations of the whole training."""
    work = print_resnet50_work()

    assert 90 * 5005 == work["steps"]  # 5,004 whole batches, and a smaller one
    assert 115_305_030 == work["images"]
    assert 2.80e18 == pytest.approx(work["total_flop"], rel=0.005)
