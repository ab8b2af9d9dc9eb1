"""What the mission's model says about measured entries, and what a result must not say."""

import math
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from benchmarks import cases
from lesson_code.mission.architecture import GPT2_SMALL, GPT2_XL
from lesson_code.mission.constants import BASELINE_BATCH, MODEL_VERSION
from lesson_code.mission.memory import to_gb
from lesson_code.mission.pipeline import pipeline
from results.counted_memory import read_counted
from results.entry import entry
from results.predictions import (
    CONFIGURATIONS,
    LAPTOP,
    MODEL_NAMES,
    Configuration,
    broken_order,
    keep_predictions,
    predictions,
    problems,
    within_tolerance,
)

MIB = 2**20
XL = Configuration("xl", 1, "fp32", "adam", "none")
GOOD = {"mfu": 24.5, "hfu": 24.5, "compute": 35.0, "utilisation": 45.0, "data": 40.0}


def shares(values: dict[str, float]) -> dict[str, Any]:
    """Entries of one run of the pipeline, predictions included."""
    name = "float32.none.plain.cuda_"
    measured = {name + what: entry([v], "percent", device="cuda") for what, v in values.items()}
    return keep_predictions("pipeline", measured)


def test_nothing_is_predicted_that_is_not_measured() -> None:
    """Every name is an entry of its case."""
    for case in ("transformer_memory", "pipeline"):
        assert predictions(case)
        assert set(predictions(case)) <= set(cases.load(case).ENTRIES)
    assert not predictions("matmul")


@pytest.mark.parametrize(
    ("c", "expected_gb"),
    [
        (Configuration("small", 4, "fp32", "adam", "none"), (0.498, 1.493, 10.272, 1.991, 11.919)),
        (XL, (6.230, 18.691, 35.427, 24.922, 35.839)),
        (
            Configuration("xl", 4, "autocast", "adam", "none"),
            (6.230, 18.691, 70.270, 24.922, 71.093),
        ),
    ],
)
def test_five_moments_of_a_step_are_predicted(
    c: Configuration, expected_gb: tuple[float, ...]
) -> None:
    """Model, between steps, end of forward, end of backward, peak; each under its entry's name."""
    phases = ("model", "idle", "forward", "backward", "peak")

    found = [predictions("transformer_memory")[f"{c.name}.cuda_{phase}"] for phase in phases]

    assert c in CONFIGURATIONS
    assert expected_gb == pytest.approx([to_gb(size) for size in found], abs=5e-4)


def test_what_is_predicted_is_a_number_with_a_fraction() -> None:
    """Bytes and batches are kept as shares are."""
    for case in ("transformer_memory", "pipeline"):
        assert {float} == set(map(type, predictions(case).values()))


def test_each_model_is_called_by_its_name() -> None:
    """The name is that of the architecture which is counted."""
    assert {"small": "GPT-2 small", "xl": "GPT-2 XL"} == MODEL_NAMES
    assert [GPT2_SMALL, GPT2_XL] == [replace(XL, model=model).arch for model in MODEL_NAMES]


def test_what_is_predicted_was_counted() -> None:
    """Each configuration once, and no other."""
    names = [c.name for c in (*CONFIGURATIONS, *LAPTOP)]

    assert sorted(read_counted()) == sorted(names)


def test_the_largest_batch_under_the_cap_fits_and_no_larger_one() -> None:
    """In two formats, and with each kind of recomputation."""
    said = predictions("transformer_memory")
    largest = {name: int(batch) for name, batch in said.items() if name.startswith("largest.")}

    assert 6 == len(largest)
    for regime in ("fp32", "autocast"):
        for mode in ("none", "selective", "full"):
            batch = largest[f"largest.{regime}.{mode}.cuda_batch"]
            at = [Configuration("small", batch + more, regime, "adam", mode) for more in (0, 1)]
            assert at[0].under_cap != "over"
            assert at[1].under_cap == "over"


def test_peaks_under_the_cap_are_predicted() -> None:
    """Beside the steps that are tried."""
    said = predictions("transformer_memory")

    for c in LAPTOP:
        assert c.peak_bytes == said[f"laptop.{c.regime}.b{c.batch}.cuda_peak"]


def test_optimizers_differ_by_whole_vectors_between_steps() -> None:
    """None, one and two, each as large as the weights."""
    said = predictions("transformer_memory")
    for start in ("small.b4", "xl.b1"):
        idle = {
            optimizer: said[f"{start}.fp32.{optimizer}.none.cuda_idle"]
            for optimizer in ("sgd", "momentum", "adam")
        }

        vector = said[f"{start}.fp32.sgd.none.cuda_model"]
        assert [vector, 2 * vector, 3 * vector] == list(idle.values())


def test_under_the_cap_16_bit_weights_are_predicted_to_run() -> None:
    """Pure 16 bit at batch 1 and 2, and at 4 with its gradients freed; float32 weights never."""
    said = predictions("transformer_memory")
    steps = {(c.regime, c.batch): said[f"laptop.{c.regime}.b{c.batch}.cuda_steps"] for c in LAPTOP}

    expected = ["over", "fits", "fits", "fits_if_grads_freed"]
    assert expected == [c.under_cap for c in LAPTOP]
    assert {("fp32", 1): 0, **{("pure16", n): 2 for n in (1, 2, 4)}} == steps


def test_shares_are_those_of_the_pipeline_model() -> None:
    """The baseline's 40, 25 and 35 percent; with all three, 84.6 % busy and an MFU of 39.3 %."""
    said = predictions("pipeline")
    baseline = [said[f"float32.none.plain.cuda_{what}"] for what in ("data", "transfer", "compute")]
    all_three = [said[f"bfloat16.full.prefetch.cuda_{what}"] for what in ("utilisation", "mfu")]

    assert [40.0, 25.0, 35.0] == pytest.approx(baseline)
    assert [84.56, 39.34] == pytest.approx(all_three, abs=0.005)


def test_each_run_is_the_models_with_its_switches() -> None:
    """Mixed precision is bfloat16's alone: TF32 keeps the bytes of float32."""
    said = predictions("pipeline")
    runs = {
        f"{run}.{loader}": pipeline(loader == "prefetch", mixed, recomputed, BASELINE_BATCH)
        for run, mixed, recomputed in (
            ("float32.none", False, False),
            ("tf32.none", False, False),
            ("bfloat16.none", True, False),
            ("bfloat16.full", True, True),
        )
        for loader in ("plain", "prefetch")
    }

    expected: dict[str, float] = {}
    for run, found in runs.items():
        expected |= {
            f"{run}.cuda_data": 100 * found.data_share,
            f"{run}.cuda_compute": 100 * found.compute_share,
            f"{run}.cuda_transfer": 100 * found.transfer_share,
            f"{run}.cuda_utilisation": 100 * found.utilisation,
            f"{run}.cuda_mfu": 100 * found.mfu,
            f"{run}.cuda_hfu": 100 * found.hfu,
        }
    assert expected == pytest.approx(said)


def test_a_small_model_fits_under_the_cap_with_all_its_parts() -> None:
    """What is counted is the model that is trained, and not the largest one."""
    assert "fits" == Configuration("small", 1, "fp32", "adam", "none").under_cap


def test_a_measured_entry_keeps_prediction_and_version() -> None:
    """Beside the settings that it has; an entry without a prediction stays as it is."""
    entries = {
        "xl.b1.fp32.adam.none.cuda_idle": entry(
            [1.0], "bytes", device="cuda", settings={"batch": 1}
        ),
        "cuda_context": entry([5.0], "bytes", device="cuda"),
    }

    kept = keep_predictions("transformer_memory", entries)

    idle = kept["xl.b1.fp32.adam.none.cuda_idle"].settings
    assert {"batch": 1, "predicted": XL.phases["idle"], "model_version": MODEL_VERSION} == idle
    assert {} == kept["cuda_context"].settings
    assert not list(problems("transformer_memory", kept))


def test_a_prediction_that_the_model_no_longer_gives_is_a_problem() -> None:
    """Both numbers are named; with another version of the model it is history."""
    name = f"{XL.name}.cuda_idle"
    kept = keep_predictions("transformer_memory", {name: entry([1.0], "bytes", device="cuda")})
    settings = dict(kept[name].settings)
    settings["predicted"] -= 1
    kept[name] = replace(kept[name], settings=settings)

    [problem] = problems("transformer_memory", kept)
    settings["model_version"] = "0.9.0"

    assert "18,691,334,399" in problem
    assert "18,691,334,400" in problem
    assert not list(problems("transformer_memory", kept))


@pytest.mark.parametrize(("off", "count"), [(0.0, 0), (5e-13, 0), (5e-12, 1), (math.inf, 1)])
def test_a_prediction_may_be_rounded_otherwise(off: float, count: int) -> None:
    """By another processor; what differs by more is another prediction."""
    name = "float32.none.plain.cuda_data"
    kept = keep_predictions("pipeline", {name: entry([40.0], "percent", device="cuda")})
    settings = {**kept[name].settings, "predicted": kept[name].settings["predicted"] * (1 + off)}

    found = list(problems("pipeline", {name: replace(kept[name], settings=settings)}))

    assert count == len(found)


@pytest.mark.parametrize(("kept", "count"), [(0.0, 0), (1e-12, 0), (1.005e-12, 1), (-2e-12, 1)])
def test_a_prediction_of_nothing_may_be_off_by_next_to_nothing(kept: float, count: int) -> None:
    """A part of nothing would be nothing at all."""
    name = "laptop.fp32.b1.cuda_steps"
    settings = {"predicted": kept, "model_version": MODEL_VERSION}
    measured = {name: entry([0], "count", device="cuda", settings=settings)}

    assert count == len(list(problems("transformer_memory", measured)))


@pytest.mark.parametrize("missing", ["predicted", "model_version"])
def test_both_must_be_kept(missing: str) -> None:
    """What was said, and by which model."""
    name = f"{XL.name}.cuda_idle"
    kept = keep_predictions("transformer_memory", {name: entry([1.0], "bytes", device="cuda")})
    settings = {key: value for key, value in kept[name].settings.items() if key != missing}

    [problem] = problems("transformer_memory", {name: replace(kept[name], settings=settings)})

    assert f"transformer_memory {name} keeps no prediction" in problem


def test_shares_of_which_one_is_missing_contradict_nothing() -> None:
    """They are measured together or not at all."""
    some = {what: share for what, share in (GOOD | {"mfu": 30.0}).items() if what != "data"}

    assert not list(problems("pipeline", shares(some)))


def test_an_entry_without_its_prediction_is_a_problem() -> None:
    """Nobody could tell what the model said when it was measured."""
    name = f"{XL.name}.cuda_idle"

    [problem] = problems("transformer_memory", {name: entry([1.0], "bytes", device="cuda")})

    assert "keeps no prediction" in problem


def test_every_problem_of_a_result_is_told() -> None:
    """In each entry and in each run, whatever is wrong elsewhere."""
    wrong = GOOD | {"mfu": 30.0}
    runs = ("float32.none.prefetch", "tf32.none.plain")
    entries = {
        f"{run}.cuda_{what}": entry([value], "percent", device="cuda")
        for run in runs
        for what, value in wrong.items()
    }
    order = broken_order(wrong)
    assert order

    said = list(problems("pipeline", entries))

    of_orders = [problem for problem in said if order in problem]
    assert 2 * len(wrong) == len(said) - len(of_orders)
    assert all(run in problem for run, problem in zip(runs, of_orders, strict=True))


def test_a_measurement_that_keeps_the_order_passes() -> None:
    """MFU ≤ HFU ≤ compute ≤ utilisation ≤ 100 - data, equality and half a point allowed."""
    assert broken_order(GOOD | {"utilisation": 60.5}) is None
    assert broken_order(GOOD | {"utilisation": 60.501}) is not None
    assert not list(problems("pipeline", shares(GOOD)))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"mfu": 30.0}, "mfu is 30.0 % and hfu 24.5 %"),
        ({"hfu": 36.0}, "hfu is 36.0 % and compute 35.0 %"),
        ({"compute": 50.0}, "compute is 50.0 % and utilisation 45.0 %"),
        ({"data": 60.0}, "utilisation is 45.0 % and time without data 40.0 %"),
    ],
)
def test_a_measurement_that_breaks_the_order_is_a_problem(
    wrong: dict[str, float], said: str
) -> None:
    """The two shares that contradict each other are named."""
    [problem] = problems("pipeline", shares(GOOD | wrong))

    assert said in problem
    assert "float32.none.plain" in problem


@pytest.mark.parametrize(
    ("recompute", "phase", "low", "high"),
    [
        ("none", "model", 0.99, 1.01),
        ("none", "idle", 0.99, 1.01),
        ("none", "backward", 0.99, 1.01),
        ("none", "forward", 0.95, 1.05),
        ("selective", "forward", 0.9, 1.1),
        ("full", "forward", 0.9, 1.1),
        ("none", "peak", 0.95, 1.05),
    ],
)
def test_tolerances_are_those_of_the_phase(
    recompute: Any, phase: str, low: float, high: float
) -> None:
    """1 % where nothing depends on the batch, 5 % where everything is stored, 10 % elsewhere."""
    c = Configuration("xl", 1, "fp32", "adam", recompute)
    predicted = 1e11
    least, most = round(low * predicted), round(high * predicted)

    assert within_tolerance(c, phase, predicted, least)
    assert within_tolerance(c, phase, predicted, most)
    assert not within_tolerance(c, phase, predicted, least - 1)
    assert not within_tolerance(c, phase, predicted, most + 1)


def test_a_small_static_phase_may_be_off_by_a_workspace() -> None:
    """64 MiB, which is more than 1 % of it."""
    c = Configuration("small", 4, "fp32", "adam", "none")

    assert within_tolerance(c, "model", 5e8, 5e8 + 64 * MIB)
    assert not within_tolerance(c, "model", 5e8, 5e8 + 65 * MIB)


def test_a_page_can_ask_without_pytorch() -> None:
    """Neither PyTorch nor NumPy is loaded on the way."""
    code = "import sys, results.predictions as p; p.predictions('pipeline')\n"
    code += "assert not {'torch', 'numpy'} & set(sys.modules)"

    subprocess.run([sys.executable, "-c", code], check=True)
