"""Learning by heart, stopping early, choosing, standard errors, a leak, and shifted images."""

import copy
import json
import math
from collections.abc import Callable
from dataclasses import asdict
from itertools import pairwise
from typing import Any

import pytest
import torch
from torch import nn

from lesson_code.data import PIXEL_MEAN, PIXEL_STD
from lesson_code.foundations import generalising
from lesson_code.foundations.generalising import (
    BLANK,
    EPOCHS,
    PAIRS,
    POOL,
    REMEDIES,
    SHOWN_EPOCHS,
    EarlyStopping,
    Remedy,
    accuracies,
    best_guesser,
    build,
    drawn,
    expected_best,
    judge,
    known_digits,
    learn,
    others,
    paired_difference,
    print_guessers,
    print_standard_errors,
    share,
    shifted,
    standard_error,
    study_choosing,
    study_gains,
    study_remedies,
    three_sets,
    train_epoch,
    train_with,
    train_with_a_leak,
)
from tests.printed import printed

MODULE = "foundations/generalising"


def data_of(function: str) -> Any:
    """What a function of the module returned, as tests compare it with a fresh run."""
    return printed(f"{MODULE}:{function}").data


def stopped_by(stopping: EarlyStopping, losses: list[float]) -> int | None:
    """The epoch after which it says stop, whose number the model's one weight is; None if never."""
    model = nn.Linear(1, 1, bias=False)
    for epoch, loss in enumerate(losses, start=1):
        nn.init.constant_(model.weight, epoch)
        if stopping.should_stop(epoch, loss, model):
            return epoch
    return None


def test_no_image_is_in_two_sets() -> None:
    """Training, validation and test images differ, and a smaller training set is a part of it."""
    sets = [{image.numpy().tobytes() for image in images} for images, _ in three_sets(5000)]
    (smaller, _), (validation, labels), _ = three_sets(300)

    assert [5000, 1000, 1000] == [len(images) for images in sets]
    assert [set()] * 3 == [sets[0] & sets[1], sets[0] & sets[2], sets[1] & sets[2]]
    assert {image.numpy().tobytes() for image in smaller} < sets[0]
    assert ((1000, 1, 28, 28), (1000,)) == (validation.shape, labels.shape)


def test_an_epoch_sees_each_image_once() -> None:
    """Without a step its loss is that of all images, each counted once, in batches of 32."""
    (images, labels), _, _ = three_sets(70)
    model = build(seed=0)
    sizes: list[int] = []
    model.register_forward_hook(lambda _, given, __: sizes.append(len(given[0])))

    loss = train_epoch(model, torch.optim.SGD(model.parameters(), lr=0.0), images, labels)

    assert [32, 32, 6] == sizes
    assert model.training
    assert pytest.approx(judge(model, images, labels)[0].mean().item(), rel=1e-5) == loss
    assert not model.training


def test_an_update_has_the_gradient_of_its_batch_alone() -> None:
    """That of the batch before is gone; with a rate of zero all batches meet the same weights."""
    (images, labels), _, _ = three_sets(64)
    model = build(seed=0)
    batches: list[torch.Tensor] = []
    model.register_forward_hook(lambda _, given, __: batches.append(given[0]))

    train_epoch(model, torch.optim.SGD(model.parameters(), lr=0.0), images, labels)

    kept = [parameter.grad for parameter in model.parameters()]
    last = (images.unsqueeze(0) == batches[1].unsqueeze(1)).flatten(2).all(2).int().argmax(1)
    loss = nn.functional.cross_entropy(model(batches[1]), labels[last])
    for gradient, alone in zip(kept, torch.autograd.grad(loss, [*model.parameters()]), strict=True):
        torch.testing.assert_close(gradient, alone)


def test_the_first_update_moves_weights_by_the_usual_rate() -> None:
    """Adam's first step is one rate long where there is a gradient: 0.001."""
    training, validation, _ = three_sets(32)
    model = build(seed=0)
    before = model.fc1.weight.detach().clone()

    learn(model, training, validation, epochs=1)

    assert pytest.approx(1e-3, rel=1e-3) == (model.fc1.weight - before).abs().max().item()


@pytest.mark.parametrize("last", [2, 9])
def test_learning_ends_with_its_epochs_or_when_it_is_stopped(last: int) -> None:
    """What may stop it hears of each epoch once, with the validation loss that is kept."""
    training, validation, _ = three_sets(40)
    model = build(seed=0)
    told: list[tuple[int, float, nn.Module]] = []

    class Stopping(EarlyStopping):
        def should_stop(self, epoch: int, loss: float, model: nn.Module) -> bool:
            told.append((epoch, loss, model))
            return epoch == last

    history = learn(model, training, validation, epochs=3, stopping=Stopping(1))

    losses, right = judge(model, *validation)
    assert told == [
        (number, epoch.validation_loss, model) for number, epoch in enumerate(history, start=1)
    ]
    assert min(last, 3) == len(history)
    assert pytest.approx(losses.mean().item()) == history[-1].validation_loss
    assert pytest.approx(losses[~right].mean().item()) == history[-1].loss_of_the_wrong
    assert history[-1].training_loss < history[0].training_loss
    assert json.dumps([asdict(epoch) for epoch in history])


def test_judging_changes_nothing_and_gives_a_value_for_each_image() -> None:
    """Dropout is off, no graph is kept, and sure and right answers cost least."""
    (images, labels), _, _ = three_sets(50)
    model = build(seed=0, dropout=0.5)
    model.train()

    losses, right = judge(model, images, labels)

    assert ((50,), (50,), torch.bool) == (losses.shape, right.shape, right.dtype)
    assert not losses.requires_grad
    assert torch.equal(losses, judge(model, images, labels)[0])
    assert losses[right].mean() < losses[~right].mean()


def test_every_check_of_the_earlier_parts_passes() -> None:
    """The run that memorises is healthy: finite, every layer gets a gradient, eval is in force."""
    training, validation, _ = three_sets(generalising.SIZE)
    model = build(seed=0)
    before = copy.deepcopy(model.state_dict())

    [epoch] = learn(model, training, validation, epochs=1)

    assert all(map(math.isfinite, (epoch.training_loss, epoch.validation_loss)))
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in model.parameters())
    assert not any(torch.equal(before[name], now) for name, now in model.state_dict().items())
    assert not model.training
    assert pytest.approx(share(judge(model, *validation)[1])) == epoch.accuracy


def test_it_learns_its_images_by_heart() -> None:
    """The validation loss falls and rises; the accuracy stays, and wrong answers cost more."""
    run = data_of("print_memorising")

    assert {EPOCHS} == {len(run[name]) for name in ("training", "validation", "accuracy")}
    assert EPOCHS == SHOWN_EPOCHS[-1]
    assert run["training"][-1] < 0.01
    for epoch in (0, 1):  # a mean over the epoch, and its end
        assert run["training"][epoch] > run["validation"][epoch]
    assert all(map(float.__lt__, run["training"][2:], run["validation"][2:]))
    lowest = min(run["validation"])
    assert lowest < 0.7 < 1.2 < run["validation"][0]
    assert run["validation"][-1] > 1.15 * lowest
    assert max(run["accuracy"][4:]) - min(run["accuracy"][4:]) < 0.04
    assert run["last"]["loss_of_the_wrong"] > 1.4 * run["tenth"]["loss_of_the_wrong"]


def test_it_becomes_surer_of_other_images_right_or_wrong(one_thread: None) -> None:
    """The probability of the answer rises from the tenth epoch on, for both kinds."""
    training, validation, _ = three_sets(generalising.SIZE)
    model = build(seed=0)
    sure = []
    for epochs in (10, 20):
        learn(model, training, validation, epochs)
        right = judge(model, *validation)[1]
        top = model(validation[0]).softmax(dim=1).amax(dim=1)
        sure.append((top[right].mean().item(), top[~right].mean().item()))

    (right_before, wrong_before), (right_after, wrong_after) = sure
    assert right_after > right_before + 0.01
    assert wrong_after > wrong_before + 0.05


def test_patience_counts_epochs_without_a_lower_loss() -> None:
    """With a patience of two the second such epoch in a row stops it; a lower loss begins anew."""
    stopping = EarlyStopping(patience=2)

    assert 6 == stopped_by(stopping, [3.0, 2.0, 2.5, 1.0, 1.5, 1.5, 0.1])
    assert (4, 1.0) == (stopping.best_epoch, stopping.best_loss)
    assert 4.0 == stopping.best_state["weight"].item()


def test_it_does_not_stop_while_the_loss_falls() -> None:
    """Not even with the least patience."""
    assert stopped_by(EarlyStopping(patience=1), [3.0, 2.0, 1.0]) is None


def test_a_tie_keeps_the_earlier_epoch() -> None:
    """An equal loss is no improvement, and uses up patience."""
    stopping = EarlyStopping(patience=2)

    assert 3 == stopped_by(stopping, [1.0, 1.0, 1.0])
    assert 1 == stopping.best_epoch
    assert 1.0 == stopping.best_state["weight"].item()


def test_a_nan_is_never_better() -> None:
    """Neither as the first loss nor later; where every loss is NaN, nothing is kept."""
    first, later, always = (EarlyStopping(patience=3) for _ in range(3))

    assert stopped_by(first, [math.nan, 2.0]) is None
    assert 2 == first.best_epoch
    assert 5 == stopped_by(later, [3.0, 2.0, math.nan, math.nan, math.nan])
    assert 2 == later.best_epoch
    assert 3 == stopped_by(always, [math.nan] * 3)
    assert {} == always.best_state


def test_what_is_kept_is_a_copy() -> None:
    """``state_dict()`` alone holds the live weights, and they move on."""
    model = nn.Linear(1, 1, bias=False)
    nn.init.ones_(model.weight)
    stopping = EarlyStopping(patience=1)
    stopping.should_stop(1, 0.5, model)
    reference = model.state_dict()

    nn.init.zeros_(model.weight)

    assert 0.0 == reference["weight"].item()
    assert 1.0 == stopping.best_state["weight"].item()


@pytest.mark.parametrize("patience", [0, -1])
def test_patience_below_one_is_refused(patience: int) -> None:
    """It would stop at once; the message names the number."""
    with pytest.raises(ValueError, match=f"at least 1, not {patience}"):
        EarlyStopping(patience)


def test_early_stopping_keeps_the_lowest_loss_of_the_page() -> None:
    """It stops as many epochs later as its patience says, with the lowest loss of the long run."""
    stopping, run = data_of("print_early_stopping"), data_of("print_memorising")

    assert stopping["kept"] + generalising.PATIENCE == stopping["stopped"]
    assert min(run["validation"]) == round(stopping["loss"], 2)


@pytest.mark.parametrize(
    ("guessers", "expected"),
    [(1, 50.0), (2, 50 + 100 * math.comb(200, 100) / 2**201)],
)
def test_the_expected_best_is_exact(guessers: int, expected: float) -> None:
    """One has half of n right; the better of two has n C(2n, n) / 2^(2n+1) more."""
    assert pytest.approx(expected / 100, rel=1e-12) == expected_best(guessers)


def test_the_expected_best_is_what_drawing_gives() -> None:
    """The mean of a thousand draws is within four standard errors of it, on few images too."""
    drawn = torch.tensor([best_guesser(100, seed)[0] for seed in range(1000)], dtype=torch.float64)

    error = drawn.std().item() / math.sqrt(len(drawn))
    assert abs(drawn.mean().item() - expected_best(100)) < 4 * error
    assert pytest.approx(0.75) == expected_best(2, images=1)


def test_the_best_guesser_knows_nothing() -> None:
    """On the test images it is right half of the time, over many draws."""
    tested = [best_guesser(100, seed)[1] for seed in range(200)]

    assert abs(sum(tested) / len(tested) - 0.5) < 0.005


def test_more_guessers_look_better(capsys: pytest.CaptureFixture[str]) -> None:
    """The expectation rises with their number, and all of them are in the table."""
    found = print_guessers()

    expected = [of["expected"] for of in found.values()]
    assert all(few < many for few, many in pairwise(expected))
    assert list(found) == [
        line.split()[0].replace(",", "") for line in capsys.readouterr().out.splitlines()[2:]
    ]


def test_choosing_among_models_looks_better_than_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    """Few models, one epoch: the chosen one's lead on validation is not there on the test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            generalising, "learn", lambda *given, epochs: learn(*given, epochs=min(epochs, 2))
        )
        found = study_choosing()

    assert found["validation"] > found["all_validation"]
    assert found["validation"] - found["all_validation"] > found["test"] - found["all_test"]
    assert "the one that was chosen" in capsys.readouterr().out


def test_the_standard_error_is_that_of_a_share() -> None:
    """As the spread of drawn accuracies shows; and four times the images halve it."""
    draws = torch.rand(4000, 500, generator=torch.Generator().manual_seed(0)) < 0.9
    spread = draws.double().mean(dim=1).std().item()

    assert pytest.approx(spread, rel=0.05) == standard_error(0.9, 500)
    assert pytest.approx(standard_error(0.9, 500) / 2) == standard_error(0.9, 2000)
    assert [0.0, 0.0] == [standard_error(sure, 10) for sure in (0.0, 1.0)]
    assert 0.5 == standard_error(0.5, 1)


@pytest.mark.parametrize(("accuracy", "images"), [(1.1, 1000), (-0.1, 10), (0.5, 0)])
def test_percent_and_no_images_are_refused(accuracy: float, images: int) -> None:
    """The message names both."""
    with pytest.raises(ValueError, match=f"an accuracy of {accuracy} on {images} images"):
        standard_error(accuracy, images)


def test_the_page_names_the_standard_error_of_1000_images() -> None:
    """95 % on 1,000 images: about 0.7 points."""
    assert pytest.approx(0.689, abs=0.001) == print_standard_errors()["1000"]


def test_a_paired_difference_counts_where_the_two_part() -> None:
    """30 images against 10 of 1,000 are 2 points; those that both read wrong lower the error."""
    first, second = torch.ones(1000, dtype=torch.bool), torch.ones(1000, dtype=torch.bool)
    first[:110], second[:100], second[110:140] = False, False, False

    difference, error = paired_difference(first, second)

    assert pytest.approx(0.02) == difference
    assert pytest.approx(math.sqrt(40 / 1000 - 0.02**2) / math.sqrt(999)) == error
    assert error < math.hypot(standard_error(0.89, 1000), standard_error(0.87, 1000))


def test_another_seed_is_no_difference_and_more_images_are_one() -> None:
    """Two standard errors tell them apart."""
    found = data_of("print_differences")

    assert abs(found["seed_1"]["points"]) < 2 * found["seed_1"]["error"]
    assert found["more"]["points"] > 4 * found["more"]["error"]


def test_a_leak_flatters_the_validation_alone() -> None:
    """Both numbers of the page: validation rises by what was copied, the test does not."""
    found = data_of("print_leak")
    clean, leaky = found["clean"], found["leaky"]

    assert leaky["validation"] > clean["validation"] + 0.04
    assert abs(leaky["test"] - clean["test"]) < 0.02


def test_a_leak_leaves_the_known_images_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """The copies go into a training set of their own."""
    before = [part.clone() for part in known_digits()[0]]
    seen: list[torch.Tensor] = []

    def only_look(_: nn.Module, training: Any, validation: Any, epochs: int) -> None:
        seen.extend((training[0], validation[0]))

    monkeypatch.setattr(generalising, "learn", only_look)
    train_with_a_leak(10)

    training, validation = seen
    assert torch.equal(training[:10], validation[:10])
    assert not torch.equal(training[10], validation[10])
    assert all(map(torch.equal, before, known_digits()[0]))


def test_a_blank_pixel_is_normalised_with_the_mean_that_the_page_names() -> None:
    """0.1307, which is that of all 60,000 training images."""
    assert 0.1307 == PIXEL_MEAN
    assert pytest.approx(known_digits()[0][0].min().item()) == BLANK == -0.1307 / PIXEL_STD


def test_a_shifted_image_is_the_image_somewhere_else() -> None:
    """A dot moves by two pixels at most, everywhere in that square; what comes in is blank."""
    dots = torch.full((400, 1, 28, 28), BLANK)
    dots[:, :, 14, 14] = 1.0
    torch.manual_seed(0)

    moved = shifted(dots)

    places = {(int(place[2]), int(place[3])) for place in (moved == 1.0).nonzero()}
    assert dots.shape == moved.shape
    assert {(down, right) for down in range(12, 17) for right in range(12, 17)} == places
    assert pytest.approx(dots.sum().item(), rel=1e-5) == moved.sum().item()
    assert torch.equal(dots, shifted(dots, most=0))


def test_a_remedy_is_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """About 600 updates each, and only early stopping ends sooner, with what it kept."""
    updates: dict[str, int] = {}

    def counted(model: nn.Module, training: Any, *given: Any) -> list[Any]:
        epochs, stopping, decay, prepare = given[1:]
        updates[name] = epochs * math.ceil(len(training[0]) / 32)
        assert REMEDIES[name].weight_decay == decay
        assert REMEDIES[name].prepare is prepare
        assert REMEDIES[name].dropout == model.get_submodule("dropout").p
        if stopping:
            stopping.should_stop(1, 1.0, model)
            nn.init.zeros_(next(model.parameters()))
        return []

    monkeypatch.setattr(generalising, "learn", counted)
    for name, remedy in REMEDIES.items():
        loss = train_with(remedy, seed=0)[1]
        fresh = judge(build(0), *three_sets(1)[1])[0].mean().item()
        assert pytest.approx(fresh) == loss, name

    assert all(590 <= count <= 630 for count in updates.values()), updates
    assert set(REMEDIES) == set(updates)


def test_the_table_of_remedies_has_a_row_for_each(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the range of its seeds, which is also what it returns."""

    def made_up(_: object, seed: int) -> tuple[float, float, float]:
        return seed / 100, 0.5 + seed / 10, 0.8 + seed / 100

    monkeypatch.setattr(generalising, "train_with", made_up)
    found = study_remedies()

    rows = capsys.readouterr().out.splitlines()[2:]
    assert [remedy.label for remedy in REMEDIES.values()] == [row[:28].strip() for row in rows]
    assert all(row.endswith("0.800 to 0.840") for row in rows)
    assert set(REMEDIES) == set(found)
    assert (0.5, 0.9) == (found["plain"]["lowest_loss"], found["plain"]["highest_loss"])


def test_the_other_images_are_in_no_set_of_a_comparison() -> None:
    """Neither among the 1,000 for validation nor among up to 1,000 for training; all the rest."""
    (training, _), (validation, _), _ = three_sets(1000)
    images, labels = others()

    seen = {image.numpy().tobytes() for image in (*training, *validation)}
    rest = {image.numpy().tobytes() for image in images}
    everything = {image.numpy().tobytes() for image in known_digits()[0][0]}
    assert 4000 == len(images) == len(labels) == len(rest)
    assert (set(), everything) == (seen & rest, seen | rest)


def test_each_seed_draws_other_images_of_the_thousand() -> None:
    """Each image once, with its label, the same ones for a seed, and none of those that judge."""
    (images, labels), _, _ = three_sets(POOL)
    known = {image.numpy().tobytes(): int(y) for image, y in zip(images, labels, strict=True)}
    draws = []
    for seed in (0, 1, 0):
        digits = [image.numpy().tobytes() for image in drawn(300, seed)[0]]
        assert [known[digit] for digit in digits] == drawn(300, seed)[1].tolist()
        draws.append(set(digits))

    assert [300, 300] == [len(draw) for draw in draws[:2]]
    assert draws[0] == draws[2]
    assert 50 < len(draws[0] & draws[1]) < 130  # 90 are expected
    assert set(known) == {image.numpy().tobytes() for image in drawn(1000, 3)[0]}


def test_what_judges_cannot_be_drawn_for_training() -> None:
    """A row of 5,000 images would be a leak, and is refused."""
    with pytest.raises(ValueError, match="5000 images to train on, and all but 1000 are there"):
        accuracies(REMEDIES["images_5000"])


@pytest.mark.parametrize(
    ("name", "shared"), [("stopping", 3), ("strong_decay", 3), ("dropout", 1), ("shifts", 0)]
)
def test_a_pair_begins_alike_and_shares_so_many_epochs(
    name: str, shared: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first weights always; dropout and shifts draw random numbers, and so other batches."""
    randperm = torch.randperm
    begun: list[torch.Tensor] = []

    def noted(count: int, **given: Any) -> torch.Tensor:
        order = randperm(count, **given)
        if not given:  # the order of an epoch, and not a draw of images
            orders.append(order)
        return order

    def built(*given: Any) -> nn.Module:
        begun.append(build(*given).get_submodule("fc1").weight.detach().clone())
        return build(*given)

    monkeypatch.setattr(torch, "randperm", noted)
    monkeypatch.setattr(generalising, "build", built)
    monkeypatch.setattr(generalising, "UPDATES", 30)
    epochs = []
    for remedy in (REMEDIES["plain"], REMEDIES[name]):
        orders: list[torch.Tensor] = []
        generalising.trained(remedy, 0, drawn(300, 0))
        epochs.append(orders)

    assert torch.equal(*begun)
    assert [epoch < shared for epoch in range(3)] == list(map(torch.equal, *epochs))


def test_a_comparison_judges_each_seed_on_the_other_images(monkeypatch: pytest.MonkeyPatch) -> None:
    """In percent, each with its own weights and its own training images."""
    remedy = Remedy("untrained", size=200)
    asked: list[tuple[Remedy, int]] = []

    def untrained(remedy: Remedy, seed: int, training: Any) -> nn.Module:
        asked.append((remedy, seed))
        assert all(map(torch.equal, drawn(200, seed), training))
        return build(seed)

    monkeypatch.setattr(generalising, "trained", untrained)
    found = accuracies(remedy)

    images, labels = others()
    right = [int((build(seed).eval()(images).argmax(1) == labels).sum()) for seed in PAIRS]
    assert [(remedy, seed) for seed in PAIRS] == asked
    assert found.tolist() == pytest.approx([100 * count / 4000 for count in right])


def test_gains_are_those_of_each_seed_over_the_plain_training(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Seeds differ by far more than the remedy changes, and the error does not see it."""
    seeds = torch.tensor([10.0 * seed for seed in PAIRS], dtype=torch.float64)
    gained = {
        "dropout": torch.tensor([1.0, -1.0, *[2.0] * 18]),
        "strong_decay": torch.full((20,), -0.001),
    }

    def made_up(remedy: Remedy) -> torch.Tensor:
        [name] = [name for name, each in REMEDIES.items() if each is remedy]
        return seeds + gained.get(name, torch.zeros(20))

    monkeypatch.setattr(generalising, "accuracies", made_up)
    found = study_gains()

    rows = {row[:28].strip(): row.split()[-4:] for row in capsys.readouterr().out.splitlines()[2:]}
    apart = math.sqrt((seeds.var() + (seeds + gained["dropout"]).var()).item() / 20)
    columns = {"points": 1.8, "error": 0.16, "error_apart": round(apart, 2), "seeds": 19}
    assert columns == found["dropout"]
    assert ["1.80", "0.16", f"{apart:.2f}", "19"] == rows["dropout 0.5"]
    assert ["0.00", "0.00", "18.71", "0"] == rows["weight decay 1"]
    assert [REMEDIES[name].label for name in found] == list(rows)
    assert set(REMEDIES) - {"plain", "decay", "images_5000"} == set(found)


@pytest.mark.parametrize("options", [{"weight_decay": 1.0}, {"prepare": torch.zeros_like}])
def test_learning_takes_what_a_remedy_asks_for(options: dict[str, Callable[..., Any]]) -> None:
    """A decay and prepared images each lead to other weights."""
    training, validation, _ = three_sets(40)
    plain, other = build(seed=0), build(seed=0)
    torch.manual_seed(1)
    learn(plain, training, validation, epochs=1)
    torch.manual_seed(1)
    learn(other, training, validation, epochs=1, **options)  # type: ignore[arg-type]

    assert not torch.equal(plain.get_submodule("fc1").weight, other.get_submodule("fc1").weight)
