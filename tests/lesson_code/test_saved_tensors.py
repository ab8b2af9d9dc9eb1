"""The saved-bytes meter counts what graphs keep, once, and for as long as they keep it."""

import gc
from collections import Counter

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn.functional import cross_entropy

from lesson_code.saved_tensors import SavedBytes


def test_a_forward_pass_of_a_convolutional_network_saves_what_it_must() -> None:
    """Two activations before and two after ReLU share storages in pairs; 2,514,436 bytes remain."""
    model = nn.Sequential(
        *(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU()),
        *(nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU()),
        *(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)),
    )
    images, labels = torch.randn(32, 1, 28, 28), torch.randint(10, (32,))
    meter = SavedBytes(model)

    with meter:
        loss = cross_entropy(model(images), labels)

    assert loss.requires_grad
    assert pytest.approx(2_514_436, rel=0.02) == meter.total()


def test_with_as_gives_the_meter() -> None:
    """As files and locks do it."""
    layer = nn.Linear(3, 2)

    with SavedBytes(layer) as meter:
        output = layer(rows := torch.randn(5, 3))

    assert output.requires_grad
    assert rows.nbytes == meter.total()


def test_a_storage_counts_once() -> None:
    """ReLU saves its output and the next layer saves it as its input: one storage."""
    model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
    rows = torch.randn(5, 3)
    meter = SavedBytes(model, rows)

    with meter:
        output = model(rows)

    assert output.requires_grad
    assert 5 * 8 * 4 == meter.total()


def test_only_what_was_left_out_is_left_out() -> None:
    """Without the model and the input among the arguments, their bytes count as well."""
    layer = nn.Linear(3, 2)
    rows = torch.randn(5, 3, requires_grad=True)
    meter, bare = SavedBytes(layer, rows), SavedBytes()

    with meter:
        first = layer(rows)
    with bare:
        second = layer(rows)

    assert first.requires_grad
    assert second.requires_grad
    assert 0 == meter.total()
    assert 4 * (5 * 3 + 2 * 3) == bare.total()


def test_buffers_are_left_out() -> None:
    """Batch norm saves its running statistics in evaluation mode; they are the module's own."""
    norm = nn.BatchNorm1d(4).eval()
    rows = torch.randn(8, 4)
    meter = SavedBytes(norm, rows)

    with meter:
        output = norm(rows)

    assert output.requires_grad
    assert 0 == meter.total()


def test_bytes_are_grouped_by_dtype() -> None:
    """Under autocast the hidden activations are in bfloat16, and so are the weights' copies."""
    model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 4))
    rows = torch.randn(8, 16)
    meter = SavedBytes(model, rows)

    with meter, torch.autocast("cpu", torch.bfloat16):
        output = model(rows)

    copies_and_activations = 2 * (8 * 16 + 8 * 64 + 64 * 4)
    assert output.requires_grad
    assert Counter({torch.bfloat16: copies_and_activations}) == meter.by_dtype()


def test_nothing_is_alive_after_backward() -> None:
    """Backward gives the saved tensors back, while the loss itself is still there."""
    x = torch.randn(1000, requires_grad=True)
    meter = SavedBytes(x)
    with meter:
        loss = x.exp().square().sum()
    before = meter.total()

    loss.backward()

    assert 2 * 4000 >= before > 0
    assert 0 == meter.total()


def test_nothing_is_alive_after_the_last_reference() -> None:
    """A dropped loss takes its graph along at once: the meter makes no circle of references."""
    x = torch.randn(1000, requires_grad=True)
    meter = SavedBytes(x)
    gc.collect()
    gc.disable()
    try:
        with meter:
            loss = x.exp().square().sum()
        del loss

        assert 0 == meter.total()
    finally:
        gc.enable()


def test_gradients_are_the_same_under_the_meter() -> None:
    """The meter hands back what it was given."""
    x = torch.randn(10, requires_grad=True)
    expected = torch.autograd.grad(x.exp().square().sum(), x)[0]

    with SavedBytes():
        loss = x.exp().square().sum()

    assert torch.equal(expected, torch.autograd.grad(loss, x)[0])


def test_storages_without_memory_count_as_well() -> None:
    """Fake tensors, which have shapes and no memory, are told apart and counted in full."""
    with FakeTensorMode():
        x = torch.randn(1000, requires_grad=True)
        meter = SavedBytes(x)
        with meter:
            loss = x.exp().sin().sum()
        counted = meter.total()

    assert loss.requires_grad
    assert 4000 == counted
