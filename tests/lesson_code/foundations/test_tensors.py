"""Shape, dtype and device: what fits, what is refused, and in which words."""

import math
import warnings
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn import functional

from lesson_code.foundations import tensors

META = torch.device("meta")
GPU = torch.device("cuda:0")
pretends = pytest.mark.skipif(
    torch.version.cuda is None, reason="this PyTorch was built without CUDA: it can't pretend"
)


def printed(print_something: Callable[[], object], capsys: pytest.CaptureFixture[str]) -> str:
    """What a function prints."""
    print_something()
    return capsys.readouterr().out


def test_unflattened_images_are_taken_for_1792_examples() -> None:
    """A linear layer multiplies the last dimension, and reports 64 x 1 x 28 rows."""
    with pytest.raises(RuntimeError, match=r"shapes cannot be multiplied \(1792x28 and 784x128\)"):
        tensors.first_surprise()


def test_the_first_surprise_prints_the_line_and_the_message(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The line that fails, then the type and the part of the message that all releases share."""
    lines = printed(tensors.print_first_surprise, capsys).splitlines()

    assert "layer(images)" == lines[0]
    assert lines[1].strip().startswith("RuntimeError: mat1 and mat2 shapes cannot be multiplied")


def test_metadata_and_flattened_shape(capsys: pytest.CaptureFixture[str]) -> None:
    """Float images, integer labels, no gradients asked for, and 64 rows of 784."""
    images, labels, rows = printed(tensors.print_metadata, capsys).splitlines()

    assert "images (64, 1, 28, 28) torch.float32 cpu tensor.requires_grad=False" == images
    assert "labels (64,) torch.int64 cpu tensor.requires_grad=False" == labels
    assert "rows (64, 784)" == rows


def test_a_flatten_that_loses_the_batch_works_for_one_image_only() -> None:
    """784 numbers fit the layer, 50,176 do not, and keeping the batch does."""
    results = [tensors.result_of(attempt) for attempt in tensors.flattenings().values()]

    assert "shape (10,)" == results[0]
    assert "1x50176 and 784x10" in results[1]
    assert "shape (64, 10)" == results[2]


@pytest.mark.parametrize(
    "images",
    [
        torch.rand(64, 28, 28, 3).permute(0, 3, 1, 2),
        torch.rand(64, 3, 28, 28).to(memory_format=torch.channels_last),
    ],
    ids=["permuted", "channels_last"],
)
def test_flatten_works_where_view_fails(images: torch.Tensor) -> None:
    """`view` needs neighbours in memory; `flatten`, `reshape` and the layer copy if they must."""
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        images.view(64, -1)

    for rows in (images.flatten(start_dim=1), images.reshape(64, -1), nn.Flatten()(images)):
        assert (64, 2352) == tuple(rows.shape)


def test_the_printed_flattenings_show_the_failing_view(capsys: pytest.CaptureFixture[str]) -> None:
    """The permuted batch fails in `view` and passes in `flatten`."""
    output = " ".join(printed(tensors.print_flattenings, capsys).split())

    assert "permuted.view(64, -1) RuntimeError: view size is not compatible" in output
    assert "permuted.flatten(start_dim=1) shape (64, 2352)" in output


def test_conv3d_wants_channels_before_frames() -> None:
    """A clip batch with the frames first is refused, and permuted it passes."""
    clips = torch.rand(2, 8, 3, 16, 16)
    layer = nn.Conv3d(3, 4, kernel_size=2)

    with pytest.raises(RuntimeError, match="to have 3 channels, but got 8 channels"):
        layer(clips)
    assert (2, 4, 7, 15, 15) == tuple(layer(clips.permute(0, 2, 1, 3, 4)).shape)


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_backward_takes_one_element_of_any_rank(shape: tuple[int, ...]) -> None:
    """Its gradient is 1, as a scalar's is."""
    x = torch.ones(shape, requires_grad=True)

    (2 * x).backward()

    assert x.grad is not None
    assert 2.0 == x.grad.item()


def test_view_takes_pixels_that_are_evenly_spaced() -> None:
    """Every second column is, and every second one of every second row is not."""
    images = torch.rand(64, 1, 28, 28)

    assert (64, 392) == tuple(images[..., ::2].view(64, -1).shape)
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        images[..., ::2, ::2].view(64, -1)


def test_backward_needs_one_element_or_a_gradient() -> None:
    """A vector of two fails alone, and passes with a gradient of its shape."""
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        (2 * x).backward()

    (2 * x).backward(torch.ones(2))

    assert x.grad is not None
    assert [2.0, 2.0] == x.grad.tolist()


def kept_by(make: Callable[[], torch.Tensor]) -> dict[int, int]:
    """The bytes of each memory that the operations of ``make`` keep for `backward`."""
    kept = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        memory = tensor.untyped_storage()
        kept[memory.data_ptr()] = memory.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        made = make()
    assert made.requires_grad
    return kept


def test_a_product_keeps_its_factors_and_a_sum_nothing() -> None:
    """The derivative of a product needs both factors."""
    x = torch.ones(3, requires_grad=True)
    y = x + 1

    assert {} == kept_by(x.sum)
    assert {x.data_ptr(), y.data_ptr()} == set(kept_by(lambda: x * y))


def test_a_frozen_convolution_keeps_an_input_that_nothing_needs() -> None:
    """Only the weight's gradient would; a frozen linear layer keeps the weight alone."""
    images, rows = torch.ones(2, 3, 8, 8, requires_grad=True), torch.ones(3, 4, requires_grad=True)
    convolution, linear = nn.Conv2d(3, 8, 3).requires_grad_(False), nn.Linear(4, 5)
    linear.requires_grad_(False)

    assert images.data_ptr() in kept_by(lambda: convolution(images))
    assert rows.data_ptr() not in kept_by(lambda: linear(rows))


def test_a_formula_written_out_keeps_more_than_its_function() -> None:
    """GELU in single operations keeps four times what `gelu` does, and by hand one would do."""
    x = torch.randn(1000, requires_grad=True)
    root = math.sqrt(2 / math.pi)

    function = kept_by(lambda: functional.gelu(x, approximate="tanh"))
    written_out = kept_by(lambda: 0.5 * x * (1 + torch.tanh(root * (x + 0.044715 * x**3))))

    assert [4000] == list(function.values())
    assert 16_000 == sum(written_out.values())


def test_who_shares_memory_with_numpy(capsys: pytest.CaptureFixture[str]) -> None:
    """`from_numpy` and `as_tensor` see each change, both ways; `tensor` has copied."""
    lines = printed(tensors.print_sharing, capsys).splitlines()

    assert lines[0].endswith("from_numpy [99.0, 2.0, 3.0]")
    assert lines[1].endswith("from_numpy [99.0, -5.0, 3.0]  tensor [99.0, 2.0, 3.0]")
    assert lines[2].endswith("array      [99.0, -5.0, 7.0]")
    assert lines[3].endswith("as_tensor  [1.0, -5.0, 7.0]")


def test_an_array_that_runs_backwards_is_refused() -> None:
    """A tensor has no negative strides."""
    with pytest.raises(ValueError, match=r"stride in .* is negative"):
        torch.from_numpy(np.arange(3.0)[::-1])


@pytest.fixture
def warn_always() -> Iterator[None]:
    """PyTorch warns each time, and not once a process only."""
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    yield
    torch.set_warn_always(before)


def test_a_read_only_array_is_taken_with_a_warning(warn_always: None) -> None:
    """Nothing keeps you from writing to it through the tensor."""
    array = np.arange(3.0)
    array.flags.writeable = False

    with pytest.warns(UserWarning, match="not writable"):
        tensor = torch.from_numpy(array)

    assert [0.0, 1.0, 2.0] == tensor.tolist()


def test_which_labels_cross_entropy_takes() -> None:
    """int64, uint8 and one-hot floats give one loss; the others are refused, each in its words."""
    results = {code: tensors.result_of(run) for code, run in tensors.label_attempts().items()}

    assert results["labels"] == results["labels.byte()"] == results["one_hot.float()"]
    assert results["labels.int()"] == results["labels.float()"] == "RuntimeError: expected …"
    assert "RuntimeError: Expected floating point type for target" in results["one_hot"]


def test_one_hot_floats_give_the_loss_of_the_indices() -> None:
    """Within 1e-6: a one-hot row is a distribution that is certain."""
    attempts = tensors.label_attempts()

    difference = attempts["labels"]() - attempts["one_hot.float()"]()

    assert abs(difference.item()) <= 1e-6


@pytest.mark.parametrize("dtype", [torch.int32, torch.int16, torch.float32])
def test_refused_labels_are_named_in_the_message(dtype: torch.dtype) -> None:
    """PyTorch 2.11 finds a type, and 2.15 got one; both say which, and that Long was wanted."""
    name = {torch.int32: "Int", torch.int16: "Short", torch.float32: "Float"}[dtype]

    with pytest.raises(
        RuntimeError, match=f"(Long or Byte, but got|scalar type Long but found) {name}"
    ):
        functional.cross_entropy(torch.zeros(4, 3), torch.tensor([0, 2, 1, 2], dtype=dtype))


@pytest.mark.parametrize("shape", [(2, 5), (2, 4, 4)], ids=["tokens", "pixels"])
def test_a_label_for_every_place_has_to_be_int64(shape: tuple[int, ...]) -> None:
    """The bytes of a mask are refused there; as int64 they pass."""
    logits = torch.zeros(shape[0], 3, *shape[1:])
    mask = torch.ones(shape, dtype=torch.uint8)

    with pytest.raises(RuntimeError, match=r"Long.*Byte"):
        functional.cross_entropy(logits, mask)
    assert functional.cross_entropy(logits, mask.long()) > 0


def test_indexing_and_embedding_take_int32() -> None:
    """Only the loss is as strict as that."""
    indices = torch.tensor([0, 2], dtype=torch.int32)

    assert [0.0, 2.0] == torch.arange(3.0)[indices].tolist()
    assert (2, 5) == tuple(nn.Embedding(3, 5)(indices).shape)


def test_take_along_dim_takes_int64_alone() -> None:
    """It is an index too, and int32 is refused."""
    indices = torch.tensor([[0], [1]])

    assert (2, 1) == tuple(torch.rand(2, 3).take_along_dim(indices, 1).shape)
    with pytest.raises(RuntimeError, match=r"Long.*Int"):
        torch.rand(2, 3).take_along_dim(indices.int(), 1)


@pytest.mark.parametrize("dtype", [torch.int32, torch.uint8, torch.float32])
def test_one_hot_takes_int64_alone(dtype: torch.dtype) -> None:
    """Even the bytes that the loss reads are refused, and what it gives is int64 again."""
    assert torch.int64 == functional.one_hot(torch.tensor([0, 2])).dtype
    with pytest.raises(RuntimeError, match="LongTensor"):
        functional.one_hot(torch.tensor([0, 2], dtype=dtype))


def test_what_a_float32_layer_takes() -> None:
    """Bytes and doubles are refused until they are floats; integers may not ask for gradients."""
    results = [tensors.result_of(attempt) for attempt in tensors.input_attempts().values()]

    assert results[0].endswith("same dtype, but got Byte and Float")
    assert "shape (64, 10)" == results[1]
    assert results[2].endswith("same dtype, but got Double and Float")
    assert "shape (64, 10)" == results[3]
    assert results[4].endswith("only Tensors of floating point dtype can require gradients")


@pytest.mark.parametrize(
    "print_attempts", [tensors.print_label_attempts, tensors.print_input_attempts]
)
def test_attempts_are_printed_under_their_code(
    capsys: pytest.CaptureFixture[str], print_attempts: Callable[[], None]
) -> None:
    """Code at the margin, its result indented, nothing wider than 80 columns."""
    lines = printed(print_attempts, capsys).splitlines()

    assert not lines[0].startswith(" ")
    assert lines[1].startswith("    ")
    assert max(len(line) for line in lines) <= 80


def test_the_formats_are_those_of_pytorch(capsys: pytest.CaptureFixture[str]) -> None:
    """bfloat16 has float32's range, and steps that are eight times those of float16."""
    rows = [line.split() for line in printed(tensors.print_formats, capsys).splitlines()[1:]]

    assert ["float16", "2", "6.1e-05", "65504", "0.00098"] == rows[0]
    assert ["bfloat16", "2", "1.2e-38", "3.3895e+38", "0.0078"] == rows[1]
    assert rows[1][2] == rows[2][2]
    assert 8 == torch.finfo(torch.bfloat16).eps / torch.finfo(torch.float16).eps


def test_tensors_made_on_a_device_meet_there(capsys: pytest.CaptureFixture[str]) -> None:
    """The product of (32, 128) and (128, 10), and the device that was chosen."""
    expected = "(32, 10) cuda:0" if torch.cuda.is_available() else "(32, 10) cpu"

    assert expected == printed(tensors.print_on_device, capsys).strip()


def test_the_accelerator_is_none_where_there_is_none() -> None:
    """The vendor-neutral question, asked of the machine and not of the build."""
    found = torch.accelerator.current_accelerator(check_available=True)

    assert (found is not None) == torch.accelerator.is_available()


@pytest.mark.parametrize(
    ("code", "works"),
    [
        ("FreshOffset().to(device)(there)", False),
        ("MatchingOffset().to(device)(there)", True),
        ("OffsetInBuffer().to(device)(there)", True),
        ("model(x)", False),
        ("model(there)", True),
        ("cross_entropy(model(there), labels)", False),
        ("there * torch.tensor(2.0)", True),
    ],
)
def test_which_tensors_may_meet(code: str, works: bool) -> None:
    """On the meta device: strangers are refused, followers and bare numbers are not."""
    result = tensors.result_of(tensors.device_attempts(META)[code])

    if works:
        assert result.startswith("shape (3, ")
    else:
        assert result.startswith("RuntimeError")
        assert "device" in result


def test_on_a_cpu_nothing_is_refused() -> None:
    """All seven meetings work there, which is why the fault travels unseen."""
    results = [
        tensors.result_of(run) for run in tensors.device_attempts(torch.device("cpu")).values()
    ]

    assert 7 == len(results)
    assert not [result for result in results if "Error" in result]


def test_the_printed_meetings_name_their_device(capsys: pytest.CaptureFixture[str]) -> None:
    """A GPU if there is one, and else the meta device."""
    first = printed(tensors.print_device_attempts, capsys).splitlines()[0]

    assert ("device: cuda:0" if torch.cuda.is_available() else "device: meta") == first


@pytest.mark.gpu
def test_a_gpu_refuses_the_same_meetings() -> None:
    """Three of the seven, in the words that the lesson quotes."""
    attempts = tensors.device_attempts(torch.device("cuda:0"))

    refused = [result for run in attempts.values() if "Error" in (result := tensors.result_of(run))]

    assert 3 == len(refused)
    assert all("Expected all tensors to be on the same device" in result for result in refused)


def test_meta_lets_some_meetings_pass(capsys: pytest.CaptureFixture[str]) -> None:
    """A convolution, an embedding and a product mix with the CPU there, and two answer from it."""
    lines = printed(tensors.print_unnoticed, capsys).splitlines()

    assert ["cpu", "meta", "cpu"] == [line.split()[-1] for line in lines]
    assert "shape (2, 4, 6, 6)" in lines[0]


@pytest.mark.parametrize(
    "layer", [nn.Conv1d, nn.Conv3d, nn.ConvTranspose2d], ids=lambda layer: layer.__name__
)
def test_meta_lets_every_convolution_pass(layer: type[nn.Conv2d]) -> None:
    """Whatever its dimensions."""
    dimensions = int(layer.__name__[-2])
    images = torch.ones(2, 1, *[4] * dimensions)

    assert "cpu" == layer(1, 2, 1, device="meta")(images).device.type


def test_whether_meta_refuses_a_linear_layer_depends_on_its_bias() -> None:
    """The product passes and the bias is refused, so without a bias nothing is noticed."""
    rows = torch.rand(3, 4)

    with pytest.raises(RuntimeError, match="device"):
        nn.Linear(4, 2, device="meta")(rows)
    assert (3, 2) == tuple(nn.Linear(4, 2, bias=False, device="meta")(rows).shape)


@pytest.mark.parametrize(
    "refused",
    [
        lambda rows: rows + torch.ones(4, device="meta"),
        nn.LayerNorm(4, device="meta"),
        nn.BatchNorm1d(4, device="meta"),
        lambda rows: functional.cross_entropy(rows.to("meta"), torch.tensor([0, 1, 2])),
        lambda rows: functional.mse_loss(rows.to("meta"), rows),
    ],
    ids=["sum", "layer norm", "batch norm", "cross-entropy", "mse"],
)
def test_meta_refuses_sums_norms_and_losses(
    refused: Callable[[torch.Tensor], torch.Tensor],
) -> None:
    """These notice a tensor that was left on the CPU."""
    with pytest.raises(RuntimeError, match="device"):
        refused(torch.rand(3, 4))


@pretends
@pytest.mark.parametrize("code", ["embedding(words)", "rows @ weights"])
def test_a_fake_gpu_refuses_what_meta_lets_pass(code: str) -> None:
    """PyTorch's own stand-in for a GPU knows the devices of both."""
    with FakeTensorMode():
        meeting = tensors.unnoticed_meetings(GPU)[code]

        with pytest.raises(RuntimeError, match=r"(?=.*cuda:0)(?=.*cpu).*devices"):
            meeting()


@pytest.mark.gpu
@pytest.mark.parametrize("code", ["convolution(images)", "embedding(words)", "rows @ weights"])
def test_a_gpu_refuses_what_meta_lets_pass(code: str) -> None:
    """All three raise there."""
    with pytest.raises(RuntimeError):
        tensors.unnoticed_meetings(GPU)[code]()


@pretends
@pytest.mark.filterwarnings("ignore:.*data pointer")
@pytest.mark.parametrize("layer", [nn.RNN, nn.LSTM, nn.GRU])
def test_recurrent_layers_have_words_of_their_own(layer: type[nn.LSTM]) -> None:
    """They check their devices before any kernel does, and name both."""
    with FakeTensorMode():
        moved = layer(8, 4, device="cuda:0")

        with pytest.raises(RuntimeError, match=r"are not at the same device,.* cpu .* cuda:0"):
            moved(torch.ones(3, 2, 8))


@pretends
def test_attention_has_words_of_its_own() -> None:
    """Query, key and value are named, each with its device."""
    with FakeTensorMode():
        there = torch.ones(1, 2, 3, 4, device="cuda:0")

        with pytest.raises(RuntimeError, match="Expected query, key, and value to have the same"):
            functional.scaled_dot_product_attention(torch.ones(1, 2, 3, 4), there, there)


def test_a_convolution_names_two_types() -> None:
    """The check that a GPU fails compares types; a weight laid out for MKL-DNN fails it here."""
    weight = torch.ones(2, 1, 3, 3).to_mkldnn()

    with pytest.raises(RuntimeError, match=r"Input type \(.+\) and weight type \(.+\) should be"):
        functional.conv2d(torch.ones(2, 1, 8, 8), weight)


@pytest.mark.gpu
def test_a_convolution_on_a_gpu_names_two_types() -> None:
    """On hardware the second type says where the weight is."""
    with pytest.raises(RuntimeError, match=r"Input type \(.+\) and weight type \(.+\) should be"):
        nn.Conv2d(1, 2, 3, device="cuda")(torch.ones(2, 1, 8, 8))


def test_zeros_inherit_the_dtype_wanted_or_not(capsys: pytest.CaptureFixture[str]) -> None:
    """`zeros_like` and `new_zeros` follow half and integer; a named device alone stays float32."""
    first, _, _, *rows = printed(tensors.print_zeros_like, capsys).splitlines()

    assert "(8, 16) torch.float32 cpu zeros.requires_grad=False" == first
    for row in rows:
        like, zeros_like, new_zeros, placed = row.split()
        assert like == zeros_like == new_zeros
        assert "torch.float32" == placed
    assert ["torch.float32", "torch.float16", "torch.int64"] == [row.split()[0] for row in rows]


def test_what_to_returns(capsys: pytest.CaptureFixture[str]) -> None:
    """A tensor gives another one if something changes; a model gives itself, and its parameters."""
    lines = printed(tensors.print_moving, capsys).splitlines()

    assert ["False", "True", "True"] == [line.split()[-1] for line in lines[:3]]
    assert lines[3].endswith("True, now torch.float64")


def test_an_optimizer_made_before_a_move_still_trains_the_model() -> None:
    """After a change of dtype, its step moves the weights that the model uses."""
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.to(torch.float64)
    before = model.weight.detach().clone()

    model(torch.rand(3, 4, dtype=torch.float64)).sum().backward()
    optimizer.step()

    assert not torch.equal(before, model.weight)


def test_a_move_to_meta_makes_new_parameters() -> None:
    """There an optimizer that was made first holds tensors that the model no longer has."""
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    model.to("meta")

    held = optimizer.param_groups[0]["params"]
    assert not any(ours is theirs for ours, theirs in zip(model.parameters(), held, strict=True))
    assert {"cpu"} == {tensor.device.type for tensor in held}


def test_no_sample_warns() -> None:
    """What the pages show runs without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for attempts in (tensors.flattenings(), tensors.label_attempts(), tensors.input_attempts()):
            for attempt in attempts.values():
                tensors.result_of(attempt)
