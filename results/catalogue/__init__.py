"""The figures that pages may name, and the value that a result file gives them.

Every entry that a case can measure has one, and so has what it works through in a second: the case
says what it is called, see ``results/cases.py``. All others are listed in the ``*.toml`` here, for
one part of the site each. A figure says what it is and, by exactly one key, where its value comes
from:

    measured    an entry of a case, "case:entry"; by default its median, or statistic = "largest" …
    ratio       one measured entry divided by another of the same file
    share       the same in percent
    saving      what the first saves against the second, in percent of the second
    difference  the first minus the second
    rate        what one measured entry works through in a second: FLOP, bytes or samples
    derived     a function of results/derived.py over the case that ``case`` names
    recorded    a value in what a recorded snippet returned: "module:function" and the way to it;
                with ``exact`` one that it counts, and that is the same on every machine
    computed    a function of lesson_code/accounting.py with its arguments, or of another module
                of lesson_code that needs no PyTorch, "mission.worked:parameters", or of
                results: "results.accuracy:median_error". An argument "[[name]]" is that figure's
                value, and what is computed from a published one counts as published
    cited       an entry of results/cited
    planned     nothing measures it yet: what will

``unit`` says how the value is written. A name with {braces} stands for one figure for each
combination of the lists beside it; ``words`` gives what ``what`` says of a member.
"""

import itertools
import math
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from results import cases, derived, quantities
from results.cases import Case, Family
from results.changed import State, state_of
from results.derived import Entries
from results.summary import Estimate, difference, ratio, saving, share

FOLDER = Path(__file__).parent
NOTHING: Mapping[str, Case] = {}
PAIRS = {"ratio": ratio, "share": share, "saving": saving, "difference": difference}
FROM_RESULTS = ("measured", "rate", *PAIRS, "derived")
KINDS = (*FROM_RESULTS, "recorded", "computed", "cited", "planned")
UNIT_OF = {"ratio": "times", "share": "percent", "saving": "percent"}
STATISTICS = ("median", "smallest", "largest")
NAME = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)*")
TARGET = re.compile(r"[a-z0-9_]+:[a-z0-9_.-]+")


class CatalogueError(ValueError):
    """An entry of the catalogue that can't be used; the message names the file and the entry."""


@dataclass(frozen=True)
class Definition:
    """An entry of the catalogue.

    Attributes:
        name: What pages write between the brackets.
        what: What it is, in words.
        kind: One of ``KINDS``: how its value is found.
        unit: How it is written.
        fields: Everything else that its kind needs.
        family: The name of its family, braces and all; its own name if it is alone.
        family_what: What the family is, in words, braces and all.
        member: What is in place of the braces.
        devices: Where the entries ran that it needs.
        in_browser: Whether the race in a reader's browser gives it, and no job.
    """

    name: str
    what: str
    kind: str
    unit: str
    fields: dict[str, Any]
    family: str = ""
    family_what: str = ""
    member: dict[str, Any] = field(default_factory=dict)
    devices: tuple[str, ...] = ()
    in_browser: bool = False

    @property
    def targets(self) -> list[str]:
        """The measured entries that it needs, as ``case:entry``; none for other kinds."""
        if self.kind in ("measured", "rate"):
            return [self.fields[self.kind]]
        return list(self.fields[self.kind]) if self.kind in PAIRS else []

    @property
    def on_gpu(self) -> bool:
        """Whether it takes a CUDA GPU."""
        return "cuda" in self.devices

    @property
    def needs(self) -> tuple[str, ...]:
        """What has to be measured in one run: its case, or all that it is derived from."""
        if self.case is None:
            return ()
        return cases.together(self.case) if self.kind == "derived" else (self.case,)

    @cached_property
    def case(self) -> str | None:
        """The case that measures it; None if no case does."""
        if self.kind == "derived":
            return str(self.fields["case"])
        return self.targets[0].partition(":")[0] if self.targets else None


def value_in(definition: Definition, entries: Entries) -> Estimate | None:
    """The value that one result file gives a figure, or None if it lacks what is needed.

    Args:
        definition: The figure.
        entries: The file's measured entries, by case and name.
    """
    if definition.kind == "derived":
        function = derived.FUNCTIONS[definition.fields["derived"]]
        value = function(entries, **definition.fields.get("arguments", {}))
        if value is None or isinstance(value, Estimate):
            return value
        return Estimate(float(value))
    found = []
    for target in definition.targets:
        case, _, name = target.partition(":")
        entry = entries.get(case, {}).get(name)
        if entry is None:
            return None
        found.append(entry)
    if not found:
        return None
    if definition.kind == "measured":
        return found[0].estimate(definition.fields.get("statistic", "median"))
    if definition.kind == "rate":
        return found[0].rate()
    try:
        value_of_pair = PAIRS[definition.kind](*(entry.estimate() for entry in found))
    except ZeroDivisionError:  # a zero below the line
        return None
    return value_of_pair if math.isfinite(value_of_pair.value) else None


def figures_of(definitions: Iterable[Definition], entries: Entries) -> dict[str, Estimate]:
    """Every figure that one result file gives, by name."""
    found = {d.name: value_in(d, entries) for d in definitions}
    return {name: value for name, value in found.items() if value is not None}


def paths(folder: Path = FOLDER) -> list[Path]:
    """The files of the catalogue."""
    return sorted(folder.glob("*.toml"))


class _Same:
    """A mapping that is equal to itself alone, so that it can be a key."""

    def __init__(self, of: Mapping[str, Case]) -> None:
        self.of = of

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.of is other.of

    def __hash__(self) -> int:
        return id(self.of)


def read(
    files: Iterable[Path] | None = None, declared: Mapping[str, Case] | None = None
) -> list[Definition]:
    """Every figure of the catalogue, families spelled out; read again only after a change.

    Args:
        files: What lists figures; the files here by default.
        declared: What the cases measure; ``results/cases.json`` by default, nothing beside files.

    Raises:
        CatalogueError: If a file can't be read, an entry is incomplete, or a name is listed twice.
    """
    if files is None:
        files, declared = paths(), declared or cases.read()
    try:
        state = state_of(files)
    except OSError as problem:
        raise CatalogueError(f"can't read {problem.filename}: {problem}") from None
    return [*_read(state, _Same(NOTHING if declared is None else declared))]


@lru_cache(maxsize=4)
def _read(state: State, of: _Same) -> tuple[Definition, ...]:
    declared = of.of
    definitions = {
        definition.name: definition
        for case, of in declared.items()
        for family in of.families
        for definition in _of_entries(case, family)
    }
    entries = {
        f"{case}:{name}": None
        for case, of in declared.items()
        for family in of.families
        for name in family.names()
    }
    for path, _, _ in state:
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as problem:
            raise CatalogueError(f"can't read {path}: {problem}") from None
        listed = content.get("figure", {})
        if not isinstance(listed, dict):
            raise CatalogueError(f'{path}: lists each figure as [figure."its name"]')
        for name, fields in listed.items():
            try:
                family = _family(name, fields)
                _check_entries(family, entries)
            except CatalogueError as problem:
                raise CatalogueError(f"{path}: {name!r} {problem}") from None
            for definition in family:
                if definition.name in definitions:
                    raise CatalogueError(
                        f"{path} lists {definition.name!r}, which is listed already; "
                        "remove one of them"
                    )
                definitions[definition.name] = definition
    ran = {d.targets[0]: d for d in definitions.values() if d.devices}
    return tuple(_placed(definition, ran) for definition in definitions.values())


def nearest(name: str, known: Iterable[str]) -> str:
    """The names that somebody who wrote ``name`` may have meant, in words; empty without any."""
    near = get_close_matches(name, known, 3)
    return f"near it are {', '.join(near)}; " if near else ""


def _of_entries(case: str, family: Family) -> Iterator[Definition]:
    """The figures of what a family measures: each entry's, and what it does in a second."""
    fields = {
        "what": family.what,
        "words": family.words,
        **{name: list(members) for name, members in family.at.items()},
    }
    figure = f"{case}.{family.name}" if family.figure is None else family.figure
    found = []
    if figure:
        measured = {"measured": f"{case}:{family.name}", "unit": family.unit}
        found += _family(figure, fields | measured)
    if family.rate:
        name = f"{figure}_rate" if family.rate_figure is None else family.rate_figure
        rate = f"{family.counts} a second in" if family.counts else "rate of"
        what = f"{rate} {family.what}" if figure else family.what
        rated = {"rate": f"{case}:{family.name}", "unit": family.rate, "what": what}
        found += _family(name, fields | rated)
    for definition in found:
        yield replace(definition, devices=(family.device,), in_browser=family.browser)


def _placed(definition: Definition, ran: Mapping[str, Definition]) -> Definition:
    """The same with where its entries ran; what is derived compares the two devices, if not one."""
    if definition.devices or definition.kind not in FROM_RESULTS:
        return definition
    targets = definition.targets
    if definition.kind == "derived":
        arguments = definition.fields.get("arguments", {})
        if "device" in arguments:
            return replace(definition, devices=(arguments["device"],))
        targets = [f"{definition.case}:{arguments.get('entry', arguments.get('rung'))}"]
    found = dict.fromkeys(d for target in targets if target in ran for d in ran[target].devices)
    return replace(definition, devices=tuple(found) or ("cpu", "cuda"))


def _family(name: str, fields: dict[str, Any]) -> list[Definition]:
    """One definition for each combination of the lists that the name's braces refer to."""
    if not isinstance(fields, dict):
        raise CatalogueError("is not a table of fields")
    kinds = [kind for kind in KINDS if kind in fields]
    if not isinstance(fields.get("what", ""), str) or not isinstance(fields.get("words", {}), dict):
        raise CatalogueError("needs text in `what`, and a table in `words`")
    if len(kinds) != 1 or "what" not in fields:
        raise CatalogueError(f"needs `what` and exactly one of {', '.join(KINDS)}")
    [kind] = kinds
    unit = fields.get("unit", UNIT_OF.get(kind, "plain"))
    lists = {key: values for key, values in fields.items() if f"{{{key}}}" in name}
    if not all(isinstance(values, list) for values in lists.values()):
        raise CatalogueError("needs a list for each name in its braces")
    result = []
    for combination in itertools.product(*lists.values()):
        member = dict(zip(lists, combination, strict=True))
        try:
            filled = {
                key: _fill(value, member) for key, value in fields.items() if key not in lists
            }
            full_name = name.format(**member)
            words = fields.get("words", {})
            filled["what"] = fields["what"].format(
                **{key: words.get(str(value), value) for key, value in member.items()}
            )
        except (LookupError, ValueError) as problem:
            raise CatalogueError(f"has braces that no list fills ({problem})") from None
        definition = Definition(
            full_name, filled["what"], kind, unit, filled, name, fields["what"], member
        )
        _check(definition)
        result.append(definition)
    return result


def _check(definition: Definition) -> None:
    """Raise ``CatalogueError`` if the figure could not be computed or written."""
    fields = definition.fields
    if not NAME.fullmatch(definition.name):
        raise CatalogueError("may hold small letters, digits, underscores and dots only")
    if definition.unit not in quantities.UNITS:
        raise CatalogueError(
            f"has the unit {definition.unit!r}, which is none of {', '.join(quantities.UNITS)}"
        )
    if definition.unit != UNIT_OF.get(definition.kind, definition.unit):
        raise CatalogueError(
            f"is a {definition.kind}, which is written in {UNIT_OF[definition.kind]}; "
            "leave `unit` out"
        )
    if definition.kind in PAIRS and len(definition.targets) != 2:
        raise CatalogueError(f"needs two entries in `{definition.kind}`")
    if not all(TARGET.fullmatch(str(target)) for target in definition.targets):
        raise CatalogueError('names its entries as "case:entry"')
    if fields.get("statistic", "median") not in STATISTICS:
        raise CatalogueError(f"needs one of {', '.join(STATISTICS)} as its statistic")
    if definition.kind == "derived" and fields["derived"] not in derived.FUNCTIONS:
        raise CatalogueError("names no function of results/derived.py")
    if definition.kind == "derived" and "case" not in fields:
        raise CatalogueError("needs `case`: which one measures what it is derived from")


def _check_entries(family: list[Definition], entries: Mapping[str, None]) -> None:
    """Raise ``CatalogueError`` if no case measures what a figure names; without cases nothing."""
    for target in (target for definition in family for target in definition.targets if entries):
        if target not in entries:
            raise CatalogueError(
                f"names the entry {target!r}, which no case measures; "
                f"{nearest(target, entries)}results/cases.json has them all"
            )


def _fill(value: Any, member: dict[str, Any]) -> Any:
    if isinstance(value, str):
        return value.format(**member)
    if isinstance(value, dict):
        return {key: _fill(part, member) for key, part in value.items()}
    return [_fill(part, member) for part in value] if isinstance(value, list) else value
