"""Figures by name: their text, their sources, and what happens without a measurement."""

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any
from unittest import TestCase

import pytest
from markdown import Markdown

from lesson_site import figures
from lesson_site.claims import claims_of
from lesson_site.errors import PageError
from results import cases, result_file
from results import store as figure_store
from results.catalogue import Definition
from results.claims import ClaimError, holds
from results.entry import Entry
from results.entry import entry as made_entry
from results.result_file import BadResultError
from results.store import (
    FigureError,
    Result,
    Store,
    one_a_machine,
    open_store,
    read_catalogue,
    read_result,
    sort_results,
)
from tests.benchmarks.made_up import good, placed

NBSP = "\N{NO-BREAK SPACE}"


def entry(value: float, spread: float = 0.0, amount: float = 0.0) -> Entry:
    """An entry of five samples, a spread apart on each side."""
    samples = [value + spread * step for step in (-1, -0.5, 0, 0.5, 1)]
    return made_entry(samples, "s", device="cpu", amount=amount)


def result(
    cases: dict[str, dict[str, Entry]],
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
    return Result(provenance, placed(cases))


CPU_ONLY = result({"mnist_epoch": {"cpu": entry(8.0, 0.3), "loader_only": entry(6.0, 0.1)}})
WITH_GPU = result(
    {"mnist_epoch": {"cpu": entry(4.0, 0.02), "cuda": entry(2.0), "loader_only": entry(1.0)}},
    gpu="A GPU",
)


@pytest.fixture
def definitions() -> list[Definition]:
    """The real catalogue."""
    return read_catalogue()


def test_every_figure_of_the_catalogue_can_be_shown() -> None:
    """With the results and recordings at hand, each is a value or says what would measure it."""
    store = open_store()

    for name in store.definitions:
        figure = store.figure(name)
        assert figure.text
        assert figure.source


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
    noisy = result({"mnist_epoch": {"cpu": entry(8.0, 3.0)}})

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
    assert "CUDA GPU" in store.figure("ladder.cuda_limit").source
    assert "CUDA GPU" not in store.figure("ladder.cpu_limit").source
    assert not store.figure("mnist_epoch.cuda").known
    planned = Definition("a.b", "a thing", "planned", "s", {"planned": "M99"})
    assert "M99 will measure it" == Store([planned]).figure("a.b").source
    assert "not measured yet" == Store([planned]).figure("a.b").text


def test_a_newer_run_of_one_case_alone_does_not_stand_beside_older_ones() -> None:
    """Cases that are compared come from one file, whichever of them a page names."""
    epoch, product, copy = entry(8.0), entry(1.0), entry(0.01)
    together = result(
        {
            "ladder": {"cpu_textbook": epoch},
            "matmul": {"n_64.cpu": product},
            "copies": {"cpu_copy": copy},
            "loops": {"cpu_lists": entry(3.0)},
        },
        date="2026-11-20",
    )
    alone = result({"ladder": {"cpu_textbook": entry(5.0)}, "loops": {"cpu_lists": entry(2.0)}})
    files = sort_results([together, alone])

    assert [together] == one_a_machine(files, "ladder")
    assert [together] == one_a_machine(files, "copies")
    assert [alone] == one_a_machine(files, "loops")


def test_a_newer_pytorch_is_preferred_to_a_later_day() -> None:
    """And of one version the later run."""
    first = CPU_ONLY
    later = dataclasses.replace(first, provenance={**first.provenance, "date": "2026-11-22"})
    older = dataclasses.replace(
        first, provenance={**first.provenance, "date": "2026-11-23", "torch": "2.9.1+cpu"}
    )

    assert [later, first, older] == sort_results([older, first, later])


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


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"version": 2, ', "is damaged"),
        ("[" * 100_000, "nested too deeply"),
        (json.dumps({**good(), "provenance": {}}), "machine is missing"),
        (json.dumps(good()).replace("0.0011,", "NaN,"), "NaN is not a measured number"),
        (json.dumps(good()).replace('"median": 0.0011', '"median": 1e-6'), "median: it is 1e-06"),
        (json.dumps(good()).replace("2026-11-21", "2026-02-31"), "there is no day 2026-02-31"),
    ],
)
def test_a_file_that_validate_refuses_is_refused_here(text: str, said: str, tmp_path: Path) -> None:
    """With the same sentence, which names the file and says what is wrong."""
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(BadResultError) as by_validate:
        result_file.read(path)
    with pytest.raises(FigureError) as refused:
        read_result(path)

    assert str(by_validate.value) == str(refused.value)
    assert str(path) in str(refused.value)
    assert said in str(refused.value)


def test_a_bad_catalogue_is_refused(tmp_path: Path) -> None:
    """With the sentence that the catalogue has for it."""
    path = tmp_path / "catalogue.toml"
    path.write_text('[figure."a.b"]\nwhat = "x"\nplanned = "y"\nunit = "furlong"')

    with pytest.raises(FigureError, match="furlong"):
        read_catalogue([path])


def test_of_one_day_the_last_run_comes_first() -> None:
    """Two files of one machine and day differ in their commits, and the later one is newer."""
    morning, evening = (
        dataclasses.replace(CPU_ONLY, finished=f"2026-11-21T{hour}:00Z") for hour in ("08", "20")
    )

    assert [evening, morning] == sort_results([morning, evening])


def test_a_full_run_is_preferred_to_a_newer_partial_one() -> None:
    """A run of one case alone takes no place in prose beside the numbers of the full one."""
    every = {name: {"x": entry(1.0)} for name in cases.names()}
    full = result(every, date="2026-11-20")
    partial = result({"loops": {"x": entry(2.0)}}, date="2026-11-22")

    assert [full, partial] == sort_results([partial, full])
    assert [full] == one_a_machine(sort_results([partial, full]), "loops")


def test_the_store_is_read_again_after_a_change(tmp_path: Path) -> None:
    """A live preview shows a new result file without a restart."""
    shutil.copytree(figure_store.CATALOGUE, tmp_path / figure_store.CATALOGUE)
    shutil.copytree(figure_store.CITATIONS, tmp_path / figure_store.CITATIONS)
    shutil.copy(figure_store.CASES, tmp_path / figure_store.CASES)
    before = open_store(tmp_path).figure("tiny_epoch.samples_100.cpu")
    path = tmp_path / figure_store.RESULTS / "cpu-2-cores" / "a.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(good()), encoding="utf-8")

    after = open_store(tmp_path).figure("tiny_epoch.samples_100.cpu")

    assert not before.known
    assert after.value == 0.0011


def test_a_fact_is_cited_once(tmp_path: Path) -> None:
    """Two files with the same name for a fact are refused, whichever was first."""
    shutil.copytree(figure_store.CATALOGUE, tmp_path / figure_store.CATALOGUE)
    shutil.copytree(figure_store.CITATIONS, tmp_path / figure_store.CITATIONS)
    shutil.copy(figure_store.CASES, tmp_path / figure_store.CASES)
    cited = tmp_path / figure_store.CITATIONS
    shutil.copy(cited / "mnist.toml", cited / "once_more.toml")

    with pytest.raises(FigureError, match=r"once_more\.toml cites 'mnist_test_images', which ano"):
        open_store(tmp_path)


def test_a_figure_may_be_computed_by_any_module_of_lesson_code() -> None:
    """A module before the colon is named in the source; a wrong name or argument is refused."""
    fields = {"computed": "mission.worked:parameters", "arguments": {"weights": "exact"}}
    wrong: dict[str, dict[str, Any]] = {
        "a.module": {"computed": "mission.nowhere:parameters"},
        "a.function": {"computed": "mission.worked:nothing"},
        "an.argument": {"computed": "mission.worked:parameters", "arguments": {"weights": "odd"}},
    }
    store = Store(
        [
            Definition("xl", "parameters", "computed", "count", fields),
            *(Definition(name, "-", "computed", "count", field) for name, field in wrong.items()),
        ]
    )

    figure = store.figure("xl")

    assert "1,557,611,200" == figure.text
    assert "computed by parameters in lesson_code/mission/worked.py" == figure.source
    for name in wrong:
        with pytest.raises(FigureError, match=f"{name} cannot be computed by mission"):
            store.figure(name)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"flop": 1e15, "flop_per_s": "[[plan.none]]"}, "there is no figure 'plan.none'"),
        (
            {"flop": 1e15, "flop_per_s": "[[plan.gpu]]"},
            r"from \[\[plan.gpu\]\], which has no value",
        ),
        (
            {"flop": "[[plan.text]]", "flop_per_s": "[[rtx]]"},
            "mixes measured and published figures",
        ),
    ],
)
def test_a_figure_computed_from_others_needs_values_of_one_kind(
    arguments: dict[str, Any], said: str
) -> None:
    """What is missing, without a value or of another kind is named."""
    text = {"recorded": "lab/number_formats:print_weights", "at": ["gpt3", "float32"]}
    store = Store(
        [
            Definition("x", "-", "computed", "plain", {"computed": "device_days"}),
            Definition("plan.gpu", "-", "planned", "plain", {"planned": "M99"}),
            Definition("plan.text", "-", "recorded", "plain", text),
            Definition("rtx", "-", "cited", "plain", {"cited": "rtx"}),
        ],
        citations={"rtx": {"value": 1e12, "unit": "flop_per_s", "source": "a sheet"}},
    )
    store.definitions["x"].fields["arguments"] = arguments

    with pytest.raises(FigureError, match=said):
        store.figure("x")


@pytest.mark.parametrize(("exact", "kind"), [(True, "exact"), (False, "measured")])
def test_what_a_snippet_counts_is_exact(exact: bool, kind: str) -> None:
    """Bytes of weights were multiplied, and no machine measured them."""
    fields = {"recorded": "lab/number_formats:print_weights", "at": ["gpt3", "float32"]}
    store = Store([Definition("x", "-", "recorded", "gigabytes", fields | {"exact": exact})])

    assert (f"700{NBSP}GB", kind) == (store.figure("x").text, store.figure("x").kind)


def test_what_moved_is_not_exact() -> None:
    """A loss that another processor changes can't be said to be counted."""
    fields = {"recorded": "lab/tf32:print_errors", "at": ["float32", "ones"], "exact": True}
    store = Store([Definition("x", "-", "recorded", "plain", fields)])

    with pytest.raises(FigureError, match="x is said to be exact, and its recording moved"):
        store.figure("x")


def test_what_is_computed_from_a_published_figure_is_published() -> None:
    """Its source names the function and where the figure stands."""
    fields = {"computed": "device_days", "arguments": {"flop": 86400e12, "flop_per_s": "[[rtx]]"}}
    store = Store(
        [
            Definition("x", "-", "computed", "plain", fields),
            Definition("rtx", "-", "cited", "plain", {"cited": "rtx"}),
        ],
        citations={"rtx": {"value": 1e12, "unit": "flop_per_s", "source": "a sheet"}},
    )

    figure = store.figure("x")

    assert (1.0, "published") == (figure.value, figure.kind)
    assert figure.source == (
        "our calculation, computed by device_days in lesson_code/accounting.py, from a sheet"
    )


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
    """The value is in the sentence, and a line at the page's end says where it comes from."""
    html = page("It takes [[mnist_epoch.cpu]], I say.", store, monkeypatch)

    assert f">8.0{NBSP}s</a></span>, I say." in html
    assert 'class="figure" data-figure="mnist_epoch.cpu" data-kind="measured"' in html
    assert 'href="#from-mnist_epoch.cpu"' in html
    assert 'id="from-mnist_epoch.cpu"' in html
    assert html.count("A processor, 2 cores") == 2  # in the link's title and in the list


def test_a_cell_without_a_value_holds_a_dash(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The source says what would bring the value."""
    html = page("| epoch |\n| --- |\n| [[mnist_epoch.cuda]] |", store, monkeypatch)

    assert 'class="figure not-measured"' in html
    assert ">–</a>" in html
    assert "python -m benchmarks run --case mnist_epoch on a machine with a CUDA GPU" in html


@pytest.mark.parametrize(
    "text",
    [
        "An epoch takes [[mnist_epoch.cuda]] there.",
        "- A list's **[[mnist_epoch.cuda]]**",
        "# In [[mnist_epoch.cuda]]",
        "| [[mnist_epoch.cuda]] |\n| - |\n| a |",
    ],
)
def test_a_hole_in_a_sentence_stops_the_build(
    text: str, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message names page, line and figure, and says which blocks to write."""
    said = r"page\.md:7: \[\[mnist_epoch\.cuda\]\] has no value yet.*`/// otherwise`"
    monkeypatch.setattr(figures, "line_of", lambda page, _: f"{page.source}:7")

    with pytest.raises(PageError, match=said):
        page(text, store, monkeypatch)


def test_unmeasured_figures_are_counted_in_the_log(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The build's log counts them page by page."""
    row = "| [[mnist_epoch.cuda]] | [[mnist_epoch.cpu]] | [[amp.large.speedup]] |"
    with TestCase().assertLogs("mkdocs.lesson_site.figures", "INFO") as log:
        page(f"| a | b | c |\n| - | - | - |\n{row}", store, monkeypatch)

    said = "2 figures not measured yet: mnist_epoch.cuda, amp.large.speedup"
    assert [True] == [said in line for line in log.output]


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
    """The message holds the page and the name, and those that are written nearly so."""
    said = r"page\.md: there is no figure 'mnist_epoch\.tpu'; near it are .*mnist_epoch\.cpu"
    with pytest.raises(PageError, match=said):
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
        (" mnist_epoch.cpu - mnist_epoch.loader_only <= 2 ", True),
        ("(mnist_epoch.cpu + 2) / 10 >= 1", True),
        ("(mnist_epoch.cpu + 2) / 10 > 1", False),
        ("2 + 3 * mnist_epoch.cpu < 26 + 0.5", True),
        ("2 + 3 * mnist_epoch.cpu < 26", False),
        ("mnist_epoch.cpu * 0 < 0.5", True),
        ("-mnist_epoch.cpu < 0", True),
        ("tiny.batches < mnist.batches", True),
        ("mnist_epoch.cuda < mnist_epoch.cpu", None),
    ],
)
def test_claims_are_evaluated(claim: str, truth: bool | None, store: Store) -> None:
    """Arithmetic as at school; None while a figure is missing."""
    assert truth is holds(claim, store)


@pytest.mark.parametrize(
    ("claim", "truth"),
    [
        ("forecast.mnist_64.float16.card.gain < 1", True),
        ("forecast.large_1024.float16.card.gain > 3", False),
        ("forecast.large_1024.float32.t4.time > forecast.large_1024.float32.card.time", False),
        ("forecast.large_1024.float32.t4.time >= forecast.large_1024.float32.card.time", True),
        ("forecast.large_1024.float32.card.time < mnist_epoch.cuda", None),
    ],
)
def test_a_claim_about_the_readers_card_holds_on_every_card(
    claim: str, truth: bool | None, store: Store
) -> None:
    """One card on which it is wrong makes it false."""
    assert truth is holds(claim, store)


def test_a_claim_compares_figures_of_one_machine(definitions: list[Definition]) -> None:
    """CPU and GPU times of two machines never meet in a claim."""
    fast_cpu = result({"mnist_epoch": {"cpu": entry(0.1)}})

    assert holds("mnist_epoch.cuda < mnist_epoch.cpu", Store(definitions, [fast_cpu, WITH_GPU]))


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("mnist_epoch.cpu", "ends where a comparison"),
        ("mnist_epoch.cpu <", "ends where a number or a figure"),
        ("mnist_epoch.cpu < 3 < 4", "'<' is left over"),
        ("mnist_epoch.cpu + 3", "ends where a comparison"),
        ("mnist_epoch.cpu 3 < 4", "expected a comparison, found '3'"),
        ("mnist_epoch.cpu ** 2 < 3", r"expected a number or a figure, found '\*'"),
        ("(mnist_epoch.cpu < 3", "a parenthesis is not closed"),
        ("(mnist_epoch.cpu", "ends where a closing parenthesis"),
        ("mnist_epoch.cpu / 0 < 3", "divides by zero"),
        ("mnist_epoch.cuda / 0 < 3", "divides by zero"),
        ("__import__('os') < 3", r"""can't read "'os'\) < 3\""""),
        ("1 < 2", "names no figure"),
        ("", "names no figure"),
    ],
)
def test_what_is_no_comparison_of_figures_is_refused(claim: str, said: str, store: Store) -> None:
    """The grammar knows numbers, names and a few signs, and nothing that runs code."""
    with pytest.raises(ClaimError, match=said) as refused:
        holds(claim, store)

    assert repr(claim) in str(refused.value)


@pytest.mark.parametrize(
    ("longest", "said"),
    [
        (f"{'1 + ' * 245}mnist_epoch.cpu > 10", "at most 1000 characters"),
        (f"{'-' * 20}mnist_epoch.cpu > 1", "more than 20 parentheses or signs"),
        (f"{'(' * 20}mnist_epoch.cpu{')' * 20} > 1", "more than 20 parentheses or signs"),
    ],
)
def test_how_long_and_how_deep_a_claim_may_be(longest: str, said: str, store: Store) -> None:
    """One more is refused; what was closed is open no more."""
    more = {"1": f" {longest}", "-": f"-{longest}", "(": f"({longest.replace(' >', ') >')}"}

    assert holds(longest, store)
    assert holds("(-1) + " * 30 + "40 > mnist_epoch.cpu", store)
    with pytest.raises(ClaimError, match=said):
        holds(more[longest[0]], store)


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
