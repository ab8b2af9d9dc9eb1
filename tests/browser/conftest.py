"""Chromium on the finished site, and what it met on each page.

Each page is visited once, with an empty cache, so that it is known what a first visit loads. It is
looked at as it comes, light and wide, and then dark and narrow; the tests ask what was found.
"""

import gzip
import json
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Error,
    Page,
    Request,
    Response,
    TimeoutError,
    expect,
    sync_playwright,
)

from tests import firefox
from tests.browser.covered import shown_of_checks
from tests.building import (
    HOST,
    REPOSITORY,
    build,
    copy_all,
    finish,
    once,
    run,
    shared_folder,
)

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Debian's Chromium without a window takes a fifth less processor time for a page.
WITHOUT_WINDOW = ("chromium-headless-shell", *BROWSERS)
# Chromium fills the list under its address bar from two pages of its own, in a process for each of
# our windows: as much work as a page of ours. It hears the last list only, so the first lines are
# those that Playwright gives.
WITHOUT_FEATURES = (
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades"),
    *("HttpsFirstBalancedModeAutoEnable", "LensOverlay", "MediaRouter", "PaintHolding"),
    *("ThirdPartyStoragePartitioning", "AvoidCorsURLLoaderRestartOnRedirect", "OptimizationHints"),
    *("NetworkTimeServiceQuerying", "AimEnabled", "PreconnectToSearch"),
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup"),
)
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    # WebAssembly by the compiler that is ready first, and not again by the one whose code is fast:
    # what is computed is the same, and no test runs for as long as the second compiler takes.
    "--js-flags=--liftoff-only",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--disable-features={','.join(WITHOUT_FEATURES)}",
)
AXE = REPOSITORY / "node_modules" / "axe-core" / "axe.min.js"
COMPRESSED_ALREADY = ("font/", "image/png", "image/jpeg", "image/webp", "image/avif")
PALETTE = "document.body.dataset.mdColorScheme"
PALETTES = {"light": "default", "dark": "slate"}
# The page has answered to its new width, and no colour is on its way to another.
SETTLED = """async () => {
  for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
  for (const moving of document.getAnimations())
    if (moving instanceof CSSTransition) moving.finish();
}"""
# What is expected comes in a moment; on a busy machine a moment may be long.
expect.set_options(timeout=30_000)

SMALL_SITE = """\
INHERIT: {repository}/mkdocs.yml
site_url: {address}
docs_dir: docs
site_dir: {site}
theme: {{custom_dir: "{repository}/docs/overrides"}}
watch: []
plugins: [search] # importing what renders a notebook takes longer than building these pages
nav:
"""

DENIAL = "The operation is insecure"
# What a browser does that lets pages keep nothing.
DENIED = f"""Object.defineProperty(window, "localStorage", {{
  get() {{ throw new DOMException("{DENIAL}.", "SecurityError"); }} }});"""
# Listens from the first byte on to what the policy stops.
WATCH = """
window.__violations = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.__violations.push(`${event.effectiveDirective}: ${event.blockedURI} ${event.sample}`));
"""
ELEMENTS_OF_OURS = """[...document.querySelectorAll("article *")]
  .filter(({ localName }) => localName.includes("-") && localName !== "annotation-xml").length"""
# Everything that a reader can open stands open; no style attribute, so no policy is asked.
OPEN_ALL = """() => {
  for (const details of document.querySelectorAll("details")) details.open = true;
  for (const block of document.querySelectorAll(".tabbed-block")) block.style.display = "block";
}"""
# The palettes differ in colours alone, so the dark one is asked for those alone.
OF_COLORS = ["color-contrast", "link-in-text-block"]
# How large a finger's target is, axe asks only where it is told to. On a whole page contrast is
# half of its work, and most words look like others: of those whose own style and all of whose
# ancestors' are the same, it is asked about the first. Of links it is asked about each, since the
# text around one counts.
RUN_AXE = """async (rules, part = document) => {
  const only = rules.length ? { runOnly: { type: "rule", values: rules } } : {};
  const kinds = new Map();
  const mark = (element, above) => {
    const style = getComputedStyle(element);
    const looks = [above, element.localName, element.className, style.color, style.opacity,
      style.backgroundColor, style.backgroundImage, style.font, style.filter, style.textShadow,
      style.display, style.visibility, style.position].join("|");
    if (!kinds.has(looks)) kinds.set(looks, { number: kinds.size, shown: false });
    const kind = kinds.get(looks);
    const says = [...element.childNodes].some((n) => n.nodeType === 3 && /\\w/.test(n.data));
    if (says && kind.shown) element.setAttribute("data-alike", "");
    kind.shown ||= says;
    for (const child of element.children)
      if (child instanceof HTMLElement) mark(child, kind.number);
  };
  if (part === document) mark(document.body, "");
  axe.configure({ rules: [
    { id: "target-size", enabled: true, selector: "article *" },
    { id: "color-contrast", selector: ":not([data-alike])" },
  ] });
  const { violations } = await axe.run(part, { resultTypes: ["violations"], ...only });
  for (const marked of document.querySelectorAll("[data-alike]"))
    marked.removeAttribute("data-alike");
  const why = ({ any, all, none }) => [...any, ...all, ...none].map(({ message }) => message);
  return violations.flatMap(({ id, nodes }) => nodes.map((node) =>
    `${id}: ${node.html.slice(0, 160)} | ${why(node).join(" ").slice(0, 200)}`));
}"""
# Material clips what is too wide, so each element is asked that lies in nothing that scrolls.
OVERFLOWS = """() => {
  const scrolls = (element) => {
    for (let at = element; at && at !== document.body; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (["auto", "scroll"].includes(style.overflowX) || style.position === "fixed") return true;
      if (["hidden", "clip"].includes(style.overflowX) && at !== element) return true;
    }
    return false;
  };
  const width = document.documentElement.clientWidth;
  const end = (element) => Math.round(element.getBoundingClientRect().right);
  return [...document.querySelectorAll("article *")]
    .filter((e) => e.checkVisibility() && end(e) > width + 1 && !scrolls(e))
    .map((e) => `${e.outerHTML.slice(0, 100)} ends at ${end(e)} of ${width} px`);
}"""
# On a wide screen a block ends where the text ends, or where the column does. Of each that ends at
# neither edge, where it ends; a table has to fill what holds it, and a caption is as wide as its
# figure. What a check covers is looked at too.
OFF_THE_GRID = """() => {
  for (const after of document.querySelectorAll(".check-after")) after.open = true;
  const article = document.querySelector("article");
  const right = (element) => Math.round(element.getBoundingClientRect().right);
  const probe = document.createElement("p");
  probe.textContent = "word ".repeat(200);
  article.append(probe);
  const text = right(probe);
  probe.remove();
  const column = right(article) - parseFloat(getComputedStyle(article).paddingRight);
  const found = [];
  const off = (element, ...edges) => {
    if (edges.some((edge) => Math.abs(right(element) - edge) <= 2)) return;
    found.push(`${element.outerHTML.slice(0, 90)} ends at ${right(element)}, not at ${edges}`);
  };
  const seen = (element) => element.checkVisibility() && element.offsetWidth > 1;
  const ask = (block) => {
    const { display, position } = getComputedStyle(block);
    if (display === "contents") return [...block.children].forEach(ask);
    if (!seen(block) || position === "absolute" || position === "fixed") return;
    off(block, text, column);
    if (block.matches(".check-after")) [...block.children].forEach(ask);
    for (const table of block.querySelectorAll("table"))
      if (seen(table) && table.offsetWidth < table.parentElement.clientWidth)
        off(table, right(table.parentElement));
    for (const caption of block.querySelectorAll("figcaption"))
      if (seen(caption)) off(caption, right(caption.closest("figure")));
  };
  [...article.children].forEach(ask);
  return found;
}"""


@dataclass(frozen=True)
class Look:
    """A palette and a width in CSS pixels."""

    scheme: Literal["light", "dark"]
    width: int

    def __str__(self) -> str:
        return f"{self.scheme}, {self.width} px"


LOOKS = [Look("light", 1280), Look("dark", 1280), Look("light", 390), Look("dark", 390)]
# A palette decides on contrast and a width on what runs out of it, so two looks have them all.
EACH_PAGE_IN = [LOOKS[0], LOOKS[-1]]


@dataclass
class Visit:
    """What one visit to one page met."""

    status: int = 0
    console: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)
    off_grid: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    gz_bytes: int = 0
    elements: int = 0
    is_read: bool = True  # and has nothing to answer, to move or to measure
    overflows: dict[Look, list[str]] = field(default_factory=dict)
    axe: dict[Look, list[str]] = field(default_factory=dict)
    checks: list[dict[str, Any]] = field(default_factory=list)


Visits = Callable[[str], Visit]


def addresses() -> list[str]:
    """The address of every page, read off the folder of pages, and of the page for lost readers."""
    docs = REPOSITORY / "docs"
    sources = (*docs.rglob("*.md"), docs / "notebooks/as-it-ran.ipynb")
    pages = [page.relative_to(docs) for page in sources]
    found = [
        page.parent if page.name == "index.md" else page.with_suffix("")
        for page in pages
        if page.parts[0] not in ("code", "drawings", "overrides", "assets")
    ]
    return [*sorted("" if p == Path() else f"{p.as_posix()}/" for p in found), "404.html"]


@pytest.fixture(params=addresses(), ids=lambda address: address.strip("/") or "home")
def address(request: pytest.FixtureRequest) -> str:
    """Each page of the site, as the end of its address."""
    return str(request.param)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark everything in this folder, and say why it cannot run where it can't."""
    here = [item for item in items if Path(__file__).parent in item.path.parents]
    reason = missing_tool()
    for item in here:
        item.add_marker(pytest.mark.browser)
        if reason and not config.getoption("--require-browser"):
            item.add_marker(pytest.mark.skip(reason=reason))
    if firefox.executable() or config.getoption("--require-firefox"):
        return
    for item in here:
        if item.get_closest_marker("firefox"):
            reason = "no Firefox here; install your system's `firefox-esr` or `firefox` package"
            item.add_marker(pytest.mark.skip(reason=reason))


def missing_tool() -> str | None:
    """What the browser tests lack on this machine, with how to get it; None if nothing."""
    if not any(map(shutil.which, WITHOUT_WINDOW)):
        return "no Chromium here; install your system's `chromium` package"
    if not AXE.is_file():
        return "axe-core is not installed; run `npm ci --ignore-scripts`"
    return None


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves a folder without a word; browsers that go away in the middle are no error."""

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def end_headers(self) -> None:
        """Let the browser keep files: the tests that count use an empty cache."""
        self.send_header("Cache-Control", "max-age=600")
        super().end_headers()


class QuietServer(ThreadingHTTPServer):
    """Keeps broken connections to itself."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing."""


@contextmanager
def serving(folder: Path) -> Iterator[QuietServer]:
    """A server of the files in ``folder``, which may still be empty, on a free port."""
    server = QuietServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[QuietServer]:
    """Serves the real site, once it is built."""
    with serving(shared_folder(tmp_path_factory) / "built_site") as server:
        yield server


@pytest.fixture(scope="session")
def browser(server: QuietServer) -> Iterator[Browser]:
    """One Chromium for all tests; it finds the site under its name."""
    reason = missing_tool()
    if reason:
        pytest.fail(f"--require-browser was given, but there is {reason}")
    executable = next(filter(None, map(shutil.which, WITHOUT_WINDOW)))
    with sync_playwright() as playwright:
        rule = f"--host-resolver-rules=MAP {HOST} 127.0.0.1:{server.server_port}"
        browser = playwright.chromium.launch(executable_path=executable, args=[*FLAGS, rule])
        yield browser
        browser.close()


@contextmanager
def small_site(
    root: Path, pages: Mapping[str, str], below: str, *, finished: bool = True
) -> Iterator[str]:
    """A site of its own pages with our settings and assets, built, finished and served.

    Args:
        root: Its folder, which is empty.
        pages: What each file below ``docs`` says, by its path, in the order of the pages.
        below: The path under which it is served, such as ``some/course``.
        finished: Whether the post-build pass goes over it; `mkdocs serve` does without.

    Yields:
        Its address.
    """
    docs, site = root / "docs", root / "served" / below
    for name, text in pages.items():
        (docs / name).parent.mkdir(parents=True, exist_ok=True)
        (docs / name).write_text(text, encoding="utf-8")
    (docs / "assets").symlink_to(REPOSITORY / "docs" / "assets")
    (docs / "code").symlink_to(REPOSITORY / "lesson_code")
    nav = "".join(f"  - {name}\n" for name in pages if name.endswith(".md"))
    with serving(root / "served") as server:
        address = f"http://127.0.0.1:{server.server_port}/{below}/"
        settings = SMALL_SITE.format(repository=REPOSITORY, address=address, site=site)
        (root / "mkdocs.yml").write_text(settings + nav, encoding="utf-8")
        built = run("mkdocs", "build", "--strict", "-f", str(root / "mkdocs.yml"), at=REPOSITORY)
        assert not built.returncode, built.stderr
        if finished:
            pass_over = finish(site)
            assert not pass_over.returncode, pass_over.stderr
        yield address


@contextmanager
def fresh_windows(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens windows of new profiles; at the end no error was on the console of any.

    Yields:
        What opens one: it takes a script that runs first, and Playwright's options of a profile.
    """
    contexts: list[BrowserContext] = []
    errors: list[str] = []

    def opened(script: str = "", **options: Any) -> Page:
        def note(error: str) -> None:
            if script != DENIED or DENIAL not in error:  # the theme has no plan for denied storage
                errors.append(error)

        context = browser.new_context(**{"reduced_motion": "reduce", **options})
        contexts.append(context)
        if script:
            context.add_init_script(script)
        page = context.new_page()
        page.on("pageerror", lambda error: note(str(error)))
        page.on("console", lambda said: note(said.text) if said.type == "error" else None)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert [] == errors


@pytest.fixture
def new_window(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens windows for one test."""
    with fresh_windows(browser) as opened:
        yield opened


@pytest.fixture(scope="session")
def site(built_site: Path) -> str:
    """The address of the finished site, under which the browser finds it."""
    return f"http://{HOST}/"


@pytest.fixture(scope="session")
def site_without_a_gpu(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The site as it is where no GPU has measured, with forecasts on many pages; not finished."""

    def make(folder: Path) -> None:
        with tempfile.TemporaryDirectory() as root:
            copy_all(Path(root))
            for file in Path(root).glob("benchmarks/results/*/*.json"):
                if json.loads(file.read_text(encoding="utf-8"))["provenance"]["gpu"]:
                    file.unlink()
            built = build(folder, at=Path(root))
            assert not built.returncode, built.stderr

    with serving(once(shared_folder(tmp_path_factory) / "without_a_gpu", make)) as server:
        yield f"http://127.0.0.1:{server.server_port}/"


@pytest.fixture(scope="session")
def visits(browser: Browser, site: str) -> Visits:
    """What was met on a page; it is visited when it is first asked for."""
    weights: dict[str, int] = {}

    @cache
    def visit_of(address: str) -> Visit:
        with new_context(browser, EACH_PAGE_IN[0]) as cold:
            return visit(cold.new_page(), site, address, weights)

    return visit_of


def new_context(browser: Browser, look: Look, *, javascript: bool = True) -> BrowserContext:
    """A browser window of its own, with nothing in its cache."""
    context = browser.new_context(
        color_scheme=look.scheme,
        viewport={"width": look.width, "height": 900},
        java_script_enabled=javascript,
        reduced_motion="reduce",
    )
    if javascript:
        context.add_init_script(WATCH)
    return context


def visit(page: Page, site: str, address: str, weights: dict[str, int]) -> Visit:
    """Load a page of the site, open everything on it, turn it, and write down what happened.

    Args:
        page: A window with the first look and an empty cache.
        site: The site's address.
        address: The page's, as its end.
        weights: What files weigh in compressed bytes, by their addresses; those that are new are
            added, since one site's pages share most of theirs.
    """
    found = Visit()
    asked: list[Request] = []
    answers: list[Response] = []
    page.on("console", lambda message: _console(message.type, message.text, found))
    page.on("pageerror", lambda error: found.console.append(str(error)))
    page.on("request", lambda request: asked.append(request))
    page.on("response", lambda answer: answers.append(answer))
    page.on("requestfailed", lambda failed: found.failed.append(failed.url))
    answer = page.goto(site + address, wait_until="load")
    settled(page)  # what is loaded late is counted as well
    found.status = answer.status if answer else 0
    found.requests = [request.url.removeprefix(site) for request in map(_asked, answers)]
    for answered in answers:
        if answered.url not in weights:
            weights[answered.url] = _gz_bytes(answered)
    found.gz_bytes = sum(weights[answered.url] for answered in answers)
    found.elements = page.evaluate("document.querySelectorAll('*').length")
    found.is_read = not page.evaluate(ELEMENTS_OF_OURS)
    found.checks = shown_of_checks(page)
    found.off_grid = page.evaluate(OFF_THE_GRID)
    page.evaluate(OPEN_ALL)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    for look in EACH_PAGE_IN:
        if look != EACH_PAGE_IN[0]:
            turn(page, look)
        found.overflows[look] = page.evaluate(OVERFLOWS)
        rules = [] if look == EACH_PAGE_IN[0] else OF_COLORS
        found.axe[look] = page.evaluate(RUN_AXE, rules)
    found.stopped = page.evaluate("window.__violations")
    found.failed += [f"{a.status} {a.url}" for a in answers if a.status >= 400 and a is not answer]
    found.foreign = [request.url for request in asked if _is_foreign(request.url, site)]
    return found


def turn(page: Page, look: Look) -> None:
    """Give a window another look, and wait until its page has answered to it."""
    assert page.viewport_size
    if page.viewport_size["width"] != look.width:
        page.set_viewport_size({**page.viewport_size, "width": look.width})
    page.evaluate(f"(palette) => {{ {PALETTE} = palette; }}", PALETTES[look.scheme])
    page.evaluate(SETTLED)


def settled(page: Page) -> None:
    """Wait until a page has asked for nothing for half a second.

    Now and then Chromium does not say so, though every request has its answer; by then all of them
    have come.
    """
    with suppress(TimeoutError):
        page.wait_for_load_state("networkidle", timeout=10_000)


def barriers(page: Page, part: str) -> list[str]:
    """What axe finds now in the part of a page that a test changes.

    The rest of it is as `test_every_page` has met it.
    """
    if page.evaluate("typeof axe === 'undefined'"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    found: list[str] = page.evaluate(f"(part) => ({RUN_AXE})([], part)", part)
    return found


def _console(kind: str, text: str, found: Visit) -> None:
    if kind in ("error", "warning"):
        found.console.append(f"{kind}: {text}")


def _is_foreign(url: str, site: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme not in ("data", "blob") and parts.netloc != urlsplit(site).netloc


def _asked(answer: Response) -> Any:
    return answer.request


def _gz_bytes(answer: Response) -> int:
    """What an answer weighs on a server that compresses text at gzip's level 6."""
    try:
        body = answer.body()
    except Error:  # a redirect has none
        return 0
    kind = answer.headers.get("content-type", "")
    return len(body) if kind.startswith(COMPRESSED_ALREADY) else len(gzip.compress(body, 6))


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A fresh window for a test that does something on a page."""
    context = new_context(browser, LOOKS[0])
    yield context.new_page()
    context.close()


@pytest.fixture(scope="session")
def page_without_javascript(browser: Browser) -> Iterator[Page]:
    """A window that runs no script."""
    context = new_context(browser, LOOKS[0], javascript=False)
    yield context.new_page()
    context.close()
