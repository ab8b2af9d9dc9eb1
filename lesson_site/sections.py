"""Reading named sections of lesson code, as text.

A section is what is between ``# --8<-- [start:name]`` and ``# --8<-- [end:name]``.
Of an exercise's source, which ``graders.blanks`` describes, it is the solution alone.
"""

import re
import textwrap
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from graders import blanks

CODE_FOLDER = Path("lesson_code")
BESIDE = "graders/"  # the room beside it, of which pages and notebook show checks
MARKER = re.compile(r"^\s*# --8<-- \[(?P<edge>start|end):(?P<name>[\w-]+)\]\s*$")


class SectionError(ValueError):
    """A section that does not exist, or markers that do not pair up."""


@dataclass(frozen=True)
class Section:
    """Lines of a module that a page may show.

    Attributes:
        file: The module, relative to ``lesson_code``; or from ``graders/`` on.
        name: The section's name; empty for a whole file.
        lines: Its lines without markers and without common indentation.
        numbers: The line number in the file of each line, counted from one.
    """

    file: str
    name: str
    lines: tuple[str, ...]
    numbers: tuple[int, ...]

    @property
    def path(self) -> Path:
        """The module, relative to the repository's root."""
        return path_of(self.file)

    @property
    def text(self) -> str:
        """The section as one string."""
        return "\n".join(self.lines)


def read_section(target: str, folder: Path = CODE_FOLDER) -> Section:
    """Read ``"gpu_training/loop_gpu.py:loop"``, or a whole file without ``:name``.

    Raises:
        SectionError: If the file or the section does not exist, or a marker lacks its partner.
    """
    file, _, name = target.partition(":")
    path = path_of(file, folder)
    room = folder.parent / BESIDE if file.startswith(BESIDE) else folder
    if not path.resolve().is_relative_to(room.resolve()):
        raise SectionError(f"{target}: the file lies outside {folder}; show a file inside it")
    try:
        source = path.read_text(encoding="utf-8")
    except OSError:
        raise SectionError(f"there is no file {path}; name one that exists") from None
    found = _sections(file, source)
    if name not in found:
        known = ", ".join(sorted(n for n in found if n)) or "none"
        raise SectionError(f"{path} has no section {name!r}; its sections are: {known}")
    return found[name]


def path_of(file: str, folder: Path = CODE_FOLDER) -> Path:
    """Where a module lies that pages name: in the folder of lesson code, or in the room beside."""
    return (folder.parent if file.startswith(BESIDE) else folder) / file


def sections_of(file: str, folder: Path = CODE_FOLDER) -> dict[str, Section]:
    """All named sections of a file."""
    source = path_of(file, folder).read_text(encoding="utf-8")
    return {name: section for name, section in _sections(file, source).items() if name}


@lru_cache(maxsize=256)
def _sections(file: str, text: str) -> dict[str, Section]:
    """Every section by name, and the whole file, markers taken out, under the empty name."""
    source = text.splitlines()
    open_sections: dict[str, list[tuple[int, str]]] = {"": []}
    closed: dict[str, list[tuple[int, str]]] = {}
    for number, (line, kind) in enumerate(zip(source, _kinds(file, source), strict=True), start=1):
        marker = MARKER.match(line)
        if not blanks.shown(kind):
            continue
        if marker is None:
            for lines in open_sections.values():
                lines.append((number, line))
        elif marker["edge"] == "start":
            if marker["name"] in open_sections or marker["name"] in closed:
                raise SectionError(f"{file}:{number}: section {marker['name']!r} starts twice")
            open_sections[marker["name"]] = []
        elif marker["name"] in open_sections:
            closed[marker["name"]] = open_sections.pop(marker["name"])
        else:
            raise SectionError(f"{file}:{number}: section {marker['name']!r} ends before it starts")
    unclosed = [name for name in open_sections if name]
    if unclosed:
        [name, *_] = unclosed
        raise SectionError(
            f"{path_of(file)}: section {name!r} has no end marker; "
            f"write `# --8<-- [end:{name}]` below its last line"
        )
    return {
        name: _section(file, name, lines)
        for name, lines in {**closed, "": open_sections[""]}.items()
    }


def _kinds(file: str, source: list[str]) -> list[blanks.Kind]:
    try:
        return blanks.kinds(source)
    except blanks.BlankError as problem:
        raise SectionError(f"{file}: {problem}") from None


def _section(file: str, name: str, numbered: list[tuple[int, str]]) -> Section:
    while numbered and not numbered[0][1].strip():
        numbered = numbered[1:]
    while numbered and not numbered[-1][1].strip():
        numbered = numbered[:-1]
    lines = textwrap.dedent("\n".join(line for _, line in numbered)).split("\n")
    return Section(file, name, tuple(lines), tuple(number for number, _ in numbered))
