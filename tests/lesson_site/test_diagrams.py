"""The diagrams: everything drawn, nothing on top of another, and legible on a telephone."""

import random
import re
import xml.etree.ElementTree as etree
from itertools import combinations, pairwise
from pathlib import Path

import markdown
import pytest

from lesson_site.diagrams import WIDEST_PX, diagram, draw
from lesson_site.diagrams.layered import Arrow, Layout, Point, Rect, lay_out
from lesson_site.diagrams.letters import widest_px, wrapped
from lesson_site.diagrams.source import Edge, Node, parse
from lesson_site.errors import PageError
from lesson_site.fences import keep_options

LOOP = """\
flowchart TD
  start["Start"] --> load["Load a batch<br>images, labels"]
  load --> step["Step"] --> more{"More batches?"}
  more -->|"yes"| load
  more -->|"no"| save["Save & stop"]
  load -.-> save
"""
MESSAGES = """\
sequenceDiagram
  participant l as DataLoader
  participant m as Loss function
  l->>m: a <batch>
  m-->>l: ready
  m->>m: waits
"""


def convert(body: str, first: str = 'title="A & B" text="It <goes> round."') -> str:
    """The HTML of a page with one diagram."""
    fence = {
        "name": "lesson-diagram",
        "class": "lesson-diagram",
        "format": diagram,
        "validator": keep_options,
    }
    return markdown.markdown(
        f"```lesson-diagram {first}\n{body}\n```\n",
        extensions=["pymdownx.superfences"],
        extension_configs={"pymdownx.superfences": {"custom_fences": [fence]}},
    )


def svg_of(body: str) -> etree.Element:
    """The drawing of a diagram as a tree."""
    found = re.search(r"<svg.*</svg>", convert(body))
    assert found is not None
    return etree.fromstring(found[0])


def words_in(root: etree.Element) -> list[str]:
    """Each text of a drawing, its lines joined."""
    return [" ".join(" ".join(text.itertext()).split()) for text in root.iter("text")]


def enters(route: list[Point], box: Rect) -> bool:
    """Whether an arrow runs through the inside of a rectangle."""
    inside = Rect(box.x + 0.5, box.y + 0.5, box.width - 1, box.height - 1)
    for (x1, y1), (x2, y2) in pairwise(route):
        around = Rect(min(x1, x2), min(y1, y2), abs(x1 - x2) + 0.01, abs(y1 - y2) + 0.01)
        if around.overlaps(inside):
            return True
    return False


def touches(point: Point, box: Rect) -> bool:
    """Whether a point lies on the border of a rectangle."""
    x, y = point
    beside = min(abs(x - box.x), abs(x - box.x - box.width)) < 0.1
    level = min(abs(y - box.y), abs(y - box.y - box.height)) < 0.1
    within_x = box.x - 0.1 <= x <= box.x + box.width + 0.1
    within_y = box.y - 0.1 <= y <= box.y + box.height + 0.1
    return (beside and within_y) or (level and within_x)


def made_up(seed: int) -> tuple[dict[str, tuple[float, float]], list[Arrow]]:
    """A connected graph of two to fourteen nodes, with circles, long arrows and labels."""
    chance = random.Random(seed)
    names = [f"n{index}" for index in range(chance.randint(2, 14))]
    sizes = {name: (float(chance.randint(40, 200)), chance.choice([36.0, 76.0])) for name in names}
    pairs = {(names[chance.randrange(i)], names[i]) for i in range(1, len(names))}
    pairs |= {(a, b) for a, b in (chance.sample(names, 2) for _ in range(chance.randint(0, 4)))}
    labels = [None, (25.0, 20.0), (90.0, 40.0)]
    return sizes, [Arrow(a, b, chance.choice(labels)) for a, b in sorted(pairs)]


def laid_out(seed: int, *, horizontal: bool) -> tuple[list[Arrow], Layout]:
    """A made-up graph's arrows and layout."""
    sizes, arrows = made_up(seed)
    return arrows, lay_out(sizes, arrows, horizontal=horizontal)


EVERY_SHAPE = pytest.mark.parametrize(
    ("seed", "horizontal"), [(seed, flat) for seed in range(40) for flat in (False, True)]
)


@EVERY_SHAPE
def test_no_box_and_no_label_lies_on_another(seed: int, horizontal: bool) -> None:
    """Boxes and labels keep apart in every graph, whatever its circles."""
    _, layout = laid_out(seed, horizontal=horizontal)

    everything = [*layout.boxes.values(), *(label for label in layout.labels if label)]

    assert [] == [(a, b) for a, b in combinations(everything, 2) if a.overlaps(b)]


@EVERY_SHAPE
def test_each_arrow_leads_from_its_source_to_its_target_around_all_boxes(
    seed: int, horizontal: bool
) -> None:
    """An arrow begins and ends on the borders of its nodes, and passes through none."""
    arrows, layout = laid_out(seed, horizontal=horizontal)

    for arrow, route in zip(arrows, layout.routes, strict=True):
        assert touches(route[0], layout.boxes[arrow.source])
        assert touches(route[-1], layout.boxes[arrow.target])
        assert not any(enters(route, box) for box in layout.boxes.values())


@EVERY_SHAPE
def test_all_of_a_drawing_lies_inside_of_it(seed: int, horizontal: bool) -> None:
    """Nothing is cut off at the border of the SVG."""
    _, layout = laid_out(seed, horizontal=horizontal)

    frame = Rect(0, 0, layout.width, layout.height)
    ends = [(r.x + r.width, r.y + r.height) for r in layout.boxes.values()]
    points = [*ends, *(point for route in layout.routes for point in route)]

    assert all(0 <= x <= frame.width and 0 <= y <= frame.height for x, y in points)


def test_a_flowchart_follows_its_direction() -> None:
    """Downwards each node lies below the one before it; to the right, beside it."""
    down = lay_out({"a": (50, 20), "b": (50, 20)}, [Arrow("a", "b")], horizontal=False)
    right = lay_out({"a": (50, 20), "b": (50, 20)}, [Arrow("a", "b")], horizontal=True)

    assert down.boxes["b"].y > down.boxes["a"].y + 20
    assert right.boxes["b"].x > right.boxes["a"].x + 50


def test_an_arrow_back_runs_beside_what_it_skips() -> None:
    """A circle of three nodes keeps its order, and its last arrow enters the first node."""
    sizes = dict.fromkeys("abc", (60.0, 30.0))
    circle = [Arrow("a", "b"), Arrow("b", "c"), Arrow("c", "a", (20.0, 20.0))]

    layout = lay_out(sizes, circle, horizontal=False)

    assert layout.boxes["a"].y < layout.boxes["b"].y < layout.boxes["c"].y
    assert touches(layout.routes[2][-1], layout.boxes["a"])
    assert not enters(layout.routes[2], layout.boxes["b"])


def test_what_leads_furthest_runs_straight() -> None:
    """The middle of the way stands in one line; what branches off stands beside it."""
    sizes = dict.fromkeys("abcdx", (60.0, 30.0))
    arrows = [Arrow("a", "x"), Arrow("a", "b"), Arrow("b", "c"), Arrow("c", "d")]

    boxes = lay_out(sizes, arrows, horizontal=False).boxes

    assert max(boxes[n].x for n in "abcd") - min(boxes[n].x for n in "abcd") < 2


def test_every_node_edge_and_label_is_drawn() -> None:
    """Boxes, questions, arrows with heads, dashed arrows and labels, each as often as written."""
    root = svg_of(LOOP)

    drawn = [(e.get("class"), e.get("d", "").count("M")) for e in root.iter("path")]

    assert [
        *(("arrow", 5), ("head", 5), ("arrow dashed", 1), ("head", 1)),
        *(("box", 4), ("question", 1)),
    ] == drawn
    assert {"Start", "Load a batch", "images, labels", "More batches?", "yes", "no"} <= set(
        words_in(root)
    )


def test_texts_are_escaped() -> None:
    """What is written between the quotes shows as it is, and an entity as its character."""
    html = convert('flowchart TD\n  a["x < y & z"] -->|"a &lt; b"| b["<b>bold</b>"]')

    assert "x &lt; y &amp; z" in html
    assert "a &lt; b</text>" in html
    assert "&lt;b&gt;bold&lt;/b&gt;" in html
    assert "A &amp; B</title>" in html
    assert "It &lt;goes&gt; round.</figcaption>" in html


def test_a_diagram_is_an_image_with_a_name_and_a_sentence() -> None:
    """A screen reader finds the title and the caption by ids that exist."""
    html = convert(LOOP)
    root = svg_of(LOOP)

    assert "img" == root.get("role")
    assert f'<title id="{root.get("aria-labelledby")}">' in html
    assert f'<figcaption id="{root.get("aria-describedby")}">' in html


def test_a_sequence_has_its_participants_and_messages() -> None:
    """Each participant is a box, each message an arrow under its text, a dashed one an answer."""
    root = svg_of(MESSAGES)

    lines = {e.get("class"): e.get("d", "").count("M") for e in root.iter("path")}

    assert {"a <batch>", "ready", "waits", "DataLoader", "Loss function"} == set(words_in(root))
    assert 2 == lines["box"]
    assert (2, 1, 2) == (lines["arrow"], lines["arrow dashed"], lines["lifeline"])


def test_a_wide_flowchart_turns_downwards() -> None:
    """Six long nodes in a row would be too small on a telephone."""
    chain = " --> ".join(f'n{i}["A node with a long text"]' for i in range(6))

    drawing = draw(f"flowchart LR\n{chain}")

    assert drawing.height > drawing.width
    assert drawing.width <= WIDEST_PX


def test_a_short_flowchart_stays_horizontal() -> None:
    """Three short nodes fit side by side."""
    drawing = draw('flowchart LR\na["x"] --> b["y"] --> c["loss"]')

    assert drawing.width > drawing.height


def test_letters_stay_legible_on_a_telephone() -> None:
    """At a width of 390 px the letters of the widest diagram have 11 px still."""
    css = Path("docs/assets/style.css").read_text(encoding="utf-8")
    found = re.search(r"\.diagram text \{ font: (\d+)px", css)
    assert found is not None

    assert 358 / WIDEST_PX * int(found[1]) >= 11


def test_a_drawing_leaves_its_colours_to_the_palette() -> None:
    """No colour and no style stands in the SVG."""
    html = convert(LOOP) + convert(MESSAGES)

    assert [] == re.findall(r"#[0-9a-fA-F]{3,8}\b|rgb|\bfill=|\bstroke=|\bstyle=", html)


def test_the_same_text_gives_the_same_drawing() -> None:
    """Nothing in the layout is left to chance."""
    assert convert(LOOP) == convert(LOOP)
    assert convert(MESSAGES) == convert(MESSAGES)


def test_a_name_alone_is_its_text() -> None:
    """As in Mermaid, and a text that comes later counts."""
    parsed = parse('flowchart TD\na --> b\na["The first"] --> b\n%% a remark')

    assert {"a": Node(("The first",)), "b": Node(("b",))} == parsed.nodes
    assert [Edge("a", "b"), Edge("a", "b")] == parsed.edges


def test_lines_break_between_words() -> None:
    """A text takes as many lines as its width asks for, and no word is cut."""
    lines = wrapped("gradients on parameters", 90)

    assert ["gradients on", "parameters"] == lines
    assert widest_px(lines) <= 90


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("", "must begin with `flowchart LR`"),
        ("graph TD\na --> b", "must begin with `flowchart LR`"),
        ("flowchart RL\na --> b", "must begin with `flowchart LR`"),
        ("flowchart TD", "has no node"),
        ("flowchart TD\na --> b\nstyle a fill:#f00", "line 3 of the diagram, 'style a"),
        ('flowchart TD\na("round") --> b', r'write `a\["text"\]`'),
        ("flowchart TD\na ==> b", r'write `a\["text"\]`'),
        ("flowchart TD\na -->", r'write `a\["text"\]`'),
        ("flowchart TD\na --> a", "an arrow from a node to itself"),
        ('flowchart TD\na["one"] --> b\na["two"] --> b', "'a' has another text already"),
        ("sequenceDiagram\nloop forever", "write `participant a as Name`"),
        (
            "sequenceDiagram\n"
            + "\n".join(f"participant p{i} as Unbreakably{i}" for i in range(9)),
            "too wide to be read on a telephone",
        ),
    ],
)
def test_what_it_does_not_know_stops_the_build(body: str, message: str) -> None:
    """The message names the line of the diagram and what may stand there."""
    with pytest.raises(PageError, match=message):
        convert(body)


@pytest.mark.parametrize(
    ("first", "message"),
    [
        ('title="Only this"', "needs the option 'text'"),
        ('title="A" text=" "', "text is empty"),
        ('title="A" text="B" wide="yes"', "takes no option 'wide'"),
    ],
)
def test_title_and_text_must_be_given(first: str, message: str) -> None:
    """A drawing that cannot be read aloud does not get into a page."""
    with pytest.raises(PageError, match=message):
        convert(LOOP, first)
