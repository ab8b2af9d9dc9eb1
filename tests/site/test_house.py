"""The files around the rooms: the commands that README promises, and what no file may say."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

REPOSITORY = Path(__file__).parents[2]
GUIDES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"]
LOCKS = ("package-lock.json", "site-lock.txt")
LICENCES = REPOSITORY / "docs" / "assets" / "licences"
WORKFLOWS = sorted((REPOSITORY / ".github" / "workflows").glob("*.yml"))

# A Python that logs its calls; "venv" copies it, and the word in FAIL makes a call fail.
FAKE_PYTHON = """\
#!/bin/sh
echo "$*" >> "$LOG"
case "$*" in
  *"${FAIL:-no such call}"*) exit 1 ;;
  "-m venv"*) mkdir -p "$4/bin" && cp "$0" "$4/bin/python" ;;
  --version) echo "Python 3.9.1" ;;
esac
"""


def read(name: str) -> str:
    """A file of the repository."""
    return (REPOSITORY / name).read_text(encoding="utf-8")


def tracked_files() -> list[Path]:
    """What git knows or would add; all but the ignored folders where there is no git."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    git = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    if git.returncode == 0:
        paths = [REPOSITORY / name for name in git.stdout.split("\0") if name]
    else:
        ignored = {line.strip().strip("/") for line in read(".gitignore").splitlines()}
        paths = [
            path
            for path in REPOSITORY.rglob("*")
            if not ignored.intersection(path.relative_to(REPOSITORY).parts)
        ]
    return [path for path in paths if path.is_file()]


def targets() -> set[str]:
    """The commands of the Makefile."""
    return set(re.findall(r"^([a-z]+):", read("Makefile"), re.MULTILINE))


class House:
    """A copy of the Makefile and its inputs, with a Python that only logs what it is asked."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.log = root / "log"
        for name in ("Makefile", "pyproject.toml", "constraints.txt", *LOCKS):
            shutil.copy(REPOSITORY / name, root)
        self.python = root / "python"
        self.tools = root / "tools"
        self.tools.mkdir()
        for command, script in ((self.python, FAKE_PYTHON), (self.tools / "npm", "#!/bin/sh\n")):
            command.write_text(script)
            command.chmod(0o755)

    def make(self, *arguments: str, fail: str = "") -> subprocess.CompletedProcess[str]:
        """Run make as somebody types it; a call of Python that contains ``fail`` fails."""
        return self._run(["make", f"PYTHON={self.python}", *arguments], fail)

    def ci(self, fail: str) -> subprocess.CompletedProcess[str]:
        """Run what CI runs, on a machine that has all browsers."""
        compiler = self.root / "node_modules" / ".bin" / "tsc"
        compiler.parent.mkdir(parents=True)
        browsers = ("chromium", "chromium-headless-shell", "firefox-esr")
        for tool in (*(self.tools / browser for browser in browsers), compiler):
            shutil.copy(self.tools / "npm", tool)
        (self.root / ".ci").mkdir()
        script = shutil.copy(REPOSITORY / ".ci" / "run", self.root / ".ci")
        shutil.copy(REPOSITORY / "package.json", self.root)
        return self._run([str(script)], fail)

    def _run(self, command: list[str], fail: str) -> subprocess.CompletedProcess[str]:
        kept = {name: value for name, value in os.environ.items() if "MAKE" not in name}
        kept["PATH"] = f"{self.tools}{os.pathsep}{kept['PATH']}"
        kept |= {"LOG": str(self.log), "PYTHON": str(self.python)}
        environment = kept | ({"FAIL": fail} if fail else {})
        return subprocess.run(
            command,
            cwd=self.root,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def calls(self, part: str) -> int:
        """How many calls of Python contained ``part``."""
        return sum(part in line for line in self.log.read_text().splitlines())


@pytest.fixture
def house(tmp_path: Path) -> House:
    """A house in a folder of its own."""
    return House(tmp_path)


@pytest.mark.parametrize("guide", GUIDES)
def test_every_command_named_exists(guide: str) -> None:
    """A reader who types a `make` command from a guide finds it."""
    named = set(re.findall(r"(?:^|`)make ([a-z]+)", read(guide), re.MULTILINE))

    assert set() == named - targets()


def test_readme_starts_with_the_two_commands() -> None:
    """README's first block of code is `make serve` and `make test`."""
    first_block = re.search(r"```sh\n(.*?)```", read("README.md"), re.DOTALL)

    assert first_block is not None
    assert ["make serve", "make test"] == re.findall(r"^make \w+", first_block[1], re.MULTILINE)


@pytest.mark.parametrize("guide", GUIDES)
def test_every_module_named_exists(guide: str) -> None:
    """Each `python -m` of ours in a guide names a module that is there."""
    named = set(re.findall(r"python -m ((?:lesson_\w+|benchmarks)[\w.]*)", read(guide)))
    places = [REPOSITORY / name.replace(".", "/") for name in named]

    missing = [
        place
        for place in places
        if not place.with_suffix(".py").is_file() and not (place / "__main__.py").is_file()
    ]

    assert [] == missing


@pytest.mark.parametrize("guide", GUIDES)
def test_every_link_leads_somewhere(guide: str) -> None:
    """Links and pictures in a guide name files of this repository, or addresses."""
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", read(guide))

    dead = [
        link
        for link in links
        if not link.startswith("https://") and not (REPOSITORY / link).exists()
    ]

    assert [] == dead


def test_what_holds_a_promise_of_security_is_there() -> None:
    """Each file and folder that SECURITY.md names exists."""
    named = re.findall(r"`((?:\.?\w+/)[\w./-]+)`", read("SECURITY.md"))

    assert len(named) > 5
    assert [] == [path for path in named if not (REPOSITORY / path).exists()]


def test_changelog_has_an_unreleased_section() -> None:
    """The next change has a place, at the top."""
    headings = re.findall(r"^## (.+)$", read("CHANGELOG.md"), re.MULTILINE)

    assert "[Unreleased]" == headings[0]


def test_licences_are_whole() -> None:
    """Code is under MIT, text under the full Creative Commons licence."""
    assert read("LICENSE").startswith("MIT License")
    assert "Attribution 4.0 International" in read("LICENSE-TEXT")
    assert "Section 8 -- Interpretation." in read("LICENSE-TEXT")


@pytest.mark.parametrize(
    ("name", "version"), json.loads(read("package.json"))["dependencies"].items()
)
def test_each_library_of_the_site_has_its_licence_beside_it(name: str, version: str) -> None:
    """Of the version that is served; a page or an element links it, and README names it."""
    texts = {path: " ".join(path.read_text("utf-8").split()) for path in LICENCES.glob("*.txt")}
    [(licence, text)] = [
        (path.name, text) for path, text in texts.items() if f'npm package "{name}"' in text
    ]
    docs = REPOSITORY / "docs"
    pages = [*docs.rglob("*.md"), *(docs / "assets" / "elements").rglob("*.js")]

    assert f" {version}" in text[:60]
    assert any(f"licences/{licence}" in page.read_text("utf-8") for page in pages)
    assert f"docs/assets/licences/{licence}" in read("README.md")


@pytest.mark.parametrize(
    ("what", "pattern"),
    [
        (
            "the host of a package registry",
            r"\b(?:py[p]i|npm[j]s|python[h]osted|debian)\.(?:org|com|net)\b",
        ),
        ("a path of one machine", r"(?<![\w.}/])/(?:root|work|shared|home/\w+|tmp/\w)/"),
        ("an unfinished note", r"\b(?:FIX[M]E|X[X]X|lorem [i]psum)\b"),
        # The numbered ones are what learners do in the lab
        ("an unfinished task", r"(?:#|//|<!--)\s*TO[D]O\b(?! \d\.\d)"),
        ("an address in a lock", r'^\s*"resolved":|^--(?:extra-)?index-url'),
    ],
)
def test_no_file_holds(what: str, pattern: str) -> None:
    """Tracked text names no registry, no machine and no unfinished business."""
    found = []
    for path in tracked_files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for match in re.finditer(pattern, text, re.MULTILINE):
            line = text.count("\n", 0, match.start()) + 1
            found.append(f"{path.relative_to(REPOSITORY)}:{line}: {what}: {match[0]}")

    assert [] == found


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflow_is_safe(path: Path) -> None:
    """A workflow reads by default, ends in time, and runs other people's actions by commit."""
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    jobs = workflow["jobs"].values()
    actions = [step["uses"] for job in jobs for step in job["steps"] if "uses" in step]

    assert {"contents": "read"} == workflow["permissions"]
    assert all("timeout-minutes" in job for job in jobs)
    assert [] == [action for action in actions if not re.search(r"@[0-9a-f]{40}$", action)]


def test_ci_runs_what_readme_says() -> None:
    """CI is the script that anybody can run, and the script runs README's test command."""
    workflow = yaml.safe_load(read(".github/workflows/ci.yml"))
    commands = [step.get("run") for job in workflow["jobs"].values() for step in job["steps"]]

    assert ".ci/run" in commands
    assert os.access(REPOSITORY / ".ci" / "run", os.X_OK)
    assert {"test", "build", "lint"} <= set(
        re.findall(r"^make (\w+)", read(".ci/run"), re.MULTILINE)
    )


@pytest.mark.parametrize(
    ("fail", "passes", "again", "built"),
    [
        ("no such call", True, 0, 1),
        ("pytest -n 3", True, 1, 1),  # beside others alone
        ("pytest", False, 1, 0),
        ("check-snippets", False, 1, 0),  # not from a test that failed
    ],
)
def test_ci_asks_a_failed_test_once_more(
    house: House, fail: str, passes: bool, again: int, built: int
) -> None:
    """What fails beside other tests and passes alone is named; what fails twice is wrong."""
    run = house.ci(fail)

    assert passes == (0 == run.returncode), run.stderr
    assert again == house.calls("--last-failed --last-failed-no-failures none")
    assert built == house.calls("mkdocs build --strict")
    assert (passes and bool(again)) == ("they lean on time" in run.stderr)


def test_make_alone_lists_the_commands(house: House) -> None:
    """`make` without a word is the way to find the others."""
    run = house.make()

    assert 0 == run.returncode
    assert targets() <= {line.split()[0] for line in run.stdout.splitlines()}


@pytest.mark.parametrize(
    ("arguments", "fail", "sentence"),
    [
        (["serve"], "sys.version_info", r"error: .* is Python 3\.9\.1, and 3\.11 is the oldest"),
        (["serve"], "ensurepip", r"error: .* can't make environments; install its venv package"),
        (["serve", "PYTHON=no-python"], "", r"error: no-python is not here; install Python 3\.11"),
        (["serve", "PORT=1"], "create_server", r"error: can't listen on port 1; choose another"),
        (["serve", "VENV=Makefile/in"], "", r"error: can't write into Makefile/in here; .*VENV="),
        (["bench"], "", r"error: benchmarks/__main__\.py is missing"),
    ],
)
def test_what_is_missing_is_named_in_one_sentence(
    house: House, arguments: list[str], fail: str, sentence: str
) -> None:
    """What the machine lacks is said once, with what to do, and without a traceback."""
    run = house.make(*arguments, fail=fail)

    complaint = [line for line in run.stderr.splitlines() if not line.startswith("make:")]
    assert 2 == run.returncode
    assert 1 == len(complaint)
    assert re.match(sentence, complaint[0])


def test_old_python_installs_nothing(house: House) -> None:
    """A refused Python leaves no environment behind."""
    house.make("serve", fail="sys.version_info")

    assert not (house.root / ".venv").exists()


def test_second_build_installs_nothing(house: House) -> None:
    """Installing happens once."""
    house.make("build")
    house.make("build")

    assert 1 == house.calls("pip install") - house.calls("--no-deps")
    assert 2 == house.calls("mkdocs build --strict")
    assert 2 == house.calls("lesson_site finish site")


@pytest.mark.parametrize("changed", ["pyproject.toml", "constraints.txt", "site-lock.txt"])
def test_changed_dependencies_are_installed(house: House, changed: str) -> None:
    """A change of what is needed reaches the environment with the next call."""
    house.make("build")
    stamp = house.root / ".venv" / ".site"
    later = stamp.stat().st_mtime + 10
    os.utime(house.root / changed, (later, later))

    house.make("build")

    assert 2 == house.calls("--require-hashes")


def test_interrupted_installation_is_taken_up_again(house: House) -> None:
    """An installation that broke off leaves no stamp, so the next call tries again."""
    broken = house.make("build", fail="pip install")
    mended = house.make("build")

    assert 2 == broken.returncode
    assert 0 == mended.returncode
    assert [2, 1] == [house.calls("--require-hashes"), house.calls("--no-deps")]


def test_site_is_built_without_pytorch(house: House) -> None:
    """Reading takes a minute, because only the site's own needs are installed for it.

    By checksum, and nothing is fetched for the repository's own entry.
    """
    house.make("build")

    everything, own = [line for line in house.log.read_text().splitlines() if "pip install" in line]
    assert everything.endswith("--require-hashes --requirement site-lock.txt")
    assert own.endswith("--no-index --no-deps --no-build-isolation --editable .")


def test_a_python_that_the_site_does_not_take_is_named(house: House) -> None:
    """Some systems have an early 3.11, which a library of the site refuses."""
    run = house.make("build", fail="(3, 11, 5)")

    [complaint] = [line for line in run.stderr.splitlines() if line.startswith("error: ")]
    assert 2 == run.returncode
    assert complaint.startswith("error: the site needs Python 3.11.5 or later")
    assert 0 == house.calls("pip install")


def test_nothing_that_we_write_is_ignored() -> None:
    """No file of the rooms is hidden from git by a pattern that was meant for something else."""
    rooms = ("docs", "lesson_code", "graders", "lesson_site", "benchmarks", "results", "tests")
    written = [
        str(path.relative_to(REPOSITORY))
        for room in rooms
        for path in (REPOSITORY / room).rglob("*")
        if path.suffix in (".py", ".md", ".js", ".mjs", ".css", ".svg", ".json", ".toml", ".gz")
        and not {"vendor", "node_modules"} & set(path.parts)  # fetched, not written
    ]
    ignored = subprocess.run(
        ["git", "check-ignore", "--stdin"],
        cwd=REPOSITORY,
        input="\n".join(written),
        capture_output=True,
        text=True,
        check=False,
    )

    assert "" == ignored.stdout


def test_make_notebook_opens_a_copy_and_keeps_the_answers(house: House) -> None:
    """The first call copies the notebook; what is written into the copy survives the next one."""
    name = "2-3-2-gpu-training.ipynb"
    (house.root / "docs" / "notebooks").mkdir(parents=True)
    (house.root / "docs" / "notebooks" / name).write_text("blanks")
    first = house.make("notebook")
    copy = house.root / "runs" / "notebook" / name
    assert "blanks" == copy.read_text()
    copy.write_text("answers")

    second = house.make("notebook")

    assert [0, 0] == [first.returncode, second.returncode], first.stderr + second.stderr
    assert "answers" == copy.read_text()
    assert "blanks" == (house.root / "docs" / "notebooks" / name).read_text()
    assert 2 == house.calls(f"-m jupyterlab {name}")
    assert 1 == house.calls("[lesson,notebook]")
