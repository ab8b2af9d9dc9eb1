"""Runs the steps of a workflow from its own file, with stubs for what GitHub and the network give.

It knows what our workflows use: conditions, expressions, the environment, outputs and what needs
what. Other people's actions are functions of the test.
"""

import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.building import REPOSITORY

FOLDER = REPOSITORY / ".github" / "workflows"
TOKEN = re.compile(
    r"(?P<text>'[^']*')|(?P<call>(?:always|success|failure|cancelled)\(\))|(?P<name>[A-Za-z_][\w.-]*)"
    r"|(?P<sign>&&|\|\||==|!=|!|\(|\))|\s+"
)
SIGNS = {"&&": " and ", "||": " or ", "!": " not "}
# What is known of a run that the repository itself starts.
MAIN = {
    "github.ref": "refs/heads/main",
    "github.repository": "us/lesson",
    "github.event.repository.fork": False,
    "github.event.repository.private": False,
    "github.token": "a token",
}
# What stands for an action: it is given the step's `with`, and answers with the step's outputs.
Action = Callable[[dict[str, str]], dict[str, str]]


def read(name: str) -> dict[str, Any]:
    """A workflow; YAML 1.1 takes its key ``on`` for a truth value."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    content: dict[str, Any] = yaml.safe_load(re.sub(r"^on:", '"on":', text, flags=re.MULTILINE))
    return content


@dataclass
class Machine:
    """A folder in which steps run, and the commands that they find.

    Attributes:
        root: The checkout.
        context: What expressions name, such as ``vars.GPU_RUNNER``; the rest is empty.
        actions: By the name before the ``@``; an action without one does nothing.
        calls: What the stubs were asked, one line each, and the actions that were used.
    """

    root: Path
    context: dict[str, Any] = field(default_factory=dict)
    actions: dict[str, Action] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tools = self.root.parent / f"{self.root.name}-tools"
        self.log = self.tools / "log"
        self.tools.mkdir(parents=True)
        self.root.mkdir(exist_ok=True)
        self.log.touch()

    @property
    def calls(self) -> list[str]:
        """What was asked, in order."""
        return self.log.read_text(encoding="utf-8").splitlines()

    @property
    def summary(self) -> str:
        """What the steps wrote for the page of the run."""
        return (self.tools / "summary.md").read_text(encoding="utf-8")

    def stub(self, name: str, answers: dict[str, str] | None = None) -> None:
        """Put a command in place that logs what it is asked.

        Args:
            name: On the path; with a slash, in the checkout.
            answers: What it does, in the shell's language, by a part of the arguments.
        """
        path = self.root / name if "/" in name else self.tools / name
        path.parent.mkdir(parents=True, exist_ok=True)
        cases = [f"*'{part}'*) {script} ;;" for part, script in (answers or {}).items()]
        text = f'#!/bin/sh\necho "{path.name} $*" >> "{self.log}"\ncase "$*" in\n'
        path.write_text("\n".join([text, *cases, "esac\n"]), encoding="utf-8")
        path.chmod(0o755)

    def run(self, name: str, inputs: dict[str, Any] | None = None) -> dict[str, str]:
        """Run every job of a workflow; how each ended: ``success``, ``failure`` or ``skipped``."""
        content = read(name)
        self.context |= {f"inputs.{key}": value for key, value in (inputs or {}).items()}
        results: dict[str, str] = {}
        for job_name, job in content["jobs"].items():
            needs = [job["needs"]] if isinstance(job.get("needs"), str) else job.get("needs", [])
            fine = all(results[need] == "success" for need in needs)
            environment = {**content.get("env", {}), **job.get("env", {})}
            if self._wanted(job, fine):
                results[job_name] = self._job(job, environment)
            else:
                results[job_name] = "skipped"
            for key, value in job.get("outputs", {}).items():
                self.context[f"needs.{job_name}.outputs.{key}"] = self.filled(value)
        return results

    def _job(self, job: dict[str, Any], environment: dict[str, str]) -> str:
        fine = True
        for step in job["steps"]:
            if not self._wanted(step, fine):
                continue
            passed = self._step(step, environment)
            identity = step.get("id", "")
            self.context[f"steps.{identity}.outcome"] = "success" if passed else "failure"
            fine = fine and (passed or step.get("continue-on-error") is True)
        return "success" if fine else "failure"

    def _step(self, step: dict[str, Any], environment: dict[str, str]) -> bool:
        if "uses" in step:
            action = step["uses"].partition("@")[0]
            with self.log.open("a", encoding="utf-8") as log:
                log.write(f"uses {action}\n")
            given = {key: self.filled(value) for key, value in step.get("with", {}).items()}
            self._keep_outputs(step, self.actions.get(action, lambda _: {})(given))
            return True
        output, summary = (self.tools / each for each in ("output", "summary.md"))
        output.write_text("", encoding="utf-8")
        own = {**environment, **step.get("env", {})}
        done = subprocess.run(
            ["bash", *SHELL[step.get("shell", "")], self.filled(step["run"])],
            cwd=self.root,
            env={
                **{name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ},
                "PATH": f"{self.tools}{os.pathsep}{os.environ['PATH']}",
                "RUNNER_TEMP": str(self.tools),
                "GITHUB_STEP_SUMMARY": str(summary),
                "GITHUB_OUTPUT": str(output),
                "GITHUB_RUN_ID": "17",
                **{name: self.filled(value) for name, value in own.items()},
            },
            capture_output=True,
            text=True,
            check=False,
        )
        self.said = done.stdout + done.stderr
        lines = output.read_text(encoding="utf-8").splitlines()
        self._keep_outputs(step, dict(line.split("=", 1) for line in lines))
        return done.returncode == 0

    def _keep_outputs(self, step: dict[str, Any], outputs: dict[str, str]) -> None:
        for key, value in outputs.items():
            self.context[f"steps.{step['id']}.outputs.{key}"] = value

    def _wanted(self, part: dict[str, Any], fine: bool) -> bool:
        condition = str(part.get("if", "")).removeprefix("${{").removesuffix("}}").strip()
        if not re.search(r"\b(?:always|success|failure|cancelled)\(\)", condition):
            condition = f"success() && ({condition})" if condition else "success()"
        return bool(self.value(condition, fine))

    def filled(self, text: object) -> str:
        """A text with its expressions computed."""

        def put(match: re.Match[str]) -> str:
            value = self.value(match[1])
            return str(value).lower() if isinstance(value, bool) else str(value)

        return re.sub(r"\$\{\{(.*?)\}\}", put, str(text))

    def value(self, expression: str, fine: bool = True) -> Any:
        """What an expression of a workflow gives.

        Raises:
            ValueError: If it has something that this reader does not know.
        """
        place, words = 0, []
        while place < len(expression):
            match = TOKEN.match(expression, place)
            if match is None:
                raise ValueError(f"can't read {expression[place:]!r} of {expression!r}")
            place = match.end()
            if match["call"]:
                words.append(repr({"always": True, "success": fine}.get(match["call"][:-2], False)))
                if match["call"] == "failure()":
                    words[-1] = repr(not fine)
            elif match["name"]:
                known = {"true": True, "false": False}
                words.append(repr(known.get(match["name"], self.context.get(match["name"], ""))))
            else:
                words.append(match["text"] or SIGNS.get(match["sign"] or " ", match["sign"] or " "))
        return eval("".join(words).strip(), {"__builtins__": {}})


# What GitHub starts on Linux for a script, with and without `shell: bash`.
SHELL = {"": ["-e", "-c"], "bash": ["--noprofile", "--norc", "-eo", "pipefail", "-c"]}
