"""The fence of the race: what the element gets, and what is there without JavaScript."""

import json
import re
from html import unescape
from typing import Any
from xml.etree import ElementTree

import pytest
from markdown import Markdown

from lesson_code.forecast.cards import read_cards
from lesson_site import vendor
from lesson_site.errors import PageError
from lesson_site.race.fence import curves, forecasts, race, race_html
from results.entry import Entry
from results.store import Result, Store, open_store, read_catalogue
from tests.lesson_site import made_up
from tests.lesson_site.test_figures import entry, result


@pytest.fixture(autouse=True)
def sizes(monkeypatch: pytest.MonkeyPatch) -> dict[str, float | None]:
    """What the builds of the library weigh, whatever lies in the folder of this machine."""
    known: dict[str, float | None] = {"jspi": 4.12, "asyncify": 7.0}
    monkeypatch.setattr(vendor, "race_download_mb", known.get)
    return known


def element(html: str) -> ElementTree.Element:
    """The element in the fence's HTML."""
    found = ElementTree.fromstring(html)
    return found if found.tag == "race-gpu" else found[0]


def recorded(of: ElementTree.Element) -> list[dict[str, Any]]:
    """The curves that it gets."""
    content: dict[str, list[dict[str, Any]]] = json.loads(of.get("data-recorded", ""))
    return content["curves"]


def timed(seconds: float, amount: float) -> Entry:
    """An entry with what it works through."""
    return entry(seconds, amount=amount)


RACE = {
    "width_256.batch_64.cpu": timed(0.001, 64),
    "width_256.batch_64.cuda": timed(0.0003, 64),
    "width_2048.batch_4096.cuda": timed(0.002, 4096),
}
PRODUCTS = {
    "n_64.cpu": timed(1.0, 2 * 64**3),  # too small a product for the race
    "n_512.cpu": timed(0.01, 2 * 512**3),
    "n_4096.cuda_float32": timed(0.01, 2 * 4096**3),
}


def store(*results: Result) -> Store:
    """The real catalogue with these results."""
    return Store(read_catalogue(), results)


def test_the_element_gets_sizes_and_recorded_curves() -> None:
    """By racer, width and batch size; labels say what was measured, on what and when."""
    of = element(race_html(store(result({"race": RACE, "matmul": PRODUCTS}, gpu="A “GPU” <1>"))))

    assert ["4.1", "7.0"] == [of.get("data-mb-jspi"), of.get("data-mb-asyncify")]
    assert [
        {
            "racer": "cpu",
            "label": "PyTorch on A processor, 2 threads (recorded 2026-11-21)",
            "steps": {"256": {"64": 64000.0}},
            "products": {"512": 26843500000.0},
        },
        {
            "racer": "cuda",
            "label": "PyTorch on A “GPU” <1> (recorded 2026-11-21)",
            "steps": {"256": {"64": 213333.0}, "2048": {"4096": 2048000.0}},
            "products": {"4096": 13743900000000.0},
        },
    ] == recorded(of)


def test_what_two_files_recorded_stands_under_two_labels() -> None:
    """A step of one day is not dated by the products of another."""
    steps = result({"race": {"width_64.batch_16.cpu": timed(0.001, 16)}}, date="2026-11-23")
    found = curves(store(steps, result({"matmul": PRODUCTS}, date="2026-11-21")))

    assert [
        ("cpu", "2026-11-23", 1, 0),
        ("cpu", "2026-11-21", 0, 1),
        ("cuda", "2026-11-21", 0, 1),
    ] == [
        (one["racer"], one["label"][-11:-1], len(one["steps"]), len(one["products"]))
        for one in found
    ]


def test_a_recorded_gpu_is_known_by_the_name_of_its_forecast() -> None:
    """So that the page can say whether it lies in its band; the CPU beside it is no card."""
    found = curves(store(result({"race": RACE}, gpu="NVIDIA H100 80GB HBM3")))

    assert {"cpu": None, "cuda": read_cards()["h100"].name} == {
        one["racer"]: one.get("card") for one in found
    }


def test_a_racer_that_nobody_measured_is_left_out() -> None:
    """There is no empty line, and no line at all before anything was measured."""
    assert ["cpu"] == [one["racer"] for one in curves(made_up.store("cpu"))]
    assert [] == curves(made_up.store("nothing"))
    assert {16, 64, 256, 1024, 4096} == {
        int(batch) for batch in curves(made_up.store("cpu"))[0]["steps"]["2048"]
    }


def test_a_browser_s_recorded_race_is_never_drawn_as_pytorch() -> None:
    """Its file is passed over, whatever else it holds."""
    in_browser = result({"race": RACE}, gpu="A GPU")
    in_browser.provenance["engine"] = "An engine"

    assert [] == curves(store(in_browser))


def test_each_card_has_a_forecast_for_every_step_that_races() -> None:
    """The figures that pages name, by card, width and batch, each with its band."""
    figures = open_store()
    found = forecasts(figures)

    assert read_cards().keys() == found.keys()
    assert {"64", "256", "1024", "2048"} == found["t4"]["steps"].keys()
    assert {"16", "64", "256", "1024", "4096"} == found["t4"]["steps"]["256"].keys()
    figure = figures.figure("forecast.race_256_64.float32.h100.sent_rate")
    told = (figure.value, figure.text, figure.low, figure.high, figure.band)
    assert told == found["h100"]["steps"]["256"]["64"]


@pytest.mark.parametrize("missing", ["jspi", "asyncify"])
def test_a_library_that_was_not_fetched_has_no_size(
    missing: str, sizes: dict[str, float | None]
) -> None:
    """The attribute is left out, and the element says what that means."""
    sizes[missing] = None

    of = element(race_html(store()))

    names = {"data-mb-jspi", "data-mb-asyncify", "data-recorded", "data-apart"}
    assert names - {f"data-mb-{missing}"} == set(of.keys())


def test_without_javascript_the_place_says_what_would_be_there() -> None:
    """And leads to what was recorded."""
    html = race("", "lesson-race", "", {}, Markdown())
    said = re.sub(r"<[^>]+>", "", unescape(html))

    assert "That needs JavaScript." in said
    assert "PyTorch" in said
    assert '<a href="#recorded">' in html
    assert curves(open_store()) == recorded(element(html))


def test_a_fence_with_options_stops_the_build() -> None:
    """The race is one thing; the message names the page."""
    with pytest.raises(PageError, match=r"lesson-race: takes no option 'show'"):
        race("", "lesson-race", "", {"show": "x"}, Markdown())
