"""The model of an iteration: what it reproduces, and what holds in every state."""

import math
from dataclasses import dataclass, replace
from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lesson_code.mission.choices import Regime
from lesson_code.mission.constants import (
    CHAPTER_BASELINE_UTILISATION,
    CHAPTER_OPTIMISED_SHARES,
    CHAPTER_OPTIMISED_UTILISATION,
    KERNEL_EFFICIENCY,
)
from lesson_code.mission.fit import Verdict, device_budget_bytes, verdict
from lesson_code.mission.memory import ledger_total_bytes, step_peak_bytes, to_gb
from lesson_code.mission.pipeline import (
    Iteration,
    TargetState,
    kernel_efficiency,
    pipeline,
    pipeline_memory,
    rounded_shares,
    target_state,
    upgrade_speedup,
)

OFF_AND_ON = (False, True)
BATCHES = tuple(KERNEL_EFFICIENCY)


@dataclass(frozen=True)
class State:
    """The settings of the instrument."""

    prefetch: bool
    mixed: bool
    checkpoint: bool
    batch: int
    tensor: int

    def run(self) -> Iteration:
        """One iteration."""
        return pipeline(self.prefetch, self.mixed, self.checkpoint, self.batch, self.tensor)


STATES = [State(*s) for s in product(OFF_AND_ON, OFF_AND_ON, OFF_AND_ON, BATCHES, (1, 2))]


def memory(mixed: bool, checkpoint: bool, batch: int) -> tuple[int, int, Verdict]:
    """Bytes of all parts, of a step, and what they mean on the node."""
    configuration = pipeline_memory(mixed, checkpoint)
    total, peak = (f(*configuration, batch) for f in (ledger_total_bytes, step_peak_bytes))
    return total, peak, verdict(total, peak, device_budget_bytes("node"))


@pytest.mark.parametrize("state", STATES, ids=str)
def test_what_holds_in_each_of_the_80_states(state: State) -> None:
    """Shares add up, and MFU ≤ HFU ≤ compute ≤ utilisation ≤ 1 - data."""
    found = state.run()

    shares = (found.data_share, found.transfer_share, found.compute_share)
    assert sum(shares) == pytest.approx(1, abs=1e-12)
    assert found.mfu <= found.hfu <= found.compute_share <= found.utilisation
    assert found.utilisation <= 1 - found.data_share
    assert not 0.7995 <= found.utilisation < 0.8
    tenths = [round(10 * share) for share in rounded_shares(*shares)]
    assert sum(tenths) == 1000
    assert all(abs(t - 1000 * s) < 1 for t, s in zip(tenths, shares, strict=True))


def test_the_times_of_an_iteration_add_up() -> None:
    """Waiting, transfers, compute and what is recomputed are the whole."""
    for state in STATES:
        found = state.run()
        parts = (
            found.data_units,
            found.transfer_units,
            found.compute_units,
            found.recompute_units,
        )

        assert found.total_units == pytest.approx(sum(parts))
        assert found.speed == pytest.approx(100 / found.total_units)
        assert found.useful_share == pytest.approx(found.compute_units / found.total_units)
        assert found.mfu == pytest.approx(found.useful_share * found.kernel_efficiency)
        assert found.hfu == pytest.approx(found.compute_share * found.kernel_efficiency)


@pytest.mark.parametrize("state", STATES, ids=str)
def test_what_each_optimisation_does_in_every_state(state: State) -> None:
    """Prefetching and mixed precision raise MFU; checkpoints make busier and slower."""
    rest = (state.batch, state.tensor)
    found = state.run()

    if not state.prefetch:
        prefetched = pipeline(True, state.mixed, state.checkpoint, *rest)
        assert prefetched.utilisation > found.utilisation
        assert prefetched.mfu > found.mfu
    if not state.checkpoint:
        recomputed = pipeline(state.prefetch, state.mixed, True, *rest)
        assert recomputed.utilisation > found.utilisation
        assert recomputed.mfu < found.mfu
        assert recomputed.total_units > found.total_units
    if not state.mixed and state.tensor == 1:
        assert pipeline(state.prefetch, True, state.checkpoint, *rest).mfu > found.mfu
    for batch in BATCHES:
        if batch > state.batch:
            larger = pipeline(state.prefetch, state.mixed, state.checkpoint, batch, state.tensor)
            assert larger.mfu > found.mfu


def test_the_chapters_two_profiles() -> None:
    """Its baseline exactly; all three together within a tenth of a point of its shares."""
    baseline, optimised = pipeline(False, False, False, 32), pipeline(True, True, True, 32)
    shares = (optimised.data_share, optimised.transfer_share, optimised.compute_share)

    assert (baseline.data_share, baseline.transfer_share, baseline.compute_share) == (
        0.40,
        0.25,
        0.35,
    )
    assert baseline.utilisation == pytest.approx(CHAPTER_BASELINE_UTILISATION)
    assert pytest.approx(CHAPTER_OPTIMISED_SHARES, abs=0.001) == shares
    assert optimised.utilisation == pytest.approx(CHAPTER_OPTIMISED_UTILISATION, abs=0.005)


def test_busier_is_not_faster() -> None:
    """Checkpoints raise utilisation from 82.0 to 84.6 % and take a quarter more time."""
    before, after = pipeline(True, True, False, 32), pipeline(True, True, True, 32)

    assert after.total_units / before.total_units == pytest.approx(1.25, abs=0.005)
    assert (before.utilisation, after.utilisation) == pytest.approx((0.820, 0.846), abs=5e-4)
    assert (before.mfu, after.mfu) == pytest.approx((0.490, 0.393), abs=5e-4)
    assert after.recompute_units / (after.compute_units + after.recompute_units) == pytest.approx(
        0.25
    )


def test_a_larger_batch_is_less_busy_and_of_more_use() -> None:
    """With all three on, faster kernels leave the other phases a larger share."""
    found = [pipeline(True, True, True, batch) for batch in BATCHES]

    assert [85.8, 84.6, 83.5, 82.8, 82.2] == [round(100 * i.utilisation, 1) for i in found]
    assert [34.8, 39.3, 43.2, 46.1, 48.1] == [round(100 * i.mfu, 1) for i in found]
    assert [1.42, 1.61, 1.76, 1.88, 1.96] == [round(i.speed, 2) for i in found]


def test_what_optimisation_gains() -> None:
    """Forty points of utilisation, and fifteen or nineteen of MFU."""
    baseline = pipeline(False, False, False, 32)
    for batch, points in ((32, 14.8), (64, 18.7)):
        optimised = pipeline(True, True, True, batch)

        assert points == pytest.approx(100 * (optimised.mfu - baseline.mfu), abs=0.05)
    prefetched = pipeline(True, False, False, 32)
    assert 100 * (prefetched.compute_share - baseline.compute_share) == pytest.approx(
        20.4, abs=0.05
    )
    assert 100 * (baseline.data_share - prefetched.data_share) == pytest.approx(35)


@pytest.mark.parametrize(
    ("mixed", "checkpoint", "batch", "expected_gb", "expected_verdict"),
    [
        (False, False, 32, 560.5, "over"),
        (True, False, 32, 415.8, "over"),
        (False, True, 32, 53.1, "fits"),
        (True, True, 16, 42.1, "fits"),
        (True, True, 32, 56.2, "fits"),
        (True, True, 64, 84.4, "fits_if_grads_freed"),
        (True, True, 128, 140.7, "over"),
        (True, True, 256, 253.5, "over"),
        (True, False, 64, 803.5, "over"),
    ],
)
def test_memory_beside_the_pipeline(
    mixed: bool, checkpoint: bool, batch: int, expected_gb: float, expected_verdict: Verdict
) -> None:
    """GPT-2 XL with Adam, on the node."""
    total, _, found = memory(mixed, checkpoint, batch)

    assert expected_gb == pytest.approx(to_gb(total), abs=0.05)
    assert expected_verdict == found


def test_a_batch_of_256_fits_with_no_setting() -> None:
    """At best it takes 250 GB."""
    totals = [memory(mixed, checkpoint, 256) for mixed, checkpoint in product(OFF_AND_ON, repeat=2)]

    assert {"over"} == {found for _, _, found in totals}
    assert pytest.approx(250, abs=0.5) == to_gb(min(total for total, _, _ in totals))


def test_three_states_reach_the_target() -> None:
    """All three optimisations with 16, 32 or 64 texts; without the tensor effect."""
    reached = [
        state
        for state in STATES
        if state.tensor == 1
        and target_state(state.run(), memory(state.mixed, state.checkpoint, state.batch)[2])
        == "reached"
    ]

    assert [State(True, True, True, batch, 1) for batch in (16, 32, 64)] == reached
    assert max(state.run().mfu for state in reached) == pytest.approx(0.432, abs=5e-4)


def test_with_fused_attention_one_state_reaches_the_target_without_checkpoints() -> None:
    """At batch 16, with a higher MFU than each of the three; the ledger calls it selective."""
    budget = device_budget_bytes("node")
    reached = {}
    for mixed, batch in product(OFF_AND_ON, BATCHES):
        regime: Regime = "autocast" if mixed else "fp32"
        total = ledger_total_bytes(regime, "adam", "selective", batch)
        peak = step_peak_bytes(regime, "adam", "selective", batch)
        fits = verdict(total, peak, budget)
        found = pipeline(True, mixed, False, batch)
        if target_state(found, fits) == "reached":
            reached[mixed, batch] = (fits, found.mfu)

    assert [(True, 16)] == list(reached)
    fits, mfu = reached[True, 16]
    assert fits == "fits_if_grads_freed"
    assert mfu > max(pipeline(True, True, True, batch).mfu for batch in (16, 32, 64))


@pytest.mark.parametrize(("utilisation", "expected"), [(0.80, "reached"), (0.7999, "below")])
def test_eighty_percent_are_enough(utilisation: float, expected: TargetState) -> None:
    """And so is memory that is enough where gradients are freed."""
    busy = replace(pipeline(True, True, True, 32), utilisation=utilisation)

    assert expected == target_state(busy, "fits") == target_state(busy, "fits_if_grads_freed")


def test_near_misses_say_what_is_missing() -> None:
    """Memory without checkpoints, half a point of utilisation in float32."""
    without_checkpoint = target_state(pipeline(True, True, False, 32), memory(True, False, 32)[2])
    float32 = target_state(pipeline(True, False, True, 16), memory(False, True, 16)[2])

    assert without_checkpoint == "over_memory"
    assert float32 == "below"


def test_no_state_has_an_mfu_above_59_percent() -> None:
    """80 % is out of reach, which is why the target is utilisation."""
    largest = max(STATES, key=lambda state: state.run().mfu)

    assert 100 * largest.run().mfu == pytest.approx(59.04, abs=0.005)


def test_tensor_cores_lower_utilisation_and_the_time() -> None:
    """When compute halves too, the shares are those of float32, and only the clock shows it."""
    both, neither = pipeline(True, True, True, 32, tensor=2), pipeline(True, False, True, 32)

    assert both.speed == pytest.approx(2.65, abs=0.005)
    assert both.utilisation == pytest.approx(0.778, abs=5e-4)
    assert both.compute_share == pytest.approx(neither.compute_share)
    assert pipeline(False, False, False, 32, tensor=2).mfu == pytest.approx(0.1225)


def test_the_single_fixes_that_a_learner_may_choose() -> None:
    """A faster GPU gains 1.21, prefetching 1.58; a smaller batch loses."""
    assert upgrade_speedup(2) == pytest.approx(1.21, abs=0.005)
    assert pipeline(True, False, False, 32).speed == pytest.approx(1.58, abs=0.005)
    assert pipeline(False, False, False, 16).speed == pytest.approx(0.94, abs=0.005)


@given(st.floats(1, 1e9))
def test_no_faster_gpu_helps_beyond_the_time_that_it_does_not_compute(factor: float) -> None:
    """The rest of the iteration, 65 units, stays."""
    assert 1 <= upgrade_speedup(factor) < 100 / 65


def test_efficiencies_in_between_follow_the_logit() -> None:
    """A straight line over log2 of the batch, from 32 to 256, rounded to two decimals."""

    def logit(share: float) -> float:
        return math.log(share / (1 - share))

    first, last = logit(kernel_efficiency(32)), logit(kernel_efficiency(256))
    for doublings, batch in ((1, 64), (2, 128)):
        between = first + (last - first) * doublings / 3

        assert round(1 / (1 + math.exp(-between)), 2) == kernel_efficiency(batch)


@given(st.tuples(*3 * [st.floats(0, 1e6)]).filter(any))
def test_rounded_shares_add_up_whatever_they_are(units: tuple[float, float, float]) -> None:
    """Each is less than a tenth of a point from the share, and the sum is 100.0."""
    shares = [part / math.fsum(units) for part in units]

    found = rounded_shares(*shares)

    tenths = [round(10 * percent) for percent in found]
    assert sum(tenths) == 1000
    assert all(abs(t - 1000 * s) < 1 + 1e-6 for t, s in zip(tenths, shares, strict=True))


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_what_is_missing_goes_to_the_share_that_lost_most(order: tuple[int, ...]) -> None:
    """Wherever it is."""
    shares, expected = (0.0502, 0.0503, 0.8995), (5.0, 5.0, 90.0)

    assert tuple(expected[i] for i in order) == rounded_shares(*(shares[i] for i in order))


def test_thirds_are_rounded_to_a_hundred() -> None:
    """Naive rounding would give 99.9."""
    assert sorted(rounded_shares(1 / 3, 1 / 3, 1 / 3)) == [33.3, 33.3, 33.4]
