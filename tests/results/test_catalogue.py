"""The figures that pages may name: the catalogue and the cases agree."""

import itertools
import json
import re
from pathlib import Path

import pytest
import torch

from benchmarks import cases
from benchmarks.__main__ import main
from benchmarks.cases import Plan
from results import cases as results_cases
from results import catalogue, derived, schema
from results.cases import Case, Family
from results.catalogue import CatalogueError, Definition
from results.entry import entry

DEFINITIONS = catalogue.read()
ENTRIES = {name: tuple(cases.load(name).ENTRIES) for name in cases.NAMES}
PRODUCTS = Case(
    (
        Family("n_{n}.cpu", "a product of size {n}", {"n": (1, 2)}, rate="flop_per_s"),
        Family("n_{n}.cuda", "the same on a GPU, {n}", {"n": (2,)}, device="cuda"),
    )
)


def test_the_site_knows_what_the_cases_measure() -> None:
    """``python -m benchmarks describe`` wrote the file that is read where PyTorch is not."""
    expected = results_cases.written(cases.declared())

    described = expected == results_cases.FILE.read_text(encoding="utf-8")
    assert described, "cases changed; run `python -m benchmarks describe`"


def test_a_case_without_its_module_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message has the file that names it, and the one that is missing."""
    monkeypatch.setattr(cases, "NAMES", ("matmull",))

    code = main(["describe"])

    assert 2 == code
    said = capsys.readouterr().err
    assert said.startswith("error: there is no benchmarks/cases/matmull.py")
    assert "benchmarks/cases/__init__.py names" in said


def test_an_entry_has_a_figure_by_itself() -> None:
    """Its name is the case's and the entry's; what it works through in a second has one too."""
    found = {d.name: d for d in catalogue.read([], {"made": PRODUCTS})}

    names = [f"made.n_{n}.cpu{what}" for what in ("", "_rate") for n in (1, 2)]
    assert [*names, "made.n_2.cuda"] == list(found)
    assert "rate of a product of size 2" == found["made.n_2.cpu_rate"].what
    assert {"n": 2} == found["made.n_2.cuda"].member


def test_a_rate_says_what_it_counts() -> None:
    """Tokens a second, where the family says so; samples alone could be anything."""
    family = Family("cpu", "an iteration", rate="samples_per_s", counts="tokens")

    found = {d.name: d.what for d in catalogue.read([], {"made": Case((family,))})}

    assert "tokens a second in an iteration" == found["made.cpu_rate"]
    rated = [of for case in cases.declared().values() for of in case.families]
    assert all(of.counts for of in rated if of.rate == "samples_per_s" and of.figure != "")


def test_a_figure_knows_where_its_entries_run(tmp_path: Path) -> None:
    """A ratio ran wherever its parts did, and what is derived compares both unless it names one."""
    path = tmp_path / "catalogue.toml"
    path.write_text(
        '[figure."gain"]\nwhat = "x"\nratio = ["made:n_2.cpu", "made:n_2.cuda"]\n'
        '[figure."limit"]\nwhat = "x"\nderived = "ladder_limit"\ncase = "ladder"\n'
        'arguments = {device = "cpu"}\n'
        '[figure."best"]\nwhat = "x"\nderived = "largest_speedup"\ncase = "step_sweep"\n'
    )
    found = {d.name: d for d in catalogue.read([path], {"made": PRODUCTS})}

    assert ("cpu", "cuda") == found["gain"].devices
    assert ("cpu",) == found["limit"].devices
    assert ("cpu", "cuda") == found["best"].devices
    assert not found["made.n_1.cpu"].on_gpu


def test_every_figure_names_entries_that_its_case_knows() -> None:
    """Whether or not a result is there."""
    unknown = []
    for definition in DEFINITIONS:
        for target in definition.targets:
            case, _, name = target.partition(":")
            if name not in ENTRIES.get(case, ()):
                unknown.append(f"{definition.name}: {target}")

    assert [] == unknown


def test_every_derived_figure_has_its_function_and_case() -> None:
    """Without any entry the function says None, with the arguments of the catalogue."""
    for definition in DEFINITIONS:
        if definition.kind == "derived":
            assert definition.fields["derived"] in derived.FUNCTIONS
            assert definition.case in cases.NAMES, definition.name
            assert catalogue.value_in(definition, {}) is None


def test_an_entry_that_no_case_measures_is_refused(tmp_path: Path) -> None:
    """A slip would look like a figure that nobody has measured yet; the message has its file."""
    path = tmp_path / "catalogue.toml"
    path.write_text('[figure."gain"]\nwhat = "x"\nratio = ["made:n_1.cpu", "made:n_2.cpus"]\n')

    with pytest.raises(CatalogueError) as refused:
        catalogue.read([path], {"made": PRODUCTS})

    assert "catalogue.toml: 'gain' names the entry 'made:n_2.cpus'" in str(refused.value)
    assert "near it are made:n_2.cpu" in str(refused.value)


@pytest.mark.parametrize("name", cases.NAMES)
def test_every_case_keeps_the_rules(name: str, tmp_path: Path) -> None:
    """A docstring, entries whose names a file may hold, and parts with names of their own."""
    module = cases.load(name)
    key = json.loads(schema.SCHEMA.read_text(encoding="utf-8"))["$defs"]["key"]["pattern"]
    stand_in = torch.device("cpu")

    for quick, gpu in itertools.product((True, False), (None, stand_in)):
        parts = [part.name for part in module.parts(Plan(tmp_path, quick, gpu))]
        assert len(parts) == len(set(parts))
        assert all(may_stand_in_a_file(key, part) for part in parts), parts
    assert module.__doc__
    assert len(ENTRIES[name]) == len(set(ENTRIES[name]))
    assert all(may_stand_in_a_file(key, entry_name) for entry_name in ENTRIES[name])


def may_stand_in_a_file(pattern: str, name: str) -> bool:
    """Whether a name may be in a result file."""
    return re.search(pattern, name) is not None


# Kinds and families


def figure(toml: str, tmp_path: Path) -> list[Definition]:
    """What a catalogue of this text lists."""
    path = tmp_path / "catalogue.toml"
    path.write_text(toml, encoding="utf-8")
    return catalogue.read([path])


def test_a_family_is_one_figure_for_each_combination(tmp_path: Path) -> None:
    """Braces are filled in the name, in words, targets and arguments; values keep their types."""
    family = figure(
        '[figure."a.n_{n}.{format}"]\nwhat = "{n} in {format}"\n'
        'ratio = ["c:n_{n}.cpu", "c:n_{n}.{format}"]\nn = [1, 2]\nformat = ["x", "y"]\n'
        "arguments = {size = 3}",
        tmp_path,
    )

    assert ["a.n_1.x", "a.n_1.y", "a.n_2.x", "a.n_2.y"] == [d.name for d in family]
    assert family[3].what == "2 in y"
    assert family[3].targets == ["c:n_2.cpu", "c:n_2.y"]
    assert family[3].fields["arguments"] == {"size": 3}
    assert family[3].unit == "times"
    assert family[3].case == "c"


@pytest.mark.parametrize(
    ("toml", "value"),
    [
        ('measured = "c:a"', 2.0),
        ('measured = "c:a"\nstatistic = "largest"', 2.04),
        ('ratio = ["c:a", "c:b"]', 0.5),
        ('share = ["c:a", "c:b"]', 50.0),
        ('saving = ["c:a", "c:b"]', 50.0),
        ('difference = ["c:a", "c:b"]', -2.0),
        ('rate = "c:rated"', 5.0),
        ('rate = "c:a"', None),  # it does not say how much it works through
        ('ratio = ["c:a", "c:zero"]', None),
        ('ratio = ["c:a", "c:missing"]', None),
        ('measured = "other:a"', None),
        ('planned = "M99"', None),
    ],
)
def test_every_kind_takes_its_value_from_the_entries(
    toml: str, value: float | None, tmp_path: Path
) -> None:
    """What a file does not give is None, and never an error."""
    entries = {
        "c": {
            "a": entry([1.96, 2.0, 2.04], "s", device="cpu"),
            "b": entry([4.0], "s", device="cpu"),
            "zero": entry([0.0], "bytes", device="cpu"),
            "rated": entry([2.0], "s", device="cpu", amount=10),
        }
    }
    [definition] = figure(f'[figure."f"]\nwhat = "w"\n{toml}', tmp_path)
    found = catalogue.value_in(definition, entries)

    assert value == (None if found is None else pytest.approx(found.value))


@pytest.mark.parametrize(
    ("toml", "expected"),
    [
        ('[figure."a.b"]\nwhat = "x"', "exactly one of"),
        ('[figure."a.b"]\nplanned = "y"', "needs `what`"),
        ('[figure."a.b"]\nwhat = "x"\nplanned = "y"\ncited = "z"', "exactly one of"),
        ('[figure."a.b"]\nwhat = "x"\nplanned = "y"\nunit = "furlong"', "furlong"),
        ('[figure."a.{n}"]\nwhat = "x"\nplanned = "y"\nn = [1, 1]', "already"),
        ('[figure."a.{n}"]\nwhat = "x"\nplanned = "y"\nn = 1', "a list for each name"),
        ('[figure."a.{n}"]\nwhat = "x"\nplanned = "y"', "braces that no list fills"),
        ('[figure."a.b"]\nwhat = "{"\nplanned = "y"', "braces"),
        ('[figure."A b"]\nwhat = "x"\nplanned = "y"', "small letters"),
        ('[figure."a.b"]\nwhat = "x"\nmeasured = "cpu"', "case:entry"),
        ('[figure."a.b"]\nwhat = "x"\nratio = ["c:a"]', "two entries"),
        (
            '[figure."a.b"]\nwhat = "x"\nratio = ["c:a", "c:b"]\nunit = "s"',
            "is a ratio, which is written in times; leave `unit` out",
        ),
        ('[figure."a.b"]\nwhat = "x"\nmeasured = "c:a"\nstatistic = "mean"', "statistic"),
        ('[figure."a.b"]\nwhat = "x"\nderived = "nap"\ncase = "c"', "derived.py"),
        ('[figure."a.b"]\nwhat = "x"\nderived = "largest_speedup"', "needs `case`"),
        ("figure = [", "can't read"),
    ],
)
def test_a_bad_catalogue_is_refused(toml: str, expected: str, tmp_path: Path) -> None:
    """Each mistake has its own sentence, which names the file."""
    with pytest.raises(CatalogueError, match=expected) as refused:
        figure(toml, tmp_path)

    assert "catalogue.toml" in str(refused.value)
