"""Model beside measurement: made-up results of GPUs, and what stops the build."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from lesson_code.mission.constants import MODEL_VERSION
from lesson_site.errors import PageError
from lesson_site.mission import fence, measured
from lesson_site.mission.measured import MEMORY, PIPELINE, measured_panel, panel_html, refuse
from results import result_file
from results.entry import entry
from results.predictions import CONFIGURATIONS, keep_predictions, predictions
from results.store import Result, Store, open_store, read_result
from tests.benchmarks.made_up import CPU_MACHINE, GPU_MACHINE

OF_SMALL = "small.b4.fp32.adam.none.cuda_idle"
UNITS = {"steps": "plain", "batch": "samples"}
SHARES = {
    "data": 38.0, "compute": 30.0, "transfer": 20.0, "idle": 12.0,
    "utilisation": 42.0, "mfu": 20.0, "hfu": 20.0,
}  # fmt: skip


def memory_entries(off: float = 0.02) -> dict[str, Any]:
    """Every moment a little above the model; under the cap, all as the model says."""
    entries = {}
    for name, value in predictions(MEMORY).items():
        unit = UNITS.get(name.rpartition("_")[2], "bytes")
        more = {"settings": {"ended": "out of memory in step 1: backward"}}
        measured = value * (1 + off) if unit == "bytes" else value
        entries[name] = entry([measured], unit, device="cuda", **more)
    for c in CONFIGURATIONS:
        name = f"{c.name}.cuda_reserved"
        entries[name] = entry([1.2 * c.peak_bytes], "bytes", device="cuda")
    entries["cuda_context"] = entry([5e8], "bytes", device="cuda")
    return keep_predictions(MEMORY, entries)


def pipeline_entries(**other: float) -> dict[str, Any]:
    """The same shares in every run, in order."""
    values = SHARES | other
    entries = {
        name: entry([values[name.rpartition("_")[2]]], "percent", device="cuda")
        for run in ("float32.none", "tf32.none", "bfloat16.none", "bfloat16.full")
        for loader in ("plain", "prefetch")
        for name in (f"{run}.{loader}.cuda_{what}" for what in SHARES)
    }
    return keep_predictions(PIPELINE, entries)


def made_up(**of: Any) -> Result:
    """A result file of a GPU machine that does not exist, with these cases."""
    return Result(GPU_MACHINE, of, "made-up-gpu/2026-11-21-aa.json")


CPU = Result(CPU_MACHINE, {"tiny_epoch": {}}, "cpu-2-cores/2026-11-21-aa.json")


def rows(html: str, caption: str) -> dict[str, list[str]]:
    """The cells of the table of that caption, by the row's heading."""
    table = next(
        t for t in ElementTree.fromstring(f"<div>{html}</div>").iter("table")
        if t.findtext("caption") == caption
    )  # fmt: skip
    return {
        row.findtext("th", ""): [td.text or "" for td in row.iter("td")]
        for row in table.iter("tr")
        if row.find("td") is not None
    }


def test_without_a_result_of_a_gpu_there_is_no_table() -> None:
    """What is missing says so with the command that measures it; a CPU's file is named."""
    html = panel_html([CPU])

    assert "<table" not in html
    assert 2 == html.count("on a machine with a CUDA GPU")
    for case in (MEMORY, PIPELINE):
        assert f"python -m benchmarks run --case {case}" in html
    assert "A processor, 2 cores, 2026-11-21" in html
    assert "Without a GPU" not in panel_html([])


def test_each_moment_has_model_measurement_deviation_and_a_word() -> None:
    """Two percent too much is beyond the tolerance of static phases and within that of others."""
    html = panel_html([made_up(**{MEMORY: memory_entries()})])

    found = rows(html, "GPT-2 XL, FP32, AdamW, everything stored, batch 1")
    assert ["6.23 GB", "6.36 GB", "+2.0 %", "beyond tolerance"] == words(
        found["Model on the device"]
    )
    assert ["35.4 GB", "36.1 GB", "+2.0 %", "within tolerance"] == words(found["End of forward"])
    assert ["–", "43.0 GB", "–", "–"] == words(found["Reserved by PyTorch"])
    every = rows(html, "Every configuration")
    assert len(CONFIGURATIONS) == len(every)
    assert "2 of 5" == every["GPT-2 XL, FP32, AdamW, everything stored, batch 1"][0]


def words(cells: list[str]) -> list[str]:
    """Cells with plain spaces."""
    return [cell.replace("\N{NO-BREAK SPACE}", " ") for cell in cells]


def test_of_a_further_machine_the_page_says_how_far_off_each_configuration_is() -> None:
    """The moments are those of the first machine, so that the page keeps its size."""
    first, second = (
        replace(made, provenance=made.provenance | {"machine": name, "gpu": name})
        for name in ("First GPU", "Second GPU")
        for made in [made_up(**{MEMORY: memory_entries()})]
    )

    html = panel_html([first, second])

    assert 1 == html.count("GPT-2 XL, FP32, AdamW, everything stored, batch 1</caption>")
    assert 2 == html.count("<summary>Every configuration</summary>")
    assert html.index("First GPU") < html.index("Second GPU")


def test_the_page_holds_the_machines_measured_last_and_names_the_others() -> None:
    """It would exceed its budget of elements with a third one."""
    plain = made_up(**{MEMORY: memory_entries(), PIPELINE: pipeline_entries()})
    results = [
        replace(plain, provenance=plain.provenance | {"machine": name, "gpu": name, "date": day})
        for name, day in (("One", "2026-11-19"), ("Two", "2026-11-21"), ("Three", "2026-11-20"))
    ]

    html = panel_html(results)

    assert ["Two", "Two", "Three", "Three"] == re.findall(r"</strong>, measured on (\w+),", html)
    assert "<p>Measured before on One.</p>" in html


def test_device_versions_and_date_stand_beside_the_numbers() -> None:
    """GPU, PyTorch, CUDA, Python, the day, and the model that predicted."""
    html = panel_html([made_up(**{MEMORY: memory_entries()})])

    for part in (
        *("Made-up GPU", "PyTorch 2.15.0", "CUDA 13.0", "Python 3.11.7", "2026-11-21"),
        f"predicted by model {MODEL_VERSION}",
    ):
        assert part in html


def test_what_the_optimizer_adds_is_one_vector_and_two() -> None:
    """Differences between two steps, of both models."""
    found = rows(
        panel_html([made_up(**{MEMORY: memory_entries(0)})]),
        "What the optimizer keeps between two steps, FP32",
    )

    assert ["6.23 GB", "6.23 GB", "+0.0 %", "within tolerance"] == words(
        found["GPT-2 XL: SGD with momentum over plain SGD"]
    )
    assert "12.5 GB" == words(found["GPT-2 XL: AdamW over plain SGD"])[0]


def test_under_the_cap_the_page_says_in_words_what_ran() -> None:
    """As predicted; and not, where an attempt ended otherwise."""
    entries = memory_entries()
    steps = "laptop.pure16.b4.cuda_steps"
    entries[steps] = replace(entries[steps], samples=(0.0,))
    html = panel_html([made_up(**{MEMORY: entries})])

    found = rows(html, "GPT-2 XL, SGD, full recomputation, under a cap of 8.0 GB")
    assert found["FP32, batch 1"][0].startswith("does not fit")
    assert found["FP32, batch 1"][1].startswith("out of memory in step 1: backward")
    assert ["as predicted"] * 3 + ["not as predicted"] == [row[2] for row in found.values()]
    assert found["pure BF16, batch 2"][1].startswith("2 steps ran")


def test_a_skipped_configuration_gives_its_reason_and_a_missing_one_its_model_value() -> None:
    """What no GPU had room for, and what nobody has tried."""
    entries = {n: e for n, e in memory_entries().items() if n.startswith("small.b8")}
    reason = "by the model its peak is 71.1 GB"
    skipped = {MEMORY: {"xl.b4.autocast.adam.none": reason}}
    html = panel_html([replace(made_up(**{MEMORY: entries}), skipped=skipped)])

    xl = rows(html, "GPT-2 XL, BF16 autocast, AdamW, everything stored, batch 4")
    small = rows(html, "GPT-2 small, FP32, AdamW, everything stored, batch 4")
    assert ["71.1 GB", "skipped", "–", "–"] == words(xl["Peak of the step"])
    assert f"Skipped: {reason}." in html
    assert ["11.9 GB", "–", "–", "–"] == words(small["Peak of the step"])


def test_model_shares_stand_over_measured_ones() -> None:
    """In percent; the model is never idle; and its constants beside this machine's."""
    html = panel_html([made_up(**{PIPELINE: pipeline_entries()})])

    shares = rows(html, "Shares of an iteration, in percent")
    start = "FP32, everything stored, no prefetching"
    expected = ["40.0", "25.0", "35.0", "–", "45.0", "24.5", "24.5"]
    assert expected == shares[f"{start}: model"]
    measured = ["38.0", "20.0", "30.0", "12.0", "42.0", "20.0", "20.0"]
    assert measured == shares[f"{start}: measured"]
    assert 16 == len(shares)
    constants = rows(html, "The model’s constants, and what they would be here, FP32")
    assert ["0.40", "0.60"] == constants["Transfers with a kernel running"]
    assert ["0.70", "0.67"] == constants["Kernel efficiency"]


@pytest.mark.parametrize(
    ("cases", "said"),
    [
        ({PIPELINE: pipeline_entries(hfu=33.0)}, "hfu is 33.0 % and compute 30.0 %"),
        ({PIPELINE: pipeline_entries(utilisation=62.6)}, "time without data 62.0 %"),
        ({MEMORY: {OF_SMALL: entry([1.0], "bytes", device="cuda")}}, "keeps no prediction"),
    ],
)
def test_a_wrong_result_is_refused_in_one_sentence(cases: dict[str, Any], said: str) -> None:
    """It names the file, what contradicts, and what to do."""
    with pytest.raises(PageError) as caught:
        panel_html([made_up(**cases)])

    assert said in str(caught.value)
    assert str(caught.value).startswith("benchmarks/results/made-up-gpu/2026-11-21-aa.json: ")
    assert str(caught.value).endswith("measure it again")


def test_a_wrong_result_stops_the_build(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fence raises what every fence stops at."""
    wrong = made_up(**{PIPELINE: pipeline_entries(hfu=33.0)})
    monkeypatch.setattr(measured, "open_store", lambda: Store([], [wrong]))

    with pytest.raises(PageError, match="hfu is 33"):
        fence.PARTS["measured"]()


def test_an_outdated_prediction_is_refused_unless_the_model_has_another_version() -> None:
    """Kept numbers of an older model stay, and the page says of which."""
    entries = memory_entries()
    outdated = entries[OF_SMALL].settings
    outdated["predicted"] *= 2

    with pytest.raises(PageError, match="keeps the prediction"):
        panel_html([made_up(**{MEMORY: entries})])
    outdated["model_version"] = "0.9.0"

    html = panel_html([made_up(**{MEMORY: entries})])
    assert f"predicted by model 0.9.0, {MODEL_VERSION}; the model is now {MODEL_VERSION}" in html


def test_a_result_file_on_disk_says_the_same(tmp_path: Path) -> None:
    """Settings survive the file and its checks."""
    part = {
        "finished": "2026-11-21T14:00Z",
        "took_s": 1.0,
        "load_average": 0.1,
        "entries": {name: one.to_json() for name, one in memory_entries().items()},
    }
    provenance = GPU_MACHINE | {"machine": "made-up-gpu"}
    content = {**result_file.empty(provenance), "cases": {MEMORY: {"all": part}}}
    path = tmp_path / "made-up-gpu" / "2026-11-21-aa.json"
    path.parent.mkdir()
    path.write_text(json.dumps(result_file.with_figures(content)), encoding="utf-8")

    result_file.read(path)

    assert "within tolerance" in panel_html([read_result(path)])
    shutil.rmtree(path.parent)


def test_every_committed_result_is_one_that_the_page_accepts() -> None:
    """A new prediction needs a new version of the model, or a new measurement."""
    for result in open_store().results:
        refuse(result)


def test_the_page_has_a_fence_for_it() -> None:
    """``show="measured"`` gives the panel as the result files have it."""
    assert measured_panel is fence.PARTS["measured"]
    assert re.match("<p", measured_panel())
