"""What scripts need later: in the page as it is built, in files of its own once it is finished."""

import json
import re
from pathlib import Path

import pytest

from lesson_site.apart import move_apart
from lesson_site.charts import described, to_html
from lesson_site.charts.description import to_data
from tests.lesson_site import made_up


def page_of(name: str, kind: str, number: int = 0) -> str:
    """A page with a chart of made-up values."""
    return f"<p>{to_html(name, described(name, made_up.store(kind)), number)}</p>"


def files_of(html: str) -> list[str]:
    """The names of the files that a page's charts have."""
    return re.findall(r'data-at="([^"]*)"', html)


def test_a_chart_s_data_goes_into_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file has what the page had: the description, and the forecasts of every card."""
    made_up.forecasts(monkeypatch, 3.0)
    page = tmp_path / "index.html"
    page.write_text(page_of("ladder", "cpu"), encoding="utf-8")

    move_apart(tmp_path)

    html = page.read_text(encoding="utf-8")
    (name,) = files_of(html)
    data = json.loads((tmp_path / "assets/data" / name).read_text(encoding="utf-8"))
    chart = described("ladder", made_up.store("cpu"))
    assert to_data(chart.description) == data["chart"]
    assert to_data(chart.cards) == data["cards"]
    assert ' data-cards=""' in html
    assert "data-apart=" not in html


def test_without_forecasts_a_chart_asks_for_no_card(tmp_path: Path) -> None:
    """What a GPU measured is the same for every card."""
    page = tmp_path / "index.html"
    page.write_text(page_of("ladder", "gpu"), encoding="utf-8")

    move_apart(tmp_path)

    assert "data-cards" not in page.read_text(encoding="utf-8")


def test_pages_with_the_same_chart_share_its_file(tmp_path: Path) -> None:
    """It is named by what it holds, and another chart has another."""
    for number, name in enumerate(("hook", "hook", "sweep")):
        (tmp_path / f"{number}.html").write_text(page_of(name, "cpu", number), encoding="utf-8")

    move_apart(tmp_path)

    pages = [path.read_text(encoding="utf-8") for path in sorted(tmp_path.glob("*.html"))]
    one, same, other = (files_of(page)[0] for page in pages)
    assert one == same != other
    assert 2 == len(list((tmp_path / "assets/data").iterdir()))


def test_a_second_time_changes_nothing(tmp_path: Path) -> None:
    """Neither the pages nor the files."""
    (tmp_path / "index.html").write_text(page_of("hook", "cpu"), encoding="utf-8")
    move_apart(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    move_apart(tmp_path)

    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
