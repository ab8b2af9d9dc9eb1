"""The workflows do what they say: their own steps run here, and break where they may break."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.workflow import MAIN, Machine, read

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="the scripts of the workflows are for machines with Linux"
)
PASSED = {
    "github.event.workflow_run.conclusion": "success",
    "github.event.workflow_run.event": "push",
}
NEW = ["benchmarks/results/gpu/one.json", "benchmarks/results/gpu/after midnight.json"]


def git(root: Path, *words: str) -> str:
    """What git answers."""
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("vars.A != '' && !github.event.fork", True),
        ("vars.B != '' || github.event.fork", False),
        ("(vars.A == 'yes') && 'one' || 'two'", "one"),
        ("vars.B && 'one' || 'two'", "two"),
        ("always()", True),
        ("failure()", False),
    ],
)
def test_expressions_are_computed_as_github_does(
    expression: str, value: object, tmp_path: Path
) -> None:
    """An unset variable is empty."""
    machine = Machine(tmp_path / "a", {"vars.A": "yes", "github.event.fork": False})

    assert value == machine.value(expression)


def test_an_unknown_expression_is_refused(tmp_path: Path) -> None:
    """Nothing passes because this runner does not know it."""
    with pytest.raises(ValueError, match=r"can't read '\[0\]'"):
        Machine(tmp_path / "a").value("matrix[0]")


def published(machine: Machine) -> bool:
    """Whether the site went out."""
    return "uses actions/deploy-pages" in machine.calls


def pages_machine(root: Path, context: dict[str, object]) -> Machine:
    """A hosted machine, on which the workflow that publishes is started."""
    machine = Machine(root, {**MAIN, **context})
    machine.actions["actions/configure-pages"] = lambda _: {"base_url": "https://us.example/a"}
    machine.stub("python")
    machine.stub(".venv/bin/python")
    machine.stub("make", {"build": f'echo "for $SITE_URL of $LESSON_REPOSITORY" >> {machine.log}'})
    return machine


def test_what_passed_is_built_for_its_address_and_published(tmp_path: Path) -> None:
    """The result files are checked first."""
    machine = pages_machine(tmp_path / "a", PASSED)

    results = machine.run("pages.yml")

    assert {"build": "success", "deploy": "success"} == results
    assert published(machine)
    asked = [call for call in machine.calls if not call.startswith("uses")]
    assert asked[0].startswith("python -m benchmarks.validate ")
    assert asked[-1] == "python -m lesson_site.sbom site/sbom.cdx.json"
    assert "for https://us.example/a/ of us/lesson" in asked


def test_a_private_repository_offers_nothing_to_colab(tmp_path: Path) -> None:
    """It could open none of it."""
    machine = pages_machine(tmp_path / "a", {**PASSED, "github.event.repository.private": True})

    machine.run("pages.yml")

    assert "for https://us.example/a/ of " in machine.calls


@pytest.mark.parametrize(
    "change",
    [
        {"github.event.workflow_run.conclusion": "failure"},
        {"github.event.workflow_run.conclusion": "cancelled"},
        {"github.event.workflow_run.event": "pull_request"},
    ],
    ids=lambda change: next(iter(change.values())),
)
def test_red_tests_and_pull_requests_publish_nothing(
    change: dict[str, str], tmp_path: Path
) -> None:
    """Not even a build is asked for."""
    machine = pages_machine(tmp_path / "a", {**PASSED, **change})

    results = machine.run("pages.yml")

    assert {"build": "skipped", "deploy": "skipped"} == results
    assert [] == machine.calls


@pytest.mark.parametrize(
    ("tool", "part"), [("python", "validate"), ("make", "build"), (".venv/bin/python", "sbom")]
)
def test_a_broken_build_publishes_nothing(tool: str, part: str, tmp_path: Path) -> None:
    """A result file that lies and a page that does not build both end the job."""
    machine = pages_machine(tmp_path / "a", PASSED)
    machine.stub(tool, {part: "exit 1"})

    results = machine.run("pages.yml")

    assert {"build": "failure", "deploy": "skipped"} == results
    assert "uses actions/upload-pages-artifact" not in machine.calls


@pytest.mark.parametrize(
    ("job", "tool", "part"),
    [
        ("grow", "make", ".venv/.pages"),
        ("grow", ".venv/bin/python", "tests.grown"),
        ("ask", "make", "build"),
        ("ask", "npm", "tests/lighthouse"),
        ("ask", ".venv/bin/python", "tests.lighthouse site"),
        ("check", ".ci/run", ""),
        ("recordings", "make", ".venv/.test"),
        ("recordings", ".venv/bin/python", "record --all --check"),
        ("rehearsal", "make", "rehearse"),
        ("workflows", "go", "actionlint"),
        ("mac", "make", "node_modules"),
        ("mac", ".venv/bin/python", "pytest"),
        ("windows", "python", "--require-hashes"),
        ("windows", "python", "--editable"),
        ("windows", "python", "mkdocs build --strict"),
        ("windows", "python", "tests/lesson_code"),
    ],
)
def test_a_job_that_tests_is_red_when_a_step_of_it_is(
    job: str, tool: str, part: str, tmp_path: Path
) -> None:
    """Whichever command fails, and nothing after it lets the job pass."""
    machine = Machine(tmp_path / "a", dict(MAIN))
    for name in ("make", "go", "npm", "python", ".venv/bin/python", ".ci/run"):
        machine.stub(name, {part: "exit 1"} if name == tool else {})

    files = ("ci.yml", "growth.yml", "lighthouse.yml")
    [workflow] = [name for name in files if job in read(name)["jobs"]]
    results = machine.run(workflow)

    assert "failure" == results[job]
    assert set(read(workflow)["jobs"]) == set(results)


class GpuRun:
    """The workflow that measures, with a store for its artifact and a repository to push to.

    Attributes:
        machine: One after the other, that with the GPU and the hosted one.
        store: The artifact.
        body: The text of the pull request.
    """

    def __init__(self, folder: Path, context: dict[str, object] | None = None) -> None:
        self.origin = folder / "origin.git"
        git(folder, "init", "--quiet", "--bare", "--initial-branch=main", str(self.origin))
        self.store = folder / "store"
        known = {**MAIN, "vars.GPU_RUNNER": "h200", **(context or {})}
        self.machine = Machine(folder / "checkout", known)
        self.machine.actions |= {
            "actions/checkout": self._checkout,
            "actions/upload-artifact": self._upload,
            "actions/download-artifact": self._download,
        }
        self.machine.stub("make")
        self.measures({})
        body = f'cat > "{folder}/body"'
        self.machine.stub("gh", {"pr create": body})
        self.body = folder / "body"

    def measures(self, answers: dict[str, str]) -> None:
        """Say what Python does on the machine with the GPU."""
        self.answers = answers

    def run(self) -> dict[str, str]:
        """Start it, as each week."""
        return self.machine.run("gpu.yml")

    @property
    def branches(self) -> list[str]:
        """What the repository has after it."""
        return git(self.origin, "branch", "--format=%(refname:short)").split()

    @property
    def offered(self) -> list[str]:
        """The files of the branch that is offered."""
        names = git(self.origin, "diff", "-z", "--name-only", "main", "gpu-results/17")
        return sorted(filter(None, names.split("\0")))

    def _checkout(self, _: dict[str, str]) -> dict[str, str]:
        root = self.machine.root
        shutil.rmtree(root)
        git(root.parent, "clone", "--quiet", str(self.origin), str(root))
        if not self.branches:
            for name in (
                "benchmarks/results/old.json",
                "lesson_code/own.py",
                "docs/notebooks/a.py",
            ):
                (root / name).parent.mkdir(parents=True)
                (root / name).write_text("old", encoding="utf-8")
            git(root, "add", ".")
            author = ["-c", "user.name=us", "-c", "user.email=us@example.org"]
            git(root, *author, "commit", "--quiet", "--message", "Begin")
            git(root, "push", "--quiet", "origin", "HEAD")
        self.machine.stub(".venv/bin/python", self.answers)
        return {}

    def _upload(self, given: dict[str, str]) -> dict[str, str]:
        root = self.machine.root
        for pattern in given["path"].split():
            for path in root.glob(pattern):
                target = self.store / path.relative_to(root)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, target)
        return {}

    def _download(self, given: dict[str, str]) -> dict[str, str]:
        shutil.copytree(self.store, self.machine.root / given["path"])
        return {}


def writes(*names: str) -> str:
    """What a measurement leaves, in the shell's language."""
    lines = [f'mkdir -p "{Path(name).parent}"; echo "{name}" > "{name}"' for name in names]
    return "; ".join(lines) or "true"


@pytest.fixture
def gpu(tmp_path: Path) -> GpuRun:
    """A repository that has a runner with a GPU."""
    return GpuRun(tmp_path)


@pytest.mark.parametrize("names", [NEW[:1], NEW], ids=len)
def test_new_results_are_offered_with_their_report(gpu: GpuRun, names: list[str]) -> None:
    """One file, or two, as after midnight; nothing else is in the branch."""
    gpu.measures({"benchmarks.gpu_run": writes(*names), "compare-latest": 'echo "about $5"'})

    results = gpu.run()

    assert {"measure": "success", "offer": "success"} == results
    assert ["gpu-results/17", "main"] == gpu.branches
    assert sorted(names) == gpu.offered
    assert (gpu.store / "report.md").read_text() == gpu.body.read_text() == gpu.machine.summary
    assert [f"about {name}" for name in sorted(names)] == [
        line for line in gpu.body.read_text().splitlines() if line.startswith("about")
    ]


def test_without_anything_new_nothing_is_offered(gpu: GpuRun) -> None:
    """No branch, no pull request, and no failure."""
    results = gpu.run()

    assert {"measure": "success", "offer": "success"} == results
    assert ["main"] == gpu.branches
    assert not any(call.startswith("gh") for call in gpu.machine.calls)
    assert "No result file is new." in (gpu.store / "report.md").read_text(encoding="utf-8")


def test_without_a_gpu_the_run_is_red_and_nothing_is_offered(gpu: GpuRun) -> None:
    """It ends at once; nothing is measured on the CPU instead."""
    gpu.measures({"benchmarks.gpu_run": "echo error: PyTorch finds no NVIDIA GPU here >&2; exit 2"})

    results = gpu.run()

    assert {"measure": "failure", "offer": "skipped"} == results
    assert "error: PyTorch finds no NVIDIA GPU here" in gpu.machine.said
    assert not any("benchmarks run" in call for call in gpu.machine.calls)
    assert ["main"] == gpu.branches


def test_a_run_out_of_time_goes_on_once(gpu: GpuRun) -> None:
    """What two calls could measure is offered."""
    gpu.measures({"benchmarks.gpu_run": f"{writes(NEW[0])}; exit 3"})

    results = gpu.run()

    assert {"measure": "success", "offer": "success"} == results
    assert 2 == sum("benchmarks.gpu_run" in call for call in gpu.machine.calls)
    assert NEW[:1] == gpu.offered


@pytest.mark.parametrize("part", ["benchmarks.gpu_run", "benchmarks run"])
def test_what_was_measured_is_offered_though_something_failed(gpu: GpuRun, part: str) -> None:
    """A red test on the GPU and a broken part are told, and take nothing with them."""
    gpu.measures({part: f"{writes(NEW[0])}; exit 1"})

    results = gpu.run()

    assert {"measure": "success", "offer": "success"} == results
    assert NEW[:1] == gpu.offered


@pytest.mark.parametrize(
    "answers",
    [
        {"benchmarks run": f"{writes(NEW[0])}; kill -9 $$"},
        {"benchmarks validate": "exit 2", "benchmarks run": writes(NEW[0])},
    ],
    ids=["ended", "a file that lies"],
)
def test_what_broke_is_handed_over_and_not_offered(gpu: GpuRun, answers: dict[str, str]) -> None:
    """Someone may look at it; no pull request says that it is fine."""
    gpu.measures(answers)

    results = gpu.run()

    assert {"measure": "failure", "offer": "skipped"} == results
    assert (gpu.store / NEW[0]).is_file()
    assert ["main"] == gpu.branches


def test_the_gpu_machine_hands_over_data_alone(gpu: GpuRun) -> None:
    """A file that the artifact should not have reaches no branch."""
    strange = [".github/workflows/own.yml", "lesson_code/own.py", "benchmarks/results/gpu/run.sh"]
    gpu.measures({"benchmarks.gpu_run": writes(NEW[0])})
    for name in strange:
        path = gpu.store / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()

    gpu.run()

    assert NEW[:1] == gpu.offered


@pytest.mark.parametrize(
    "change",
    [
        {"vars.GPU_RUNNER": ""},
        {"github.event.repository.fork": True},
        {"github.ref": "refs/heads/theirs"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_nobody_else_is_given_the_gpu(change: dict[str, object], tmp_path: Path) -> None:
    """No runner, a fork, another branch: nothing is asked for."""
    gpu = GpuRun(tmp_path, change)

    results = gpu.run()

    assert {"measure": "skipped", "offer": "skipped"} == results
    assert [] == gpu.machine.calls
