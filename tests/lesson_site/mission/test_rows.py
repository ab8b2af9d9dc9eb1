"""Every row of the three instruments, against the same quantities computed in another way.

The rows come from the model's functions. Here each number follows once more from the tables of
bytes and from the pipeline's formulas, in exact fractions.
"""

from fractions import Fraction
from typing import Any

import pytest

from lesson_site.mission.rows import laptop_rows, ledger_rows, pipeline_rows

PARAMETERS = 1_557_611_200
CAST = 1_555_662_400
GB = 10**9
BUDGET = {"node": 80 * GB, "laptop": 8 * GB}
# Parameters, gradients, master copy, and one vector of optimizer state: bytes per parameter.
EACH = {
    "fp32": (4, 4, 0, 4),
    "autocast": (4, 4, 0, 4),
    "zero_mixed": (2, 2, 4, 4),
    "pure16": (2, 2, 0, 2),
}
VECTORS = {"sgd": 0, "momentum": 1, "adam": 2}
# Activations of one text of 1,024 tokens: none, selective, full.
EACH_TEXT = {
    "fp32": (16_735_670_272, 5_411_049_472, 879_235_072),
    "autocast": (12_116_727_808, 3_308_689_408, 880_580_608),
    "zero_mixed": (9_179_369_472, 2_887_913_472, 558_108_672),
    "pure16": (9_076_443_136, 2_784_987_136, 455_182_336),
}
# One layer of one text with everything in it, open while it is recomputed.
LAYER = {"fp32": 210, "autocast": 150, "zero_mixed": 114, "pure16": 114}  # bytes a value
# Scores of the next token of one text, and bytes of gradients that are there at once for each.
LOGITS = 1024 * 50_257
VALUES = 1024 * 1600  # between two layers
GRADIENTS = {"fp32": 8, "autocast": 4, "zero_mixed": 4, "pure16": 4}
HEAD = 50_257 * 1600
MODES = ("none", "selective", "full")
EFFICIENCY = {16: 60, 32: 70, 64: 79, 128: 86, 256: 91}  # percent

LEDGER, PIPELINE, LAPTOP = ledger_rows(), pipeline_rows(), laptop_rows()


def parts_of(key: str) -> list[int]:
    """Bytes of the seven parts of ``regime/optimizer/recompute/batch``."""
    regime, optimizer, recompute, batch = key.split("/")
    params, grads, master, vector = (size * PARAMETERS for size in EACH[regime])
    vectors = VECTORS[optimizer]
    copies = 2 * CAST if regime == "autocast" else 0
    activations = EACH_TEXT[regime][MODES.index(recompute)] * int(batch)
    states = [vector if vectors > i else 0 for i in range(2)]
    return [params, grads, master, *states, copies, activations]


def peak_of(key: str) -> int:
    """The larger of backward's two ends: with the gradients of the logits, and with all others."""
    regime, _, recompute, batch = key.split("/")
    params, grads, master, state1, state2, copies, activations = parts_of(key)
    if recompute == "full":  # no layer is open yet, and the head's copy alone waits
        activations -= LAYER[regime] * VALUES * int(batch)
        copies = 2 * HEAD if copies else 0
    early = copies + activations + GRADIENTS[regime] * LOGITS * int(batch)
    return params + master + state1 + state2 + max(grads, early)


def judged(key: str, budget: int) -> str:
    """The verdict."""
    if peak_of(key) > budget:
        return "over"
    return "fits" if sum(parts_of(key)) <= budget else "fits_if_grads_freed"


def blamed(key: str, budget: int) -> str:
    """The first cause whose rule applies."""
    parts = parts_of(key)
    rules = {
        "none": judged(key, budget) == "fits",
        "optimizer_state": sum(parts[3:5]) > budget,
        "static": sum(parts[:5]) > budget,
        "grads_overlap": judged(key, budget) == "fits_if_grads_freed",
        "activations": True,
    }
    return next(cause for cause, applies in rules.items() if applies)


def shows(text: str, value: Fraction | int | float) -> bool:
    """Whether a text is a number to the digit that it displays."""
    decimals = len(text.partition(".")[2])
    half = Fraction(1, 2 * 10**decimals)
    return abs(Fraction(text.replace(",", "")) - Fraction(value)) <= half + Fraction(1, 10**9)


def in_gb(size: int) -> Fraction:
    """Bytes as decimal gigabytes, exactly."""
    return Fraction(size, GB)


@pytest.mark.parametrize("key", LEDGER)
def test_ledger_row(key: str) -> None:
    """A row's bytes are those of the accounting, and its texts show the same numbers."""
    row, parts = LEDGER[key], parts_of(key)
    total, peak = sum(parts), peak_of(key)

    assert parts == row["bytes"]
    assert total == row["total"]
    assert all(shows(text, in_gb(size)) for text, size in zip(row["gb"], parts, strict=True))
    assert shows(row["total_gb"], in_gb(total))
    assert shows(row["total_gib"], Fraction(total, 2**30))
    assert shows(row["peak_gb"], in_gb(peak))
    assert shows(row["static_gb"], in_gb(sum(parts[:5])))
    assert shows(row["state_gb"], in_gb(sum(parts[3:5])))
    assert max(parts) == parts[row["largest"]]


@pytest.mark.parametrize("device", BUDGET)
def test_ledger_verdicts(device: str) -> None:
    """Verdict, cause and distance to the budget follow from the parts, on either device."""
    budget = BUDGET[device]
    for key, row in LEDGER.items():
        parts, found = parts_of(key), row[device]

        assert judged(key, budget) == found["verdict"], key
        assert blamed(key, budget) == found["cause"], key
        # So that the distance which a sentence names is that of the bar to its line.
        assert (sum(parts) <= budget) == (found["verdict"] == "fits"), key
        assert shows(found["difference_gb"], in_gb(abs(budget - sum(parts)))), key


@pytest.mark.parametrize(
    ("device", "verdicts"),
    [("node", (137, 3, 76)), ("laptop", (1, 3, 212))],
)
def test_ledger_verdict_counts(device: str, verdicts: tuple[int, int, int]) -> None:
    """So many configurations fit, fit once gradients are freed, and do not."""
    found = [row[device]["verdict"] for row in LEDGER.values()]

    assert verdicts == tuple(map(found.count, ("fits", "fits_if_grads_freed", "over")))


def test_ledger_axis() -> None:
    """The axis ends at the smallest step with a little room above the bar."""
    for key, row in LEDGER.items():
        steps = [step for step in (100, 200, 400, 800, 1200) if step * GB >= 1.02 * row["total"]]
        assert min(steps) == row["axis"], key


def iteration_of(key: str) -> dict[str, Fraction]:
    """One iteration by the formulas of the pipeline, as exact fractions."""
    prefetch, mixed, checkpoint, batch, tensor = map(int, key.split("/"))
    efficiency = Fraction(EFFICIENCY[batch], 100)
    compute = 35 * Fraction(70, 100) / efficiency / (tensor if mixed else 1)
    recomputed = compute / 3 if checkpoint else Fraction(0)
    transfer = Fraction(25, 2 if mixed else 1)
    device = transfer + compute + recomputed
    # With prefetching the loader is hidden, and five parts of a hundred hand over.
    total = device * 100 / 95 if prefetch else 40 + device
    busy = Fraction(48 if prefetch else 40, 100)
    reached = efficiency if mixed else efficiency / tensor
    return {
        "total": total,
        "data": total - device,
        "transfer": transfer,
        "compute": compute,
        "recompute": recomputed,
        "utilisation": (compute + recomputed + busy * transfer) / total,
        "mfu": compute / total * reached,
        "hfu": (compute + recomputed) / total * reached,
        "efficiency": reached,
        "speed": 100 / total,
    }


@pytest.mark.parametrize("key", PIPELINE)
def test_pipeline_row(key: str) -> None:
    """A row's texts show what the formulas give, and its shares add up to 100.0."""
    row, exact = PIPELINE[key], iteration_of(key)
    shares = [
        100 * exact["data"] / exact["total"],
        100 * exact["transfer"] / exact["total"],
        100 * (exact["compute"] + exact["recompute"]) / exact["total"],
    ]

    assert shows(row["total"], exact["total"])
    assert shows(row["speed"], exact["speed"])
    assert all(shows(row[name], 100 * exact[name]) for name in ("utilisation", "mfu", "hfu"))
    assert abs(int(row["efficiency"]) - 100 * exact["efficiency"]) <= Fraction(1, 2)
    # Rounded so that they add up: within a tenth of the exact share.
    assert all(
        abs(Fraction(text) - share) < Fraction(1, 10)
        for text, share in zip(row["shares"], shares, strict=True)
    )
    assert Fraction(100) == sum(map(Fraction, row["shares"]))


@pytest.mark.parametrize("key", PIPELINE)
def test_pipeline_drawing(key: str) -> None:
    """The bars' parts end where the formulas say, and both pointers are at their figures."""
    row, exact = PIPELINE[key], iteration_of(key)
    ends, end = [], Fraction(0)
    for name in ("data", "transfer", "compute", "recompute"):
        end += exact[name]
        ends.append(end)

    assert [float(end) for end in ends] == pytest.approx(row["unit_ends"], abs=1e-4)
    assert [float(100 * end / exact["total"]) for end in ends] == pytest.approx(
        row["share_ends"], abs=1e-3
    )
    assert [float(100 * exact[name]) for name in ("utilisation", "mfu")] == pytest.approx(
        row["pointers"], abs=1e-3
    )


@pytest.mark.parametrize("key", PIPELINE)
def test_pipeline_memory(key: str) -> None:
    """The memory panel is the ledger's, with Adam; the target needs 80 % and memory for it."""
    _, mixed, checkpoint, batch, _ = key.split("/")
    regime = "autocast" if mixed == "1" else "fp32"
    memory, all_stored = (
        f"{regime}/adam/{recompute}/{batch}"
        for recompute in ("full" if checkpoint == "1" else "none", "none")
    )
    parts, stored = parts_of(memory), parts_of(all_stored)
    row, found = PIPELINE[key], judged(memory, BUDGET["node"])
    busy = iteration_of(key)["utilisation"] >= Fraction(80, 100)
    target = "below" if not busy else "over_memory" if found == "over" else "reached"

    assert found == row["verdict"]
    assert target == row["target"]
    assert shows(row["memory_gb"], in_gb(sum(parts)))
    assert shows(row["peak_gb"], in_gb(peak_of(memory)))
    assert shows(row["stored_gb"], in_gb(stored[-1]))
    assert shows(row["activations_gb"], in_gb(parts[-1]))
    assert shows(row["over_gb"], in_gb(max(0, sum(parts) - BUDGET["node"])))
    assert shows(row["spare_gb"], in_gb(max(0, BUDGET["node"] - sum(parts))))


def test_configurations_that_reach_the_target() -> None:
    """Without the tensor effect exactly three do: all three on, at batch 16, 32 and 64."""
    reached = [key for key, row in PIPELINE.items() if row["target"] == "reached"]

    assert ["1/1/1/16/1", "1/1/1/32/1", "1/1/1/64/1"] == [k for k in reached if k.endswith("/1")]


@pytest.mark.parametrize("key", LAPTOP)
def test_laptop_row(key: str) -> None:
    """A row's bytes are those of the accounting, and its texts show the same numbers."""
    row, parts = LAPTOP[key], parts_of(key)
    total, static, budget = sum(parts), sum(parts[:5]), BUDGET["laptop"]

    assert (total, static) == (row["total"], row["static"])
    assert shows(row["total_gb"], in_gb(total))
    assert shows(row["static_gb"], in_gb(static))
    assert shows(row["peak_gb"], in_gb(peak_of(key)))
    assert shows(row["over_gb"], in_gb(max(0, total - budget)))
    assert shows(str(row["kept_gb"]), in_gb(total))
    assert judged(key, budget) == row["verdict"]


def test_laptop_outcomes() -> None:
    """Two configurations fit and two nearly do; the limit is shown only where nothing can fit."""
    by_outcome: dict[str, list[str]] = {}
    for key, row in LAPTOP.items():
        by_outcome.setdefault(row["outcome"], []).append(key)

    counts = {outcome: len(keys) for outcome, keys in by_outcome.items()}
    assert counts == {
        "searching": 101,
        "limit_hint": 1,
        "limit_reached": 2,
        "fits_unsafe": 2,
        "borderline_unsafe": 2,
    }
    assert ["autocast/sgd/full/1", "zero_mixed/sgd/full/1"] == by_outcome["limit_reached"]
    assert ["fp32/sgd/full/1"] == by_outcome["limit_hint"]
    assert ["pure16/sgd/full/2", "pure16/sgd/full/1"] == by_outcome["fits_unsafe"]


def test_a_wrong_text_is_noticed() -> None:
    """The comparison refuses a text that is off by one in its last digit."""
    row: dict[str, Any] = LEDGER["fp32/adam/none/1"]

    assert shows(row["total_gb"], in_gb(41_657_449_472))
    assert not shows("41.8", in_gb(41_657_449_472))
