"""What the weekly look by Lighthouse takes for too little, told from reports of our own making."""

import json
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.building import REPOSITORY
from tests.lighthouse.__main__ import (
    PAGES,
    READING,
    TIMES,
    Report,
    judged,
    main,
    serving,
    slowdown_of,
)


def report(**points: float) -> Report:
    """One in which each category has one rule, which earns all its points."""
    points = {"accessibility": 1.0, "best-practices": 1.0, "seo": 1.0, "performance": 1.0} | points
    return {
        "categories": {
            name: {"score": score, "auditRefs": [{"id": f"{name}-rule", "weight": 1}]}
            for name, score in points.items()
        },
        "audits": {f"{name}-rule": {"score": score} for name, score in points.items()},
        "environment": {"benchmarkIndex": 875},
    }


def answers(*reports: Report) -> Callable[..., Report]:
    """Lighthouse, with these reports in order."""
    left = iter(reports)
    return lambda *_: next(left)


def test_a_page_with_all_points_lacks_nothing() -> None:
    """It is asked once."""
    points, lacks = judged("page", READING, answers(report(performance=0.95)))

    assert [] == lacks
    assert {**READING} == points


@pytest.mark.parametrize("name", ["accessibility", "best-practices", "seo"])
@pytest.mark.parametrize("score", [0.89, None], ids=str)
def test_a_lost_point_names_the_rule_that_cost_it(name: str, score: float) -> None:
    """A category that Lighthouse could not compute counts as lost."""
    _, lacks = judged("page", READING, answers(report(**{name: score})))

    assert 2 == len(lacks)
    assert lacks[0].startswith(name)
    assert f"{name}: {name}-rule" == lacks[1]


@pytest.mark.parametrize(("slow", "lacking"), [(TIMES // 2, False), (TIMES // 2 + 1, True)])
def test_a_page_is_slow_if_it_is_most_of_the_time(slow: int, lacking: bool) -> None:
    """A busy moment of the machine is not the page's."""
    reports = [report(performance=0.5)] * slow + [report()] * (TIMES - slow)

    _, lacks = judged("page", READING, answers(*reports))

    assert lacking == bool(lacks)


def test_every_page_that_is_asked_exists() -> None:
    """Each has its source."""
    docs = REPOSITORY / "docs"
    for page in filter(None, PAGES):
        sources = [docs / page / "index.md", docs / f"{page.rstrip('/')}.md"]
        sources += [docs / f"{page.rstrip('/')}.ipynb"]
        assert any(source.is_file() for source in sources), page


def test_one_page_that_lacks_points_is_enough_to_fail(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The others are asked and told all the same."""
    (tmp_path / "index.html").write_text("<p>home</p>", encoding="utf-8")
    reports = [report() for _ in ["first", *PAGES]]

    assert 0 == main([str(tmp_path)], answers(*reports))
    reports[2] = report(seo=0.5)
    assert 1 == main([str(tmp_path)], answers(*reports))

    said = capsys.readouterr().out
    assert 2 == sum(line.startswith(list(PAGES)[-1]) for line in said.splitlines())
    assert "seo: seo-rule" in said


@pytest.mark.parametrize(("points", "slowdown"), [(1750, 4), (875, 2), (200, 1)])
def test_every_machine_is_asked_for_the_same_phone(
    tmp_path: Path, points: float, slowdown: float
) -> None:
    """A slower one slows it less, and none makes it faster than it is itself."""
    (tmp_path / "index.html").write_text("<p>home</p>", encoding="utf-8")
    measured = report() | {"environment": {"benchmarkIndex": points}}
    asked: list[float] = []

    main([str(tmp_path)], lambda _, times: asked.append(times) or measured)

    assert slowdown == slowdown_of(measured)
    assert [4, *[slowdown] * len(PAGES)] == asked


def test_a_folder_without_a_site_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one sentence, before Lighthouse is asked anything."""
    assert 2 == main([str(tmp_path)], answers())
    assert capsys.readouterr().err.startswith("error: ")


def test_text_is_served_compressed(tmp_path: Path) -> None:
    """As the published site is; a picture is sent as it is."""
    (tmp_path / "index.html").write_text("<p>home</p>" * 500, encoding="utf-8")
    (tmp_path / "share.png").write_bytes(b"\x89PNG")
    with serving(tmp_path) as site:
        with urllib.request.urlopen(site) as answer:
            assert "gzip" == answer.headers["Content-Encoding"]
            assert len(answer.read()) < 500
        with urllib.request.urlopen(f"{site}share.png") as answer:
            assert answer.headers["Content-Encoding"] is None
            assert b"\x89PNG" == answer.read()


def test_the_lock_needs_no_whatever_is_newest() -> None:
    """`npm ci` refuses it once what a package asks for as the latest has a later version."""
    folder = REPOSITORY / "tests" / "lighthouse"
    locked = json.loads((folder / "package-lock.json").read_text(encoding="utf-8"))
    pinned = json.loads((folder / "package.json").read_text(encoding="utf-8"))["overrides"]

    asked = {
        name
        for package in locked["packages"].values()
        for name, version in package.get("dependencies", {}).items()
        if version == "latest"
    }

    assert asked == set(pinned)
