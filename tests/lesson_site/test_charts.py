"""Charts: what they draw, what they say, and what they leave undrawn."""

import re
from typing import Any
from xml.etree import ElementTree

import pytest

from lesson_site import charts
from lesson_site.charts import Bar, Chart
from lesson_site.derived import Cell, Estimate
from lesson_site.figure_store import CATALOGUE, Figure, Result, Store, read_catalogue
from lesson_site.recordings import Recording
from tests.lesson_site.test_figures import entry, result

NBSP = "\N{NO-BREAK SPACE}"
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


def store(*results: Result) -> Store:
    """The real catalogue with these results."""
    return Store(read_catalogue(CATALOGUE), results)


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A recording of the float16 demonstration."""
    losses = {
        "float32": LEARNT,
        "all_float16": STUCK,
        "autocast_without_scaler": STUCK,
        "mixed_precision": LEARNT,
    }
    arms = {name: {"loss": loss} for name, loss in losses.items()}
    at = {"device": "cpu", "processor": "A processor", "torch": "2.15.0", "date": "2026-11-21"}
    recording = Recording("", {"shrunk": arms}, at)
    monkeypatch.setattr(charts.recordings, "read", lambda _: recording)


def bars_of(chart: Chart) -> list[ElementTree.Element]:
    """The filled rectangles of a drawing."""
    root = ElementTree.fromstring(f"<svg>{chart.svg}</svg>")
    return [rect for rect in root.iter("rect") if rect.get("fill") != "none"]


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize("name", charts.CHARTS)
@pytest.mark.parametrize("cases", [{}, CPU_CASES, GPU_CASES])
def test_every_chart_is_well_formed_and_says_its_finding_last(
    name: str, cases: dict[str, Any]
) -> None:
    """A named image, a table with its header cells, then the caption; no inline style or script."""
    chart = charts.CHARTS[name](store(result(cases)))
    html = charts.to_html(name, chart, number=7)

    root = ElementTree.fromstring(html)

    assert [child.tag for child in root] == ["svg", "details", "figcaption"]
    assert root[0].get("role") == "img"
    assert [chart.title, chart.finding] == [root[0][0].text, root[0][1].text]
    assert (root[2].text or "").strip() == chart.finding
    assert not re.search(r"style=|<script|<style", html)
    assert all(len(chart.head) == len(row) for row in chart.rows)


def test_a_gpu_time_that_nobody_measured_is_never_a_bar() -> None:
    """The row has words and an empty outline."""
    chart = charts.hook(store(result(CPU_CASES)))

    assert len(bars_of(chart)) == 2
    assert chart.svg.count("GPU: not measured yet") == 2
    assert [row[2] for row in chart.rows] == [
        f"2{NBSP}ms".replace("2", "2.00"),
        "not measured yet",
        f"8.00{NBSP}s",
        "not measured yet",
    ]


def test_hook_bars_follow_a_logarithmic_axis_that_is_named() -> None:
    """Twice the time is the same step to the right everywhere on the axis."""
    chart = charts.hook(store(result(GPU_CASES, gpu="A GPU")))
    tiny_cpu, tiny_gpu, mnist_cpu, mnist_gpu = (
        float((bar.get("width") or "").rstrip("%")) for bar in bars_of(chart)
    )

    assert tiny_gpu - tiny_cpu == pytest.approx((mnist_cpu - mnist_gpu) / 2, abs=0.02)
    assert "Logarithmic axis" in chart.svg


def bar(task: str, device: str, value: float | None) -> Bar:
    """A bar of the hook."""
    text = "not measured yet" if value is None else f"{value:g} s"
    return Bar(task, device, Figure("x", "x", value, text, "", measured=value is not None))


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

    assert expected == charts.hook_finding(bars)


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
    finding = charts.sweep_finding(cells((64, 16, 1.0, gpu[0]), (64, 64, 3.0, gpu[1])))

    assert finding.startswith(
        f"At width 64 a batch 4 times as large takes the CPU 3.0{NBSP}times as long."
    )
    assert finding.endswith(expected)


def test_sweep_frames_the_cells_in_which_the_gpu_wins() -> None:
    """The boundary is a frame and a number, not only a colour."""
    chart = charts.sweep(store(result(GPU_CASES, gpu="A GPU")))

    framed = [rect for rect in bars_of(chart) if rect.get("stroke")]

    assert len(framed) == 1  # only 256 × 64 takes the CPU longer than the 5 ms of the GPU
    assert "0.2×" in chart.svg
    assert len(chart.rows) == 4


def test_sweep_without_a_gpu_says_so_in_every_row() -> None:
    """The table's GPU cells hold words."""
    chart = charts.sweep(store(result(CPU_CASES)))

    assert {"not measured yet"} == {text for row in chart.rows for text in row[3:]}
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
    assert expected == charts.float16_finding(losses)


@pytest.mark.usefixtures("recorded")
def test_float16_lines_that_coincide_share_a_label() -> None:
    """Two curves on top of each other are named together, directly at the line."""
    chart = charts.float16_losses(store())

    assert ">float32 and mixed precision</text>" in chart.svg
    assert ">all float16 and autocast without scaler</text>" in chart.svg
    assert ("mixed precision", "1.9920", "0.1545", "0.0012", "0.0007", "0.0006") in chart.rows


def test_nothing_recorded_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a recording there is no line."""
    monkeypatch.setattr(charts.recordings, "read", lambda _: None)

    assert "<line" not in charts.float16_losses(store()).svg


@pytest.mark.parametrize("name", charts.CHARTS)
def test_findings_of_the_current_results_are_sentences(
    name: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """With what the repository holds now, every chart has something to say."""
    finding = charts.CHARTS[name](charts.open_store()).finding

    assert finding.endswith(".")
