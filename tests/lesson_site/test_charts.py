"""Charts: what they draw, what they say, and what they leave undrawn."""

import logging
import re
from collections.abc import Iterator
from xml.etree import ElementTree

import pytest

from lesson_site import vendor
from lesson_site.charts import (
    CHARTS,
    amp,
    base,
    float16_losses,
    hook,
    ladder,
    matmul,
    memory_curve,
    memory_peaks,
    pipeline_shares,
    race,
    sweep,
)
from lesson_site.charts.base import Chart, Curve, measured_together, plotly_figure, to_html
from lesson_site.charts.drawing import Bar, linear_axis, log_axis
from lesson_site.recordings import Recording
from results.derived import Cell
from results.store import Figure, Result, Store, open_store, read_catalogue
from results.summary import Estimate
from tests.lesson_site import made_up
from tests.lesson_site.test_figures import entry, result

NBSP = "\N{NO-BREAK SPACE}"
KINDS = ("nothing", "cpu", "gpu", "noisy")
RECORDED = {"float16_losses", "memory_curve", "memory_snapshot"}  # hold no figures
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
ALIVE = [
    {"step": 1, "operation": 1, "name": "relu", "A": 2_000_000, "C": 2_000_000},
    {"step": 1, "operation": 5, "name": "mm", "A": 500_000, "C": 1_500_000},
    {"step": 2, "operation": 6, "name": "relu", "A": 2_000_000, "C": 3_000_000},
    {"step": 2, "operation": 10, "name": "mm", "A": 500_000, "C": 2_500_000},
]


def store(*results: Result) -> Store:
    """The real catalogue with these results."""
    return Store(read_catalogue(), results)


@pytest.fixture(autouse=True)
def vendored(monkeypatch: pytest.MonkeyPatch) -> None:
    """A library of 321 kB, whatever lies in the folder of this machine."""
    monkeypatch.setattr(vendor, "compressed_kb", lambda _: 321)


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recordings of the float16 demonstration and of the memory dashboard."""
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
        memory_curve.CURVE: Recording("", ALIVE, at),
        memory_curve.SNAPSHOT: Recording(
            "", {"A": [[1, 2e6], [4, 1e6]], "C": [[1, 2e6], [4, 3e6]]}, at
        ),
    }
    monkeypatch.setattr(float16_losses.recorded, "read", lambda target, *_: recordings[target])


def bars_of(chart: Chart) -> list[ElementTree.Element]:
    """The filled rectangles of a drawing."""
    root = ElementTree.fromstring(f"<svg>{chart.svg}</svg>")
    return [rect for rect in root.iter("rect") if rect.get("fill") != "none"]


def figures_in(chart: Chart) -> Iterator[Figure]:
    """The figures of its table."""
    for row in chart.rows:
        yield from (cell for cell in row if isinstance(cell, Figure))


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize("name", CHARTS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_chart_is_well_formed_and_says_its_finding_last(name: str, kind: str) -> None:
    """A named image, a table with its header cells, then the caption; no inline style or script."""
    chart = CHARTS[name](made_up.store(kind))
    html = to_html(name, chart, number=7)

    root = ElementTree.fromstring(html)

    assert ["interactive-chart", "figcaption"] == [child.tag for child in root]
    assert ["svg", "details"] == [child.tag for child in root[0]]
    assert "img" == root[0][0].get("role")
    assert [chart.title, chart.finding] == [root[0][0][0].text, root[0][0][1].text]
    assert chart.finding == (root[1].text or "").strip()
    assert not re.search(r"style=|<script|<style", html)
    assert all(len(chart.head) == len(row) for row in chart.rows)


@pytest.mark.parametrize("name", sorted(set(CHARTS) - RECORDED))
def test_without_a_measurement_a_chart_says_so_and_draws_no_bar(name: str) -> None:
    """Nothing measured is a state of its own: words, no bar, no line, no source."""
    chart = CHARTS[name](made_up.store("nothing"))

    assert "Nothing of this has been measured yet." == chart.finding
    assert [] == bars_of(chart)
    assert "" == chart.source
    assert not any(figure.known for figure in figures_in(chart))


@pytest.mark.parametrize("name", sorted(set(CHARTS) - RECORDED - {"memory_peaks"}))
def test_on_a_cpu_alone_a_chart_names_what_the_gpu_lacks(name: str) -> None:
    """What the CPU gave is drawn, and the GPU's part is called not measured yet."""
    chart = CHARTS[name](made_up.store("cpu"))

    assert re.search(r"not been measured yet|Not measured yet", chart.finding)
    assert "chart-2" not in chart.svg
    assert chart.source.startswith("Medians, measured on A processor")


@pytest.mark.parametrize("name", sorted(set(CHARTS) - RECORDED))
def test_noise_is_said(name: str) -> None:
    """Values that spread too far are counted in the finding and marked in the table."""
    chart = CHARTS[name](made_up.store("noisy"))

    assert re.search(r"\d+ (values|of \d+ cells) are noisy\.$", chart.finding)
    assert "(noisy)" in to_html(name, chart)


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize("name", CHARTS)
@pytest.mark.parametrize("kind", KINDS)
def test_plotly_knows_every_trace_and_the_texts_are_ours(name: str, kind: str) -> None:
    """Plotly's own package accepts the figure; no markup needs a style, and it stays small."""
    chart = CHARTS[name](made_up.store(kind))
    figure = plotly_figure(chart)

    assert len(chart.traces) == len(figure["data"])
    assert "template" not in figure["layout"]
    assert not re.search(r"<(b|i|sup|sub|span|a)\b", str(figure))
    assert len(str(figure)) < 30_000


@pytest.mark.parametrize("name", sorted(set(CHARTS) - RECORDED))
def test_every_point_and_every_value_in_the_table_names_its_figure(name: str) -> None:
    """A learner's own value is found by these names, so each of them is in the catalogue."""
    of = made_up.store("gpu")
    chart = CHARTS[name](of)
    named = [figure for trace in chart.traces for figure in trace["customdata"]]

    assert all(
        len(trace["customdata"]) == len(trace["hovertext"]) == len(trace["x"])
        for trace in chart.traces
    )
    assert set(of.definitions) >= set(named)
    cells = set(re.findall(r'<td data-figure="([^"]+)"', to_html(name, chart)))
    assert {figure.name for figure in figures_in(chart)} == cells


def test_a_misspelt_property_of_plotly_is_refused() -> None:
    """A mistake in a trace stops the build instead of being dropped by the browser."""
    chart = Chart("T", "F.", "", 10, (), [], "", [{"type": "bar", "colour": "red"}])

    with pytest.raises(ValueError, match="colour"):
        plotly_figure(chart)


def test_without_the_library_there_is_no_button_and_one_line_says_why(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A machine that could not fetch it builds static charts, and hears it once."""
    monkeypatch.setattr(vendor, "compressed_kb", lambda _: None)
    base._say_once.cache_clear()
    chart = hook.draw(made_up.store("gpu"))

    with caplog.at_level(logging.INFO):
        pages = [to_html("hook", chart), to_html("hook", chart, 2)]

    assert all("<interactive-chart><svg" in page for page in pages)
    assert ["charts are static only; `python -m lesson_site.vendor` fetches what draws them"] == [
        record.getMessage() for record in caplog.records
    ]


def test_the_button_s_size_is_the_library_s() -> None:
    """The number that a reader sees before loading is computed, not typed."""
    assert ' data-kb="321"' in to_html("hook", hook.draw(made_up.store("gpu")))


def test_nothing_on_a_chart_comes_from_two_machines() -> None:
    """The caption names one machine, so a value that only another one has is not shown."""
    gpu = result({"mnist_epoch": {"cpu": entry(8.0), "cuda": entry(2.0)}}, gpu="A GPU")
    cpu = result({"tiny_epoch": {"samples_100.cpu": entry(0.002)}})

    chart = hook.draw(store(gpu, cpu))

    assert ["tiny_epoch.samples_100.cpu", "tiny_epoch.samples_100.cuda"] == [
        figure.name for figure in figures_in(chart) if not figure.known
    ]
    assert chart.source.startswith("Medians, measured on A GPU, A processor, 2 cores")


def test_the_file_with_most_of_the_cases_is_taken() -> None:
    """A GPU machine that ran only something else does not hide what a CPU measured."""
    gpu = result({"matmul": {"n_64.cpu": entry(1.0)}}, gpu="A GPU")
    cpu = result(CPU_CASES)

    assert "A GPU" not in measured_together(store(gpu, cpu), "tiny_epoch", "mnist_epoch").where
    assert "A GPU" in measured_together(store(gpu, cpu), "matmul").where


def test_a_gpu_time_that_nobody_measured_is_never_a_bar() -> None:
    """The row has words and an empty outline."""
    chart = hook.draw(store(result(CPU_CASES)))

    assert 2 == len(bars_of(chart))
    assert 2 == chart.svg.count("GPU: not measured yet")
    assert [f"2.00{NBSP}ms", "not measured yet", f"8.00{NBSP}s", "not measured yet"] == [
        figure.text for figure in figures_in(chart)
    ]


def test_hook_bars_follow_a_logarithmic_axis_that_is_named() -> None:
    """Twice the time is the same step to the right everywhere on the axis."""
    chart = hook.draw(store(result(GPU_CASES, gpu="A GPU")))
    tiny_cpu, tiny_gpu, mnist_cpu, mnist_gpu = (
        float((bar.get("width") or "").rstrip("%")) for bar in bars_of(chart)
    )

    assert tiny_gpu - tiny_cpu == pytest.approx((mnist_cpu - mnist_gpu) / 2, abs=0.02)
    assert "Logarithmic axis" in chart.svg


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        (
            [0.002, 8.0],
            [
                f"100{NBSP}µs",
                f"1{NBSP}ms",
                f"10{NBSP}ms",
                f"100{NBSP}ms",
                f"1{NBSP}s",
                f"10{NBSP}s",
            ],
        ),
        ([3.0], [f"1{NBSP}s", f"10{NBSP}s"]),
    ],
)
def test_a_logarithmic_axis_holds_whole_decades(values: list[float], ticks: list[str]) -> None:
    """Every value has room on it, and every tick is a power of ten."""
    axis = log_axis(values, "s")

    assert ticks == [axis.write(tick) for tick in axis.ticks]
    assert all(0 < axis.share(value) <= 1 for value in values)


@pytest.mark.parametrize(
    ("largest", "ticks"),
    [
        (8.0, ["0", f"2{NBSP}s", f"4{NBSP}s", f"6{NBSP}s", f"8{NBSP}s"]),
        (0.0112, ["0", f"5{NBSP}ms", f"10{NBSP}ms", f"15{NBSP}ms"]),
        (1.0, ["0", f"200{NBSP}ms", f"400{NBSP}ms", f"600{NBSP}ms", f"800{NBSP}ms", f"1.0{NBSP}s"]),
    ],
)
def test_a_linear_axis_has_round_steps(largest: float, ticks: list[str]) -> None:
    """From nothing to at least the largest value, in at most six ticks."""
    axis = linear_axis([largest / 3, largest], "s")

    assert ticks == [axis.write(tick) for tick in axis.ticks]
    assert axis.share(largest) <= 1


def named(name: str, value: float | None, text: str = "", noisy: bool = False) -> Figure:
    """A figure with a value of our own."""
    text = text or ("not measured yet" if value is None else f"{value:g} s")
    return Figure(name, name, value, text, "", noisy=noisy)


def bar(task: str, device: str, value: float | None) -> Bar:
    """A bar of the hook."""
    text = "not measured yet" if value is None else f"{value:g} s"
    return Bar(task, device, named("x", value, text), 1)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((None, None, None, None), "Nothing of this has been measured yet."),
        (
            (0.002, None, 8.0, None),
            f"On the CPU, the tiny epoch takes 0.002 s and the MNIST epoch 8 s, 4,000{NBSP}times "
            "as long. The GPU’s times have not been measured yet.",
        ),
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
            f"Tiny: the GPU is 2.0{NBSP}times as fast as the CPU. "
            "MNIST: one of the two times has not been measured yet.",
        ),
    ],
)
def test_hook_finding_follows_the_values(values: tuple[float | None, ...], expected: str) -> None:
    """The sentence is chosen by comparison, so a new result changes it."""
    tasks = [("Tiny", "CPU"), ("Tiny", "GPU"), ("MNIST", "CPU"), ("MNIST", "GPU")]

    bars = [bar(task, device, value) for (task, device), value in zip(tasks, values, strict=True)]

    assert expected == hook.finding(bars)


def cells(*values: tuple[int, int, float, float | None]) -> list[Cell]:
    """Cells of the sweep: width, batch size, CPU seconds, GPU seconds."""
    return [
        Cell(width, batch, Estimate(cpu), None if cuda is None else Estimate(cuda))
        for width, batch, cpu, cuda in values
    ]


@pytest.mark.parametrize(
    ("gpu", "expected"),
    [
        ((None, None), "The GPU’s ratio has not been measured yet."),
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
        f"At width 64 a batch 4 times as large takes the CPU 3.0{NBSP}times as long."
    )
    assert finding.endswith(expected)


def test_sweep_frames_the_cells_in_which_the_gpu_wins() -> None:
    """The boundary is a frame and a number, not only a colour."""
    chart = sweep.draw(store(result(GPU_CASES, gpu="A GPU")))

    framed = [rect for rect in bars_of(chart) if rect.get("stroke")]

    assert len(framed) == 1  # only 256 × 64 takes the CPU longer than the 5 ms of the GPU
    assert "0.20×" in chart.svg
    assert len(chart.rows) == 4


def test_sweep_without_a_gpu_says_so_in_every_row() -> None:
    """The table's GPU cells hold words."""
    chart = sweep.draw(store(result(CPU_CASES)))

    assert {"not measured yet"} == {figure.text for figure in figures_in(chart)} - {
        figure.text for figure in figures_in(chart) if figure.known
    }
    assert "×" not in chart.svg


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

    assert ">float32 and mixed precision</text>" in chart.svg
    assert ">all float16 and autocast without scaler</text>" in chart.svg
    assert ("mixed precision", "1.9920", "0.1545", "0.0012", "0.0007", "0.0006") in chart.rows


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

    assert "<line" not in CHARTS[name](store()).svg


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
            f"textbook loop; that is 4.0{NBSP}times its computed limit. "
            "The GPU’s rungs have not been measured yet.",
        ),
        (
            [rung("A", "GPU", 1.0, first=True), rung("B", "GPU", 2.0)],
            None,
            "The CPU’s rungs have not been measured yet. "
            "On the GPU no rung is faster than the first, 1 s an epoch.",
        ),
        (
            [rung("A", "CPU", 4.0, first=True), rung("B", "CPU", 1.0, equal=False)],
            None,
            "On the CPU no rung is faster than the first, 4 s an epoch. The GPU’s rungs have not "
            "been measured yet. Less accurate than the first rung, and so not counted: B (CPU).",
        ),
        ([rung("A", "CPU", None, first=True)], None, "Nothing of this has been measured yet."),
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

    assert "Fused optimizer (less accurate, so not equal)" in chart.svg
    assert ["Fused optimizer (less accurate, so not equal)"] == [
        row[0] for row in chart.rows if "less accurate" in str(row[0])
    ]
    assert "“Images prepared beforehand”" in chart.finding


def test_ladder_draws_the_limit_of_each_device_as_a_line() -> None:
    """The limit is computed from what the same machine measured."""
    chart = ladder.draw(made_up.store("gpu"))

    assert 2 == chart.svg.count(">Limit: ")
    assert ["CPU’s limit", "GPU’s limit"] == [
        trace["name"] for trace in chart.traces if trace["type"] == "scatter"
    ]


def curve(label: str, rates: dict[int, float | None]) -> Curve:
    """A curve with rates of our own."""
    return Curve(label, {n: named(f"{label} {n}", rate) for n, rate in rates.items()})


EMPTY = curve("GPU, float32", {64: None, 128: None})


@pytest.mark.parametrize(
    ("curves", "expected"),
    [
        (
            [curve("CPU, float32", {64: 10.0, 128: 20.0}), EMPTY],
            f"The CPU reaches 20 s at n = 128, 2.0{NBSP}times what it does at n = 64. "
            "The GPU’s products have not been measured yet.",
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
        ([EMPTY, EMPTY], "Nothing of this has been measured yet."),
    ],
)
def test_matmul_finding_follows_the_rates(curves: list[Curve], expected: str) -> None:
    """Growth with size, the size from which the GPU leads, and what the best format gains."""
    assert expected == matmul.finding(curves)


def step(
    setup: str, time: float | None, peak: float | None = None, format: str = "float32"
) -> amp.Step:
    """A training step with values of our own."""
    return amp.Step(setup, format, named("time", time), named("peak", peak), 1)


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (
            [step("A", 4.0, 100.0), step("A", 1.0, 60.0, "half")],
            f"A: half is 4.0{NBSP}times as fast as float32 and holds 40{NBSP}% less memory at its "
            "peak.",
        ),
        (
            [step("A", 1.0, 100.0), step("A", 3.0, 125.0, "half")],
            f"A: half takes 3.0{NBSP}times as long as float32 and holds 25{NBSP}% more memory at "
            "its peak.",
        ),
        (
            [step("A", 1.0), step("A", 1.05, None, "half"), step("B", 1.0), step("B", None)],
            "A: half takes about as long as float32. Not measured yet: B.",
        ),
        ([step("A", None), step("A", None)], "Nothing of this has been measured yet."),
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
            f"A: the trick saves most, 60{NBSP}% of the peak. B: the trick saves nothing. "
            "1 of 3 pairs have not been measured yet.",
        ),
        ([saving("A", 100.0, 100.0)], "None of these ways saves memory."),
        ([saving("A", None, 1.0)], "Nothing of this has been measured yet."),
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
            f"The loader alone takes 8 s, as long as 80{NBSP}% of the CPU’s epoch. The GPU’s epoch "
            "has not been measured yet.",
        ),
        ((None,) * 6, "Nothing of this has been measured yet."),
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
        f"width_256.batch_{size}.{racer}": {**entry(size / rate), "amount": size}
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


def test_a_gpu_that_loses_the_last_race_is_not_called_faster() -> None:
    """A win among the smaller sizes does not count."""
    racers = {"cpu": {16: 100.0, 64: 200.0}, "cuda": {16: 500.0, 64: 200.0}}

    said = race.draw(store(raced(racers, gpu="A GPU"))).finding
    assert "In PyTorch the GPU is not faster at batch size 64." in said
    assert "No browser’s race is recorded here; yours can stand beside it." in said


def test_the_race_of_a_cpu_says_what_is_missing() -> None:
    """One size alone has no growth to tell, and a browser's GPU may be missing as well."""
    pytorch, browser = raced({"cpu": {16: 100.0}}), raced({"browser_cpu": {16: 10.0}})
    said = race.draw(store(pytorch, browser)).finding

    assert (
        "PyTorch on the CPU gets through most samples at batch size 16. "
        "In PyTorch the GPU has not been measured yet. "
        "In the browser the GPU has not been measured yet."
    ) == said


def test_the_race_names_the_machine_of_each_kind_and_never_mixes_them() -> None:
    """Two files at most, PyTorch's and a browser's, and both stand in the source."""
    pytorch = raced({"cpu": {16: 100.0, 64: 200.0}})
    browser = raced({"browser_cpu": {16: 10.0, 64: 20.0}}, gpu="A GPU")
    chart = race.draw(store(browser, pytorch))

    assert (
        "Medians, measured on A processor, 2 cores, 2 threads, PyTorch 2.15.0, 2026-11-21. "
        "In a browser: A GPU, WebAssembly, 2 cores, 2 threads, An engine 1.0 in A browser 1, "
        "Linux, 2026-11-21."
    ) == chart.source
    assert ["CPU, PyTorch", "CPU, in a browser"] == re.findall(
        r"fill=\"currentColor\">(CPU[^<]*)<", chart.svg
    )
    assert 10.0 == chart.traces[2]["y"][0]


def test_a_reader_s_own_race_finds_its_curves_though_nobody_recorded_one() -> None:
    """The traces are there without values, with the names of their figures."""
    chart = race.draw(store(raced({"cpu": {16: 100.0, 64: 200.0}})))
    cpu, gpu = chart.traces[2:]

    assert ["CPU, in a browser (not measured yet)", "GPU, in a browser (not measured yet)"] == [
        cpu["name"],
        gpu["name"],
    ]
    assert "race.width_256.batch_16.browser_cpu" == cpu["customdata"][0]
    assert [None] * 5 == gpu["y"]
    assert 5 == len(chart.rows)


def test_ticks_of_the_race_are_short_and_its_browsers_are_told_apart_without_colour() -> None:
    """Thousands and millions have letters; PyTorch's curves are whole, a browser's broken."""
    pytorch = raced({"cpu": {16: 500.0, 64: 2e6}}, gpu="A GPU")
    chart = race.draw(store(pytorch, raced({"browser_cpu": {16: 10.0, 64: 20.0}})))

    assert [f"10{NBSP}k", f"1{NBSP}M"] == [
        tick for tick in chart.layout["yaxis"]["ticktext"] if tick in (f"10{NBSP}k", f"1{NBSP}M")
    ]
    assert ["solid", "solid", "dashdot", "dashdot"] == [t["line"]["dash"] for t in chart.traces]
