"""The workflow that tries newer versions tells what they change, once, and nothing else."""

import shutil
import sys
from pathlib import Path

import pytest

from tests.building import REPOSITORY
from tests.workflow import MAIN, Machine

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="the scripts of the workflow are for machines with Linux"
)
FINE = '<testsuite><testcase classname="tests.a" name="test_b"/></testsuite>'
TARGET = "gpu_training/float16_numbers:print_small_numbers"
CHANGED = (
    '<testsuite><testcase classname="tests.recorded.test_recorded_outputs" '
    f'name="test_fresh[{TARGET}]"><failure message="1 became 2"/></testcase></testsuite>'
)


class FreshRun(Machine):
    """Machines on which newer versions are tried, one job after the other.

    Attributes:
        pytest: What a call of pytest does, in the shell's language.
    """

    def __init__(self, folder: Path, package: str = "pip:zensical") -> None:
        name, context = package.partition(":")[2], {"matrix.version": "nightly"}
        tried = {"matrix.package": package, "matrix.key": name.partition("/")[2] or name}
        super().__init__(folder / "checkout", {**MAIN, **context, **tried})
        self.store = folder / "store"
        self.actions = {
            "actions/checkout": self._checkout,
            "actions/upload-artifact": self._upload,
            "actions/download-artifact": self._download,
        }
        self.answers = {
            "lesson_site.freshness": (
                f'at=$PWD; cd "{REPOSITORY}"; '
                f'exec "{sys.executable}" -m lesson_site.freshness "$at/$3"'
            ),
            "import torch": "echo PyTorch 9",
            "pip install": 'echo "$6" > installed',
            "pip show": "test -e installed && echo Version: 9 || echo Version: 8",
            "pytest": self.reports(FINE),
        }
        self.body = folder / "body"
        self.issues("")
        for tool in ("make", "npm"):
            self.stub(tool)

    def reports(self, text: str, code: int = 0) -> str:
        """What a call of pytest does that ends with a report."""
        report = self.root.parent / f"report-{code}.xml"
        report.write_text(text, encoding="utf-8")
        return (
            f'for word; do case "$word" in --junitxml=*) cp "{report}" "${{word#*=}}" ;; esac; '
            f"done; exit {code}"
        )

    def issues(self, open_one: str) -> None:
        """Say which issue is open."""
        keep = f'for word; do last=$word; done; cp "$last" "{self.body}"'
        answers = {"issue list": f"echo {open_one}", "issue create": keep, "issue edit": keep}
        self.stub("gh", answers)

    def start(self) -> dict[str, str]:
        """Run all of it, as each week."""
        shutil.rmtree(self.store, ignore_errors=True)
        return self.run("freshness.yml")

    @property
    def told(self) -> list[str]:
        """What was asked of GitHub."""
        return [call for call in self.calls if call.startswith("gh ")]

    def _checkout(self, _: dict[str, str]) -> dict[str, str]:
        shutil.rmtree(self.root)
        (self.root / ".ci").mkdir(parents=True)
        for script in ("try", "newest"):
            shutil.copy(REPOSITORY / ".ci" / script, self.root / ".ci")
        self.stub(".venv/bin/python", self.answers)
        return {}

    def _upload(self, given: dict[str, str]) -> dict[str, str]:
        path, kept = self.root / given["path"], self.store / given["name"]
        if path.is_dir():
            shutil.copytree(path, kept)
        elif path.is_file():
            kept.mkdir(parents=True)
            shutil.copy(path, kept)
        return {}

    def _download(self, given: dict[str, str]) -> dict[str, str]:
        if "name" in given:
            shutil.copytree(self.store / given["name"], self.root, dirs_exist_ok=True)
        for kept in self.store.glob(given.get("pattern", "none")):
            shutil.copytree(kept, self.root / given["path"] / kept.name)
        return {}


@pytest.fixture
def fresh(tmp_path: Path) -> FreshRun:
    """Newer versions that change nothing."""
    return FreshRun(tmp_path)


def test_versions_that_change_nothing_are_not_told(fresh: FreshRun) -> None:
    """No issue is opened, changed or closed; both were tried."""
    results = fresh.start()

    assert {"pytorch": "success", "tools": "success", "report": "success", "tell": "skipped"} == (
        results
    )
    assert [] == fresh.told
    assert 2 == sum("-m pytest" in call for call in fresh.calls)


def test_the_nightly_version_is_installed_and_named(fresh: FreshRun) -> None:
    """By the name that it gives itself."""
    fresh.start()

    assert any("--pre --upgrade torch torchvision" in call for call in fresh.calls)
    assert "PyTorch 9\n" == (fresh.store / "fresh-pytorch-nightly/version.txt").read_text()


def test_a_changed_printout_opens_an_issue_that_names_its_page(fresh: FreshRun) -> None:
    """What failed is asked once more, alone, and then told."""
    fresh.answers["pytest"] = fresh.reports(CHANGED, 1)

    results = fresh.start()

    assert "success" == results["tell"]
    assert ["list", "create", "create"] == [call.split()[2] for call in fresh.told]
    text = fresh.body.read_text(encoding="utf-8")
    assert "1 became 2" in text
    assert "  - docs/" in text
    assert 2 == sum("--last-failed" in call for call in fresh.calls)


def test_an_open_issue_gets_the_new_text(fresh: FreshRun) -> None:
    """There is never a second one, and none is closed."""
    fresh.answers["pytest"] = fresh.reports(CHANGED, 1)
    fresh.issues("17")

    fresh.start()

    assert ["list", "edit"] == [call.split()[2] for call in fresh.told]
    assert "issue edit 17 " in fresh.told[-1]


def test_what_passes_alone_is_not_told(fresh: FreshRun) -> None:
    """It took too long beside others."""
    alone = f'case "$*" in *--last-failed*) {fresh.reports(FINE)} ;; esac'
    fresh.answers["pytest"] = f"{alone}; {fresh.reports(CHANGED, 1)}"

    results = fresh.start()

    assert "skipped" == results["tell"]


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        ({"pytest": "exit 139"}, "The tests ended before they could report"),
        ({"import torch": "exit 1"}, "`PyTorch, the nightly`"),
        ({"pip install": "exit 1"}, "`PyTorch, the nightly`"),
        ({"--upgrade zensical": "exit 1"}, "`zensical, the newest`"),
    ],
    ids=["crash", "import", "nightly", "package"],
)
def test_what_breaks_off_is_told(fresh: FreshRun, answers: dict[str, str], sentence: str) -> None:
    """A version that can't be installed, imported or tested is news as well."""
    fresh.answers = {**answers, **fresh.answers, **answers}  # asked in this order

    results = fresh.start()

    assert "success" == results["tell"]
    assert sentence in fresh.body.read_text(encoding="utf-8")


def test_a_crash_in_the_second_try_keeps_the_first_report(fresh: FreshRun) -> None:
    """The tests that failed beside others are named then."""
    alone = 'case "$*" in *--last-failed*) exit 139 ;; esac'
    fresh.answers["pytest"] = f"{alone}; {fresh.reports(CHANGED, 1)}"

    fresh.start()

    assert "1 became 2" in fresh.body.read_text(encoding="utf-8")


def test_a_package_without_a_newer_version_is_not_tested(fresh: FreshRun) -> None:
    """Its tests are those of each pull request."""
    fresh.answers["pip show"] = "echo Version: 8"

    fresh.start()

    assert ["fresh-pytorch-nightly", "issue"] == sorted(p.name for p in fresh.store.iterdir())
    assert 1 == sum("-m pytest" in call for call in fresh.calls)


def test_a_library_of_browsers_comes_with_its_checksums(tmp_path: Path) -> None:
    """Nothing that was laid of the pinned version is left."""
    fresh = FreshRun(tmp_path, "npm:@cfworker/json-schema")
    fresh.answers["- @cfworker"] = "test -e newer && echo 9 || echo 8"
    fresh.stub("npm", {"install": "touch newer"})

    fresh.start()

    asked = [call for call in fresh.calls if "npm" in call or "vendor --renew" in call]
    assert ["npm install", "python -m"] == [" ".join(call.split()[:2]) for call in asked]
    assert "@cfworker/json-schema@latest" in asked[0]
    assert "@cfworker/json-schema 9\n" == (fresh.store / "fresh-json-schema/version.txt").read_text(
        encoding="utf-8"
    )


def test_a_fork_tries_nothing(tmp_path: Path) -> None:
    """Nobody there asked for it."""
    fresh = FreshRun(tmp_path)
    fresh.context["github.event.repository.fork"] = True

    assert {"skipped"} == set(fresh.start().values())
