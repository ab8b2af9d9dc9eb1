"""The fence of the timeline: what it writes before anybody chooses, and what the picture shows."""

import json
import re
from dataclasses import replace
from html import unescape

import pytest
from markdown import Markdown

from lesson_code.timeline.simulation import Kernel, Loop, simulate
from lesson_site.errors import PageError
from lesson_site.timeline import drawing, measured, told
from lesson_site.timeline.instrument import STARTS, timeline
from results import timeline_measured
from results.quantities import SPACE
from results.timeline import BUSIEST, IDLEST, Choice, Own, runs_of
from results.timeline_measured import Measured, Setting

SLOW = Loop(
    (Kernel("forward", 1.0), Kernel("backward", 1.0)), launch=2.0, load=10.0, copy=1.0, answer=1.0
)


def fence(show: str) -> str:
    """The timeline as a page has it."""
    return timeline("", "", "", {"show": show}, Markdown())


@pytest.mark.parametrize("start", list(STARTS))
def test_the_page_tells_its_first_choice_without_a_script(start: str) -> None:
    """All its sentences, its title, and a control that is set for everything it chooses."""
    html = unescape(fence(start))
    choice = STARTS[start]

    runs = runs_of(choice, timeline_measured.own())
    assert [] == [said for said in told.sentences(choice, runs) if f"<p>{said}</p>" not in html]
    assert told.title(choice, drawing.steps_shown(choice)) in html
    for name in ("model", "batch", "images", "workers", "card"):
        assert f'<option value="{getattr(choice, name)}" selected' in html
    assert choice.reads_loss == ('name="reads_loss" autocomplete="off" checked' in html)


def test_the_data_of_the_script_is_below_ten_kilobytes() -> None:
    """So it comes at once with the first press."""
    found = re.search(r'data-apart="(.*?)"', fence("textbook"))

    assert found
    payload = unescape(found[1])
    assert {"tiny", "mnist", "resnet", "large"} == json.loads(payload)["models"].keys()
    assert len(payload.encode()) < 10_000


def test_an_unknown_start_stops_the_build() -> None:
    """The message names those that there are."""
    with pytest.raises(PageError, match="textbook, large, fed, tiny, measured"):
        fence("everything")


def test_a_block_that_waits_is_an_outline_and_long_ones_have_their_word() -> None:
    """Python's wait for the loss has a class of its own; preparing is written out."""
    run = simulate(replace(SLOW, launch=0.1))

    nodes, _ = drawing.draw(run, Choice())

    planes = [node for node in nodes if node[0] == "svg"]
    classes = [path[1]["class"] for plane in planes for path in plane[2]]
    words = [node[2][0] for node in nodes if node[1].get("class") == "word"]
    assert "python wait" in classes
    assert "prepare" in words


def test_later_steps_show_what_works_and_no_wait() -> None:
    """Where Python runs ahead of a large model its later requests are there, its waits are not."""
    kernels = tuple(Kernel("forward", 1.0) for _ in range(40))
    loop = Loop(kernels, launch=0.001, reads_loss=False)
    run = simulate(loop)

    nodes, _ = drawing.draw(run, Choice(images="device", reads_loss=False))

    planes = [node for node in nodes if node[0] == "svg"]
    [later] = [path for plane in planes for path in plane[2] if path[1]["class"] == "later"]
    end = drawing.window(run, 3)
    asked = [b for b in run.blocks if b.lane == "python" and b.step >= 3 and b.start < end]
    drawn = [b for b in asked if b.kind == "forward"]
    assert {"room"} < {block.kind for block in asked}
    assert sum(len(drawing.stretches(b.pieces)) for b in drawn) == later[1]["d"].count("Z")


def test_kernels_leave_their_gaps_in_the_picture() -> None:
    """Two that are asked for one after the other are two rectangles of one block."""
    run = simulate(replace(SLOW, kernels=(Kernel("forward", 1.0), Kernel("forward", 1.0))))

    nodes, _ = drawing.draw(run, Choice())

    gpu = [path for node in nodes if node[0] == "svg" for path in node[2]]
    first = next(path for path in gpu if path[1]["class"] == "gpu")
    assert 2 == first[1]["d"].count("Z")


@pytest.mark.parametrize("end", [0.0165, 0.021, 0.0019, 0.0045, 0.019, 0.25, 1.7])
def test_the_axis_names_the_moments_at_which_its_marks_are(end: float) -> None:
    """In equal steps, with as many digits as the steps need: 15 ms is not 20 ms."""
    loop = Loop((Kernel("forward", end / 6),), load=end / 6, reads_loss=True)
    run = simulate(loop)
    choice = Choice()
    window = drawing.window(run, drawing.steps_shown(choice))

    nodes, _ = drawing.draw(run, choice)

    axis = [node for node in nodes if "%" in node[1]["x"] and node[1].get("class") != "word"]
    marks = [0.0, *(seconds(str(node[2][0])) for node in axis[1:])]
    assert pytest.approx([step * marks[1] for step in range(len(marks))]) == marks
    for node, mark in zip(axis, marks, strict=True):
        assert pytest.approx(100 * mark / window, abs=0.5) == float(node[1]["x"].rstrip("%"))


def seconds(text: str) -> float:
    """A time as it is written, in seconds."""
    value, unit = text.split(SPACE)
    return float(value) * {"s": 1.0, "ms": 1e-3, "µs": 1e-6}[unit]


def test_without_a_measured_loader_its_time_is_called_assumed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A block says where its length comes from, and claims no measurement that is not there."""
    assert told.origins()["load"].startswith("Measured")
    monkeypatch.setattr(told, "own", lambda: Own(1e-4, 1e-4, is_measured=False))

    assert told.origins()["load"].startswith("Assumed")


def test_where_the_ends_of_the_band_differ_both_are_told() -> None:
    """A small step on a T4 waits for Python or for the GPU, as the computer is."""
    choice = Choice(images="device", reads_loss=False)
    runs = runs_of(choice, Own(1e-4, 1e-4, is_measured=True))

    first = told.sentences(choice, runs)[0]

    assert {"launch", "gpu"} == {runs[corner].cause for corner in (IDLEST, BUSIEST)}
    assert "the GPU waits for Python" in first
    assert "Python runs ahead of the GPU" in first


def test_every_measured_loop_is_in_the_table_beside_its_simulation() -> None:
    """A row for each, with both rates and what they are."""
    loops, _ = timeline_measured.read_measured()

    html = fence("measured")

    assert len(loops) == html.count('<td data-kind="measured">')
    assert len(loops) == html.count('<td data-kind="forecast">')


def test_the_finding_counts_loops_and_names_the_worst() -> None:
    """Those with more workers than cores are counted apart."""

    def loop(workers: int, seconds: float) -> Measured:
        setting = Setting("sleep", 0.02, 64, workers)
        return Measured(setting, 64, (0.02,), (0.01,), (0.0,), (seconds,))

    said = measured.finding([loop(0, 0.03), loop(0, 0.06), loop(4, 0.05)], cores=2)

    assert said.startswith("1 of 2 loops lie within 1.3 times")
    assert "the worst within 2.00" in said
    assert "In one more the loader has more workers than the machine has cores" in said
