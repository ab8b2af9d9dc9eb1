"""What cases declare is written, read and found again as they said it."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from results import cases
from results.cases import FILE, Case, DeclarationError, Family, names_of, read, together, written
from results.quantities import UNITS

SWEEP = Family(
    "width_{width}.{arm}",
    "a step of width {width}, {arm}, größer",
    {"width": range(64, 129, 64), "arm": ("fused", "plain")},
    unit="bytes",
    device="webgpu",
    browser=True,
    words={"fused": "in one", "gone": "no member"},
    figure="sweep.{width}.{arm}",
    rate="flop_per_s",
    rate_figure="sweep_rate.{width}.{arm}",
)
TIME = Family("cpu", "a time")


def test_an_entry_is_one_member_of_each_list() -> None:
    """The last list is the quickest to change; a family without a list is one entry."""
    assert (
        "cpu",
        "width_64.fused",
        "width_64.plain",
        "width_128.fused",
        "width_128.plain",
    ) == names_of(iter([TIME, SWEEP]))
    assert () == names_of([])


def test_what_is_as_usual_is_left_out_of_the_file() -> None:
    """A family is a line, and a word of no member is not in it."""
    assert (
        '{\n"a": {"needs": ["b"], "families": [\n'
        '{"name": "width_{width}.{arm}", "what": "a step of width {width}, {arm}, größer", '
        '"at": {"width": [64, 128], "arm": ["fused", "plain"]}, '
        '"unit": "bytes", "device": "webgpu", "browser": true, "words": {"fused": "in one"}, '
        '"figure": "sweep.{width}.{arm}", "rate": "flop_per_s", '
        '"rate_figure": "sweep_rate.{width}.{arm}"},\n'
        '{"name": "cpu", "what": "a time"}\n]},\n'
        '"b": {"needs": [], "families": [\n\n]}\n}\n'
    ) == written({"a": Case((SWEEP, TIME), ("b",)), "b": Case(())})


@pytest.mark.parametrize(
    "unusual",
    [
        {"unit": "bytes"},
        {"device": "webgpu", "browser": True},
        {"figure": ""},
        {"figure": "other.name"},
        {"rate": "samples_per_s", "rate_figure": "other.rate"},
        {"at": {"n": [1, 2]}, "name": "n_{n}", "words": {"2": "two"}},
    ],
)
def test_what_is_written_is_read_again(unusual: dict[str, Any], tmp_path: Path) -> None:
    """With each field that says something."""
    described = {"made": Case((Family(**{"name": "cpu", "what": "ö", **unusual}),), ("other",))}
    path = tmp_path / "cases.json"
    path.write_text(written(described), encoding="utf-8")

    assert described == read(path)


def test_the_file_is_read_again_after_a_change(tmp_path: Path) -> None:
    """And only then."""
    path = tmp_path / "cases.json"
    path.write_text(written({"a": Case((TIME,))}), encoding="utf-8")
    os.utime(path, ns=(1, 1))
    before = read(path)

    assert before is read(path)
    path.write_text(written({"b": Case((TIME,))}), encoding="utf-8")
    assert ["b"] == list(read(path))


def test_the_cases_of_this_repository_are_read_by_default() -> None:
    """In the order of the file."""
    described = json.loads(FILE.read_text(encoding="utf-8"))

    assert tuple(described) == cases.names() == tuple(read())
    assert set(together("ladder")) >= {"ladder", *described["ladder"]["needs"]}


def test_cases_are_measured_together_whoever_needs_whom(tmp_path: Path) -> None:
    """Needs are followed in both directions and over any number of steps, in the file's order."""
    path = tmp_path / "cases.json"
    needs = {"e": ("d",), "a": ("b",), "b": (), "c": ("b",), "d": (), "f": ("c",)}
    path.write_text(written({name: Case((), of) for name, of in needs.items()}))

    for name in "abcf":
        assert ("a", "b", "c", "f") == together(name, path)
    assert ("e", "d") == together("d", path)
    assert ("unknown",) == together("unknown", path)


@pytest.mark.parametrize(
    ("slip", "said"),
    [
        ({"device": "gpu"}, "device is 'gpu'; write one of cpu, cuda, webgpu"),
        ({"unit": "ms"}, f"the unit 'ms' is unknown; write one of {', '.join(UNITS)}"),
        ({"device": "gpu", "unit": "ms"}, "device is 'gpu'; write one of cpu, cuda, webgpu"),
        ({"unit": "ms", "at": {}}, f"the unit 'ms' is unknown; write one of {', '.join(UNITS)}"),
        (
            {"unit": "ms", "rate": "flop_per_s"},
            f"the unit 'ms' is unknown; write one of {', '.join(UNITS)}",
        ),
        ({"rate": "flops"}, f"the unit 'flops' is unknown; write one of {', '.join(UNITS)}"),
        ({"at": {"m": (1, 2)}}, "name and what have braces for these lists of `at` alone: m"),
        ({"at": {}}, "name and what have braces for these lists of `at` alone: none"),
        (
            {"at": {"n": (1,), "m": (1,)}},
            "name and what have braces for these lists of `at` alone: n, m",
        ),
        ({"what": "of {m}"}, "name and what have braces for these lists of `at` alone: n"),
        ({"what": "of {}"}, "name and what have braces for these lists of `at` alone: n"),
    ],
)
def test_a_family_that_nothing_can_belong_to_is_refused(slip: dict[str, Any], said: str) -> None:
    """Before anything is measured, with what to write; the first of two slips is said."""
    good: dict[str, Any] = {"name": "n_{n}.cpu", "what": "a product", "at": {"n": (1, 2)}}

    Family(**good)
    with pytest.raises(DeclarationError) as refused:
        Family(**(good | slip))

    assert f"the family 'n_{{n}}.cpu': {said}" == str(refused.value)
