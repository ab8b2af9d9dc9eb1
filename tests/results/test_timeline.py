"""The timeline's loops follow the counted steps, the cards' rates and what was measured."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from lesson_code.forecast.cards import read_cards
from lesson_code.forecast.formula import HOST, forecast
from lesson_code.timeline.simulation import simulate
from results.forecasts import read_steps
from results.store import open_store
from results.timeline import (
    BUSIEST,
    CORNERS,
    FASTEST,
    IDLEST,
    LIKELY,
    SLOWEST,
    Choice,
    Model,
    Own,
    TimelineError,
    loop_of,
    read_models,
    runs_of,
)
from results.timeline_measured import own, read_measured

OWN = Own(load=1e-4, hand=2e-4)
TEXTBOOK = Choice()
FED = replace(TEXTBOOK, images="device", reads_loss=False)


def sums(model: Model, batch: int, fused: bool) -> tuple[int, int, int]:
    """Operations, floating-point operations and bytes of a step."""
    kernels = (*model.operations, *(model.fused if fused else model.update))
    return (
        len(kernels),
        sum(one.flop + batch * one.sample_flop for one in kernels),
        sum(one.bytes + batch * one.sample_bytes for one in kernels),
    )


@pytest.mark.parametrize(
    ("step", "model", "fused"),
    [
        *((f"mnist_{batch}", "mnist", False) for batch in (16, 64, 256, 1024, 4096)),
        *((f"resnet_{batch}", "resnet", False) for batch in (64, 256, 1024)),
        ("fused_64", "mnist", True),
        ("tiny_32", "tiny", False),
        ("large_1024", "large", False),
    ],
)
def test_the_operations_add_up_to_the_counted_step(step: str, model: str, fused: bool) -> None:
    """One by one they are what the forecast counts of the same step, at any batch."""
    counted = read_steps()[step, "float32"]

    expected = counted.step.launches, counted.step.flop["float32"], counted.step.bytes
    assert expected == sums(read_models()[model], counted.batch, fused)


def test_a_fed_loop_takes_what_is_forecast() -> None:
    """With the data on the GPU and no loss read, a large step is forecast as elsewhere."""
    card = read_cards()["a100-80gb"]
    run = runs_of(replace(FED, model="large", batch=1024, card=card.id), OWN)[LIKELY]

    assert forecast(read_steps()["large_1024", "float32"].step, card).time == pytest.approx(
        run.period, rel=0.01
    )


def test_a_launch_bound_loop_takes_its_launches() -> None:
    """The lesson's step on a fast card takes 27 times what a request takes."""
    run = runs_of(replace(FED, card="h100"), OWN)[LIKELY]

    assert 27 * HOST.likely == pytest.approx(run.period)


def test_a_batch_is_prepared_image_by_image() -> None:
    """64 images take 64 times what one takes, slow ones ten times as long."""
    card, model = read_cards()["t4"], read_models()["mnist"]

    loads = [
        loop_of(replace(TEXTBOOK, images=images), LIKELY, OWN, card, model).load
        for images in ("lesson", "slow", "device")
    ]
    assert [64e-4, 640e-4, 0.0] == pytest.approx(loads)


@pytest.mark.parametrize("model", list(read_models()))
@pytest.mark.parametrize("choice", [TEXTBOOK, FED, replace(FED, graph=True)], ids=str)
def test_the_corners_hold_the_likely_run_between_them(model: str, choice: Choice) -> None:
    """Neither speed nor work of the GPU lies outside of the band."""
    runs = runs_of(replace(choice, model=model), OWN)

    least, most = (1 - 1e-9) * runs[FASTEST].period, (1 + 1e-9) * runs[SLOWEST].period
    assert [] == [corner for corner in CORNERS if not least <= runs[corner].period <= most]
    least, most = runs[IDLEST].busy - 1e-9, runs[BUSIEST].busy + 1e-9
    assert [] == [corner for corner in CORNERS if not least <= runs[corner].busy <= most]


def test_a_file_of_operations_that_is_damaged_is_named(tmp_path: Path) -> None:
    """With what is wrong in it, and the command that writes it."""
    path = tmp_path / "steps.json"
    path.write_text(json.dumps({"models": {"tiny": [1, [["forward"]], [], []]}}))

    with pytest.raises(TimelineError, match=r"steps\.json.*benchmarks\.timeline_steps"):
        read_models(path)


def test_the_textbook_loop_is_bound_by_its_loader() -> None:
    """Whatever the card and the computer."""
    causes = {
        simulate(loop_of(TEXTBOOK, corner, OWN, card, read_models()["mnist"])).cause
        for card in read_cards().values()
        for corner in CORNERS
    }

    assert {"load"} == causes


def test_the_timeline_is_right_about_every_loop_that_was_measured() -> None:
    """Steps a second of at least twelve loops, with no more workers than cores, within 1.3."""
    measured, provenance = read_measured()

    known = [one for one in measured if one.setting.workers <= provenance["cores"]]
    assert 12 <= len(known)
    assert [] == [one.setting for one in known if one.error > 1.3]


def test_measured_loops_differ_in_what_they_wait_for() -> None:
    """In some the loader takes longer and in some the step, so that neither alone is right."""
    measured, _ = read_measured()

    shares = [min(one.loads) / max(1, one.setting.workers) / min(one.computes) for one in measured]
    assert min(shares) < 0.5
    assert 2 < max(shares)


def test_the_loader_of_the_newest_run_is_taken() -> None:
    """An image takes what a pass over all of them took, by their number."""
    whole = open_store().figure("mnist_epoch.loader_only").value

    assert whole
    assert pytest.approx(whole / 60_000) == own().load
    assert own().is_measured
