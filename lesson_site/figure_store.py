"""Every figure that a page may name: where its value comes from, and the value.

``benchmarks/catalogue.toml`` lists them. Nothing here imports PyTorch.
"""

import itertools
import json
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from lesson_code import accounting
from lesson_site import derived, quantities, recordings
from lesson_site.derived import Estimate

CATALOGUE = Path("benchmarks/catalogue.toml")
RESULTS = Path("benchmarks/results")
CITATIONS = Path("lesson_site/citations.toml")
KINDS = ("measured", "ratio", "share", "sweep", "recorded", "computed", "cited", "planned")
NOT_MEASURED = "not measured yet"


class FigureError(ValueError):
    """An unknown name, or a catalogue, result file or citation list that can't be read."""


@dataclass(frozen=True)
class Definition:
    """An entry of the catalogue.

    Attributes:
        name: What pages write between the brackets.
        what: What it is, in words.
        kind: One of ``KINDS``: how its value is found.
        unit: How it is written.
        fields: Everything else that its kind needs.
    """

    name: str
    what: str
    kind: str
    unit: str
    fields: dict[str, Any]


@dataclass(frozen=True)
class Result:
    """A result file.

    Attributes:
        provenance: Machine, software and date.
        cases: The entries of each case.
    """

    provenance: dict[str, Any]
    cases: dict[str, dict[str, dict[str, Any]]]

    @property
    def where(self) -> str:
        """One line that says where and when all of it was measured."""
        at = self.provenance
        gpu = f"{at['gpu']}, " if at["gpu"] else ""
        threads = "1 thread" if at["threads"] == 1 else f"{at['threads']} threads"
        return (
            f"{gpu}{at['processor']}, {at['cores']} cores, {threads}, "
            f"PyTorch {at['torch']}, {at['date']}"
        )

    def estimate(self, target: str, statistic: str = "median") -> Estimate | None:
        """The entry that ``"case:entry"`` names, or None if this file does not have it."""
        case, _, name = target.partition(":")
        entry = self.cases.get(case, {}).get(name)
        return None if entry is None else derived.estimate(entry, statistic)


@dataclass(frozen=True)
class Figure:
    """A figure, ready to stand on a page.

    Attributes:
        name: Its name in the catalogue.
        what: What it is, in words.
        value: In its base unit; None if it is not known.
        text: What the page says: the value with its unit, or "not measured yet".
        source: Where it comes from, or what would measure it.
        measured: Whether there is a value.
        noisy: Whether the measurement spread over more than 15 % of its median.
    """

    name: str
    what: str
    value: float | None
    text: str
    source: str
    measured: bool = True
    noisy: bool = False


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

    def figure(self, name: str) -> Figure:
        """The figure of that name.

        Raises:
            FigureError: If the catalogue does not have it, or what it names is missing.
        """
        definition = self._definition(name)
        if definition.kind in ("computed", "cited", "recorded"):
            return self._fixed(definition)
        for result in self.results:
            estimate = _from_result(definition, result)
            if estimate is not None:
                return _measured(definition, estimate, result)
        return _unmeasured(definition)

    def values(self, names: Iterable[str]) -> dict[str, float] | None:
        """The values of several figures, all measured ones from one file; None if no file has all.

        Raises:
            FigureError: As ``figure``.
        """
        definitions = [self._definition(name) for name in names]
        fixed = {
            d.name: self._fixed(d)
            for d in definitions
            if d.kind in ("computed", "cited", "recorded")
        }
        if any(figure.value is None for figure in fixed.values()):
            return None
        known = {name: figure.value for name, figure in fixed.items() if figure.value is not None}
        open_ones = [d for d in definitions if d.name not in fixed]
        if not open_ones:
            return known
        for result in self.results:
            estimates = [_from_result(definition, result) for definition in open_ones]
            found = [estimate.value for estimate in estimates if estimate is not None]
            if len(found) == len(open_ones):
                return known | dict(zip((d.name for d in open_ones), found, strict=True))
        return None

    def result_for(self, *case_names: str) -> Result | None:
        """The preferred result file that holds all of these cases."""
        return next((r for r in self.results if all(case in r.cases for case in case_names)), None)

    def _definition(self, name: str) -> Definition:
        if name not in self.definitions:
            raise FigureError(
                f"there is no figure {name!r}; {CATALOGUE} lists those that there are"
            )
        return self.definitions[name]

    def _fixed(self, definition: Definition) -> Figure:
        """A figure that no benchmark gives."""
        if definition.kind == "computed":
            return _computed(definition)
        if definition.kind == "cited":
            return self._cited(definition)
        return _recorded(definition)

    def _cited(self, definition: Definition) -> Figure:
        key = definition.fields["cited"]
        if key not in self.citations:
            raise FigureError(f"{CITATIONS} has no entry {key!r}; {definition.name} cites it")
        entry = self.citations[key]
        text = quantities.write(entry["value"], entry["unit"])
        source = f"{entry['source']}, {entry['url']}, read on {entry['date']}"
        return Figure(definition.name, definition.what, entry["value"], text, source)


def _from_result(definition: Definition, result: Result) -> Estimate | None:
    """The value of a measured or derived figure in one result file, if it is there."""
    fields = definition.fields
    if definition.kind == "measured":
        return result.estimate(fields["measured"], fields.get("statistic", "median"))
    if definition.kind in ("ratio", "share"):
        first, second = (result.estimate(target) for target in fields[definition.kind])
        if first is None or second is None:
            return None
        return (
            derived.ratio(first, second)
            if definition.kind == "ratio"
            else derived.share(first, second)
        )
    if definition.kind == "sweep":
        cells = derived.sweep_cells(result.cases.get("step_sweep", {}))
        value = getattr(derived, fields["sweep"])(cells, **fields.get("arguments", {}))
        return None if value is None else Estimate(value, detail="from the sweep's medians")
    return None


def _measured(definition: Definition, estimate: Estimate, result: Result) -> Figure:
    text = quantities.write(estimate.value, definition.unit, estimate.spread)
    source = f"{estimate.detail}; {result.where}"
    if estimate.noisy:
        source = (
            f"noisy, the runs spread over more than 15{quantities.SPACE}% of the median; {source}"
        )
    return Figure(
        definition.name, definition.what, estimate.value, text, source, noisy=estimate.noisy
    )


def _unmeasured(definition: Definition) -> Figure:
    fields = definition.fields
    if definition.kind == "planned":
        needs = f"{fields['planned']} will measure it"
    else:
        targets = fields.get(definition.kind)
        targets = [targets] if isinstance(targets, str) else list(targets or [])
        case = "step_sweep" if definition.kind == "sweep" else targets[0].partition(":")[0]
        gpu = definition.kind == "sweep" or any("cuda" in target for target in targets)
        on = " on a machine with a CUDA GPU" if gpu else ""
        needs = f"`python -m benchmarks run --case {case}`{on} measures it"
    return Figure(definition.name, definition.what, None, NOT_MEASURED, needs, measured=False)


def _computed(definition: Definition) -> Figure:
    function = definition.fields["computed"]
    value = getattr(accounting, function)(**definition.fields["arguments"])
    text = quantities.write(value, definition.unit)
    source = f"computed by {function} in lesson_code/accounting.py"
    return Figure(definition.name, definition.what, float(value), text, source)


def _recorded(definition: Definition) -> Figure:
    target = definition.fields["recorded"]
    try:
        recording = recordings.read(target)
    except recordings.RecordingError as problem:
        raise FigureError(str(problem)) from problem
    if recording is None:
        needs = f"`python -m lesson_site record {target}` records it"
        return Figure(definition.name, definition.what, None, NOT_MEASURED, needs, measured=False)
    value = recording.data
    try:
        for step in definition.fields["at"]:
            value = value[step]
        text = quantities.write(value, definition.unit)
    except (KeyError, IndexError, TypeError, ValueError) as problem:
        way = " / ".join(str(step) for step in definition.fields["at"])
        raise FigureError(
            f"the recording of {target} has no number at {way} ({problem!r})"
        ) from None
    source = recording.caption.removesuffix(".")
    return Figure(definition.name, definition.what, value, text, source)


def open_store(root: Path = Path()) -> Store:
    """The store as the files under ``root`` have it now; read again only after one has changed.

    Raises:
        FigureError: If one of them can't be read.
    """
    files = [root / CATALOGUE, root / CITATIONS, *sorted((root / RESULTS).glob("*/*.json"))]
    try:
        state = tuple((file, file.stat().st_mtime_ns, file.stat().st_size) for file in files)
    except OSError as problem:
        raise FigureError(f"can't read {problem.filename}: {problem.strerror}") from None
    return _read(state)


@lru_cache(maxsize=2)
def _read(state: tuple[tuple[Path, int, int], ...]) -> Store:
    catalogue, citations, *results = (file for file, _, _ in state)
    return Store(
        read_catalogue(catalogue), sort_results(map(read_result, results)), _read_toml(citations)
    )


def read_catalogue(path: Path) -> list[Definition]:
    """Every figure of a catalogue, families spelled out.

    Raises:
        FigureError: If an entry is incomplete or a name is listed twice.
    """
    definitions = [
        definition
        for name, fields in _read_toml(path).get("figure", {}).items()
        for definition in _family(path, name, fields)
    ]
    names = [definition.name for definition in definitions]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise FigureError(f"{path} lists {twice!r} twice; remove one of them")
    return definitions


def _family(path: Path, name: str, fields: dict[str, Any]) -> list[Definition]:
    """One definition for each combination of the lists that the name's braces refer to."""
    kinds = [kind for kind in KINDS if kind in fields]
    if len(kinds) != 1 or "what" not in fields:
        raise FigureError(f"{path}: {name!r} needs `what` and exactly one of {', '.join(KINDS)}")
    [kind] = kinds
    unit = fields.get("unit", {"ratio": "times", "share": "percent"}.get(kind, "plain"))
    if unit not in quantities.UNITS:
        raise FigureError(f"{path}: {name!r} has the unit {unit!r}, which is unknown")
    lists = {key: values for key, values in fields.items() if f"{{{key}}}" in name}
    result = []
    for combination in itertools.product(*lists.values()):
        member = dict(zip(lists, combination, strict=True))
        filled = {key: _fill(value, member) for key, value in fields.items() if key not in lists}
        result.append(Definition(name.format(**member), filled["what"], kind, unit, filled))
    return result


def _fill(value: Any, member: dict[str, Any]) -> Any:
    if isinstance(value, str):
        return value.format(**member)
    return [_fill(part, member) for part in value] if isinstance(value, list) else value


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise FigureError(f"can't read {path}: {problem}") from None


def read_result(path: Path) -> Result:
    """A result file; `python -m benchmarks validate` checks it more closely.

    Raises:
        FigureError: If it is damaged.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        result = Result(
            content["provenance"],
            {name: case["entries"] for name, case in content["cases"].items()},
        )
        _ = result.where, result.provenance["quick"]  # a damaged file fails here, not on a page
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as problem:
        raise FigureError(
            f"{path} is damaged ({problem!r}); `python -m benchmarks validate {path}` says where"
        ) from None
    return result


def sort_results(results: Iterable[Result]) -> list[Result]:
    """Machines with a GPU first, then by name, the newest file of each first, and no quick runs."""
    kept = [result for result in results if not result.provenance["quick"]]
    kept.sort(key=lambda result: result.provenance["date"], reverse=True)
    kept.sort(key=lambda result: (result.provenance["gpu"] is None, result.provenance["machine"]))
    return kept
