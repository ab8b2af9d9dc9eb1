"""What the built site hands out that others made: the page *Credits*, and a check of the site.

A licence is read where it is installed, or is a file of ours where the package lacks its text.
"""

import re
import shutil
import tomllib
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from markdown import Markdown

from lesson_site.errors import PageError
from lesson_site.fences import Options, fence
from lesson_site.page import current_page
from lesson_site.vendor import FOLDER, MEMBERS, pin_of

WORKS = Path(__file__).with_suffix(".toml")
OURS = {"LICENSE": "MIT, for the code", "LICENSE-TEXT": "CC-BY-4.0, for text and drawings"}
MADE = ("assets/data/", "assets/notebook/", "assets/sheets.css")  # by the build, of ours
# The theme brings them for languages in which no page is.
UNUSED = "assets/javascripts/lunr"


@dataclass(frozen=True)
class Work:
    """Something that others made.

    Attributes:
        name: As its makers write it.
        address: Where it comes from.
        use: What the site does with it.
        licence: Its licence's short name, as SPDX has it where it is one.
        text: Where the licence's text is: in ``package``, or else in ``docs/assets/licences``.
        package: The installed Python package; empty if it is none.
        npm: The npm package; empty if it is none.
        inside: The work that it is a part of; empty if it comes by itself.
        files: Patterns of its files in the built site.
        modules: What the theme's source maps call it.
    """

    name: str
    address: str
    use: str
    licence: str
    text: str
    package: str = ""
    npm: str = ""
    inside: str = ""
    files: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()

    @property
    def version(self) -> str:
        """Of what is installed or locked; empty where the work has none of its own."""
        if self.inside:
            return ""
        if self.npm:
            return pin_of(self.npm)["version"]
        return distribution(self.package).version if self.package else ""

    @property
    def installed_text(self) -> str | None:
        """The licence as the package has it; None where it lies in a file of ours.

        Raises:
            PageError: If the package has no such file.
        """
        if not self.package:
            return None
        known = distribution(self.package)
        beside = Path(str(known.locate_file(self.text)))  # its code; the other is what pip keeps
        text = (
            beside.read_text(encoding="utf-8") if beside.is_file() else known.read_text(self.text)
        )
        if text is None:
            raise PageError(
                f"{self.package} has no file {self.text}; say in {WORKS.name} where its licence is"
            )
        return text


@cache
def works(file: Path = WORKS) -> tuple[Work, ...]:
    """Every work, in the order of its file."""
    listed: list[dict[str, Any]] = tomllib.loads(file.read_text(encoding="utf-8"))["work"]
    for each in listed:
        each |= {name: tuple(each.get(name, ())) for name in ("files", "modules")}
    return tuple(Work(**each) for each in listed)


@fence(of=True)
def credits(source: str, options: Options, md: Markdown) -> str:
    """The works of ``others``, with parts below what they are in, or the licences of ``ours``."""
    if options["of"] == "others":
        root = current_page(md).root
        items = [_item(work, root) for work in works() if not work.inside]
    elif options["of"] == "ours":
        items = [
            f"<li>{_folded(licence, Path(file).read_text(encoding='utf-8'))}</li>"
            for file, licence in OURS.items()
        ]
    else:
        raise PageError(f"there are credits of others and of ours, and none of {options['of']!r}")
    return f"<ul>{''.join(items)}</ul>"


def _item(work: Work, root: str) -> str:
    name = f'<a href="{escape(work.address)}">{escape(work.name)}</a> {escape(work.version)}'
    text = work.installed_text
    licence = (
        f'<a href="{root}assets/licences/{work.text}">{escape(work.licence)}</a>'
        if text is None
        else _folded(work.licence, text)
    )
    parts = "".join(_item(part, root) for part in works() if part.inside == work.name)
    below = f"<p>In it:</p><ul>{parts}</ul>" if parts else ""
    return f"<li><p><strong>{name.strip()}</strong>. {escape(work.use)}</p>{licence}{below}</li>"


def _folded(licence: str, text: str) -> str:
    """A text behind its name; its paragraphs take the width that there is."""
    paragraphs = [" ".join(each.split()) for each in re.split(r"\n\s*\n", text.strip())]
    whole = "".join(f"<p>{escape(each)}</p>" for each in paragraphs)
    return f"<details data-search-exclude><summary>{escape(licence)}</summary>{whole}</details>"


def drop_unserved(site: Path) -> None:
    """Take out of ``site`` what no page loads: other languages' search, and old libraries.

    ``docs/assets/vendor`` may still hold what an older version of the site laid there.
    A second time changes nothing.
    """
    vendored = site / FOLDER.relative_to("docs")
    laid = {vendored / name / file for name, files in MEMBERS.items() for file in files}
    shutil.rmtree(site / UNUSED, ignore_errors=True)
    for path in vendored.rglob("*"):
        if path.is_file() and path not in laid:
            path.unlink()


def credit_problems(site: Path) -> list[str]:
    """Each file of others in ``site`` that no work names, as ``file: what, what to do``."""
    named = {file for work in works() for pattern in work.files for file in site.glob(pattern)}
    return [
        f"{file.relative_to(site)}: the site hands it out, and Credits names nobody for it; "
        f"add its work to lesson_site/{WORKS.name}, or take it out"
        for file in foreign_files(site)
        if file not in named
    ]


def foreign_files(site: Path) -> list[Path]:
    """The files below ``assets`` of ``site`` that are neither ours nor made of ours."""
    return [
        path
        for path in sorted((site / "assets").rglob("*"))
        if path.is_file() and not _is_ours(path.relative_to(site))
    ]


def _is_ours(file: Path) -> bool:
    source = "docs" / file
    laid = source.is_file() and not source.is_relative_to(FOLDER)
    return laid or file.as_posix().startswith(MADE)
