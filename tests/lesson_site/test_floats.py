"""The float explorer as the build writes it, and what the recorded gradients say."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
from markdown import Markdown
from pymdownx import superfences

from lesson_code.gpu_training.exponent_histogram import as_row
from lesson_code.gpu_training.float_formats import E4M3, E5M2, FLOAT16
from lesson_site.apart import move_apart
from lesson_site.errors import PageError
from lesson_site.fences import keep_options
from lesson_site.floats import gradients, words
from lesson_site.floats.fence import SCALE_POWERS, floats
from lesson_site.floats.gradients import PLACES, Recorded


@pytest.fixture(scope="module")
def recorded() -> Recorded:
    """The committed gradients."""
    return gradients.read()


def drawn(show: str) -> str:
    """What a fence becomes."""
    name = "lesson-floats"
    custom = {"name": name, "class": name, "format": floats, "validator": keep_options}
    configs = {superfences.__name__: {"custom_fences": [custom]}}
    md = Markdown(extensions=[superfences.__name__], extension_configs=configs)
    return md.convert(f'```{name} show="{show}"\n```')


@pytest.mark.parametrize("show", ["switches", "epochs", "scale"])
def test_each_part_reads_without_javascript(show: str) -> None:
    """It has a drawing with a name, and a table."""
    html = drawn(show)

    assert 1 <= html.count('role="img" aria-label="')
    assert 1 == html.count("<table")
    assert "style=" not in html


def test_another_part_is_refused() -> None:
    """The message names those that there are."""
    with pytest.raises(PageError, match="must be one of switches, epochs, scale"):
        drawn("everything")


def test_the_sentences_are_those_of_the_first_choice(recorded: Recorded) -> None:
    """The number line begins with a number, the slider without a scale."""
    switches, scale = drawn("switches"), drawn("scale")

    assert words.becomes(FLOAT16, 0.1) in switches
    for sentence in gradients.sentences(recorded.together("logits", 5), FLOAT16, 0):
        assert sentence in scale


def test_missing_gradients_are_told_with_the_command(tmp_path: Path) -> None:
    """The build stops, and says what to run."""
    with pytest.raises(PageError, match=r"there is no .*; run `python -m lesson_code"):
        gradients.read(tmp_path / "none.json")


@pytest.mark.parametrize("content", ["{", '{"runs": []}', '{"splits": [1.5], "runs": []}'])
def test_damaged_gradients_are_refused(tmp_path: Path, content: str) -> None:
    """Neither half a file nor one with other bins is drawn."""
    file = tmp_path / "gradients.json"
    file.write_text(content, encoding="utf-8")

    with pytest.raises(PageError, match="is damaged"):
        gradients.read(file)


def test_a_place_without_an_epoch_is_refused(tmp_path: Path) -> None:
    """Every place has every epoch."""
    content = json.loads(gradients.FILE.read_text(encoding="utf-8"))
    content["runs"] = [run for run in content["runs"] if run["place"] != "weights"]
    file = tmp_path / "gradients.json"
    file.write_text(json.dumps(content), encoding="utf-8")

    with pytest.raises(PageError, match="some place lacks an epoch"):
        gradients.read(file)


def test_every_seed_is_counted_alike(recorded: Recorded) -> None:
    """Five seeds, and as many gradients of each in every epoch."""
    assert 5 == recorded.seeds
    for place in PLACES:
        totals = {
            run.zeros + run.others
            for epoch in recorded.epochs
            for run in recorded.counts[place, epoch]
        }
        assert 1 == len(totals), place


def lost_shares(recorded: Recorded, place: str, epoch: int, power: int) -> list[float]:
    """Of each seed, the share that float16 loses."""
    runs = recorded.counts[place, epoch]
    return [run.lost(FLOAT16, power) / run.others for run in runs]


@pytest.mark.parametrize("place", list(PLACES))
def test_gradients_shrink_as_the_model_learns(recorded: Recorded, place: str) -> None:
    """With every seed float16 loses more in each counted epoch than in any before."""
    shares = [lost_shares(recorded, place, epoch, 0) for epoch in recorded.epochs]

    for before, after in pairwise(shares):
        assert max(before) < min(after)


def test_the_logits_lose_most_and_the_weights_least(recorded: Recorded) -> None:
    """With every seed, in every counted epoch."""
    for epoch in recorded.epochs:
        logits, layer, weights = (
            lost_shares(recorded, place, epoch, 0) for place in ("logits", "layer_1", "weights")
        )
        assert min(logits) > max(layer)
        assert min(layer) > max(weights)


@pytest.mark.parametrize("epoch", [10, 20])
def test_the_smallest_gradient_of_a_sure_model_is_a_peak(recorded: Recorded, epoch: int) -> None:
    """With every seed the bin that ends at 2**-29 is larger than those beside it."""
    for run in recorded.counts["logits", epoch]:
        below, peak, above = (sum(run.bins[exponent]) for exponent in (-31, -30, -29))
        assert below < peak > above


def test_most_gradients_of_the_first_epoch_are_above_the_edge(recorded: Recorded) -> None:
    """At every place, with every seed."""
    assert all(max(lost_shares(recorded, place, 1, 0)) < 0.5 for place in PLACES)


def test_the_first_scale_of_gradscaler_is_the_largest_without_overflow(recorded: Recorded) -> None:
    """No counted gradient overflows at 65,536; at twice that some at the weights do."""
    every = [recorded.together(*key) for key in recorded.counts]

    assert 0 == sum(each.too_large(FLOAT16, 16) for each in every)
    assert 0 < recorded.together("weights", 1).too_large(FLOAT16, 17) < 100


@pytest.mark.parametrize("epoch", [10, 20])
def test_late_in_training_no_scale_holds_both_ends(recorded: Recorded, epoch: int) -> None:
    """At every scale float16 loses some of the logits' gradients at one end or the other."""
    together = recorded.together("logits", epoch)

    for power in SCALE_POWERS:
        assert together.lost(FLOAT16, power) + together.too_large(FLOAT16, power) > 0


def test_eight_bits_lose_more(recorded: Recorded) -> None:
    """Unscaled, E4M3 loses more than E5M2, and that more than float16."""
    together = recorded.together("layer_1", 1)

    lost = [together.lost(kind) for kind in (FLOAT16, E5M2, E4M3)]

    assert lost == sorted(set(lost))


def test_the_slider_s_counts_go_into_a_file(tmp_path: Path, recorded: Recorded) -> None:
    """They are what the slider counts from, epoch by epoch."""
    page = tmp_path / "index.html"
    page.write_text(drawn("scale"), encoding="utf-8")

    move_apart(tmp_path)

    (file,) = (tmp_path / "assets/data").iterdir()
    counts = json.loads(file.read_text(encoding="utf-8"))
    assert as_row(recorded.together("weights", 1)) == counts["weights"][0]
