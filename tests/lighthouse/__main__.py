"""Ask Lighthouse of a finished site: `python -m tests.lighthouse SITE`.

SITE is built with `SITE_URL`, as the published one is. Pages are served compressed, as GitHub does.
"""

import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from statistics import median
from threading import Thread
from typing import Any, ClassVar

LIGHTHOUSE = Path(__file__).parent / "node_modules" / ".bin" / "lighthouse"
BROWSERS = ("chromium", "google-chrome", "google-chrome-stable", "chromium-browser")
FLAGS = "--headless=new --no-sandbox --disable-gpu"
FULL = {"accessibility": 100, "best-practices": 100, "seo": 100}
READING = {**FULL, "performance": 95}
# Search engines are to find the sections and not these copies of them, so SEO is not asked.
COPY = {"accessibility": 100, "best-practices": 100}
PAGES = {
    "": READING,
    "gpu-training/device-aware-loop/": READING,
    "gpu-training/when-a-gpu-helps/": READING,
    "gpu-training/why-mixed-precision/": READING,
    "gpu-training/when-mixed-precision-helps/": READING,
    "gpu-training/whole-lesson/": COPY,
    "lab/exercise-1/": READING,
    "lab/memory-mathematics/": READING,
    "mission/": FULL,
    "benchmarks/forecast/": FULL,
    "benchmarks/compare/": FULL,
    "notebooks/exercise-1/": READING,
    "notebooks/as-it-ran/": COPY,
}
# Lighthouse slows a desktop, which has 1500 to 2000 points of its own benchmark, four times to be
# the phone that it has in mind. A slower machine needs less for the same phone, as its
# docs/throttling.md says; four times are too much for most that CI runs on.
PHONE = 1750 / 4
# A busy machine costs speed, so a page that seems slow is asked this often, and the middle counts.
TIMES = 5

Scores = Mapping[str, float]
Report = dict[str, Any]


class Compressing(SimpleHTTPRequestHandler):
    """Serves a folder, its text by gzip."""

    extensions_map: ClassVar = {
        **SimpleHTTPRequestHandler.extensions_map,
        ".mjs": "text/javascript",
    }

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def send_head(self) -> Any:
        """Answer as the class above does, and compress a file's text."""
        path = Path(self.translate_path(self.path))
        path = path / "index.html" if path.is_dir() else path
        kind = self.guess_type(str(path))
        text = kind.startswith("text/") or kind.endswith(("json", "svg+xml", "javascript"))
        if not path.is_file() or not text or not self.path.split("?")[0].endswith(("/", path.name)):
            return super().send_head()
        body = gzip.compress(path.read_bytes(), 6)
        self.send_response(200)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        return BytesIO(body)


@contextmanager
def serving(site: Path) -> Iterator[str]:
    """The address under which a folder is served."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Compressing, directory=str(site)))
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


def ask(address: str, slowdown: float = 4) -> Report:
    """What Lighthouse reports of a page, on a phone so many times as slow as this machine."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [LIGHTHOUSE, address, f"--chrome-flags={FLAGS}", "--quiet"]
        browser = next(filter(None, map(shutil.which, BROWSERS)), "")
        subprocess.run(
            [
                *(*command, f"--throttling.cpuSlowdownMultiplier={slowdown:.2f}"),
                *("--output=json", f"--output-path={report}"),
            ],
            env={**os.environ, "CHROME_PATH": browser},
            check=True,
        )
        content: Report = json.loads(report.read_text(encoding="utf-8"))
        return content


def slowdown_of(report: Report) -> float:
    """How many times as slow as this machine the simulated phone is, by what a report tells."""
    points: float = report["environment"]["benchmarkIndex"]
    return max(1.0, points / PHONE)


def scores(report: Report) -> dict[str, float]:
    """The points of each category, of 100; a category without any has none."""
    found = {name: category["score"] for name, category in report["categories"].items()}
    return {name: round(100 * (score or 0)) for name, score in found.items()}


def lost(report: Report, wanted: Scores) -> list[str]:
    """What cost the points, by the categories that have too few."""
    points = scores(report)
    short = [name for name, least in wanted.items() if points.get(name, 0) < least]
    return [
        f"{name}: {reference['id']}"
        for name in short
        for reference in report["categories"].get(name, {}).get("auditRefs", [])
        if reference["weight"] and (report["audits"][reference["id"]]["score"] or 0) < 0.9
    ]


def judged(address: str, wanted: Scores, ask: Callable[[str], Report]) -> tuple[Scores, list[str]]:
    """The points of a page, and what it lacks; nothing if it has what is wanted."""
    report = ask(address)
    points = scores(report)
    least = wanted.get("performance", 0)
    if points.get("performance", 0) < least:
        again = [points.get("performance", 0)]
        again += [scores(ask(address)).get("performance", 0) for _ in range(TIMES - 1)]
        points["performance"] = median(again)
    lacks = [
        f"{name} has {points.get(name, 0):g} of {least}"
        for name, least in wanted.items()
        if points.get(name, 0) < least
    ]
    return points, lacks + lost(report, wanted) * bool(lacks)


def main(words: list[str], ask: Callable[[str, float], Report] = ask) -> int:
    """Ask of each page; 1 if one lacks points."""
    if len(words) != 1 or not (Path(words[0]) / "index.html").is_file():
        print("error: no finished site given; name its folder, such as site", file=sys.stderr)
        return 2
    status = 0
    with serving(Path(words[0])) as site:
        slowdown = slowdown_of(ask(site, 4))
        print(f"The phone is {slowdown:.1f} times as slow as this machine.")
        for page, wanted in PAGES.items():
            points, lacks = judged(site + page, wanted, lambda address: ask(address, slowdown))
            row = "  ".join(f"{name} {value:g}" for name, value in points.items())
            print(f"{page or 'home':45} {row}", *lacks, sep="\n    ", flush=True)
            status |= bool(lacks)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
