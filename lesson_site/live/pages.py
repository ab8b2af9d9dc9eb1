"""What the live server adds to Jupyter's: the site's pages, and a door of its own."""

import mimetypes
import re
from contextlib import suppress
from html import escape
from pathlib import Path

from jupyter_server.auth.decorator import allow_unauthenticated
from jupyter_server.auth.identity import IdentityProvider
from jupyter_server.base.handlers import JupyterHandler
from tornado import web

from lesson_site.live import runs_of

BASE = "/lesson/"
# Only here do pages load what runs code: the public site has no such line, and asks for nothing.
ADDED = (
    '<meta name="lesson-runs" content="{runs}">\n'
    f'<link rel="stylesheet" href="{BASE}assets/elements/live/run.css">\n'
    f'<script type="module" src="{BASE}assets/elements/run-on-machine.js"></script>\n'
)
# A system's own list may call scripts plain text, which browsers then refuse.
TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".json": "application/json",
    ".mjs": "text/javascript",
    ".svg": "image/svg+xml",
    ".wasm": "application/wasm",
}
TEXT = ("text/", "application/json", "image/svg")
# A worker has the policy that comes with its file. So no code that runs in one, such as a reader's
# Python, reaches the kernels, which live beside the pages and not below them.
WORKER_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src {pages} 'wasm-unsafe-eval'",
        "connect-src {pages}",
        "worker-src {pages} blob:",
        "frame-ancestors 'none'",
    ]
)
LOCATION = re.compile(r"<loc>(?P<address>[^<]+)</loc>")
CLOSED = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Closed</title></head>
<body><main><h1>This address is not enough</h1>
<p>Pages from here run code on this computer.
They open at the whole address that the command printed, with its token.</p>
</main></body></html>
"""


class SiteHandler(JupyterHandler):
    """A file of the site, for who is logged in; each page with what runs its snippets."""

    # jupyter_server gives each handler what it stands for when it asks who may do what
    auth_resource = "contents"

    def initialize(self, site: Path) -> None:
        """Take the folder of the site."""
        self.site = site

    @web.authenticated
    def get(self, path: str) -> None:
        """Answer with the file; an address with the token leads to the same one without it."""
        if "token" in self.request.query_arguments:
            self.redirect(self.request.path)  # the cookie is set by now
            return
        file = self._file(path)
        kind = TYPES.get(file.suffix) or mimetypes.guess_type(file.name)[0]
        kind = kind or "application/octet-stream"
        charset = "; charset=utf-8" if kind.startswith(TEXT) else ""
        self.set_header("Content-Type", kind + charset)
        self.set_header("Cache-Control", "no-cache")
        if kind == "text/javascript":
            policy = WORKER_POLICY.format(pages=self._pages)
            self.set_header("Content-Security-Policy", policy)
        self.write(self._content(file))

    @web.authenticated
    def head(self, path: str) -> None:
        """Answer like ``get``; the server leaves out the body."""
        self.get(path)

    @property
    def _pages(self) -> str:
        """Where the pages are, as the browser calls this server."""
        return f"{self.request.protocol}://{self.request.host}{BASE}"

    def _file(self, path: str) -> Path:
        """The file that an address means; an error 404 for one outside of the site."""
        with suppress(OSError, ValueError):  # a name too long for a file, or with a zero byte
            file = (self.site / path).resolve()
            if path.endswith("/") or not path:
                file = file / "index.html"
            if file.is_relative_to(self.site) and file.is_file():
                return file
        raise web.HTTPError(404)

    def _content(self, file: Path) -> bytes:
        if file.suffix == ".html":
            self.xsrf_token  # noqa: B018 - reading it sets the cookie that the page's script needs
            text = file.read_text(encoding="utf-8")
            added = ADDED.format(runs=escape(str(runs_of(self.site))))
            return text.replace("</head>", added + "</head>", 1).encode()
        if file.name == "sitemap.xml":
            return self._sitemap(file.read_text(encoding="utf-8")).encode()
        return file.read_bytes()

    def _sitemap(self, text: str) -> str:
        """The list of pages at their addresses here: the theme follows no link that it lacks."""
        addresses = LOCATION.findall(text)
        if not addresses:
            return text
        home = min(addresses, key=len)
        return text.replace(f"<loc>{home}", f"<loc>{self._pages}")


class ClosedHandler(JupyterHandler):
    """What a visitor gets who is not logged in; there is no form in which to try tokens."""

    @allow_unauthenticated
    def get(self) -> None:
        """Say where the door is."""
        self.set_status(401)
        self.write(CLOSED)


class Door(IdentityProvider):
    """Takes the token on pages alone.

    Jupyter would let anyone who sends it reach the kernels from any origin; with the cookie, which
    is all that works there now, both the origin and the header against forged requests are checked.
    """

    login_handler_class = ClosedHandler

    def get_token(self, handler: web.RequestHandler) -> str | None:
        """The token of a request for a page; None for any other."""
        return super().get_token(handler) if isinstance(handler, SiteHandler) else None
