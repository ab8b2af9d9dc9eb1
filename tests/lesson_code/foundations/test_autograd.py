"""Gradients add up, a missing reset is momentum 1.0, and graphs follow Python's branches."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from lesson_code.accounting import batches_per_epoch
from lesson_code.foundations.autograd import (
    branching_loss,
    compare_accumulation,
    loss_without_branch,
    made_up_batches,
    made_up_model,
    print_accumulation,
    print_branching,
    print_healthy_run,
    print_micro_batches,
    print_missing_reset,
    print_none_gradients,
    print_rates,
    print_second_backward,
    print_two_norms,
    stays_finite,
    sum_of_squares,
    train,
    train_in_groups,
)
from lesson_code.saved_tensors import SavedBytes


def trained_in_groups(sizes: list[int], group_size: int, rounds: int = 1) -> torch.Tensor:
    """The parameters after so many rounds over the batches, with plain SGD."""
    model = made_up_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(rounds):
        train_in_groups(model, optimizer, made_up_batches(sizes), group_size)
    return nn.utils.parameters_to_vector(model.parameters()).detach()


def count_graphs(function: Callable[[torch.Tensor], torch.Tensor]) -> int:
    """How many graphs torch.compile cuts a function into; nothing is compiled to machine code."""
    graphs = []

    def keep(graph: torch.fx.GraphModule, _: list[torch.Tensor]) -> Callable[..., object]:
        graphs.append(graph)
        return graph.forward

    torch.compiler.reset()
    torch.compile(function, backend=keep)(torch.tensor([1.0, 2.0, -0.5]))
    return len(graphs)


def test_gradients_add_up_until_the_reset(capsys: pytest.CaptureFixture[str]) -> None:
    """3x and 5x leave 3 and 8; after a reset 7x leaves 7."""
    print_accumulation()

    values = [line.split("tensor")[1] for line in capsys.readouterr().out.splitlines()]
    assert ["(3.)", "(8.)", "(7.)"] == values


def test_divided_micro_batches_give_the_full_gradient() -> None:
    """64 examples as four times 16, each loss divided by four, are one batch of 64."""
    assert compare_accumulation([16] * 4, [1 / 4] * 4).error < 1e-6


def test_undivided_micro_batches_give_four_times_the_gradient() -> None:
    """Without the division the sum has the full gradient's direction and four times its length."""
    found = compare_accumulation([16] * 4, [1.0] * 4)

    assert pytest.approx(4, abs=1e-3) == found.length
    assert pytest.approx(3, abs=1e-3) == found.error


def trained_undivided(
    optimizer: Callable[..., torch.optim.Optimizer], rate: float, factor: float
) -> torch.Tensor:
    """The parameters after 20 updates of four micro-batches, each loss times ``factor``."""
    model = made_up_model()
    steps = optimizer(model.parameters(), lr=rate)
    for _ in range(20):
        steps.zero_grad()
        for features, labels in made_up_batches([16] * 4):
            (factor * nn.functional.cross_entropy(model(features), labels)).backward()
        steps.step()
    return nn.utils.parameters_to_vector(model.parameters()).detach()


def test_without_the_factor_sgd_has_four_times_the_rate_and_adam_the_same() -> None:
    """Adam divides by the size of the gradient; four times its rate would be another run."""
    sgd, adam = torch.optim.SGD, torch.optim.Adam

    torch.testing.assert_close(trained_undivided(sgd, 0.1, 1), trained_undivided(sgd, 0.4, 1 / 4))
    divided, undivided = (trained_undivided(adam, 0.01, factor) for factor in (1 / 4, 1))
    fast = trained_undivided(adam, 0.04, 1 / 4)
    assert (divided - undivided).norm() < 0.01 * (divided - fast).norm()


def test_uneven_micro_batches_need_their_share() -> None:
    """A plain division gives the examples of the small batch too much weight; shares repair it."""
    sizes = [16, 16, 16, 8]

    assert compare_accumulation(sizes, [1 / 4] * 4).error > 0.05
    assert compare_accumulation(sizes, [size / 56 for size in sizes]).error < 1e-6


def test_groups_of_micro_batches_train_like_large_batches() -> None:
    """Twenty steps of 128 and twenty groups of four times 32 end at the same parameters."""
    large = trained_in_groups([128], 1, rounds=20)
    grouped = trained_in_groups([32] * 4, 4, rounds=20)

    assert (large - grouped).abs().max() < 1e-6
    assert (large - nn.utils.parameters_to_vector(made_up_model().parameters())).norm() > 0.1


def test_the_batch_left_over_gets_a_full_update_of_its_own() -> None:
    """Five batches in groups of four make two updates, and the fifth batch weighs as one."""
    sizes = [8] * 5
    model, expected = made_up_model(), made_up_model()
    batches = made_up_batches(sizes)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    expected_optimizer = torch.optim.SGD(expected.parameters(), lr=0.1)

    updates = train_in_groups(model, optimizer, batches, 4)
    for group in (batches[:4], batches[4:]):
        train_in_groups(expected, expected_optimizer, group, len(group))

    assert 2 == updates
    for right, parameter in zip(expected.parameters(), model.parameters(), strict=True):
        assert torch.equal(right, parameter)


def test_an_epoch_of_mnist_leaves_one_batch_over() -> None:
    """60,000 images in batches of 128 are 469 batches: 117 groups of four, and one."""
    assert (117, 1) == divmod(batches_per_epoch(60_000, 128), 4)


def test_the_page_shows_the_four_ways_to_add_up(capsys: pytest.CaptureFixture[str]) -> None:
    """Each row is printed with its length and its error, and returned."""
    data = print_micro_batches()

    lines = capsys.readouterr().out.splitlines()
    assert 5 == len(lines)
    assert max(map(len, lines)) <= 72
    assert ["divided", "undivided", "uneven_divided", "uneven_by_share"] == list(data)
    assert lines[2].endswith("4.0000  300.00%")


def test_the_healthy_run_is_the_recorded_one(capsys: pytest.CaptureFixture[str]) -> None:
    """Three steps with seed 0 have these losses and these global norms."""
    run = train(3)
    print_healthy_run()

    assert pytest.approx([0.6462, 0.6331, 0.6212], abs=1e-4) == run.losses
    assert pytest.approx([0.3661, 0.3495, 0.3335], abs=1e-4) == run.norms
    assert "step 2   loss 0.6212   gradient norm 0.3335\n" in capsys.readouterr().out


def test_a_sum_of_norms_is_another_number(capsys: pytest.CaptureFixture[str]) -> None:
    """Clipping works with the norm over all parameters, which the train function reports too."""
    print_two_norms()

    added, clipped = (float(line.split()[-1]) for line in capsys.readouterr().out.splitlines())
    assert pytest.approx(0.4864, abs=1e-4) == added
    assert pytest.approx(train(1).norms[0], abs=1e-4) == clipped


def test_without_a_reset_the_norm_climbs() -> None:
    """The eighth norm is more than three times the first, and nothing becomes infinite."""
    run = train(1000, reset=False)

    expected = [0.366, 0.716, 1.032, 1.302, 1.514, 1.661, 1.746, 1.774]
    assert pytest.approx(expected, abs=1e-3) == run.norms[:8]
    assert run.norms[7] > 3 * run.norms[0]
    assert all(map(math.isfinite, (*run.losses, *run.norms)))


def test_without_a_reset_sgd_is_sgd_with_momentum_one() -> None:
    """The parameters of both runs agree after 8 and after 1,000 steps."""
    for steps in (8, 1000):
        broken = train(steps, reset=False)
        momentum = train(steps, momentum=1.0)

        assert (broken.parameters - momentum.parameters).abs().max() < 1e-6


def two_layers() -> nn.Module:
    """Eight features, 32 hidden units, one answer."""
    return nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))


def trained(optimizer: Callable[..., torch.optim.Optimizer], reset: bool, **settings: float) -> Any:
    """The parameters of a two-layer regression after 100 steps, with or without a reset."""
    torch.manual_seed(0)
    model, features = two_layers(), torch.randn(64, 8)
    steps = optimizer(model.parameters(), lr=0.01, **settings)
    for _ in range(100):
        if reset:
            steps.zero_grad()
        (model(features) - features.sum(dim=1, keepdim=True)).square().mean().backward()
        steps.step()
    return nn.utils.parameters_to_vector(model.parameters())


def test_a_missing_reset_is_momentum_one_for_plain_sgd_only() -> None:
    """To the last bit through two layers; weight decay and Adam are other matters."""
    sgd, adam = torch.optim.SGD, torch.optim.Adam

    assert torch.equal(trained(sgd, False), trained(sgd, True, momentum=1.0))
    decayed = {"weight_decay": 0.1}
    assert not torch.equal(trained(sgd, False, **decayed), trained(sgd, True, momentum=1.0))
    with_both = trained(sgd, True, momentum=1.0, **decayed)
    assert (trained(sgd, False, **decayed) - with_both).abs().max() > 1e-3
    assert not torch.equal(trained(adam, False), trained(sgd, True, momentum=1.0))
    assert not torch.equal(trained(adam, False), trained(adam, True))


@pytest.mark.parametrize("seed", range(3))
def test_at_a_high_rate_a_missing_reset_does_become_infinite(seed: int, one_thread: None) -> None:
    """On digits a rate of 0.1 stays finite without it, and 0.5 only with it."""
    assert stays_finite(0.1, reset=False, seed=seed)
    assert stays_finite(0.5, reset=True, seed=seed)
    assert not stays_finite(0.5, reset=False, seed=seed)


def test_a_small_regression_becomes_infinite_too() -> None:
    """At a rate of 0.05 the healthy run settles, and the one without a reset blows up."""
    for reset in (True, False):
        torch.manual_seed(1)
        model, features = two_layers(), torch.randn(64, 8)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        for _ in range(1000):
            if reset:
                optimizer.zero_grad()
            loss = (model(features) - features.sum(dim=1, keepdim=True)).square().mean()
            loss.backward()
            optimizer.step()

        assert reset == math.isfinite(loss.item())


def test_the_page_shows_both_rates(capsys: pytest.CaptureFixture[str], one_thread: None) -> None:
    """Three of the four runs stay finite."""
    print_rates()

    _, low, high = capsys.readouterr().out.splitlines()
    assert ["0.1", "finite", "finite"] == low.split()
    assert ["0.5", "finite", "not", "finite"] == high.split()


def test_no_factor_mends_micro_batches_under_batch_norm() -> None:
    """Shares give the full gradient of a model without it, and not of one with it."""
    features = torch.randn(64, 4, generator=torch.Generator().manual_seed(0))

    def gradient(model: nn.Module, size: int) -> torch.Tensor:
        model.zero_grad()
        for rows in features.split(size):
            ((model(rows) - rows.sum(dim=1, keepdim=True)).square().mean() * size / 64).backward()
        return nn.utils.parameters_to_vector(
            [p.grad for p in model.parameters() if p.grad is not None]
        )

    torch.manual_seed(0)
    plain = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    normed = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))

    torch.testing.assert_close(gradient(plain, 16), gradient(plain, 64))
    whole = gradient(normed, 64)
    assert (gradient(normed, 16) - whole).norm() > 0.05 * whole.norm()


def test_without_a_reset_the_loss_swings(capsys: pytest.CaptureFixture[str]) -> None:
    """On the small convex problem the loss stays near the healthy one and never settles there."""
    data = print_missing_reset()

    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 72
    assert "0.0000000" == lines[-1].split()[-1]
    assert 0.46 < data["healthy_loss"] < data["lowest_loss"] < data["highest_loss"] < 0.66
    losses = train(1000, reset=False).losses
    rises = [b > a for a, b in itertools.pairwise(losses[500:])]
    assert {True, False} == set(rises)


def test_gradients_are_none_before_backward_and_after_the_reset(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """None is what readers of .grad meet, and a step then changes nothing, weight decay or not."""
    print_none_gradients()

    ends = [line.split()[-1] for line in capsys.readouterr().out.splitlines()]
    assert ["None", "1.])", "None", "True"] == ends


def test_zeros_instead_of_none_let_weight_decay_act() -> None:
    """With set_to_none=False the same step shrinks the weights: None and zero differ."""
    layer = nn.Linear(4, 2)
    weights = layer.weight.detach().clone()
    optimizer = torch.optim.AdamW(layer.parameters(), lr=0.1, weight_decay=0.5)
    layer(torch.ones(1, 4)).sum().backward()

    optimizer.zero_grad(set_to_none=False)
    optimizer.step()

    torch.testing.assert_close(layer.weight.detach(), 0.95 * weights)


@pytest.mark.parametrize("loss_function", [branching_loss, loss_without_branch])
@pytest.mark.parametrize(
    ("values", "loss", "gradient"),
    [
        ([1.0, 2.0, -0.5], 1.75, [2 / 3, 4 / 3, -1 / 3]),
        ([-1.0, -2.0, 0.5], 3.5 / 3, [-1 / 3, -1 / 3, 1 / 3]),
    ],
)
def test_the_graph_follows_the_branch(
    loss_function: Callable[[torch.Tensor], torch.Tensor],
    values: list[float],
    loss: float,
    gradient: list[float],
) -> None:
    """Squares where the mean is positive, else absolute values, and the gradient of each."""
    x = torch.tensor(values, requires_grad=True)

    result = loss_function(x)
    result.backward()

    assert pytest.approx(loss) == result.item()
    assert x.grad is not None
    assert pytest.approx(gradient) == x.grad.tolist()


def test_the_page_shows_both_branches(capsys: pytest.CaptureFixture[str]) -> None:
    """One line for each branch, with loss and gradient."""
    print_branching()

    first, second = capsys.readouterr().out.splitlines()
    assert "loss 1.7500, tensor([ 0.6667,  1.3333, -0.3333])" in first
    assert "loss 1.1667, tensor([-0.3333, -0.3333,  0.3333])" in second


def test_where_differentiates_the_way_that_is_not_chosen_too() -> None:
    """Zero times infinity or NaN is NaN; an input that is safe on both ways has a gradient."""
    x = torch.tensor([-1.0, 4.0], requires_grad=True)
    found = []
    for root in (x.sqrt(), x.clamp(min=1e-6).sqrt()):
        result = torch.where(x > 0, root, 0)
        found.append(torch.autograd.grad(result.sum(), x)[0].tolist())

    assert math.isnan(found[0][0])
    assert [0.0, 0.25] == found[1]


def test_item_in_a_branch_breaks_the_compiled_graph() -> None:
    """torch.compile cuts the branch in two, keeps torch.where whole, and can be told to refuse."""
    assert 2 == count_graphs(branching_loss)
    assert 1 == count_graphs(loss_without_branch)
    strict = torch.compile(branching_loss, backend="eager", fullgraph=True)
    with pytest.raises(torch._dynamo.exc.TorchDynamoException):
        strict(torch.tensor([1.0, 2.0, -0.5]))


def test_a_sum_saves_nothing_and_a_product_does(capsys: pytest.CaptureFixture[str]) -> None:
    """Backward works twice through a sum and once through squares."""
    print_second_backward()

    twice, once = capsys.readouterr().out.splitlines()
    assert "x.sum(): worked twice, tensor([2., 2., 2.])" == twice
    assert once.startswith("(x * x).sum(): RuntimeError")
    assert "second time" in once


def test_only_the_product_has_saved_its_input() -> None:
    """The meter reads nothing after a sum or a mean, and x after x times x."""
    x = torch.ones(100, requires_grad=True)
    read = []
    for operation in (torch.sum, torch.mean, sum_of_squares):
        meter = SavedBytes()
        with meter:
            y = operation(x)
        read.append(meter.total())
        assert y.requires_grad

    assert [0, 0, 400] == read


def saved_shapes(work: Callable[[], object]) -> list[tuple[int, ...]]:
    """The shapes of what the graph of ``work`` saves."""
    shapes = []

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        shapes.append(tuple(tensor.shape))
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        work()
    return shapes


def test_a_frozen_convolution_saves_its_input_and_a_frozen_linear_layer_does_not() -> None:
    """Only the derivative of the frozen weight would need that input."""
    images = torch.ones(2, 3, 8, 8, requires_grad=True)
    features = torch.ones(2, 4, requires_grad=True)
    convolution = nn.Conv2d(3, 8, 3).requires_grad_(False)
    linear = nn.Linear(4, 5).requires_grad_(False)

    assert (2, 3, 8, 8) in saved_shapes(lambda: convolution(images))
    assert (2, 4) not in saved_shapes(lambda: linear(features))


def test_gelu_written_out_saves_more_than_its_own_operation() -> None:
    """Each single operation saves what it may need; F.gelu saves its input alone."""
    x = torch.ones(100, requires_grad=True)
    factor = math.sqrt(2 / math.pi)

    by_hand = saved_shapes(lambda: 0.5 * x * (1 + torch.tanh(factor * (x + 0.044715 * x**3))))

    assert [(100,)] == saved_shapes(lambda: nn.functional.gelu(x, approximate="tanh"))
    assert by_hand.count((100,)) > 1


def test_backward_needs_one_number() -> None:
    """A result with several elements has no single derivative."""
    x = torch.ones(3, requires_grad=True)

    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        (x * x).backward()
