"""What the workflows of the repository may do, and on whose account."""

import fnmatch
import re
from pathlib import Path
from typing import Any

import pytest

from lesson_site.recordings import path_of
from lesson_site.snippets import recorded_targets
from tests.workflow import FOLDER, read

WORKFLOWS = sorted(FOLDER.glob("*.yml"))
GPU = FOLDER / "gpu.yml"


def steps(job: dict[str, Any], key: str) -> list[str]:
    """What the steps of a job use, or run."""
    return [str(step[key]) for step in job["steps"] if key in step]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_no_checkout_leaves_its_token_behind(workflow: Path) -> None:
    """Later steps, and what they install, find no credentials on the disk."""
    jobs = read(workflow.name)["jobs"].values()
    checkouts = [
        step for job in jobs for step in job["steps"] if "actions/checkout@" in step.get("uses", "")
    ]

    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


def test_nobody_else_starts_a_run_on_the_gpu() -> None:
    """By hand and weekly, on the main branch, and not in a fork; never for a pull request."""
    content = read("gpu.yml")

    assert {"workflow_dispatch", "schedule"} == set(content["on"])
    guard = content["jobs"]["measure"]["if"]
    assert "vars.GPU_RUNNER != ''" in guard
    assert "!github.event.repository.fork" in guard
    assert "github.ref == 'refs/heads/main'" in guard
    assert not content["concurrency"]["cancel-in-progress"]


def test_only_the_gpu_workflow_uses_our_machine() -> None:
    """What pull requests start runs on hosted machines."""
    for workflow in WORKFLOWS:
        machines = {str(job["runs-on"]) for job in read(workflow.name)["jobs"].values()}
        assert workflow == GPU or machines <= {"ubuntu-latest", "macos-latest", "windows-latest"}


def test_ci_prints_every_output_under_every_setting() -> None:
    """With the command that authors type, and nothing that lets a failure pass."""
    job = read("ci.yml")["jobs"]["recordings"]

    assert ".venv/bin/python -m lesson_site record --all --check" in steps(job, "run")
    assert "continue-on-error" not in str(job)


def test_nothing_on_the_gpu_machine_can_write() -> None:
    """It reads the code and hands over files; the job with the token runs nothing of theirs."""
    measure, offer = (read("gpu.yml")["jobs"][name] for name in ("measure", "offer"))

    assert ["self-hosted", "linux", "gpu"] == measure["runs-on"]
    assert {"contents": "read"} == measure["permissions"]
    assert "GH_TOKEN" not in str(measure)
    assert "ubuntu-latest" == offer["runs-on"]
    assert {"contents": "write", "pull-requests": "write"} == offer["permissions"]
    assert "python" not in " ".join(steps(offer, "run"))
    assert "${{" not in " ".join([*steps(measure, "run"), *steps(offer, "run")])


def test_the_gpu_workflow_tests_then_measures_then_compares() -> None:
    """With the same commands that people type."""
    commands = "\n".join(steps(read("gpu.yml")["jobs"]["measure"], "run"))
    expected = [
        "-m benchmarks.gpu_run",
        "-m benchmarks run",
        "-m benchmarks validate",
        "-m benchmarks summarize --compare-latest",
    ]

    places = [commands.index(command) for command in expected]
    assert sorted(places) == places


def test_the_steps_on_the_gpu_machine_end_before_their_job_does() -> None:
    """Else nothing would be handed over; and measuring ends before its step does."""
    measure = read("gpu.yml")["jobs"]["measure"]
    limits = {step["name"]: step["timeout-minutes"] for step in measure["steps"] if "run" in step}
    [budget_min] = re.findall(r"--budget (\d+)", "\n".join(steps(measure, "run")))

    assert sum(limits.values()) < measure["timeout-minutes"]
    assert int(budget_min) < limits["Measure what needs no GPU"]
    [calls] = re.findall(r"for _ in ([\d ]+);", "\n".join(steps(measure, "run")))
    four_steps_min = 40
    assert len(calls.split()) * four_steps_min < limits["Test, measure and record on the GPU"]


def test_what_was_measured_is_handed_over_whatever_broke() -> None:
    """The last step on the GPU machine runs always."""
    *_, upload = read("gpu.yml")["jobs"]["measure"]["steps"]

    assert "upload-artifact@" in upload["uses"]
    assert "always()" == upload["if"]


def test_every_recording_of_a_gpu_is_handed_over_and_offered(tmp_path: Path) -> None:
    """Also those in a folder below another one; ``find`` lets a star stand for slashes."""
    measure, offer = (read("gpu.yml")["jobs"][name] for name in ("measure", "offer"))
    [upload] = [step for step in measure["steps"] if "upload-artifact@" in step.get("uses", "")]
    patterns = upload["with"]["path"].split()
    offered = re.findall(r"-path '([^']+)'", "\n".join(steps(offer, "run")))
    recordings = {
        path_of(target, "cuda", tmp_path / "lesson_code") for target in recorded_targets("cuda")
    }
    for path in recordings:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()

    assert {"lab", "solution"} <= {path.parent.parent.name for path in recordings}
    assert recordings == {path for pattern in patterns for path in tmp_path.glob(pattern)}
    for path in recordings:
        name = f"./{path.relative_to(tmp_path).as_posix()}"
        assert any(fnmatch.fnmatchcase(name, pattern) for pattern in offered)


def test_only_what_passed_its_tests_is_published() -> None:
    """The site follows the checks of a push, from the commit that they saw, its results first."""
    content = read("pages.yml")
    build = content["jobs"]["build"]
    [checkout] = [step for step in build["steps"] if "actions/checkout@" in step.get("uses", "")]
    commands = steps(build, "run")

    assert {
        "workflow_run": {"workflows": ["ci"], "types": ["completed"], "branches": ["main"]}
    } == (content["on"])
    assert read("ci.yml")["name"] == "ci"
    assert "workflow_run.conclusion == 'success'" in build["if"]
    assert "workflow_run.event == 'push'" in build["if"]
    assert "${{ github.event.workflow_run.head_sha }}" == checkout["with"]["ref"]
    assert "build" == content["jobs"]["deploy"]["needs"]
    assert commands.index(next(c for c in commands if "benchmarks.validate" in c)) == 0
