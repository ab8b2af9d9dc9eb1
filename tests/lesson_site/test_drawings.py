"""The drawings: in the page, named and described, and small enough to take in at a glance."""

import re
import xml.etree.ElementTree as etree
from pathlib import Path

import markdown
import pytest

from lesson_site.drawings import DRAWINGS, drawing, inline
from lesson_site.errors import PageError
from lesson_site.fences import keep_options

NARROW_PX = 358  # the width of the text on a screen of 390 px
WIDE = 360  # units, the same for all, so that all letters are of one size
ATTRIBUTES: dict[str, set[str]] = {
    "svg": {"viewBox"},
    "title": set(),
    "desc": set(),
    "path": {"class", "d"},
    "rect": {"class", "x", "y", "width", "height", "rx"},
    "circle": {"class", "cx", "cy", "r"},
    "text": {"class", "x", "y"},
    "tspan": {"class"},
}
NAMES = sorted(path.stem for path in DRAWINGS.glob("*.svg"))


def convert(text: str) -> str:
    """The HTML of a page that knows this fence."""
    fence = {
        "name": "lesson-drawing",
        "class": "lesson-drawing",
        "format": drawing,
        "validator": keep_options,
    }
    return markdown.markdown(
        text,
        extensions=["pymdownx.superfences"],
        extension_configs={"pymdownx.superfences": {"custom_fences": [fence]}},
    )


def fence(name: str, caption: str = "It <moves>\non.") -> str:
    """A page's text with one drawing."""
    return f'```lesson-drawing show="{name}"\n{caption}\n```\n'


def numbers_in_css() -> dict[str, float]:
    """The font size of each class of text in drawings, in units of the drawing."""
    css = Path("docs/assets/sheets/drawing.css").read_text(encoding="utf-8")
    rules = re.findall(r"\.drawing (text|\.[a-z]+) \{[^}]*?font(?:-size)?:[^;}]*?([\d.]+)px", css)
    return {selector.removeprefix("."): float(size) for selector, size in rules}


def text_of(name: str) -> str:
    """A drawing's file."""
    return (DRAWINGS / f"{name}.svg").read_text(encoding="utf-8")


def classes_in_css() -> set[str]:
    """The classes that the style sheet knows inside of drawings."""
    css = Path("docs/assets/sheets/drawing.css").read_text(encoding="utf-8")
    selectors = re.findall(r"^\.drawing ([^{]+)\{", css, re.MULTILINE)
    names = {name for selector in selectors for name in re.findall(r"\.([a-z-]+)", selector)}
    return names - {"drawing"}


def classes(root: etree.Element) -> set[str]:
    """All classes of a drawing."""
    return {css for element in root.iter() for css in element.get("class", "").split()}


def flaws(svg: str) -> list[str]:
    """What a drawing's file may not have: other elements, attributes, classes or widths."""
    inline(svg, "drawing", 1)
    root = etree.fromstring(svg)
    found = [f"<{e.tag}>" for e in root.iter() if e.tag not in ATTRIBUTES]
    for element in root.iter():
        allowed = ATTRIBUTES.get(element.tag, set(element.attrib))
        found += [f"{key} in <{element.tag}>" for key in element.attrib if key not in allowed]
    found += [f"class {css}" for css in sorted(classes(root) - classes_in_css())]
    if not root.get("viewBox", "").startswith(f"0 0 {WIDE} "):
        found.append(f"viewBox {root.get('viewBox')}")
    return found


@pytest.mark.parametrize("name", NAMES)
def test_the_caption_is_the_figures_last_child(name: str) -> None:
    """The body of the fence becomes the caption, escaped and on one line."""
    html = convert(fence(name))

    assert "<figcaption>It &lt;moves&gt; on.</figcaption></figure>" in html


@pytest.mark.parametrize("name", NAMES)
def test_a_drawing_has_a_name_and_a_description(name: str) -> None:
    """A screen reader finds an image, its name and its description, by ids that exist."""
    svg = re.search(r"<svg.*</svg>", convert(fence(name)))
    assert svg is not None
    root = etree.fromstring(svg[0])

    texts = {element.get("id"): element.text for element in root if element.get("id")}

    assert root.get("role") == "img"
    assert texts[root.get("aria-labelledby")]
    assert texts[root.get("aria-describedby")]


def test_ids_are_unique_when_a_drawing_stands_twice_on_a_page() -> None:
    """The whole lesson may show the same drawing again."""
    html = convert(fence(NAMES[0]) + "\n" + fence(NAMES[0]))

    ids = re.findall(r' id="([^"]+)"', html)

    assert len(ids) == 4
    assert len(set(ids)) == 4


@pytest.mark.parametrize("name", NAMES)
def test_a_drawing_has_at_most_seven_labelled_parts(name: str) -> None:
    """What is labelled fits into one glance; the same word twice is one label."""
    root = etree.fromstring((DRAWINGS / f"{name}.svg").read_text(encoding="utf-8"))
    labels = {
        element.text
        for element in root.iter("text")
        if "station" in (css := element.get("class", "")) or css == "code key"
    }

    assert 1 <= len(labels) <= 7, (
        f"{DRAWINGS / name}.svg has {len(labels)} labels; give its parts, one to seven of them, a "
        "text of the class station, or code key"
    )


@pytest.mark.parametrize("name", NAMES)
def test_text_is_readable_on_a_narrow_screen(name: str) -> None:
    """No text is smaller than 11 px where the page is 390 px wide."""
    root = etree.fromstring((DRAWINGS / f"{name}.svg").read_text(encoding="utf-8"))
    width = float(root.get("viewBox", "").split()[2])
    sizes = numbers_in_css()
    used = {c for t in root.iter("text") for c in t.get("class", "").split()} & set(sizes) | {
        "text"
    }

    smallest_px = min(sizes[name] for name in used) * NARROW_PX / width

    assert smallest_px >= 11


def test_a_class_of_drawings_is_used_in_one() -> None:
    """The style sheet is on every page, so it has no rule that no drawing needs."""
    used = {css for name in NAMES for css in classes(etree.fromstring(text_of(name)))}

    assert set() == classes_in_css() - used


@pytest.mark.parametrize("name", NAMES)
def test_a_drawing_is_shapes_and_text_that_the_palette_colours(name: str) -> None:
    """A file has a title, a description, known shapes, known classes, and the common width."""
    known = ", ".join(sorted(classes_in_css()))
    assert [] == flaws(text_of(name)), (
        f"{DRAWINGS / name}.svg is {WIDE} units wide, and has these classes alone: {known}"
    )


@pytest.mark.parametrize(
    ("inside", "flaw"),
    [
        ('<path d="M0 0" fill="#fff"/>', "fill in <path>"),
        ('<text x="0" y="0" style="color: red">a</text>', "style in <text>"),
        ('<path class="nowhere" d="M0 0"/>', "class nowhere"),
        ('<image href="a.png"/>', "<image>"),
    ],
)
def test_what_the_palette_cannot_colour_is_a_flaw(inside: str, flaw: str) -> None:
    """A colour of its own would break the dark scheme, and a style the security policy."""
    svg = f'<svg viewBox="0 0 360 9"><title>A</title><desc>B.</desc>{inside}</svg>'

    assert [flaw] == flaws(svg)


def test_an_unknown_name_stops_the_build() -> None:
    """The message names the drawing and those that exist."""
    with pytest.raises(PageError, match=r"no drawing 'nowhere'; there are .*assembly-line"):
        convert(fence("nowhere"))


def test_a_drawing_without_a_caption_stops_the_build() -> None:
    """A caption states what the drawing shows, so it cannot be left out."""
    with pytest.raises(PageError, match="has no caption"):
        convert(fence(NAMES[0], caption=""))


@pytest.mark.parametrize("signs", ["`detach()`", "[[a.b]]", "[here](a.md)", "**now**"])
def test_a_caption_with_signs_of_markdown_stops_the_build(signs: str) -> None:
    """A reader would see them as they are."""
    with pytest.raises(PageError, match=f"plain text; write '{re.escape(signs)}' without its"):
        convert(fence(NAMES[0], caption=f"It moves {signs}."))


def test_a_file_without_title_and_description_is_refused() -> None:
    """An image that a screen reader cannot name does not get into a page."""
    with pytest.raises(PageError, match="must open with"):
        inline('<svg viewBox="0 0 1 1"><path d=""/></svg>', "bare", 1)
