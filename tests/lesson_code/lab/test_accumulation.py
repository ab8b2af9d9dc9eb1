"""Which micro-batches add up to one batch, which do not, and what the common loop loses."""

import contextlib
import io
from dataclasses import dataclass

import pytest
import torch
from torch import nn
from torch.nn.utils import parameters_to_vector

from lesson_code.foundations.autograd import train_in_groups
from lesson_code.lab.accumulation import (
    LAYOUTS,
    ROWS,
    Batch,
    Row,
    batches_of,
    by_examples,
    by_what_counts,
    classifier,
    compare_updates,
    difference,
    one_update,
    print_equality,
    print_left_over,
    print_what_counts,
)
from tests.printed import printed

ALL_ROWS = {name: row for rows in ROWS.values() for name, row in rows.items()}
OF_THE_PAGE = "CNN, float16"  # a CPU is slow at it; tests/recorded computes it again
# Relative differences of the rows that are not equal, as the lab states them
NOT_EQUAL = {
    "CNN, BatchNorm": 0.035,
    "CNN, BatchNorm, float64": 0.035,
    "MLP, dropout": 0.93,
    "48, 48, 32, each times 1/3": 0.18,
    "60, 60, 8, each times 1/3": 1.10,
    "four of 32, not divided": 3.00,
    "four of 32, cleared each time": 0.84,
}


@dataclass(frozen=True)
class Table:
    """What the equality table prints, and the differences that it returns."""

    text: str
    data: dict[str, dict[str, float]]

    def verdict(self, name: str) -> str:
        """The sign at the beginning of a row's line."""
        [line] = [line for line in self.text.splitlines() if line[13:] == name]
        return line.split()[0]


@pytest.fixture(scope="module")
def table() -> Table:
    """The equality table, computed once, but for a row that takes longer than all others."""
    page, said = printed("lab/accumulation:print_equality"), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(said):
        patch.delitem(ROWS["four of 32, by share"], OF_THE_PAGE)
        data = print_equality()
    [row] = [line for line in page.text.splitlines() if line[13:] == OF_THE_PAGE]
    return Table(f"{said.getvalue()}{row}\n", {**data, OF_THE_PAGE: page.data[OF_THE_PAGE]})


def test_the_table_has_its_rows() -> None:
    """Linear layers, three norms, dropout, two 16-bit formats, and six ways to cut and weight."""
    assert 12 == len(ROWS["four of 32, by share"])
    assert 6 == len(ROWS["the MLP, cut otherwise"])
    assert {128} == {sum(row.sizes) for row in ALL_ROWS.values()}


@pytest.mark.parametrize("name", sorted(ALL_ROWS.keys() - NOT_EQUAL.keys()))
def test_equal_rows_differ_by_rounding(name: str, table: Table) -> None:
    """Within 1e-5 in float32, 1e-12 in float64 and 1e-2 in 16 bits."""
    bounds = {torch.float32: 1e-5, torch.float64: 1e-12}

    assert table.data[name]["relative"] <= bounds.get(ALL_ROWS[name].dtype, 1e-2)
    assert "=" == table.verdict(name)


@pytest.mark.parametrize("name", NOT_EQUAL)
def test_the_other_rows_are_not_equal(name: str, table: Table) -> None:
    """Batch norm, dropout and the mistakes are off by about as much as the lab says."""
    assert pytest.approx(NOT_EQUAL[name], rel=0.3) == table.data[name]["relative"]
    assert "≠" == table.verdict(name)


def test_batch_norm_is_no_matter_of_rounding(table: Table) -> None:
    """Float64 leaves batch norm's difference as it is, and shrinks that of linear layers."""
    batch_norm = table.data["CNN, BatchNorm"]["relative"]
    linear = table.data["MLP"]["relative"]

    assert pytest.approx(batch_norm, rel=1e-3) == table.data["CNN, BatchNorm, float64"]["relative"]
    assert table.data["MLP, float64"]["relative"] < 1e-6 * linear


def test_largest_differences_have_the_right_size(table: Table) -> None:
    """Entries of equal gradients differ in the eighth decimal, those of batch norm in the third."""
    assert table.data["MLP"]["largest"] < 1e-7
    assert 1e-4 < table.data["CNN, BatchNorm"]["largest"] < 1e-2


def test_running_statistics_move_once_a_micro_batch() -> None:
    """Four micro-batches update batch norm's statistics four times, one batch once."""
    counts = []
    for sizes in ([128], [32] * 4):
        model = ROWS["four of 32, by share"]["CNN, BatchNorm"].model()
        for images, _ in batches_of(sizes):
            model(images)
        counts.append(int(model.get_buffer("norm1.num_batches_tracked")))

    assert [1, 4] == counts


@pytest.mark.parametrize(
    ("layout", "updates", "wanted", "off"),
    [("8 x 32", 2, 2, 0.0), ("10 x 32", 2, 3, 0.60), ("7 x 32, 1 x 8", 2, 2, 0.40)],
)
def test_the_common_loop_fails_on_leftovers(
    layout: str, updates: int, wanted: int, off: float
) -> None:
    """It drops an incomplete group, and gives the examples of a short batch too much weight."""
    found = compare_updates(LAYOUTS[layout])

    assert (updates, wanted) == found[:2]
    assert pytest.approx(off, rel=0.1, abs=1e-5) == found[2]


@pytest.mark.parametrize("sizes", [[32] * 4, [60, 60, 8], [32]])
def test_one_update_equals_that_of_one_batch(sizes: list[int]) -> None:
    """With a scaler, clipping and float32, a group of any layout ends where its one batch ends."""

    def end(group: list[Batch]) -> torch.Tensor:
        model = classifier()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
        one_update(model, optimizer, torch.amp.GradScaler("cpu"), group, torch.float32)
        return parameters_to_vector(model.parameters()).detach()

    start = parameters_to_vector(classifier().parameters()).detach()
    whole = end(batches_of([sum(sizes)]))

    assert (whole - start).norm() > 0
    assert (end(batches_of(sizes)) - whole).norm() <= 1e-5 * (whole - start).norm()


def test_one_update_works_in_16_bits() -> None:
    """Under float16 autocast with a scaler the weights move and stay finite."""
    model = classifier()
    before = parameters_to_vector(model.parameters()).detach().clone()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    one_update(model, optimizer, torch.amp.GradScaler("cpu"), batches_of([32] * 4), torch.float16)
    after = parameters_to_vector(model.parameters()).detach()

    assert after.isfinite().all()
    assert not torch.equal(before, after)


def test_unscaling_twice_in_a_group_raises() -> None:
    """The scaler refuses a second ``unscale_`` before its update."""
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu")
    scaler.scale(model(torch.ones(1, 4)).sum()).backward()
    scaler.unscale_(optimizer)

    with pytest.raises(RuntimeError, match="already been called"):
        scaler.unscale_(optimizer)


@pytest.mark.parametrize(("name", "least"), [("SGD", 0.0), ("Adam", 1e-3)])
def test_adam_makes_a_full_step_of_a_rounding_error(name: str, least: float) -> None:
    """Gradients of 1e-7 and -1e-7 are equal to SGD; Adam steps in opposite directions."""
    ends = []
    for gradient in (1e-7, -1e-7):
        weight = nn.Parameter(torch.zeros(1))
        weight.grad = torch.full((1,), gradient)
        getattr(torch.optim, name)([weight], lr=1e-3).step()
        ends.append(weight.item())

    assert least <= ends[1] - ends[0] <= max(2 * least, 1e-9)


def test_every_layout_has_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    """The three layouts are printed with their updates and how far the weights are off."""
    found = print_left_over()

    assert list(LAYOUTS) == list(found)
    assert 1 + len(LAYOUTS) == len(capsys.readouterr().out.splitlines())


def test_the_right_loop_updates_for_a_short_group() -> None:
    """``train_in_groups``, which the page compares with, makes three updates of ten batches."""
    model = classifier()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)

    assert 3 == train_in_groups(model, optimizer, batches_of([32] * 10), 4)


def test_what_a_loss_averages_over_decides_on_the_share(capsys: pytest.CaptureFixture[str]) -> None:
    """With padding or class weights the examples' shares give another gradient than one batch."""
    found = print_what_counts()

    by_share = [off for way, off in found.items() if "examples" in way]
    assert [0.84, 0.056] == pytest.approx(by_share, rel=0.1)
    assert all(off < 1e-5 for way, off in found.items() if "what counts" in way)
    assert 1 + len(found) == len(capsys.readouterr().out.splitlines())


@pytest.mark.parametrize("weight", [None, torch.rand(10)])
def test_the_sum_divided_by_what_counts_is_the_mean(weight: torch.Tensor | None) -> None:
    """However the examples are cut, with class weights and without."""
    group = batches_of([48, 60, 20])
    expected = by_examples(classifier(), batches_of([128]), weight)

    found = by_what_counts(classifier(), group, weight)

    assert (found - expected).norm() <= 1e-5 * expected.norm()


def test_a_row_weights_by_share_unless_told_otherwise() -> None:
    """Uneven pieces without a factor of their own are equal to the batch."""
    assert difference(Row(classifier, sizes=(100, 20, 8))).equal
