"""The site for authors: served, and built again when a file changes.

A changed page alone is built alone, within a second. Whatever else changes, all pages are built,
since any of them may show it.
"""

import logging
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.livereload import LiveReloadServer

from lesson_site.errors import PageError
from lesson_site.markdown_source import Source
from lesson_site.numbering import section_of

HOST = "127.0.0.1"
LOOK_EVERY_S = 0.2


def preview(port: int) -> None:
    """Serve the site at ``port`` of this machine until Control-C.

    Raises:
        OSError: If the port is taken.
        PageError: If a page is wrong at the start. Later that is said, and the old page stays.
    """
    logging.basicConfig(level=logging.INFO, format="%(levelname)-7s %(message)s")
    # That links and titles of other pages may be old is what we want here.
    logging.getLogger("mkdocs.commands.build").addFilter(lambda said: "'dirty'" not in said.msg)
    with tempfile.TemporaryDirectory(prefix="lesson-") as folder:
        before: dict[Path, int] | None = None

        def settings() -> MkDocsConfig:
            return load_config(site_dir=folder, site_url=f"http://{HOST}:{port}/")

        def make() -> None:
            nonlocal before
            config = settings()
            now = _besides_pages(config)
            if now == before:  # other pages are not read, so their titles in the navigation are
                config.nav = _with_titles(config.nav)
            build(config, serve_url=config.site_url, dirty=now == before)
            before = now

        def make_again() -> None:
            with suppress(PageError):  # MkDocs has said it, with the file and the line
                make()

        config = settings()
        config.plugins.on_startup(command="serve", dirty=True)
        make()
        server = LiveReloadServer(make_again, HOST, port, folder, polling_interval=LOOK_EVERY_S)
        for path in (config.docs_dir, config.config_file_path, *config.watch):
            server.watch(path)
        config.plugins.on_serve(server, config=config, builder=make_again)
        try:
            server.serve()
        except KeyboardInterrupt:
            pass
        finally:
            server.shutdown()
            config.plugins.on_shutdown()


def _besides_pages(config: MkDocsConfig) -> dict[Path, int]:
    """When each file that several pages may depend on was changed."""
    docs = Path(config.docs_dir)
    watched = [docs / "drawings", docs / "overrides", *map(Path, config.watch)]
    files = [path for folder in watched for path in folder.rglob("*") if path.is_file()]
    return {path: path.stat().st_mtime_ns for path in [Path(config.config_file_path), *files]}


def _with_titles(entries: Any) -> Any:
    """The navigation with the title of each page that it names by its file alone."""
    if isinstance(entries, list):
        return [_with_titles(entry) for entry in entries]
    if isinstance(entries, dict):
        return {
            title: pages if isinstance(pages, str) else _with_titles(pages)
            for title, pages in entries.items()
        }
    source = Path("docs") / entries
    section = section_of(source)
    if section:
        return {section.title: entries}
    title = Source.read(source).title
    return {title: entries} if title else entries
