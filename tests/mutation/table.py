"""What became of mutants: what is printed of it, and the table in ``table.md``."""

from collections import Counter
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Literal

from tests.mutation.accepted import accepted, as_listed
from tests.mutation.mutants import Mutant

Fate = Literal["killed", "killed on a GPU", "survived"]
TABLE = Path(__file__).parent / "table.md"
HEAD = """# Mutants

`python -m tests.mutation UNIT` writes a row. A mutant is the solution with one thing changed.
`python -m tests.mutation.modules MODULE` writes that of a module of ours, of which tests are asked.
Those that only a GPU's checks kill were tried on the simulated GPU; `equivalent/` has a reason for
each that is as good as the solution.

| unit | mutants | killed | killed on a GPU | equivalent | survivors |
| --- | ---: | ---: | ---: | ---: | ---: |
"""


@dataclass(frozen=True)
class Row:
    """How many mutants a unit has, and what became of them."""

    unit: str
    mutants: int
    killed: int
    on_a_gpu: int
    equivalent: int
    survivors: int


@dataclass
class Told:
    """Says of each survivor at once that it is one, if it is not listed.

    Attributes:
        name: Of the unit or module, as the lists have it.
        fates: What has become of each mutant so far.
    """

    name: str
    fates: list[tuple[Mutant, Fate]] = field(default_factory=list)

    def add(self, mutant: Mutant, fate: Fate) -> None:
        """Keep what has become of one."""
        self.fates.append((mutant, fate))
        if fate == "survived" and mutant.key not in accepted(self.name):
            print(as_listed(mutant.key), flush=True)

    def end(self, minutes: float, *, of_all: bool, sample: str = "") -> int:
        """Print the sum, and write it into the table if no mutant was left out by name.

        Returns:
            0 if every survivor is listed with a reason, 1 if not.
        """
        listed = accepted(self.name)
        left = [mutant.key for mutant, fate in self.fates if fate == "survived"]
        unexplained = [key for key in left if key not in listed]
        count = Counter(fate for _, fate in self.fates)
        row = Row(
            f"{self.name}{sample}",
            mutants=len(self.fates),
            killed=count["killed"],
            on_a_gpu=count["killed on a GPU"],
            equivalent=len(left) - len(unexplained),
            survivors=len(unexplained),
        )
        print(f"{row} in {minutes:.1f} minutes")
        if of_all:
            tried = {mutant.key for mutant, _ in self.fates}
            for key in sorted((listed.keys() & tried) - set(left)):
                print(f"listed, and no survivor any more: {as_listed(key)}")
            for key in sorted(listed.keys() - tried) if not sample else ():
                print(f"listed, and no mutant any more: {as_listed(key)}")
            write(row)
        return 1 if unexplained else 0


def write(row: Row) -> None:
    """Put a unit's row in the place of its old one."""
    text = TABLE.read_text(encoding="utf-8") if TABLE.is_file() else HEAD
    rows = {line.split("|")[1].strip(): line for line in text.splitlines() if line.count("|") == 7}
    del rows["unit"], rows["---"]
    rows[row.unit] = f"| {' | '.join(map(str, astuple(row)))} |"
    TABLE.write_text(HEAD + "".join(f"{rows[unit]}\n" for unit in sorted(rows)), encoding="utf-8")
