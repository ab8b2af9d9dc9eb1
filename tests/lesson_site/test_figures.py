"""Figures by name: their text, their sources, and what happens without a measurement."""

import json
from pathlib import Path
from typing import Any

import pytest
from markdown import Markdown

from lesson_site import derived, figure_store, figures, quantities
from lesson_site.claims import ClaimError, claims_of, holds
from lesson_site.derived import Cell, Estimate
from lesson_site.errors import PageError
from lesson_site.figure_store import (
    CATALOGUE,
    Definition,
    FigureError,
    Result,
    Store,
    open_store,
    read_catalogue,
    read_result,
    sort_results,
)

NBSP = "\N{NO-BREAK SPACE}"


def entry(value: float, spread: float = 0.0, noisy: bool = False) -> dict[str, Any]:
    """An entry of a result file."""
    ends = {"smallest": value - spread, "largest": value + spread}
    return {
        "unit": "s",
        "median": value,
        "spread": spread,
        "noisy": noisy,
        "samples": [value] * 5,
        **ends,
    }


def result(
    cases: dict[str, dict[str, dict[str, Any]]],
    gpu: str | None = None,
    date: str = "2026-11-21",
    quick: bool = False,
) -> Result:
    """A result file of a machine with or without a GPU."""
    provenance = {
        "machine": "gpu-machine" if gpu else "cpu-2-cores",
        "processor": "A processor",
        "cores": 2,
        "threads": 2,
        "gpu": gpu,
        "torch": "2.15.0",
        "date": date,
        "quick": quick,
    }
    return Result(provenance, cases)


CPU_ONLY = result({"mnist_epoch": {"cpu": entry(8.0, 0.3), "loader_only": entry(6.0, 0.1)}})
WITH_GPU = result(
    {"mnist_epoch": {"cpu": entry(4.0, 0.02), "cuda": entry(2.0), "loader_only": entry(1.0)}},
    gpu="A GPU",
)


@pytest.fixture
def definitions() -> list[Definition]:
    """The real catalogue."""
    return read_catalogue(CATALOGUE)


@pytest.mark.parametrize(
    ("value", "unit", "spread", "text"),
    [
        (8.437, "s", 0.0, "8.44 s"),
        (8.437, "s", 0.31, "8.4 s"),
        (8.437, "s", 2.0, "8 s"),
        (8.437, "s", 90.0, "8 s"),
        (0.0124, "s", 0.0002, "12.4 ms"),
        (0.0000021, "s", 0.0, "2.10 µs"),
        (0.9999, "s", 0.01, "1.00 s"),
        (71.42, "percent", 0.0, "71.4 %"),
        (71.42, "percent", 2.5, "71 %"),
        (0.9996, "share", 0.0, "100.0 %"),
        (1.0, "share", 0.0, "100 %"),
        (0.0003, "share", 0.0, "0.0300 %"),
        (1.4286, "times", 0.05, "1.43 times"),
        (1.4286, "times", 0.12, "1.4 times"),
        (6385.0, "times", 600.0, "6,400 times"),
        (188_160_000, "megabytes", 0.0, "188 MB"),
        (940_584, "bytes", 0.0, "940,584 bytes"),
        (235_146, "count", 0.0, "235,146"),
    ],
)
def test_numbers_keep_the_digits_that_their_spread_supports(
    value: float, unit: str, spread: float, text: str
) -> None:
    """Three digits at most, fewer when the runs lay apart, and a space that does not break."""
    assert text.replace(" ", NBSP) == quantities.write(value, unit, spread)


def test_numbers_that_are_none_are_refused() -> None:
    """Neither NaN nor an unknown unit reaches a page."""
    with pytest.raises(ValueError, match="no finite number"):
        quantities.write(float("nan"), "s")
    with pytest.raises(ValueError, match="furlong"):
        quantities.write(1.0, "furlong")


def test_ratio_and_share_carry_the_spread() -> None:
    """Relative spreads of 3 % and 4 % make one of 5 %."""
    quotient = derived.ratio(Estimate(10.0, 0.3), Estimate(4.0, 0.16, noisy=True))

    assert quotient.value == 2.5
    assert quotient.spread == pytest.approx(0.125)
    assert quotient.noisy
    assert derived.share(Estimate(3.0), Estimate(4.0)).value == 75.0


def cell(width: int, batch_size: int, cpu: float, cuda: float | None) -> Cell:
    """A cell of the sweep."""
    return Cell(width, batch_size, Estimate(cpu), None if cuda is None else Estimate(cuda))


def test_crossover_is_the_width_from_which_on_the_gpu_wins() -> None:
    """A single win below a loss does not count."""
    cells = [cell(64, 64, 2, 1), cell(256, 64, 1, 2), cell(1024, 64, 3, 2), cell(4096, 64, 9, 2)]

    assert derived.smallest_winning_width(cells, batch_size=64) == 1024
    assert derived.largest_speedup(cells) == 4.5
    assert derived.smallest_speedup(cells) == 0.5
    assert derived.smallest_winning_width(cells[:2], batch_size=64) is None
    assert derived.largest_speedup([cell(64, 64, 1, None)]) is None


def test_sweep_cells_come_from_their_entries_names() -> None:
    """Width, batch size and device are read from the name, and sorted."""
    entries = {
        "width_256.batch_16.cpu": entry(3.0),
        "width_64.batch_64.cpu": entry(2.0),
        "width_64.batch_64.cuda": entry(1.0),
    }

    cells = derived.sweep_cells(entries)

    assert [(64, 64), (256, 16)] == [(c.width, c.batch_size) for c in cells]
    assert [2.0, None] == [c.speedup for c in cells]


def test_every_figure_of_the_catalogue_can_be_shown() -> None:
    """With the results and recordings at hand, each is a value or says what would measure it."""
    store = open_store()

    for name in store.definitions:
        figure = store.figure(name)
        assert figure.text
        assert figure.source
        assert figure.measured == (figure.value is not None)


def test_every_measured_figure_names_an_entry_that_its_case_knows(
    definitions: list[Definition],
) -> None:
    """The catalogue and the cases agree, whether or not a result is there."""
    from benchmarks import cases

    for definition in definitions:
        targets = definition.fields.get(definition.kind)
        if definition.kind in ("measured", "ratio", "share"):
            for target in [targets] if isinstance(targets, str) else targets or []:
                case, _, name = target.partition(":")
                assert name in cases.load(case).ENTRIES, definition.name


def test_a_measured_figure_says_where_and_when(definitions: list[Definition]) -> None:
    """The source holds statistic, repetitions, machine, version and date."""
    figure = Store(definitions, [CPU_ONLY]).figure("mnist_epoch.cpu")

    assert figure.text == f"8.0{NBSP}s"
    for part in (
        "median of 5 runs",
        f"7.70{NBSP}s to 8.30{NBSP}s",
        "A processor",
        "2 threads",
        "2.15.0",
        "2026-11-21",
    ):
        assert part in figure.source


def test_noise_is_said_on_the_page(definitions: list[Definition]) -> None:
    """A noisy measurement carries the word in its source."""
    noisy = result({"mnist_epoch": {"cpu": entry(8.0, 3.0, noisy=True)}})

    figure = Store(definitions, [noisy]).figure("mnist_epoch.cpu")

    assert figure.noisy
    assert figure.source.startswith("noisy")
    assert figure.text == f"8{NBSP}s"


def test_without_a_result_a_figure_says_what_would_measure_it(
    definitions: list[Definition],
) -> None:
    """Measured, derived and planned figures all have their way to a value."""
    store = Store(definitions, [CPU_ONLY])

    assert (
        "run --case mnist_epoch` on a machine with a CUDA"
        in store.figure("mnist_epoch.cuda").source
    )
    assert "CUDA GPU" in store.figure("crossover.largest_speedup").source
    assert "M7" in store.figure("amp.large.speedup").source
    assert store.figure("amp.large.speedup").text == "not measured yet"
    assert not store.figure("mnist_epoch.cuda").measured


def test_a_machine_with_a_gpu_comes_first_and_the_newest_file_wins() -> None:
    """Quick runs are left out altogether."""
    old = result({}, date="2026-01-01")
    quick = result({}, date="2027-01-01", quick=True)
    gpu = result({}, gpu="A GPU", date="2025-01-01")

    assert [gpu, CPU_ONLY, old] == sort_results([old, quick, CPU_ONLY, gpu])


def test_ratios_stay_within_one_file(definitions: list[Definition]) -> None:
    """The loader's share divides times of one machine, never of two."""
    split = result({"mnist_epoch": {"cpu": entry(4.0)}}, gpu="A GPU")

    assert Store(definitions, [WITH_GPU, CPU_ONLY]).figure("mnist_epoch.loader_share").value == 25
    assert Store(definitions, [split, CPU_ONLY]).figure("mnist_epoch.loader_share").value == 75
    assert Store(definitions, [split]).figure("mnist_epoch.loader_share").value is None


def test_loader_bound_is_the_epoch_over_its_loader(definitions: list[Definition]) -> None:
    """An infinitely fast GPU leaves the loader's time."""
    figure = Store(definitions, [CPU_ONLY]).figure("mnist_epoch.loader_bound")

    assert figure.text == f"1.33{NBSP}times"


def test_a_damaged_result_file_is_named(tmp_path: Path) -> None:
    """The message says which file, and which command says more."""
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"cases": {}}), encoding="utf-8")

    with pytest.raises(FigureError, match="validate"):
        read_result(path)


@pytest.mark.parametrize(
    ("toml", "expected"),
    [
        ('[figure."a.b"]\nwhat = "x"', "exactly one of"),
        ('[figure."a.b"]\nwhat = "x"\nplanned = "y"\ncited = "z"', "exactly one of"),
        ('[figure."a.b"]\nwhat = "x"\nplanned = "y"\nunit = "furlong"', "furlong"),
        ('[figure."a.{n}"]\nwhat = "x"\nplanned = "y"\nn = [1, 1]', "twice"),
        ("figure = [", "can't read"),
    ],
)
def test_a_bad_catalogue_is_refused(toml: str, expected: str, tmp_path: Path) -> None:
    """Each mistake in the catalogue has its own sentence."""
    path = tmp_path / "catalogue.toml"
    path.write_text(toml, encoding="utf-8")

    with pytest.raises(FigureError, match=expected):
        read_catalogue(path)


def test_the_store_is_read_again_after_a_change(tmp_path: Path) -> None:
    """A live preview shows a new result file without a restart."""
    for source in (figure_store.CATALOGUE, figure_store.CITATIONS):
        (tmp_path / source).parent.mkdir(exist_ok=True)
        (tmp_path / source).write_text(source.read_text(encoding="utf-8"), encoding="utf-8")
    before = open_store(tmp_path).figure("mnist_epoch.cpu")
    path = tmp_path / figure_store.RESULTS / "cpu-2-cores" / "a.json"
    path.parent.mkdir(parents=True)
    cases = {name: {"entries": entries} for name, entries in CPU_ONLY.cases.items()}
    path.write_text(
        json.dumps({"provenance": CPU_ONLY.provenance, "cases": cases}), encoding="utf-8"
    )

    after = open_store(tmp_path).figure("mnist_epoch.cpu")

    assert not before.measured
    assert after.value == 8.0


# On a page


def page(text: str, store: Store, monkeypatch: pytest.MonkeyPatch) -> str:
    """``text`` as HTML, with the figures of ``store``."""
    monkeypatch.setattr(figures, "open_store", lambda: store)
    return Markdown(extensions=["lesson_site.figures", "tables"]).convert(text)


@pytest.fixture
def store(definitions: list[Definition]) -> Store:
    """The real catalogue with one CPU result."""
    return Store(definitions, [CPU_ONLY])


def test_a_name_becomes_its_value_linked_to_its_source(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The value stands in the sentence, and a line at the page's end says where it comes from."""
    html = page("It takes [[mnist_epoch.cpu]], I say.", store, monkeypatch)

    assert f">8.0{NBSP}s</a></span>, I say." in html
    assert 'class="figure" data-figure="mnist_epoch.cpu"' in html
    assert 'href="#from-mnist_epoch.cpu"' in html
    assert 'id="from-mnist_epoch.cpu"' in html
    assert html.count("A processor, 2 cores") == 2  # in the link's title and in the list


def test_an_unmeasured_figure_says_so(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """No number stands there, and the source says what would bring one."""
    html = page("[[mnist_epoch.cuda]]", store, monkeypatch)

    assert 'class="figure not-measured"' in html
    assert ">not measured yet</a>" in html
    assert "python -m benchmarks run --case mnist_epoch on a machine with a CUDA GPU" in html


def test_unmeasured_figures_are_counted_in_the_log(
    store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The build's log counts them page by page."""
    caplog.set_level("INFO", logger="mkdocs.lesson_site.figures")

    page("[[mnist_epoch.cuda]] [[mnist_epoch.cpu]] [[amp.large.speedup]]", store, monkeypatch)

    assert "2 figures not measured yet: mnist_epoch.cuda, amp.large.speedup" in caplog.text


def test_a_figure_works_inside_emphasis_tables_and_lists(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever prose may stand, a figure may."""
    text = (
        "**[[tiny.parameters]]**\n\n- [[tiny.batches]]\n\n| a |\n| - |\n| [[tiny.last_batch]] |\n"
    )

    assert page(text, store, monkeypatch).count('<span class="figure"') == 3


def test_code_spans_and_escaped_brackets_stay_as_they_are(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is code is code; a page without figures has no list."""
    html = page("`x[[mnist_epoch.cpu]]` and a list [[1, 2], [3, 4]]", store, monkeypatch)

    assert "<code>x[[mnist_epoch.cpu]]</code>" in html
    assert "[[1, 2], [3, 4]]" in html
    assert "figure-sources" not in html


def test_an_unknown_name_stops_the_build(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message holds the page and the name."""
    with pytest.raises(PageError, match=r"page\.md: there is no figure 'mnist_epoch\.tpu'"):
        page("[[mnist_epoch.tpu]]", store, monkeypatch)


def test_a_second_page_starts_with_an_empty_list(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One converter may serve many pages."""
    monkeypatch.setattr(figures, "open_store", lambda: store)
    md = Markdown(extensions=["lesson_site.figures"])
    md.convert("[[tiny.parameters]]")
    md.reset()

    assert "tiny.parameters" not in md.convert("[[tiny.batches]]")


# Claims


@pytest.mark.parametrize(
    ("claim", "truth"),
    [
        ("mnist_epoch.loader_only > 0.5 * mnist_epoch.cpu", True),
        ("mnist_epoch.loader_only > mnist_epoch.cpu", False),
        ("mnist_epoch.cpu - mnist_epoch.loader_only <= 2", True),
        ("(mnist_epoch.cpu + 2) / 10 >= 1", True),
        ("2 + 3 * mnist_epoch.cpu < 26 + 0.5", True),
        ("-mnist_epoch.cpu < 0", True),
        ("tiny.batches < mnist.batches", True),
        ("mnist_epoch.cuda < mnist_epoch.cpu", None),
    ],
)
def test_claims_are_evaluated(claim: str, truth: bool | None, store: Store) -> None:
    """Arithmetic as at school; None while a figure is missing."""
    assert truth is holds(claim, store)


def test_a_claim_compares_figures_of_one_file(definitions: list[Definition]) -> None:
    """CPU and GPU times of two machines never meet in a claim."""
    fast_cpu = result({"mnist_epoch": {"cpu": entry(0.1)}})

    assert holds("mnist_epoch.cuda < mnist_epoch.cpu", Store(definitions, [fast_cpu, WITH_GPU]))


@pytest.mark.parametrize(
    "claim",
    [
        "mnist_epoch.cpu",
        "mnist_epoch.cpu <",
        "mnist_epoch.cpu < 3 < 4",
        "mnist_epoch.cpu ** 2 < 3",
        "(mnist_epoch.cpu < 3",
        "mnist_epoch.cpu / 0 < 3",
        "__import__('os') < 3",
        "1 < 2",
        "",
    ],
)
def test_what_is_no_comparison_of_figures_is_refused(claim: str, store: Store) -> None:
    """The grammar knows numbers, names and a few signs, and nothing that runs code."""
    with pytest.raises((ClaimError, FigureError)):
        holds(claim, store)


def test_claims_are_read_from_the_front_matter(tmp_path: Path) -> None:
    """A page without any has none, and anything but a list of strings is refused."""
    path = tmp_path / "page.md"
    path.write_text("---\nclaims:\n  - a.b < c.d\n---\n# Title\n", encoding="utf-8")
    plain = tmp_path / "plain.md"
    plain.write_text("# Title\n", encoding="utf-8")
    wrong = tmp_path / "wrong.md"
    wrong.write_text("---\nclaims: a.b < c.d\n---\n", encoding="utf-8")

    assert claims_of(path) == ["a.b < c.d"]
    assert claims_of(plain) == []
    with pytest.raises(ClaimError, match=r"wrong\.md"):
        claims_of(wrong)
