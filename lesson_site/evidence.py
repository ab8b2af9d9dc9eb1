"""A sentence for each kind of evidence: the page says those whose figures exist.

An author writes one block after the other, and the build takes the best that there is::

    /// measured
    The GPU needs [[mnist_epoch.cuda]] for an epoch.
    ///
    /// published
    Somebody's laptop needed [[published.mnist.m2pro.gpu]].
    ///
    /// forecast
    A T4 would need [[forecast.mnist.float32.t4.time]].
    ///
    /// otherwise
    The GPU starts one kernel after the other, and each has its price.
    ///

What was measured is said alone. Without it, what others published and what we forecast are said
one after the other, as far as they exist; without both, what teaches without the number that is
missing.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from markdown import Extension, Markdown
from markdown.preprocessors import Preprocessor

from lesson_site.errors import PageError
from lesson_site.figures import NAMED
from lesson_site.lesson_pages import REFERENCE
from lesson_site.page import current_page, line_of
from results import recorded
from results.recorded import RecordingError
from results.store import FigureError, Kind, Store, open_store

OTHERWISE = "otherwise"
BLOCKS = ("measured", "published", "forecast", OTHERWISE)
START = re.compile(rf"^(?P<edge> *)(?P<slashes>/{{3,}}) *(?P<kind>{'|'.join(BLOCKS)}) *$")
GPU_OUTPUT = re.compile(
    r"^ *`{3,}lesson-output\b(?=.*\bdevice=\"cuda\").*\bof=\"(?P<target>[^\"]+)\""
)
# What a block may say beside figures of its own kind. A forecast is told beside what is known.
BESIDE: Mapping[str, tuple[Kind, ...]] = {
    "measured": ("measured", "exact", "published"),
    "published": ("measured", "exact", "published"),
    "forecast": get_args(Kind),
    OTHERWISE: ("measured", "exact"),
}


@dataclass(frozen=True)
class Block:
    """One kind's sentences.

    Attributes:
        kind: One of ``BLOCKS``.
        lines: What is inside.
        start: The line that opens it, for messages.
    """

    kind: str
    lines: tuple[str, ...]
    start: str

    @property
    def names(self) -> list[str]:
        """The figures that it names."""
        lines = (re.sub(REFERENCE, "", line) for line in self.lines)
        return [name for line in lines for name in re.findall(NAMED, line)]

    @property
    def targets(self) -> list[str]:
        """The outputs of a GPU that it shows."""
        return [found["target"] for line in self.lines if (found := GPU_OUTPUT.match(line))]

    def exists(self, store: Store) -> bool:
        """Whether every number in it is known.

        Raises:
            PageError: If it says something that its kind may not say.
            FigureError: If it names a figure that does not exist.
            RecordingError: If it shows the output of code that does not exist.
        """
        figures = [store.figure(name) for name in self.names]
        strangers = [figure for figure in figures if figure.kind not in BESIDE[self.kind]]
        if strangers:
            raise PageError(
                f"{strangers[0].name} is {strangers[0].kind}, which this block can't say"
            )
        own = any(figure.kind == self.kind for figure in figures) or self.targets
        if self.kind != OTHERWISE and not own:
            raise PageError(f"it names no {self.kind} figure")
        return all(figure.known for figure in figures) and all(
            recorded.read(target, "cuda") for target in self.targets
        )


def chosen(blocks: Mapping[str, Block], store: Store) -> list[Block]:
    """The blocks of a group that the page says.

    Raises:
        PageError: If nothing that it could say exists.
    """
    found = {kind: block for kind, block in blocks.items() if block.exists(store)}
    if "measured" in found:
        return [found["measured"]]
    others = [found[kind] for kind in ("published", "forecast") if kind in found]
    if not others and OTHERWISE in found:
        return [found[OTHERWISE]]
    if not others:
        raise PageError("no block of this group can be said; add `/// otherwise`")
    return others


class Evidence(Preprocessor):
    """Keep the sentences whose figures exist."""

    def run(self, lines: list[str]) -> list[str]:
        """The page's lines without blocks, and without those sentences that nothing supports."""
        kept: list[str] = []
        group: dict[str, Block] = {}
        rest = iter(lines)
        for line in rest:
            opened = START.match(line)
            if opened:
                block = self._block(opened, rest)
                if block.kind in group:
                    raise self._error(block, "this group has a block of this kind already")
                group[block.kind] = block
            elif line.strip() or not group:
                kept += [*self._say(group), line]
                group = {}
        return [*kept, *self._say(group)]

    def _block(self, opened: re.Match[str], rest: Iterator[str]) -> Block:
        """The block that a line opens."""
        end = opened["edge"] + opened["slashes"]
        inside: list[str] = []
        for line in rest:
            if line.rstrip() == end:
                return Block(opened["kind"], tuple(inside), opened[0].strip())
            inside.append(line)
        block = Block(opened["kind"], tuple(inside), opened[0].strip())
        raise self._error(block, f"nothing closes it; write {end.strip()} on a line of its own")

    def _say(self, group: Mapping[str, Block]) -> list[str]:
        """The lines of a group, with empty lines around each block."""
        if not group:
            return []
        try:
            said = chosen(group, open_store())
        except (PageError, FigureError, RecordingError) as problem:
            raise self._error(next(iter(group.values())), str(problem)) from problem
        return [line for block in said for line in ("", *block.lines, "")]

    def _error(self, block: Block, problem: str) -> PageError:
        """The error with file and line: those of the block's first words."""
        words = next((line for line in block.lines if line.strip()), block.start)
        return PageError(f"{line_of(current_page(self.md), words)}: {block.start}: {problem}")


class EvidenceExtension(Extension):
    """Sentences for each kind of evidence."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - Python-Markdown's name
        """After fences know their lines (35), before checks are read (34)."""
        md.preprocessors.register(Evidence(md), "lesson-evidence", 34.5)


def makeExtension(**options: Any) -> EvidenceExtension:  # noqa: N802 - Python-Markdown's name
    """Let ``markdown_extensions: [lesson_site.evidence]`` find the extension."""
    return EvidenceExtension(**options)
