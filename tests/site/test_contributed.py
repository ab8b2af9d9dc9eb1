"""A file that a reader gave is shown in charts and on Compare, and changes no other word."""

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

from benchmarks.contribute import given, main
from results import result_file
from results.contributed import FOLDER
from tests.benchmarks.made_up import complete
from tests.building import HOST, REPOSITORY, build, copy_all, finish, once, shared_folder
from tests.site.conftest import Copy

FILE = FOLDER / "ada" / "made-up-gpu-2026-11-21-1400.json"
COMPARE = "benchmarks/compare/index.html"
COMMAND = re.compile(r"python -m benchmarks\.contribute ([^`\n]+)")
GUIDES = ("docs/benchmarks/compare.md", "CONTRIBUTING.md")


def contributed(name: str = "Ada") -> dict[str, object]:
    """A GPU that does not exist, which trains an epoch in 10 ms."""
    return given(complete(), name)


@pytest.fixture(scope="session")
def with_reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real site with one contributed file, built and finished."""
    return once(shared_folder(tmp_path_factory) / "with_reader", _make)


def _make(root: Path) -> None:
    copy_all(root)
    shutil.rmtree(root / FOLDER)  # what others gave by now
    result_file.write(contributed(), root / FILE)
    built = build(root / "site", at=root, address=f"http://{HOST}/")
    assert not built.returncode, built.stderr
    finished = finish(root / "site", at=root)
    assert not finished.returncode, finished.stderr


def test_no_page_says_anything_else(built_site: Path, with_reader: Path) -> None:
    """Outside of charts and of the table on Compare every word and every address is as it was.

    An epoch in 10 ms would turn round sentences, claims and verdicts, if any rested on it. The
    site is finished, so that every page keeps its weight too.
    """
    pages = sorted(page.relative_to(built_site) for page in built_site.rglob("*.html"))
    site = with_reader / "site"

    assert pages == sorted(page.relative_to(site) for page in site.rglob("*.html"))
    changed = {
        page.as_posix()
        for page in pages
        if (built_site / page).read_bytes() != (site / page).read_bytes()
    }
    assert COMPARE in changed
    assert 3 < len(changed) < len(pages) / 2
    assert [] == [
        page for page in sorted(changed) if outside(built_site / page) != outside(site / page)
    ]


def outside(page: Path) -> str:
    """A page's HTML without its charts, its readers' table, and the hashes of its policy."""
    html = page.read_text(encoding="utf-8")
    html = re.sub(r'<figure class="chart .*?</figure>', "", html, flags=re.DOTALL)
    html = re.sub(
        r'<div class="results readers">.*?</ul></div>',
        "",
        html,
        flags=re.DOTALL,
    )
    return re.sub(r"'sha256-[^']+'|assets/data/\w+\.json", "", html)


def test_compare_shows_the_reader(with_reader: Path) -> None:
    """A column with name, card, versions and day, and a link to samples that are there."""
    page = with_reader / "site" / COMPARE
    html = page.read_text(encoding="utf-8")

    assert "Made-up GPU, measured by Ada <small>PyTorch 2.15.0, 2026-11-21</small>" in html
    [href] = re.findall(r'href="(\.\./[^"]*contributed/[^"]+)"', html)
    samples = (page.parent / href).read_text(encoding="utf-8")
    assert "Ada" == json.loads(samples)["contributor"]


@pytest.mark.parametrize(
    ("was", "now", "said"),
    [
        ('"contributor": "Ada"', '"contributor": "ada.lab.example"', "at contributor: this looks"),
        ('"machine": "made-up-gpu"', '"machine": "adas-box"', "at provenance.machine: it is not"),
        ('"median": 0.01', '"median": NaN', "NaN is not a measured number"),
    ],
)
def test_a_file_that_is_refused_stops_the_build(was: str, now: str, said: str, copy: Copy) -> None:
    """The last line names the file and the reason."""
    copy.write("docs/tiny/01-first.md", '# 1. First\n\n```lesson-chart show="hook"\n```\n')
    copy.write(FILE.as_posix(), json.dumps(contributed()).replace(was, now, 1))

    built = build(copy.root / "site", at=copy.root)

    assert built.returncode
    last = built.stderr.strip().splitlines()[-1]
    assert f"{FILE} " in last
    assert said in last


@pytest.mark.parametrize("guide", GUIDES)
def test_the_command_of_the_guides_works(
    guide: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it is written there, beside the file that it names."""
    [words] = COMMAND.findall((REPOSITORY / guide).read_text(encoding="utf-8"))
    monkeypatch.chdir(tmp_path)
    result_file.write(complete(), tmp_path / "gpu-result.json")

    code = main(shlex.split(words))

    assert 0 == code
    assert 1 == len(list(tmp_path.glob(f"{FOLDER}/*/*.json")))
