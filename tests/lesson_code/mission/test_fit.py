"""What fits which device, why not, and how tall the chart is."""

from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lesson_code.mission.architecture import GPT2_SMALL, GPT2_XL, Arch, gpt_param_count
from lesson_code.mission.choices import Device, Optimizer, Recompute, Regime
from lesson_code.mission.constants import (
    DEVICES,
    LAPTOP_AXIS_GB,
    LAPTOP_BATCHES,
    LEDGER_AXIS_GB,
    LEDGER_BATCHES,
    OPTIMIZERS,
    RECOMPUTATIONS,
    REGIMES,
)
from lesson_code.mission.decisions import laptop_outcome
from lesson_code.mission.fit import (
    Verdict,
    axis_max_gb,
    device_budget_bytes,
    max_batch,
    oom_cause,
    verdict,
)
from lesson_code.mission.memory import (
    ledger_total_bytes,
    state_bytes,
    static_bytes,
    step_peak_bytes,
    to_gb,
)

N = gpt_param_count(GPT2_XL)
Configuration = tuple[Regime, Optimizer, Recompute, int]


def configurations(batches: tuple[int, ...]) -> list[Configuration]:
    """All that an instrument can show."""
    return list(product(REGIMES, OPTIMIZERS, RECOMPUTATIONS, batches))


def judge(configuration: Configuration, device: Device) -> Verdict:
    """The verdict on GPT-2 XL."""
    total_bytes = ledger_total_bytes(*configuration)
    return verdict(total_bytes, step_peak_bytes(*configuration), device_budget_bytes(device))


@pytest.mark.parametrize(
    ("device", "verdicts", "causes"),
    [
        (
            "node",
            {"fits": 137, "fits_if_grads_freed": 3, "over": 76},
            {"activations": 76},
        ),
        (
            "laptop",
            {"fits": 1, "fits_if_grads_freed": 3, "over": 212},
            {"optimizer_state": 54, "static": 144, "activations": 14},
        ),
    ],
)
def test_verdicts_and_causes_of_all_216_configurations(
    device: Device, verdicts: dict[str, int], causes: dict[str, int]
) -> None:
    """On the node activations alone are too much, on the laptop nearly everything is."""
    budget = device_budget_bytes(device)
    found = {c: judge(c, device) for c in configurations(LEDGER_BATCHES)}

    assert len(found) == 216
    assert verdicts == Counter(found.values())
    assert causes == Counter(oom_cause(*c, budget) for c, v in found.items() if v == "over")


@pytest.mark.parametrize("device", ["node", "laptop"])
def test_a_cause_is_true_wherever_it_is_named(device: Device) -> None:
    """What is said to exceed the budget does, and what is said to fit does."""
    budget = device_budget_bytes(device)
    for configuration in configurations(tuple(sorted({*LEDGER_BATCHES, *LAPTOP_BATCHES}))):
        regime, optimizer, _, _ = configuration
        state_over = state_bytes(regime, optimizer, N) > budget
        static_over = static_bytes(regime, optimizer, N) > budget
        found = judge(configuration, device)

        expected = {
            "none": found == "fits",
            "optimizer_state": state_over,
            "static": static_over and not state_over,
            "grads_overlap": found == "fits_if_grads_freed",
            "activations": found == "over" and not static_over,
        }
        cause = oom_cause(*configuration, budget)
        assert [cause] == [name for name, holds in expected.items() if holds]
        assert device == "laptop" or cause != "optimizer_state"


def test_what_fits_the_laptop_is_pure_16_bit_with_everything_recomputed() -> None:
    """Two of 108 configurations fit, two more if gradients are freed."""
    found: dict[str, list[Configuration]] = {}
    for configuration in configurations(LAPTOP_BATCHES):
        found.setdefault(judge(configuration, "laptop"), []).append(configuration)

    assert sum(map(len, found.values())) == 108
    assert {("pure16", "sgd", "full", 1), ("pure16", "sgd", "full", 2)} == set(found["fits"])
    assert {("pure16", "sgd", "full", 4), ("pure16", "sgd", "selective", 1)} == set(
        found["fits_if_grads_freed"]
    )
    assert to_gb(ledger_total_bytes("pure16", "sgd", "selective", 1)) == pytest.approx(
        9.02, abs=0.005
    )
    assert to_gb(step_peak_bytes("pure16", "sgd", "selective", 1)) == pytest.approx(6.23, abs=0.005)


def test_adams_state_is_a_sixth_of_the_node_and_more_than_the_laptop() -> None:
    """12.46 GB of 80 and of 8."""
    state = state_bytes("fp32", "adam", N)

    assert state / device_budget_bytes("node") == pytest.approx(0.156, abs=5e-4)
    assert state > device_budget_bytes("laptop")


def test_the_laptops_limit_holds_at_every_batch_and_mode() -> None:
    """Where it is shown, weights and gradients alone are too much, by 4.46 GB."""
    budget = device_budget_bytes("laptop")
    for regime, optimizer, recompute, batch in configurations(LAPTOP_BATCHES):
        if laptop_outcome(regime, optimizer, recompute, batch) == "limit_reached":
            over = static_bytes(regime, optimizer, N) - budget

            assert pytest.approx(4.46, abs=0.005) == to_gb(over)
            assert {0} == {max_batch(regime, optimizer, r, budget) for r in RECOMPUTATIONS}


def test_budgets_leave_a_fifteenth_of_the_capacity() -> None:
    """80.0 of 85.9 GB and 8.0 of 8.59 GB."""
    for device, gb in (("node", 85.9), ("laptop", 8.59)):
        memory = DEVICES[device]  # type: ignore[index]

        assert gb == pytest.approx(to_gb(memory.capacity_bytes), abs=0.005)
        assert 1 - memory.budget_bytes / memory.capacity_bytes == pytest.approx(0.069, abs=5e-4)


@pytest.mark.parametrize(
    ("regime", "recompute", "by_ledger", "by_peak"),
    [
        ("fp32", "none", 3, 3),
        ("fp32", "selective", 10, 10),
        ("fp32", "full", 62, 64),
        ("autocast", "none", 4, 4),
        ("autocast", "selective", 15, 16),
        ("autocast", "full", 59, 72),
    ],
)
def test_largest_batches_with_adam_on_the_node(
    regime: Regime, recompute: Recompute, by_ledger: int, by_peak: int
) -> None:
    """Freed gradients leave room for a few texts more."""
    budget = device_budget_bytes("node")

    assert by_ledger == max_batch(regime, "adam", recompute, budget, "ledger")
    assert by_peak == max_batch(regime, "adam", recompute, budget, "peak")


@given(
    st.sampled_from(REGIMES),
    st.sampled_from(OPTIMIZERS),
    st.sampled_from(RECOMPUTATIONS),
    st.integers(1, 2 * 10**12),
    st.sampled_from([GPT2_XL, GPT2_SMALL, Arch(1, 1, 1, 1, 1)]),
)
def test_the_largest_batch_fits_and_the_next_does_not(
    regime: Regime, optimizer: Optimizer, recompute: Recompute, budget: int, arch: Arch
) -> None:
    """By both rules, for any model; 0 says that not even one text fits."""
    by_ledger = max_batch(regime, optimizer, recompute, budget, "ledger", arch)
    by_peak = max_batch(regime, optimizer, recompute, budget, arch=arch)

    assert by_ledger <= by_peak
    for largest, rule in ((by_ledger, "ledger"), (by_peak, "peak")):
        for batch in range(max(1, largest), largest + 2):
            total = ledger_total_bytes(regime, optimizer, recompute, batch, arch)
            peak = step_peak_bytes(regime, optimizer, recompute, batch, arch)
            fits = max(total if rule == "ledger" else 0, peak) <= budget
            assert fits == (batch <= largest)


@pytest.mark.parametrize("arch", [GPT2_XL, GPT2_SMALL, Arch(1, 8, 1, 1, 1024)])
@pytest.mark.parametrize("batch", [1, 2, 5])
def test_a_batch_that_just_fits_is_the_largest(batch: int, arch: Arch) -> None:
    """One byte less is too few, also where all but activations takes next to nothing."""
    needed = step_peak_bytes("fp32", "sgd", "none", batch, arch)

    for lacks in (0, 1):
        found = max_batch("fp32", "sgd", "none", needed - lacks, arch=arch)
        assert batch - lacks == found


def test_a_cause_is_that_of_the_model_that_was_asked_for() -> None:
    """What is too much for GPT-2 XL is not for GPT-2 small, whose parts can just fit."""
    state, static, step, total = (
        state_bytes("fp32", "adam", gpt_param_count(GPT2_SMALL)),
        static_bytes("fp32", "adam", gpt_param_count(GPT2_SMALL)),
        step_peak_bytes("fp32", "adam", "none", 1, GPT2_SMALL),
        ledger_total_bytes("fp32", "adam", "none", 1, GPT2_SMALL),
    )
    causes = {
        state - 1: "optimizer_state",
        state: "static",
        static - 1: "static",
        static: "activations",
        step - 1: "activations",
        step: "grads_overlap",
        total - 1: "grads_overlap",
        total: "none",
    }

    for budget, cause in causes.items():
        assert cause == oom_cause("fp32", "adam", "none", 1, budget, GPT2_SMALL)


@pytest.mark.parametrize(
    ("total", "peak", "expected"),
    [
        (8, 8, "fits"),
        (9, 8, "fits_if_grads_freed"),
        (9, 9, "over"),
        (8, 1, "fits"),
        (8, 9, "over"),
    ],
)
def test_a_budget_may_be_used_up(total: int, peak: int, expected: Verdict) -> None:
    """What is exactly as large fits."""
    assert expected == verdict(total, peak, 8)


@pytest.mark.parametrize(
    ("total_gb", "steps", "expected"),
    [
        (6.7, LEDGER_AXIS_GB, 100),
        (91.9, LEDGER_AXIS_GB, 100),
        (98.0, LEDGER_AXIS_GB, 100),
        (98.1, LEDGER_AXIS_GB, 200),
        (158.8, LEDGER_AXIS_GB, 200),
        (1096.0, LEDGER_AXIS_GB, 1200),
        (1200.0, LEDGER_AXIS_GB, 2400),
        (2400.0, LEDGER_AXIS_GB, 3600),
        (16.45, LAPTOP_AXIS_GB, 20),
        (24.92, LAPTOP_AXIS_GB, 50),
        (91.9, LAPTOP_AXIS_GB, 100),
        (50.0, (51, 100), 51),
        (0.5, (1, 2), 1),
    ],
)
def test_the_axis_ends_a_little_above_the_bar(
    total_gb: float, steps: tuple[int, ...], expected: int
) -> None:
    """At the first step, unless the bar needs more."""
    assert expected == axis_max_gb(total_gb, steps)


@given(st.floats(1e-3, 1e6))
def test_the_axis_is_never_shorter_than_the_bar(total_gb: float) -> None:
    """It leaves a fiftieth of the bar at least, and is a step or a multiple of the last."""
    found = axis_max_gb(total_gb, LEDGER_AXIS_GB)

    assert 1.02 * total_gb <= found
    assert found in LEDGER_AXIS_GB or found % LEDGER_AXIS_GB[-1] == 0


def test_a_reference_batch_of_4_gives_what_the_chapter_says() -> None:
    """89 GB become 32 GB, within 4 %; the chapter's batch of 32 would need 560 GB."""
    before = to_gb(ledger_total_bytes("fp32", "adam", "none", 4))
    after = to_gb(ledger_total_bytes("autocast", "adam", "full", 4))

    assert before == pytest.approx(89, rel=0.04)
    assert after == pytest.approx(32, rel=0.04)
    assert before / after == pytest.approx(2.9, abs=0.05)
    assert to_gb(ledger_total_bytes("fp32", "adam", "none", 32)) == pytest.approx(560.5, abs=0.05)
