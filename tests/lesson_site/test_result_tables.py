"""Tables of results: every figure of a case on every machine, and what would measure the rest."""

import gzip
import itertools
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from markdown import Markdown

from benchmarks import cases
from lesson_site.errors import PageError
from lesson_site.page import Page
from lesson_site.postbuild.documents import read_document
from lesson_site.postbuild.sizes import BUDGET_ELEMENTS, BUDGET_KB, measure
from lesson_site.result_tables import (
    PAGES,
    case_html,
    known_names,
    machines,
    overview_html,
    read_page,
)
from results.catalogue import FROM_RESULTS, Definition
from results.result_file import entries_of
from results.store import Result, Store, one_a_machine, read_catalogue
from tests.benchmarks.made_up import raced
from tests.building import REPOSITORY
from tests.lesson_site.test_figures import entry, result

AT = Page(Path("docs/benchmarks/results/training.md"), "benchmarks/results/training/")
NBSP = "\N{NO-BREAK SPACE}"
RESULTS = REPOSITORY / PAGES
LOADED_LATER = ("machine-filter", "own-machine")
FILTER_ELEMENTS = 16  # what the checkboxes of three machines add


def definition(name: str, what: str, family: str = "", **member: Any) -> Definition:
    """A measured figure of the case ``walk`` whose entry has the figure's name."""
    fields = {"measured": f"walk:{name.removeprefix('walk.')}"}
    template = re.sub(r"\{(\w+)\}", lambda m: str(member[m[1]]), what)
    devices = (str(member.get("device", "cpu")),)
    return Definition(
        name, template, "measured", "s", fields, family or name, what, member, devices
    )


ROUND = definition("walk.round", "a walk around <the> lake")
HOME = definition("walk.home", "the way home")
GRID = [
    definition(
        f"walk.{miles}.{shoes}.{device}",
        "{miles} miles in {shoes}, {device}",
        "walk.{miles}.{shoes}.{device}",
        miles=miles,
        shoes=shoes,
        device=device,
    )
    for miles in (1000, 2000, 3000, 4000, 5000)
    for shoes in ("boots", "dry_socks")
    for device in ("cpu", "cuda")
]


def machine(
    entries: dict[str, Any],
    gpu: str | None = None,
    date: str = "2026-11-21",
    skipped: dict[str, str] | None = None,
    case: str = "walk",
) -> Result:
    """A result file with one case."""
    plain = result({case: entries}, gpu, date)
    slug = plain.provenance["machine"]
    return Result(plain.provenance, plain.cases, f"{slug}/{date}.json", {case: skipped or {}})


def tree(html: str) -> ElementTree.Element:
    """The tables as a tree."""
    return ElementTree.fromstring(f"<div>{html}</div>")


def cell(html: str, name: str) -> list[str]:
    """What is in the cells of a figure, machine by machine."""
    found = [td for td in tree(html).iter("td") if td.get("data-figure") == name]
    return ["".join(td.itertext()) for td in found]


def walk(*results: Result, figures: list[Definition] | None = None) -> str:
    """The tables of the made-up case."""
    return case_html("walk", Store(figures or [ROUND, HOME], results), AT)


# One case


def test_rows_are_figures_and_columns_are_machines() -> None:
    """Each machine's value is in its column, with its unit; headings are plain text."""
    cpu, gpu = machine({"round": entry(8.0, 0.3)}), machine({"round": entry(2.0)}, gpu="A GPU")
    html = walk(gpu, cpu)

    assert [f"2{NBSP}s", f"8.0{NBSP}s"] == [
        text.replace("2.00", "2") for text in cell(html, "walk.round")
    ]
    heads = ["".join(th.itertext()) for th in tree(html).iter("th")]
    assert ["What", "A GPU 2026-11-21", "A processor, 2 cores 2026-11-21"] == heads[:3]
    assert "A walk around <the> lake" in heads


def test_of_many_machines_those_measured_last_have_a_column() -> None:
    """The others are named with their files, so that the page keeps its size."""
    gpus = [
        machine({"round": entry(2.0)}, gpu=f"GPU {day}", date=f"2026-11-1{day}") for day in range(5)
    ]
    several = [
        replace(one, provenance=one.provenance | {"machine": f"gpu-{n}"}, file=f"gpu-{n}/a.json")
        for n, one in enumerate(gpus)
    ]
    html = walk(*several, machine({"round": entry(8.0)}))

    heads = [th.get("data-machine") for th in tree(html).iter("th") if th.get("data-machine")]
    assert ["gpu-2", "gpu-3", "gpu-4", "cpu-2-cores"] == heads
    others = [a for p in tree(html).iter("p") for a in p.iter("a")]
    assert [
        ("GPU 0", f"{AT.root}benchmarks/data/gpu-0/a.json"),
        ("GPU 1", f"{AT.root}benchmarks/data/gpu-1/a.json"),
        ("Compare your machine", f"{AT.root}benchmarks/compare/"),
    ] == [(a.text, a.get("href")) for a in others]


def test_a_noisy_value_says_so_in_words() -> None:
    """No colour and no mark alone."""
    html = walk(machine({"round": entry(8.0, 3.0)}))

    assert [f"8{NBSP}s (noisy)"] == cell(html, "walk.round")


def folded(html: str) -> str:
    """What is folded away, with its line."""
    [details] = tree(html).iter("details")
    return ElementTree.tostring(details, encoding="unicode")


def test_what_nobody_measured_is_folded() -> None:
    """Below what is measured, with the command that would measure it, and a dash in its cell."""
    html = walk(machine({"round": entry(8.0)}))

    assert ["–"] == cell(folded(html), "walk.home")
    assert [] == cell(folded(html), "walk.round")
    assert "1 figure more, for another run" in html
    assert "<code>python -m benchmarks run --case walk</code> measures them." in html


def test_a_value_that_one_machine_lacks_is_a_dash() -> None:
    """The other one has it, so that the row is open."""
    both = machine({"round": entry(8.0), "home": entry(1.0)}, gpu="A GPU")
    html = walk(both, machine({"round": entry(9.0)}))

    assert [f"1.00{NBSP}s", "–"] == cell(html, "walk.home")
    assert "<details" not in html


def test_a_machine_without_any_value_has_no_column() -> None:
    """It has nothing to say in this table."""
    other = machine({"x": entry(1.0)}, gpu="A GPU", case="swim")
    html = walk(machine({"round": entry(8.0), "home": entry(1.0)}), other)

    assert "A GPU" not in html


@pytest.mark.parametrize(("share", "text"), [(-0.04, "none"), (-0.06, "-0.0600"), (2.0, "2")])
def test_a_saving_of_next_to_nothing_is_none(share: float, text: str) -> None:
    """A few bytes more or less of a peak are nobody's loss or gain."""
    fields = {"saving": ["walk:round", "walk:home"]}
    saved = Definition("walk.saved", "saved", "saving", "percent", fields, "walk.saved")
    entries = {"round": entry(100 - share), "home": entry(100.0)}

    [said] = cell(walk(machine(entries), figures=[saved]), "walk.saved")

    assert text == said.partition(NBSP)[0]


def test_a_list_is_named_in_a_reader_s_words() -> None:
    """The size above its numbers, and both memories in the sentence itself."""
    figures = [
        definition(
            f"walk.{megabytes}.{memory}_{way}",
            f"{way} {{megabytes}} MB from {{memory}} memory",
            f"walk.{{megabytes}}.{{memory}}_{way}",
            megabytes=megabytes,
            memory=memory,
        )
        for way in ("sending", "fetching")
        for megabytes in (1, 10)
        for memory in ("pageable", "pinned")
    ]
    said = "".join(tree(walk(figures=figures)).itertext())

    assert "For each size and memory" in said
    assert "Sending size MB from pageable or pinned memory" in said


@pytest.mark.parametrize(
    ("family", "head"),
    [("batch_{n}", "batch"), ("workers_{n}", "number of workers"), ("n_{n}", "n")],
)
def test_a_bare_n_is_called_what_its_entry_calls_it(family: str, head: str) -> None:
    """Of a batch of n images and of n workers a reader sees what n counts."""
    figures = [
        definition(f"walk.{family}.{way}".format(n=n), f"{way}: {{n}}", f"walk.{family}.{way}", n=n)
        for way in ("sending", "fetching")
        for n in range(5)
    ]

    assert f"For each {head}" in "".join(tree(walk(figures=figures)).itertext())


def test_what_was_skipped_gives_the_reason() -> None:
    """Below the tables, beside where it was measured."""
    html = walk(machine({"round": entry(8.0)}, skipped={"home": "it rained <hard>"}))

    assert "Skipped: it rained &lt;hard&gt;." in html


def test_a_table_leaves_out_the_rows_that_nobody_measured() -> None:
    """Of a family with two sides, the sizes that ran; the columns that ran on no machine fold."""
    html = walk(machine({"1000.boots.cpu": entry(1.0)}), figures=GRID)

    assert [f"1.00{NBSP}s"] == cell(html, "walk.1000.boots.cpu")
    assert [] == cell(html, "walk.2000.boots.cpu")
    assert [] == cell(html, "walk.1000.dry_socks.cpu")
    [summary] = re.findall(r"<summary>(.*?)</summary>", html)
    assert ["19", "10"] == re.findall(r"\d+", summary)  # all that are missing, and the GPU's
    assert "dry_socks" in folded(html)


def test_without_results_every_figure_has_its_row() -> None:
    """The folded table tells what would be measured."""
    html = folded(walk())

    assert 2 == html.count('<th scope="row">')
    assert "results-sources" not in html


def test_below_the_table_stands_where_it_was_measured() -> None:
    """Machine, software and date, and a link to the raw samples."""
    html = walk(machine({"round": entry(8.0)}))

    assert "Measured on A processor, 2 cores, 2 threads, PyTorch 2.15.0, 2026-11-21" in html
    assert 'href="../../../benchmarks/data/cpu-2-cores/2026-11-21.json"' in html


def test_an_unknown_case_is_an_error() -> None:
    """The message names it, those that are written nearly so, and the command that is missing."""
    with pytest.raises(PageError, match=r"a case 'matmull'; near it are matmul; .*describe"):
        case_html("matmull", Store([ROUND]), AT)


def test_a_newer_run_of_another_case_does_not_empty_the_table() -> None:
    """The file that has the case speaks for the machine; the first one where none has it."""
    old = machine({"round": entry(8.0)}, date="2026-11-20")
    new = machine({"x": entry(1.0)}, date="2026-11-21", case="swim")

    assert [new] == one_a_machine([new, old])
    assert [old] == one_a_machine([new, old], "walk")
    assert [new] == one_a_machine([new, old], "fly")


# Families


def test_a_large_family_becomes_tables_with_two_sides() -> None:
    """Rows and columns are its first two lists, and each value of the third has its own table."""
    entries = {d.fields["measured"].partition(":")[2]: entry(1.0) for d in GRID}
    html = walk(machine(entries, gpu="A GPU"), figures=GRID)

    captions = ["".join(c.itertext()) for c in tree(html).iter("caption")]
    assert ["Miles miles in shoes, CPU", "Miles miles in shoes, GPU"] == captions
    rows = [th.text for th in tree(html).iter("th") if th.get("scope") == "row"]
    assert ["1,000", "2,000", "3,000", "4,000", "5,000"] * 2 == rows
    assert len(GRID) == html.count("data-figure=")
    assert [f"1.00{NBSP}s"] == cell(html, "walk.2000.dry_socks.cuda")


def test_the_browser_can_name_every_figure_of_such_a_table() -> None:
    """Pattern, rows and columns together give the names in the cells."""
    entries = {d.fields["measured"].partition(":")[2]: entry(1.0) for d in GRID}
    html = walk(machine(entries), figures=GRID)

    named = [name for table in tree(html).iter("table") for name in composed(table)]
    assert [td.get("data-figure") for td in tree(html).iter("td")] == named


def composed(table: ElementTree.Element) -> list[str]:
    """The figures of a table with two sides, named as the browser does it."""
    names = []
    for row in table.get("data-rows", "").split():
        for column in table.get("data-columns", "").split():
            name = table.get("data-pattern", "").replace("{column}", column)
            for number, part in enumerate(row.split(",")):
                name = name.replace(f"{{{number}}}", part)
            names.append(name)
    return names


def test_a_family_that_nobody_measured_is_one_dash() -> None:
    """Instead of a cell for every figure."""
    html = walk(machine({"round": entry(8.0)}), figures=[ROUND, *GRID])

    assert 2 == folded(html).count("–</td>")


def test_families_over_the_same_list_share_a_table() -> None:
    """What is measured goes across, so that speed and accuracy are in one row."""
    figures = [
        definition(f"walk.{n}_{what}", f"the {what}: {{n}}", f"walk.{{n}}_{what}", n=n)
        for what in ("time", "height")
        for n in (1, 2, 3, 4)
    ]
    html = walk(
        machine({"1_time": entry(8.0), "2_time": entry(9.0), "1_height": entry(1.0)}),
        figures=figures,
    )

    heads = ["".join(th.itertext()) for th in tree(html).iter("th") if th.get("scope") == "col"]
    assert ["n", "The time", "The height"] == heads
    assert [f"8.00{NBSP}s"] == cell(html, "walk.1_time")
    assert ["–"] == cell(html, "walk.2_height")
    assert 1 == sum(1 for _ in tree(html).iter("table"))


@pytest.mark.parametrize("case", cases.NAMES)
def test_every_figure_of_a_case_stands_in_its_tables_once(case: str) -> None:
    """Whatever families the catalogue has, the tables are sound HTML and leave nothing out."""
    store = Store(read_catalogue())
    names = []
    for table in tree(case_html(case, store, AT)).iter("table"):
        rows = [th for th in table.iter("th") if th.get("scope") == "row"]
        names += composed(table) or ["".join(th.itertext()) for th in rows]

    figures = [d for d in store.definitions.values() if d.case == case]
    capital = {d.name: d.what[0].upper() + d.what[1:] for d in figures}
    assert sorted(names) == sorted(d.name if d.name in names else capital[d.name] for d in figures)


@pytest.mark.parametrize(
    ("name", "problem"),
    [("made.up", "no figure 'made.up'"), ("mnist.batches", "'mnist.batches' is computed")],
)
def test_a_figure_that_no_machine_can_give_stops_the_build(name: str, problem: str) -> None:
    """The message names page, line and figure."""
    with pytest.raises(PageError, match=rf"page\.md:7: lesson-machines: .*{problem}"):
        machines(name, "lesson-machines", "", {"line": "7"}, Markdown())


def test_the_chosen_figures_stand_in_one_table_with_all_known_names() -> None:
    """The browser needs the names to know which figures of a file mean something here."""
    html = machines("mnist_epoch.cpu\nladder.cpu_limit", "lesson-machines", "", {}, Markdown())

    names = [td.get("data-figure") for td in tree(html).iter("td")]
    assert {"mnist_epoch.cpu", "ladder.cpu_limit"} == set(names)
    assert "tiny_epoch.samples_{100,200}.cpu" in str(tree(html)[0].get("data-known")).split()


def test_the_known_names_are_those_of_the_catalogue() -> None:
    """Spelled out again, the short list that the browser gets has every figure of a result file."""
    definitions = read_catalogue()
    names: list[str] = []
    for short in known_names(definitions):
        pieces = re.split(r"\{(.*?)\}", short)
        choices = [piece.split(",") if i % 2 else [piece] for i, piece in enumerate(pieces)]
        names += ["".join(combination) for combination in itertools.product(*choices)]

    assert [d.name for d in definitions if d.kind in FROM_RESULTS] == names


# Readers' browsers


def browser() -> Result:
    """A race that a browser's file holds."""
    content = raced()
    return Result(content["provenance"], entries_of(content), "browser/2026-11-22.json")


def pytorch() -> Result:
    """The race of a machine with a GPU."""
    names = ("width_256.batch_16.cpu", "width_256.batch_16.cuda")
    return machine({name: entry(0.001, amount=16) for name in names}, "A GPU", case="race")


def tables_of(html: str) -> dict[str, ElementTree.Element]:
    """The tables with two sides that are open, by the end of their captions."""
    html = re.sub(r"<details.*?</details>", "", html)
    tables = [table for table in tree(html).iter("table") if table.find("caption") is not None]
    captions = ["".join(table.find("caption").itertext()) for table in tables]  # type: ignore[union-attr]
    return {
        caption.rpartition(": ")[2]: table for caption, table in zip(captions, tables, strict=True)
    }


def groups(table: ElementTree.Element) -> list[str | None]:
    """The machines whose values a table holds."""
    return [body.get("data-machine") for body in table.iter("tbody")]


def test_a_table_of_the_race_lists_only_who_can_fill_it() -> None:
    """PyTorch has no row where browsers race, and a browser none where PyTorch does."""
    tables = tables_of(case_html("race", Store(read_catalogue(), [pytorch(), browser()]), AT))

    assert ["gpu-machine"] == groups(tables["PyTorch on the CPU"])
    assert ["gpu-machine"] == groups(tables["PyTorch on the GPU"])
    assert ["browser"] == groups(tables["the CPU in the browser"])
    assert ["browser"] == groups(tables["the GPU in the browser"])


def test_a_race_that_no_browser_has_recorded_is_folded() -> None:
    """It names the race, and no command that could not do it."""
    race = [d for d in read_catalogue() if d.case == "race" and d.in_browser]
    html = case_html("race", Store(race, [pytorch()]), AT)

    assert "for a reader’s browser" in folded(html)
    assert "the race on the page “Race your GPU” measures them" in html
    assert "python -m benchmarks" not in html


def test_a_browser_is_named_with_what_computed_in_it() -> None:
    """No reader may take it for PyTorch on that GPU."""
    html = case_html("race", Store(read_catalogue(), [browser()]), AT)

    assert "A browser, made-up graphics" in html
    assert (
        "Measured on made-up graphics, WebAssembly, 8 cores, 4 threads, "
        "onnxruntime-web 1.30.0 in Made-up browser 1, Linux, 2026-11-22."
    ) in html
    assert "PyTorch none" not in html


def test_a_browser_stands_in_no_table_of_another_case() -> None:
    """There is nothing of it that it could measure."""
    html = case_html("matmul", Store(read_catalogue(), [browser()]), AT)

    assert 'data-machine="browser"' not in html


@pytest.mark.parametrize(
    ("results", "columns"),
    [
        ([pytorch(), browser()], {"PyTorch": ["gpu-machine"], "In a browser": ["browser"]}),
        ([pytorch()], {"PyTorch": ["gpu-machine"]}),
        ([], {}),
    ],
)
def test_what_browsers_measure_has_a_table_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
    results: list[Result],
    columns: dict[str, list[str]],
) -> None:
    """No cell says of a figure that its machine could never have it; one waits for readers."""
    store = Store(read_catalogue(), results)
    monkeypatch.setattr("lesson_site.result_tables.open_store", lambda: store)
    monkeypatch.setattr("results.contributed.read", lambda _: [])
    names = ["race.width_256.batch_16.browser_gpu", "race.width_256.batch_16.cpu"]
    html = machines("\n".join(names), "lesson-machines", "", {}, Markdown())
    tables = tables_of(html)

    found = {
        caption: [th.get("data-machine") for th in table.iter("th") if th.get("data-machine")]
        for caption, table in tables.items()
    }
    assert columns == found
    assert list(columns) == [table.get("data-measurer") for table in tables.values()]
    assert [f"7,600{NBSP}per second" if len(columns) > 1 else "–"] == cell(html, names[0])
    assert [f"16,000{NBSP}per second" if columns else "–"] == cell(html, names[1])


# Pages


def pages() -> list[str]:
    """The results pages by name."""
    return sorted(path.stem for path in RESULTS.glob("*.md") if path.stem != "index")


def test_every_case_is_on_exactly_one_page() -> None:
    """Anyone who adds a case is told to show it."""
    shown = [
        case
        for name in pages()
        for case in re.findall(r'lesson-results case="(\w+)"', (RESULTS / f"{name}.md").read_text())
    ]

    twice = [name for name, count in Counter(shown).items() if count > 1]
    assert [] == [*(set(cases.NAMES) ^ set(shown)), *twice], (
        f"give each case a heading and a lesson-results fence, on one page of {RESULTS}"
    )


@pytest.mark.parametrize("name", pages())
def test_every_table_stands_under_a_heading_of_its_case(name: str) -> None:
    """The overview links to these headings."""
    text = (RESULTS / f"{name}.md").read_text(encoding="utf-8")
    page = read_page(name, RESULTS)

    assert re.findall(r'case="(\w+)"', text) == list(page.cases), (
        f"{RESULTS / name}.md: above each fence is a heading with its case as anchor, {{ #case }}"
    )


def test_the_overview_lists_every_page() -> None:
    """A page that it does not name would be found by nobody."""
    body = re.search(
        r"```lesson-results-overview\n(.*?)```", (RESULTS / "index.md").read_text(), re.DOTALL
    )

    assert body is not None
    assert pages() == sorted(body[1].split())


def test_the_overview_counts_what_is_measured_where(tmp_path: Path) -> None:
    """For each case, each machine, and in all; each case links to its tables."""
    (tmp_path / "walks.md").write_text(
        '# Walks\n\n## Out { #walk }\n\n```lesson-results case="walk"\n```\n'
    )
    store = Store([ROUND, HOME], [machine({"round": entry(8.0)})])

    html = overview_html([read_page("walks", tmp_path)], store, AT)

    assert '<a href="../../../benchmarks/results/walks/#walk">Out</a>' in html
    cells = ["".join(td.itertext()) for td in tree(html).iter("td")]
    assert ["2", "1 measured"] * 2 == cells
    assert "Of 2 figures, 1 have been measured on some machine, and 1 on none so far." in html


def test_a_page_that_is_not_there_is_named(tmp_path: Path) -> None:
    """The build stops with its path."""
    with pytest.raises(PageError, match=r"there is no page .*walks\.md"):
        read_page("walks", tmp_path)


def test_pages_stay_light_with_two_more_machines(changed_site: Path) -> None:
    """With everything measured on two GPU machines, and a race, each page keeps its budgets."""
    site = changed_site / "site"
    rooms = ("benchmarks", "mission")
    measured = [size_of(page, site) for of in rooms for page in (site / of).rglob("index.html")]
    heavy = [size for size in measured if size[1] > BUDGET_ELEMENTS or size[2] > BUDGET_KB]

    assert 0 < len(measured)
    assert [] == heavy


def size_of(path: Path, site: Path) -> tuple[str, int, float]:
    """A page's address, its elements and its size, with the modules that its elements load."""
    html = path.read_text(encoding="utf-8")
    size = measure(read_document(path.relative_to(site), html), site)
    loaded = LOADED_LATER if "<machine-filter>" in html else ()
    modules = [(site / "assets" / "elements" / f"{name}.js").read_bytes() for name in loaded]
    kb = size.kb + sum(len(gzip.compress(module, compresslevel=6)) for module in modules) / 1000
    return path.parent.name, size.elements + FILTER_ELEMENTS, kb
