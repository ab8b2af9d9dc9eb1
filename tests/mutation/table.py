"""The table of what became of the mutants of each unit, in ``table.md``."""

from dataclasses import astuple, dataclass
from pathlib import Path

TABLE = Path(__file__).parent / "table.md"
HEAD = """# Mutants

`python -m tests.mutation UNIT` writes a row. A mutant is the solution with one thing changed.
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


def write(row: Row) -> None:
    """Put a unit's row in the place of its old one."""
    text = TABLE.read_text(encoding="utf-8") if TABLE.is_file() else HEAD
    rows = {line.split("|")[1].strip(): line for line in text.splitlines() if line.count("|") == 7}
    del rows["unit"], rows["---"]
    rows[row.unit] = f"| {' | '.join(map(str, astuple(row)))} |"
    TABLE.write_text(HEAD + "".join(f"{rows[unit]}\n" for unit in sorted(rows)), encoding="utf-8")
