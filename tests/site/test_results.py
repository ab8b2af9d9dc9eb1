"""Pages follow the result files: what is removed is "not measured yet", what is added is shown."""

import json
import re
import shutil
from pathlib import Path

import pytest

from results import result_file
from results.store import Store, open_store, read_catalogue, read_result, sort_results
from tests.benchmarks.made_up import GPU_MACHINE, part, result
from tests.building import build, copy_all
from tests.site.conftest import Copy

NBSP = "\N{NO-BREAK SPACE}"
PAGE = """\
---
claims:
  - tiny_epoch.samples_100.cpu < tiny_epoch.samples_100.cuda
---
# 1. First { #first }

/// measured
A tiny epoch on the GPU takes [[tiny_epoch.samples_100.cuda]], one of MNIST [[mnist_epoch.cpu]].
///
/// otherwise
A tiny epoch is over before a GPU has begun.
///

| of | an epoch |
| -- | -------- |
| MNIST | [[mnist_epoch.cpu]] |
| 100 images | [[tiny_epoch.samples_100.cuda]] |

```lesson-chart show="hook"
```
"""
RESULTS = sorted(result_file.FOLDER.glob("*/*.json"))


def made_up(tiny_gpu_s: float = 0.005) -> str:
    """A result of a GPU machine that does not exist, with the two tasks of the hook."""
    cases = {
        "tiny_epoch": {"samples_100": part(samples_100__cpu=0.002, samples_100__cuda=tiny_gpu_s)},
        "mnist_epoch": {"epoch": part(cpu=12.3, cuda=4.56)},
    }
    return json.dumps(result(cases, GPU_MACHINE))


def remove_results(root: Path) -> None:
    """Remove every result file of a repository; git keeps the folder itself."""
    for machine in (root / result_file.FOLDER).iterdir():
        if machine.is_dir():
            shutil.rmtree(machine)


def without_results(copy: Copy) -> Copy:
    """The copy with the page above and no result file."""
    remove_results(copy.root)
    copy.write("docs/tiny/01-first.md", PAGE)
    return copy


def built_page(copy: Copy) -> tuple[str, str]:
    """The HTML of the page, and what the strict build said."""
    built = build(copy.root / "site", at=copy.root)
    assert not built.returncode, built.stderr
    html = (copy.root / "site" / "tiny" / "01-first" / "index.html").read_text(encoding="utf-8")
    return html, built.stderr


def sentence(html: str) -> str:
    """The page's sentence as its readers see it."""
    found = re.search(r"A tiny epoch.*?</p>", html, flags=re.DOTALL)
    assert found
    return re.sub(r"<[^>]*>", "", found[0]).strip()


def hook(html: str) -> str:
    """The page's chart."""
    found = re.search(r"<figure class=\"chart.*?</figure>", html, flags=re.DOTALL)
    assert found
    return found[0]


def test_without_results_the_page_teaches_without_the_numbers(copy: Copy) -> None:
    """It builds strictly, the table has dashes, and the build's log counts them."""
    html, said = built_page(without_results(copy))

    assert "A tiny epoch is over before a GPU has begun." == sentence(html)
    assert 2 == html.count(">–</a>")
    assert 'data-kind="published"' in hook(html)
    assert "2 figures not measured yet" in said


def test_a_new_result_changes_sentence_and_chart_with_no_edit(copy: Copy) -> None:
    """The file is put there, and nothing else."""
    before, _ = built_page(without_results(copy))
    copy.write("benchmarks/results/made-up-gpu/2026-11-21-abcdef0.json", made_up())

    after, said = built_page(copy)

    assert f"A tiny epoch on the GPU takes 5.0{NBSP}ms, one of MNIST 12.3{NBSP}s." == sentence(
        after
    )
    assert "Made-up GPU" in after
    assert "Made-up GPU" not in before
    assert f"4.56{NBSP}s" in hook(after)
    assert 'data-kind="published"' in hook(before)
    assert 'data-kind="measured"' in hook(after)
    assert "not measured yet: " not in said


def test_a_sentence_that_loses_its_value_stops_the_build(copy: Copy) -> None:
    """The last line names the page, the line and the figure."""
    without_results(copy).write("docs/tiny/01-first.md", "# 1. First\n\nIn [[mnist_epoch.cpu]].\n")

    built = build(copy.root / "site", at=copy.root)

    assert built.returncode
    last = built.stderr.strip().splitlines()[-1]
    assert "docs/tiny/01-first.md:3: [[mnist_epoch.cpu]] has no value" in last


@pytest.mark.parametrize(
    ("was", "now", "said"),
    [
        (
            '"median": 12.3',
            '"median": 0.001',
            "at cases.mnist_epoch.epoch.entries.cpu.median: it is",
        ),
        ('"median": 12.3', '"median": NaN', "at cases.mnist_epoch.epoch.entries.cpu.median: NaN"),
    ],
)
def test_a_file_that_is_refused_stops_the_build(was: str, now: str, said: str, copy: Copy) -> None:
    """The last line names the file and what is wrong there; nothing of it reaches a page."""
    file = "benchmarks/results/made-up-gpu/2026-11-21-abcdef0.json"
    without_results(copy).write(file, made_up().replace(was, now, 1))

    built = build(copy.root / "site", at=copy.root)

    assert built.returncode
    assert f"{file} {said}" in built.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize("removed", RESULTS, ids=lambda path: path.stem)
def test_each_result_file_can_be_removed(removed: Path) -> None:
    """Every figure is then a value of another file, or says that it is not measured yet."""
    left = [read_result(path) for path in RESULTS if path != removed]
    store = Store(read_catalogue(), sort_results(left), open_store().citations)

    for name in store.definitions:
        figure = store.figure(name)
        assert figure.text == "not measured yet" or figure.known
        assert figure.source


def test_the_real_site_says_which_sentence_loses_its_number(tmp_path: Path) -> None:
    """Without any result, the strict build stops and its last line names page, line and figure."""
    copy_all(tmp_path)
    remove_results(tmp_path)

    built = build(tmp_path / "site", at=tmp_path)

    assert built.returncode
    last = built.stderr.strip().splitlines()[-1]
    assert re.search(r"docs/\S+\.md:\d+: \[\[\S+\]\] has no value", last)


def test_a_complete_file_of_a_gpu_takes_its_place_on_the_real_site(changed_site: Path) -> None:
    """All pages build and pass their checks, and measured sentences take the place of forecasts."""
    page = "gpu-training/when-a-gpu-helps/index.html"
    said = (changed_site / "site" / page).read_text(encoding="utf-8")

    assert "Made-up GPU" in said
    assert "forecast.resnet_64.float32.card.time" not in said
