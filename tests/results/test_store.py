"""What the store takes from its sources, and what it says where they lack something."""

import json
import re
import shutil
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

import pytest

from results import cases, published, quantities, reader_card, recorded
from results.catalogue import Definition
from results.entry import entry as made_entry
from results.held_digits import Range
from results.recorded import Recording, RecordingError
from results.result_file import with_figures
from results.store import (
    CASES,
    CATALOGUE,
    NOT_MEASURED,
    FigureError,
    Result,
    Store,
    newest,
    open_store,
    read_catalogue,
    read_result,
    skipped_of,
    sort_results,
)
from tests.benchmarks.made_up import good, part, raced
from tests.lesson_site.test_figures import CPU_ONLY, WITH_GPU, entry, result

SPACE = "\N{NO-BREAK SPACE}"


def of_machine(name: str, date: str, gpu: str | None = None) -> Result:
    """A result file of a machine of that name, without a single entry."""
    found = result({}, gpu, date)
    return replace(found, provenance={**found.provenance, "machine": name})


def cited(entry: dict[str, Any] | None) -> Store:
    """A store with one figure, and the entry that it cites."""
    figure = Definition("card.memory", "memory of a card", "cited", "GB", {"cited": "card"})
    return Store([figure], citations=None if entry is None else {"card": entry})


ENTRY = {"value": 24e9, "unit": "gigabytes", "source": "A maker, a card", "date": "2026-11-21"}


def test_the_newest_machines_of_each_kind_are_kept_in_their_order() -> None:
    """The one that was measured first goes, whichever stands first; a GPU's place is its own."""
    files = [
        of_machine("a-gpu", "2026-11-01", gpu="A GPU"),
        of_machine("old", "2026-11-02"),
        of_machine("new", "2026-11-04"),
        of_machine("newer", "2026-11-05"),
    ]

    kept = [file.provenance["machine"] for file in newest(iter(files), most=2)]

    assert ["a-gpu", "new", "newer"] == kept


def test_machines_with_a_gpu_come_first_whatever_they_measured() -> None:
    """A file of a few cases is behind a full one of its own machine alone."""
    full = result({case: {} for case in cases.names()})
    files = sort_results([full, of_machine("a-gpu", "2026-11-01", gpu="A GPU")])

    assert ["A GPU", None] == [file.provenance["gpu"] for file in files]


def test_a_part_that_was_skipped_keeps_its_reason() -> None:
    """Under its own name; what was measured has none."""
    parts = {"cuda": {"skipped": "no GPU"}, "cpu": {"entries": {}}}

    assert {"cuda": "no GPU"} == skipped_of(parts)


def test_one_thread_is_said_in_the_singular() -> None:
    """And two in the plural."""
    one = result({})
    one.provenance["threads"] = 1

    assert ["1 thread", "2 threads"] == [one.threads, result({}).threads]


def test_a_citation_gives_its_value_and_where_it_was_read() -> None:
    """With the address and the day where it has one, and in the digits of its source."""
    figure = cited(ENTRY | {"url": "https://maker.example/card"}).figure("card.memory")

    assert ("card.memory", "memory of a card") == (figure.name, figure.what)
    assert (24e9, "published") == (figure.value, figure.kind)
    assert "A maker, a card, https://maker.example/card, read on 2026-11-21" == figure.source
    assert figure.text.startswith("24")
    assert "A maker, a card" == cited(ENTRY).figure("card.memory").source
    assert "24,576 MiB" == cited(ENTRY | {"text": "24,576 MiB"}).figure("card.memory").text


def test_a_citation_that_is_not_in_the_list_is_named() -> None:
    """With the figure that wants it, and the file."""
    with pytest.raises(FigureError, match=r"no entry 'card'; card\.memory cites it"):
        cited(None).figure("card.memory")


def counted(at: list[str | int]) -> Store:
    """A store with one figure, which a recorded printout gives."""
    fields = {"recorded": "lab/memory_dashboard:print_curve", "at": at}
    return Store([Definition("lab.counted", "a printed number", "recorded", "count", fields)])


def test_a_recording_that_nobody_made_says_what_makes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The figure has no value yet."""
    monkeypatch.setattr(recorded, "read", lambda _: None)

    figure = counted([0]).figure("lab.counted")

    assert ("lab.counted", None, NOT_MEASURED) == (figure.name, figure.value, figure.text)
    assert "lab/memory_dashboard:print_curve" in figure.source


@pytest.mark.parametrize("at", [[0, "nowhere"], [10**6, "A"], [0, "name"], ["A"]])
def test_a_way_that_leads_to_no_number_of_a_recording_is_named(at: list[str | int]) -> None:
    """A key or a place that is not there, and what is there and no number."""
    with pytest.raises(FigureError) as refused:
        counted(at).figure("lab.counted")

    assert f"has no number at {' / '.join(map(str, at))} (" in str(refused.value)


def test_a_published_name_that_is_not_there_names_what_is_near() -> None:
    """With the group before it, as pages write it."""
    known = "published.kernel.a100.graph"

    with pytest.raises(FigureError, match="published") as refused:
        open_store().figure(f"{known}s")

    assert f"{known}," in str(refused.value)


def test_a_published_figure_is_shown_as_its_list_has_it() -> None:
    """Under the name that pages use."""
    found = published.read()["kernel.a100.graph"]
    figure = open_store().figure("published.kernel.a100.graph")

    assert ("published.kernel.a100.graph", "published") == (figure.name, figure.kind)
    assert (found.what, found.value, found.text, found.provenance) == (
        *(figure.what, figure.value, figure.text, figure.source),
    )
    assert not figure.noisy


def test_published_figures_that_cannot_be_read_say_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the words of who reads them."""

    def damaged() -> None:
        raise published.PublishedError("topics/a.toml: no title")

    monkeypatch.setattr(published, "read", damaged)

    with pytest.raises(FigureError, match=r"^topics/a\.toml: no title$"):
        open_store().figure("published.kernel.a100.graph")


def test_a_recording_that_cannot_be_read_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the words of who reads it."""

    def damaged(_: str) -> Recording:
        raise RecordingError("a.json is damaged")

    monkeypatch.setattr(recorded, "read", damaged)

    with pytest.raises(FigureError, match=r"^a\.json is damaged$"):
        counted([0]).figure("lab.counted")


def printed(
    monkeypatch: pytest.MonkeyPatch,
    value: object,
    unit: str = "count",
    moved: float = 0.0,
    **more: object,
) -> Store:
    """A store with one figure of a recording that says this value, and how far it moved."""
    at = {"device": "cpu", "processor": "A processor", "torch": "2.15.0", "date": "2026-11-21"}
    ranges = {("a", 1): Range(3.0, 3.0 + moved)} if moved else {}
    found = Recording("", {"a": [0, value]}, at, moved_data=ranges)
    monkeypatch.setattr(recorded, "read", {"lab/a:print_b": found}.get)
    fields = {"recorded": "lab/a:print_b", "at": ["a", 1], **more}
    return Store([Definition("lab.counted", "a printed number", "recorded", unit, fields)])


@pytest.mark.parametrize(
    ("moved", "more", "text", "kind"),
    [
        (0.0, {}, "3.25", "measured"),
        (0.0, {"exact": False}, "3.25", "measured"),
        (0.0, {"exact": True}, "3.25", "exact"),
        (0.5, {}, "3.2", "measured"),
    ],
)
def test_a_recorded_number_says_where_it_was_printed(
    moved: float, more: dict[str, bool], text: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine measured it, unless it is exact; one that moved has the digits that hold alone."""
    store = printed(monkeypatch, 3.25, moved=moved, **more)

    figure = store.figure("lab.counted")

    assert (3.25, text, kind) == (figure.value, figure.text, figure.kind)
    assert "a printed number" == figure.what
    assert "Recorded on A processor, PyTorch 2.15.0, 2026-11-21" == figure.source


def test_an_exact_number_that_moved_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was measured after all."""
    with pytest.raises(FigureError, match="counted is said to be exact, and its recording moved"):
        printed(monkeypatch, 3.25, moved=0.5, exact=True).figure("lab.counted")


@pytest.mark.parametrize("unit", ["count", "s"])
@pytest.mark.parametrize("value", [None, "3", [3], float("nan"), 10**400])
def test_a_recorded_value_that_cannot_be_written_is_named(
    value: object, unit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is no number, what Python alone calls one, and what no float can hold."""
    with pytest.raises(
        FigureError, match=r"^the recording of lab/a:print_b has no number at a / 1 "
    ):
        printed(monkeypatch, value, unit).figure("lab.counted")


def seconds(*targets: str) -> list[Definition]:
    """The time of each of these entries, called as it is."""
    return [
        Definition(target.replace(":", "."), "a time", "measured", "s", {"measured": target})
        for target in targets
    ]


def test_times_that_are_compared_come_from_one_file() -> None:
    """The store leaves out a figure of a newer file that measured one case of several."""
    together = result(
        {"ladder": {"cpu_textbook": entry(8.0)}, "matmul": {"n_64.cpu": entry(1.0)}},
        date="2026-11-20",
    )
    alone = result({"ladder": {"cpu_textbook": entry(5.0)}})
    definitions = seconds("ladder:cpu_textbook", "matmul:n_64.cpu")
    store = Store(definitions, sort_results([together, alone]))

    assert [alone] == store.machines()
    assert 8.0 == store.figure("ladder.cpu_textbook").value
    assert {"ladder.cpu_textbook": 8.0, "matmul.n_64.cpu": 1.0} == store.values(
        definition.name for definition in definitions
    )


def test_values_of_several_figures_come_from_the_first_machine_that_has_all() -> None:
    """With those that no machine measures; one without a value leaves none."""
    times = seconds("mnist_epoch:cpu", "mnist_epoch:cuda", "tiny_epoch:none")
    fields = {"computed": "mission.worked:parameters", "arguments": {"weights": "exact"}}
    size = Definition("xl", "parameters", "computed", "count", fields)
    card = Definition("card", "memory of a card", "cited", "gigabytes", {"cited": "card"})
    plan = Definition("plan", "a thing", "planned", "s", {"planned": "M99"})
    store = Store([*times, size, card, plan], [CPU_ONLY, WITH_GPU], {"card": ENTRY})
    others = ("xl", "card", "published.kernel.a100.graph", "forecast.mnist_64.float32.t4.time")
    known = {name: store.figure(name).value for name in others}

    assert {"mnist_epoch.cpu": 8.0} == store.values(["mnist_epoch.cpu"])
    assert {"mnist_epoch.cpu": 4.0, "mnist_epoch.cuda": 2.0} == store.values(
        ["mnist_epoch.cpu", "mnist_epoch.cuda"]
    )
    assert known == store.values(iter(others))
    assert known | {"mnist_epoch.cpu": 8.0} == store.values(["mnist_epoch.cpu", *others])
    assert store.values(["mnist_epoch.cpu", "tiny_epoch.none"]) is None
    assert store.values(["plan", "xl"]) is None
    assert {} == store.values([])
    assert 2.0 == store.figure("mnist_epoch.cuda").value


def test_a_recorded_value_that_nobody_printed_leaves_no_values(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A claim about it waits."""
    monkeypatch.setattr(recorded, "read", lambda _: None)

    assert counted([0]).values(["lab.counted"]) is None


def test_a_store_of_browsers_has_no_other_machine() -> None:
    """And the other way round; both know every name and citation."""
    browser = replace(CPU_ONLY, provenance=raced()["provenance"])
    store = Store(seconds("mnist_epoch:cpu"), iter([CPU_ONLY, browser]), {"card": ENTRY})

    assert [browser] == store.only(in_browser=True).machines()
    assert [CPU_ONLY] == store.only(in_browser=False).machines()
    assert (store.definitions, store.citations) == (
        store.only(in_browser=True).definitions,
        store.only(in_browser=True).citations,
    )


def test_a_machine_is_said_in_a_line() -> None:
    """With its GPU, if it has one; a browser has an engine in the place of PyTorch."""
    browser = Result(raced()["provenance"], {})

    assert "A processor, 2 cores, 2 threads, PyTorch 2.15.0, 2026-11-21" == CPU_ONLY.where
    assert "A GPU, A processor, 2 cores, 2 threads, PyTorch 2.15.0, 2026-11-21" == WITH_GPU.where
    assert (
        "made-up graphics, WebAssembly, 8 cores, 4 threads, "
        "onnxruntime-web 1.30.0 in Made-up browser 1, Linux, 2026-11-22"
    ) == browser.where
    assert [False, True] == [CPU_ONLY.in_browser, browser.in_browser]


def test_a_forecast_has_a_band_and_what_is_counted_has_none() -> None:
    """Of the reader's card it keeps the name that the page wrote."""
    time, memory, first = (
        open_store().figure(f"forecast.mnist_64.float32.{of}")
        for of in ("card.time", "card.memory", f"{reader_card.FIRST}.time")
    )

    assert "forecast.mnist_64.float32.card.time" == time.name
    assert replace(time, name=first.name) == first
    assert ("forecast", "exact") == (time.kind, memory.kind)
    assert ("forecast", False, time.low, time.high, time.band) == astuple(time)[-5:]
    assert time.low < time.value < time.high
    assert quantities.write_band(time.low, time.high, "s") == time.band
    assert time.what.startswith("seconds of a step: ")
    assert time.source.startswith("forecast from the ")
    assert time.text.endswith("s")
    assert (None, None, "") == (memory.low, memory.high, memory.band)
    assert memory.what.startswith("most memory of a step: ")
    assert memory.text.endswith("B")
    assert memory.source.startswith("counted from the ")
    assert "forecast.mnist_64.float32.card.memory" == memory.name


def test_a_forecast_of_nothing_says_what_there_is() -> None:
    """In the words of the forecast."""
    with pytest.raises(FigureError, match="there is no card 't44'; there is t4"):
        open_store().figure("forecast.mnist_64.float32.t44.time")


def test_the_readers_card_has_a_name() -> None:
    """That of the card for which the site is written."""
    figure = open_store().figure(reader_card.NAME)

    assert ("forecast.card", "the card", "exact") == (figure.name, figure.what, figure.kind)
    assert ("T4", "chosen by the reader") == (figure.text, figure.source)
    assert figure.known


def test_our_gpu_is_the_one_whose_results_come_first() -> None:
    """Without results of a GPU nobody has measured, and the figure says what would."""
    store = open_store()
    [first, *_] = [r.provenance["gpu"] for r in store.results if r.provenance["gpu"]]
    without = Store([], [r for r in store.results if not r.provenance["gpu"]], {})

    assert first == store.figure("measured.gpu").text
    assert not without.figure("measured.gpu").known
    assert "benchmarks run" in without.figure("measured.gpu").source


def computed(**arguments: object) -> Store:
    """A store with a figure ``x`` of these arguments, and figures that these may name."""
    fields = {"computed": "device_days", "arguments": arguments}
    exact = {"computed": "device_days", "arguments": {"flop": 86400e12, "flop_per_s": 1e3}}
    text = {"recorded": "lab/number_formats:print_weights", "at": ["gpt3", "float32"]}
    return Store(
        [
            Definition("x", "days of a device", "computed", "plain", fields),
            Definition("exact", "-", "computed", "plain", exact),
            Definition("text", "-", "recorded", "plain", text),
            Definition("rtx", "-", "cited", "plain", {"cited": "rtx"}),
        ],
        citations={"rtx": {"value": 1e12, "unit": "flop_per_s", "source": "a sheet"}},
    )


def test_what_is_computed_from_exact_and_published_figures_is_published() -> None:
    """It names the sources of both, however often it is asked for."""
    store = computed(flop="[[exact]]", flop_per_s="[[rtx]]")

    figure = store.figure("x")

    assert figure == store.figure("x")
    assert ("x", "days of a device", "published") == (figure.name, figure.what, figure.kind)
    assert figure.source.startswith("our calculation, computed by device_days in ")
    assert figure.source.endswith(
        "from computed by device_days in lesson_code/accounting.py; a sheet"
    )


def test_a_function_of_results_may_compute_a_figure() -> None:
    """Its whole name says that it is none of the lesson's code."""
    fields = {
        "computed": "results.forecasts:times_the_arithmetic",
        "arguments": {"of": "mnist_64", "than": "mnist_64"},
    }
    figure = Store([Definition("x", "-", "computed", "times", fields)]).figure("x")

    assert (1.0, f"1.00{SPACE}times", "exact") == (figure.value, figure.text, figure.kind)
    assert "computed by times_the_arithmetic in results/forecasts.py" == figure.source


def test_a_function_may_need_no_argument_and_count() -> None:
    """What it gives is a number like all others, and a notebook writes it so."""
    fields = {"computed": "mission.worked:flop_per_token"}
    figure = Store([Definition("x", "-", "computed", "count", fields)]).figure("x")

    assert ("10273545600.0", "10,273,545,600") == (repr(figure.value), figure.text)


@pytest.mark.parametrize(
    ("target", "arguments"),
    [
        ("mission.nowhere:parameters", {}),
        ("mission.worked:nothing", {}),
        ("mission.worked:parameters", {"weight": "exact"}),
        ("results.forecasts:times_the_arithmetic", {"of": "mnist", "than": "mnist"}),
        ("results.accuracy:gain_count", {"group": "nobody"}),
        ("device_days", {"flop": 1.0, "flop_per_s": 0.0}),
        ("device_days", {"flop": float("inf"), "flop_per_s": 1.0}),
    ],
)
def test_what_cannot_be_computed_is_named(target: str, arguments: dict[str, object]) -> None:
    """What is not there, what is refused, a zero below the line, and what is no number."""
    fields = {"computed": target, "arguments": arguments}

    with pytest.raises(FigureError, match=f"^x cannot be computed by {target}: ."):
        Store([Definition("x", "-", "computed", "times", fields)]).figure("x")


def test_kinds_that_do_not_mix_are_named_in_the_order_of_the_alphabet() -> None:
    """With the figure that mixes them."""
    with pytest.raises(FigureError, match=r"^x mixes measured and published figures$"):
        computed(flop="[[rtx]]", flop_per_s="[[text]]").figure("x")


@pytest.mark.parametrize("text", ["rtx", "[[rtx]] more", "[rtx]"])
def test_a_text_that_is_no_name_of_a_figure_stays_a_text(text: str) -> None:
    """The function gets it, and finds no number there."""
    with pytest.raises(FigureError, match=r"^x cannot be computed by device_days: unsupported"):
        computed(flop=text, flop_per_s="[[rtx]]").figure("x")


def test_an_argument_without_a_value_is_named() -> None:
    """With the figure that is computed from it."""
    store = computed(flop="[[plan]]", flop_per_s=1.0)
    store.definitions["plan"] = Definition("plan", "-", "planned", "s", {"planned": "M99"})

    with pytest.raises(FigureError, match=r"^x is computed from \[\[plan\]\], which has no value$"):
        store.figure("x")


def test_an_unknown_figure_names_what_is_near_and_where_names_are() -> None:
    """So that a slip of the pen is mended at once."""
    with pytest.raises(FigureError) as refused:
        Store(seconds("mnist_epoch:cpu")).figure("mnist_epoch.cpus")

    assert (
        "there is no figure 'mnist_epoch.cpus'; near it are mnist_epoch.cpu; "
        "results/cases.json has what cases measure, and results/catalogue all others"
    ) == str(refused.value)


def test_a_measured_figure_says_how_it_was_found() -> None:
    """Of how many runs, and between which ends; a derived one says of which it was made."""
    once = result({"mnist_epoch": {"cpu": made_entry([8.0], "s", device="cpu")}})
    largest = Definition("l", "-", "measured", "s", {"measured": "mnist_epoch:cpu"})
    largest.fields["statistic"] = "largest"
    ratio = Definition("r", "-", "ratio", "times", {"ratio": ["mnist_epoch:cpu"] * 2})
    store = Store([*seconds("mnist_epoch:cpu"), largest, ratio], [CPU_ONLY])

    def said(name: str, store: Store = store) -> str:
        return store.figure(name).source.partition(";")[0]

    assert f"median of 5 runs, 7.70{SPACE}s to 8.30{SPACE}s" == said("mnist_epoch.cpu")
    assert said("l").startswith("largest of 5 runs, ")
    assert "computed from medians of one run" == said("r")
    assert "median of 1 run" == said("mnist_epoch.cpu", Store(seconds("mnist_epoch:cpu"), [once]))
    assert "mnist_epoch.cpu" == store.figure("mnist_epoch.cpu").name
    assert ("a time", False) == (
        store.figure("mnist_epoch.cpu").what,
        store.figure("mnist_epoch.cpu").noisy,
    )


def test_what_nobody_measured_says_what_measures_it() -> None:
    """The race for a browser's, the job for all others, with every case that it takes."""
    time, raced = seconds("mnist_epoch:cpu", "race:cpu")
    derived = Definition("d", "-", "derived", "times", {"derived": "-", "case": "ladder"})
    cuda = replace(time, name="cuda", devices=("cuda",))
    plan = Definition("plan", "-", "planned", "s", {"planned": "M99"})
    store = Store([time, replace(raced, in_browser=True), derived, cuda, plan])

    cases_of = " ".join(f"--case {case}" for case in derived.needs)
    assert 1 < len(derived.needs)
    assert not store.figure("d").known
    assert f"`python -m benchmarks run {cases_of}` measures it" == store.figure("d").source
    assert (
        "`python -m benchmarks run --case mnist_epoch` on a machine with a CUDA GPU measures it"
    ) == store.figure("cuda").source
    assert "M99 will measure it" == store.figure("plan").source
    assert "the race on the page “Race your GPU” measures it" in store.figure("race.cpu").source
    assert ("mnist_epoch.cpu", "a time", None, NOT_MEASURED) == (
        store.figure("mnist_epoch.cpu").name,
        store.figure("mnist_epoch.cpu").what,
        store.figure("mnist_epoch.cpu").value,
        store.figure("mnist_epoch.cpu").text,
    )


def test_a_measured_figure_has_the_digits_that_its_runs_support() -> None:
    """The source of a figure whose runs lie far apart begins with that."""
    time = seconds("mnist_epoch:cpu")
    noisy = result({"mnist_epoch": {"cpu": entry(8.0, 4.0)}}, gpu="A GPU")
    steady, moved = (Store(time, [of]).figure("mnist_epoch.cpu") for of in (CPU_ONLY, noisy))

    assert (False, f"8.0{SPACE}s", "measured") == (steady.noisy, steady.text, steady.kind)
    assert f"median of 5 runs, 7.70{SPACE}s to 8.30{SPACE}s; {CPU_ONLY.where}" == steady.source
    assert (True, f"8{SPACE}s") == (moved.noisy, moved.text)
    assert moved.source.startswith("noisy, ")
    assert moved.source.endswith(f"; median of 5 runs, 4.00{SPACE}s to 12.0{SPACE}s; {noisy.where}")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the cases of ours, two figures beside theirs, and two citations.

    The system lists its files in an order of its own, and one citation is called as figures are.
    """
    listed = Path.glob
    monkeypatch.setattr(Path, "glob", lambda *of: sorted(listed(*of), reverse=True))
    (tmp_path / "results/cited").mkdir(parents=True)
    (tmp_path / CATALOGUE).mkdir()
    shutil.copy(CASES, tmp_path / CASES)
    cards = '[a]\nvalue = 24e9\nunit = "gigabytes"\nsource = "Größe"\n'
    (tmp_path / "results/cited" / "cards.toml").write_text(cards, encoding="utf-8")
    other = '[figure]\nvalue = 8e9\nunit = "gigabytes"\nsource = "another"\n'
    (tmp_path / "results/cited" / "others.toml").write_text(other, encoding="utf-8")
    figure = '[figure."card.memory"]\nwhat = "x"\ncited = "a"\nunit = "gigabytes"\n'
    figure += '[figure.growth]\nwhat = "y"\n'
    figure += 'ratio = ["tiny_epoch:samples_200.cpu", "tiny_epoch:samples_100.cpu"]\n'
    (tmp_path / CATALOGUE / "cards.toml").write_text(figure, encoding="utf-8")
    return tmp_path


def test_a_repository_is_read_once(repository: Path) -> None:
    """The store is the same until a file changes: catalogue, citations, results in their order.

    They have the figures of its own catalogue.
    """
    listed = read_catalogue([repository / CATALOGUE / "cards.toml"], repository / CASES)
    for name, quick in (("a", True), ("b", False), ("c", False)):
        path = repository / "benchmarks/results/cpu-2-cores" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        content = with_figures(good(), {definition.name: definition for definition in listed})
        content["provenance"]["quick"] = quick
        path.write_text(json.dumps(content), encoding="utf-8")

    store = open_store(repository)

    assert store is open_store(repository)
    assert ["cpu-2-cores/b.json", "cpu-2-cores/c.json"] == [found.file for found in store.results]
    assert pytest.approx(0.002 / 0.0011) == store.figure("growth").value
    assert 0.0011 == store.figure("tiny_epoch.samples_100.cpu").value
    assert f"24.0{SPACE}GB" == store.figure("card.memory").text
    assert "Größe" == store.figure("card.memory").source
    assert {"a", "figure"} == store.citations.keys()


def test_a_repository_without_its_cases_is_refused(repository: Path) -> None:
    """The file is named, and one that is damaged too."""
    (repository / CASES).write_text("{", encoding="utf-8")
    with pytest.raises(FigureError, match=f"^{re.escape(str(repository / CASES))} is damaged"):
        open_store(repository)

    (repository / CASES).unlink()

    with pytest.raises(FigureError, match=r"can't read .*cases\.json: No such file"):
        open_store(repository)


def test_a_fact_that_is_cited_twice_is_named(repository: Path) -> None:
    """With the file that cites it once more by its name, however the system lists them."""
    path = repository / "results/cited" / "twice.toml"
    path.write_text("[c]\n[figure]\n[a]\n", encoding="utf-8")

    with pytest.raises(FigureError, match=r"twice\.toml cites 'a', which another file here cites"):
        open_store(repository)


@pytest.mark.parametrize("text", [b"a = [", b"a = '\xff'", None])
def test_citations_that_cannot_be_read_are_named(text: bytes | None, repository: Path) -> None:
    """No TOML, no text, and no file at all."""
    path = repository / "results/cited" / "broken.toml"
    if text is None:
        path.mkdir()
    else:
        path.write_bytes(text)

    with pytest.raises(FigureError, match=r"can't read .*broken\.toml: "):
        open_store(repository)


@pytest.mark.parametrize(
    "text",
    ["{", '{"loops": {}}', '{"loops": {"families": [{"nobody": 1}], "needs": []}}', "[1]"],
)
def test_cases_that_are_damaged_say_what_writes_them(text: str, tmp_path: Path) -> None:
    """No JSON, and JSON that describes no case."""
    path = tmp_path / "cases.json"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(FigureError, match=r"cases\.json is damaged; write it again with `python"):
        read_catalogue(described=path)


def test_a_catalogue_that_is_not_there_is_named(tmp_path: Path) -> None:
    """As any file that can't be read."""
    with pytest.raises(FigureError, match=r"nowhere\.toml"):
        read_catalogue([tmp_path / "nowhere.toml"])
    with pytest.raises(FigureError, match=r"nowhere\.json"):
        read_catalogue(described=tmp_path / "nowhere.json")


def test_a_result_file_gives_what_it_has_and_when_the_last_part_was_measured(
    tmp_path: Path,
) -> None:
    """It lists each skipped part and its reason; a file without cases has no such time.

    Of an entry the given catalogue says at which sizes it was measured.
    """
    content = good()
    parts = content["cases"]["tiny_epoch"]
    parts["samples_200"]["finished"] = "2026-11-21T15:00Z"
    parts["late"] = {**part(), "finished": "2026-11-21T14:30Z", "skipped": "no GPU"}
    del parts["late"]["entries"]
    path = tmp_path / "cpu-2-cores" / "a.json"
    path.parent.mkdir()
    path.write_text(json.dumps(content), encoding="utf-8")

    found = read_result(path)

    assert content["provenance"] == found.provenance
    assert {"samples_100.cpu", "samples_200.cpu"} == found.cases["tiny_epoch"].keys()
    assert "cpu-2-cores/a.json" == found.file
    assert {"tiny_epoch": {"late": "no GPU"}} == found.skipped
    assert "2026-11-21T15:00Z" == found.finished

    others = {d.name: replace(d, member={"samples": 7}) for d in read_catalogue()}
    assert {"samples": 7} == read_result(path, others).cases["tiny_epoch"]["samples_100.cpu"].at

    path.write_text(json.dumps({**content, "cases": {}, "figures": {}}), encoding="utf-8")
    assert "" == read_result(path).finished


def test_a_result_file_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    """In the words of who reads it."""
    path = tmp_path / "a.json"
    path.write_text("{", encoding="utf-8")

    with pytest.raises(FigureError, match=r"a\.json is damaged"):
        read_result(path)


def test_a_file_that_names_a_contributor_is_none_of_ours(tmp_path: Path) -> None:
    """The sentence says where it belongs, and names the file."""
    path = tmp_path / "a.json"
    path.write_text(json.dumps({**good(), "contributor": "Ada"}), encoding="utf-8")

    with pytest.raises(FigureError, match=r"a\.json names a contributor, so it belongs below"):
        read_result(path)


def test_a_run_of_half_of_the_cases_is_a_partial_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """And one of more than half is preferred to it, however old it is."""
    monkeypatch.setattr(cases, "names", lambda: tuple("abcdef"))
    full = result({case: {} for case in "abcd"}, date="2026-11-19")
    half = result({case: {} for case in "abc"}, date="2026-11-20")
    newer = result({"a": {}})

    assert [full, newer, half] == sort_results([half, full, newer])


def test_a_version_of_pytorch_is_compared_by_its_numbers() -> None:
    """2.10 is newer than 2.9, and what has no number is older than both."""
    nightly, nine, ten = (
        replace(CPU_ONLY, provenance={**CPU_ONLY.provenance, "torch": torch})
        for torch in ("none", "2.9.1", "2.10.")
    )

    assert [ten, nine, nightly] == sort_results([nightly, ten, nine])


def test_of_one_version_and_day_the_last_minute_is_preferred() -> None:
    """What was read from no file has neither a minute nor a path, and comes last."""
    morning, evening = (replace(CPU_ONLY, finished=f"2026-11-21T{hour}:00Z") for hour in "89")

    assert [evening, morning, CPU_ONLY] == sort_results([CPU_ONLY, morning, evening])
    assert ("", {}, "") == (CPU_ONLY.file, CPU_ONLY.skipped, CPU_ONLY.finished)


def test_browsers_come_last_and_machines_by_name() -> None:
    """A browser's GPU is no CUDA GPU."""
    browser = Result(raced()["provenance"], {})
    b, a = (of_machine(name, "2026-11-20") for name in ("b", "a"))
    gpu = of_machine("z-gpu", "2026-11-20", gpu="A GPU")

    assert [gpu, a, b, browser] == sort_results([browser, b, gpu, a])
    assert [gpu, a, browser] == newest([gpu, a, b, browser], most=1)
