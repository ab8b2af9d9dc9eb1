"""The groups of autocast's operations are what the page shows, in the installed PyTorch."""

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from lesson_code.lab import autocast_table
from lesson_code.lab.autocast_table import (
    CAST_TO_16,
    CAST_TO_32,
    CHANGED_IN_2_12,
    EXPECTED,
    KEEPS,
    NEED_A_CUDA_BUILD,
    NOT_ELIGIBLE,
    PROBES,
    PROMOTING,
    REFUSED,
    WIDEST,
    CannotAskError,
    Probe,
    expected_groups,
    group_of,
    result_type,
)

VERSION = tuple(int(part) for part in torch.__version__.split(".")[:2])


@pytest.mark.parametrize("name", PROBES)
def test_an_operation_is_in_the_group_where_it_was_seen(name: str) -> None:
    """On CUDA and on the CPU; another group means that this release changed a list."""
    before = name in CHANGED_IN_2_12 and VERSION < (2, 12)
    expected = (KEEPS, KEEPS) if before else expected_groups(name)

    try:
        found = group_of(name, "cuda"), group_of(name, "cpu")
    except CannotAskError as reason:
        pytest.skip(str(reason))

    assert expected == found


def test_each_operation_is_expected_in_one_group() -> None:
    """What is tried is what is listed, nothing twice."""
    listed = [name for names in EXPECTED.values() for name in names.split()]

    assert sorted(PROBES) == sorted(listed)


@pytest.mark.parametrize(
    ("group", "names"),
    {
        CAST_TO_16: "matmul linear conv2d prelu lstm_cell scaled_dot_product_attention",
        CAST_TO_32: "exp pow rsqrt sum prod softmax layer_norm group_norm cross_entropy",
        WIDEST: "addcdiv addcmul dot grid_sample index_put scatter_add tensordot",
        KEEPS: "+ * relu gelu sigmoid sqrt mean max var batch_norm cat embedding dropout",
        REFUSED: "binary_cross_entropy",
        NOT_ELIGIBLE: "x.addmm_(y,z) mm(out=) sum(dtype=)",
    }.items(),
)
def test_what_is_often_got_wrong_stands_in_the_right_group(group: str, names: str) -> None:
    """Mean is no sum, batch norm is no layer norm, and most element-wise ones are unlisted."""
    assert dict.fromkeys(names.split(), group) == {
        name: expected_groups(name)[0] for name in names.split()
    }


def test_the_cpu_has_another_list() -> None:
    """Softmax, layer norm, exp, sum and norm keep 16 bit there; the refused loss is float32."""
    assert {KEEPS} == {
        expected_groups(name)[1] for name in ("softmax", "layer_norm", "exp", "sum", "norm")
    }
    assert (REFUSED, CAST_TO_32) == expected_groups("binary_cross_entropy")


@pytest.mark.parametrize("name", PROMOTING)
def test_plain_arithmetic_takes_the_wider_type_of_two(name: str) -> None:
    """16 bit and float32 make float32, though it is on no list."""
    assert torch.float32 == result_type(PROBES[name], "cuda", [torch.float16, torch.float32])


@pytest.mark.parametrize("dtype", [torch.float64, torch.int64])
def test_other_types_are_left_alone(dtype: torch.dtype) -> None:
    """A product of float64 or of whole numbers stays what it is."""
    assert dtype == result_type(PROBES["matmul"], "cuda", [dtype, dtype])


@pytest.mark.parametrize("name", ["+", "-", "*", "/"])
def test_a_number_without_dimensions_widens_nothing(name: str) -> None:
    """A learned scale of one number leaves 16 bit 16 bit."""
    probe = Probe(PROBES[name].call, ((4, 4), ()))

    assert torch.float16 == result_type(probe, "cuda", [torch.float16, torch.float32])


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_a_float16_mean_adds_up_in_more_than_float16(device: str) -> None:
    """The sum of so many ones is above float16's largest number, and their mean is one."""
    ones = torch.ones(100_000, dtype=torch.float16, device=device)

    assert torch.tensor(float(len(ones))).half().isinf()
    assert (1.0, torch.float16) == (ones.mean().item(), ones.mean().dtype)


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_a_float16_batch_norm_has_float32_statistics(device: str) -> None:
    """Images whose variance float16 cannot hold come out with a variance of one."""
    images = 1000 * torch.randn(64, 1, 8, 8, device=device)
    layer = torch.nn.BatchNorm2d(1, momentum=1.0).to(device)

    out = layer(images.half())

    assert torch.float16 == out.dtype
    assert pytest.approx(1, rel=0.01) == out.float().std().item()
    assert layer.running_var is not None
    assert torch.finfo(torch.float16).max < layer.running_var.item()


def test_an_embedding_is_as_wide_as_its_table() -> None:
    """A float32 table gives float32, within autocast too."""
    assert torch.float32 == result_type(PROBES["embedding"], "cuda", [torch.float32])


def test_the_private_module_is_where_this_release_has_it() -> None:
    """Fake tensors come from a module that PyTorch may move."""
    assert "torch._subclasses.fake_tensor" == FakeTensorMode.__module__
    assert FakeTensorMode is vars(autocast_table)["FakeTensorMode"]


@pytest.mark.parametrize("device", ["cuda", "cpu"])
def test_autocast_is_off_again_afterwards(device: str) -> None:
    """After an operation that fails as well."""
    before = torch.is_autocast_enabled(device), torch.get_autocast_dtype(device)

    with pytest.raises(ZeroDivisionError):
        result_type(Probe(lambda: 1 / 0, ()), device, [])  # type: ignore[arg-type, return-value]

    assert before == (torch.is_autocast_enabled(device), torch.get_autocast_dtype(device))


def test_an_error_of_another_kind_is_not_taken_for_a_group(monkeypatch: pytest.MonkeyPatch) -> None:
    """A probe that is wrong says so."""

    def wrong(*_inputs: torch.Tensor) -> torch.Tensor:
        raise RuntimeError("these shapes don't fit")

    monkeypatch.setitem(PROBES, "matmul", Probe(wrong, PROBES["matmul"].shapes))

    with pytest.raises(RuntimeError, match="these shapes don't fit"):
        group_of("matmul", "cuda")


def test_what_a_build_cannot_run_is_printed_from_the_record_with_a_mark(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As if this build had no CUDA: a reason is given, and the table stays the same."""
    autocast_table.print_table()
    here = capsys.readouterr().out

    def no_cuda(*_inputs: torch.Tensor) -> torch.Tensor:
        raise AssertionError("Torch not compiled with CUDA enabled")

    for name in NEED_A_CUDA_BUILD:
        monkeypatch.setitem(PROBES, name, Probe(no_cuda, PROBES[name].shapes))
    with pytest.raises(CannotAskError, match=r"batch_norm cannot run .* not compiled with CUDA"):
        group_of("batch_norm", "cuda")
    autocast_table.print_table()

    assert here == capsys.readouterr().out
    assert all(f"{name}*" in here for name in NEED_A_CUDA_BUILD)


def test_a_changed_list_is_printed_as_a_group_of_its_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As if a release cast the mean to 16 bit on CUDA."""
    monkeypatch.setitem(PROBES, "mean", PROBES["matmul"])

    autocast_table.print_table()

    first_group = capsys.readouterr().out.split("On CUDA: cast to float32")[0]
    assert "mean" in first_group.split()
