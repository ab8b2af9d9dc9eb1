"""The Pipeline Breakdown Analyzer's rows, marks and sentences."""

import pytest

from lesson_site.mission.drawn import analyzer
from lesson_site.mission.rows import pipeline_rows
from lesson_site.mission.sentences import messages

ROWS = pipeline_rows()
MESSAGES = messages()


@pytest.mark.parametrize("key", ROWS)
def test_every_row_can_be_drawn(key: str) -> None:
    """Parts end in order, inside the frame; shares add up to 100.0; memory stays on its axis."""
    row = ROWS[key]

    assert row["unit_ends"] == sorted(row["unit_ends"])
    assert row["unit_ends"][-1] <= analyzer()["frame"]
    assert row["share_ends"][-1] == 100
    assert sum(round(10 * float(share)) for share in row["shares"]) == 1000
    assert 0 < row["memory_ends"][0] < row["memory_ends"][1] < 100


def test_near_misses_are_those_whose_sentence_is_true() -> None:
    """Memory is named where utilisation passes without checkpointing; FP32 at its closest."""
    memory = {key for key, row in ROWS.items() if row["near"] == "memory"}
    fp32 = {key: row for key, row in ROWS.items() if row["near"] == "fp32" and key.endswith("/1")}
    possible = [
        row["pointers"][0]
        for key, row in ROWS.items()
        if key.split("/")[1] == "0" and row["verdict"] != "over"
    ]

    assert "1/1/0/32/1" in memory
    assert all(ROWS[key]["target"] == "over_memory" for key in memory)
    assert ["1/0/1/16/1"] == list(fp32)
    assert ("79.5", "29.3") == (fp32["1/0/1/16/1"]["utilisation"], fp32["1/0/1/16/1"]["mfu"])
    assert max(possible) == fp32["1/0/1/16/1"]["pointers"][0]


@pytest.mark.parametrize("tensor", ["1", "2"])
@pytest.mark.parametrize("switches", sorted({key.rsplit("/", 2)[0] for key in ROWS}))
def test_what_the_remarks_say_holds_everywhere(switches: str, tensor: str) -> None:
    """A larger batch raises MFU and lowers utilisation; recomputation does the opposite."""
    small, large = (ROWS[f"{switches}/{batch}/{tensor}"]["pointers"] for batch in (16, 256))
    prefetch, mixed, _ = switches.split("/")
    off, on = (ROWS[f"{prefetch}/{mixed}/{c}/32/{tensor}"]["pointers"] for c in (0, 1))

    assert large[1] > small[1]
    assert large[0] < small[0]
    assert on[0] > off[0]
    assert on[1] < off[1]


def test_computed_sentences_say_what_the_mission_promises() -> None:
    """The costs, the best configuration and the tensor effect have their known numbers."""
    assert "8 worker processes" in MESSAGES["pipeline.cost.prefetch"]
    assert "16 batches" in MESSAGES["pipeline.cost.prefetch"]
    assert "3.11 GB" in MESSAGES["pipeline.cost.mixed"]
    assert "33 % more compute" in MESSAGES["pipeline.cost.checkpointing"]
    assert "13.8× smaller" in MESSAGES["pipeline.cost.checkpointing"]
    assert "60–70 %" in MESSAGES["pipeline.cost.batch"]
    for number in ("Batch 64", "43.2 %", "84.4 GB", "72.7 GB", "53.5 %", "803.5 GB"):
        assert number in MESSAGES["pipeline.answer"]
    for number in ("84.6 to 77.8 %", "×1.61 to ×2.65"):
        assert number in MESSAGES["pipeline.further.lesson"]
    assert "MFU is 12.25 % instead of 24.5 %" in MESSAGES["pipeline.further.fp32"]


def test_every_verdict_of_a_recorded_configuration_has_its_words() -> None:
    """What is recorded, and what reaches the target, is said for each verdict on memory."""
    verdicts = {row["verdict"] for row in ROWS.values()}
    reached = {row["verdict"] for row in ROWS.values() if row["target"] == "reached"}

    assert {"fits", "fits_if_grads_freed", "over"} == verdicts
    assert {"fits", "fits_if_grads_freed"} == reached
    for verdict in verdicts:
        assert f"pipeline.recorded.{verdict}" in MESSAGES
        assert f"record.memory.{verdict}" in MESSAGES
    for target in {row["target"] for row in ROWS.values()}:
        assert f"record.why.{target}" in MESSAGES
