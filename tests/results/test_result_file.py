"""Result files: saved whole or not at all, and refused in one sentence when something is wrong."""

import copy
import datetime
import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Self

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks import validate
from benchmarks.__main__ import main
from results import result_file, schema
from results.catalogue import CatalogueError, Definition
from results.entry import Entry, entry
from results.quantities import UNITS
from results.result_file import BadResultError
from tests.benchmarks.made_up import (
    CPU_MACHINE,
    GPU_MACHINE,
    RACED_IN_A_BROWSER,
    good,
    part,
    raced,
    result,
    timed,
)

Content = dict[str, Any]


# Writing


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    """Writing and reading give the same content, and no partial file stays.

    It is written line by line, so that git shows what has changed.
    """
    path = tmp_path / "results" / "cpu" / "a.json"

    result_file.write(good(), path)

    assert good() == result_file.read(path)
    assert [path] == list(path.parent.iterdir())
    text = path.read_text(encoding="utf-8")
    assert ("{", "}\n") == (text[0], text[-2:])
    assert '"version": 2,' in map(str.strip, text.splitlines())


def test_a_file_is_the_same_on_every_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is written in UTF-8, whatever encoding the system uses, and letters are not escaped."""
    content, opened = good(), Path.open
    content["provenance"]["processor"] = "Prozessor f\xfcr uns"

    def elsewhere(path: Path, mode: str, encoding: str = "cp1252") -> object:
        return opened(path, mode, encoding=encoding)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", elsewhere)
        result_file.write(content, tmp_path / "a.json")

    assert "Prozessor f\xfcr uns".encode() in (tmp_path / "a.json").read_bytes()


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    """A number that is none stops the write before the file is touched, and nothing else stays."""
    path = tmp_path / "a.json"
    result_file.write(good(), path)
    broken = good()
    the_entry(broken)["median"] = float("nan")

    with pytest.raises(ValueError):
        result_file.write(broken, path)

    assert good() == result_file.read(path)
    assert [path] == list(tmp_path.iterdir())


def test_a_file_is_on_the_disk_before_it_takes_the_old_ones_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """First fsync of all of it, then the rename: even a power cut leaves one of the two whole.

    What it may leave beside it git ignores.
    """
    happened: list[str | int] = []
    ignored = Path(".gitignore").read_text(encoding="utf-8").split()
    fsync, replace = os.fsync, Path.replace
    monkeypatch.setattr(
        os, "fsync", lambda file: (happened.append(os.fstat(file).st_size), fsync(file))
    )
    monkeypatch.setattr(
        Path, "replace", lambda path, to: (happened.append(path.name), replace(path, to))
    )

    result_file.write(good(), tmp_path / "a.json")

    first, partial = happened
    assert (tmp_path / "a.json").stat().st_size == first
    assert any(fnmatch(str(partial), pattern) for pattern in ignored)


def test_two_runs_do_not_write_one_file(tmp_path: Path) -> None:
    """The second is refused in one sentence; afterwards the file alone is left of the first.

    Another file beside it may be written meanwhile. What a run that is killed leaves git ignores.
    """
    path = tmp_path / "results" / "machine" / "a.json"
    ignored = Path(".gitignore").read_text(encoding="utf-8").split()
    with (
        result_file.only_writer(path),
        result_file.only_writer(path.with_name("b.json")),
        pytest.raises(BadResultError, match="is being written by another run"),
        result_file.only_writer(path),
    ):
        pass

    with result_file.only_writer(path):
        marks = [other.name for other in path.parent.iterdir()]
        assert all(any(fnmatch(mark, pattern) for pattern in ignored) for mark in marks)
        result_file.write(good(), path)
    assert [path] == list(path.parent.iterdir())


# Damage, kind by kind


def the_entry(content: Content) -> Content:
    """One entry of ``good()``."""
    found: Content = content["cases"]["tiny_epoch"]["samples_100"]["entries"]["samples_100.cpu"]
    return found


def the_part(content: Content) -> Content:
    """The part in which it stands."""
    found: Content = content["cases"]["tiny_epoch"]["samples_100"]
    return found


def on_entry(key: str, value: object) -> Callable[[Content], object]:
    """Damage: another value in the entry."""
    return lambda content: the_entry(content).__setitem__(key, value)


def on_part(key: str, value: object) -> Callable[[Content], object]:
    """Damage: another value in the part."""
    return lambda content: the_part(content).__setitem__(key, value)


def on_provenance(key: str, value: object) -> Callable[[Content], object]:
    """Damage: another value in the provenance."""
    return lambda content: content["provenance"].__setitem__(key, value)


def on_figure(key: str, value: object) -> Callable[[Content], object]:
    """Damage: another value in a figure."""
    return lambda content: content["figures"]["tiny_epoch.samples_100.cpu"].__setitem__(key, value)


def nested(levels: int) -> list[Any]:
    """A list in a list in a list …"""
    return [nested(levels - 1)] if levels else []


def twice(content: Content) -> None:
    """The entry of one part in another part as well."""
    tiny = content["cases"]["tiny_epoch"]
    tiny["samples_200"]["entries"]["samples_100.cpu"] = the_entry(content)


def gpu_entry_without_gpu(content: Content) -> None:
    """An entry that says it ran on a GPU, on a machine without one."""
    the_part(content)["entries"]["samples_100.cuda"] = timed(1.0, "cuda")


def products_in(seconds: float) -> Content:
    """A part with a matrix product of 2048 x 2048 numbers that takes so long."""
    entry = {**timed(seconds), "amount": 2.0 * 2048**3}
    return {**part(), "entries": {"n_2048.cpu": entry}}


def accuracies(percent: float) -> Content:
    """A part that trained to an accuracy of so many percent."""
    return {**part(), "entries": {"final": {**timed(percent), "unit": "percent"}}}


DAMAGE: dict[str, tuple[Callable[[Content], object], str]] = {
    "old version": (lambda c: c.update(version=1), "old version 1"),
    "future version": (lambda c: c.update(version=3), "update the program"),
    "no version": (lambda c: c.pop("version"), "at version: it is missing"),
    "version of another type": (lambda c: c.update(version="two"), "at version: 'two'"),
    "version that is true": (lambda c: c.update(version=True), "at version: true"),
    "no cases": (lambda c: c.pop("cases"), "at the top: cases is missing"),
    "no figures": (lambda c: c.pop("figures"), "at the top: figures is missing"),
    "unknown key at the top": (lambda c: c.update(note="x"), "about 'note'"),
    "missing provenance": (lambda c: c["provenance"].pop("torch"), "torch is missing"),
    "provenance in a list": (lambda c: c.update(provenance=[]), "a list stands where object"),
    "path in a name": (on_provenance("processor", "/home/me"), "provenance.processor"),
    "HTML in a name": (on_provenance("gpu", "<b>GPU</b>"), "provenance.gpu"),
    "line break in a name": (on_provenance("torch", "2.15\n"), "provenance.torch"),
    "empty name": (on_provenance("system", ""), "provenance.system: it is empty"),
    "long name": (on_provenance("python", "3" * 121), "more than 120 characters"),
    "machine in capitals": (on_provenance("machine", "CPU"), "provenance.machine"),
    "date in words": (on_provenance("date", "yesterday"), "'yesterday' is not a day"),
    "impossible date": (on_provenance("date", "2026-02-30"), "there is no day 2026-02-30"),
    "bad commit": (on_provenance("commit", "HEAD"), "provenance.commit"),
    "no cores": (on_provenance("cores", 0), "provenance.cores: 0 is there"),
    "half a thread": (on_provenance("threads", 1.5), "1.5 stands where integer"),
    "true for a number": (on_provenance("threads", True), "true stands where integer"),
    "text for yes or no": (on_provenance("quick", "no"), "provenance.quick"),
    "unknown precision": (
        lambda c: c["provenance"]["precision"].update(float32_matmul="low"),
        "provenance.precision.float32_matmul",
    ),
    "details without a GPU": (
        on_provenance("gpu_details", GPU_MACHINE["gpu_details"]),
        "contradict provenance.gpu",
    ),
    "unknown case": (
        lambda c: c["cases"].update(nap=c["cases"]["tiny_epoch"]),
        "cases.nap: no case",
    ),
    "case without parts": (lambda c: c["cases"].update(tiny_epoch={}), "tiny_epoch: it is empty"),
    "line break in a case": (
        lambda c: c["cases"].update({"a\nb": c["cases"]["tiny_epoch"]}),
        "'a\\nb' is not a name",
    ),
    "impossible minute": (on_part("finished", "2026-11-21T25:00Z"), "there is no minute"),
    "finished in words": (on_part("finished", "at noon"), "'at noon' is not a minute"),
    "negative duration": (on_part("took_s", -1), "took_s: -1 is there"),
    "load as text": (on_part("load_average", "high"), "where number or null should"),
    "hot GPU": (on_part("gpu_state", {"temperature_c": 1e5}), "gpu_state.temperature_c"),
    "part without entries": (on_part("entries", {}), "entries: it is empty"),
    "part with nothing": (lambda c: the_part(c).pop("entries"), "neither of entries"),
    "entries and a reason": (on_part("skipped", "no GPU"), "both of entries"),
    "entries in a list": (on_part("entries", []), "samples_100.entries: a list"),
    "unknown entry": (
        lambda c: the_part(c)["entries"].update(x=the_entry(c)),
        "entries.x: tiny_epoch has no such entry",
    ),
    "the same entry in two parts": (
        twice,
        "samples_200.entries.samples_100.cpu: it is in samples_100 too",
    ),
    "negative time": (on_entry("samples", [-1.0]), "samples.0: -1.0 is there"),
    "time of zero": (on_entry("samples", [0.0, 0.1, 0.2]), "samples: 0.0 s is shorter"),
    "number too large": (on_entry("samples", [1e30]), "at most 1e+18"),
    "no samples": (on_entry("samples", []), "samples: it is empty"),
    "missing samples": (lambda c: the_entry(c).pop("samples"), "samples is missing"),
    "null in the samples": (on_entry("samples", [None]), "samples.0: null stands"),
    "text for a number": (on_entry("median", "fast"), "median: 'fast' stands"),
    "median that is none": (on_entry("median", 0.0019), "median: it is 0.0019 and the samples"),
    "smallest that is none": (on_entry("smallest", 0.5), "smallest: it is 0.5 and the samples"),
    "largest that is none": (on_entry("largest", 0.5), "largest: it is 0.5 and the samples"),
    "spread that is none": (on_entry("spread", 0.5), "spread: it is 0.5 and the samples"),
    "hidden noise": (on_entry("noisy", True), "noisy: it contradicts"),
    "unknown unit": (on_entry("unit", "furlong"), "unit: 'furlong' is there"),
    "unknown device": (on_entry("device", "tpu"), "device: 'tpu' is there"),
    "device of a browser": (on_entry("device", "webgpu"), "is webgpu, and this entry runs on cpu"),
    "a browser's entry without an engine": (
        lambda c: c["cases"].update(race=raced()["cases"]["race"]),
        "race.width_256.batch_16.entries.width_256.batch_16.browser_cpu: a browser gives it",
    ),
    "an engine where PyTorch computed": (
        on_provenance("engine", "onnxruntime-web 1.30.0"),
        "samples_100.cpu: no browser gives it",
    ),
    "engine of nothing": (on_provenance("engine", None), "engine: null stands where string"),
    "path in an engine": (on_provenance("engine", "a/b"), "provenance.engine: 'a/b' is not text"),
    "device of another entry": (on_entry("device", "cuda"), "is cuda, and this entry runs on cpu"),
    "GPU entry without a GPU": (gpu_entry_without_gpu, "provenance.gpu names none"),
    "unknown key": (on_entry("note", "x"), "samples_100.cpu: nothing is known about 'note'"),
    "loops of none": (on_entry("loops", 0), "loops: 0 is there"),
    "events without samples": (on_entry("device_samples", [1.0]), "not as many as samples"),
    "path in the settings": (on_entry("settings", {"data": "/data"}), "settings.data"),
    "deep settings": (on_entry("settings", {"deep": nested(30)}), "nested too deeply"),
    "settings that are a little too deep": (
        on_entry("settings", {"deep": nested(14)}),
        ".entries.samples_100.cpu.settings: it is nested too deeply",
    ),
    "unknown figure": (
        lambda c: c["figures"].update(nap=c["figures"]["tiny_epoch.samples_100.cpu"]),
        "figures.nap: the entries do not give",
    ),
    "figure with another value": (on_figure("value", 2.0), "value: it is 2.0 and the entries"),
    "figure with another text": (on_figure("text", "2 s"), "text: it is '2 s' and the entries"),
    "figure with a tag": (on_figure("text", "<i>"), "'<i>' is not a short text"),
    "samples beyond the part's time": (
        lambda c: the_part(c)["entries"].update({"samples_100.cpu": timed(9.0)}),
        "sum to more than the part's took_s",
    ),
    "loops beyond the part's time": (on_entry("loops", 10**9), "sum to more than the part's"),
    "time that no clock tells": (
        lambda c: the_part(c)["entries"].update({"samples_100.cpu": timed(1e-12)}),
        "shorter than any measured time",
    ),
    "unit of another entry": (on_entry("unit", "bytes"), "unit: it is measured in s"),
    "day in the future": (on_provenance("date", "2099-12-31"), "2099-12-31 lies in the future"),
    "minute in the future": (on_part("finished", "2098-01-01T00:00Z"), "2098-01-01T00:00Z lies"),
    "impossible rate": (
        lambda c: c["cases"].update(matmul={"n_2048": products_in(1e-8)}),
        "matmul:n_2048.cpu works through 1.72e+18 in a second",
    ),
    "more than all of it": (
        lambda c: c["cases"].update(mnist_accuracy={"training": accuracies(250.0)}),
        "no machine gives 255.0 percent",
    ),
    "text from right to left": (on_provenance("processor", "A \u202eCPU"), "that nobody sees"),
    "a separator of lines": (on_provenance("system", "A\u2028B"), "provenance.system: 'A"),
    "a separator of paragraphs": (on_provenance("torch", "A\u2029B"), "provenance.torch: 'A"),
    "a space of no width": (on_provenance("gpu", "G\u200bPU"), "provenance.gpu: 'G"),
    "figure in a list": (lambda c: c.update(figures=[]), "figures: a list stands"),
}
RAW: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "no JSON from line 1"),
    "truncated": (json.dumps(good(), indent=1).encode()[:-400], "no JSON from line"),
    "CSV": (b"case,entry,median\ntiny_epoch,cpu,1\n", "no JSON from line 1"),
    "two objects": (b"{}\n{}", "no JSON from line 2"),
    "UTF-16": (json.dumps(good()).encode("utf-16"), "not UTF-8 text"),
    "UTF-16 without a mark": (json.dumps(good()).encode("utf-16-le"), "no JSON from line 1"),
    "Latin-1": (b'{"processor": "Prozessor f\xfcr uns"}', "not UTF-8 text"),
    "a list": (b"[1, 2]", "no JSON object"),
    "not a number": (b'{"version": NaN}', "at version: NaN is not a measured number"),
    "infinity": (b'{"cases": {"a": [1, -Infinity]}}', "at cases.a.1: -Infinity is not a measured"),
    "a number beyond all": (b'{"cases": 1e400}', "at cases: Infinity is not a measured"),
    "a whole number beyond all": (b'{"cases": %s}' % (b"9" * 5000), "is damaged: "),
    "duplicate key": (b'{"cases": {"a": 1, "a": 1}}', "the key 'a' is there twice"),
    "half a character": (b'{"version": "\\ud800"}', "a character that nobody sees"),
    "deep nesting": (b"[" * 100_000, "nested too deeply"),
    "huge": (b" " * 5_000_001, "larger than"),
    "as large as may be": (b" " * 5_000_000, "no JSON from line 1"),
}


def damaged(kind: str) -> bytes:
    """The bytes of a file with this kind of damage."""
    if kind in RAW:
        return RAW[kind][0]
    content = good()
    DAMAGE[kind][0](content)
    return json.dumps(content).encode()


def sentence_of(path: Path) -> str:
    """What is said of a bad file."""
    with pytest.raises(BadResultError) as refused:
        result_file.read(path)
    return str(refused.value)


@pytest.mark.parametrize("kind", [*DAMAGE, *RAW])
def test_damage_is_named_with_its_place(kind: str, tmp_path: Path) -> None:
    """One line names the file, the place in it and what is wrong, and says what to do."""
    path = tmp_path / "damaged.json"
    path.write_bytes(damaged(kind))

    sentence = sentence_of(path)

    assert str(path) in sentence
    assert (DAMAGE.get(kind) or RAW[kind])[1] in sentence
    assert sentence.isprintable()
    assert len(sentence) < len(str(path)) + 300
    assert any(word in sentence for word in ("measure", "remove", "update", "save", "--write")) or (
        kind == "huge"
    )


def test_a_file_with_a_contributor_has_to_keep_more_rules(tmp_path: Path) -> None:
    """Its machine is called after its model, as elsewhere it need not be."""
    content = good()
    content["provenance"]["machine"] = "mine"
    result_file.write(content, tmp_path / "mine.json")
    result_file.write({**content, "contributor": "Ada"}, tmp_path / "ada.json")

    assert content == result_file.read(tmp_path / "mine.json")
    assert "at provenance.machine: " in sentence_of(tmp_path / "ada.json")


def test_settings_may_be_as_deep_as_they_are_refused_beyond(tmp_path: Path) -> None:
    """Twenty objects and lists are within each other."""
    content = good()
    on_entry("settings", {"deep": nested(13)})(content)
    result_file.write(content, tmp_path / "a.json")

    assert content == result_file.read(tmp_path / "a.json")


@pytest.mark.parametrize("key", ["value", "spread"])
def test_a_figure_may_be_rounded_otherwise(key: str, tmp_path: Path) -> None:
    """Another processor makes something else of the entries from the tenth digit on."""
    content = good()
    figure = content["figures"]["tiny_epoch.samples_100.cpu"]
    figure[key] *= 1 + 1e-11
    result_file.write(content, tmp_path / "a.json")

    assert good()["figures"]["tiny_epoch.samples_100.cpu"][key] != figure[key]
    assert content == result_file.read(tmp_path / "a.json")


def test_no_spread_may_be_rounded_otherwise_too(tmp_path: Path) -> None:
    """Where all samples are the same, another processor may write next to nothing."""
    same = entry([0.1, 0.1, 0.1], "s", device="cpu").to_json()
    of = {**part(), "entries": {"samples_100.cpu": same}}
    content = result({"tiny_epoch": {"samples_100": of}}, CPU_MACHINE)
    assert 0.0 == same["spread"]
    the_entry(content)["spread"] = 1e-13
    on_figure("spread", 1e-13)(content)
    result_file.write(content, tmp_path / "a.json")

    assert content == result_file.read(tmp_path / "a.json")


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    """Some editors put one there, and the page takes such a file as well."""
    (tmp_path / "a.json").write_bytes(json.dumps(good()).encode("utf-8-sig"))

    assert good() == result_file.read(tmp_path / "a.json")


def test_a_clock_may_be_a_day_ahead_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somewhere it is tomorrow already."""
    now = datetime.datetime(2026, 11, 30, 12, 0, tzinfo=datetime.UTC)
    monkeypatch.setattr(result_file, "_now", lambda: now)
    content, path = good(), tmp_path / "a.json"
    content["provenance"]["date"] = "2026-12-01"
    the_part(content)["finished"] = "2026-12-01T12:00Z"

    result_file.write(content, path)
    assert content == result_file.read(path)

    for change, day in (
        (on_provenance("date", "2026-12-02"), "provenance.date: 2026-12-02 lies"),
        (on_part("finished", "2026-12-01T12:01Z"), "finished: 2026-12-01T12:01Z lies"),
    ):
        later = copy.deepcopy(content)
        change(later)
        result_file.write(later, path)
        assert day in sentence_of(path)


def test_what_a_simulated_gpu_measured_is_no_result(tmp_path: Path) -> None:
    """But for a trial, which no page shows."""
    simulated = {**GPU_MACHINE, "gpu": result_file.SIMULATED_GPU}
    result_file.write(result_file.empty(simulated), tmp_path / "a.json")
    result_file.write(result_file.empty({**simulated, "quick": True}), tmp_path / "quick.json")

    why = result_file.about_simulation(simulated)
    assert why
    assert f"provenance.gpu: {why}" in sentence_of(tmp_path / "a.json")
    assert result_file.read(tmp_path / "quick.json")["provenance"]["quick"]
    assert "" == result_file.about_simulation(GPU_MACHINE)


def test_another_catalogue_knows_other_cases(tmp_path: Path) -> None:
    """A file is checked against the one that is given."""
    size = Definition("a.b", "a size", "measured", "bytes", {"measured": "a:b"})
    result_file.write(good(), tmp_path / "a.json")

    with pytest.raises(BadResultError, match=r"cases\.tiny_epoch: no case has this name"):
        result_file.read(tmp_path / "a.json", {size.name: size})


def test_an_entry_that_no_catalogue_knows_has_no_sizes() -> None:
    """Whether its case is known or not."""
    cases = {"tiny_epoch": {"all": part(nap=1.0)}, "nap": {"all": part(nap=1.0)}}
    found = result_file.entries_of({"cases": cases})

    assert [{}, {}] == [found[case]["nap"].at for case in cases]


def test_the_given_catalogue_says_at_which_sizes_an_entry_was_measured() -> None:
    """And not the one of this repository."""
    nap = Definition("a.nap", "a time", "measured", "s", {"measured": "nap:nap"}, member={"n": 2})
    content = {"cases": {"nap": {"all": part(nap=1.0)}}}

    assert {"n": 2} == result_file.entries_of(content, {nap.name: nap})["nap"]["nap"].at


@pytest.mark.parametrize(
    ("samples", "known"),
    [([5.0], True), ([1e19], False), ([-1e19], False), ([1.0, 1.0, 1.0, 1e19, 1e19], False)],
)
def test_what_is_far_too_large_gives_no_figure(samples: list[float], known: bool) -> None:
    """Nor does what spreads that far: a page would have no words for it."""
    size = Definition("nap.size", "a size", "measured", "plain", {"measured": "nap:size"})
    made = entry(samples, "plain", device="cpu").to_json()
    content = {"cases": {"nap": {"all": {"entries": {"size": made}}}}}

    figures = result_file.with_figures(content, {size.name: size})["figures"]

    assert known == (size.name in figures)


def test_another_catalogue_gives_other_figures(tmp_path: Path) -> None:
    """Those of the file are held against what the given one makes of the entries."""
    entries = [name for part in good()["cases"]["tiny_epoch"].values() for name in part["entries"]]
    names = {f"a.{name}": f"tiny_epoch:{name}" for name in entries}
    other = {
        name: Definition(name, "a time", "measured", "s", {"measured": target})
        for name, target in names.items()
    }
    result_file.write(good(), tmp_path / "a.json")

    with pytest.raises(BadResultError, match="the entries do not give this figure"):
        result_file.read(tmp_path / "a.json", other)


def test_a_clock_that_is_wrong_itself_refuses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine whose clock is years behind still reads what was measured before this code.

    And nothing that was measured days after it.
    """

    class Behind(datetime.datetime):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> Self:
            return cls(2000, 1, 1, tzinfo=tz)

    result_file.write(good(), tmp_path / "a.json")
    next_day, later = good(), good()
    next_day["provenance"]["date"] = "2026-11-24"
    result_file.write(next_day, tmp_path / "next_day.json")
    later["provenance"]["date"] = "2026-11-25"
    result_file.write(later, tmp_path / "later.json")
    monkeypatch.setattr(result_file.datetime, "datetime", Behind)

    assert good() == result_file.read(tmp_path / "a.json")
    assert next_day == result_file.read(tmp_path / "next_day.json")
    assert "2026-11-25 lies in the future" in sentence_of(tmp_path / "later.json")


def test_places_that_are_no_readable_file_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder, a file that is not there, one that nobody may read, and two that are no files.

    One that is too large is not even read.
    """
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    secret = tmp_path / "secret.json"
    secret.write_text("{}", encoding="utf-8")
    huge = tmp_path / "huge.json"
    huge.touch()
    os.truncate(huge, result_file.LARGEST_BYTES + 1)

    def refuse(_: Path) -> bytes:
        raise PermissionError(errno.EACCES, "Permission denied")

    assert "is a folder" in sentence_of(tmp_path)
    assert "No such file" in sentence_of(tmp_path / "nowhere.json")
    for none in (Path(os.devnull), pipe):
        assert "not a regular file" in sentence_of(none)
    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert "Permission denied" in sentence_of(secret)
    assert "larger than" in sentence_of(huge)


@pytest.mark.parametrize("kind", DAMAGE)
def test_our_reading_of_the_schema_is_that_of_a_library(kind: str) -> None:
    """It finds the same first problem at the same place, or none, as jsonschema does."""
    content = good()
    DAMAGE[kind][0](content)
    rules = json.loads(schema.SCHEMA.read_text(encoding="utf-8"))
    import jsonschema  # where only GPU tests are asked for, it may be missing

    error = next(jsonschema.Draft202012Validator(rules).iter_errors(content), None)

    problem = schema.first_problem(content)

    assert (error is None) == (problem is None)
    if error is not None and problem is not None:
        assert (tuple(error.absolute_path), error.validator) == (problem.place, problem.rule)


def problem_of(case: str, name: str, measured: Entry) -> str:
    """What is wrong with a part of two seconds in which this alone was measured."""
    content = {**part(), "took_s": 2.0, "entries": {name: measured.to_json()}}
    return result_file.problem_of_part(case, "all", content, GPU_MACHINE)


@pytest.mark.parametrize(
    ("case", "name", "unit", "most", "device"),
    [
        ("mnist_accuracy", "final", "percent", 110.0, "cpu"),
        ("mnist_accuracy", "epochs_to_97", "epochs", 1e6, "cpu"),
        ("mnist_accuracy", "epochs_to_97", "samples", 1e12, "cpu"),
        ("mixed_precision", "mnist.cuda_float32_peak", "bytes", 1e15, "cuda"),
        ("tiny_epoch", "samples_100.cpu", "s", 2.2, "cpu"),
    ],
)
def test_a_sample_may_be_as_large_as_a_machine_gives(
    case: str, name: str, unit: str, most: float, device: str
) -> None:
    """And no larger; a part took as long as its samples, but for what was rounded."""
    assert "" == problem_of(case, name, entry([most], unit, device=device))
    problem = problem_of(case, name, entry([1.0002 * most], unit, device=device))
    assert problem.startswith(f"result at cases.{case}.all.entries.{name}.samples: ")


@pytest.mark.parametrize(("case", "name"), [("nap", "cpu"), ("tiny_epoch", "nap")])
def test_what_nobody_described_names_the_command_that_does(case: str, name: str) -> None:
    """Somebody wrote a case, or another entry of one, and has just tried it."""
    said = problem_of(case, name, entry([1.0], "s", device="cpu"))

    assert said.startswith(f"result at cases.{case}.all.entries.{name}: ")
    assert "`python -m benchmarks describe`" in said


def test_a_part_that_was_skipped_has_no_entries(tmp_path: Path) -> None:
    """It is as good as any, and gives no figure."""
    skipped = {"finished": "2026-11-21T14:00Z", "took_s": 0.0, "load_average": None}
    content = result({"mnist_epoch": {"all": {**skipped, "skipped": "no GPU"}}}, CPU_MACHINE)
    result_file.write(content, tmp_path / "a.json")

    assert content == result_file.read(tmp_path / "a.json")
    assert {} == content["figures"]


def test_a_part_is_judged_though_its_figures_cannot_be_computed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A mistake in the catalogue costs no measurement, as nothing is computed of a part."""
    monkeypatch.setattr(result_file.catalogue, "figures_of", lambda *_: 1 / 0)

    assert "" == problem_of("tiny_epoch", "samples_100.cpu", entry([1.0], "s", device="cpu"))


def test_a_part_with_a_number_that_is_none_is_refused() -> None:
    """Before anything is written, and so is what JSON does not know."""
    nan, several = (
        result_file.problem_of_part("tiny_epoch", "all", {**part(), "load_average": load}, {})
        for load in (float("nan"), {0.1, 0.2})
    )

    assert nan.startswith("result at cases.tiny_epoch.all.load_average: NaN")
    assert "set is not JSON" in several


@pytest.mark.parametrize(
    ("case", "name", "most"),
    [
        ("copies", "cpu_copy", 1e14),
        ("matmul", "n_2048.cpu", 1e17),
        ("race", "width_64.batch_16.cpu", 1e12),
    ],
)
def test_an_entry_may_be_as_quick_as_a_machine_is(case: str, name: str, most: float) -> None:
    """In bytes, operations or samples a second, and no quicker."""
    for amount, said in ((most, ""), (1.005 * most, "more than any machine")):
        found = problem_of(case, name, entry([1.0], "s", device="cpu", amount=amount))

        assert found.endswith(said)
        assert bool(said) == bool(found)


@pytest.mark.parametrize(("amount", "there"), [(0.999e18, True), (1e18, False)])
def test_a_figure_beyond_all_is_left_out(amount: float, there: bool) -> None:
    """From a billion billions on."""
    product = entry([1.0], "s", device="cpu", amount=amount).to_json()
    content = result({"matmul": {"all": {**part(), "entries": {"n_2048.cpu": product}}}}, {})

    assert there == ("matmul.n_2048.cpu_rate" in content["figures"])


@pytest.mark.parametrize(
    ("unit", "measured"),
    [("bytes", "bytes"), ("megabytes", "bytes"), ("gigabytes", "bytes"), ("times", "times")],
)
def test_a_size_is_measured_in_bytes(unit: str, measured: str) -> None:
    """However a page writes it; what is not listed is measured in its own unit."""
    size = Definition("a.b", "a size", "measured", unit, {"measured": "a:b"})

    assert (measured,) == result_file.known_entries({"a.b": size})["a"]["b"].units


def test_repeated_loops_and_warm_ups_took_their_time_too() -> None:
    """Four of half a second after 0.2 s fill 2 s and a tenth; a nanosecond is a time."""
    warm = entry([0.5], "s", device="cpu", loops=4, warmups=[0.2])
    warmer = entry([0.5], "s", device="cpu", loops=4, warmups=[0.21])

    assert "" == problem_of("tiny_epoch", "samples_100.cpu", warm)
    assert "took_s" in problem_of("tiny_epoch", "samples_100.cpu", warmer)
    assert "" == problem_of("tiny_epoch", "samples_100.cpu", entry([1e-9], "s", device="cpu"))
    assert "shorter" in problem_of(
        "tiny_epoch", "samples_100.cpu", entry([0.995e-9], "s", device="cpu")
    )


# Races in a browser


def test_a_race_in_a_browser_is_a_good_result() -> None:
    """A browser may keep its GPU to itself, and tells no details; its figures are Python's."""
    content = result_file.read(RACED_IN_A_BROWSER)

    assert raced() == content == result_file.with_figures(content)
    assert "onnxruntime-web 1.30.0" == content["provenance"]["engine"]
    assert 8 == len(content["figures"])


def test_a_browser_that_does_not_name_its_gpu_is_believed(tmp_path: Path) -> None:
    """Some give no adapter's name; what ran on it still counts."""
    content = raced()
    content["provenance"]["gpu"] = None
    result_file.write(content, tmp_path / "raced.json")

    assert content == result_file.read(tmp_path / "raced.json")


RACE_DAMAGE: dict[str, tuple[Callable[[Content], object], str]] = {
    "no engine": (lambda c: c["provenance"].pop("engine"), "provenance.gpu_details"),
    "details of the GPU": (
        on_provenance("gpu_details", GPU_MACHINE["gpu_details"]),
        "gpu_details: no browser tells it",
    ),
    "CUDA": (on_provenance("cuda", "13.0"), "provenance.cuda: no browser tells it"),
    "the GPU's entry on the CPU": (
        lambda c: a_racer(c, "browser_gpu").update(device="cpu"),
        "browser_gpu.device: it is cpu, and this entry runs on webgpu",
    ),
    "the CPU's entry on the GPU": (
        lambda c: a_racer(c, "browser_cpu").update(device="webgpu"),
        "browser_cpu.device: it is webgpu, and this entry runs on cpu",
    ),
    "a GPU of CUDA": (
        lambda c: a_racer(c, "browser_gpu").update(device="cuda"),
        "browser_gpu.device: it is cuda, and this entry runs on webgpu",
    ),
    "a racer that nobody knows": (
        lambda c: the_race(c).update({"width_256.batch_16.browser_npu": a_racer(c, "browser_cpu")}),
        "race has no such entry",
    ),
    "PyTorch among the racers": (
        lambda c: the_race(c).update({"width_256.batch_16.cpu": a_racer(c, "browser_cpu")}),
        "width_256.batch_16.cpu: no browser gives it",
    ),
    "a rate that is another": (
        lambda c: c["figures"]["race.width_256.batch_16.browser_cpu"].update(value=1.0),
        "browser_cpu.value: it is 1.0",
    ),
}


def the_race(content: Content) -> Content:
    """The entries of one part of ``raced()``."""
    found: Content = content["cases"]["race"]["width_256.batch_16"]["entries"]
    return found


def a_racer(content: Content, racer: str) -> Content:
    """One of them."""
    found: Content = the_race(content)[f"width_256.batch_16.{racer}"]
    return found


@pytest.mark.parametrize("kind", RACE_DAMAGE)
def test_a_damaged_race_is_refused(kind: str, tmp_path: Path) -> None:
    """Each contradiction between what a browser can give and what the file says has its place."""
    change, sentence = RACE_DAMAGE[kind]
    content = raced()
    change(content)
    result_file.write(content, tmp_path / "raced.json")

    assert sentence in sentence_of(tmp_path / "raced.json")


# Damage at random


def places(value: Any, so_far: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Every place in a JSON value but its top."""
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, inner in items:
        yield (*so_far, key)
        yield from places(inner, (*so_far, key))


WITH_GPU = result({"mnist_epoch": {"epoch": part(cpu=8.0, cuda=1.0)}}, GPU_MACHINE)
PLACES = list(places(WITH_GPU))
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(["cuda", "2026-11-21", 10**400, 1e308, -0.0, "\ud800", "../x"]),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)


@given(data=st.data())
@settings(
    max_examples=250,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_any_change_is_either_harmless_or_refused(data: st.DataObject, tmp_path: Path) -> None:
    """A key gone, a value of another type, bytes cut off: `read` knows it, and never stumbles."""
    changed = copy.deepcopy(WITH_GPU)
    *way, last = data.draw(st.sampled_from(PLACES))
    parent = changed
    for step in way:
        parent = parent[step]  # type: ignore[index]
    if data.draw(st.booleans()):
        del parent[last]  # type: ignore[arg-type]
    else:
        parent[last] = data.draw(ODD)  # type: ignore[index]
    raw = json.dumps(changed).encode()
    if data.draw(st.booleans()):
        raw = raw[: data.draw(st.integers(0, len(raw)))]
    path = tmp_path / "changed.json"
    path.write_bytes(raw)

    refused = ""
    try:
        read = result_file.read(path)
        assert json.loads(raw) == read
    except BadResultError as problem:
        refused = str(problem)

    assert not refused or str(path) in refused
    assert "\n" not in refused


# The command


def test_validate_names_every_bad_file_exits_with_2_and_changes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One sentence a bad file, good ones are still checked, and all stay as they are."""
    result_file.write(good(), tmp_path / "good.json")
    (tmp_path / "bad.json").write_text("{", encoding="utf-8")
    (tmp_path / "old.json").write_text('{"version": 1}', encoding="utf-8")
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.iterdir()}

    code = main(["validate", *map(str, [*before, tmp_path / "no"])])
    printed = capsys.readouterr()

    assert code == 2
    assert "good.json: good, 1 case, 2 entries" in printed.out
    assert 3 == len(printed.err.splitlines())
    assert all(line.startswith("error: ") for line in printed.err.splitlines())
    assert before == {
        path: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.iterdir()
    }


def test_figures_are_computed_again_on_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`summarize --write` repairs figures that the catalogue no longer gives, and those only."""
    path = tmp_path / "a.json"
    stale = good()
    stale["figures"] = {"nap": {"value": 1.0, "spread": 0.0, "noisy": False, "text": "1"}}
    result_file.write(stale, path)

    code = main(["summarize", "--write", str(path)])

    assert code == 0
    assert good() == result_file.read(path)
    assert "samples_100.cpu" in capsys.readouterr().out


# Going on


def test_a_new_file_starts_empty(tmp_path: Path) -> None:
    """With where it is measured, as of that day until a part is there."""
    started = result_file.continue_or_start(tmp_path / "a.json", CPU_MACHINE)

    assert result({}, CPU_MACHINE) == started
    assert ({}, CPU_MACHINE["date"]) == (started["figures"], result_file.newest(started))


def test_a_bad_catalogue_is_told_before_anything_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run without a file asks it for the figures of nothing."""

    def fail() -> None:
        raise CatalogueError("mission.toml is no catalogue")

    monkeypatch.setattr(result_file, "_definitions", fail)

    with pytest.raises(CatalogueError, match="no catalogue"):
        result_file.continue_or_start(tmp_path / "a.json", CPU_MACHINE)


def test_results_under_other_conditions_do_not_share_a_file(tmp_path: Path) -> None:
    """A file measured with another PyTorch or thread count refuses to be continued."""
    path = tmp_path / "a.json"
    result_file.write(good(), path)

    with pytest.raises(BadResultError, match="threads 2 and this run has 1"):
        result_file.continue_or_start(path, {**CPU_MACHINE, "threads": 1})
    fast = {**CPU_MACHINE["precision"], "cudnn_benchmark": True}
    with pytest.raises(BadResultError, match=r"with precision {.*false.*and this run has {.*true"):
        result_file.continue_or_start(path, {**CPU_MACHINE, "precision": fast})

    assert good() == result_file.continue_or_start(path, {**CPU_MACHINE, "date": "2026-11-22"})


def test_a_run_goes_on_though_the_catalogue_has_changed(tmp_path: Path) -> None:
    """Figures follow from entries, so that stale ones are no reason to measure again."""
    path = tmp_path / "a.json"
    result_file.write({**good(), "figures": {}}, path)

    assert good() == result_file.continue_or_start(path, CPU_MACHINE)


def test_the_newest_other_file_of_a_machine_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the file itself, nor a quick run, nor another machine's file is taken."""

    def put(name: str, finished: str, **conditions: object) -> Path:
        content = good()
        content["provenance"].update(conditions)
        for measured in content["cases"]["tiny_epoch"].values():
            measured["finished"] = finished
        path = tmp_path / str(content["provenance"]["machine"]) / name
        result_file.write(content, path)
        return path

    old = put("old.json", "2026-01-01T10:00Z")
    put("older.json", "2025-01-01T10:00Z")
    put("quick.json", "2026-02-01T10:00Z", quick=True)
    put("other.json", "2026-02-01T10:00Z", machine="another")
    new = put("new.json", "2026-03-01T10:00Z")

    assert old == result_file.latest_before(new, tmp_path)
    assert old == result_file.latest_before(
        new.parent / ".." / new.parent.name / new.name, tmp_path
    )
    assert new == result_file.latest_before(old, tmp_path)
    monkeypatch.chdir(tmp_path)
    assert old.relative_to(tmp_path) == result_file.latest_before(new, Path())
    assert result_file.latest_before(tmp_path / "another" / "other.json", tmp_path) is None


def test_quick_results_lie_where_no_page_looks() -> None:
    """Only full runs go into the folder that the site reads; the others git ignores."""
    assert result_file.FOLDER in result_file.default_path(CPU_MACHINE).parents
    quick = result_file.default_path({**CPU_MACHINE, "quick": True})
    assert result_file.FOLDER not in quick.parents
    assert f"/{quick.parts[0]}/" in Path(".gitignore").read_text(encoding="utf-8").split()


def test_neither_pytorch_nor_a_library_is_needed_to_check_results() -> None:
    """A build of the site has no PyTorch, and no second to spare for importing jsonschema."""
    code = (
        "import sys; from benchmarks import validate; from results import result_file; "
        "code = validate.main([str(path) for path in result_file.FOLDER.glob('*/*.json')]); "
        "print(code, {'torch', 'jsonschema'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "0 set()" == done.stdout.splitlines()[-1]


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_the_check_without_pytorch_takes_files_alone(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """One sentence says so."""
    assert 2 == validate.main(arguments)
    assert "error: name the result files" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("told", "name"),
    [
        ("AMD EPYC 9V74", "AMD EPYC 9V74"),
        ("A \u202eCPU\u200b", "A CPU"),
        ("GPU/PCIe <b>\n", "GPU PCIe b"),
        ("\ud800\u2028\u2029", "unknown"),
        ("A\\B>C", "A B C"),
        ("A\u2028B\u2029C\x07", "A B C"),
        ("x" * 200, "x" * 120),
    ],
)
def test_a_machine_with_an_odd_name_can_measure(told: str, name: str, tmp_path: Path) -> None:
    """What no file may hold is left out of the name before anything is measured."""
    content = good()
    content["provenance"]["processor"] = result_file.plain(told)
    result_file.write(content, tmp_path / "a.json")

    assert name == result_file.read(tmp_path / "a.json")["provenance"]["processor"]


# What is here


def test_committed_results_are_good() -> None:
    """Every result file here passes, lies in its machine's folder, and holds no path."""
    paths = sorted(result_file.FOLDER.glob("*/*.json"))

    assert paths
    for path in paths:
        content = result_file.read(path)
        assert path == result_file.default_path(content["provenance"])
        assert "/" not in json.dumps({**content, "figures": {}})


def test_every_unit_of_a_file_can_be_written() -> None:
    """What the schema lets an entry be measured in, pages and commands know how to write."""
    entry = json.loads(schema.SCHEMA.read_text(encoding="utf-8"))["$defs"]["entry"]

    assert set(entry["properties"]["unit"]["enum"]) <= set(UNITS)
