"""Whatever a file says, its reader takes it in or says in one sentence why not."""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from graders import blanks
from lesson_site import sections
from results import (
    catalogue,
    claims,
    counted_memory,
    forecasts,
    recorded,
    result_file,
    store,
    timeline,
)
from results.published import reader as published
from tests.benchmarks.made_up import good
from tests.building import REPOSITORY
from tests.fuzzed.by_chance import by_chance
from tests.fuzzed.damage import damaged

LONGEST = 2000  # characters of a sentence, beside what it repeats of the file


@dataclass(frozen=True)
class Reader:
    """Something that reads a file.

    Attributes:
        text: What a sound file says.
        read: Reads the file at a path.
        refuses: What it raises for a file that it can't use.
        suffix: How the file's name ends.
    """

    text: str
    read: Callable[[Path], object]
    refuses: tuple[type[Exception], ...]
    suffix: str = ".json"


def shortened(path: Path, key: str, count: int = 4) -> str:
    """A JSON file with the first entries of one list or table alone."""
    content = json.loads(path.read_text(encoding="utf-8"))
    entries = content[key]
    content[key] = (
        dict([*entries.items()][:count]) if isinstance(entries, dict) else entries[:count]
    )
    return json.dumps(content, indent=1)


def published_topic(path: Path) -> object:
    """Read a topic of published figures beside the real sources."""
    root = path.parent / "published"
    if not root.exists():
        shutil.copytree(published.FOLDER / "tables", root / "tables")
        (root / "topics").mkdir()
        shutil.copy(published.FOLDER / "sources.toml", root)
    shutil.copy(path, root / "topics" / "one.toml")
    return published.read(root)


def recording(path: Path) -> object:
    """Read what a function printed, as if it lay beside its module."""
    (path.parent / "track" / "recorded").mkdir(parents=True, exist_ok=True)
    (path.parent / "track" / "module.py").write_text("def shown() -> None:\n", encoding="utf-8")
    shutil.copy(path, path.parent / "track" / "recorded" / "module.shown.cpu.json")
    return recorded.read("track/module:shown", folder=path.parent)


def section(path: Path) -> object:
    """Read every section of a module."""
    return sections.sections_of(path.name, path.parent)


def exercise(path: Path) -> object:
    """Empty and fill the blanks of an exercise."""
    text = path.read_text(encoding="utf-8")
    return blanks.emptied(text, lambda name, task: f"pass  # {name} {task}"), blanks.filled(text)


def claim(path: Path) -> object:
    """Ask whether a claim holds."""
    return claims.holds(path.read_text(encoding="utf-8"), store.open_store(REPOSITORY))


def topic() -> str:
    """The first groups of a topic of published figures."""
    text = min(published.FOLDER.glob("topics/*.toml"), key=lambda path: path.stat().st_size)
    return text.read_text(encoding="utf-8")


def read_of(path: Path) -> str:
    """What a file of the repository says."""
    return (REPOSITORY / path).read_text(encoding="utf-8")


RECORDING = min((REPOSITORY / "lesson_code/gpu_training/recorded").glob("*.json"))
READERS = {
    "a result": Reader(
        json.dumps(good(), indent=1), result_file.read, (result_file.BadResultError,)
    ),
    "published figures": Reader(topic(), published_topic, (published.PublishedError,), ".toml"),
    "counted steps": Reader(
        shortened(forecasts.STEPS, "steps"), forecasts.read_steps, (forecasts.ForecastError,)
    ),
    "counted memory": Reader(
        read_of(counted_memory.COUNTED),
        counted_memory.read_counted,
        (counted_memory.CountedMemoryError,),
    ),
    "a timeline": Reader(
        shortened(timeline.FILE, "models", 1),
        timeline.read_models,
        (timeline.TimelineError,),
    ),
    "a recorded output": Reader(read_of(RECORDING), recording, (recorded.RecordingError,)),
    "the catalogue": Reader(
        min(catalogue.paths(), key=lambda path: path.stat().st_size).read_text(encoding="utf-8"),
        lambda path: catalogue.read([path]),
        (catalogue.CatalogueError,),
        ".toml",
    ),
    "an exercise": Reader(
        read_of(Path("lesson_code/lab/solution/01_gpu_basics.py")),
        exercise,
        (blanks.BlankError,),
        ".py",
    ),
    "a module": Reader(
        read_of(Path("lesson_code/gpu_training/loop_gpu.py")),
        section,
        (sections.SectionError,),
        ".py",
    ),
    "a claim": Reader(
        "mnist_epoch.loader_only > 0.5 * mnist_epoch.cpu",
        claim,
        (claims.ClaimError, store.FigureError),
        ".txt",
    ),
}


@pytest.mark.parametrize("name", READERS)
def test_a_damaged_file_is_read_or_refused(name: str, tmp_path: Path) -> None:
    """No other error than the reader's own leaves it, and that one is a sentence."""
    reader = READERS[name]
    path = tmp_path / f"file{reader.suffix}"

    @by_chance(damaged(reader.text))
    def read(text: str) -> None:
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        try:
            reader.read(path)
        except reader.refuses as refusal:
            said = str(refusal)
            assert said.strip()
            assert "\n" not in said.strip()
            assert len(said) <= LONGEST + len(text)

    read()


@pytest.mark.parametrize("name", READERS)
def test_a_sound_file_is_read(name: str, tmp_path: Path) -> None:
    """What is damaged here could be read before."""
    reader = READERS[name]
    path = tmp_path / f"file{reader.suffix}"
    path.write_text(reader.text, encoding="utf-8")

    assert reader.read(path) is not None
