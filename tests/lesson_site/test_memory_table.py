"""The table of memory: the worked example within one percent, and a cell for every choice."""

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from markdown import Markdown
from pymdownx.superfences import SuperFencesException

from lesson_code.lab.state_bytes import Precision
from lesson_site import memory_table
from lesson_site.fences import keep_options
from lesson_site.memory_table import BATCHES, OPTIMIZERS, ROWS, step_bytes

MB = 10**6
# In MB: the table as it was measured once, with real tensors and with fake ones.
WORKED_EXAMPLE: dict[Precision, dict[str, float]] = {
    "float32": {
        "weights": 102.2,
        "gradients": 102.2,
        "optimizer": 204.5,
        "buffers": 0.2129,
        "batch": 19.3,
        "saved": 2730.2,
        "weight_copies": 0,
        "together": 3158.6,
        "peak": 3090.0,
    },
    "autocast": {
        "weights": 102.2,
        "gradients": 102.2,
        "optimizer": 204.5,
        "buffers": 0.2129,
        "batch": 19.3,
        "saved": 1451.6,
        "weight_copies": 46.9 + 4.1,  # of the convolutions, and of the last layer
        "together": 1880.0,
        "peak": 1794.4,
    },
}


@pytest.fixture
def markdown() -> Markdown:
    """A converter with the fence."""
    custom: list[dict[str, Any]] = [
        {
            "name": "lesson-memory-table",
            "class": "lesson-memory-table",
            "format": memory_table.memory_table,
            "validator": keep_options,
        }
    ]
    return Markdown(
        extensions=["pymdownx.superfences", "lesson_site.extension"],
        extension_configs={"pymdownx.superfences": {"custom_fences": custom}},
    )


def fence(show: str) -> str:
    """The fence as a page has it."""
    return f'```lesson-memory-table show="{show}"\n```'


def choices(html: str) -> Any:
    """What the element hands to the browser."""
    found = re.search(r'data-choices="([^"]*)"', html)
    assert found is not None
    return json.loads(unescape(found[1]))


@pytest.mark.parametrize("precision", ["float32", "autocast"])
def test_the_worked_example(precision: Precision) -> None:
    """Every part at batch 32 with Adam, to one percent."""
    step = step_bytes(precision, "Adam", 32)
    expected = WORKED_EXAMPLE[precision]

    assert pytest.approx(expected, rel=0.01) == {
        name: getattr(step, name) / MB for name in expected
    }


def test_ratios_of_the_worked_example() -> None:
    """1.72 at the peak and 1.9 for what is saved; 1.82 at the peak of batch 64."""
    full, mixed = step_bytes("float32", "Adam", 32), step_bytes("autocast", "Adam", 32)
    twice = [step_bytes(precision, "Adam", 64).peak for precision in memory_table.STEPS]

    assert pytest.approx(1.72, abs=0.01) == full.peak / mixed.peak
    assert pytest.approx(1.88, abs=0.01) == full.saved / mixed.saved
    assert pytest.approx(1.82, abs=0.01) == twice[0] / twice[1]


def test_sgd_with_momentum() -> None:
    """Half of Adam's state is gone."""
    peak = step_bytes("float32", "SGD with momentum", 32).peak

    assert pytest.approx(2987.7, rel=0.001) == peak / MB


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("batch", BATCHES)
def test_the_peak_is_less_than_the_sum(optimizer: memory_table.Optimizer, batch: int) -> None:
    """In every choice, gradients and saved tensors are not complete together."""
    for precision in memory_table.STEPS:
        step = step_bytes(precision, optimizer, batch)

        assert step.peak < step.together


def test_every_choice_has_all_its_cells(markdown: Markdown) -> None:
    """Three optimizers, three batch sizes, and a sentence for each choice of precision."""
    found = choices(markdown.convert(fence("parts")))

    assert ["SGD", "SGD with momentum", "Adam"] == list(found)
    for optimizer in found.values():
        assert ["8", "32", "64"] == list(optimizer)
        for table in optimizer.values():
            assert [3] * len(ROWS) == [len(row) for row in table["cells"]]
            assert ["both", "float32", "autocast"] == list(table["says"])


def test_the_standing_table_is_one_of_the_choices(markdown: Markdown) -> None:
    """Without JavaScript batch 32 with Adam stands, with all columns."""
    html = markdown.convert(fence("parts"))
    cells = re.findall(r"<td>([^<]*)</td>", html)

    assert [cell for row in choices(html)["Adam"]["32"]["cells"] for cell in row] == cells
    assert "<caption>ResNet-50, batch 32, Adam: MB in a training step</caption>" in html
    assert ["Part", "float32", "autocast", "float32 ÷ autocast"] == re.findall(
        r'<th scope="col">([^<]*)</th>', html
    )
    assert "1 MB is 10⁶ bytes" in html
    assert "PyTorch" in html


def test_plain_sgd_has_no_state(markdown: Markdown) -> None:
    """A dash stands where there is nothing."""
    cells = choices(markdown.convert(fence("parts")))["SGD"]["32"]["cells"]

    assert ["–", "–", "–"] == cells[ROWS.index("Optimizer state")]


def test_estimates_stand_beside_what_was_measured(markdown: Markdown) -> None:
    """The gradients are not halved, whatever is often written."""
    html = markdown.convert(fence("estimates"))

    assert (
        '<th scope="row">Gradients</th><td>100</td><td>102.2</td><td>50</td><td>102.2</td>' in html
    )


def test_peaks_of_all_batches(markdown: Markdown) -> None:
    """The ratio grows with the batch, and where the optimizer keeps less."""
    html = markdown.convert(fence("batches"))
    rows = re.findall(r"<tr>(.*?)</tr>", html)[1:]
    ratios = [re.findall(r"<td>([^<]*)</td>", row)[-1] for row in rows]

    assert ["1.41", "1.72", "1.82", "1.77", "1.81"] == ratios
    assert '<th scope="row">SGD with momentum, batch 32</th><td>2,987.6</td>' in html


@pytest.mark.parametrize("show", ["", "everything"])
def test_an_unknown_table_stops_the_build(markdown: Markdown, show: str) -> None:
    """The message names what there is."""
    with pytest.raises(SuperFencesException, match="must be one of parts, estimates, batches"):
        markdown.convert(fence(show))


def test_a_missing_recording_stops_the_build(
    markdown: Markdown, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message says how to record."""
    module = tmp_path / "lesson_code" / "lab" / "training_memory.py"
    module.parent.mkdir(parents=True)
    module.write_text("def print_float32_steps():\n    pass\n")
    monkeypatch.chdir(tmp_path)

    with pytest.raises(SuperFencesException, match="record lab/training_memory:print_float32"):
        markdown.convert(fence("parts"))


def test_bars_are_as_long_as_their_bytes(markdown: Markdown) -> None:
    """The longest, batch 64 in float32, has the whole width; every part has its share of that."""
    html = markdown.convert('```lesson-memory-table show="bars"\n```')

    longest = sum(memory_table._bar_parts(step_bytes("float32", "Adam", 64)))
    figures = re.findall(r'<figure class="batch-(\d+)">(.*?)</figure>', html, re.DOTALL)
    assert [str(batch) for batch in BATCHES] == [batch for batch, _ in figures]
    for batch, figure in figures:
        drawn = [float(width) for width in re.findall(r'width="([\d.]+)%" height', figure)]
        sizes = [
            size
            for precision in memory_table.STEPS
            for size in memory_table._bar_parts(step_bytes(precision, "Adam", int(batch)))
        ]
        # The SVG itself is as wide as the page.
        assert [100.0, *(pytest.approx(100 * size / longest, abs=0.005) for size in sizes)] == drawn
