"""Who gave us a result file: what their name may be, and what a file of theirs must not tell.

A contributed file is a result file whose ``contributor`` is the name under which it is shown. Its
owner chose that name; nothing else in the file may lead to them or to their machine.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import Any

FEWEST, MOST = 2, 24  # characters of a name
BESIDE_LETTERS = " -'’."
HOST_NAME = re.compile(r"(\d+-){3}\d+|localhost|(desktop|laptop)-[0-9a-z]{5,}", re.IGNORECASE)
ADDRESS = re.compile(
    r"\S@\S+\.\w"  # of a person
    r"|(?<![\d.])\d{1,3}(\.\d{1,3}){3}(?![\d.])"  # of a machine, in numbers
    r"|\b[a-z][\w-]*(\.[a-z][\w-]*){2,}"  # and in words
    r"|\.(local|localdomain|lan|internal|home|corp)\b",
    re.IGNORECASE,
)
BROWSER = "browser"  # what the machine of every browser is called
ISOLATE = "\N{FIRST STRONG ISOLATE}{}\N{POP DIRECTIONAL ISOLATE}"


def problem_of_name(name: str) -> str:
    """Why nobody can be shown under this name, in words; empty if they can."""
    if not FEWEST <= len(name) <= MOST:
        return f"a name has {FEWEST} to {MOST} characters"
    if not all(_may_be_there(letter) for letter in name) or not name[0].isalpha():
        return (
            "a name begins with a letter, and after it are letters, digits, spaces, hyphens, "
            "apostrophes and full stops"
        )
    if name != unicodedata.normalize("NFKC", " ".join(name.split())):
        return "a name has single spaces within it, and letters in their usual form"
    if re.search(r"\.[^ ]", name) or HOST_NAME.search(name):
        return "this looks like the name of a machine; a full stop has a space behind it"
    if any(all(map(_is_mark, name[at : at + 3])) for at in range(len(name) - 2)):
        return "three accents are on one letter"
    return ""


def _may_be_there(letter: str) -> bool:
    return letter in BESIDE_LETTERS or letter.isalpha() or letter.isdecimal() or _is_mark(letter)


def _is_mark(letter: str) -> bool:
    return unicodedata.category(letter) in ("Mn", "Mc")


def shown(name: str) -> str:
    """The name as a text has it; one from right to left keeps to itself."""
    directions = {unicodedata.bidirectional(letter) for letter in name}
    return ISOLATE.format(name) if directions & {"R", "AL", "AN"} else name


def folder_of(name: str) -> str:
    """The folder for the files of this name: small letters of ASCII, digits and hyphens.

    Names that differ in case or accents alone have the same one. A letter is never left out.
    """
    letters = unicodedata.normalize("NFKD", name.casefold())
    kept = "".join(letter for letter in letters if not _is_mark(letter))
    written = "".join(
        f"u{ord(letter):x}" if letter.isalnum() and not letter.isascii() else letter
        for letter in kept
    )
    return re.sub(r"[^a-z0-9]+", "-", written).strip("-")


def machine_of(provenance: dict[str, Any]) -> str:
    """What a machine is called after its model, which says nothing of its owner."""
    if "engine" in provenance:
        return BROWSER
    model = provenance["gpu"] or f"cpu {provenance['cores']} cores"
    return re.sub(r"[^a-z0-9]+", "-", model.lower()).strip("-")


def problems(content: dict[str, Any]) -> Iterator[str]:
    """What keeps a result file that names a contributor from being shown, with its place."""
    if problem := problem_of_name(content["contributor"]):
        yield f"at contributor: {problem}; choose another name"
    provenance = content["provenance"]
    expected = machine_of(provenance)
    if provenance["machine"] != expected:
        yield f"at provenance.machine: it is not called after its model; write {expected}"
    if provenance["quick"]:
        yield "at provenance.quick: it is a quick trial; measure without --quick"
    for name, value in provenance.items():
        if isinstance(value, str) and ADDRESS.search(value):
            yield f"at provenance.{name}: it looks like an address; write the model alone"
    for case, parts in content["cases"].items():
        for part, of in parts.items():
            for name in {"skipped", "incomplete"} & of.keys():
                yield (
                    f"at cases.{case}.{part}.{name}: its words may tell of your machine; "
                    "`python -m benchmarks.contribute` leaves them out"
                )
    if not any(content["cases"].values()):
        yield "at cases: nothing was measured; run the benchmarks first"
