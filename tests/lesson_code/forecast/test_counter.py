"""A counted step is the step that runs: arithmetic, traffic, launches and memory."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from math import ceil
from typing import Any

import pytest
import torch
from torch import nn
from torch.distributed._tools.mem_tracker import MemTracker
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from lesson_code.forecast.counter import StepCounter, changes_in_place, count_step
from lesson_code.forecast.formula import Step
from lesson_code.forecast.shells import ReadsValuesError, like_a_gpu
from lesson_code.models import MNISTClassifier


def mnist(batch: int = 64, format: str = "float32") -> Step:
    """The lesson's step."""
    model = MNISTClassifier()
    data = torch.empty(batch, 1, 28, 28), torch.zeros(batch, dtype=torch.int64)
    return count_step(
        model, torch.optim.Adam(model.parameters()), nn.CrossEntropyLoss(), data, format
    )


def count(model: nn.Module, *inputs: torch.Tensor, format: str = "float32") -> Step:
    """A step whose loss is the sum of what the model gives."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    batch = *inputs, torch.empty(1)
    return count_step(model, optimizer, lambda outputs, _: outputs.float().sum(), batch, format)


def test_products_by_hand() -> None:
    """A linear layer whose inputs need no gradient multiplies twice, forward and for its weight."""
    step = count(nn.Linear(30, 20), torch.empty(7, 30))

    assert {"float32": 2 * (2 * 7 * 30 * 20)} == step.flop


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("groups", [1, 2, 64])
@pytest.mark.parametrize("kind", [nn.Conv2d, nn.ConvTranspose2d])
def test_a_gradient_of_a_convolution_costs_a_forward_pass(
    kind: Any, groups: int, stride: int
) -> None:
    """Both gradients of a grouped convolution cost as much as two forward passes, and no more."""
    layer = kind(64, 64, 4, stride, padding=1, groups=groups, bias=False)
    inputs = torch.empty(8, 64, 16, 16, requires_grad=True)
    pixels = layer(inputs)[0, 0].numel() if kind is nn.Conv2d else 16 * 16

    step = count(nn.Sequential(nn.BatchNorm2d(64), layer), inputs)

    assert {"float32": 3 * 2 * 8 * 64 * (64 // groups) * 16 * pixels} == step.flop


@pytest.mark.parametrize(
    ("wanted", "kernels", "values"),
    [
        ("weight bias", 2, 2 * 200 + 150 + (12 + 4)),
        ("bias", 1, 200 + 4),
        ("inputs bias", 2, 2 * 200 + 12 + (150 + 4)),
        ("inputs weight bias", 3, 3 * 200 + 12 + 150 + (150 + 12 + 4)),
    ],
)
def test_each_gradient_of_a_convolution_is_a_kernel(wanted: str, kernels: int, values: int) -> None:
    """All of them read the output's gradient, and some the inputs or the weight; these multiply."""
    layer = nn.Conv2d(3, 4, 1)
    layer.weight.requires_grad = "weight" in wanted
    inputs = torch.empty(2, 3, 5, 5)

    class Shifted(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer, self.shift = layer, nn.Parameter(torch.zeros(()))

        def forward(self, images: torch.Tensor) -> torch.Tensor:
            return self.layer(images + self.shift if "inputs" in wanted else images)

    forward_values = 150 + 12 + 4 + 200

    step = count(Shifted(), inputs)

    assert 4 * (forward_values + values) == step.convolution_bytes
    assert kernels - 1 == step.launches - step.operations
    products = 1 + ("inputs" in wanted) + ("weight" in wanted)
    assert {"float32": products * 2 * 3 * 4 * 2 * 5 * 5} == step.flop


def test_batch_norm_reads_twice_what_its_statistics_are_of() -> None:
    """Forward its inputs; backward those and the gradient, from which that of its inputs comes."""
    images = torch.empty(5, 10, 2, 2)

    step = count(nn.BatchNorm2d(10), images)

    forward = 2 * 200 + 4 * 10 + 200 + 2 * 10  # weight, bias, running ones; and the batch's own
    total, its_gradient = 200 + 1, 1 + 1
    backward = 2 * (200 + 200) + 5 * 10 + 200 + 2 * 10
    update, batches = 3 * 2 * 10, 2 + 2  # numbers of 8 bytes
    values = forward + total + its_gradient + backward + update + batches
    assert 4 * values == step.bytes


class Many(nn.Module):
    """Weights of one number each."""

    def __init__(self, tensors: int) -> None:
        super().__init__()
        self.weights = nn.ParameterList(torch.zeros(1) for _ in range(tensors))

    def forward(self, _: torch.Tensor) -> torch.Tensor:
        """All of them."""
        return torch.cat([*self.weights])


@pytest.mark.parametrize(
    ("tensors", "format", "more"),
    [
        (55, "float32", 0),
        (56, "float32", 1),
        (110, "float32", 1),
        (111, "float32", 2),
        (108, "float16", 1),
        (109, "float16", 2),  # and to see whether all gradients are finite, with scale and answer
    ],
)
def test_a_launch_takes_110_tensors(tensors: int, format: str, more: int) -> None:
    """An update of all weights reads two tensors for each; one operation may be some launches."""
    step = count(Many(tensors), torch.empty(1), format=format)

    assert more == step.launches - step.operations


@pytest.mark.parametrize(("tensors", "launches"), [(55, 1), (56, 2)])
def test_a_launch_of_a_fused_update_takes_110_tensors(tensors: int, launches: int) -> None:
    """Weights and gradients."""
    model = Many(tensors)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, fused=True)

    step = count_step(model, optimizer, lambda x, _: x.sum(), (torch.empty(1), torch.empty(1)))

    assert launches - 1 == step.launches - step.operations


def test_only_what_is_sent_as_it_is_costs_nothing() -> None:
    """On the way to the GPU on which it is, a tensor can change its format."""

    class Sent(nn.Linear):
        def forward(self, inputs: torch.Tensor) -> torch.Tensor:
            return super().forward(inputs.to(inputs.device, torch.float32))

    class SentWithoutAFormat(nn.Linear):
        def forward(self, inputs: torch.Tensor) -> torch.Tensor:
            return super().forward(inputs.to(inputs.device))

    plain, sent, without = (
        count(kind(6, 2), torch.empty(4, 6)) for kind in (nn.Linear, Sent, SentWithoutAFormat)
    )
    cast = count(Sent(6, 2), torch.empty(4, 6, dtype=torch.float16))

    assert plain == sent == without
    assert 1 == cast.operations - plain.operations
    assert 4 * 6 * (2 + 4) == cast.bytes - plain.bytes


def test_what_comes_from_the_host_is_written() -> None:
    """A tensor that was made beside the GPU is a tensor more on it, and nothing there is read."""

    class Shifted(nn.Linear):
        def forward(self, inputs: torch.Tensor) -> torch.Tensor:
            return super().forward(inputs + torch.arange(6.0).to(inputs.device))

    plain, shifted = (count(kind(6, 2), torch.empty(4, 6)) for kind in (nn.Linear, Shifted))

    assert 4 * (6 + (24 + 6 + 24)) == shifted.bytes - plain.bytes
    assert 2 == shifted.operations - plain.operations


@contextmanager
def counting() -> Iterator[StepCounter]:
    """Within, operations on a GPU's tensors are counted."""
    with like_a_gpu(), StepCounter() as counter:
        counter.counting = True
        yield counter


def test_nothing_is_counted_before_that_is_asked_for() -> None:
    """But for memory, which what is there before takes too."""
    with like_a_gpu(), StepCounter() as counter:
        tensor = torch.empty(4, device="cuda")
        tensor = 2 * tensor

        assert (0, 0) == (counter.operations, counter.bytes)
        assert 512 == counter.held_bytes
        del tensor
        assert 0 == counter.held_bytes
        assert 2 * 512 == counter.peak_bytes


def test_what_is_given_by_name_is_read() -> None:
    """By what a fused update divides gradients, and whether it happens at all."""
    how = {"weight_decay": 0.0, "momentum": 0.9, "lr": 0.1, "dampening": 0.0}
    whether = {"nesterov": False, "maximize": False, "is_first_step": False}
    read = []
    for names in ((), ("grad_scale", "found_inf")):
        with counting() as counter:
            lists = [[torch.empty(100, device="cuda")] for _ in range(3)]
            named = {name: torch.empty((), device="cuda") for name in names}
            torch.ops.aten._fused_sgd_.default(*lists, **how, **whether, **named)
            read.append(counter.bytes)

    assert 4 + 4 == read[1] - read[0]


@pytest.mark.parametrize(
    ("look_up", "indices"),
    [
        (lambda table, rows: nn.functional.embedding(rows, table), 50),
        (lambda table, rows: table[rows], 50),
        (lambda table, rows: table.index_select(0, rows), 50),
        (lambda table, rows: table.gather(0, rows[:, None].expand(50, 8)), 50 * 8),
    ],
    ids=["embedding", "index", "index_select", "gather"],
)
def test_what_looks_up_reads_no_whole_table(
    look_up: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], indices: int
) -> None:
    """Which rows, the rows themselves, and where they are put."""
    with counting() as counter:
        table = torch.empty(1_000_000, 8, device="cuda")
        rows = torch.empty(50, dtype=torch.int64, device="cuda")
        found = look_up(table, rows)

    assert (50, 8) == found.shape
    assert counter.bytes == 8 * indices + 2 * 4 * found.numel()


def test_what_is_sent_without_a_format_costs_nothing_either() -> None:
    """PyTorch itself always names one; who asks for the operation need not."""
    with counting() as counter:
        tensor = torch.empty(4, device="cuda")
        sent = torch.ops.aten._to_copy.default(tensor, device=tensor.device)

    assert tensor.shape == sent.shape
    assert (0, 512) == (counter.operations, counter.peak_bytes)


def test_a_result_that_was_given_is_that_tensor() -> None:
    """Also in an operation for which PyTorch itself does not return what it was given."""
    add, multiply = torch.ops.aten.add_.Tensor, torch.ops.aten.mul.out
    with counting(), torch.inference_mode():
        tensor, room = (torch.empty(4, device="cuda") for _ in range(2))

        assert tensor is add(tensor, 1)
        assert room is multiply(tensor, 2, out=room)


def test_bytes_by_hand() -> None:
    """Two numbers read and one written, forward; one read and two written in the update."""

    class Scale(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(1000))

        def forward(self, inputs: torch.Tensor) -> torch.Tensor:
            return self.weight * inputs

    step = count(Scale(), torch.empty(1000))

    product = 3 * 4000  # weight and inputs in, product out
    total = 4000 + 4  # the sum
    ones = 4 + 4  # the loss's own gradient, from the loss's shape
    gradient = (
        4000 + 4000 + 4000
    )  # what each product gets, though it is one number, times the inputs
    update = 4000 + 4000 + 4000
    assert product + total + ones + gradient + update == step.bytes
    assert 5 == step.launches


def test_a_view_costs_nothing() -> None:
    """Flattening, transposing and detaching move no byte."""

    class Views(nn.Linear):
        def forward(self, inputs: torch.Tensor) -> torch.Tensor:
            return super().forward(inputs.transpose(0, 1).detach().transpose(0, 1).flatten(1))

    plain, viewed = (count(kind(6, 2), torch.empty(4, 6)) for kind in (nn.Linear, Views))

    assert plain == viewed


def test_the_lessons_step() -> None:
    """The lesson's step asks for 27 kernels in float32, as PyTorch's own fake CUDA tensors say."""
    step = mnist()

    assert 27 == step.launches == step.operations
    assert 4 * 235_146 <= step.weight_bytes < 4 * 235_146 + 6 * 512
    assert 0 == step.weight_bytes % 512 == step.peak_bytes % 512


def test_mixed_precision_adds_casts() -> None:
    """Autocast casts the images, three weights and three biases, and the scores, both ways."""
    step = mnist(format="bfloat16")

    assert {step.format} == {"bfloat16"} == set(step.flop)
    assert 27 + 15 == step.launches


def test_loss_scaling_adds_launches() -> None:
    """Float16 scales the loss and checks the gradients besides."""
    narrow, scaled = mnist(format="bfloat16"), mnist(format="float16")

    assert narrow.launches < scaled.launches
    assert {scaled.format} == {"float16"} == set(scaled.flop)


def test_a_weight_is_cast_once() -> None:
    """A layer that is used twice has its weight cast once, as autocast's cache does."""

    class Twice(nn.Linear):
        def forward(self, inputs: torch.Tensor) -> torch.Tensor:
            return super().forward(super().forward(inputs))

    once = count(nn.Linear(64, 64), torch.empty(2, 64), format="bfloat16")
    twice = count(Twice(64, 64), torch.empty(2, 64), format="bfloat16")

    assert twice.operations < 2 * once.operations - 4  # the sum and the update are there once


@pytest.mark.parametrize("batch", [1, 64, 1000])
def test_peak_memory(batch: int) -> None:
    """The peak is that of PyTorch's own tracker, for the same step on a CPU, up to rounding."""
    model = MNISTClassifier()
    optimizer = torch.optim.Adam(model.parameters(), foreach=True)
    images, labels = torch.randn(batch, 1, 28, 28), torch.zeros(batch, dtype=torch.int64)
    tracker = MemTracker()
    tracker.track_external(model, images, labels)
    with tracker:
        for step in range(2):
            if step:
                tracker.reset_mod_stats()
            optimizer.zero_grad()
            F.cross_entropy(model(images), labels).backward()
            optimizer.step()
    tracked = tracker.get_tracker_snapshot("peak")[torch.device("cpu")]["Total"]

    assert mnist(batch).peak_bytes == pytest.approx(tracked, abs=100 * 512)


def test_a_forward_pass_holds_no_gradients_of_the_step_before() -> None:
    """The most is held within it: weights, the batch, and room for a million numbers."""

    class Roomy(nn.Linear):
        def forward(self, inputs: torch.Tensor) -> torch.Tensor:
            torch.empty(1_000_000, device=inputs.device)
            return super().forward(inputs)

    step = count(Roomy(500, 500), torch.empty(2, 500))

    blocks = (4 * 500 * 500, 4 * 500, 4 * 2 * 500, 4 * 1, 4 * 1_000_000)
    assert sum(512 * ceil(size / 512) for size in blocks) == step.peak_bytes


def test_checkpointing_saves_memory() -> None:
    """What is computed again is counted again, and not kept."""

    class Deep(nn.Module):
        def __init__(self, recompute: bool) -> None:
            super().__init__()
            self.recompute = recompute
            self.parts = nn.ModuleList(
                nn.Sequential(nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 64)) for _ in range(6)
            )

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            for part in self.parts:
                x = checkpoint(part, x, use_reentrant=False) if self.recompute else part(x)
            return x

    kept, recomputed = (count(Deep(r), torch.empty(4096, 64)) for r in (False, True))

    assert kept.peak_bytes > recomputed.peak_bytes
    assert sum(kept.flop.values()) < sum(recomputed.flop.values())


def test_a_fused_update_that_knows_no_such_tensors() -> None:
    """SGD in one kernel is one launch, which reads and writes weights, gradients and momentum."""
    model = nn.Linear(30, 20, bias=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, fused=True)
    batch = torch.empty(7, 30), torch.empty(1)

    step = count_step(model, optimizer, lambda outputs, _: outputs.sum(), batch)
    without = count(nn.Linear(30, 20, bias=False), torch.empty(7, 30))

    assert without.launches == step.launches
    assert 3 * 4 * 30 * 20 == step.bytes - without.bytes


def test_fused_attention() -> None:
    """Attention in one kernel keeps no table of scores, in 16 bits and in 32."""

    class Attention(nn.Linear):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            q = super().forward(x).unflatten(-1, (4, -1)).transpose(1, 2)
            return F.scaled_dot_product_attention(q, q, q, is_causal=True, dropout_p=0.1)

    scores = 2 * 4 * 512 * 512
    inputs = torch.empty(2, 512, 64)
    wide, narrow = (count(Attention(64, 64), inputs, format=f) for f in ("float32", "bfloat16"))

    assert scores > wide.peak_bytes
    assert scores > narrow.peak_bytes


def test_one_kernel_for_dropout() -> None:
    """Dropout is one kernel forward and one backward, as on a GPU."""
    plain = count(nn.Linear(8, 8), torch.empty(2, 8))
    dropped = count(nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5)), torch.empty(2, 8))

    assert plain.launches + 2 == dropped.launches


def test_channels_last() -> None:
    """The layout changes where numbers are and not how many."""

    def step(channels_last: bool) -> Step:
        model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU())
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        data = torch.empty(2, 3, 16, 16), torch.empty(1)
        return count_step(model, optimizer, lambda x, _: x.sum(), data, channels_last=channels_last)

    usual, last = step(False), step(True)

    assert usual.convolution_bytes == last.convolution_bytes
    assert last.channels_last


def test_a_result_can_be_written_where_one_was() -> None:
    """It is that tensor, and no new one."""

    class Written(nn.Linear):
        def forward(self, inputs: torch.Tensor) -> torch.Tensor:
            room = torch.empty_like(inputs)
            assert room is torch.mul(inputs, 2, out=room)
            return super().forward(room)

    plain, written = (count(kind(6, 2), torch.empty(4, 6)) for kind in (nn.Linear, Written))

    assert 4 * 6 * (4 + 4) == written.bytes - plain.bytes


def test_a_product_that_is_written_somewhere_is_in_its_own_format() -> None:
    """It makes no tensor from which that could be seen."""

    class Product(nn.Linear):
        def forward(self, inputs: torch.Tensor) -> torch.Tensor:
            with torch.no_grad():
                halves = inputs.half()
                torch.mm(halves, halves, out=torch.empty_like(halves))
            return super().forward(inputs)

    step = count(Product(6, 2), torch.empty(6, 6))

    assert 2 * 6 * 6 * 6 == step.flop["float16"]


def test_complex_numbers_are_pairs_in_float32() -> None:
    """That is the format of their product."""
    with counting() as counter:
        square = torch.empty(6, 6, dtype=torch.complex64, device="cuda")
        square @ square

    assert ["float32"] == [*counter.flop]


@pytest.mark.parametrize("channels_last", [False, True])
def test_images_and_weights_have_the_layout_that_was_asked_for(channels_last: bool) -> None:
    """A model finds it when it is called."""
    seen = []

    class Layer(nn.Conv2d):
        def forward(self, images: torch.Tensor) -> torch.Tensor:
            seen.extend(t.stride(1) == 1 for t in (images, self.weight))
            return super().forward(images)

    layer = Layer(3, 4, 2)
    batch = torch.empty(2, 3, 5, 5), torch.empty(1)
    optimizer = torch.optim.SGD(layer.parameters())
    step = count_step(layer, optimizer, lambda out, _: out.sum(), batch, "float32", channels_last)

    assert {channels_last} == {*seen, step.channels_last}


def test_each_group_of_weights_is_updated_in_one_operation() -> None:
    """As on a GPU; one that knows no such operation, or is not to use it, goes weight by weight."""

    class Plain(torch.optim.Optimizer):
        def __init__(self, groups: Any) -> None:
            super().__init__(groups, {})

        @torch.no_grad()
        def step(self, _: object = None) -> None:  # type: ignore[override]
            for group in self.param_groups:
                for weight in group["params"]:
                    weight.add_(weight.grad, alpha=-0.1)

    counted = []
    for kind in (torch.optim.SGD, Plain, partial(torch.optim.SGD, foreach=False)):
        model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
        optimizer = kind([{"params": layer.parameters()} for layer in model])
        batch = torch.empty(3, 2), torch.empty(1)
        counted.append(count_step(model, optimizer, lambda out, _: out.sum(), batch).operations)

    assert 2 == counted[1] - counted[0] == counted[2] - counted[0]  # two groups of two weights


def test_a_counter_of_ones_own_counts() -> None:
    """It knows afterwards what the step is made of."""
    counter, model = StepCounter(), nn.Linear(3, 2)
    batch, optimizer = (torch.empty(5, 3), torch.empty(1)), torch.optim.SGD(model.parameters())

    step = count_step(model, optimizer, lambda x, _: x.sum(), batch, counter=counter)

    assert 0 < step.operations == counter.operations
    assert step.flop == counter.flop
    assert step.flop is not counter.flop  # it may go on counting
    assert ("float32", False) == (step.format, step.channels_last)  # where nothing else is said


def test_what_a_loss_holds_is_there_too() -> None:
    """Weights of classes, which are a block of memory more; and targets are the batch's last."""
    steps = []
    for weights in (None, torch.ones(5)):
        model = nn.Bilinear(3, 4, 5)
        batch = torch.empty(2, 3), torch.empty(2, 4), torch.zeros(2, dtype=torch.int64)
        loss, optimizer = nn.CrossEntropyLoss(weights), torch.optim.SGD(model.parameters())
        steps.append(count_step(model, optimizer, loss, batch))

    assert 512 == steps[1].weight_bytes - steps[0].weight_bytes


def test_a_recurrent_network() -> None:
    """Its weights are known in two places, of which one would keep the old ones, in any model."""

    class Outputs(nn.LSTM):
        def forward(self, texts: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
            outputs: torch.Tensor = super().forward(texts)[0]
            return outputs

    alone = count(Outputs(3, 4, batch_first=True), torch.empty(2, 7, 3))
    behind = nn.Sequential(nn.Identity(), Outputs(3, 4, batch_first=True))

    assert 0 < alone.launches
    assert alone == count(behind, torch.empty(2, 7, 3))


@pytest.mark.parametrize(
    ("operation", "in_place"),
    [
        (torch.ops.aten._fused_adam_.default, True),
        (torch.ops.aten._fused_adam.default, False),
        (torch.ops.aten.add_.Tensor, False),
    ],
)
def test_a_fused_update_changes_weights_in_place(operation: object, in_place: bool) -> None:
    """By the name that PyTorch gives it."""
    assert in_place == changes_in_place(operation)


def test_a_device_by_name() -> None:
    """A model that asks its input for the device, or says "cuda", gets what it wants."""

    class Places(nn.Embedding):
        def forward(self, tokens: torch.Tensor) -> torch.Tensor:
            assert "cuda" == tokens.device.type
            places = torch.arange(tokens.shape[1], device=tokens.device)
            return super().forward(tokens) + super().forward(places) + torch.zeros(1, device="cuda")

    step = count(Places(10, 4), torch.zeros(2, 5, dtype=torch.int64))

    assert 0 < step.bytes


def test_what_is_made_like_another_costs_as_much_on_a_device_by_name() -> None:
    """It is no transfer."""

    class Ones(nn.Linear):
        named = False

        def forward(self, inputs: torch.Tensor) -> torch.Tensor:
            where = {"device": inputs.device} if self.named else {}
            return super().forward(inputs + torch.ones_like(inputs, **where))

    class Named(Ones):
        named = True

    assert count(Ones(6, 2), torch.empty(4, 6)) == count(Named(6, 2), torch.empty(4, 6))


@pytest.mark.parametrize(
    ("read", "what"),
    [
        (torch.Tensor.item, "value"),
        (lambda total: total.tolist(), "values"),
        (lambda total: total.numpy(), "values"),
        (torch.Tensor.cpu, "aten"),
        (torch.Tensor.nonzero, "nonzero"),
        (bool, "value"),
        (lambda total: total[total > 0], "value"),
    ],
)
def test_a_model_that_reads_is_refused(read: Callable[[torch.Tensor], object], what: str) -> None:
    """There is no value to decide by; the reason names what wants one."""

    class Reads(nn.Linear):
        def forward(self, inputs: torch.Tensor) -> torch.Tensor:
            outputs = super().forward(inputs)
            read(outputs.detach().sum())
            return outputs

    with pytest.raises(ReadsValuesError, match=what):
        count(Reads(2, 2), torch.empty(2, 2))
