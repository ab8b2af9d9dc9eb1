"""Every figure that a page may name: where its value comes from, and the value.

``results/catalogue`` lists them. Nothing here imports PyTorch.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from lesson_code.forecast.cards import read_cards
from results import (
    cases,
    catalogue,
    forecasts,
    published,
    quantities,
    reader_card,
    recorded,
    result_file,
)
from results.catalogue import Definition
from results.changed import State, state_of
from results.entry import Entry
from results.summary import Estimate

CATALOGUE = Path("results/catalogue")
RESULTS = Path("benchmarks/results")
CASES = Path("results/cases.json")
CITATIONS = Path("results/cited")
PUBLISHED = "published."  # how the names of what others measured begin
FORECAST = f"{forecasts.PREFIX}."  # and those of what our formula gives
OUR_GPU = "measured.gpu"  # the name of the GPU that spoke for ours
NAMED_FIGURE = re.compile(r"\[\[[^\[\]\s]+\]\]")  # an argument that is another figure
FIXED = ("computed", "cited", "recorded")
NOT_COMPUTED = (ImportError, AttributeError, TypeError, ValueError, LookupError, ArithmeticError)
NOT_MEASURED = "not measured yet"
Kind = Literal["measured", "published", "forecast", "exact"]


class FigureError(ValueError):
    """An unknown name, or a catalogue, result file or citation list that can't be read."""


@dataclass(frozen=True)
class Result:
    """A result file.

    Attributes:
        provenance: Machine, software and date.
        cases: The entries of each case.
        file: Its path below ``benchmarks/results``.
        skipped: For each case the parts that were skipped, with the reason.
        finished: When the last part was measured, to the minute.
    """

    provenance: dict[str, Any]
    cases: dict[str, dict[str, Entry]]
    file: str = ""
    skipped: dict[str, dict[str, str]] = field(default_factory=dict)
    finished: str = ""

    @property
    def where(self) -> str:
        """One line that says where and when all of it was measured."""
        at = self.provenance
        gpu = f"{at['gpu']}, " if at["gpu"] else ""
        return (
            f"{gpu}{at['processor']}, {at['cores']} cores, {self.threads}, "
            f"{self.software}, {at['date']}"
        )

    @property
    def threads(self) -> str:
        """How many threads computed on the CPU, in words."""
        count = self.provenance["threads"]
        return "1 thread" if count == 1 else f"{count} threads"

    @property
    def in_browser(self) -> bool:
        """Whether a browser measured it, in a race."""
        return "engine" in self.provenance

    @property
    def software(self) -> str:
        """What computed: PyTorch, or what is in its place in a browser."""
        at = self.provenance
        return f"{at['engine']} in {at['system']}" if self.in_browser else f"PyTorch {at['torch']}"


@dataclass(frozen=True)
class Figure:
    """A figure, ready to be shown on a page.

    Attributes:
        name: Its name: in the catalogue, or of a published or forecast figure.
        what: What it is, in words.
        value: In its base unit; None if nobody knows it yet.
        text: What the page says: the value with its unit.
        source: Where it comes from, or what would measure it.
        kind: Measured by our job, published by others, forecast by our formula, or exact: counted
            or derived. Of a figure without a value, what it will be.
        noisy: Whether the measurement spread over more than 15 % of its median.
        low: The lower end of a forecast's band, in the base unit.
        high: Its upper end.
        band: Both ends, as a page says them; empty for everything but a forecast.
    """

    name: str
    what: str
    value: float | None
    text: str
    source: str
    kind: Kind = "measured"
    noisy: bool = False
    low: float | None = None
    high: float | None = None
    band: str = ""

    @property
    def known(self) -> bool:
        """Whether it has a value."""
        return self.value is not None


class Store:
    """The catalogue together with everything that fills it."""

    def __init__(
        self,
        definitions: Iterable[Definition],
        results: Iterable[Result] = (),
        citations: dict[str, dict[str, Any]] | None = None,
    ) -> None:
        """Keep the figures' definitions and their sources.

        Args:
            definitions: What the catalogue lists.
            results: Result files, the preferred ones first.
            citations: The citation list.
        """
        self.definitions = {definition.name: definition for definition in definitions}
        self.results = list(results)
        self.citations = citations or {}
        self._machines: dict[str | None, list[Result]] = {}
        self._measured: dict[str, Figure] = {}

    def machines(self, case: str | None = None) -> list[Result]:
        """The file that speaks for each machine, as ``one_a_machine`` says."""
        if case not in self._machines:
            self._machines[case] = one_a_machine(self.results, case)
        return self._machines[case]

    def only(self, in_browser: bool) -> "Store":
        """The same with the results of browsers alone, or of all that is none."""
        results = [result for result in self.results if result.in_browser == in_browser]
        return Store(self.definitions.values(), results, self.citations)

    def figure(self, name: str) -> Figure:
        """The figure of that name.

        Raises:
            FigureError: If the catalogue does not have it, or what it names is missing.
        """
        if name.startswith(PUBLISHED):
            return _published(name)
        if name == reader_card.NAME:
            return _first_card(name)
        if name == OUR_GPU:
            return self._our_gpu()
        if name.startswith(FORECAST):
            return _forecast(name)
        definition = self._definition(name)
        if definition.kind in FIXED:
            return self._fixed(definition)
        if name not in self._measured:
            self._measured[name] = self._from_results(definition)
        return self._measured[name]

    def _our_gpu(self) -> Figure:
        """The name of the GPU whose results pages say first."""
        for result in self.machines():
            if result.provenance["gpu"]:
                name = result.provenance["gpu"]
                return Figure(OUR_GPU, "our GPU", 0.0, name, result.where, "exact")
        needs = "`python -m benchmarks run` on a machine with a CUDA GPU measures it"
        return Figure(OUR_GPU, "our GPU", None, NOT_MEASURED, needs)

    def _from_results(self, definition: Definition) -> Figure:
        for result in self.machines(definition.case):
            estimate = catalogue.value_in(definition, result.cases)
            if estimate is not None:
                return _measured(definition, estimate, result)
        return _unmeasured(definition)

    def values(self, names: Iterable[str]) -> dict[str, float] | None:
        """The values of several figures, measured ones from one machine; None if none has all.

        Raises:
            FigureError: As ``figure``.
        """
        names = list(names)
        others = {name for name in names if name.startswith((PUBLISHED, FORECAST))}
        definitions = [self._definition(name) for name in names if name not in others]
        fixed = {name: self.figure(name) for name in others}
        fixed |= {d.name: self._fixed(d) for d in definitions if d.kind in FIXED}
        if any(figure.value is None for figure in fixed.values()):
            return None
        known = {name: figure.value for name, figure in fixed.items() if figure.value is not None}
        open_ones = [d for d in definitions if d.name not in fixed]
        if not open_ones:
            return known
        of_each = [self.machines(definition.case) for definition in open_ones]
        for files in zip(*of_each, strict=True):
            estimates = [
                catalogue.value_in(definition, result.cases)
                for definition, result in zip(open_ones, files, strict=True)
            ]
            found = [estimate.value for estimate in estimates if estimate is not None]
            if len(found) == len(open_ones):
                return known | dict(zip((d.name for d in open_ones), found, strict=True))
        return None

    def _definition(self, name: str) -> Definition:
        if name not in self.definitions:
            raise FigureError(
                f"there is no figure {name!r}; {catalogue.nearest(name, self.definitions)}"
                f"results/cases.json has what cases measure, and {CATALOGUE} all others"
            )
        return self.definitions[name]

    def _fixed(self, definition: Definition) -> Figure:
        """A figure that no benchmark gives."""
        if definition.kind == "computed":
            return self._computed(definition)
        if definition.kind == "cited":
            return self._cited(definition)
        return _recorded(definition)

    def _computed(self, definition: Definition) -> Figure:
        """What a function gives; from figures of another kind it is of that kind."""
        target = definition.fields["computed"]
        named, _, function = target.rpartition(":")
        module = named if named.startswith("results.") else f"lesson_code.{named or 'accounting'}"
        arguments = dict(definition.fields.get("arguments", {}))
        used = {key: self._argument(definition, value) for key, value in arguments.items()}
        figures = [figure for figure in used.values() if figure]
        arguments |= {key: figure.value for key, figure in used.items() if figure}
        try:
            value = getattr(import_module(module), function)(**arguments)
            text = quantities.write(value, definition.unit)
        except NOT_COMPUTED as problem:
            raise FigureError(
                f"{definition.name} cannot be computed by {target}: {problem}"
            ) from None
        source = f"computed by {function} in {module.replace('.', '/')}.py"
        kinds = {figure.kind for figure in figures} - {"exact"}
        if len(kinds) > 1:
            raise FigureError(f"{definition.name} mixes {' and '.join(sorted(kinds))} figures")
        if figures:
            source = f"our calculation, {source}, from {'; '.join(f.source for f in figures)}"
        kind = kinds.pop() if kinds else "exact"
        return Figure(definition.name, definition.what, float(value), text, source, kind)

    def _argument(self, definition: Definition, value: object) -> Figure | None:
        """The figure that an argument names by ``[[name]]``; none for anything else."""
        if not isinstance(value, str) or NAMED_FIGURE.fullmatch(value) is None:
            return None
        figure = self.figure(value[2:-2])
        if figure.value is None:
            raise FigureError(f"{definition.name} is computed from {value}, which has no value")
        return figure

    def _cited(self, definition: Definition) -> Figure:
        key = definition.fields["cited"]
        if key not in self.citations:
            raise FigureError(f"{CITATIONS} has no entry {key!r}; {definition.name} cites it")
        entry = self.citations[key]
        # ``text`` keeps the digits of a source that gives more than we would write
        text = entry.get("text") or quantities.write(entry["value"], entry["unit"])
        source = entry["source"]
        if "url" in entry:  # what somebody quotes without naming its edition has none
            source = f"{source}, {entry['url']}, read on {entry['date']}"
        return Figure(definition.name, definition.what, entry["value"], text, source, "published")


def _forecast(name: str) -> Figure:
    """What a counted step takes on a card; memory is counted, and so exact."""
    try:
        found = forecasts.figure(reader_card.on_card(name, reader_card.FIRST))
    except forecasts.ForecastError as problem:
        raise FigureError(str(problem)) from None
    if found.low == found.high:
        return Figure(name, found.what, found.value, found.text, found.source, "exact")
    return Figure(
        *(name, found.what, found.value, found.text, found.source, "forecast"),
        low=found.low,
        high=found.high,
        band=quantities.write_band(found.low, found.high, found.unit),
    )


def _first_card(name: str) -> Figure:
    """The name of the card for which the site is written until the reader chooses theirs."""
    card = read_cards()[reader_card.FIRST].name
    return Figure(name, "the card", 0.0, card, "chosen by the reader", "exact")


def _published(name: str) -> Figure:
    try:
        known = published.read()
    except published.PublishedError as problem:
        raise FigureError(str(problem)) from problem
    found = known.get(name.removeprefix(PUBLISHED))
    if found is None:
        near = catalogue.nearest(name, [f"{PUBLISHED}{id}" for id in known])
        raise FigureError(
            f"{name!r} is not published; {near}results/published/topics lists what is"
        )
    return Figure(name, found.what, found.value, found.text, found.provenance, "published")


def _measured(definition: Definition, estimate: Estimate, result: Result) -> Figure:
    text = quantities.write(estimate.value, definition.unit, estimate.spread)
    source = f"{_detail(definition, estimate)}; {result.where}"
    if estimate.noisy:
        source = (
            "noisy, the middle half of the runs spreads over more than "
            f"15{quantities.SPACE}% of the median; {source}"
        )
    return Figure(
        definition.name, definition.what, estimate.value, text, source, noisy=estimate.noisy
    )


def _detail(definition: Definition, estimate: Estimate) -> str:
    """How a value was found, in a few words."""
    if definition.kind != "measured":
        return "computed from medians of one run"
    low, high = quantities.write_range(
        estimate.smallest, estimate.largest, definition.unit, estimate.value, estimate.spread
    )
    runs = "1 run" if estimate.samples == 1 else f"{estimate.samples} runs, {low} to {high}"
    return f"{definition.fields.get('statistic', 'median')} of {runs}"


def _unmeasured(definition: Definition) -> Figure:
    if definition.kind == "planned":
        needs = f"{definition.fields['planned']} will measure it"
    elif definition.in_browser:
        needs = "the race on the page “Race your GPU” measures it, in a reader’s browser"
    else:
        on = " on a machine with a CUDA GPU" if definition.on_gpu else ""
        cases = " ".join(f"--case {case}" for case in definition.needs)
        needs = f"`python -m benchmarks run {cases}`{on} measures it"
    return Figure(definition.name, definition.what, None, NOT_MEASURED, needs)


def _recorded(definition: Definition) -> Figure:
    target = definition.fields["recorded"]
    try:
        recording = recorded.read(target)
    except recorded.RecordingError as problem:
        raise FigureError(str(problem)) from problem
    if recording is None:
        needs = f"`python -m lesson_site record {target}` records it"
        return Figure(definition.name, definition.what, None, NOT_MEASURED, needs)
    value = recording.data
    try:
        for step in definition.fields["at"]:
            value = value[step]
        spread = recording.spread(definition.fields["at"])
        text = quantities.write(value, definition.unit, spread)
    except (LookupError, TypeError, ValueError, OverflowError) as problem:
        way = " / ".join(str(step) for step in definition.fields["at"])
        raise FigureError(
            f"the recording of {target} has no number at {way} ({problem!r})"
        ) from None
    exact = definition.fields.get("exact")
    if exact and spread:
        raise FigureError(f"{definition.name} is said to be exact, and its recording moved")
    source = recording.caption.removesuffix(".")
    kind: Kind = "exact" if exact else "measured"
    return Figure(definition.name, definition.what, value, text, source, kind)


def open_store(root: Path = Path()) -> Store:
    """The store as the files under ``root`` have it now; read again only after one has changed.

    Raises:
        FigureError: If one of them can't be read.
    """
    files = [
        *sorted((root / CITATIONS).glob("*.toml")),
        *catalogue.paths(root / CATALOGUE),
        root / CASES,
        *sorted((root / RESULTS).glob("*/*.json")),
    ]
    try:
        state = state_of(files)
    except OSError as problem:
        raise FigureError(f"can't read {problem.filename}: {problem.strerror}") from None
    return _read(state)


@lru_cache(maxsize=2)
def _read(state: State) -> Store:
    files = [file for file, _, _ in state]
    cited = [file for file in files if file.parent.name == CITATIONS.name]
    listed = [file for file in files if file.suffix == ".toml" and file not in cited]
    results = [file for file in files if file.suffix == ".json" and file.name != CASES.name]
    [described] = [file for file in files if file.name == CASES.name]
    definitions = read_catalogue(listed, described)
    named = {definition.name: definition for definition in definitions}
    found = sort_results(read_result(file, named) for file in results)
    return Store(definitions, found, _citations(cited))


def read_catalogue(
    files: Iterable[Path] | None = None, described: Path = cases.FILE
) -> list[Definition]:
    """The catalogue.

    Args:
        files: What lists figures; those in this repository by default.
        described: What says what the cases measure.

    Raises:
        FigureError: If it can't be read, or one of its entries can't be used.
    """
    try:
        return catalogue.read(files, cases.read(described))
    except (catalogue.CatalogueError, OSError) as problem:
        raise FigureError(str(problem)) from None
    except (ValueError, TypeError, LookupError, AttributeError):
        raise FigureError(
            f"{described} is damaged; write it again with `python -m benchmarks describe`"
        ) from None


def _citations(files: Iterable[Path]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for file in files:
        entries = _read_toml(file)
        twice = found.keys() & entries.keys()
        if twice:
            raise FigureError(f"{file} cites {min(twice)!r}, which another file here cites too")
        found |= entries
    return found


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise FigureError(f"can't read {path}: {problem}") from None


def read_result(path: Path, definitions: Mapping[str, Definition] | None = None) -> Result:
    """A result file, checked as `python -m benchmarks validate` does.

    Args:
        path: The file.
        definitions: The catalogue by name; the one in this repository by default.

    Raises:
        FigureError: If anything is wrong with it.
    """
    try:
        content = result_file.read(path, definitions)
    except result_file.BadResultError as problem:
        raise FigureError(str(problem)) from None
    if "contributor" in content:
        raise FigureError(
            f"{path} names a contributor, so it belongs below benchmarks/contributed; take the "
            "name out only if you answer for its numbers"
        )
    return Result(
        content["provenance"],
        result_file.entries_of(content, definitions),
        f"{path.parent.name}/{path.name}",
        {name: skipped_of(parts) for name, parts in content["cases"].items()},
        max(
            (part["finished"] for of in content["cases"].values() for part in of.values()),
            default="",
        ),
    )


def skipped_of(parts: dict[str, dict[str, Any]]) -> dict[str, str]:
    """The reason of each part of a case that was skipped."""
    return {name: part["skipped"] for name, part in parts.items() if "skipped" in part}


def sort_results(results: Iterable[Result]) -> list[Result]:
    """Machines with a GPU first, then by name, then browsers; each one's preferred files first.

    Preferred is a run of most cases over one of a few, then the newer PyTorch, then the later day
    and minute: a partial run never stands for what a full one says. Quick ones are left out.
    """
    kept = [result for result in results if not result.provenance["quick"]]
    kept.sort(key=_version_and_day, reverse=True)
    kept.sort(key=lambda result: len(result.cases) > len(cases.names()) / 2, reverse=True)
    kept.sort(key=_rank)
    return kept


def _version_and_day(result: Result) -> tuple[tuple[int, ...], str, str]:
    at = result.provenance
    release = re.sub(r"[^\d.].*", "", at["torch"])
    version = tuple(int(part) for part in release.split(".") if part)
    return version, at["date"], result.finished


def _rank(result: Result) -> tuple[bool, bool, str]:
    at = result.provenance
    return result.in_browser, at["gpu"] is None, at["machine"]


def one_a_machine(results: Iterable[Result], case: str | None = None) -> list[Result]:
    """The file that speaks for each machine, for pages, charts, tables and claims alike.

    Cases that are compared come from one file: of a machine's files it is the first of those with
    the most cases of the group, so that a run of one case alone is never beside older numbers
    of the others. A machine that measured nothing of it has its first file here.

    Args:
        results: Result files, the preferred ones of each machine first.
        case: A case; None for the first file of each machine.
    """
    group = () if case is None else cases.together(case)
    found: dict[str, Result] = {}
    for result in results:
        first = found.setdefault(result.provenance["machine"], result)
        if _measured_of(group, result) > _measured_of(group, first):
            found[result.provenance["machine"]] = result
    return list(found.values())


def newest(results: Iterable[Result], most: int) -> list[Result]:
    """Of each kind of machine the ``most`` that were measured last, in the order they came.

    Kinds are machines with a GPU, without one, and browsers. A page that showed every machine
    would grow with each of them.
    """
    results = list(results)
    by_day = sorted(results, key=lambda result: result.provenance["date"], reverse=True)
    kept: dict[tuple[bool, bool], list[str]] = {}
    for result in by_day:
        of_its_kind = kept.setdefault(_rank(result)[:2], [])
        if len(of_its_kind) < most:
            of_its_kind.append(result.provenance["machine"])
    return [one for one in results if one.provenance["machine"] in kept[_rank(one)[:2]]]


def _measured_of(group: Iterable[str], result: Result) -> int:
    return sum(bool(result.cases.get(case)) for case in group)
