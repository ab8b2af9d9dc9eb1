"""The published points: every row can be read, traced to its source, and forecast."""

import re
from pathlib import Path

import pytest

from lesson_code.forecast.cards import read_cards
from results import points
from results.points import PointError

FILES = (*points.SPEEDS, "fits", "occupied")
ROW = "network,card,batch,format,layout,value,unit,source,caveat\n{}\n"
GOOD = "resnet50,v100,128,float32,contiguous,369,per_s,lambda-fp32,"


def test_nothing_is_lost() -> None:
    """Speeds seen before, speeds not seen, forward passes, and batches that ran or did not."""
    assert 71 == len(points.read("training_seen"))
    assert 20 <= len(points.read("training_unseen"))
    assert 36 == len(points.read("launches"))
    assert 45 <= len(points.read("fits"))


def test_no_row_is_in_both_heaps() -> None:
    """What was seen while the constants were chosen tests nothing."""
    seen, unseen = (
        {(p.step, p.card, p.format, p.layout, p.source.id) for p in points.read(file)}
        for file in ("training_seen", "training_unseen")
    )

    assert set() == seen & unseen


def test_every_source_is_fixed_and_used() -> None:
    """Each is a file at a full commit, and some row comes from it."""
    used = {point.source.id for file in FILES for point in points.read(file)}

    assert set(points.sources()) == used
    assert all(re.search(r"/blob/[0-9a-f]{40}/", s.address) for s in points.sources().values())


def test_every_card_is_offered() -> None:
    """A card without cited rates has no points."""
    assert {point.card for file in FILES for point in points.read(file)} <= read_cards().keys()


def test_every_step_is_counted_and_no_other() -> None:
    """The counts are those of the rows."""
    assert {step.name for step in points.steps()} == points.counts().keys()


def test_a_rate_and_a_time_are_seconds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """369 samples a second in batches of 128, and a step of a quarter of a second."""
    second = "resnet50,v100,8,tf32,contiguous,0.25,s,lambda-fp32,"
    (tmp_path / "some.csv").write_text(ROW.format(f"{GOOD}\n{second}"), encoding="utf-8")
    monkeypatch.setattr(points, "FOLDER", tmp_path)
    points.sources()

    rate, time = points.read("some")

    assert (128 / 369, 369) == (rate.seconds, rate.per_second)
    assert (0.25, 0) == (time.seconds, time.per_second)
    assert "resnet50.b8.float32" == time.step.name


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("float32", "float64", "line 2: format is 'float64'"),
        ("contiguous", "nhwc", "layout is 'nhwc'"),
        ("lambda-fp32", "somebody", "source is 'somebody'"),
        ("369", "fast", "value a number"),
        ("369", "0", "above zero"),
        ("128", "0", "above zero"),
        ("128", "12.5", "batch is a whole number"),
        ("per_s", "fps", "unit is 'fps'"),
        ("per_s,", "", "more or fewer columns"),
        ("per_s,", "per_s,s,", "more or fewer columns"),
    ],
)
def test_a_bad_row_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, old: str, new: str, says: str
) -> None:
    """The message names the file, the line and what is wrong."""
    (tmp_path / "some.csv").write_text(ROW.format(GOOD.replace(old, new, 1)), encoding="utf-8")
    points.sources()
    monkeypatch.setattr(points, "FOLDER", tmp_path)

    with pytest.raises(PointError, match=re.escape(says)):
        points.read("some")


def test_a_bad_outcome_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A batch ran or failed."""
    head = "network,card,batch,format,layout,outcome,source,caveat\n"
    row = "resnet50,v100,128,float32,contiguous,perhaps,lambda-fp32,\n"
    (tmp_path / "some.csv").write_text(head + row, encoding="utf-8")
    points.sources()
    monkeypatch.setattr(points, "FOLDER", tmp_path)

    with pytest.raises(PointError, match="outcome is 'perhaps'; take one of ran, failed"):
        points.read("some")


def test_a_file_with_other_columns_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The message lists those that there are."""
    (tmp_path / "some.csv").write_text("network,card\nresnet50,v100\n", encoding="utf-8")
    monkeypatch.setattr(points, "FOLDER", tmp_path)

    with pytest.raises(PointError, match=r"some\.csv, line 1: the columns are network,card,batch"):
        points.read("some")


def test_a_source_without_an_address_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The message names it and what it lacks."""
    lacking = '[source.mine]\nwho = "I"\ntitle = "Mine"\npublished = "2026"\nread = 2026-11-23\n'
    (tmp_path / "sources.toml").write_text(lacking + 'software = "none"\n', encoding="utf-8")
    monkeypatch.setattr(points, "FOLDER", tmp_path)

    with pytest.raises(PointError, match=r"mine.*'address'"):
        points.sources.__wrapped__()
