"""A page that needs one of the sheets is handed out with all of them in one file."""

from pathlib import Path

import pytest

from lesson_site.__main__ import main
from lesson_site.errors import SheetError
from lesson_site.postbuild.dress import asked_by, dress_pages

COMMON = '<link rel="stylesheet" href="{}assets/style.css">'
NAMES = ("chart", "check", "run")  # in the order in which pages have them
ASKED = {"chart": "race-gpu, .chart", "check": ".check", "run": "[data-run]"}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Three sheets, each of which says who needs it."""
    (tmp_path / "assets/sheets").mkdir(parents=True)
    for name, asked in ASKED.items():
        css = f"/* What {name} has.\n   On pages with: {asked} */\n.{name} {{ top: 0 }}\n"
        (tmp_path / f"assets/sheets/{name}.css").write_text(css, encoding="utf-8")
    return tmp_path


def links(site: Path, content: str, root: str = "../") -> list[str]:
    """The sheets of a page with this content, once it is finished."""
    sheets = [f'<link rel="stylesheet" href="{root}assets/sheets/{name}.css">\n' for name in NAMES]
    page = site / "page/index.html"
    page.parent.mkdir(exist_ok=True)
    page.write_text("".join([COMMON.format(root), *sheets, content]), encoding="utf-8")

    dress_pages(site)
    html = page.read_text(encoding="utf-8")
    dress_pages(site)

    assert html == page.read_text(encoding="utf-8")
    assert not (site / "assets/sheets").exists()
    assert html.startswith(COMMON.format(root))
    assert html.endswith(content)
    between = html.removeprefix(COMMON.format(root)).removesuffix(content)
    return [link.split('"')[3] for link in between.splitlines()]


@pytest.mark.parametrize(
    ("content", "asks"),
    [
        ("<p>.chart check data-run</p>", False),
        ('<p class="chart">', True),
        ('<p class="wide chart">', True),
        ('<p class="chart-table unchart">', False),
        ("<race-gpu>", True),
        ("<race-gpu-fast>", False),
        ('<figure class="a" data-run="b">', True),
        ('<figure data-runs="b">', False),
        ('<b class="check"><b class="chart"><b data-run>', True),
    ],
)
def test_a_page_has_them_if_it_needs_one(site: Path, content: str, asks: bool) -> None:
    """By its elements, classes and attributes, and not by its words."""
    assert ["../assets/sheets.css"] * asks == links(site, content)


def test_what_is_joined_has_each_sheet(site: Path) -> None:
    """In the order in which the page had them; the page for unknown addresses finds it as well."""
    found = links(site, '<b data-run class="chart">', root="/course/")

    assert ["/course/assets/sheets.css"] == found
    joined = (site / "assets/sheets.css").read_text(encoding="utf-8")
    places = [joined.index(f".{name} {{") for name in NAMES]
    assert sorted(places) == places


@pytest.mark.parametrize("css", ["a { top: 0 }", "/* Charts. */ a { top: 0 }", ""])
def test_a_sheet_says_who_needs_it(css: str) -> None:
    """Or nobody would have it."""
    with pytest.raises(SheetError, match="no page has it; say in its first comment"):
        asked_by("odd", css)


def test_the_command_says_so(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In a sentence, with the file."""
    (site / "index.html").write_text("<p>Home</p>", encoding="utf-8")
    (site / "assets/sheets/odd.css").write_text("a { top: 0 }", encoding="utf-8")

    assert 2 == main(["finish", str(site)])
    assert "error: assets/sheets/odd.css: no page has it" in capsys.readouterr().err
