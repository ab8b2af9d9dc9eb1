"""Exercise 3: what its numbers rest on, and right answers that look different."""

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn.functional import cross_entropy
from torch.utils.checkpoint import checkpoint

from graders.judging import judge
from graders.lab import exercise_3 as checks
from lesson_code.lab.accumulation import UnderAutocast, batches_of, with_dropout
from lesson_code.lab.models import BlockStack, TinyCNN
from lesson_code.lab.simulated_gpu import SimulatedGPU
from lesson_code.models import MNISTClassifier
from lesson_code.saved_tensors import SavedBytes
from tests.graders.kept import kept_answer

SOLUTION: Any = import_module("lesson_code.lab.solution.03_memory_optimization")
CPU = torch.device("cpu")
FOUR = [32] * 4
SMALL = [8] * 4  # a convolution in 16 bits takes some processors seconds


def _loaded(name: str, folder: Path) -> Any:
    """A wrong answer as a module."""
    return kept_answer("lab.exercise_3", name).load(folder)


# The equality of four batches and one.


def test_rounding_where_a_relu_begins_is_not_wrong() -> None:
    """With this seed an input is so near zero that rounding decides what its ReLU lets through."""
    check = checks.equals_one_large_batch.check  # type: ignore[attr-defined]

    assert "passed" == judge(check, SOLUTION, Path(), seed=186098).state


def _gradients(
    make_model: Callable[[], nn.Module], sizes: Sequence[int], dtype: torch.dtype
) -> tuple[torch.Tensor, torch.Tensor]:
    """The gradient that `accumulate` leaves for these micro-batches, and that of all at once."""
    small = batches_of(sizes, dtype)
    whole = [tuple(map(torch.cat, zip(*small, strict=True)))]
    found = []
    for batches in (small, whole):
        torch.manual_seed(0)
        model = make_model().to(dtype)
        still = torch.optim.SGD(model.parameters(), lr=0.0)
        assert 1 == SOLUTION.accumulate(model, batches, still, cross_entropy, len(small))
        found.append(
            torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])
        )
    return found[0], found[1]


def _relative_difference(
    make_model: Callable[[], nn.Module],
    sizes: Sequence[int] = FOUR,
    dtype: torch.dtype = torch.float32,
) -> float:
    found, right = _gradients(make_model, sizes, dtype)
    return ((found - right).norm() / right.norm()).item()


def _half(make_model: Callable[[], nn.Module], dtype: torch.dtype) -> Callable[[], nn.Module]:
    return lambda: UnderAutocast(make_model(), dtype)


def _cnn(norm: Any = "none") -> Callable[[], nn.Module]:
    return lambda: TinyCNN(norm)


@pytest.mark.parametrize(
    ("make_model", "sizes", "dtype", "tolerance"),
    [
        (MNISTClassifier, FOUR, torch.float32, 1e-5),
        (MNISTClassifier, FOUR, torch.float64, 1e-12),
        (_cnn(), FOUR, torch.float32, 1e-5),
        (_cnn("group"), FOUR, torch.float32, 1e-5),
        (_cnn("group"), FOUR, torch.float64, 1e-12),
        (MNISTClassifier, [48, 48, 32], torch.float32, 1e-5),
        (MNISTClassifier, [60, 60, 8], torch.float32, 1e-5),
        (_half(MNISTClassifier, torch.bfloat16), FOUR, torch.float32, 1e-2),
        (_half(MNISTClassifier, torch.float16), FOUR, torch.float32, 1e-2),
        (_half(_cnn(), torch.bfloat16), SMALL, torch.float32, 1e-2),
        (_half(_cnn(), torch.float16), SMALL, torch.float32, 1e-2),
    ],
)
def test_small_batches_equal_a_large_one(
    make_model: Callable[[], nn.Module],
    sizes: Sequence[int],
    dtype: torch.dtype,
    tolerance: float,
) -> None:
    """To the accuracy of the type, however the samples are cut."""
    assert _relative_difference(make_model, sizes, dtype) < tolerance


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_batch_norm_makes_them_unequal(dtype: torch.dtype) -> None:
    """Statistics of 32 samples are not those of 128, in any precision."""
    assert 1e-3 < _relative_difference(_cnn("batch"), dtype=dtype) < 1


def test_batch_norm_counts_each_small_batch() -> None:
    """Running statistics move four times instead of once."""
    model = TinyCNN("batch")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    SOLUTION.accumulate(model, batches_of(FOUR), optimizer, cross_entropy, 4)

    assert isinstance(model.norm1, nn.BatchNorm2d)
    assert 4 == model.norm1.num_batches_tracked


def test_dropout_makes_them_unequal() -> None:
    """Other masks are drawn."""
    assert _relative_difference(with_dropout) > 0.1


def test_accumulation_takes_any_iterable() -> None:
    """A loader has no slices; no batches mean no step."""
    model = MNISTClassifier()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    assert 3 == SOLUTION.accumulate(model, iter(batches_of([4] * 9)), optimizer, cross_entropy, 4)
    assert 0 == SOLUTION.accumulate(model, iter(()), optimizer, cross_entropy, 4)


# What each wrong accumulation does to the weights, as a share of the update, for the three layouts.


@pytest.mark.parametrize(
    ("name", "expected", "steps"),
    [
        ("accumulates_without_the_rest", (0, 0.62, 0.39), (2, 2, 2)),
        ("divides_by_k", (0, 0.31, 0.39), (2, 3, 2)),
        ("divides_by_the_batches_of_the_group", (0, 0, 0.39), (2, 3, 2)),
        ("not_divided", (3.2, 2.8, 3.5), (2, 3, 2)),
        ("cleared_every_batch", (0.83, 0.77, 0.90), (2, 3, 2)),
        ("stepped_every_batch", (1.9, 1.4, 1.8), (8, 10, 8)),
        ("counts_from_the_wrong_end", (0.58, 0.50, 0.58), (2, 3, 2)),
        ("never_cleared", (0.63, 1.1, 0.61), (2, 3, 2)),
    ],
)
def test_how_far_a_wrong_accumulation_ends(
    name: str,
    expected: tuple[float, ...],
    steps: tuple[int, ...],
    tmp_path: Path,
) -> None:
    """The loop that is found everywhere is wrong only where something is left over."""
    answer = _loaded(name, tmp_path)
    found = [
        checks.accumulation_error(answer.accumulate, sizes) for sizes, _ in checks.LAYOUTS.values()
    ]

    assert list(expected) == pytest.approx([error for error, _, _ in found], rel=0.05, abs=1e-5)
    assert list(steps) == [taken for _, taken, _ in found]


def test_the_right_accumulation_ends_where_it_should() -> None:
    """Three layouts, with rounding as the only difference."""
    for sizes, wanted in checks.LAYOUTS.values():
        error, steps, returned = checks.accumulation_error(SOLUTION.accumulate, sizes)

        assert error < checks.ROUNDING
        assert (wanted, wanted) == (steps, returned)


# Memory for each batch size.


@pytest.mark.parametrize(
    ("make_model", "fixed", "per_sample"),
    [
        (TinyCNN, 4, 78_576),
        (_half(TinyCNN, torch.bfloat16), 10_148, 39_312),
    ],
)
def test_memory_is_a_straight_line(
    make_model: Callable[[], nn.Module], fixed: int, per_sample: int
) -> None:
    """16 bits halve what grows with the batch, and add copies of the weights that do not."""
    line = SOLUTION.memory_per_batch(make_model, [32, 64, 128], CPU)
    weights = sum(p.numel() for p in TinyCNN().parameters() if p.dim() > 1)

    assert [fixed + per_sample * n for n in (32, 64, 128)] == [bytes_ for _, bytes_ in line.rows]
    assert (fixed, per_sample) == pytest.approx((line.fixed_bytes, line.per_sample_bytes))
    assert (5_072, 10_148) == (weights, 2 * weights + 4)


# The search.


@pytest.mark.parametrize(("fits", "calls"), [(1, 2), (37, 12), (64, 14), (100, 14), (1000, 20)])
def test_the_search_is_short(fits: int, calls: int) -> None:
    """Doubling and halving need two calls for each power of two."""
    gpu = SimulatedGPU(fits)

    assert fits == SOLUTION.largest_batch(gpu)
    assert calls == len(gpu.tried)


# Checkpointing.


@pytest.mark.parametrize(
    ("name", "saved", "events"),
    [
        (None, 65_536, "f0 f1 f2 f3 b3 f3 b2 f2 b1 f1 b0 f0"),
        ("wraps_the_result", 851_968, "f0 f1 f2 f3 b3 b2 b1 b0"),
        ("one_checkpoint_for_all", 8_192, "f0 f1 f2 f3 b3 f0 f1 f2 f3 b2 b1 b0"),
        ("leaves_out_the_last_block", 163_840, "f0 f1 f2 f3 b3 b2 f2 b1 f1 b0 f0"),
    ],
)
def test_what_checkpoints_save_and_in_which_order_they_run(
    name: str | None,
    saved: int,
    events: str,
    tmp_path: Path,
) -> None:
    """Bytes of eight blocks, and the order of events in four; all of them give right gradients."""
    answer = _loaded(name, tmp_path) if name else SOLUTION
    plain = checks.run_blocks(SOLUTION.plain_forward)
    found = checks.run_blocks(answer.checkpointed_forward)

    assert 851_968 == plain.saved
    assert saved == found.saved
    assert events == " ".join(checks.run_blocks(answer.checkpointed_forward, depth=4).events)
    assert all(map(torch.equal, plain.gradients, found.gradients))  # bit for bit, with dropout


@pytest.mark.parametrize(("device", "inputs"), [("cpu", 13), ("cuda", 10)])
def test_what_a_block_with_dropout_keeps(device: str, inputs: int) -> None:
    """Its input and three hidden tensors; on a GPU one of these, dropout's mask, is bool."""
    with FakeTensorMode(), torch.device(device):
        blocks, x = BlockStack(8, 64, dropout=0.1).blocks, torch.empty(32, 64)
        meter = SavedBytes(blocks)
        with meter:
            output = blocks(x)
        assert inputs * 8 * x.nbytes == meter.total()

    assert device == output.device.type


def test_without_the_random_state_gradients_are_others(tmp_path: Path) -> None:
    """The second run draws other masks, and nothing says so."""
    answer = _loaded("other_dropout", tmp_path)
    plain = checks.run_blocks(SOLUTION.plain_forward)
    found = checks.run_blocks(answer.checkpointed_forward)

    assert torch.equal(plain.output, found.output)
    assert not torch.equal(plain.gradients[0], found.gradients[0])


def test_a_checkpoint_around_a_result_only_adds_to_what_is_saved() -> None:
    """Everything that the plain pass saves, and the output, where a loss looks at it."""
    blocks = BlockStack(8, 64, dropout=0.1).blocks
    x = torch.randn(32, 64)
    meter = SavedBytes(blocks)
    with meter:
        for block in blocks:
            x = checkpoint(lambda t: t, block(x), use_reentrant=False)
        loss = x.square().sum()

    assert 860_160 == meter.total()
    assert loss.requires_grad


def test_the_reentrant_form_needs_an_input_that_requires_grad() -> None:
    """Without one it warns, and the block gets no gradient."""
    block = nn.Linear(4, 4)
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        output = checkpoint(block, torch.ones(2, 4), use_reentrant=True)

    assert not output.requires_grad
    assert checkpoint(block, torch.ones(2, 4), use_reentrant=False).requires_grad


def test_batch_norm_is_updated_twice_under_checkpointing() -> None:
    """The second run of a block moves its running statistics again."""
    counts = []
    for forward in (SOLUTION.plain_forward, SOLUTION.checkpointed_forward):
        norm = nn.BatchNorm1d(4)
        forward(
            nn.Sequential(nn.Sequential(norm, nn.Linear(4, 4))), torch.randn(8, 4)
        ).sum().backward()
        counts.append(int(norm.num_batches_tracked))

    assert [1, 2] == counts


# Losses.


def test_a_storage_that_is_saved_twice_takes_room_once() -> None:
    """Each save counted singly gives almost twice what kept losses hold."""
    model, kept = checks.small_model(), []
    weights = {p.data_ptr() for p in model.parameters()}
    meter, singly = SavedBytes(model), 0

    def count(tensor: torch.Tensor) -> torch.Tensor:
        nonlocal singly
        singly += 0 if tensor.data_ptr() in weights else tensor.nbytes
        return tensor

    for x, y in checks.small_batches():
        with meter:
            kept.append(cross_entropy(model(x), y))
        with torch.autograd.graph.saved_tensors_hooks(count, lambda tensor: tensor):
            cross_entropy(model(x), y)

    assert 850_000 == meter.total()
    assert 1_530_960 == singly


@pytest.mark.parametrize("train", [True, False])
def test_the_solution_holds_nothing(train: bool) -> None:
    """Floats, and no graph."""
    model = checks.small_model()
    meter = SavedBytes(model)
    with meter:
        losses = SOLUTION.collect_losses(model, checks.small_batches(), cross_entropy, train)

    assert 0 == meter.total()
    assert {float} == {type(loss) for loss in losses}


# Right answers that look different.


def test_the_report_says_what_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    """Every part of it has its line, and what is returned says the same."""
    found = SOLUTION.print_report()
    printed = capsys.readouterr().out

    assert {"fixed": 4, "per_sample": 78_576} == found["memory"]["float32"]
    assert {"fixed": 10_148, "per_sample": 39_312} == found["memory"]["bfloat16"]
    assert (230, 64) == (found["batch"]["largest"], found["batch"]["best"])
    assert "4 x 32 equals 128: max difference below 0.000001" in printed
    assert "saved bytes 851,968 -> 65,536 (13.0 x)" in printed
    assert "forward runs 1 -> 2, gradients identical" in printed
    assert {"training": 0, "evaluation": 0} == found["losses"]


def test_the_report_shows_a_difference(capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong accumulation is not called equal."""
    right = SOLUTION.accumulate

    def wrong(*arguments: Any) -> int:
        return 0 if arguments[-1] == 4 else int(right(*arguments))

    with patch.object(SOLUTION, "accumulate", wrong):
        SOLUTION._report_accumulation(CPU)

    assert "4 x 32 differs from 128: max difference 0.0" in capsys.readouterr().out


def test_the_plain_loop_steps_after_each_batch() -> None:
    """What the starter gives is right, and different from accumulation."""
    model = MNISTClassifier()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    assert 3 == SOLUTION.train_plainly(model, batches_of([4] * 3), optimizer, cross_entropy)
