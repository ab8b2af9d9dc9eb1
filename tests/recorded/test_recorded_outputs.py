"""The outputs that pages show are what their code prints today."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from lesson_site import recordings
from lesson_site.snippets import recorded_targets
from tests.building import REPOSITORY

# Does what `recordings.run` does, except that a target's process is forked from one that has
# imported PyTorch already: importing it takes longer than most targets.
FORKING = """
import os, sys, traceback
import torch, torchvision
runner = compile(sys.argv[1], "runner", "exec")
for line in iter(sys.stdin.readline, ""):
    module, function, output = line.rstrip("\\n").split("\\t")
    child = os.fork()
    if not child:
        status = 1
        try:
            sys.argv[1:] = [module, function, "cpu"]
            with open(output, "w", encoding="utf-8") as sys.stdout:
                exec(runner, {"__name__": "__main__"})
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""

Print = Callable[[str], str]


@pytest.fixture(scope="module")
def fresh_print(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Print]:
    """Runs a target now, in a process of its own, and gives what it prints."""
    folder = tmp_path_factory.mktemp("recorded")
    output, errors = folder / "output.json", folder / "errors"
    with (
        errors.open("w") as stderr,
        subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", FORKING, recordings.RUNNER],
            cwd=REPOSITORY,
            env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        ) as forking,
    ):
        assert forking.stdin is not None
        assert forking.stdout is not None
        to, back = forking.stdin, forking.stdout

        def run(target: str) -> str:
            module, _, function = target.partition(":")
            name = "lesson_code." + module.replace("/", ".")
            print(name, function, output, sep="\t", file=to, flush=True)
            assert "0" == back.readline().strip(), errors.read_text(encoding="utf-8")
            return str(json.loads(output.read_text(encoding="utf-8"))["text"])

        yield run
        to.close()


@pytest.mark.parametrize(("target", "tolerance"), recorded_targets("cpu").items())
def test_a_fresh_run_prints_what_the_page_shows(
    fresh_print: Print, target: str, tolerance: float
) -> None:
    """Run again on the CPU, a snippet prints the same words, and numbers within the tolerance."""
    recorded = recordings.read(target)
    assert recorded is not None

    assert [] == recordings.differences(recorded.text, fresh_print(target), tolerance)


@pytest.mark.gpu
@pytest.mark.parametrize("target", [*recorded_targets("cpu"), *recorded_targets("cuda")])
def test_the_snippet_prints_on_a_gpu_as_well(target: str) -> None:
    """What a page shows from the CPU can be recorded on a GPU."""
    assert "" != recordings.run(target, "cuda").text
