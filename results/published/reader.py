"""Reading the published figures: every record is checked, and a bad one named with its line."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any, get_args

from results.changed import state_of
from results.published import tables
from results.published.figure import (
    RATIOS,
    How,
    Published,
    Quantity,
    Source,
    as_printed,
    divided,
    step_time,
)
from results.quantities import write

FOLDER = Path(__file__).parent
SETTING = ("card", "software", "model", "batch", "format", "layout", "setting")
TABLE_FIELDS = (*SETTING, "label")  # what may make the rows and columns of a table
SHARED = (*TABLE_FIELDS, "quantity", "how", "base", "caveat", "source")
WAYS_OBTAINED: tuple[How, ...] = get_args(How)
WAYS = ("value", "of", "per_second", "table")
COMPUTED = ("by", "way", "examples", "statistic", "column", "where", "unit")
ROW = ("id", *WAYS, "unitless", *COMPUTED, *SHARED)
COUNTED = ("table", "column", "unit")  # what all figures of a group may be counted over
GROUP = ("id", "title", "rows", "columns", "figures", "divide", *COUNTED, *SHARED)
SOURCE = ("who", "title", "address", "published", "read", "licence", "single_user")
NAME = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)*")
DAY = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")
IN_REPOSITORY = re.compile(r"https://github\.com/[^/]+/[^/]+/(?:blob|tree|raw)/(?P<commit>[^/]+)/")
COMMIT = re.compile(r"[0-9a-f]{40}")


class PublishedError(ValueError):
    """A published figure or source that can't be used; the message says where and why."""


@dataclass(frozen=True)
class Group:
    """Figures of one source and one setting, which make a table.

    Attributes:
        id: What its figures' ids begin with.
        title: What the table shows.
        rows: The field whose values are the rows.
        columns: The field whose values are the columns; empty for a column of values alone.
        figures: In their order.
    """

    id: str
    title: str
    rows: str
    columns: str
    figures: tuple[Published, ...]

    def cell(self, figure: Published) -> tuple[str, str]:
        """The row and the column of a figure; what is compared has a row of its own."""
        row = getattr(figure, self.rows) or figure.compared
        return row, figure.label or (getattr(figure, self.columns) if self.columns else "")


def read(folder: Path = FOLDER) -> dict[str, Published]:
    """Every published figure by its id.

    Raises:
        PublishedError: If a file can't be read or a record can't be used.
    """
    groups = (group for of in read_topics(folder).values() for group in of)
    return {figure.id: figure for group in groups for figure in group.figures}


def read_topics(folder: Path = FOLDER) -> dict[str, tuple[Group, ...]]:
    """The groups of every topic, by the name of its file; read again only after a change.

    Raises:
        PublishedError: As ``read``.
    """
    files = [*folder.rglob("*.toml"), *(folder / "tables").glob("*.json")]
    return _read_topics(folder, date.today().isoformat(), state_of(files))


def read_sources(folder: Path = FOLDER) -> dict[str, Source]:
    """Every source by its id.

    Raises:
        PublishedError: If one of them can't be used.
    """
    return _sources(folder / "sources.toml", date.today().isoformat())


@lru_cache(maxsize=4)
def _read_topics(folder: Path, today: str, state: object) -> dict[str, tuple[Group, ...]]:  # noqa: ARG001
    sources = _sources(folder / "sources.toml", today)
    topics: dict[str, tuple[Group, ...]] = {}
    known: dict[str, Published] = {}
    groups_known: set[str] = set()
    for path in sorted((folder / "topics").glob("*.toml")):
        content = _toml(path)
        if list(content) != ["group"] or not _are_tables(content["group"]):
            raise PublishedError(f"{path}: holds groups and nothing else, each below [[group]]")
        reading = _File(path, sources, folder / "tables", known, groups_known)
        topics[path.stem] = tuple(reading.group(group) for group in content["group"])
    return topics


class _File:
    """One file of figures, with all that its records refer to."""

    def __init__(
        self,
        path: Path,
        sources: Mapping[str, Source],
        folder: Path,
        known: dict[str, Published],
        groups: set[str],
    ) -> None:
        self.path = path
        self.sources = sources
        self.folder = folder
        self.known = known
        self.groups = groups

    def group(self, raw: dict[str, Any]) -> Group:
        """A group with its figures."""
        name = str(raw.get("id", ""))
        try:
            if name in self.groups:
                raise ValueError("another group has this id")
            _only(raw, GROUP)
            for key in ("id", "title", "rows", "figures"):
                _needed(raw, key)
            for key in ("rows", "columns"):
                if raw.get(key) not in (None, *TABLE_FIELDS):
                    known = ", ".join(TABLE_FIELDS)
                    raise ValueError(f"{key} is {raw[key]!r}, which is none of {known}")
            for key in ("figures", "divide"):
                if not _are_tables(raw.get(key, [])):
                    raise ValueError(f"{key} is not a list of {{ key = value }}")
        except ValueError as problem:
            raise self._error(name, "", str(problem)) from None
        self.groups.add(name)
        shared = {key: raw[key] for key in (*COUNTED, *SHARED) if key in raw}
        figures = [self._figure(name, shared | row, row) for row in raw["figures"]]
        for rule in raw.get("divide", ()):
            try:
                rows = _divisions(figures, name, rule)
            except ValueError as problem:
                raise self._error(name, str(rule.get("id", "")), str(problem)) from None
            figures += [self._figure(name, shared | row, rule) for row in rows]
        return Group(name, raw["title"], raw["rows"], raw.get("columns", ""), tuple(figures))

    def _figure(self, group: str, row: dict[str, Any], written: dict[str, Any]) -> Published:
        own = str(row.get("id", ""))
        name = f"{group}.{own}"
        try:
            _only(written, ROW)
            if NAME.fullmatch(name) is None:
                raise ValueError("an id has small letters, digits, underscores and dots")
            if name in self.known:
                raise ValueError("this id is used twice")
            figure = self._made(name, group, row)
        except ValueError as problem:
            raise self._error(group, own, str(problem)) from None
        except TypeError as problem:
            raise self._error(group, own, f"a value of the wrong kind: {problem}") from None
        self.known[name] = figure
        return figure

    def _made(self, name: str, group: str, row: dict[str, Any]) -> Published:
        ways = [key for key in WAYS if key in row]
        if len(ways) != 1:
            raise ValueError(f"give one of {', '.join(WAYS)}")
        parts: tuple[Published, ...] = ()
        if ways == ["value"]:
            number, how = as_printed(str(row["value"])), _way(row.get("how"))
            if " " not in str(row["value"]) and row.get("unitless") is not True:
                raise ValueError(
                    f"{number.text} has no unit; write it behind the number, as in '20 ms', "
                    "or `unitless = true` beside it"
                )
        elif ways == ["of"]:
            parts = (self._part(group, _needed(row, "of")), self._part(group, _needed(row, "by")))
            number = divided(parts[0].number, parts[1].number, row.get("way", "times"))
            how = "our division"
        elif ways == ["per_second"]:
            parts = (self._part(group, row["per_second"]),)
            number = step_time(parts[0].number, int(_needed(row, "examples")))
            how = "our division"
        else:
            number, how = self._counted(row), "our count"
        fields = {key: _field(key, row, parts) for key in SETTING}
        base = str(row.get("base", ""))
        if number.unit in RATIOS and not base:
            raise ValueError("a ratio needs its base: what it is divided by, such as FP32 or TF32")
        return Published(
            id=name,
            quantity=str(_needed(row, "quantity")),
            number=number,
            sources=self._of(row, parts),
            how=how,
            base=base,
            caveat=str(row.get("caveat", "")),
            label=str(row.get("label", "")),
            **fields,
        )

    def _part(self, group: str, name: str) -> Published:
        """A figure that a division names, of its own group or by its whole id."""
        for candidate in (f"{group}.{name}", name):
            if candidate in self.known:
                return self.known[candidate]
        raise ValueError(f"there is no figure {name!r} before this one")

    def _counted(self, row: dict[str, Any]) -> Quantity:
        table = tables.read(row["table"], self.folder)
        statistic, unit = _needed(row, "statistic"), _needed(row, "unit")
        value = tables.statistic(table, statistic, _needed(row, "column"), row.get("where", {}))
        return Quantity(value, unit, write(value, unit))

    def _of(self, row: dict[str, Any], parts: tuple[Published, ...]) -> tuple[Source, ...]:
        """Its sources: those it names, or those of the figures that it divides."""
        if "source" not in row and parts:
            both = [source for part in parts for source in part.sources]
            return tuple(dict.fromkeys(both))
        names = _needed(row, "source")
        found = []
        for name in names if isinstance(names, list) else [names]:
            if name not in self.sources:
                raise ValueError(f"its source {name!r} is not in sources.toml")
            found.append(self.sources[name])
        if not found:
            raise ValueError("it has no source")
        return tuple(found)

    def _error(self, group: str, own: str, problem: str) -> PublishedError:
        line = _line(self.path, f'id = "{group}"', f'id = "{own}"' if own else "")
        name = f"{group}.{own}" if own else group
        return PublishedError(f"{self.path}:{line}: {name}: {problem}")


def _divisions(
    figures: Iterable[Published], group: str, rule: dict[str, Any]
) -> list[dict[str, Any]]:
    """A division for every beginning that has both figures: ``v100.gain`` and ``a100.gain``.

    Raises:
        ValueError: If the rule lacks a name, or no figures have such names.
    """
    own, of, by = (str(_needed(rule, key)) for key in ("id", "of", "by"))
    names = [figure.id.removeprefix(f"{group}.") for figure in figures]
    starts = [name.removesuffix(of) for name in names if name.endswith(of)]
    rows = [
        rule | {"id": f"{start}{own}", "of": f"{start}{of}", "by": f"{start}{by}"}
        for start in starts
        if f"{start}{by}" in names
    ]
    if not rows:
        raise ValueError(f"no figures of the group end on {of!r} and {by!r}")
    return rows


def _way(how: object) -> How:
    for way in WAYS_OBTAINED:
        if how == way:
            return way
    raise ValueError(f"how is {how!r}; it is one of {', '.join(WAYS_OBTAINED)}")


def _field(key: str, row: Mapping[str, Any], parts: tuple[Published, ...]) -> str:
    """A field of the setting: as written, or what both figures of a division share."""
    if key in row:
        return str(row[key])
    said = {getattr(part, key) for part in parts}
    return said.pop() if len(said) == 1 else ""


def _sources(path: Path, today: str) -> dict[str, Source]:
    found = {}
    for name, raw in _toml(path).items():
        try:
            found[name] = _source(name, raw, today)
        except ValueError as problem:
            line = _line(path, f"[{name}]")
            raise PublishedError(f"{path}:{line}: {name}: {problem}") from None
    return found


def _source(name: str, raw: dict[str, Any], today: str) -> Source:
    if not isinstance(raw, dict):
        raise ValueError("is not a source with who, title, address and read")
    _only(raw, SOURCE)
    for key, value in raw.items():
        wanted = bool if key == "single_user" else str
        if not isinstance(value, wanted):
            raise ValueError(
                f"{key} is {value}; write {'true' if wanted is bool else 'it in quotes'}"
            )
    for key in ("who", "title", "address", "read"):
        if not _needed(raw, key).strip():
            raise ValueError(f"{key} is empty")
    address = raw["address"]
    if not address.startswith("https://"):
        raise ValueError(f"the address {address!r} does not begin with https://")
    inside = IN_REPOSITORY.match(address)
    if inside and COMMIT.fullmatch(inside["commit"]) is None:
        raise ValueError(f"{inside['commit']!r} is not a full commit, so the page may change")
    for key in ("published", "read"):
        day = raw.get(key, "")
        if day and DAY.fullmatch(day) is None:
            raise ValueError(f"{key} is {day!r}; write a year, 2024-07 or 2024-07-24")
        if day > today:
            raise ValueError(f"{key} is {day}, which is still to come")
    return Source(name, **{"published": "", **raw})


def _are_tables(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, dict) for each in value)


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise PublishedError(f"can't read {path}: {problem}") from None


def _only(raw: Mapping[str, Any], known: tuple[str, ...]) -> None:
    unknown = sorted(set(raw) - set(known))
    if unknown:
        raise ValueError(f"has the unknown key {unknown[0]!r}; known are {', '.join(known)}")


def _needed(raw: Mapping[str, Any], key: str) -> Any:
    if key not in raw:
        raise ValueError(f"it has no {key}")
    return raw[key]


def _line(path: Path, *wanted: str) -> int:
    """The line of the last of the texts, each sought after the one before."""
    text, place = path.read_text(encoding="utf-8"), 0
    for part in filter(None, wanted):
        place = max(place, text.find(part, place))
    return text.count("\n", 0, place) + 1
