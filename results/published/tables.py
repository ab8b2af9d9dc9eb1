"""Rows that others published, selected and rearranged, and what we count over them."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from statistics import median
from typing import Any

FOLDER = Path(__file__).parent / "tables"
STATISTICS: dict[str, Callable[[list[float]], float]] = {
    "median": median,
    "lowest": min,
    "highest": max,
    "rows": len,
    "share below one": lambda values: sum(value < 1 for value in values) / len(values),
}
Cell = str | int | float | bool


@dataclass(frozen=True)
class Table:
    """Published rows.

    Attributes:
        what: What a row is.
        columns: Their names.
        rows: One cell for each column.
        sources: The ids of the sources, as ``sources.toml`` names them.
        caveat: What the rows do not say.
    """

    what: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    sources: tuple[str, ...]
    caveat: str

    def column(self, name: str, where: Mapping[str, Cell] | None = None) -> list[float]:
        """The numbers of a column, of all rows that have these cells.

        Raises:
            ValueError: If a column is missing, no row fits, or a cell is not a number.
        """
        wanted = {self._place(key): value for key, value in (where or {}).items()}
        at = self._place(name)
        fitting = [row for row in self.rows if all(row[i] == v for i, v in wanted.items())]
        if not fitting:
            raise ValueError(f"no row has {dict(where or {})}")
        cells = [row[at] for row in fitting]
        numbers = [cell for cell in cells if isinstance(cell, int | float)]
        if len(numbers) != len(cells):
            raise ValueError(f"the column {name!r} holds words")
        return [float(number) for number in numbers]

    def _place(self, name: str) -> int:
        if name not in self.columns:
            raise ValueError(f"there is no column {name!r}; there are {', '.join(self.columns)}")
        return self.columns.index(name)


def read(name: str, folder: Path = FOLDER) -> Table:
    """The table of that name; read again only after a change.

    Raises:
        ValueError: If there is none, or a row has another number of cells than there are columns.
    """
    path = folder / f"{name}.json"
    try:
        return _read(path, path.stat().st_mtime_ns)
    except OSError:
        names = ", ".join(sorted(file.stem for file in folder.glob("*.json")))
        raise ValueError(f"there is no table {name!r}; there are {names}") from None


@lru_cache(maxsize=16)
def _read(path: Path, changed: int) -> Table:  # noqa: ARG001 - part of the key
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        columns = tuple(content["columns"])
        rows = tuple(tuple(row) for row in content["rows"])
        sources, caveat = tuple(content["sources"]), content["caveat"]
        what = content["what"]
    except (ValueError, KeyError, TypeError) as problem:
        raise ValueError(f"can't read {path}: {problem!r}") from None
    for number, row in enumerate(rows, start=1):
        if len(row) != len(columns):
            raise ValueError(f"{path}: row {number} has {len(row)} cells, not {len(columns)}")
    return Table(what, columns, rows, sources, caveat)


def statistic(table: Table, name: str, column: str, where: Mapping[str, Cell]) -> float:
    """What is counted over a column: one of ``STATISTICS``.

    Raises:
        ValueError: If there is no such statistic, or as ``Table.column``.
    """
    if name not in STATISTICS:
        raise ValueError(f"there is no statistic {name!r}; there are {', '.join(STATISTICS)}")
    return float(STATISTICS[name](table.column(column, where)))
