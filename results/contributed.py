"""What readers measured on machines of their own, and gave us: points in charts, and no more.

Their files lie in ``benchmarks/contributed``, in a folder for each name. A ``Contribution`` is not
a ``Result``, and the store never sees one: no sentence, claim, ratio or verdict can rest on it
before somebody moves its file into ``benchmarks/results``.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from results import catalogue, contributor, result_file
from results.catalogue import Definition
from results.changed import State, state_of
from results.derived import Entries
from results.quantities import write
from results.store import FigureError, Result, Store
from results.summary import Estimate

FOLDER = Path("benchmarks/contributed")
FILE_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,150}\.json")


@dataclass(frozen=True)
class Contribution:
    """A file that a reader gave us.

    Attributes:
        name: The name that they chose, as a text has it.
        machine: Their GPU; their processor where they have none.
        processor: Their processor.
        software: What computed.
        date: The day.
        where: One line that says where and when all of it was measured.
        file: Its path below ``benchmarks/contributed``.
        entries: What was measured, by case and name.
        in_browser: Whether a browser measured it, in a race.
    """

    name: str
    machine: str
    processor: str
    software: str
    date: str
    where: str
    file: str
    entries: Entries
    in_browser: bool = False

    def estimate(self, definition: Definition) -> Estimate | None:
        """What it measured of a figure, or None; ratios and verdicts are made of ours alone."""
        if definition.kind not in ("measured", "rate"):
            return None
        return catalogue.value_in(definition, self.entries)

    def text(self, definition: Definition) -> str:
        """That value with its unit; empty if it gives none."""
        found = self.estimate(definition)
        if found is None:
            return ""
        noisy = " (noisy)" if found.noisy else ""
        return f"{write(found.value, definition.unit, found.spread)}{noisy}"


def read(store: Store, root: Path = Path()) -> list[Contribution]:
    """Every contributed file, newest first; read again only after one has changed.

    Args:
        store: Whose catalogue says what a file may hold.
        root: The repository.

    Raises:
        FigureError: If one can't be used, or something else lies there.
    """
    files = _files(root / FOLDER)
    return _read(state_of(files), store)


@lru_cache(maxsize=2)
def _read(state: State, store: Store) -> list[Contribution]:
    names: dict[str, str] = {}
    found = []
    for file, _, _ in state:
        given = _one(file, store.definitions)
        first = names.setdefault(file.parent.name, given.name)
        if first != given.name:
            raise FigureError(
                f"{file} is by {given.name}, and another file beside it by {first}; "
                "write both names alike, or choose another one"
            )
        found.append(given)
    return sorted(found, key=lambda one: (one.date, one.file), reverse=True)


def _files(folder: Path) -> Iterator[Path]:
    """The files in the folders of the names; all that lies there is published.

    Raises:
        FigureError: If something else lies there.
    """
    for owner in sorted(folder.iterdir()) if folder.is_dir() else ():
        if owner.name == ".gitkeep":
            continue
        if owner.is_symlink() or not owner.is_dir():
            raise FigureError(f"{owner} is not a folder of result files; remove it")
        for file in sorted(owner.iterdir()):
            if file.is_symlink() or not file.is_file() or not FILE_NAME.fullmatch(file.name):
                raise FigureError(
                    f"{file} is not a result file as `python -m benchmarks.contribute` writes it; "
                    "remove it"
                )
            yield file


def _one(file: Path, definitions: Mapping[str, Definition]) -> Contribution:
    try:
        content = result_file.read(file, definitions)
    except result_file.BadResultError as problem:
        raise FigureError(str(problem)) from None
    if "contributor" not in content:
        raise FigureError(
            f"{file} names no contributor; `python -m benchmarks.contribute` writes such a file"
        )
    folder = contributor.folder_of(content["contributor"])
    if file.parent.name != folder:
        raise FigureError(f"{file} belongs into the folder {folder}, after its contributor")
    entries = result_file.entries_of(content, definitions)
    result = Result(content["provenance"], entries)
    at = result.provenance
    return Contribution(
        contributor.shown(content["contributor"]),
        at["gpu"] or at["processor"],
        at["processor"],
        result.software,
        at["date"],
        result.where,
        f"{file.parent.name}/{file.name}",
        entries,
        result.in_browser,
    )


def best_of_each_card(
    contributions: Iterable[Contribution], definitions: Iterable[Definition], most: int
) -> list[Contribution]:
    """Of each card the file that gives most of these figures, the newest of several.

    Args:
        contributions: The files, newest first.
        definitions: The figures.
        most: How many at most.
    """
    wanted = list(definitions)
    counted = [(sum(one.estimate(d) is not None for d in wanted), one) for one in contributions]
    counted.sort(key=lambda pair: pair[0], reverse=True)  # which keeps the newest first
    cards: dict[str, Contribution] = {}
    for count, one in counted:
        if count:
            cards.setdefault(one.machine, one)
    return list(cards.values())[:most]
