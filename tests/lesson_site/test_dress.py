"""Each page is handed out with the sheets that it asks for."""

from pathlib import Path

import pytest

from lesson_site.__main__ import main
from lesson_site.postbuild.dress import SheetError, asked_by, dress_pages

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
    ("content", "expected"),
    [
        ("<p>.chart check data-run</p>", []),
        ('<p class="chart">', ["chart"]),
        ('<p class="wide chart">', ["chart"]),
        ('<p class="chart-table unchart">', []),
        ("<race-gpu>", ["chart"]),
        ("<race-gpu-fast>", []),
        ('<figure class="a" data-run="b">', ["run"]),
        ('<figure data-runs="b">', []),
        ('<b class="check"><b class="chart"><b data-run>', ["check", "chart-run"]),
    ],
)
def test_a_page_has_what_it_asks_for(site: Path, content: str, expected: list[str]) -> None:
    """By its elements, classes and attributes, and not by its words."""
    assert [f"../assets/dress/{name}.css" for name in expected] == links(site, content)


def test_what_is_joined_has_each_sheet(site: Path) -> None:
    """In the order in which the page had them; the page for unknown addresses finds it as well."""
    found = links(site, '<b data-run class="chart">', root="/course/")

    assert ["/course/assets/dress/chart-run.css"] == found
    joined = (site / "assets/dress/chart-run.css").read_text(encoding="utf-8")
    assert joined.index(".chart {") < joined.index(".run {")
    assert ".check {" not in joined


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
