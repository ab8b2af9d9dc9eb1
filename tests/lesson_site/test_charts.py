"""Charts: what they draw, what they say, and what they leave undrawn."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from lesson_code.forecast.cards import read_cards
from lesson_site.charts import (
    CHARTS,
    FOR_CARDS,
    amp,
    described,
    float16_losses,
    hook,
    ladder,
    learning_curves,
    matmul,
    memory_curve,
    memory_peaks,
    pipeline_shares,
    race,
    sweep,
)
from lesson_site.charts.base import (
    CARD_NAME,
    NOTHING_MEASURED,
    Chart,
    Curve,
    measured_together,
    to_html,
)
from lesson_site.charts.description import Mark, Plane, Rows, Tiles, is_empty, marks_in, to_data
from lesson_site.charts.drawing import draw, to_svg
from lesson_site.recordings import Recording
from results.derived import Cell
from results.store import Figure, Result, Store, open_store, read_catalogue
from results.summary import Estimate
from tests.lesson_site import made_up
from tests.lesson_site.test_figures import entry, result

NBSP = "\N{NO-BREAK SPACE}"
KINDS = ("nothing", "cpu", "gpu", "noisy")
RECORDED = {
    "float16_losses",
    "learning_curves",
    "memory_curve",
    "memory_snapshot",
}  # hold no figures
PUBLISHED = {"channels_last", "roofline"}  # others measured all of it
EMPTY_UNMEASURED = {"matmul", "pipeline_shares", "sweep"}
SWEEP = {f"width_{w}.batch_{b}.cpu": entry(w * b / 1e6) for w in (64, 256) for b in (16, 64)}
CPU_CASES = {
    "tiny_epoch": {"samples_100.cpu": entry(0.002)},
    "mnist_epoch": {"cpu": entry(8.0)},
    "step_sweep": SWEEP,
}
GPU_CASES = {
    "tiny_epoch": {**CPU_CASES["tiny_epoch"], "samples_100.cuda": entry(0.004)},
    "mnist_epoch": {**CPU_CASES["mnist_epoch"], "cuda": entry(2.0)},
    "step_sweep": {
        **SWEEP,
        **{name.replace("cpu", "cuda"): entry(0.005) for name in SWEEP},
    },
}
LEARNT = [1.992, 0.1545, 0.0012, 0.0007, 0.0006]
STUCK = [2.298] * 5
BY_HEART = {"training": [2 / epoch for epoch in range(1, 51)], "validation": [0.9, *[0.8] * 49]}
ALIVE = [
    {"step": 1, "operation": 1, "name": "relu", "A": 2_000_000, "C": 2_000_000},
    {"step": 1, "operation": 5, "name": "mm", "A": 500_000, "C": 1_500_000},
    {"step": 2, "operation": 6, "name": "relu", "A": 2_000_000, "C": 3_000_000},
    {"step": 2, "operation": 10, "name": "mm", "A": 500_000, "C": 2_500_000},
]


def store(*results: Result) -> Store:
    """The real catalogue with these results."""
    return Store(read_catalogue(), results)


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recordings of the float16 demonstration, of a run by heart and of the memory dashboard."""
    losses = {
        "float32": LEARNT,
        "all_float16": STUCK,
        "autocast_without_scaler": STUCK,
        "mixed_precision": LEARNT,
    }
    arms = {name: {"loss": loss} for name, loss in losses.items()}
    at = {"device": "cpu", "processor": "A processor", "torch": "2.15.0", "date": "2026-11-21"}
    recordings = {
        float16_losses.DEMONSTRATION: Recording("", {"shrunk": arms}, at),
        learning_curves.RUN: Recording("", BY_HEART, at),
        memory_curve.CURVE: Recording("", ALIVE, at),
        memory_curve.SNAPSHOT: Recording(
            "", {"A": [[1, 2e6], [4, 1e6]], "C": [[1, 2e6], [4, 3e6]]}, at
        ),
    }
    monkeypatch.setattr(float16_losses.recorded, "read", lambda target, *_: recordings[target])


def svg_of(chart: Chart) -> str:
    """Its drawing."""
    return to_svg(draw(chart.description)[0])


def drawn_in(chart: Chart) -> list[Mark]:
    """The marks that have a value."""
    return [mark for mark in marks_in(chart.description) if mark.value is not None]


def groups_of(chart: Chart) -> dict[str, list[str]]:
    """The labels of the rows in each group that are drawn."""
    assert isinstance(chart.description, Rows)
    return {
        group.title: [row.label for row in group.rows if row.mark.value is not None]
        for group in chart.description.groups
    }


def figures_in(chart: Chart) -> Iterator[Figure]:
    """The figures of its table."""
    for row in chart.rows:
        yield from (cell for cell in row if isinstance(cell, Figure))


def test_a_noisy_cell_is_marked_where_it_is() -> None:
    """Each such tile has the mark behind its time, and the note says what the mark means."""
    tiles = CHARTS["sweep"](made_up.store("noisy")).description
    assert isinstance(tiles, Tiles)

    noisy = [any(mark.noisy for mark in tile.marks) for tile in tiles.tiles]

    assert noisy == [tile.words[0].endswith("~") for tile in tiles.tiles]
    assert any(noisy)
    assert tiles.note.endswith("~: noisy.")


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize("name", CHARTS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_chart_is_well_formed_and_says_its_finding_last(name: str, kind: str) -> None:
    """A named image, a table with its header cells, then the caption; no inline style or script."""
    chart = CHARTS[name](made_up.store(kind))
    html = to_html(name, chart, number=7)

    root = ElementTree.fromstring(html)

    assert ["interactive-chart", "figcaption"] == [child.tag for child in root]
    assert ["div", "p", "details"] == [child.tag for child in root[0]]
    svg = root[0][0][0]
    assert "img" == svg.get("role")
    assert [chart.title, chart.finding] == [svg[0].text, svg[1].text]
    assert chart.finding == (root[1].text or "").strip()
    assert not re.search(r"style=|<script|<style", html)
    assert all(len(chart.head) == len(row) for row in chart.rows)


@pytest.mark.parametrize("name", sorted(EMPTY_UNMEASURED))
def test_without_a_value_a_chart_draws_nothing(name: str) -> None:
    """No drawing, no source, a finding without a hole, and the table says what would measure it."""
    chart = CHARTS[name](made_up.store("nothing"))
    html = to_html(name, chart)

    assert is_empty(chart.description)
    assert "" == chart.source
    assert '<div class="chart-frame" hidden="">' in html
    assert not re.search("not (been )?measured", html)
    assert not any(figure.known for figure in figures_in(chart))


@pytest.mark.parametrize("name", sorted(set(CHARTS) - RECORDED - PUBLISHED - EMPTY_UNMEASURED))
def test_without_a_measurement_others_and_forecasts_are_drawn(name: str) -> None:
    """Published, forecast and counted values need no machine, and none is named."""
    chart = CHARTS[name](made_up.store("nothing"))
    html = to_html(name, chart)

    assert drawn_in(chart)
    assert "measured" not in {mark.kind for mark in drawn_in(chart)}
    assert "chart-source" not in html
    assert not re.search("not (been )?measured", html)


@pytest.mark.parametrize("name", sorted(set(CHARTS) - RECORDED - PUBLISHED - {"memory_peaks"}))
def test_on_a_cpu_alone_no_gpu_is_measured(name: str) -> None:
    """What the CPU gave is drawn; the rest is a dash in the table, and a hole in no sentence."""
    chart = CHARTS[name](made_up.store("cpu"))
    html = to_html(name, chart)
    measured = [mark.name for mark in drawn_in(chart) if mark.kind == "measured"]

    assert not re.search("not (been )?measured", html)
    assert {"cpu"} >= {part for of in measured for part in re.findall("cpu|cuda", of)}
    assert (">–</td>" in html) == ("<p>–: " in html)
    assert chart.source.startswith("Medians, measured on A processor")


@pytest.mark.parametrize("name", sorted(set(CHARTS) - RECORDED - PUBLISHED))
def test_noise_is_said(name: str) -> None:
    """Values that spread too far are counted in the finding and marked in the table."""
    chart = CHARTS[name](made_up.store("noisy"))

    assert re.search(r"\d+ (values|of \d+ cells) are noisy\.$", chart.finding)
    assert "(noisy)" in to_html(name, chart)


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize("name", CHARTS)
@pytest.mark.parametrize("kind", KINDS)
def test_what_goes_to_the_browser_is_small(name: str, kind: str) -> None:
    """The description is JSON of a few kilobytes, and has every mark of the drawing."""
    chart = CHARTS[name](made_up.store(kind))
    text = json.dumps(to_data(chart.description))

    assert len(text) < 30_000
    assert len(list(marks_in(chart.description))) == len(re.findall(r'"value":', text))
    assert json.loads(text)["shape"] in ("rows", "plane", "tiles")


@pytest.mark.parametrize("name", sorted(set(CHARTS) - RECORDED - PUBLISHED))
def test_every_point_and_every_value_in_the_table_names_its_figure(name: str) -> None:
    """A learner's own value is found by these names, so each of them is in the catalogue."""
    of = made_up.store("gpu")
    chart = CHARTS[name](of)
    html = to_html(name, chart)

    assert set(of.definitions) >= {mark.name for mark in marks_in(chart.description)}
    cells = set(re.findall(r'<td data-figure="([^"]+)"[^>]* data-kind="measured"', html))
    assert {figure.name for figure in figures_in(chart)} == cells


def test_no_machine_is_named_where_nothing_was_measured() -> None:
    """A chart of forecasts alone does not name the machine of other charts."""
    chart = hook.draw(made_up.store("cpu"))
    rows = Rows([], "s")

    assert chart.source in to_html("hook", chart)
    assert chart.source not in to_html("hook", replace(chart, description=rows))


FORECAST = ["amp", "ladder", "race", "sweep"]


@pytest.mark.parametrize("name", FORECAST)
def test_a_forecast_takes_the_place_of_a_missing_gpu(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its card is named, it is called a forecast in drawing, table and finding, with its band."""
    made_up.forecasts(monkeypatch, 3.0)

    chart = CHARTS[name](made_up.store("cpu"))
    html = to_html(name, chart)

    assert "forecast" in {mark.kind for mark in drawn_in(chart)}
    assert "forecast 3 s, 1.5 to 6 s</td>" in html
    assert CARD_NAME in chart.finding
    assert "forecast" in chart.finding.lower()
    assert "forecast" in svg_of(chart)


@pytest.mark.parametrize("name", FORECAST)
def test_a_measurement_stands_without_a_forecast(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once a GPU has measured it, nothing on the chart is computed."""
    made_up.forecasts(monkeypatch, 3.0)

    chart = CHARTS[name](made_up.store("gpu"))

    assert {"measured"} == {mark.kind for mark in drawn_in(chart)}
    assert CARD_NAME not in chart.finding


def test_a_forecast_carries_the_name_of_what_would_be_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A reader whose GPU measured it finds its place by that name, in drawing and table."""
    made_up.forecasts(monkeypatch, 3.0)
    chart = amp.draw(made_up.store("cpu"))

    own = {mark.own for mark in marks_in(chart.description) if mark.kind == "forecast"}

    assert "amp.large.cuda_float16" in own
    assert 'data-own="amp.large.cuda_float16"' in to_html("amp", chart)


def test_a_format_that_the_card_lacks_has_a_place_for_another_card() -> None:
    """The T4 computes no bfloat16, an RTX 4090 does; each card brings what it has."""
    chart = amp.draw(made_up.store("cpu"))
    cards = described("amp", made_up.store("cpu")).cards
    name = "forecast.large_1024.bfloat16.t4.time"

    assert name not in {mark.name for mark in drawn_in(chart)}
    assert name in {mark.name for mark in marks_in(chart.description)}
    assert name in cards["rtx-4090"].figures
    assert name not in cards["v100"].figures
    assert "t4" not in cards


@pytest.mark.parametrize("name", FOR_CARDS)
def test_a_caption_speaks_of_the_card_that_the_reader_chose(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names that card and no other, and so do the columns of the table."""
    made_up.forecasts(monkeypatch, 3.0)
    chart = described(name, made_up.store("cpu"))

    finding = chart.cards["h100"].finding

    assert read_cards()["h100"].name in finding
    assert CARD_NAME not in finding
    assert CHARTS[name](made_up.store("cpu")).finding == chart.finding
    assert CARD_NAME not in "".join(chart.head)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (1e-9, "wins with its whole band in 20 of 20 cells, those with a frame, and this CPU in 0"),
        (1e9, "wins with its whole band in 0 of 20 cells, those with a frame, and this CPU in 20"),
        (0.01, "this CPU in 6; the others are too close to call."),
    ],
)
def test_a_forecast_wins_only_with_its_whole_band(
    seconds: float, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A band around the CPU's time decides nothing."""
    made_up.forecasts(monkeypatch, seconds)

    assert expected in sweep.draw(made_up.store("cpu")).finding


def test_hook_shows_others_only_until_a_gpu_is_measured() -> None:
    """Pairs that were published have crosses, and give way to our own."""
    without, with_gpu = (hook.draw(made_up.store(kind)) for kind in ("cpu", "gpu"))

    assert {"measured", "published"} == {mark.kind for mark in drawn_in(without)}
    assert {"measured"} == {mark.kind for mark in drawn_in(with_gpu)}
    assert "the GPU took longer" in without.finding
    assert "published" not in with_gpu.finding


def test_no_task_of_the_hook_comes_from_two_machines() -> None:
    """A machine that lacks one of its times shows none; the caption names the machine of each."""
    gpu = result({"tiny_epoch": {"samples_100.cpu": entry(3.0)}}, gpu="A GPU")
    cpu = result(CPU_CASES)

    chart = hook.draw(store(gpu, cpu))

    assert ["3.00", "not", "8.00", "not"] == [
        re.split(r"\s", figure.text)[0] for figure in figures_in(chart)
    ][:4]
    said = [hook.TASKS[0][0], gpu.where, hook.TASKS[1][0], cpu.where]
    places = [chart.source.rindex(words) for words in said]
    assert places == sorted(places)


def test_the_file_with_most_of_the_cases_is_taken() -> None:
    """A GPU machine that ran only something else does not hide what a CPU measured."""
    gpu = result({"matmul": {"n_64.cpu": entry(1.0)}}, gpu="A GPU")
    cpu = result(CPU_CASES)

    assert "A GPU" not in measured_together(store(gpu, cpu), "tiny_epoch", "mnist_epoch").where
    assert "A GPU" in measured_together(store(gpu, cpu), "matmul").where


def test_a_gpu_time_that_nobody_measured_is_never_a_mark() -> None:
    """The CPU's rows are drawn alone, and the table has dashes."""
    chart = hook.draw(store(result(CPU_CASES)))

    assert [["CPU"]] * 2 == list(groups_of(chart).values())[:2]
    assert [f"2.00{NBSP}ms", "not measured yet", f"8.00{NBSP}s", "not measured yet"] == [
        figure.text for figure in figures_in(chart)
    ][:4]
    assert 6 == to_html("hook", chart).count(">–</td>")  # two are for the reader's own race


def test_hook_has_a_place_for_the_reader_s_race() -> None:
    """An epoch's time from the rate of their browser; nothing is drawn without one."""
    chart = hook.draw(made_up.store("gpu"))

    own = [mark for mark in marks_in(chart.description) if mark.amount]

    assert ["race.width_256.batch_64.browser_cpu", "race.width_256.batch_64.browser_gpu"] == [
        mark.name for mark in own
    ]
    assert {(None, 60_000)} == {(mark.value, mark.amount) for mark in own}
    assert 2 == to_html("hook", chart).count('data-amount="60000"')


def test_hook_has_a_logarithmic_axis_that_is_named() -> None:
    """Milliseconds and seconds lie on one chart."""
    chart = hook.draw(store(result(GPU_CASES, gpu="A GPU")))

    assert isinstance(chart.description, Rows)
    assert chart.description.log
    assert "Logarithmic axis" in svg_of(chart)


def named(name: str, value: float | None, text: str = "", noisy: bool = False) -> Figure:
    """A figure with a value of our own."""
    text = text or ("not measured yet" if value is None else f"{value:g} s")
    return Figure(name, name, value, text, "", noisy=noisy)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((None, None, None, None), NOTHING_MEASURED),
        (
            (0.002, None, 8.0, None),
            f"On the CPU, the tiny epoch takes 0.002 s and the MNIST epoch 8 s, 4,000{NBSP}times "
            "as long.",
        ),
        ((0.002, None, None, None), "Tiny: 0.002 s."),
        (
            (0.002, 0.004, 8.0, 2.0),
            f"Tiny: the CPU is 2.0{NBSP}times as fast as the GPU. "
            f"MNIST: the GPU is 4.0{NBSP}times as fast as the CPU.",
        ),
        (
            (0.002, 0.001, 8.0, 8.1),
            f"Tiny: the GPU is 2.0{NBSP}times as fast as the CPU. "
            "MNIST: CPU and GPU take about the same time.",
        ),
        (
            (0.002, 0.001, 8.0, None),
            f"Tiny: the GPU is 2.0{NBSP}times as fast as the CPU.",
        ),
    ],
)
def test_hook_finding_follows_the_values(values: tuple[float | None, ...], expected: str) -> None:
    """The sentence is chosen by comparison, so a new result changes it."""
    tiny, tiny_gpu, mnist, mnist_gpu = values
    epochs = [
        hook.Epoch("Tiny", named("Tiny", tiny), named("Tiny", tiny_gpu)),
        hook.Epoch("MNIST", named("MNIST", mnist), named("MNIST", mnist_gpu)),
    ]

    assert expected == hook.finding(epochs)


def cells(*values: tuple[int, int, float, float | None]) -> list[Cell]:
    """Cells of the sweep: width, batch size, CPU seconds, GPU seconds."""
    return [
        Cell(width, batch, Estimate(cpu), None if cuda is None else Estimate(cuda))
        for width, batch, cpu, cuda in values
    ]


@pytest.mark.parametrize(
    ("gpu", "expected"),
    [
        ((None, None), "as long."),
        ((0.5, 0.5), "The GPU wins in every cell."),
        ((9.0, 9.0), "The GPU wins in no cell."),
        ((2.0, 2.0), "The GPU wins in 1 of 2 cells, those with a frame."),
    ],
)
def test_sweep_finding_follows_the_values(
    gpu: tuple[float | None, float | None], expected: str
) -> None:
    """How the CPU's time grows with the batch, and where the GPU wins."""
    finding = sweep.finding(cells((64, 16, 1.0, gpu[0]), (64, 64, 3.0, gpu[1])))

    assert finding.startswith(
        "At width 64 a batch 4 times as large takes the CPU about 3 times as long."
    )
    assert finding.endswith(expected)


def test_sweep_frames_the_cells_in_which_the_gpu_wins() -> None:
    """The boundary is a frame and a number, not only a colour."""
    chart = sweep.draw(store(result(GPU_CASES, gpu="A GPU")))

    assert isinstance(chart.description, Tiles)
    framed = [tile for tile in chart.description.tiles if tile.frame]
    assert len(framed) == 1  # only 256 × 64 takes the CPU longer than the 5 ms of the GPU
    assert "0.20×" in svg_of(chart)
    assert len(chart.rows) == 4


def test_sweep_without_a_gpu_has_a_dash_in_every_row() -> None:
    """The ratio of the four rows; a GPU's time is forecast for each."""
    chart = sweep.draw(store(result(CPU_CASES)))
    html = to_html("sweep", chart)

    assert 4 == html.count(">–</td>")
    assert 4 == html.count('data-kind="forecast"')
    assert "×" not in svg_of(chart)


@pytest.mark.parametrize(
    ("losses", "expected"),
    [
        (
            {"a": LEARNT, "b": STUCK, "c": STUCK},
            "A learns (last loss 0.0006); b and c stay where they began, above 2.2.",
        ),
        ({"a": LEARNT, "b": LEARNT}, "All two runs learn."),
        ({"a": STUCK}, "None of the runs learns."),
    ],
)
def test_float16_finding_follows_the_losses(losses: dict[str, list[float]], expected: str) -> None:
    """Which runs learnt is computed, not typed."""
    last = {label: f"{values[-1]:.4f}" for label, values in losses.items()}
    assert expected == float16_losses.finding(losses, last)


@pytest.mark.usefixtures("recorded")
def test_float16_lines_that_coincide_share_a_label() -> None:
    """Two curves on top of each other are named together, directly at the line."""
    chart = float16_losses.draw(store())

    assert ">float32 and mixed precision</text>" in svg_of(chart)
    assert ">all float16 and autocast without scaler</text>" in svg_of(chart)
    assert ("mixed precision", "1.9920", "0.1545", "0.0012", "0.0007", "0.0006") in chart.rows


@pytest.mark.parametrize(
    ("validation", "expected"),
    [
        ([1.4, 0.6, 0.8], "down to 0.002; the validation loss turns at 0.60 and climbs to 0.80."),
        ([1.4, 0.8, 0.6], "Both losses end at their lowest."),
    ],
)
def test_the_finding_says_where_the_losses_part(validation: list[float], expected: str) -> None:
    """It names the lowest validation loss and the last one, if the two differ."""
    assert learning_curves.finding([1.8, 0.2, 0.002], validation).endswith(expected)


@pytest.mark.usefixtures("recorded")
def test_both_losses_are_told_apart_without_colour() -> None:
    """One of the two lines is dashed, and each epoch that is drawn is a row."""
    chart = learning_curves.draw(store())

    assert 'stroke-dasharray="8 4"' in svg_of(chart)
    assert ("1", "2.000", "0.90") == chart.rows[0]
    assert ("50", "0.040", "0.80") == chart.rows[-1]


def test_memory_finding_compares_the_ends_of_the_steps() -> None:
    """What the healthy loop comes back to, and what a step adds to the leaking one."""
    assert (
        f"Loop A comes back to 0.50{NBSP}MB after each step; "
        f"each step leaves loop C 1.00{NBSP}MB higher." == memory_curve.finding(ALIVE)
    )


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_nothing_recorded_is_said(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a recording there is no line."""
    monkeypatch.setattr(float16_losses.recorded, "read", lambda *_: None)

    assert is_empty(CHARTS[name](store()).description)


@pytest.mark.parametrize("name", CHARTS)
def test_findings_of_the_current_results_are_sentences(
    name: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """With what the repository holds now, every chart has something to say."""
    finding = CHARTS[name](open_store()).finding

    assert finding.endswith(".")


def rung(
    label: str, device: str, value: float | None, first: bool = False, equal: bool = True
) -> ladder.Rung:
    """A rung with a time of our own."""
    speedup = None if first else named("speedup", 1.0)
    return ladder.Rung(device, label, named(label, value), speedup, named("accuracy", 97.0), equal)


@pytest.mark.parametrize(
    ("rungs", "limit", "expected"),
    [
        (
            [rung("A", "CPU", 10.0, first=True), rung("B", "CPU", 2.0)],
            0.5,
            f"On the CPU the best rung is “B” with 2 s an epoch, 5.0{NBSP}times as fast as the "
            f"textbook loop; that is 4.0{NBSP}times its computed limit.",
        ),
        (
            [rung("A", "GPU", 1.0, first=True), rung("B", "GPU", 2.0)],
            None,
            "On the GPU no rung is faster than the first, 1 s an epoch.",
        ),
        (
            [rung("A", "CPU", 4.0, first=True), rung("B", "CPU", 1.0, equal=False)],
            None,
            "On the CPU no rung is faster than the first, 4 s an epoch. "
            "Less accurate than the first rung, and so not counted: B (CPU).",
        ),
        ([rung("A", "CPU", None, first=True)], None, NOTHING_MEASURED),
    ],
)
def test_ladder_finding_follows_the_rungs(
    rungs: list[ladder.Rung], limit: float | None, expected: str
) -> None:
    """The best rung that is as accurate as the first; speed bought with accuracy doesn't count."""
    limits = {"CPU": named("limit", limit), "GPU": named("limit", None)}

    assert expected == ladder.finding(rungs, limits)


def test_a_rung_that_lost_accuracy_is_marked_as_not_equal() -> None:
    """0.3 points below the first are allowed; more is said in the drawing and in the table."""
    cases = {
        "ladder": {
            "cpu_textbook": entry(8.0),
            "cpu_textbook.accuracy": entry(97.0),
            "cpu_fused": entry(4.0),
            "cpu_fused.accuracy": entry(96.6),
            "cpu_resident": entry(5.0),
            "cpu_resident.accuracy": entry(96.7),
        }
    }

    chart = ladder.draw(store(result(cases)))

    assert "Fused optimizer (less accurate, so not equal)" in svg_of(chart)
    assert ["Fused optimizer (less accurate, so not equal)"] == [
        row[0] for row in chart.rows if "less accurate" in str(row[0])
    ]
    assert "“Images prepared beforehand”" in chart.finding


def test_ladder_draws_the_limit_of_each_device_as_a_line() -> None:
    """The limit is computed from what the same machine measured."""
    chart = ladder.draw(made_up.store("gpu"))

    assert 2 == svg_of(chart).count(">Limit: ")
    assert 2 == svg_of(chart).count('class="limit ')


def curve(label: str, rates: dict[int, float | None]) -> Curve:
    """A curve with rates of our own."""
    return Curve(label, {n: named(f"{label} {n}", rate) for n, rate in rates.items()})


EMPTY = curve("GPU, float32", {64: None, 128: None})


@pytest.mark.parametrize(
    ("curves", "expected"),
    [
        (
            [curve("CPU, float32", {64: 10.0, 128: 20.0}), EMPTY],
            f"The CPU reaches 20 s at n = 128, 2.0{NBSP}times what it does at n = 64.",
        ),
        (
            [
                curve("CPU, float32", {64: 30.0, 128: 20.0}),
                curve("GPU, float32", {64: 10.0, 128: 40.0}),
                curve("GPU, float16", {64: 10.0, 128: 200.0}),
            ],
            "The CPU is fastest at the smallest size, 30 s. In float32 the GPU is faster from "
            f"n = 128 on. At n = 128 float16 is 5.0{NBSP}times as fast as float32.",
        ),
        (
            [
                curve("CPU, float32", {64: 10.0, 128: 20.0}),
                curve("GPU, float32", {64: 5.0, 128: 10.0}),
                curve("GPU, float16", {64: 5.0, 128: 10.0}),
            ],
            f"The CPU reaches 20 s at n = 128, 2.0{NBSP}times what it does at n = 64. In float32 "
            "the GPU is not faster at n = 128. No other format is clearly faster at n = 128.",
        ),
        ([EMPTY, EMPTY], NOTHING_MEASURED),
    ],
)
def test_matmul_finding_follows_the_rates(curves: list[Curve], expected: str) -> None:
    """Growth with size, the size from which the GPU leads, and what the best format gains."""
    assert expected == matmul.finding(curves)


def step(
    setup: str, time: float | None, peak: float | None = None, format: str = "float32"
) -> amp.Step:
    """A training step with values of our own."""
    return amp.Step(setup, "GPU", format, named("time", time), named("peak", peak))


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (
            [step("A", 4.0, 100.0), step("A", 1.0, 60.0, "half")],
            f"A, GPU: half is 4.0{NBSP}times as fast as float32 and holds 40{NBSP}% less memory "
            "at its peak.",
        ),
        (
            [step("A", 1.0, 100.0), step("A", 3.0, 125.0, "half")],
            f"A, GPU: half takes 3.0{NBSP}times as long as float32 and holds 25{NBSP}% more "
            "memory at its peak.",
        ),
        (
            [step("A", 1.0), step("A", 1.05, None, "half"), step("B", 1.0), step("B", None)],
            "A, GPU: half takes about as long as float32.",
        ),
        ([step("A", None), step("A", None)], NOTHING_MEASURED),
    ],
)
def test_amp_finding_follows_the_steps(steps: list[amp.Step], expected: str) -> None:
    """Faster, slower or alike, with more or less memory: each is computed."""
    assert expected == amp.finding(steps)


def saving(model: str, before: float | None, after: float | None) -> memory_peaks.Saving:
    """A pair of peaks of our own."""
    peaks = (named("before", before), named("after", after))
    return memory_peaks.Saving(model, ("Plain", "The trick"), peaks)


@pytest.mark.parametrize(
    ("savings", "expected"),
    [
        (
            [saving("A", 100.0, 40.0), saving("B", 100.0, 110.0), saving("C", 100.0, None)],
            f"A: the trick saves most, 60{NBSP}% of the peak. B: the trick saves nothing.",
        ),
        ([saving("A", 100.0, 100.0)], "None of these ways saves memory."),
        ([saving("A", None, 1.0)], NOTHING_MEASURED),
    ],
)
def test_memory_finding_follows_the_peaks(
    savings: list[memory_peaks.Saving], expected: str
) -> None:
    """The largest saving, and every way that saves nothing."""
    assert expected == memory_peaks.finding(savings)


@pytest.mark.parametrize(
    ("epochs", "expected"),
    [
        (
            (10.0, 8.0, 2.0, 8.5, 8.0, 1.0),
            f"The loader alone takes 8 s, as long as 80{NBSP}% of the CPU’s and 94{NBSP}% of the "
            "GPU’s epoch.",
        ),
        (
            (10.0, 8.0, 2.0, None, 8.0, None),
            f"The loader alone takes 8 s, as long as 80{NBSP}% of the CPU’s epoch.",
        ),
        ((None,) * 6, NOTHING_MEASURED),
    ],
)
def test_pipeline_finding_follows_the_times(
    epochs: tuple[float | None, ...], expected: str
) -> None:
    """The loader's share of each epoch."""
    assert expected == pipeline_shares.finding([named("x", value) for value in epochs])


# The race


def raced(racers: dict[str, dict[int, float]], gpu: str | None = None) -> Result:
    """Rates of the lesson's model by racer and batch size; in a browser where it has its racers."""
    entries = {
        f"width_256.batch_{size}.{racer}": entry(size / rate, amount=size)
        for racer, rates in racers.items()
        for size, rate in rates.items()
    }
    plain = result({"race": entries}, gpu)
    if not any("browser" in racer for racer in racers):
        return plain
    more = {"machine": "browser", "engine": "An engine 1.0", "system": "A browser 1, Linux"}
    return Result({**plain.provenance, **more, "processor": "WebAssembly"}, plain.cases)


def test_the_race_says_where_each_gpu_overtakes_the_cpu_beside_it() -> None:
    """PyTorch's GPU against PyTorch's CPU, and a browser's against a browser's."""
    pytorch = raced({"cpu": {16: 100, 64: 200, 256: 400}, "cuda": {16: 50, 64: 300, 256: 900}})
    browser = raced({"browser_cpu": {16: 10, 64: 20}, "browser_gpu": {16: 11, 64: 30}})
    said = race.draw(store(pytorch, browser)).finding

    assert said.startswith(
        f"PyTorch on the CPU gets through most samples at batch size 256, 400{NBSP}per second and "
        f"4.0{NBSP}times as many as at 16."
    )
    assert "In PyTorch the GPU is faster from batch size 64 on." in said
    assert said.endswith("In the browser the GPU is faster at every batch size, from 16 on.")


def test_a_gpu_that_is_ahead_by_a_hair_is_called_about_as_fast() -> None:
    """Five in a hundred are no lead, and twenty are one."""
    said = {}
    for rate in (105.0, 120.0, 150.0):
        racers = {"cpu": {16: 100.0, 64: 200.0}, "cuda": {16: rate, 64: 400.0}}
        said[rate] = race.draw(store(raced(racers, gpu="A GPU"))).finding

    assert said[105.0] != said[120.0]
    assert said[120.0] == said[150.0]


def test_a_gpu_that_loses_the_last_race_is_not_called_faster() -> None:
    """A win among the smaller sizes does not count."""
    racers = {"cpu": {16: 100.0, 64: 200.0}, "cuda": {16: 500.0, 64: 200.0}}

    said = race.draw(store(raced(racers, gpu="A GPU"))).finding
    assert "In PyTorch the GPU is not faster at batch size 64." in said
    assert said.endswith(race.NO_BROWSER)


def test_the_race_of_a_cpu_leaves_out_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """One size alone has no growth to tell, and a browser's GPU may be missing as well."""
    made_up.forecasts(monkeypatch, 3.0)
    pytorch, browser = raced({"cpu": {16: 100.0}}), raced({"browser_cpu": {16: 10.0}})
    said = race.draw(store(pytorch, browser)).finding

    assert (
        "PyTorch on the CPU gets through most samples at batch size 16. "
        "By forecast the T4 is at no size surely ahead of this CPU."
    ) == said


def test_the_race_names_the_machine_of_each_kind_and_never_mixes_them() -> None:
    """Two files at most, PyTorch's and a browser's, and both are in the source."""
    pytorch = raced({"cpu": {16: 100.0, 64: 200.0}})
    browser = raced({"browser_cpu": {16: 10.0, 64: 20.0}}, gpu="A GPU")
    chart = race.draw(store(browser, pytorch))

    assert (
        "Medians, measured on A processor, 2 cores, 2 threads, PyTorch 2.15.0, 2026-11-21. "
        "In a browser: A GPU, WebAssembly, 2 cores, 2 threads, An engine 1.0 in A browser 1, "
        "Linux, 2026-11-21."
    ) == chart.source
    assert ["CPU, PyTorch", "CPU, in a browser"] == re.findall(r">(CPU, [^<]*)<", svg_of(chart))
    assert isinstance(chart.description, Plane)
    assert 10.0 == chart.description.series[2].points[0][1].value


def test_a_reader_s_own_race_finds_its_curves_though_nobody_recorded_one() -> None:
    """The series are there without values, with the names of their figures."""
    chart = race.draw(store(raced({"cpu": {16: 100.0, 64: 200.0}})))
    assert isinstance(chart.description, Plane)
    cpu, gpu = chart.description.series[2:]

    assert ["CPU, in a browser", "GPU, in a browser"] == [cpu.label, gpu.label]
    assert "race.width_256.batch_16.browser_cpu" == cpu.points[0][1].name
    assert [None] * 5 == [mark.value for _, mark in gpu.points]
    assert 5 == len(chart.rows)


def test_ticks_of_the_race_are_short_and_its_browsers_are_told_apart_without_colour() -> None:
    """Thousands and millions have letters; PyTorch's curves are whole, a browser's broken."""
    pytorch = raced({"cpu": {16: 500.0, 64: 2e6}}, gpu="A GPU")
    chart = race.draw(store(pytorch, raced({"browser_cpu": {16: 10.0, 64: 20.0}})))

    ticks = re.findall(r">([^<]*)</text>", svg_of(chart))
    assert {f"10{NBSP}k", f"1{NBSP}M"} <= set(ticks)
    assert isinstance(chart.description, Plane)
    assert ["", "", *["8 4 2 4"] * 2] == [series.dash for series in chart.description.series]
