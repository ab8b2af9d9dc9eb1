"""Which page is being rendered, and where in its file a line is."""

from dataclasses import dataclass
from pathlib import Path

from markdown import Markdown

from lesson_site.sections import BESIDE


@dataclass(frozen=True)
class Page:
    """A page on its way from Markdown to HTML.

    Attributes:
        source: Its Markdown file, relative to the repository's root: ``docs/gpu-training/….md``.
        url: Its address in the site, without a leading slash: ``gpu-training/…/``.
        begins: Where relative links in its HTML begin: at its address if nothing else is said.
    """

    source: Path
    url: str
    begins: str | None = None

    @property
    def root(self) -> str:
        """The way from this page to the site's root: ``../../``, or ``./`` on the home page."""
        begins = self.url if self.begins is None else self.begins
        return "../" * begins.removeprefix("./").count("/") or "./"

    def code(self, file: str) -> str:
        """The way from this page to a file of ``lesson_code``, or of ``graders/``."""
        return f"{self.root}{file}" if file.startswith(BESIDE) else f"{self.root}code/{file}"


def current_page(md: Markdown) -> Page:
    """The page that ``md`` converts, under MkDocs or Zensical; elsewhere a page without a name."""
    for processors in (md.treeprocessors, md.preprocessors):
        for processor in processors:
            file = getattr(processor, "file", None)  # MkDocs' link processor knows its file
            if file is not None and hasattr(file, "src_uri"):
                return Page(Path("docs") / file.src_uri, file.url)
            page = getattr(processor, "page", None)  # Zensical's context knows its page
            if page is not None and hasattr(page, "path"):
                # It lengthens links in HTML as well, as if they were written in Markdown.
                return Page(Path("docs") / page.path, page.url, page.path)
    return Page(Path("page.md"), "")


def line_of(page: Page, text: str) -> str:
    """``file:line`` of the first line that contains ``text``, or the file alone."""
    try:
        lines = page.source.read_text(encoding="utf-8").splitlines()
    except OSError:
        return str(page.source)
    for number, line in enumerate(lines, start=1):
        if text in line:
            return f"{page.source}:{number}"
    return str(page.source)
