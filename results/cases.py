"""What the benchmark's cases can measure, for everybody who has no PyTorch.

The modules of ``benchmarks/cases`` declare it beside what they do, and
``python -m benchmarks describe`` writes it into ``cases.json``, which job, site and tests read.
"""

import dataclasses
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from results.changed import State, state_of
from results.quantities import UNITS

ON = {"cpu": "on the CPU", "cuda": "on the GPU"}
DEVICES = (*ON, "webgpu")
BRACES = re.compile(r"\{(\w*)\}")
FILE = Path(__file__).with_name("cases.json")


class DeclarationError(ValueError):
    """A case that is declared as no entry could be; the message says what to write."""


@dataclass(frozen=True)
class Family:
    """Entries of a case that differ in the sizes and arms at which they were measured.

    Attributes:
        name: Of the entries; each list in ``at`` fills a pair of braces: ``n_{n}.cpu``.
        what: What is measured, in words, with the same braces.
        at: The lists by name: ``{"n": (64, 128)}``; an entry is one member of each.
        unit: How its median is written, one of ``results.quantities.UNITS``.
        device: Where it runs: ``cpu``, ``cuda``, or ``webgpu`` in a browser.
        browser: Whether a reader's browser gives it, in the race, and no job.
        words: What ``what`` says for a member.
        figure: What pages call it; its case and its name unless told. Empty if only its rate has
            a name.
        rate: The unit of what it works through in a second, if it says how much that is.
        counts: Of what that is so many, such as ``tokens``, where its unit does not say it.
        rate_figure: What pages call that; ``figure`` and ``_rate`` unless told.
    """

    name: str
    what: str
    at: Mapping[str, Iterable[str | int]] = field(default_factory=dict)
    unit: str = "s"
    device: str = "cpu"
    browser: bool = False
    words: Mapping[str, str] = field(default_factory=dict)
    figure: str | None = None
    rate: str = ""
    counts: str = ""
    rate_figure: str | None = None

    def __post_init__(self) -> None:
        """Refuse what the job would refuse only after it has measured.

        Raises:
            DeclarationError: If its device, a unit or a pair of braces is not known.
        """
        if self.device not in DEVICES:
            self._refuse(f"device is {self.device!r}; write one of {', '.join(DEVICES)}")
        for unit in (self.unit, self.rate or self.unit):
            if unit not in UNITS:
                self._refuse(f"the unit {unit!r} is unknown; write one of {', '.join(UNITS)}")
        braces = set(BRACES.findall(self.name))
        if braces != set(self.at) or not braces.issuperset(BRACES.findall(self.what)):
            lists = ", ".join(self.at) or "none"
            self._refuse(f"name and what have braces for these lists of `at` alone: {lists}")

    def _refuse(self, problem: str) -> None:
        raise DeclarationError(f"the family {self.name!r}: {problem}")

    def names(self) -> Iterator[str]:
        """The names of its entries."""
        for combination in itertools.product(*self.at.values()):
            yield self.name.format(**dict(zip(self.at, combination, strict=True)))


@dataclass(frozen=True)
class Case:
    """What a case measures.

    Attributes:
        families: Its entries.
        needs: The cases that it is compared with: a page takes all of them from one run.
    """

    families: tuple[Family, ...]
    needs: tuple[str, ...] = ()


def names_of(families: Iterable[Family]) -> tuple[str, ...]:
    """The names of all entries."""
    return tuple(name for family in families for name in family.names())


def read(path: Path = FILE) -> Mapping[str, Case]:
    """Every case by its name, as the file describes it; read again only after a change."""
    return _read(state_of([path]))


@lru_cache(maxsize=4)
def _read(state: State) -> Mapping[str, Case]:
    [(path, _, _)] = state
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return {
        name: Case(tuple(Family(**family) for family in of["families"]), tuple(of["needs"]))
        for name, of in content.items()
    }


def written(cases: Mapping[str, Case]) -> str:
    """The text of the file: a line for each family, without what is as usual."""
    texts = []
    for name, case in cases.items():
        lines = ",\n".join(
            json.dumps(_unusual(family), ensure_ascii=False) for family in case.families
        )
        needs = json.dumps(case.needs)
        texts.append(f'"{name}": {{"needs": {needs}, "families": [\n{lines}\n]}}')
    return "{\n" + ",\n".join(texts) + "\n}\n"


def _unusual(family: Family) -> dict[str, Any]:
    usual = {of.name: of.default for of in dataclasses.fields(Family)} | {"at": {}, "words": {}}
    values = {name: getattr(family, name) for name in usual}
    values["at"] = {name: list(members) for name, members in family.at.items()}
    used = {str(member) for members in family.at.values() for member in members}
    values["words"] = {name: word for name, word in family.words.items() if name in used}
    return {name: value for name, value in values.items() if value != usual[name]}


@cache
def names() -> tuple[str, ...]:
    """The names of all cases."""
    return tuple(read())


@cache
def together(case: str, path: Path = FILE) -> tuple[str, ...]:
    """The cases whose numbers pages set beside a case's, and itself: they come from one run.

    Args:
        case: Its name; one that nobody declared is alone.
        path: What describes the cases.
    """
    cases = read(path)
    found, new = {case}, {case}
    while new:
        near = {need for name in new if name in cases for need in cases[name].needs}
        near |= {name for name, of in cases.items() if new & set(of.needs)}
        new = near - found
        found |= new
    return tuple(name for name in cases if name in found) or (case,)
