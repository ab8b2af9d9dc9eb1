"""Result files: saved whole or not at all, and refused in one sentence when something is wrong."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks import result_file
from benchmarks.__main__ import main
from benchmarks.method import entry
from benchmarks.result_file import BadResultError

PROVENANCE: dict[str, Any] = {
    "machine": "cpu-2-cores",
    "processor": "A processor",
    "cores": 2,
    "threads": 2,
    "gpu": None,
    "cuda": None,
    "system": "Linux",
    "python": "3.11.7",
    "torch": "2.15.0",
    "torchvision": "0.29.2",
    "numpy": "2.4.6",
    "float32_matmul_precision": "highest",
    "date": "2026-11-21",
    "commit": None,
    "quick": False,
}


def good() -> dict[str, Any]:
    """A result file's content with one case."""
    case = {
        "finished": "2026-11-21T14:00Z",
        "took_s": 1.0,
        "load_average": 0.1,
        "entries": {"samples_100.cpu": entry([0.001, 0.0011, 0.0012], "s", device="cpu")},
    }
    return {"version": 1, "provenance": dict(PROVENANCE), "cases": {"tiny_epoch": case}}


def the_entry(content: dict[str, Any]) -> dict[str, Any]:
    """The one entry of ``good()``."""
    found: dict[str, Any] = content["cases"]["tiny_epoch"]["entries"]["samples_100.cpu"]
    return found


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    """Writing and reading give the same content, and no partial file stays."""
    path = tmp_path / "cpu" / "a.json"

    result_file.write(good(), path)

    assert good() == result_file.read(path)
    assert [path] == list(path.parent.iterdir())


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    """A number that is none stops the write before the file is touched."""
    path = tmp_path / "a.json"
    result_file.write(good(), path)
    broken = good()
    the_entry(broken)["median"] = float("nan")

    with pytest.raises(ValueError):
        result_file.write(broken, path)

    assert good() == result_file.read(path)


def _set(key: str, value: object) -> Callable[[dict[str, Any]], None]:
    return lambda content: the_entry(content).__setitem__(key, value)


def _drop(content: dict[str, Any]) -> None:
    del the_entry(content)["samples"]


DAMAGE: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "other version": (lambda c: c.update(version=2), "version 2"),
    "no version": (lambda c: c.pop("version"), "version None"),
    "unknown case": (lambda c: c["cases"].update(nap=c["cases"]["tiny_epoch"]), "unknown case"),
    "unknown entry": (
        lambda c: c["cases"]["tiny_epoch"]["entries"].update(x=the_entry(c)),
        "unknown entry",
    ),
    "negative time": (_set("samples", [-1.0]), "samples.0"),
    "no samples": (_set("samples", []), "samples"),
    "missing samples": (_drop, "samples"),
    "text for a number": (_set("median", "fast"), "median"),
    "median that is none": (_set("median", 0.0019), "the samples give"),
    "hidden noise": (_set("noisy", True), "noisy contradicts"),
    "unknown key": (_set("note", "x"), "note"),
    "path in the processor": (
        lambda c: c["provenance"].update(processor="/home/me"),
        "provenance.processor",
    ),
    "bad date": (lambda c: c["provenance"].update(date="yesterday"), "provenance.date"),
    "missing provenance": (lambda c: c["provenance"].pop("torch"), "torch"),
    "entries in a list": (lambda c: c["cases"]["tiny_epoch"].update(entries=[]), "entries"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_named_with_its_place(kind: str, tmp_path: Path) -> None:
    """The message names the file and what is wrong in it."""
    damage, expected = DAMAGE[kind]
    content = good()
    damage(content)
    path = tmp_path / "damaged.json"
    path.write_text(json.dumps(content), encoding="utf-8")

    with pytest.raises(BadResultError) as refused:
        result_file.read(path)

    assert str(path) in str(refused.value)
    assert expected in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"", "not JSON"),
        (b'{"version": 1, "prov', "not JSON"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"[1, 2]", "no JSON object"),
        (b'{"version": NaN}', "NaN"),
        (b'{"version": -Infinity}', "-Infinity"),
        (b'{"version": 1, "version": 1}', "twice"),
        (b"[" * 100_000, "nested too deeply"),
        (b" " * 5_000_001, "larger than"),
    ],
)
def test_files_that_are_no_result_are_refused(raw: bytes, expected: str, tmp_path: Path) -> None:
    """Cut off, wrongly encoded, huge or foreign files get their own sentence."""
    path = tmp_path / "foreign.json"
    path.write_bytes(raw)

    with pytest.raises(BadResultError, match=expected):
        result_file.read(path)


def test_validate_names_every_bad_file_and_exits_with_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One sentence a bad file, no traceback, and good ones are still checked."""
    result_file.write(good(), tmp_path / "good.json")
    (tmp_path / "bad.json").write_text("{", encoding="utf-8")

    code = main(
        ["validate", *map(str, [tmp_path / "bad.json", tmp_path / "good.json", tmp_path / "no"])]
    )
    printed = capsys.readouterr()

    assert code == 2
    assert "good.json: good, 1 cases, 1 entries" in printed.out
    assert len(printed.err.splitlines()) == 2
    assert all(line.startswith("error: ") for line in printed.err.splitlines())


def test_results_under_other_conditions_do_not_share_a_file(tmp_path: Path) -> None:
    """A file measured with another PyTorch or thread count refuses to be continued."""
    path = tmp_path / "a.json"
    result_file.write(good(), path)

    with pytest.raises(BadResultError, match="threads 2 and this run has 1"):
        result_file.continue_or_start(path, {**PROVENANCE, "threads": 1})

    assert good() == result_file.continue_or_start(path, dict(PROVENANCE))


def test_committed_results_are_good() -> None:
    """Every result file here passes, lies in its machine's folder, and holds no path."""
    paths = sorted(result_file.FOLDER.glob("*/*.json"))

    assert paths
    for path in paths:
        result = result_file.read(path)
        assert path == result_file.default_path(result["provenance"])
        assert not result["provenance"]["quick"]
        assert "/" not in json.dumps(result)
