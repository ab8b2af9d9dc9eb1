"""The timeline's loops follow the counted steps, the cards' rates and what was measured."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from lesson_code.forecast.cards import Card, read_cards
from lesson_code.forecast.formula import HOST, forecast
from lesson_code.timeline.simulation import Kernel, Loop, simulate
from results import timeline_measured
from results.forecasts import read_steps
from results.store import open_store
from results.timeline import (
    BATCHES,
    BUSIEST,
    CORNERS,
    FASTEST,
    FILE,
    IDLEST,
    IMAGES,
    LIKELY,
    SLOWEST,
    WORKERS,
    Choice,
    Corner,
    Model,
    Operation,
    Own,
    TimelineError,
    between,
    loop_of,
    read_models,
    runs_of,
    trip_of,
    write_models,
)
from results.timeline_measured import (
    Measured,
    Setting,
    own,
    read_measured,
    write_measured,
)

OWN = Own(load=1e-4, hand=2e-4, is_measured=True)
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


CARD = Card("mine", "my card", 2**30, 1e12, {"float32": 1e13}, {})
BIG = Model(
    1000,
    (Operation("forward", "mm", 10**10, 10**8, 10**9, 10**7),),
    (Operation("update", "add", 0, 0, 10**9, 0),),
    (Operation("update", "fused", 0, 0, 0, 0),),
)


@pytest.mark.parametrize(
    ("corner", "band", "launch", "copy", "rate", "staging"),
    [
        (FASTEST, 1 / 1.5, HOST.low, 10e-6, 26.03e9, 12e9),
        (
            LIKELY,
            1.0,
            HOST.likely,
            math.sqrt(3) * 10e-6,
            math.sqrt(26.03 * 12.35) * 1e9,
            48e18**0.5,
        ),
        (SLOWEST, 1.5, HOST.high, 30e-6, 12.35e9, 4e9),
    ],
)
def test_a_loop_has_its_parts_at_a_corner(
    corner: Corner, band: float, launch: float, copy: float, rate: float, staging: float
) -> None:
    """Operations and bytes of ten samples over the card's rates, and two copies of 10 kB in all."""
    choice = Choice(batch=10, workers=2, pinned=True, reads_loss=False, graph=True)
    forward = (1.1e10 / 0.8e13 + 1.1e9 / 0.85e12) * band
    update = 1e9 / 0.85e12 * band

    loop = loop_of(choice, corner, OWN, CARD, BIG)

    assert [("forward", pytest.approx(forward)), ("update", pytest.approx(update))] == [
        (kernel.phase, kernel.seconds) for kernel in loop.kernels
    ]
    assert (launch, 2, OWN.hand) == (loop.launch, loop.workers, loop.hand)
    assert pytest.approx(10 * OWN.load) == loop.load
    assert pytest.approx(copy) == loop.answer
    assert pytest.approx(2 * copy + 10_000 / rate) == loop.copy
    assert pytest.approx(10_000 / staging) == loop.staging
    assert (True, False, True) == (loop.pinned, loop.reads_loss, loop.graph)
    assert not loop.on_cpu


def test_a_trip_is_the_copies_of_a_loop_that_waits_for_them() -> None:
    """Within the computer's memory and over to the GPU, at both ends of the band and between."""
    loops = [loop_of(Choice(batch=10), c, OWN, CARD, BIG) for c in (FASTEST, LIKELY, SLOWEST)]

    assert pytest.approx([loop.staging + loop.copy for loop in loops]) == trip_of(10_000)


def test_what_nobody_measured_is_as_far_from_its_best_as_from_its_worst() -> None:
    """As a factor: twice the one, half of the other."""
    found = between(1.0, 4.0)

    assert (1.0, 2.0, 4.0) == (found.best, found.likely, found.worst)


def test_a_corner_has_one_end_of_the_host_and_one_of_the_gpu() -> None:
    """The GPU is busiest where it is slow and the host is fast."""
    busiest, idlest = (loop_of(TEXTBOOK, c, OWN, CARD, BIG) for c in (BUSIEST, IDLEST))

    assert (HOST.low, HOST.high) == (busiest.launch, idlest.launch)
    assert pytest.approx(2.25 * idlest.kernels[0].seconds) == busiest.kernels[0].seconds


def test_a_card_has_its_own_band_in_a_loop() -> None:
    """Where it is wider than that of most."""
    likely, slowest = (
        loop_of(TEXTBOOK, corner, OWN, replace(CARD, band=3.0), BIG) for corner in (LIKELY, SLOWEST)
    )

    assert pytest.approx(3 * likely.kernels[0].seconds) == slowest.kernels[0].seconds


@pytest.mark.parametrize(
    ("corner", "least"), [(FASTEST, 0.99e-6), (LIKELY, 1.2022e-6), (SLOWEST, 1.46e-6)]
)
def test_no_kernel_takes_less_than_one_that_does_nothing(corner: Corner, least: float) -> None:
    """However little it has to do."""
    loop = loop_of(replace(TEXTBOOK, fused=True), corner, OWN, CARD, BIG)

    assert pytest.approx(least, rel=1e-4) == loop.kernels[-1].seconds


def test_images_on_the_device_need_no_workers() -> None:
    """They are there already."""
    assert 0 == loop_of(replace(FED, workers=2), LIKELY, OWN, CARD, BIG).workers


@pytest.mark.parametrize("model", list(read_models()))
@pytest.mark.parametrize("choice", [TEXTBOOK, FED, replace(FED, graph=True)], ids=str)
def test_the_corners_hold_the_likely_run_between_them(model: str, choice: Choice) -> None:
    """Neither speed nor work of the GPU lies outside of the band."""
    runs = runs_of(replace(choice, model=model), OWN)

    least, most = (1 - 1e-9) * runs[FASTEST].period, (1 + 1e-9) * runs[SLOWEST].period
    assert [] == [corner for corner in CORNERS if not least <= runs[corner].period <= most]
    least, most = runs[IDLEST].busy - 1e-9, runs[BUSIEST].busy + 1e-9
    assert [] == [corner for corner in CORNERS if not least <= runs[corner].busy <= most]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "Expecting property name"),
        ("{}", "'models'"),
        ("[]", "list indices"),
        ('{"models": []}', "no attribute 'items'"),
        ('{"models": {"tiny": []}}', "not enough values"),
        ('{"models": {"tiny": [1, [["forward"]], [], []]}}', "missing 5 required"),
        (None, "No such file"),
    ],
)
def test_a_file_of_operations_that_is_damaged_is_named(
    text: str | None, said: str, tmp_path: Path
) -> None:
    """With what is wrong in it, and the command that writes it."""
    path = tmp_path / "steps.json"
    if text is not None:
        path.write_text(text, encoding="utf-8")

    with pytest.raises(TimelineError) as refused:
        read_models(path)

    assert str(refused.value).startswith(f"can't read {path}: ")
    assert said in str(refused.value)
    assert str(refused.value).endswith("; `python -m benchmarks.timeline_steps` writes it")


def test_operations_are_written_one_a_line(tmp_path: Path) -> None:
    """The file of the repository is what would be written again; nothing else is left behind."""
    path = tmp_path / "steps.json"
    as_it_is = FILE.read_text(encoding="utf-8")

    write_models(read_models(), json.loads(as_it_is)["torch"], path)

    assert as_it_is == path.read_text(encoding="utf-8")
    assert [path] == list(tmp_path.iterdir())
    assert read_models() == read_models(path)


def test_an_old_file_of_operations_stays_until_the_new_one_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is written lies beside it before."""
    path = tmp_path / "steps.json"
    path.write_text("as it was", encoding="utf-8")
    monkeypatch.setattr(Path, "replace", Mock(side_effect=OSError("no room")))

    with pytest.raises(OSError, match="no room"):
        write_models({"big": BIG}, "2.15.0", path)

    assert "as it was" == path.read_text(encoding="utf-8")
    assert {path, path.with_name("steps.new")} == set(tmp_path.iterdir())


def test_a_loop_is_run_once_for_all_who_show_it() -> None:
    """At every corner, as the simulation runs it; models are read once, too."""
    choice = replace(TEXTBOOK, model="tiny", card="h100", workers=2)
    card, model = read_cards()["h100"], read_models()["tiny"]

    runs = runs_of(choice, OWN)

    assert {
        corner: simulate(loop_of(choice, corner, OWN, card, model)) for corner in CORNERS
    } == runs
    assert {LIKELY, FASTEST, SLOWEST, BUSIEST, IDLEST} == runs.keys()
    assert all(run is runs[corner] for corner, run in runs_of(choice, OWN).items())
    assert read_models() is read_models()


def test_a_reader_begins_with_the_loop_of_the_lesson() -> None:
    """And can choose from these."""
    lesson = Choice("mnist", 64, "lesson", 0, False, True, False, False, "t4")

    assert lesson == Choice()
    assert Choice("mnist", 64, "lesson", 2, True, False, False, True) == Choice(
        workers=2, pinned=True, reads_loss=False, graph=True
    )
    assert (16, 32, 64, 256, 1024, 4096) == BATCHES
    assert (0, 1, 2, 4) == WORKERS
    assert ["lesson", "slow", "device"] == list(IMAGES)


@pytest.mark.parametrize("switch", ["pinned", "reads_loss", "graph"])
def test_each_switch_of_a_loop_can_be_turned_by_itself(switch: str) -> None:
    """The loop has it, and is the same otherwise."""
    choice = replace(TEXTBOOK, pinned=False, reads_loss=False, graph=False)

    on = loop_of(replace(choice, **{switch: True}), LIKELY, OWN, CARD, BIG)

    assert replace(loop_of(choice, LIKELY, OWN, CARD, BIG), **{switch: True}) == on


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


def made_up(workers: int, *hands: float) -> Measured:
    """A loop whose parts and whole took these times."""
    setting = Setting("sleep", 0.02, 64, workers)
    return Measured(setting, 5, (0.03, 0.02), (0.01, 0.04), hands, (0.033, 0.0264, 0.04))


def test_a_measured_loop_took_what_its_fastest_sample_took() -> None:
    """The simulated one took longer here: an error is at least one, both ways."""
    one = made_up(0, 0.0)

    assert 0.0264 == one.seconds
    assert pytest.approx(0.03) == one.simulated
    assert pytest.approx(0.03 / 0.0264) == one.error
    assert pytest.approx(0.04 / 0.0264) == one.spread


def test_a_loop_with_workers_is_simulated_with_them() -> None:
    """Two of them load while Python takes over a batch and computes."""
    steps = 5
    loop = Loop((Kernel("forward", 0.01),), load=0.02, workers=2, hand=0.002, on_cpu=True)
    end = max(block.end for block in simulate(loop, steps).blocks)

    assert pytest.approx(end / steps) == made_up(2, 0.003, 0.002).simulated


def test_a_loop_may_take_longer_than_is_simulated() -> None:
    """Half as long again is as wrong as two thirds."""
    one = replace(made_up(0, 0.0), loops=(0.045, 0.06))

    assert pytest.approx(1.5) == one.error


def test_the_measured_loops_are_written_as_they_are_kept(tmp_path: Path) -> None:
    """One a line below the machine, letter by letter, and nothing is left beside them."""
    path = tmp_path / "measured.json"

    write_measured(*read_measured(), path)

    as_it_is = timeline_measured.FILE.read_text(encoding="utf-8")
    assert as_it_is == path.read_text(encoding="utf-8")
    assert [path] == list(tmp_path.iterdir())


def test_loops_that_can_not_be_written_leave_the_old_ones(tmp_path: Path) -> None:
    """They are written in one piece or not at all."""
    path = tmp_path / "measured.json"
    path.write_text("old")
    path.with_suffix(".new").mkdir()

    with pytest.raises(OSError, match=r"measured\.new"):
        write_measured(*read_measured(), path)

    assert "old" == path.read_text()


WRITTEN: dict[str, Any] = {
    "setting": {"images": "work", "load": 1, "batch": 64, "workers": 2},
    "steps": 3,
    "loads": [1, 2],
    "computes": [3],
    "hands": [4],
    "loops": [5, 6, 7],
}


def kept_in(folder: Path, **changed: Any) -> Path:
    """A file with one loop, in which some fields are others."""
    path = folder / "measured.json"
    path.write_text(json.dumps({"provenance": {"cores": 2}, "loops": [WRITTEN | changed]}))
    return path


def test_each_field_of_a_loop_is_read(tmp_path: Path) -> None:
    """Whole seconds are seconds like any others."""
    ((one,), provenance) = read_measured(kept_in(tmp_path))

    assert Measured(Setting("work", 1, 64, 2), 3, (1, 2), (3,), (4,), (5, 6, 7)) == one
    assert {float} == set(map(type, (*one.loads, *one.computes, *one.hands, *one.loops)))
    assert {"cores": 2} == provenance


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"steps": "many"}, "many"),
        ({"steps": None}, "NoneType"),
        ({"loads": ["soon"]}, "soon"),
        ({"hands": 1}, "int"),
        ({"setting": {"images": "work"}}, "batch"),
    ],
)
def test_a_loop_with_another_field_is_refused(
    tmp_path: Path, changed: dict[str, Any], said: str
) -> None:
    """The message names the file, what is wrong in it and the command that writes it."""
    with pytest.raises(TimelineError, match=rf"measured\.json.*{said}.*benchmarks\.timeline"):
        read_measured(kept_in(tmp_path, **changed))


@pytest.mark.parametrize(
    ("text", "said"),
    [(None, "No such file"), ("{", "line 1"), ('{"loops": []}', "provenance"), ("[]", "list")],
)
def test_a_file_that_holds_no_loops_is_refused(tmp_path: Path, text: str | None, said: str) -> None:
    """Also where there is none."""
    path = tmp_path / "measured.json"
    if text is not None:
        path.write_text(text)

    with pytest.raises(TimelineError, match=rf"measured\.json.*{said}.*benchmarks\.timeline"):
        read_measured(path)


def test_a_loader_that_nobody_measured_is_assumed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenth of a millisecond; taking over a batch is measured beside the loops with workers."""
    some = (
        made_up(0, 0.0),
        made_up(2, 9e-3),
        made_up(1, 4e-3, 4.5e-3),
        made_up(2, 1e-3),
        made_up(4, 8e-3, 2e-3),
    )
    nothing = Mock(figure=lambda _: Mock(value=None))
    monkeypatch.setattr(timeline_measured, "open_store", lambda: nothing)
    monkeypatch.setattr(timeline_measured, "read_measured", lambda: (some, {}))

    assert Own(1e-4, 3e-3, is_measured=False) == own()


def test_the_loader_of_the_newest_run_is_taken() -> None:
    """An image takes what a pass over all of them took, by their number."""
    whole = open_store().figure("mnist_epoch.loader_only").value

    assert whole
    assert pytest.approx(whole / 60_000) == own().load
    assert own().is_measured
