"""What pages conclude from one training run holds for five seeds: the recorded studies say so."""

import math
from itertools import pairwise
from typing import Any

from lesson_site import recordings
from lesson_site.snippets import recorded_targets
from tests.printed import recorded


def study(target: str) -> Any:
    """The data of a recorded study."""
    return recorded(target).data


def test_every_study_has_five_seeds_and_other_instructions() -> None:
    """It was trained with the processor's own instructions and with simpler ones."""
    studies = [target for target in recorded_targets("cpu") if recordings.is_study(target)]
    assert len(studies) >= 9

    for target in studies:
        runs = recorded(target).runs
        assert len({name for run in runs for name in run["instructions"]}) >= 2, target


def test_a_missing_reset_ruins_the_model_with_every_seed() -> None:
    """The worst healthy model is better than the best one that was never reset."""
    found = study("foundations/incident:study_replay")

    assert min(found["healthy"]["accuracy"]) > 0.85
    assert max(found["broken"]["accuracy"]) < 0.8
    assert min(found["broken"]["loss"]) > max(found["healthy"]["loss"])


def test_at_a_low_rate_a_missing_reset_leads_at_first_and_loses_with_every_seed() -> None:
    """The ranges of five seeds do not meet, neither after the first epoch nor after the last."""
    found = study("foundations/incident:study_low_rate")
    healthy, broken = found["healthy"], found["broken"]

    assert min(broken["1"]) > max(healthy["1"])
    assert min(broken["4"]) > max(healthy["4"])
    assert max(broken["15"]) < min(healthy["15"])


def test_sorted_digits_are_learnt_worse_with_every_seed() -> None:
    """Though the loss falls."""
    found = study("foundations/training_loop:study_sorted_digits")

    assert min(found["shuffled"]["accuracy"]) > max(found["not_shuffled"]["accuracy"])


def test_dropout_lowers_the_measurement_with_every_seed() -> None:
    """The best of ten passes with dropout is below the right accuracy."""
    found = study("foundations/graphs_and_memory:study_validation_with_dropout")

    assert 5 == len(found)
    assert all(run["highest"] < run["eval"] for run in found)


def test_only_a_healthy_step_memorises_twelve_examples() -> None:
    """With every seed; the faults stop above what any healthy one reaches."""
    found = study("foundations/debugging:study_overfit")
    healthy = found.pop("healthy")

    assert max(healthy) < 0.01
    # Without resets it swings, and may end anywhere.
    assert all(min(last) > 0.1 for name, last in found.items() if name != "gradients never reset")


def test_softmax_first_costs_accuracy_with_sgd_and_loss_with_both() -> None:
    """The ranges of five seeds do not meet."""
    found = study("foundations/losses:study_softmax_first_runs")

    for optimizer in ("adam", "sgd"):
        logits, softmax = found[f"{optimizer}_logits"], found[f"{optimizer}_softmax"]
        assert logits["largest_loss"] < softmax["smallest_loss"]
    assert found["sgd_softmax"]["largest_accuracy"] < found["sgd_logits"]["smallest_accuracy"]


def test_a_resumed_run_needs_the_optimizers_state_with_every_seed() -> None:
    """With plain SGD, which has none, the weights suffice."""
    found = study("foundations/optimizers_and_checkpoints:study_resumes")

    assert all(set(ways["all"]) == {0.0} for ways in found.values())
    assert {0.0} == set(found.pop("sgd")["weights_only"])
    others = [ways["weights_only"] for ways in found.values()]
    assert all(min(differences) > 0.001 for differences in others)


def test_adam_at_its_defaults_loses_its_float16_weights_with_every_seed() -> None:
    """A larger epsilon saves them."""
    found = study("gpu_training/float16_demonstration:study_adam_in_float16")

    assert min(found["1e-8"]) > 0.9
    assert set(found["1e-4"]) == {0.0}


def test_every_format_learns_to_reverse_with_every_seed() -> None:
    """The small transformer ends as low in 16 bits as in 32."""
    found = study("lab/transformer_precision:study_learning")

    assert {"float32", "bfloat16", "float16"} == set(found)
    assert max(max(last) for last in found.values()) < 0.5


def test_the_best_of_twenty_seeds_is_hardly_better_than_their_mean() -> None:
    """Though on the hundred images that chose it, it seemed to be."""
    found = study("foundations/generalising:study_choosing")

    assert found["validation"] - found["all_validation"] > 0.02
    assert abs(found["test"] - found["all_test"]) < 0.005


def test_more_images_help_more_than_any_remedy_with_every_seed() -> None:
    """Then shifts; stopping and a strong decay lower the loss, and the usual decay does nothing."""
    found = study("foundations/generalising:study_remedies")
    few = {name: of for name, of in found.items() if not name.startswith("images")}
    best_of_few = max(of["highest_accuracy"] for of in few.values())
    plain = found["plain"]

    assert found["images_1000"]["lowest_accuracy"] > best_of_few
    assert found["images_5000"]["lowest_accuracy"] > found["images_1000"]["highest_accuracy"]
    assert max(few, key=lambda name: few[name]["highest_accuracy"]) == "shifts"
    assert all(
        found[name]["highest_loss"] < plain["lowest_loss"] for name in ("stopping", "shifts")
    )
    assert found["strong_decay"]["highest_loss"] < plain["lowest_loss"]
    assert abs(found["decay"]["lowest_loss"] - plain["lowest_loss"]) < 0.02


def test_dropout_gains_and_stopping_early_is_not_told_from_nothing_on_other_images() -> None:
    """A gain of three errors is one of most seeds and draws; one within two cannot be told."""
    found = study("foundations/generalising:study_gains")

    for name in ("dropout", "shifts", "images_1000"):
        assert found[name]["points"] > 3 * found[name]["error"]
        assert found[name]["seeds"] >= 16
    for name in ("stopping", "strong_decay"):
        assert abs(found[name]["points"]) <= 2 * found[name]["error"]
        assert 5 <= found[name]["seeds"] <= 15


def test_pairs_tell_more_where_two_trainings_share_their_luck() -> None:
    """Images and weights; a training on all 1,000 images shares the weights alone."""
    found = study("foundations/generalising:study_gains")
    shrinks = {name: of["error"] / of["error_apart"] for name, of in found.items()}

    assert shrinks.pop("images_1000") > 0.8
    assert max(shrinks.values()) < 0.8


def test_a_larger_batch_needs_as_many_updates_and_more_images_with_every_seed() -> None:
    """After as many images it is behind, also at a higher rate, and after as many updates not."""
    found = study("foundations/rate_and_batch:study_batches")
    small, large = found["small"], found["large"]

    assert small["highest"] < found["large_faster"]["lowest"]
    assert found["large_faster"]["highest"] < large["lowest"]
    assert found["large_longer"]["highest"] < 1.1 * small["highest"]


def test_useful_rates_span_a_factor_of_ten_with_every_seed() -> None:
    """Below the loss still falls, and above it jumps beyond that of a guess."""
    found = study("foundations/rate_and_batch:study_sweep")
    useful = [found[rate] for rate in ("0_03", "0_1", "0_3")]
    others = [of for of in found.values() if of not in useful]

    assert max(of["highest"] for of in useful) < min(of["lowest"] for of in others)
    assert found["0_001"]["early"] > found["0_001"]["middle"] > found["0_001"]["late"] > 1
    assert all(found[rate]["early"] > math.log(10) for rate in ("1", "3"))
    assert all(found[rate]["lowest"] > 1 for rate in ("1", "3"))


def test_updates_fall_less_and_less_as_the_batch_grows() -> None:
    """Four times the batch: nearly a quarter at first, hardly fewer at last; the images rise."""
    found = list(study("foundations/rate_and_batch:study_sizes").values())
    gains = [a["updates"] / b["updates"] for a, b in pairwise(found)]
    rates = [of["rate"] for of in found]

    assert gains[0] > 3
    assert gains[-1] < 1.3
    assert all(one > other for one, other in pairwise(gains))
    assert all(a["images"] < b["images"] for a, b in pairwise(found))
    assert rates == sorted(rates)
    assert rates[-1] == rates[-2]


def test_a_decay_ends_lower_than_the_best_constant_rate_and_leaves_less_to_luck() -> None:
    """From first rates of 0.3 and 0.4, in pairs; from 0.1 it is behind, whatever its way down."""
    found = study("foundations/rate_and_batch:study_decay")
    constant, linear, cosine = (found[name] for name in ("constant", "linear", "cosine"))

    assert min(constant, key=lambda rate: constant[rate]["mean"]) == "0_2"
    for decayed in (linear["0_3"], linear["0_4"], cosine["0_3"]):
        assert decayed["gain"] > 3 * decayed["error"]
        assert decayed["lower"] >= 16
    assert min(linear, key=lambda rate: linear[rate]["mean"]) == "0_3"
    assert min(cosine, key=lambda rate: cosine[rate]["mean"]) == "0_3"
    for decay in (linear, cosine):
        assert decay["0_4"]["highest"] < constant["0_4"]["lowest"]
        assert decay["0_1"]["mean"] > constant["0_1"]["mean"]
    spread = {rate: of["highest"] - of["lowest"] for rate, of in linear.items()}
    assert 3 * spread["0_3"] < constant["0_2"]["highest"] - constant["0_2"]["lowest"]


def test_a_warm_up_saves_high_rates_and_delays_low_ones_with_every_seed() -> None:
    """Under Adam with a batch of 512: high ones are 0.03 and 0.1, and 0.01 is a low one."""
    found = study("foundations/rate_and_batch:study_warm_up")

    assert all(
        found[rate]["with"]["highest"] < found[rate]["without"]["lowest"]
        for rate in ("0_03", "0_1")
    )
    assert found["0_01"]["with"]["lowest"] > found["0_01"]["without"]["highest"]


def test_a_split_by_file_validates_higher_than_new_writers_with_every_seed() -> None:
    """By writer it does not, both models read them alike, and without preparation none does."""
    found = study("foundations/own_data:study_split")
    by_file, by_writer = found["file"], found["writer"]

    assert by_file["validation_lowest"] > by_file["others_highest"]
    assert by_file["validation_lowest"] > by_writer["validation_highest"]
    assert by_writer["validation_highest"] < by_writer["others_highest"] + 0.03
    assert by_writer["validation_lowest"] > by_writer["others_lowest"] - 0.06
    for end in ("lowest", "highest"):
        assert abs(by_file[f"others_{end}"] - by_writer[f"others_{end}"]) < 0.04
    assert by_writer["raw_highest"] < by_writer["others_lowest"]


def test_a_trained_start_gains_with_few_images_and_nothing_with_many() -> None:
    """In most of ten seeds; frozen features are a limit where images are many."""
    found = study("foundations/fine_tuning:study_sizes")
    few, some, many = (found[size] for size in ("4", "10", "100"))

    assert min(few["head"], few["all"]) > few["nothing"] + 0.02
    assert few["head"] < few["nothing"] + 0.06
    assert some["nothing"] + 0.02 > max(some["head"], some["all"]) > some["nothing"]
    assert 6 <= min(few["head_better"], few["all_better"])
    assert few["head_better"] < 10
    assert many["head_better"] <= 2
    assert abs(many["all"] - many["nothing"]) < 0.01


def test_a_high_rate_forgets_before_it_shows_on_the_new_digits() -> None:
    """The lower one does neither; on the mean of ten seeds."""
    found = study("foundations/fine_tuning:study_rates")
    frozen, low, high, highest = (found[rate] for rate in ("0", "0_001", "0_01", "0_1"))

    assert highest["new"] < frozen["new"] - 0.1
    assert highest["old"] < 0.5
    assert 0.6 < high["old"] < low["old"] - 0.05
    assert frozen["old"] - low["old"] < 0.01
    assert max(abs(of["new"] - frozen["new"]) for of in (low, high)) < 0.01
